//! The kinds of events, and sets of them: what a law reads, and the tag that opens an event's encoding.
//!
//! Promise: a kind's number never changes meaning; a new kind takes a new number.

use super::event::Event;
use groundhog_engine::host::observe::EngineEvent;

macro_rules! kinds {
    ($($kind:ident = $number:literal, $id:literal;)*) => {
        /// The kind of an event; what an engine reports has kinds of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "each is the variant of the same name of `Event` or `EngineEvent`")]
        pub enum EventKind {
            $($kind = $number,)*
        }

        impl EventKind {
            /// Every kind, in the order of their numbers.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$kind,)*];

            /// The word that a timeline opens a line with.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(EventKind::$kind => $id,)*
                }
            }
        }
    };
}

kinds! {
    Booted = 0, "boot";
    Ready = 1, "ready";
    OpenFailed = 2, "open-failed";
    Died = 3, "died";
    PowerLost = 4, "power-lost";
    Panicked = 5, "panicked";
    ClockSet = 6, "clock-set";
    DiskAnswered = 7, "disk";
    FaultBegan = 8, "fault";
    FaultEnded = 9, "fault-ended";
    Quiesced = 10, "quiesced";
    Intended = 11, "intend";
    NotSent = 12, "not-sent";
    ReserveAnswered = 13, "reserve";
    Exposed = 14, "expose";
    FrameSent = 15, "send";
    FrameLost = 16, "frame-lost";
    FrameDelivered = 17, "deliver";
    Relayed = 18, "relay";
    Unverified = 19, "unverified";
    Arrived = 20, "arrive";
    Answered = 21, "answer";
    AdmissionAbandoned = 22, "abandon";
    Dispatched = 23, "dispatch";
    Handled = 24, "handled";
    ReplayMissed = 25, "replay-missed";
    ThreadStarted = 26, "thread";
    ConnectionAdmitted = 27, "connect";
    ConnectionRetired = 28, "disconnect";
    Mail = 29, "mail";
    EngineOpened = 32, "opened";
    EngineTransition = 33, "transition";
    EngineReleased = 34, "release";
    EngineBatchClosed = 35, "batch-closed";
    EngineStep = 36, "step";
    EngineBatchDurable = 37, "batch-durable";
    EngineBatchFailed = 38, "batch-failed";
    EngineCallerGone = 39, "caller-gone";
    EngineRetired = 40, "retire";
    EngineBoundMet = 41, "bound-met";
    EngineLinkLocal = 42, "link-local";
    EngineQuota = 43, "quota";
    EngineTableUse = 44, "table-use";
    EngineCustody = 45, "custody";
    EngineCustodyStall = 46, "custody-stall";
    EngineUnrestorable = 47, "unrestorable";
    EngineLoadFailed = 48, "load-failed";
    EngineUnavailableRefused = 49, "unavailable";
    Link = 52, "link";
    Joined = 54, "join";
    Left = 55, "leave";
    Routed = 56, "route";
    HandedOff = 57, "hand-off";
    SecondRuntime = 61, "second-runtime";
}

/// The numbers of what engines report begin here.
const FIRST_REPORTED: u8 = EventKind::EngineOpened as u8;

/// What the world observes goes on from here.
const FIRST_OBSERVED_AGAIN: u8 = 52;

/// How many numbers a kind may have: every kind's number is below this.
pub const KIND_NUMBERS: usize = 64;

impl EventKind {
    /// The kind of an event.
    #[must_use]
    pub const fn of(event: &Event<'_>) -> Self {
        match event {
            Event::Booted { .. } => Self::Booted,
            Event::Ready { .. } => Self::Ready,
            Event::OpenFailed { .. } => Self::OpenFailed,
            Event::Died { .. } => Self::Died,
            Event::PowerLost { .. } => Self::PowerLost,
            Event::Panicked { .. } => Self::Panicked,
            Event::ThreadStarted { .. } => Self::ThreadStarted,
            Event::ClockSet { .. } => Self::ClockSet,
            Event::DiskAnswered { .. } => Self::DiskAnswered,
            Event::FaultBegan { .. } => Self::FaultBegan,
            Event::FaultEnded { .. } => Self::FaultEnded,
            Event::Quiesced => Self::Quiesced,
            Event::Intended { .. } => Self::Intended,
            Event::NotSent { .. } => Self::NotSent,
            Event::ReserveAnswered { .. } => Self::ReserveAnswered,
            Event::Exposed { .. } => Self::Exposed,
            Event::FrameSent { .. } => Self::FrameSent,
            Event::FrameLost { .. } => Self::FrameLost,
            Event::FrameDelivered { .. } => Self::FrameDelivered,
            Event::ReplayMissed { .. } => Self::ReplayMissed,
            Event::ConnectionAdmitted { .. } => Self::ConnectionAdmitted,
            Event::ConnectionRetired { .. } => Self::ConnectionRetired,
            Event::Relayed { .. } => Self::Relayed,
            Event::Unverified { .. } => Self::Unverified,
            Event::Arrived { .. } => Self::Arrived,
            Event::Answered { .. } => Self::Answered,
            Event::AdmissionAbandoned { .. } => Self::AdmissionAbandoned,
            Event::Dispatched { .. } => Self::Dispatched,
            Event::Handled { .. } => Self::Handled,
            Event::Link { .. } => Self::Link,
            Event::Mail { .. } => Self::Mail,
            Event::Joined { .. } => Self::Joined,
            Event::Left { .. } => Self::Left,
            Event::Routed { .. } => Self::Routed,
            Event::HandedOff { .. } => Self::HandedOff,
            Event::SecondRuntime { .. } => Self::SecondRuntime,
            Event::Engine { event, .. } => match event {
                EngineEvent::Opened { .. } => Self::EngineOpened,
                EngineEvent::Transition { .. } => Self::EngineTransition,
                EngineEvent::Released { .. } => Self::EngineReleased,
                EngineEvent::BatchClosed { .. } => Self::EngineBatchClosed,
                EngineEvent::Step { .. } => Self::EngineStep,
                EngineEvent::BatchDurable { .. } => Self::EngineBatchDurable,
                EngineEvent::BatchFailed { .. } => Self::EngineBatchFailed,
                EngineEvent::CallerGone { .. } => Self::EngineCallerGone,
                EngineEvent::Retired { .. } => Self::EngineRetired,
                EngineEvent::BoundMet { .. } => Self::EngineBoundMet,
                EngineEvent::LinkLocal { .. } => Self::EngineLinkLocal,
                EngineEvent::Quota { .. } => Self::EngineQuota,
                EngineEvent::TableUse { .. } => Self::EngineTableUse,
                EngineEvent::Unrestorable { .. } => Self::EngineUnrestorable,
                EngineEvent::LoadFailed { .. } => Self::EngineLoadFailed,
                EngineEvent::UnavailableRefused { .. } => Self::EngineUnavailableRefused,
                EngineEvent::Custody { .. } => Self::EngineCustody,
                EngineEvent::CustodyStall { .. } => Self::EngineCustodyStall,
            },
        }
    }

    /// Whether an engine reported it; the rest the world observed.
    #[must_use]
    pub const fn is_reported(self) -> bool {
        matches!(self as u8, FIRST_REPORTED..FIRST_OBSERVED_AGAIN)
    }
}

/// A set of event kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(u64);

impl EventMask {
    /// Every kind.
    pub const ALL: Self = Self(u64::MAX);

    /// No kind.
    pub const NONE: Self = Self(0);

    /// These kinds.
    #[must_use]
    pub const fn of(kinds: &[EventKind]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether it holds `kind`.
    #[must_use]
    pub const fn holds(self, kind: EventKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// The kinds of either set.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_distinct_numbers_below_the_bound_and_distinct_words() {
        for (at, kind) in EventKind::ALL.iter().enumerate() {
            assert!((*kind as usize) < KIND_NUMBERS);
            for other in &EventKind::ALL[at + 1..] {
                assert!(kind < other, "{kind:?} stands before {other:?}");
                assert_ne!(kind.id(), other.id());
            }
        }
    }

    #[test]
    fn a_mask_holds_its_kinds_and_no_other() {
        let mask = EventMask::of(&[EventKind::Booted, EventKind::EngineCallerGone]);
        for kind in EventKind::ALL {
            let expected = matches!(kind, EventKind::Booted | EventKind::EngineCallerGone);
            assert_eq!(mask.holds(*kind), expected, "{kind:?}");
            assert!(EventMask::ALL.holds(*kind) && !EventMask::NONE.holds(*kind));
        }
        assert!(mask.with(EventMask::of(&[EventKind::Died])).holds(EventKind::Died));
    }
}
