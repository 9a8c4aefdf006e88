//! Faults of disks: single ones, and batches that fail on a slow disk while another gathers on top.

use super::{Draft, Span, Strikes, crashes};
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Death, DiskFault, DiskOperation, When};
use crate::units::NodeId;

pub(super) fn draw(draft: &mut Draft<'_>) {
    failing_batches(draft);
    lost_markers(draft);
    single(draft, Kind::DiskErrors, "disk-error", |dice| {
        (
            DiskFault::Error,
            strikes(dice, &[DiskOperation::Create, DiskOperation::Write, DiskOperation::Rename]),
        )
    });
    single(draft, Kind::NoSpace, "no-space", |dice| {
        (DiskFault::NoSpace, Strikes { operations: Vec::new(), skip: dice.below(4) as u32, count: 0 })
    });
    single(draft, Kind::FailedFlushes, "failed-flush", |dice| {
        (DiskFault::FailedFlush, strikes(dice, &[DiskOperation::Flush]))
    });
    single(draft, Kind::FailedDirectoryFlushes, "failed-directory-flush", |dice| {
        (
            DiskFault::FailedDirectoryFlush { read_only: false },
            strikes(dice, &[DiskOperation::FlushDirectory]),
        )
    });
    single(draft, Kind::StuckDisks, "stuck", |dice| {
        let fails = dice.per_mille(500);
        (DiskFault::Stuck { fails }, Strikes { operations: Vec::new(), skip: dice.below(6) as u32, count: 1 })
    });
    single(draft, Kind::WriteBacks, "write-back", |dice| {
        (DiskFault::WriteBack, Strikes { operations: Vec::new(), skip: dice.below(12) as u32, count: 1 })
    });
    slow(draft);
    read_only(draft);
}

fn single(
    draft: &mut Draft<'_>,
    kind: Kind,
    purpose: &str,
    fault: impl Fn(&mut Dice) -> (DiskFault, Strikes),
) {
    for place in 0..draft.faults_of(kind, purpose) {
        let mut dice = draft.dice(purpose, place);
        let (node, span) = target(draft, &mut dice);
        let (fault, strikes) = fault(&mut dice);
        draft.disk_fault(node, span, fault, strikes);
    }
}

/// A busy node, and a span that begins just before a wave where the node is a hub.
fn target(draft: &Draft<'_>, dice: &mut Dice) -> (NodeId, Span) {
    let lasts_ms = draft.scenario.sections.disks.lasts_ms.roll_u64(dice);
    if dice.per_mille(700)
        && let Some(hub) = dice.pick(&draft.shape.hubs)
        && let Some(wave) = dice.pick(&hub.waves_us)
    {
        return (hub.node, draft.span_from(wave.saturating_sub(dice.below(2_000)), lasts_ms));
    }
    (draft.busy_node(dice), draft.span(dice, lasts_ms))
}

fn strikes(dice: &mut Dice, among: &[DiskOperation]) -> Strikes {
    let operation = *dice.pick(among).expect("something is struck");
    Strikes {
        operations: vec![operation],
        skip: dice.below(3) as u32,
        count: dice.weighted(&[(1, 4), (2, 2), (4, 1)]),
    }
}

fn slow(draft: &mut Draft<'_>) {
    let disks = &draft.scenario.sections.disks;
    for place in 0..draft.faults_of(Kind::SlowDisks, "slow-disk") {
        let mut dice = draft.dice("slow-disk", place);
        let (node, span) = target(draft, &mut dice);
        let factor = disks.slow_factor.roll_u32(&mut dice);
        draft.disk_fault(node, span, DiskFault::Slow { factor }, all());
    }
}

fn all() -> Strikes {
    Strikes { operations: Vec::new(), skip: 0, count: 0 }
}

/// A wave on a slow disk, and one operation of its first batches that fails.
fn failing_batches(draft: &mut Draft<'_>) {
    let disks = &draft.scenario.sections.disks;
    let power = draft.intensity(Kind::PowerAfterFailure);
    for place in 0..draft.faults_of(Kind::FailingBatches, "failing-batch") {
        let mut dice = draft.dice("failing-batch", place);
        let Some(hub) = dice.pick(&draft.shape.hubs) else { return };
        let node = hub.node;
        let Some(wave) = dice.pick(&hub.waves_us).copied() else { return };
        let span = draft.span_from(wave, disks.lasts_ms.roll_u64(&mut dice));
        let factor = disks.slow_factor.roll_u32(&mut dice);
        draft.disk_fault(node, span, DiskFault::Slow { factor }, all());
        let (fault, operation) = *dice
            .pick(&[
                (DiskFault::FailedFlush, DiskOperation::Flush),
                (DiskFault::FailedDirectoryFlush { read_only: false }, DiskOperation::FlushDirectory),
                (DiskFault::Error, DiskOperation::Write),
                (DiskFault::Error, DiskOperation::Rename),
                (DiskFault::NoSpace, DiskOperation::Flush),
            ])
            .expect("there are five ways to fail");
        let skip = dice.weighted(&[(0, 3), (1, 2), (2, 1)]);
        draft.disk_fault(node, span, fault, Strikes { operations: vec![operation], skip, count: 1 });
        let power_after_failure_per_mille = disks.power_after_failure_per_mille.roll_u64(&mut dice);
        if dice.per_mille(power.share(power_after_failure_per_mille)) {
            let us = dice.between(span.from_us, span.until_us);
            crashes::crash(draft, When::Time { us }, node, Death::Power, &mut dice);
        }
    }
}

/// In a late wave, when most deaths of its hub are over, a directory flush fails that would have made markers durable; in
/// the wave after it batches are good again, and then power fails.
fn lost_markers(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::LostMarkers, "lost-markers") {
        let mut dice = draft.dice("lost-markers", place);
        let Some(hub) = dice.pick(&draft.shape.hubs) else { return };
        let (node, waves) = (hub.node, hub.waves_us.len() as u64);
        if waves < 2 {
            continue;
        }
        let wave = dice.between(waves / 2, waves - 1).clamp(1, waves - 1) as usize;
        let (failing_us, good_us) = (hub.waves_us[wave - 1], hub.waves_us[wave]);
        let span = Span { from_us: failing_us, until_us: good_us.clamp(failing_us + 1, draft.chaos_us) };
        let fault = DiskFault::FailedDirectoryFlush { read_only: false };
        let skip = dice.weighted(&[(1, 3), (2, 2), (3, 1)]);
        draft.disk_fault(
            node,
            span,
            fault,
            Strikes { operations: vec![DiskOperation::FlushDirectory], skip, count: 1 },
        );
        let us = good_us.saturating_add(dice.between(10_000, 60_000)).min(draft.chaos_us - 1);
        crashes::crash(draft, When::Time { us }, node, Death::Power, &mut dice);
    }
}

/// A file system that turns read-only, and the restart that ends it.
fn read_only(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::ReadOnly, "read-only") {
        let mut dice = draft.dice("read-only", place);
        let (node, span) = target(draft, &mut dice);
        let fault = DiskFault::FailedDirectoryFlush { read_only: true };
        let strikes = Strikes { operations: vec![DiskOperation::FlushDirectory], skip: 0, count: 1 };
        draft.disk_fault(node, span, fault, strikes);
        let at = When::Time { us: span.until_us.saturating_sub(1) };
        crashes::crash(draft, at, node, Death::Process, &mut dice);
    }
}
