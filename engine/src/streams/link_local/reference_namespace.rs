//! What a namespace owes that delegates its replay, done once, for the testbed and as an example.
//!
//! Promise: over every connection, generation, envelope and restart it acts on a payload at most once.
//!
//! It keeps no file. A payload names the *epoch* that it is meant for, and each life of the application takes an epoch that
//! no life had before: what was sent to an earlier life is refused without having been remembered. Within an epoch a
//! payload is known by its origin, the life of its sender, and its number there. Per origin that is the highest life and a
//! window of [`REMEMBERED_NUMBERS`] numbers; what lies below is refused, and so is an origin beyond [`ORIGINS_MAX`].
//! Nothing is ever forgotten within an epoch, so the price of a small memory is refusals, never a second act.

use super::{Delegates, Namespace, NamespaceError};
use crate::identity::Did;
use bytes::Bytes;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Numbers of an origin that may arrive out of order.
pub const REMEMBERED_NUMBERS: u64 = 64;

/// Origins that one epoch acts for.
pub const ORIGINS_MAX: usize = 1_024;

/// One life of a receiving application. Brought by the caller, who must never use one twice: drawn at random, or counted
/// durably.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub [u8; 16]);

/// Why a payload is not acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotActed {
    /// It is not of this namespace, or ends too soon.
    #[error("the data is no payload of this namespace")]
    Malformed,
    /// It is meant for another life of this application.
    #[error("the payload is meant for another epoch")]
    OtherEpoch,
    /// Its sender has begun a later life since.
    #[error("the payload is of life {life} of its sender, and life {newest} has begun")]
    EarlierLife {
        /// The payload's.
        life: u64,
        /// The newest seen.
        newest: u64,
    },
    /// Its number was acted on.
    #[error("number {number} was acted on")]
    AlreadyActed {
        /// The payload's number.
        number: u64,
    },
    /// Its number lies below those that are remembered, and may have been acted on.
    #[error("number {number} lies below {lowest}, the lowest that is remembered")]
    TooOld {
        /// The payload's number.
        number: u64,
        /// The lowest that is remembered.
        lowest: u64,
    },
    /// As many origins as this epoch acts for are known, and this is another.
    #[error("this epoch acts for {ORIGINS_MAX} origins, and this is another")]
    TooManyOrigins,
}

impl NotActed {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            NotActed::Malformed => "malformed-payload",
            NotActed::OtherEpoch => "other-epoch",
            NotActed::EarlierLife { .. } => "earlier-life",
            NotActed::AlreadyActed { .. } => "already-acted",
            NotActed::TooOld { .. } => "payload-too-old",
            NotActed::TooManyOrigins => "too-many-origins",
        }
    }
}

/// What was acted on of one origin.
#[derive(Clone, Copy, Debug)]
struct Acted {
    life: u64,
    highest: u64,
    /// Bit `n` is set where number `highest - n` was acted on.
    below: u64,
}

/// The receiving side of the namespace, in one life of its application.
#[derive(Debug)]
pub struct ReferenceNamespace {
    namespace: Namespace,
    epoch: Epoch,
    origins: IndexMap<Did, Acted, FxBuildHasher>,
}

impl ReferenceNamespace {
    /// The namespace in a life that has `epoch`, which no life had before.
    ///
    /// # Errors
    /// [`NamespaceError::Name`].
    pub fn open(name: &str, epoch: Epoch) -> Result<Self, NamespaceError> {
        let namespace = Namespace::new(name, Delegates { replay: true, message_limit: true })?;
        Ok(Self { namespace, epoch, origins: IndexMap::default() })
    }

    /// The namespace, to be declared.
    #[must_use]
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// What its senders must know.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The content of a dispatched transaction's data, once and never again.
    ///
    /// # Errors
    /// [`NotActed`].
    pub fn act(&mut self, origin: Did, data: &Bytes) -> Result<Bytes, NotActed> {
        let (epoch, life, number, content) =
            read(data, self.namespace.prefix()).ok_or(NotActed::Malformed)?;
        if epoch != self.epoch {
            return Err(NotActed::OtherEpoch);
        }
        let fresh = Acted { life, highest: number, below: 1 };
        let full = self.origins.len() == ORIGINS_MAX;
        match self.origins.get_mut(&origin) {
            None if full => return Err(NotActed::TooManyOrigins),
            None => {
                self.origins.insert(origin, fresh);
            }
            Some(acted) if life > acted.life => *acted = fresh,
            Some(acted) if life < acted.life => {
                return Err(NotActed::EarlierLife { life, newest: acted.life });
            }
            Some(acted) => acted.act(number)?,
        }
        Ok(content)
    }
}

impl Acted {
    fn act(&mut self, number: u64) -> Result<(), NotActed> {
        if number > self.highest {
            let gap = number - self.highest;
            self.below = if gap < REMEMBERED_NUMBERS { self.below << gap | 1 } else { 1 };
            self.highest = number;
            return Ok(());
        }
        let below = self.highest - number;
        if below >= REMEMBERED_NUMBERS {
            let lowest = self.highest - (REMEMBERED_NUMBERS - 1);
            return Err(NotActed::TooOld { number, lowest });
        }
        if self.below & (1 << below) != 0 {
            return Err(NotActed::AlreadyActed { number });
        }
        self.below |= 1 << below;
        Ok(())
    }
}

fn read(data: &Bytes, prefix: &[u8]) -> Option<(Epoch, u64, u64, Bytes)> {
    let rest = data.strip_prefix(prefix)?;
    let (epoch, rest) = rest.split_first_chunk::<16>()?;
    let (life, rest) = rest.split_first_chunk::<8>()?;
    let (number, content) = rest.split_first_chunk::<8>()?;
    let content = data.slice(data.len() - content.len()..);
    Some((Epoch(*epoch), u64::from_be_bytes(*life), u64::from_be_bytes(*number), content))
}

/// The sending side, in one life of its application.
#[derive(Debug)]
pub struct ReferenceSender {
    namespace: Namespace,
    life: u64,
    next: u64,
}

impl ReferenceSender {
    /// A sender in its life `life`, which must be higher than in every life before.
    ///
    /// # Errors
    /// [`NamespaceError::Name`].
    pub fn open(name: &str, life: u64) -> Result<Self, NamespaceError> {
        let namespace = Namespace::new(name, Delegates::default())?;
        Ok(Self { namespace, life, next: 0 })
    }

    /// A transaction's data, for the life of the receiver that has `epoch`. A copy of it is the same payload, in whatever
    /// envelope.
    pub fn payload(&mut self, epoch: Epoch, content: &[u8]) -> Vec<u8> {
        let mut data = self.namespace.prefix().to_vec();
        data.extend_from_slice(&epoch.0);
        data.extend_from_slice(&self.life.to_be_bytes());
        data.extend_from_slice(&self.next.to_be_bytes());
        data.extend_from_slice(content);
        self.next += 1;
        data
    }
}
