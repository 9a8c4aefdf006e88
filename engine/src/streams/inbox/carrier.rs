//! A carrier: the mail that one node keeps for others.
//!
//! Promise: what was taken in stays until its destination fetches it, its time is over, or a newer mail of the same inbox
//! pushes it out, which is told. A carrier at its budget refuses what is new and lets nothing go for it.

use crate::flaws::{Flaw, Flaws};
use crate::identity::Did;
use crate::streams::window::Digest;
use crate::units::WallMs;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};

/// The most mail in one inbox: the newest (facts 5.1).
pub const RELAY_INBOX_MAX_ELEMENTS: usize = 64;

/// How a carrier is set up.
#[derive(Clone, Copy, Debug)]
pub struct CarrierConfig {
    /// How long mail is kept, in milliseconds; at most [`RELAY_INBOX_MAX_MS`](crate::streams::RELAY_INBOX_MAX_MS).
    pub lifetime_ms: u64,
    /// The most bytes of mail, of all inboxes together.
    pub budget_bytes: u64,
    /// The known-bad behaviours asked for.
    pub flaws: Flaws,
}

/// The carrier has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{required_bytes} bytes more than the {used_bytes} that are kept would pass the budget of {budget_bytes}"
)]
pub struct HoldRefused {
    /// Bytes kept.
    pub used_bytes: u64,
    /// Bytes of the mail.
    pub required_bytes: u64,
    /// The budget.
    pub budget_bytes: u64,
}

/// Mail that made room for newer mail of its own inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushedOut {
    /// Whose inbox.
    pub destination: Did,
    /// The digest of its transaction.
    pub digest: Digest,
}

/// Mail as its destination reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The digest of its transaction, by which it is removed.
    pub digest: Digest,
    /// The encoded [`HeldMail`](super::HeldMail).
    pub mail: Bytes,
}

#[derive(Clone, Debug)]
struct Element {
    digest: Digest,
    mail: Bytes,
    /// The last instant at which it is kept.
    until: WallMs,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Carrier {
    config: CarrierConfig,
    inboxes: BTreeMap<Did, VecDeque<Element>>,
    used_bytes: u64,
}

impl Carrier {
    /// A carrier that keeps nothing yet.
    #[must_use]
    pub const fn new(config: CarrierConfig) -> Self {
        Self { config, inboxes: BTreeMap::new(), used_bytes: 0 }
    }

    /// Keeps `mail` for `destination` from `now` on; says what it pushed out of that inbox. Mail that is kept already stays
    /// as it is.
    ///
    /// # Errors
    /// [`HoldRefused`]; then nothing has changed.
    pub fn hold(
        &mut self,
        destination: Did,
        digest: Digest,
        mail: &Bytes,
        now: WallMs,
    ) -> Result<Vec<PushedOut>, HoldRefused> {
        self.hold_until(destination, digest, mail, now.plus_ms(self.config.lifetime_ms))
    }

    /// Keeps `mail` that another carrier has kept, and not longer than that would have: [`Self::keeps_until`].
    ///
    /// # Errors
    /// As [`Self::hold`].
    pub fn hold_until(
        &mut self,
        destination: Did,
        digest: Digest,
        mail: &Bytes,
        until: WallMs,
    ) -> Result<Vec<PushedOut>, HoldRefused> {
        if self.keeps(destination, &digest) {
            return Ok(Vec::new());
        }
        let full = self.inboxes.get(&destination).filter(|inbox| inbox.len() == RELAY_INBOX_MAX_ELEMENTS);
        let freed_bytes = full.and_then(VecDeque::front).map_or(0, |oldest| oldest.mail.len() as u64);
        let (budget_bytes, required_bytes) = (self.config.budget_bytes, mail.len() as u64);
        if self.used_bytes - freed_bytes + required_bytes > budget_bytes
            && !self.evict_silently(required_bytes)
        {
            return Err(HoldRefused { used_bytes: self.used_bytes, required_bytes, budget_bytes });
        }
        let inbox = self.inboxes.entry(destination).or_default();
        let mut pushed_out = Vec::new();
        while inbox.len() >= RELAY_INBOX_MAX_ELEMENTS
            && let Some(oldest) = inbox.pop_front()
        {
            self.used_bytes -= oldest.mail.len() as u64;
            pushed_out.push(PushedOut { destination, digest: oldest.digest });
        }
        inbox.push_back(Element { digest, mail: mail.clone(), until });
        self.used_bytes += required_bytes;
        Ok(pushed_out)
    }

    /// What is kept for `destination`, the oldest first.
    pub fn read(&self, destination: Did) -> impl Iterator<Item = Fetched> + '_ {
        let inbox = self.inboxes.get(&destination).into_iter().flatten();
        inbox.map(|element| Fetched { digest: element.digest, mail: element.mail.clone() })
    }

    /// Whether it keeps this mail.
    #[must_use]
    pub fn keeps(&self, destination: Did, digest: &Digest) -> bool {
        self.inboxes
            .get(&destination)
            .is_some_and(|inbox| inbox.iter().any(|element| element.digest == *digest))
    }

    /// The last instant at which it keeps this mail, by its own clock; `None` where it does not.
    #[must_use]
    pub fn keeps_until(&self, destination: Did, digest: &Digest) -> Option<WallMs> {
        let mut inbox = self.inboxes.get(&destination)?.iter();
        inbox.find(|element| element.digest == *digest).map(|element| element.until)
    }

    /// The destination has fetched this mail, or never can: it is kept no longer. `false` where it was not kept.
    pub fn remove(&mut self, destination: Did, digest: &Digest) -> bool {
        let Some(inbox) = self.inboxes.get_mut(&destination) else { return false };
        let Some(place) = inbox.iter().position(|element| element.digest == *digest) else { return false };
        let element = inbox.remove(place).expect("the place is inside");
        self.used_bytes -= element.mail.len() as u64;
        if inbox.is_empty() {
            self.inboxes.remove(&destination);
        }
        true
    }

    /// Everything for `destination` is lost, as nothing but an accident does it. Says what that was.
    pub fn lose(&mut self, destination: Did) -> Vec<Digest> {
        let lost = self.inboxes.remove(&destination).unwrap_or_default();
        self.used_bytes -= lost.iter().map(|element| element.mail.len() as u64).sum::<u64>();
        lost.into_iter().map(|element| element.digest).collect()
    }

    /// Drops what is kept no longer at `now`; says what that was.
    pub fn expire(&mut self, now: WallMs) -> Vec<PushedOut> {
        let mut expired = Vec::new();
        let mut freed_bytes = 0;
        self.inboxes.retain(|destination, inbox| {
            inbox.retain(|element| {
                let kept = now <= element.until;
                if !kept {
                    expired.push(PushedOut { destination: *destination, digest: element.digest });
                    freed_bytes += element.mail.len() as u64;
                }
                kept
            });
            !inbox.is_empty()
        });
        self.used_bytes -= freed_bytes;
        expired
    }

    /// Bytes kept.
    #[must_use]
    pub const fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// How much mail it keeps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inboxes.values().map(VecDeque::len).sum()
    }

    /// Whether it keeps none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inboxes.is_empty()
    }

    /// Makes room by letting the oldest mail of any inbox go, without a word: what no correct carrier does.
    fn evict_silently(&mut self, required_bytes: u64) -> bool {
        if !self.config.flaws.has(Flaw::RelayInboxEvicts) || required_bytes > self.config.budget_bytes {
            return false;
        }
        while self.used_bytes + required_bytes > self.config.budget_bytes {
            let oldest = self.inboxes.iter().filter_map(|(destination, inbox)| {
                inbox.front().map(|element| (element.until, *destination, element.digest))
            });
            let (_, destination, digest) = oldest.min().expect("what is used is kept");
            self.remove(destination, &digest);
        }
        true
    }
}

#[cfg(test)]
#[path = "carrier_tests.rs"]
mod tests;
