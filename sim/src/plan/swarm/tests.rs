use super::*;
use crate::plan::Draw;
use crate::plan::scenario::{Defaults, Key, KeySource, Sections};

/// The keys of a section of faults that say how, when and for how long, of faults whose number another key says.
const DETAILS: &[&str] = &[
    "crashes.power_per_mille",
    "crashes.down_us",
    "disks.slow_factor",
    "disks.lasts_ms",
    "network.one_way_per_mille",
    "network.loss_per_mille",
    "network.duplicate_per_mille",
    "network.delay_us",
    "network.narrow_bytes_per_s",
    "network.lasts_ms",
    "scenes.quiet_per_mille",
    "scenes.quiet_chaos_ms",
    "scenes.behind",
    "scenes.beside",
    "scenes.flood",
    "scenes.every_us",
    "scenes.lasts_ms",
    "handlers.slow_factor",
    "handlers.lasts_ms",
    "clocks.skewed_per_mille",
    "clocks.wrong_at_boot_ms",
    "clocks.corrected_after_us",
    "clocks.step_ms",
    "clocks.drifts_ppm",
    "clocks.snapshot_behind_ms",
    "clocks.lasts_ms",
    "adversaries.other_lane_per_mille",
    "adversaries.parties",
    "adversaries.party_slots",
    "adversaries.party_factor",
    "adversaries.flood_every_us",
    "adversaries.flood_waves",
    "adversaries.flood_wave_ms",
    "adversaries.flood_relayed_per_mille",
    "adversaries.flood_again_per_mille",
    "adversaries.flood_application_per_mille",
    "adversaries.flood_stamp_ms",
    "adversaries.away_us",
    "ring.successors",
    "ring.maintenance_ms",
    "ring.hop_budget",
    "ring.hand_off_per_mille",
    "ring.hand_off_ms",
    "ring.away_ms",
    "store.stopped_us",
    "mail.lifetime_ms",
    "mail.carrier_bytes",
    "mail.drain_every_ms",
    "mail.take_after_us",
    "mail.origins",
    "mail.mails",
    "mail.away_ms",
    "mail.overtaking",
    "mail.flood_mails",
];

const OF_FAULTS: [&str; 10] =
    ["crashes", "disks", "network", "scenes", "handlers", "clocks", "adversaries", "ring", "store", "mail"];

struct Keys(Vec<String>);

impl KeySource for Keys {
    type Error = std::convert::Infallible;

    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
        if OF_FAULTS.contains(&key.section) {
            self.0.push(format!("{}.{}", key.section, key.name));
        }
        Ok(Draw::Fixed(key.default))
    }
}

#[test]
fn every_key_of_a_fault_is_one_kind_or_says_how() {
    let mut keys = Keys(Vec::new());
    let Ok(_) = Sections::read(&mut keys);
    let kinds: Vec<String> =
        Kind::ALL.iter().map(|kind| format!("{}.{}", kind.key().0, kind.key().1)).collect();
    for key in &keys.0 {
        let (kind, detail) = (kinds.contains(key), DETAILS.contains(&key.as_str()));
        assert!(kind != detail, "{key}: a kind of swarm's, or a detail of one, and not both");
    }
    let gone = DETAILS.iter().find(|detail| !keys.0.iter().any(|key| key == *detail));
    assert_eq!(gone, None);
}

#[test]
fn every_kind_has_a_name_of_its_own_that_plans_spell() {
    for (place, kind) in Kind::ALL.iter().enumerate() {
        assert!(Kind::ALL[..place].iter().all(|other| other.id() != kind.id() && other.key() != kind.key()));
        assert_eq!(serde_json::to_string(kind).unwrap(), format!("{:?}", kind.id()));
        assert!(kind.heavy() > 1 && kind.about().ends_with('.'), "{kind}");
    }
}

#[test]
fn each_kind_has_each_level_as_often_as_its_weight_says() {
    const SEEDS: u64 = 2_000;
    let whole: u64 = WEIGHTS.iter().map(|(_, weight)| u64::from(*weight)).sum();
    for kind in Kind::ALL {
        for (wanted, weight) in WEIGHTS {
            let seeds = (0..SEEDS).filter(|seed| level(*seed, *kind) == wanted).count() as u64;
            let expected = SEEDS * u64::from(weight) / whole;
            let (least, most) = (expected * 7 / 10, expected * 13 / 10);
            assert!((least..=most).contains(&seeds), "{kind} {}: {seeds} of {SEEDS}", wanted.id());
        }
    }
}

#[test]
fn a_kind_that_the_scenario_does_not_have_has_no_level_and_moves_no_other() {
    let Ok(sections) = Sections::read(&mut Defaults);
    let scenario = |sections| Scenario {
        name: String::new(),
        about: String::new(),
        nodes: 8,
        counts_for: 8,
        crypto: Vec::new(),
        disk: Vec::new(),
        seeds_per_thousand: 1_000,
        sections,
        limits: BTreeMap::new(),
    };
    let few = levels(&scenario(sections.clone()), 4);
    assert_eq!(few.keys().collect::<Vec<_>>(), [&Kind::UnorderedChannels], "it is in every file's defaults");
    let mut more = sections;
    more.network.partitions = Draw::Between(0, 2);
    more.crashes.in_open_per_mille = Draw::Fixed(300);
    more.clocks.offset_ms = Draw::Between(-5, 5);
    let found = levels(&scenario(more.clone()), 4);
    assert_eq!(found.keys().collect::<Vec<_>>(), [&Kind::UnorderedChannels, &Kind::Partitions]);
    assert_eq!(found[&Kind::UnorderedChannels], few[&Kind::UnorderedChannels]);
    // What only shows with another kind is there with it.
    more.crashes.in_commit = Draw::Fixed(1);
    more.clocks.skewed_per_mille = Draw::Fixed(100);
    let found = levels(&scenario(more), 4);
    assert!([Kind::DeathsInOpen, Kind::ClockOffsets].iter().all(|kind| found.contains_key(kind)));
}

#[test]
fn heavy_is_more_than_light_and_off_is_none_for_every_value() {
    let of = |level| Intensity { level, heavy: 3 };
    let [off, light, heavy] = Level::ALL.map(of);
    for value in [0, 1, 2, 300, 999, 1_000, 9_000, 2_000_000] {
        assert_eq!((off.count(value), light.count(value)), (0, value));
        assert!(heavy.count(value) >= value.max(1), "{value}");
        assert!(heavy.count(value) <= value.max(MOST), "{value}");
    }
    for value in [0, 1, 5, 500, 999, 1_000] {
        for of in [Intensity::share, Intensity::thin_share] {
            assert_eq!((of(off, value), of(light, value)), (0, value));
            assert!((value.max(1)..=1_000).contains(&of(heavy, value)), "{value}");
        }
        assert!(heavy.thin_share(value) <= value.max(500));
    }
    assert_eq!([off, light, heavy].map(|intensity| intensity.size(-7)), [0, -7, -21]);
    assert_eq!([1, 2, 3, 100].map(|copies| heavy.copies(copies)), [6, 6, 9, 100]);
    assert_eq!(
        [1, 2, 3, 100].map(|copies| (off.copies(copies), light.copies(copies))),
        [(1, 1), (1, 2), (1, 3), (1, 100)]
    );
    assert_eq!([0, 1, 2, 9].map(|every| heavy.every(every)), [4, 1, 2, 3]);
    assert_eq!(
        [0, 1, 2, 9].map(|every| (off.every(every), light.every(every))),
        [(0, 0), (0, 1), (0, 2), (0, 9)]
    );
}
