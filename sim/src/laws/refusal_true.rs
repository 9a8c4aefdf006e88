//! `streams/refusal-true`: a refusal by verdict is told only when no power failure could take back what it was computed from.
//!
//! Until it is told, what it was computed from may have been retired: then a later admission's clock was past all of it.

use super::lifespan::{Lifespans, spent};
use super::names::{DigestKey, Names};
use super::reading::{RecordReader, RecordValue};
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::window::VerdictKind;

/// See the module.
pub struct RefusalTrue {
    names: Names,
    reader: RecordReader,
    lifespans: Lifespans,
}

impl RefusalTrue {
    /// Its id.
    pub const ID: &'static str = "streams/refusal-true";
    /// What it states.
    pub const STATES: &'static str = "A replay, fork or stale that is told is true of every state that the disk could come back with \
         (000, group commit, Release: that holds for a refusal too).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { names: setting.names.clone(), reader: setting.reader, lifespans: Lifespans::default() }
    }

    /// Whether the record may have been retired since: a transaction that is a replay is among what the record accepted.
    fn may_be_retired(
        &self,
        (node, record): (NodeId, RecordName),
        transaction: &Transaction,
        told: VerdictKind,
    ) -> bool {
        let replayed = (told == VerdictKind::Replay).then(|| spent(transaction));
        let accepted = self.lifespans.of(node, record).max(replayed);
        accepted.is_some_and(|spent| self.lifespans.is_past(node, spent))
    }

    /// Whether a record in this state refuses the transaction as it was refused, or as too old for its window by now.
    fn refuses(&self, image: &RecordImage, transaction: &Transaction, told: VerdictKind) -> bool {
        let Some(RecordValue::Receiver(window)) = self.reader.image(image).map(|read| read.value) else {
            return false;
        };
        let verdict = window.classify(transaction.sequence.0, DigestKey::word(&transaction.digest));
        verdict == told || verdict == VerdictKind::Stale
    }
}

impl Law for RefusalTrue {
    law_identity!(Outcome reads Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, transaction, record, verdict) = match event {
            Event::Arrived { node, wall, .. } => return self.lifespans.arrived(*node, *wall),
            Event::Answered { node, transaction, record, answer: Answer::Verdict(verdict), .. } => {
                (node, transaction, record, verdict)
            }
            _ => return,
        };
        if verdict.dispatches() {
            return self.lifespans.accepted(*node, *record, transaction);
        }
        let images = view.surviving_images(*node, *record);
        if !images.is_empty() && images.iter().all(|image| self.refuses(image, transaction, *verdict)) {
            return;
        }
        if self.may_be_retired((*node, *record), transaction, *verdict) {
            return;
        }
        let saw = format!(
            "{node} refused {} as {}, and a power failure then could leave a record that does not",
            self.names.transaction(transaction),
            verdict.id()
        );
        broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, Image, Ledger, brief, receiver_record, record_of, transaction};
    use groundhog_engine::units::WallMs;

    fn refused<const N: usize>(verdict: VerdictKind, images: [&Image; N]) -> usize {
        let mut ledger = Ledger::over(RefusalTrue::new(&Ledger::setting()));
        ledger.view.surviving(3, receiver_record(1, 3), &images.map(Image::clone));
        ledger.admitted(3, &transaction(1, 3, 7, 7), COPY, verdict);
        ledger.finish().len()
    }

    #[test]
    fn what_was_retired_meanwhile_need_not_be_there() {
        let sent = brief(1, 3, 7);
        let fork = Transaction { digest: [8; 32], expires: WallMs(90_000), ..sent };
        for (clock, told, breaks) in [(4_000, true, true), (4_001, true, false), (4_001, false, true)] {
            for (refused, verdict) in [(sent, VerdictKind::Replay), (fork, VerdictKind::Fork)] {
                let mut ledger = Ledger::over(RefusalTrue::new(&Ledger::setting()));
                ledger.view.surviving(3, record_of(&sent), &[Image::Absent]);
                if told {
                    ledger.admitted(3, &sent, COPY, VerdictKind::First);
                }
                ledger.clock_shows(clock);
                ledger.answered(3, &refused, COPY, Answer::Verdict(verdict));
                let breaks = breaks && (told || verdict == VerdictKind::Fork);
                assert_eq!(ledger.finish().len(), usize::from(breaks), "{verdict:?} at {clock}");
            }
        }
    }

    #[test]
    fn a_refusal_is_true_of_every_surviving_state() {
        let before = Image::Window(1, (1, 3), vec![(6, 6)]);
        let holds = Image::Window(2, (1, 3), vec![(6, 6), (7, 7)]);
        let other = Image::Window(2, (1, 3), vec![(6, 6), (7, 9)]);
        let beyond = Image::Window(3, (1, 3), vec![(7, 7), (99, 99)]);
        assert_eq!(refused(VerdictKind::Replay, [&holds]), 0);
        assert_eq!(refused(VerdictKind::Replay, [&holds, &beyond]), 0);
        assert_eq!(refused(VerdictKind::Fork, [&other]), 0);
        assert_eq!(refused(VerdictKind::Stale, [&beyond]), 0);
        assert_eq!(refused(VerdictKind::Advance, [&before]), 0, "not a refusal");

        assert_eq!(refused(VerdictKind::Replay, [&before, &holds]), 1);
        assert_eq!(refused(VerdictKind::Replay, [&other]), 1);
        assert_eq!(refused(VerdictKind::Stale, [&holds]), 1);
        assert_eq!(refused(VerdictKind::Replay, [&Image::Absent]), 1);
        assert_eq!(refused(VerdictKind::Replay, [&Image::Torn]), 1);
        assert_eq!(refused(VerdictKind::Replay, []), 1);
    }
}
