//! A stall of relay custody that an operator ends: he removes the store.
//!
//! Promise: mail was refused by the stall before, and what comes after needs no other end of it than the reset.

use super::mail::{CUSTODY, OPEN_US, Scene};
use crate::plan::swarm::Kind;
use crate::plan::{Fault, FaultKind, MailAct, StoreAct, When};
use crate::units::FaultId;

impl Scene<'_, '_> {
    /// 64 deliveries fill custody and nobody takes them; more mail is refused; the store is removed, and what is still held
    /// comes as new. Where the dice say so, every carrier has lost the 64 by then.
    pub(super) fn reset(mut self) {
        let section = &self.draft.scenario.sections.mail;
        let away_us = section.away_ms.roll_u64(&mut self.dice) * 1_000;
        let (origins, mails) =
            (section.origins.roll_u32(&mut self.dice), section.mails.roll_u32(&mut self.dice));
        let lost_per_mille = section.lost_per_mille.roll_u64(&mut self.dice);
        let lost_per_mille = self.draft.intensity(Kind::LostMail).share(lost_per_mille);
        let lost = self.dice.per_mille(lost_per_mille);
        let begin_us = OPEN_US + self.dice.below(1_000_000);
        let drain_us = self.mail.drain_every_us;
        self.act(begin_us, MailAct::Taking { after_us: None });
        let Some(origins) = self.origins(origins) else { return };
        self.die(begin_us, away_us);
        let (share, more) = (CUSTODY / origins.len() as u32, CUSTODY % origins.len() as u32);
        for (origin, place) in origins.iter().zip(0..) {
            let count = share + u32::from(place < more);
            self.send(begin_us + away_us / 8, *origin, count, away_us / 2 / u64::from(count.max(1)));
        }
        let full_us = begin_us + away_us + OPEN_US + 2 * drain_us;
        if lost {
            self.act(full_us, MailAct::Lose);
        }
        let again_us = full_us + 1_000;
        self.die(again_us, away_us);
        for origin in &origins {
            self.send(again_us + away_us / 8, *origin, mails, away_us / 2 / u64::from(mails));
        }
        let reset_us = again_us + away_us + OPEN_US + 2 * drain_us;
        self.remove_store(reset_us);
        self.act(reset_us + 1_000, MailAct::Taking { after_us: Some(self.mail.take_after_us) });
        // And the streams go on.
        for origin in &origins {
            self.send(reset_us + 3 * drain_us, *origin, mails, 1_000);
        }
    }

    fn remove_store(&mut self, at_us: u64) {
        let us = at_us.min(self.draft.chaos_us - 1);
        let kind = FaultKind::Store { node: self.hub, act: StoreAct::RemoveStore, stopped_us: OPEN_US };
        self.draft.faults.push(Fault { id: FaultId(0), at: When::Time { us }, until_us: None, kind });
    }
}
