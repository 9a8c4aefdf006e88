//! Drafts of a story, and how events make them grow.

use super::Story;
use crate::print::columns::beat::Mark;
use crate::print::columns::draft::{Admitting, Deed, Draft, Place, Sending, Subject};
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::event::Transaction;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::units::{MessageId, NodeId, SimTime};

impl Story {
    pub(super) fn push(
        &mut self,
        at: SimTime,
        place: Place,
        events: u64,
        subjects: Vec<Subject>,
        deed: Deed,
    ) {
        self.open = !subjects.is_empty();
        self.drafts.push(Draft { at, until: at, events, place, subjects, deed, shown: true });
    }

    pub(super) fn words(&mut self, at: SimTime, node: NodeId, mark: Mark, words: String) {
        self.push(at, Place::At(node, mark), 1, Vec::new(), Deed::Words(words));
    }

    pub(super) fn across(&mut self, at: SimTime, words: &str) {
        self.push(at, Place::Across, 1, Vec::new(), Deed::Words(words.to_owned()));
    }

    pub(super) fn said(&mut self, at: SimTime, node: NodeId, message: MessageId, before: &str, after: &str) {
        let subject = self.workload(message);
        let deed = Deed::Said(before.to_owned(), after.to_owned());
        self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
    }

    /// An event that needs no words belongs to the beat before it.
    pub(super) fn grown(&mut self, at: SimTime) {
        if let Some(draft) = self.drafts.last_mut().filter(|_| self.open) {
            draft.until = at;
            draft.events += 1;
        }
    }

    /// The last draft tells so many more.
    pub(super) fn counted(&mut self, events: u64) {
        if let Some(draft) = self.drafts.last_mut() {
            draft.events += events;
        }
    }

    /// A sequence was handed out: worth a word where it was asked for at this moment.
    pub(super) fn given(&mut self, at: SimTime, node: NodeId, message: MessageId) {
        let subject = self.workload(message);
        match self.open_at(node).filter(|draft| draft.subjects[0].is(&subject)) {
            Some(Draft { deed: Deed::Sending(sending), events, .. }) => {
                sending.given = true;
                *events += 1;
            }
            _ => self.grown(at),
        }
    }

    pub(super) fn open_at(&mut self, node: NodeId) -> Option<&mut Draft> {
        let draft = self.drafts.last_mut().filter(|_| self.open)?;
        (draft.place == Place::At(node, Mark::Plain)).then_some(draft)
    }

    pub(super) fn sending(
        &mut self,
        at: SimTime,
        node: NodeId,
        message: MessageId,
        grow: impl FnOnce(&mut Sending),
    ) {
        let subject = self.workload(message);
        if !self
            .open_at(node)
            .is_some_and(|draft| matches!(draft.deed, Deed::Sending(_)) && draft.subjects[0].is(&subject))
        {
            let deed = Deed::Sending(Sending::default());
            self.push(at, Place::At(node, Mark::Plain), 0, vec![subject], deed);
        }
        if let Some(draft) = self.drafts.last_mut()
            && let Deed::Sending(sending) = &mut draft.deed
        {
            grow(sending);
            (draft.at, draft.until) = (at, at);
            draft.events += 1;
        }
    }

    pub(super) fn admitting(
        &mut self,
        at: SimTime,
        node: NodeId,
        subject: Subject,
        grow: impl FnOnce(&mut Admitting),
    ) {
        let same = |one: &Subject| {
            // Its copy is not told with a dispatch.
            Subject { copy: 0, ..*one }.is(&Subject { copy: 0, ..subject })
        };
        if !self
            .open_at(node)
            .is_some_and(|draft| matches!(draft.deed, Deed::Admitting(_)) && same(&draft.subjects[0]))
        {
            let deed = Deed::Admitting(Admitting::default());
            self.push(at, Place::At(node, Mark::Plain), 0, vec![subject], deed);
        }
        if let Some(draft) = self.drafts.last_mut()
            && let Deed::Admitting(admitting) = &mut draft.deed
        {
            grow(admitting);
            (draft.at, draft.until) = (at, at);
            draft.events += 1;
        }
    }

    pub(super) fn workload(&self, message: MessageId) -> Subject {
        let stream = self.messages.get(&message).copied();
        let class = stream.map_or(Class::Control, |stream| stream.class);
        Subject { message: Some(message), stream, class, sequence: None, copy: 0 }
    }

    /// What an admission carries.
    pub(super) fn carried(
        &self,
        line: &Line<'_>,
        message: Option<MessageId>,
        transaction: &Transaction,
        copy: u32,
    ) -> Subject {
        let (class, sequence) = (transaction.stream.class, Some(transaction.sequence.0));
        Subject { message, stream: line.streams.first().copied(), class, sequence, copy }
    }
}
