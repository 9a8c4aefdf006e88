//! What is observed beside admissions: the namespace that looks after its own replays, references, chunks, the mailbox.
//!
//! Promise: each is one thing that the world saw an application or a transport do, whatever an engine says of it.

use crate::units::{FrameNumber, MessageId, NodeId};
use std::fmt::{self, Write};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The namespace acted on a payload, or did not, for a reason in kebab case. `payload` names it by its origin and its
    /// content, whatever envelope it came in.
    Acted {
        /// The message whose envelope it was; `None` for an adversary's.
        message: Option<MessageId>,
        /// SHA-256 of origin and data.
        payload: [u8; 32],
        /// Why it did not act.
        refused: Option<&'static str>,
    },
    /// A frame left with this many delegations by reference, two at most.
    Referenced {
        /// The frame's message.
        message: Option<MessageId>,
        /// Who receives it.
        to: NodeId,
        /// Delegations by reference.
        references: u8,
    },
    /// A frame arrived with this many delegations by reference, all of which were kept.
    Resolved {
        /// Which.
        frame: FrameNumber,
        /// Delegations by reference.
        references: u8,
    },
    /// A receiver told a sender whether it keeps a delegation that came inline.
    Told {
        /// The sender.
        peer: NodeId,
        /// Whether it does.
        known: bool,
    },
    /// A piece of a message was taken, or not; `outcome` in kebab case.
    Chunk {
        /// The message; `None` for an adversary's.
        message: Option<MessageId>,
        /// What came of it.
        outcome: &'static str,
        /// What everything that waits costs from then on, in bytes.
        cost_bytes: u64,
        /// Messages that wait from then on.
        pending: u32,
        /// Partial messages that expired meanwhile, and tombstones dropped before their time, since the last one.
        expired: u32,
        /// See `expired`.
        overflowed: u32,
    },
    /// A transaction was admitted and not dispatched: the application's mailbox was full.
    Dropped {
        /// The message; `None` for an adversary's.
        message: Option<MessageId>,
    },
}

impl LinkEvent {
    /// The message that it is about.
    #[must_use]
    pub const fn message(&self) -> Option<MessageId> {
        match *self {
            Self::Acted { message, .. }
            | Self::Referenced { message, .. }
            | Self::Chunk { message, .. }
            | Self::Dropped { message } => message,
            Self::Resolved { .. } | Self::Told { .. } => None,
        }
    }

    /// Its fields as numbers, a text and a digest, in an order that reads back one way only.
    pub(super) fn fields(&self) -> (u8, [u64; 5], &'static str, Option<&[u8; 32]>) {
        match self {
            Self::Acted { payload, refused, .. } => {
                (0, [u64::from(refused.is_some()), 0, 0, 0, 0], refused.unwrap_or(""), Some(payload))
            }
            Self::Referenced { to, references, .. } => {
                (1, [to.0.into(), (*references).into(), 0, 0, 0], "", None)
            }
            Self::Resolved { frame, references } => (2, [frame.0, (*references).into(), 0, 0, 0], "", None),
            Self::Told { peer, known } => (3, [peer.0.into(), (*known).into(), 0, 0, 0], "", None),
            Self::Chunk { outcome, cost_bytes, pending, expired, overflowed, .. } => {
                let numbers = [*cost_bytes, (*pending).into(), (*expired).into(), (*overflowed).into(), 0];
                (4, numbers, outcome, None)
            }
            Self::Dropped { .. } => (5, [0; 5], "", None),
        }
    }

    /// In words, as a timeline's line goes on.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut String) -> fmt::Result {
        match self {
            Self::Acted { refused: None, .. } => out.write_str("the namespace acts"),
            Self::Acted { refused: Some(reason), .. } => write!(out, "the namespace does not act: {reason}"),
            Self::Referenced { to, references, .. } => {
                write!(out, "{references} delegations to n{} by reference", to.0)
            }
            Self::Resolved { frame, references } => {
                write!(out, "frame {}: {references} references resolved", frame.0)
            }
            Self::Told { peer, known: true } => write!(out, "n{} may refer to a delegation", peer.0),
            Self::Told { peer, known: false } => write!(out, "n{} is to send a delegation inline", peer.0),
            Self::Chunk { outcome, cost_bytes, pending, .. } => {
                write!(out, "chunk {outcome}, {pending} messages wait for {cost_bytes} B")
            }
            Self::Dropped { .. } => out.write_str("dropped after its admission: the mailbox is full"),
        }?;
        self.message().map_or(Ok(()), |message| write!(out, " message {message}"))
    }
}
