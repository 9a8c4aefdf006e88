//! Many outcomes as one.

mod samples;

use groundhog_engine::streams::key::Class;
use groundhog_reports::{LADDER, MarksJudged, ScenarioFacts, Standing, Totals, percentile};
use groundhog_sim::outcome::{BoundUse, Cut, Outcome};
use std::collections::BTreeMap;

fn outcomes() -> Vec<(u64, Outcome)> {
    let outcome = |seed| match seed % 4 {
        1 => samples::failed(seed),
        2 => Outcome { cut: Some(Cut::Memory { limit_bytes: seed }), ..samples::held(seed) },
        _ => samples::held(seed),
    };
    (10..18).map(|seed| (seed, outcome(seed))).collect()
}

fn absorbed<'a>(outcomes: impl IntoIterator<Item = &'a (u64, Outcome)>) -> Totals {
    let mut totals = Totals::new("s");
    for (seed, outcome) in outcomes {
        totals.absorb(&samples::plan("s", *seed), outcome);
    }
    totals
}

fn sum(outcomes: &[(u64, Outcome)], of: impl Fn(&Outcome) -> u64) -> u64 {
    outcomes.iter().map(|(_, outcome)| of(outcome)).sum()
}

#[test]
fn totals_are_the_sums_of_what_they_absorbed() {
    let outcomes = outcomes();
    let totals = absorbed(&outcomes);
    assert_eq!((totals.seeds, totals.held), (8, 4));
    assert_eq!(totals.intended, sum(&outcomes, |outcome| outcome.intended));
    assert_eq!(totals.dispatched, sum(&outcomes, |outcome| outcome.dispatched));
    assert_eq!(totals.events, sum(&outcomes, |outcome| outcome.events));
    assert_eq!(totals.lost(), sum(&outcomes, |outcome| outcome.losses.values().sum()));
    assert_eq!(totals.unexplained(), 0);
    for (id, reached) in &totals.marks {
        assert_eq!(*reached, sum(&outcomes, |outcome| outcome.marks.get(id).copied().unwrap_or(0)), "{id}");
    }
    let landed = &totals.limits["failed-batch-landed"];
    assert_eq!(landed.times, sum(&outcomes, |outcome| outcome.limits["failed-batch-landed"]));
    assert_eq!((landed.seeds, landed.ceiling), (8, Some(20)));
    let twice = &totals.broken["streams/at-most-once"];
    assert_eq!((twice.violations, twice.seeds, twice.first_seed), (4, 2, 13));
    assert_eq!(totals.cuts["memory"].first, Cut::Memory { limit_bytes: 10 });
    for class in Class::ALL {
        let merged = &totals.latencies[&class];
        assert_eq!(
            merged.from_intended.len(),
            sum(&outcomes, |o| o.latencies[class.index()].from_intended.len())
        );
        let most = outcomes.iter().map(|(_, o)| o.latencies[class.index()].from_sent.max()).max();
        assert_eq!(Some(merged.from_sent.max()), most);
    }
}

#[test]
fn neither_the_order_of_seeds_nor_the_split_over_workers_matters() {
    let outcomes = outcomes();
    let forwards = absorbed(&outcomes);
    let backwards = absorbed(outcomes.iter().rev());
    let mut merged = absorbed(outcomes.iter().skip(1).step_by(2));
    merged.merge(absorbed(outcomes.iter().step_by(2)));
    for other in [backwards, merged] {
        assert_eq!(other.broken, forwards.broken);
        assert_eq!(other.cuts, forwards.cuts);
        assert_eq!(other.limits, forwards.limits);
        assert_eq!(other.bounds, forwards.bounds);
        assert_eq!(other.batch_sizes, forwards.batch_sizes);
        assert_eq!(
            (other.seeds, other.held, other.covered_ns),
            (forwards.seeds, forwards.held, forwards.covered_ns)
        );
        for (class, latency) in &forwards.latencies {
            let found = &other.latencies[class];
            assert_eq!(found.from_intended, latency.from_intended);
            for step in LADDER {
                assert_eq!(percentile(&found.from_sent, step), percentile(&latency.from_sent, step));
            }
        }
    }
}

#[test]
fn the_seed_nearest_to_a_bound_is_kept() {
    let mut totals = Totals::new("s");
    for (seed, most, bound) in [(5, 10, 100), (4, 8, 40), (3, 20, 100), (9, 15, 200)] {
        let bounds = vec![BoundUse { name: "b".to_owned(), most, bound }];
        totals.absorb(&samples::plan("s", seed), &Outcome { bounds, ..samples::held(1) });
    }
    let kept = totals.bounds["b"];
    assert_eq!((kept.most, kept.bound, kept.seed), (20, 100, 3), "of two equally near, the lower seed");
}

#[test]
fn what_is_kept_does_not_grow_with_the_seeds() {
    let size = |totals: &Totals| {
        let histograms = totals.latencies.values();
        let buckets: usize =
            histograms.map(|l| l.from_intended.distinct_values() + l.from_sent.distinct_values()).sum();
        (buckets, totals.bounds.len(), totals.broken.len(), totals.marks.len(), totals.batch_sizes.len())
    };
    let outcome = samples::failed(1);
    let mut totals = Totals::new("s");
    let mut sizes = BTreeMap::new();
    for seed in 0..200 {
        totals.absorb(&samples::plan("s", seed), &outcome);
        sizes.insert(seed, size(&totals));
    }
    assert_eq!(sizes[&10], sizes[&199]);
}

#[test]
#[should_panic(expected = "totals of two scenarios")]
fn totals_of_two_scenarios_are_never_added_up() {
    Totals::new("one").merge(Totals::new("two"));
}

#[test]
fn levels_are_counted_seed_by_seed_and_merged() {
    use groundhog_sim::plan::swarm::{Kind, Level};
    let mut halves = [Totals::new("s"), Totals::new("s")];
    for (seed, level) in
        [Level::Off, Level::Heavy, Level::Heavy, Level::Light, Level::Heavy].into_iter().enumerate()
    {
        let swarm = BTreeMap::from([(Kind::Partitions, level), (Kind::Copies, Level::Light)]);
        let plan = groundhog_sim::plan::Plan { swarm, ..samples::plan("s", seed as u64) };
        halves[seed % 2].absorb(&plan, &samples::held(1));
    }
    // A seed without swarm has no level.
    halves[0].absorb(&samples::plan("s", 9), &samples::held(1));
    let [mut totals, other] = halves;
    totals.merge(other);
    let levels = |kind| totals.swarm.get(&kind).map(|seeds| (seeds.off, seeds.light, seeds.heavy));
    assert_eq!((levels(Kind::Partitions), levels(Kind::Copies)), (Some((1, 1, 3)), Some((0, 5, 0))));
    assert_eq!(levels(Kind::Replays), None);
}

#[test]
fn a_mark_below_its_share_is_missed_and_one_that_was_never_reached_is_named() {
    let outcome =
        Outcome { marks: BTreeMap::from([("death/power/receiver/renames", 1)]), ..samples::held(1) };
    let mut totals = Totals::new("s");
    for seed in 0..20 {
        totals.absorb(&samples::plan("s", seed), &outcome);
    }
    let scenario = ScenarioFacts { totals, marks: samples::marks(), marks_judged: MarksJudged::Judged };
    let missed: Vec<_> = scenario.missed().iter().map(|mark| (mark.id, mark.reached, mark.due())).collect();
    assert_eq!(missed, [("death/process/sender/directory-flush", 0, 1)]);
    let rates = scenario.mark_rates();
    let unreached = rates.iter().filter(|mark| mark.standing == Standing::Unreached).map(|mark| mark.id);
    let expected = ["death/process/sender/directory-flush", "failed-batch-with-another-on-top"];
    assert_eq!(unreached.collect::<Vec<_>>(), expected);
}
