//! What engines report.

use super::*;

#[rustfmt::skip]
pub(super) fn engine() -> Vec<EngineEvent<'static>> {
    let t = TransitionNumber(2);
    let verdict = Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(41), digest: [9; 32] };
    let transition = |transition, stream, table, record, decision, staged| {
        EngineEvent::Transition { transition, stream, table, record, decision, staged }
    };
    let reserved = |first, last, lease| {
        let decision = Decision::Reserved { first: Sequence(first), last: Sequence(last), lease: Sequence(lease) };
        transition(t, &STREAM, Table::Sender, RECORD, decision, None)
    };
    let opened = |restored, unrestorable, batch| EngineEvent::Opened { restored, unrestorable, next_batch: BatchNumber(batch) };
    let receiver = Table::Receiver;
    let retired = |transition, stream, record, introducer, spent, staged| {
        EngineEvent::Retired { transition, stream, record, introducer, spent: WallMs(spent), staged }
    };
    let by_link = |transition, stream, decision| EngineEvent::LinkLocal { transition, stream, decision };
    let charge = |transition, stream, at, data_bytes, limit, refused| {
        let charge = QuotaCharge { at: MonotonicNs(at), data_bytes, limit, refused };
        EngineEvent::Quota { transition, stream, charge }
    };
    let bad = |record, reason, spells| EngineEvent::Unrestorable { record, reason, spells };
    let unavailable = |transition, record, refused| EngineEvent::UnavailableRefused { transition, record, refused };
    let met = |transition, introducer, bound| EngineEvent::BoundMet { transition, introducer, bound };
    let used = |used| EngineEvent::TableUse { used };
    let empty = TableUse::default();
    let custody = |transition, stream, sequence, digest, change, held| {
        EngineEvent::Custody { transition, stream, sequence: Sequence(sequence), digest: [digest; 32], change, held }
    };
    let stall = |transition, stall, held| EngineEvent::CustodyStall { transition, stall, held };
    vec![
        used(empty), used(TableUse { streams: 1, ..empty }), used(TableUse { fullest_slot: 1, ..empty }),
        used(TableUse { pool: 1, ..empty }), used(TableUse { inbox: 1, ..empty }), used(TableUse { own: u32::MAX, ..empty }), used(TableUse { custody: 1, ..empty }),
        opened(1, 2, 3), opened(2, 2, 3), opened(1, 1, 3), opened(1, 2, 2), opened(u32::MAX, u32::MAX, u64::MAX),
        transition(t, &STREAM, receiver, RECORD, verdict, Some(B)),
        transition(TransitionNumber(u64::MAX), &STREAM, receiver, RECORD, verdict, Some(B)),
        transition(t, &OTHERS[0].stream, receiver, RECORD, verdict, Some(B)),
        transition(t, &OTHERS[1].stream, receiver, RECORD, verdict, Some(B)),
        transition(t, &STREAM, Table::Sender, RECORD, verdict, Some(B)),
        transition(t, &STREAM, receiver, OTHER_RECORD, verdict, Some(B)),
        transition(t, &STREAM, receiver, RECORD, verdict, None),
        transition(t, &STREAM, receiver, RECORD, verdict, Some(BatchNumber(0))),
        transition(t, &STREAM, receiver, RECORD, Decision::Refused { reason: "stream-capacity-exceeded" }, None),
        transition(t, &STREAM, receiver, RECORD, Decision::Refused { reason: "relay-custody-full" }, None),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Late, sequence: Sequence(41), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(40), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(41), digest: [8; 32] }, Some(B)),
        reserved(1, 2, 64), reserved(0, 2, 64), reserved(1, 1, 64), reserved(1, 2, 65), reserved(u64::MAX, u64::MAX, u64::MAX),
        EngineEvent::Released { transition: t, depends: &[] },
        EngineEvent::Released { transition: TransitionNumber(3), depends: &[] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B)] },
        EngineEvent::Released { transition: t, depends: &[(OTHER_RECORD, B)] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B2)] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B), (OTHER_RECORD, B), (RECORD, B2)] },
        EngineEvent::BatchClosed { batch: B, records: &[], transitions: 1 },
        EngineEvent::BatchClosed { batch: B2, records: &[], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[], transitions: 2 },
        EngineEvent::BatchClosed { batch: B, records: &[(RECORD, None)], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[(RECORD, Some(0))], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[(OTHER_RECORD, None)], transitions: 1 },
        EngineEvent::BatchClosed { batch: B2, records: &[(RECORD, Some(u32::MAX)), (OTHER_RECORD, None)], transitions: u32::MAX },
        EngineEvent::Step { step: Step::Renamed, batch: B, roles: ONE },
        EngineEvent::Step { step: Step::Marked, batch: B, roles: ONE },
        EngineEvent::Step { step: Step::Renamed, batch: B2, roles: ONE },
        EngineEvent::Step { step: Step::Renamed, batch: B, roles: Roles { leases: 0, windows: 1 } },
        EngineEvent::Step { step: Step::OpenDirectoryFlushed, batch: B2, roles: MANY },
        EngineEvent::BatchDurable { batch: B }, EngineEvent::BatchDurable { batch: B2 },
        EngineEvent::BatchFailed { batch: B, undone: 1, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B2, undone: 1, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B, undone: u32::MAX, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B, undone: 1, state_digest: [1; 32] },
        EngineEvent::CallerGone { transition: t }, EngineEvent::CallerGone { transition: TransitionNumber(3) },
        retired(t, &STREAM, RECORD, Introducer::Inbox, 7, B),
        retired(TransitionNumber(3), &STREAM, RECORD, Introducer::Inbox, 7, B),
        retired(t, &OTHERS[0].stream, RECORD, Introducer::Inbox, 7, B),
        retired(t, &STREAM, OTHER_RECORD, Introducer::Inbox, 7, B),
        retired(t, &STREAM, RECORD, Introducer::Own, 7, B), retired(t, &STREAM, RECORD, SLOTS[0], 7, B),
        retired(t, &STREAM, RECORD, SLOTS[1], u64::MAX, B2), retired(t, &STREAM, RECORD, Introducer::Inbox, 8, B),
        retired(t, &STREAM, RECORD, Introducer::Inbox, 7, B2),
        met(t, Introducer::Inbox, CapacityBound::Inbox { share: 768 }),
        met(TransitionNumber(3), Introducer::Inbox, CapacityBound::Inbox { share: 768 }),
        met(t, Introducer::Own, CapacityBound::Inbox { share: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Inbox { share: 767 }),
        met(t, Introducer::Inbox, CapacityBound::SelfShare { share: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Pool { pool: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Floor { floor: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Table { capacity: usize::MAX }),
        met(t, Introducer::Inbox, CapacityBound::Claim { claim: u32::MAX, over_floor: 1 }),
        met(t, Introducer::Inbox, CapacityBound::Claim { claim: u32::MAX, over_floor: u32::MAX }),
        by_link(t, &STREAM, verdict), by_link(TransitionNumber(3), &STREAM, verdict),
        by_link(t, &OTHERS[0].stream, verdict), by_link(t, &STREAM, Decision::Refused { reason: "byte-rate-exhausted" }),
        by_link(t, &STREAM, Decision::Verdict { verdict: VerdictKind::Replay, sequence: Sequence(41), digest: [9; 32] }),
        charge(t, &STREAM, 5, 64, MessageLimit::Enforced, None), charge(TransitionNumber(3), &STREAM, 5, 64, MessageLimit::Enforced, None),
        charge(t, &OTHERS[0].stream, 5, 64, MessageLimit::Enforced, None), charge(t, &STREAM, 6, 64, MessageLimit::Enforced, None),
        charge(t, &STREAM, 5, 65, MessageLimit::Enforced, None), charge(t, &STREAM, 5, 64, MessageLimit::Delegated, None),
        charge(t, &STREAM, 5, 64, MessageLimit::Enforced, Some("message-rate-exhausted")),
        charge(t, &STREAM, u64::MAX, u64::MAX, MessageLimit::Enforced, Some("byte-rate-exhausted")),
        bad(RECORD, "missing", None), bad(OTHER_RECORD, "missing", None), bad(RECORD, "misfiled", None),
        bad(RECORD, "misfiled", Some((receiver, &STREAM))), bad(RECORD, "misfiled", Some((Table::Sender, &STREAM))),
        bad(RECORD, "misfiled", Some((receiver, &OTHERS[0].stream))),
        EngineEvent::LoadFailed { reason: "disk" }, EngineEvent::LoadFailed { reason: "root-missing" },
        unavailable(t, RECORD, 1), unavailable(TransitionNumber(3), RECORD, 1), unavailable(t, OTHER_RECORD, 1),
        unavailable(t, RECORD, u64::MAX),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(41), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(40), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(41), digest: [8; 32] }, Some(B)),
        custody(t, &STREAM, 41, 9, CustodyChange::Taken, 5), custody(TransitionNumber(3), &STREAM, 41, 9, CustodyChange::Taken, 5),
        custody(t, &OTHERS[0].stream, 41, 9, CustodyChange::Taken, 5), custody(t, &STREAM, 40, 9, CustodyChange::Taken, 5),
        custody(t, &STREAM, 41, 8, CustodyChange::Taken, 5), custody(t, &STREAM, 41, 9, CustodyChange::Taken, 6),
        custody(t, &STREAM, 41, 9, CustodyChange::Redelivered, 5), custody(t, &STREAM, 41, 9, CustodyChange::Dropped, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::TakenIn { spent: WallMs(7) }, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::TakenIn { spent: WallMs(8) }, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::Expired { spent: WallMs(7) }, 5),
        stall(t, CustodyStall::Full { until: WallMs(7) }, 64), stall(TransitionNumber(3), CustodyStall::Full { until: WallMs(7) }, 64),
        stall(t, CustodyStall::Full { until: WallMs(8) }, 64), stall(t, CustodyStall::Full { until: WallMs(7) }, 65),
        stall(t, CustodyStall::Refused { until: WallMs(7) }, 64), stall(t, CustodyStall::Over, 64),
    ]
}
