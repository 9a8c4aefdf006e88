//! Which events a law reads, so that it is called for no others.
//!
//! Promise: an event kind that no law wants costs one array access.

use crate::ledger::event::Event;

macro_rules! wants {
    ($($variant:ident $constant:ident;)*) => {
        #[repr(u8)]
        #[expect(non_camel_case_types, reason = "bit numbers, spelt as the constants they make")]
        enum Bit { $($constant,)* COUNT }

        /// A set of event kinds.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Wants(u32);

        impl Wants {
            $(#[doc = concat!("[`Event::", stringify!($variant), "`].")] pub const $constant: Wants = Wants(1 << Bit::$constant as u32);)*
        }

        /// How many event kinds there are.
        pub const EVENT_KINDS: usize = Bit::COUNT as usize;

        /// The event's kind as a number below [`EVENT_KINDS`].
        #[must_use]
        #[inline]
        pub const fn kind_of(event: &Event<'_>) -> usize {
            match event { $(Event::$variant { .. } => Bit::$constant as usize,)* }
        }
    };
}

wants! {
    Booted BOOTED;
    Ready READY;
    OpenFailed OPEN_FAILED;
    Died DIED;
    PowerLost POWER_LOST;
    Panicked PANICKED;
    ClockSet CLOCK_SET;
    DiskAnswered DISK_ANSWERED;
    FaultBegan FAULT_BEGAN;
    FaultEnded FAULT_ENDED;
    Quiesced QUIESCED;
    Intended INTENDED;
    NotSent NOT_SENT;
    ReserveAnswered RESERVE_ANSWERED;
    Exposed EXPOSED;
    FrameSent FRAME_SENT;
    FrameLost FRAME_LOST;
    FrameDelivered FRAME_DELIVERED;
    Relayed RELAYED;
    Unverified UNVERIFIED;
    Arrived ARRIVED;
    Answered ANSWERED;
    AdmissionAbandoned ADMISSION_ABANDONED;
    Dispatched DISPATCHED;
    Handled HANDLED;
    Engine ENGINE;
}

impl Wants {
    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Wants) -> Wants {
        Wants(self.0 | other.0)
    }

    /// Whether the kind of this number is in the set.
    #[must_use]
    pub const fn has(self, kind: usize) -> bool {
        self.0 & (1 << kind) != 0
    }
}
