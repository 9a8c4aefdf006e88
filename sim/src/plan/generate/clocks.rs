//! Clocks and their faults, cut to the tolerance: each node has half of it to be wrong by, and every error that it is
//! dealt uses some of that up for good.

use super::{Draft, crashes, second_runtimes};
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{ClockFault, ClockPlan, Death, FaultKind, NodePlan, When};
use crate::units::NodeId;

/// How much further each node's clock may be wrong, in milliseconds.
struct Allowance(Vec<i64>);

impl Allowance {
    /// As much of `wanted_ms` as the node may still be wrong by; used up from now on.
    fn cut(&mut self, node: NodeId, wanted_ms: i64) -> i64 {
        let left = &mut self.0[node.index()];
        let given = wanted_ms.clamp(-*left, *left);
        *left -= given.abs();
        given
    }

    /// As much of an oscillator's error as the node may still gather over `lasts_us`.
    fn cut_drift(&mut self, node: NodeId, wanted_ppm: i64, lasts_us: u64) -> i32 {
        let lasts_us = i64::try_from(lasts_us).unwrap_or(i64::MAX);
        let left_us = self.0[node.index()].saturating_mul(1_000);
        let most_ppm =
            i64::try_from(i128::from(left_us) * 1_000_000 / i128::from(lasts_us.max(1))).unwrap_or(i64::MAX);
        let ppm = wanted_ppm.clamp(-most_ppm, most_ppm);
        let gathered = u128::from(ppm.unsigned_abs()) * u128::from(lasts_us.unsigned_abs());
        let used_ms = i64::try_from(gathered.div_ceil(1_000_000_000)).unwrap_or(i64::MAX);
        self.0[node.index()] = (self.0[node.index()] - used_ms).max(0);
        i32::try_from(ppm).expect("the key's range fits")
    }
}

pub(super) fn draw(draft: &mut Draft<'_>) -> Vec<NodePlan> {
    let tolerance = draft.scenario.sections.engines.clock_tolerance_ms.bounds().0;
    // A little less than half: wall clocks count whole milliseconds, and a correction may come a rounding late.
    let half = (tolerance / 2 - 5).max(0);
    let mut allowance = Allowance(vec![half; draft.scenario.nodes as usize]);
    let mut nodes: Vec<NodePlan> =
        (0..draft.scenario.nodes as u16).map(|node| node_plan(draft, NodeId(node), &mut allowance)).collect();
    // A second runtime's machine is as wrong as the first one's.
    let left: Vec<i64> = draft.seconds.iter().map(|of| allowance.0[of.index()]).collect();
    allowance.0.extend(left);
    nodes.extend(second_runtimes::nodes(draft, &nodes));
    steps(draft, &mut allowance);
    drifts(draft, &mut allowance);
    freezes(draft, &mut allowance);
    pauses(draft);
    snapshots(draft, &mut allowance);
    nodes
}

fn node_plan(draft: &Draft<'_>, node: NodeId, allowance: &mut Allowance) -> NodePlan {
    let clocks = &draft.scenario.sections.clocks;
    let mut dice = draft.dice("node", u64::from(node.0));
    let cores = draft.scenario.sections.machines.cores.roll_u32(&mut dice) as u8;
    let mut clock = ClockPlan::default();
    let skewed_per_mille = clocks.skewed_per_mille.roll_u64(&mut dice);
    if dice.per_mille(skewed_per_mille) {
        clock.offset_ms =
            allowance.cut(node, draft.intensity(Kind::ClockOffsets).size(clocks.offset_ms.roll(&mut dice)));
        let ppm = draft.intensity(Kind::ClockDrift).size(clocks.drift_ppm.roll(&mut dice));
        clock.drift_ppm = allowance.cut_drift(node, ppm, draft.end_us);
    }
    let wrong_at_boot_per_mille = clocks.wrong_at_boot_per_mille.roll_u64(&mut dice);
    if dice.per_mille(draft.intensity(Kind::WrongAtBoot).share(wrong_at_boot_per_mille)) {
        clock.wrong_at_boot_ms = allowance.cut(node, clocks.wrong_at_boot_ms.roll(&mut dice));
        if clock.wrong_at_boot_ms != 0 {
            clock.corrected_after_us = clocks.corrected_after_us.roll_u64(&mut dice).max(1);
        }
    }
    NodePlan { id: node, cores, clock }
}

fn clock_fault(draft: &mut Draft<'_>, node: NodeId, from_us: u64, until_us: Option<u64>, fault: ClockFault) {
    draft.fault(When::Time { us: from_us }, until_us, FaultKind::Clock { node, fault });
}

/// Deals the faults of a kind to busy nodes, each with its stream and its span.
fn deal(
    draft: &mut Draft<'_>,
    kind: Kind,
    purpose: &str,
    mut each: impl FnMut(&mut Draft<'_>, NodeId, super::Span, Dice),
) {
    for place in 0..draft.faults_of(kind, purpose) {
        let mut dice = draft.dice(purpose, place);
        let node = draft.busy_node(&mut dice);
        let lasts_ms = draft.scenario.sections.clocks.lasts_ms.roll_u64(&mut dice);
        let span = draft.span(&mut dice, lasts_ms);
        each(draft, node, span, dice);
    }
}

fn steps(draft: &mut Draft<'_>, allowance: &mut Allowance) {
    let clocks = &draft.scenario.sections.clocks;
    deal(draft, Kind::ClockSteps, "clock-step", |draft, node, span, mut dice| {
        let by_ms = allowance.cut(node, clocks.step_ms.roll(&mut dice));
        if by_ms != 0 {
            clock_fault(draft, node, span.from_us, None, ClockFault::Step { by_ms });
        }
    });
}

fn drifts(draft: &mut Draft<'_>, allowance: &mut Allowance) {
    let clocks = &draft.scenario.sections.clocks;
    deal(draft, Kind::ClockDriftTimes, "clock-drift", |draft, node, span, mut dice| {
        let lasts_us = span.until_us - span.from_us;
        let ppm = allowance.cut_drift(node, clocks.drifts_ppm.roll(&mut dice), lasts_us);
        if ppm != 0 {
            clock_fault(draft, node, span.from_us, Some(span.until_us), ClockFault::Drift { ppm });
        }
    });
}

fn freezes(draft: &mut Draft<'_>, allowance: &mut Allowance) {
    deal(draft, Kind::ClockFreezes, "clock-freeze", |draft, node, span, _| {
        let wanted_ms = i64::try_from((span.until_us - span.from_us).div_ceil(1_000)).unwrap_or(i64::MAX);
        let lasts_us = allowance.cut(node, wanted_ms).unsigned_abs() * 1_000;
        let until_us = span.until_us.min(span.from_us + lasts_us);
        if until_us > span.from_us {
            clock_fault(draft, node, span.from_us, Some(until_us), ClockFault::Freeze);
        }
    });
}

fn pauses(draft: &mut Draft<'_>) {
    deal(draft, Kind::ClockPauses, "clock-pause", |draft, node, span, _| {
        clock_fault(draft, node, span.from_us, Some(span.until_us), ClockFault::Pause);
    });
}

fn snapshots(draft: &mut Draft<'_>, allowance: &mut Allowance) {
    let clocks = &draft.scenario.sections.clocks;
    deal(draft, Kind::Snapshots, "snapshot", |draft, node, span, mut dice| {
        let by_ms = allowance.cut(node, clocks.snapshot_behind_ms.roll(&mut dice)).unsigned_abs();
        if by_ms != 0 {
            clock_fault(draft, node, span.from_us, None, ClockFault::BehindAtBoot { by_ms });
            let at = When::Time { us: span.from_us + 1 };
            crashes::crash(draft, at, node, Death::Power, &mut dice);
        }
    });
}
