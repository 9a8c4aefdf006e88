//! `streams/mail`: held mail is taken at most once, and what is not taken is somewhere, or lost by one named cause.
//!
//! Out of an inbox comes what was admitted and not taken as a redelivery, whatever its window says: any other refusal loses
//! mail that was in custody. Where a take was begun and nobody was told its end, the mail may be gone with it.

use super::custody_book::{CustodyBook, Memory};
use super::names::{DigestKey, Names};
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, MailGone, MailStep, Transaction};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::window::VerdictKind;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Carriers that are asked to hold each mail at least: the owner and a successor, where there is one (facts 6.1). More are
/// asked where more are up.
const ASKED: u8 = 2;

/// One mail for one node.
struct Held {
    transaction: Transaction,
    /// Carriers that were asked to hold it.
    asked: u8,
    gone: Option<MailGone>,
    stored: bool,
    /// The last thing that its destination said of it, if that refused it for good.
    refused: bool,
}

/// See the module.
pub struct Mail {
    names: Names,
    custody: CustodyBook,
    held: IndexMap<(NodeId, DigestKey), Held, FxBuildHasher>,
    /// Nodes that can hold mail for one.
    others: u8,
}

impl Mail {
    /// Its id.
    pub const ID: &'static str = "streams/mail";
    /// What it states.
    pub const STATES: &'static str = "Mail is taken at most once; if it is not taken it is stored, in custody, expired, or lost by one named cause \
         (000, Receiver streams by connection slot; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            custody: CustodyBook::of_run(setting),
            held: IndexMap::default(),
            others: u8::try_from(setting.plan.nodes.len().saturating_sub(1)).unwrap_or(u8::MAX),
        }
    }

    /// What is wrong with an answer to a delivery out of the inbox.
    fn misjudged(&mut self, node: NodeId, transaction: &Transaction, answer: Answer) -> Option<&'static str> {
        let delivery = self.custody.get(node, transaction)?;
        match answer {
            Answer::Verdict(VerdictKind::Replay) => {
                let explained = delivery.taking || delivery.other_way || delivery.wall > delivery.spent;
                (!explained).then_some("as a replay, and nobody had taken it")
            }
            Answer::Verdict(VerdictKind::Stale) => {
                delivery.is_held(delivery.wall).then_some("as stale, and it was in custody")
            }
            Answer::Verdict(VerdictKind::First | VerdictKind::Advance | VerdictKind::Late) => {
                (delivery.taken && delivery.memory == Memory::Kept).then_some("as new, and it was taken")
            }
            _ => None,
        }
    }

    fn stepped(&mut self, node: NodeId, transaction: &Transaction, step: MailStep) -> Option<String> {
        let key = (node, DigestKey::of(&transaction.digest));
        match step {
            MailStep::Held { asked, .. } => {
                let transaction = *transaction;
                let new = Held { transaction, asked, gone: None, stored: false, refused: false };
                let held = self.held.entry(key).or_insert(new);
                (held.gone, held.asked) = (None, held.asked.max(asked));
            }
            MailStep::Gone { why } => {
                let held = self.held.get_mut(&key)?;
                held.gone = Some(why);
            }
            MailStep::Stored => self.held.get_mut(&key)?.stored = true,
            MailStep::NotTaken { .. } => self.held.get_mut(&key)?.refused = true,
            MailStep::Taken if self.custody.get(node, transaction).is_none_or(|delivery| delivery.taken) => {
                return Some("was taken twice, or without having been delivered".to_owned());
            }
            MailStep::HoldRefused { .. } | MailStep::Taking | MailStep::Taken => {}
        }
        None
    }

    /// Why a mail that was held is nowhere at the end, if that is so.
    fn lost(&mut self, node: NodeId, held: &Held) -> Option<&'static str> {
        let delivery = self.custody.get(node, &held.transaction);
        if held.stored
            || delivery.is_some_and(|delivery| delivery.taken || delivery.dispatched || delivery.taking)
        {
            return None;
        }
        match held.gone {
            None => Some("no carrier keeps it, nobody took it, and nothing says why"),
            Some(MailGone::Fetched) => {
                (!held.refused).then_some("its destination had it removed, and neither took nor refused it")
            }
            Some(MailGone::CarrierLost) => (held.asked < ASKED.min(self.others))
                .then_some("one carrier was lost, and no other was asked to hold it"),
            Some(MailGone::PushedOut | MailGone::Expired | MailGone::LostEverywhere) => None,
        }
    }
}

impl Law for Mail {
    law_identity!(Outcome reads FaultBegan, Arrived, Answered, Unverified, Mail);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, transaction, saw) = match event {
            Event::Answered { node, transaction, passage, answer, .. } if passage.is_from_inbox() => {
                if let Answer::Verdict(verdict) = answer
                    && !verdict.dispatches()
                    && let Some(held) = self.held.get_mut(&(*node, DigestKey::of(&transaction.digest)))
                {
                    held.refused = true;
                }
                let wrong = self.misjudged(*node, transaction, *answer);
                (
                    *node,
                    *transaction,
                    wrong.map(|wrong| format!("came out of the inbox and was answered {wrong}")),
                )
            }
            Event::Mail { node, transaction, step, .. } => {
                (*node, *transaction, self.stepped(*node, transaction, *step))
            }
            _ => return self.custody.event(event),
        };
        self.custody.event(event);
        if let Some(saw) = saw {
            let saw = format!("mail {} for {node} {saw}", self.names.transaction(transaction));
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }

    fn end(&mut self, at: SimTime, _view: &dyn View, broken: &mut Vec<Violation>) {
        for ((node, _), held) in std::mem::take(&mut self.held) {
            if let Some(why) = self.lost(node, &held) {
                let saw = format!("mail {} for {node}: {why}", self.names.transaction(&held.transaction));
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }
}

#[cfg(test)]
#[path = "mail_tests.rs"]
mod tests;
