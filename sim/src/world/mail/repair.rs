//! Repair of replicas: who holds mail for a place has changed, and those who hold it see to it that all of them do.
//!
//! Promise: at its next maintenance pass after a change that it can see, a member offers what it keeps to everybody who, by
//! its own view, is to keep it; nothing is kept longer for that than its first carrier would have kept it. A carrier that
//! was away while its mail was fetched offers that again: its destination knows it, and lets go of it anew.

use crate::ledger::event::Event;
use crate::units::NodeId;
use crate::world::World;
use groundhog_engine::streams::inbox::Fetched;

impl World {
    /// A member has renewed its view.
    pub(in crate::world) fn repair_mail(&mut self, node: NodeId) {
        if self.mail.plan.is_none() || self.mail.carriers[node.index()].is_empty() {
            return;
        }
        self.expire_mail();
        for of in (0..self.nodes.len()).map(|index| NodeId(index as u16)) {
            let did = self.nodes[of.index()].identity.did();
            let kept: Vec<Fetched> = self.mail.carriers[node.index()].read(did).collect();
            if kept.is_empty() || of == node {
                continue;
            }
            let copies = self.mail.copies;
            let chain = self.holders().carriers((node, of), copies, &|other| self.can_be_reached(other));
            for to in chain.into_iter().filter(|to| *to != node) {
                let mut mails = 0;
                for mail in &kept {
                    mails += u32::from(self.hand_one_over((node, to), (of, did), mail, true));
                }
                if mails > 0 {
                    self.record(&Event::MailRepaired { from: node, to, mails });
                }
            }
        }
    }
}
