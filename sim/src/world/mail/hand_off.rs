//! Mail at a change of membership: what one member keeps goes over to the one that answers for it now.
//!
//! Promise: handed mail is kept no longer than its first carrier would have kept it. A giver that is still a member keeps its
//! copy, as the next of the chain does; one that has left lets go of what was taken.

use super::MailGone;
use crate::units::NodeId;
use crate::world::World;
use groundhog_engine::identity::Did;
use groundhog_engine::streams::inbox::Fetched;

impl World {
    /// Hands over what `from` keeps of what `to` answers for by its own view; how many mails `to` took.
    pub(in crate::world) fn hand_mail_over(&mut self, from: NodeId, to: NodeId) -> u32 {
        if self.mail.plan.is_none() {
            return 0;
        }
        self.expire_mail();
        let giver_stays = self.can_be_reached(from);
        let mut taken = 0;
        for of in (0..self.nodes.len()).map(|index| NodeId(index as u16)) {
            let did = self.nodes[of.index()].identity.did();
            if of == to || !self.ring.as_ref().is_some_and(|ring| ring.answers_for(to, of)) {
                continue;
            }
            let kept: Vec<Fetched> = self.mail.carriers[from.index()].read(did).collect();
            for mail in kept {
                taken += u32::from(self.hand_one_over((from, to), (of, did), &mail, giver_stays));
            }
        }
        taken
    }

    /// Whether `to` took the mail; not where it had it, or has no room for it.
    fn hand_one_over(
        &mut self,
        (from, to): (NodeId, NodeId),
        (of, did): (NodeId, Did),
        mail: &Fetched,
        giver_stays: bool,
    ) -> bool {
        let carriers = &mut self.mail.carriers;
        let had_it = carriers[to.index()].keeps(did, &mail.digest);
        let Some(until) = carriers[from.index()].keeps_until(did, &mail.digest) else { return false };
        let Ok(pushed_out) = carriers[to.index()].hold_until(did, mail.digest, &mail.mail, until) else {
            return false;
        };
        if !giver_stays {
            carriers[from.index()].remove(did, &mail.digest);
        }
        let pushed_out = pushed_out.into_iter().map(|other| (of, other.digest)).collect();
        self.tell_of_gone(pushed_out, MailGone::PushedOut);
        !had_it
    }
}
