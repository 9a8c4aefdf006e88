//! What happens to nodes, and on the ring.

use super::*;

#[rustfmt::skip]
pub(super) fn machine() -> Vec<Event<'static>> {
    let died = |node, life, death, during, gathering, fault| Event::Died { node, life, death, during, gathering, fault };
    let disk = |node, life, number, operation, bytes, error, injected| {
        Event::DiskAnswered { node, life, number, operation, bytes, error, injected }
    };
    let renamed = Some((Step::Renamed, B, ONE));
    let mut all = vec![
        Event::Booted { node: N, life: L, wall: WallMs(1) },
        Event::Booted { node: N2, life: L, wall: WallMs(1) },
        Event::Booted { node: N, life: L2, wall: WallMs(1) },
        Event::Booted { node: N, life: L, wall: WallMs(u64::MAX) },
        Event::Ready { node: N, life: L }, Event::Ready { node: N2, life: L }, Event::Ready { node: N, life: L2 },
        Event::OpenFailed { node: N, life: L, reason: "locked" },
        Event::OpenFailed { node: N, life: L, reason: "lock" },
        Event::OpenFailed { node: N2, life: L, reason: "locked" }, Event::OpenFailed { node: N, life: L2, reason: "locked" },
        died(N, L, Death::Process, None, false, None),
        died(N2, L, Death::Process, None, false, None),
        died(N, L2, Death::Process, None, false, None),
        died(N, L, Death::Power, None, false, None),
        died(N, L, Death::Process, renamed, false, None),
        died(N, L, Death::Process, Some((Step::Gathering, B, ONE)), false, None),
        died(N, L, Death::Process, Some((Step::Renamed, B2, ONE)), false, None),
        died(N, L, Death::Process, Some((Step::Renamed, B, MANY)), false, None),
        died(N, L, Death::Process, None, true, None),
        died(N, L, Death::Process, None, false, Some(FaultId(0))),
        died(N2, L2, Death::Power, Some((Step::OpenTemporaryRemoved, B2, MANY)), true, Some(FaultId(u32::MAX))),
        Event::PowerLost { node: N, kept: 1, lost: 2 }, Event::PowerLost { node: N2, kept: 1, lost: 2 },
        Event::PowerLost { node: N, kept: 2, lost: 2 }, Event::PowerLost { node: N, kept: 1, lost: 1 },
        Event::Panicked { node: N, life: L, message: "why" }, Event::Panicked { node: N2, life: L, message: "why" }, Event::Panicked { node: N, life: L2, message: "why" }, Event::Panicked { node: N, life: L, message: "else" },
        Event::ReplayMissed { node: N }, Event::ReplayMissed { node: N2 },
        Event::ClockSet { node: N, from: WallMs(9), to: WallMs(8) }, Event::ClockSet { node: N2, from: WallMs(9), to: WallMs(8) },
        Event::ClockSet { node: N, from: WallMs(8), to: WallMs(8) }, Event::ClockSet { node: N, from: WallMs(9), to: WallMs(9) },
        disk(N, L, 0, DiskOperation::Write, 512, None, false),
        disk(N2, L, 0, DiskOperation::Write, 512, None, false),
        disk(N, L2, 0, DiskOperation::Write, 512, None, false),
        disk(N, L, 1, DiskOperation::Write, 512, None, false),
        disk(N, L, 0, DiskOperation::Flush, 512, None, false),
        disk(N, L, 0, DiskOperation::Write, 0, None, false),
        disk(N, L, 0, DiskOperation::Write, 512, Some(DiskErrorKind::NotFound), false),
        disk(N, L, 0, DiskOperation::Write, 512, Some(DiskErrorKind::Io), false),
        disk(N, L, 0, DiskOperation::Write, 512, None, true),
        disk(N2, L2, u64::MAX, DiskOperation::CreateDirectory, u32::MAX, Some(DiskErrorKind::PermissionDenied), true),
        Event::FaultBegan { fault: FaultId(0) }, Event::FaultBegan { fault: FaultId(1) },
        Event::FaultEnded { fault: FaultId(0) }, Event::FaultEnded { fault: FaultId(1) },
        Event::Quiesced,
    ];
    all.extend(link_events());
    all.push(Event::Booted { node: N2, life: L2, wall: WallMs(u64::MAX) });
    let tasks = [
        Task::Open, Task::Sender(Class::Control), Task::Sender(Class::E2e), Task::Engine("commit-writer"), Task::Engine("commit"),
        Task::Reader { peer: N, class: Class::Control }, Task::Reader { peer: N2, class: Class::Control },
        Task::Reader { peer: N, class: Class::E2e },
    ];
    all.extend(tasks.map(|task| Event::ThreadStarted { node: N, life: L, task }));
    all.extend([(N2, L), (N, L2)].map(|(node, life)| Event::ThreadStarted { node, life, task: Task::Open }));
    all
}

#[rustfmt::skip]
pub(super) fn ring() -> Vec<Event<'static>> {
    let routed = |message, node, next, hops, stale| Event::Routed { message, node, next, hops, stale };
    vec![
        Event::Joined { node: N }, Event::Joined { node: N2 },
        Event::Left { node: N, life: L, hand_off: true }, Event::Left { node: N2, life: L, hand_off: true },
        Event::Left { node: N, life: L2, hand_off: true }, Event::Left { node: N, life: L, hand_off: false },
        routed(Some(message(4)), N, N2, 1, false), routed(None, N, N2, 1, false), routed(Some(message(4)), N2, N2, 1, false),
        routed(Some(message(4)), N, N, 1, false), routed(Some(message(4)), N, N2, 64, false), routed(Some(message(4)), N, N2, 1, true),
        Event::HandedOff { from: N, to: N2, mails: 0 }, Event::HandedOff { from: N2, to: N2, mails: 0 },
        Event::HandedOff { from: N, to: N, mails: 0 }, Event::HandedOff { from: N, to: N2, mails: 3 },
    ]
}
