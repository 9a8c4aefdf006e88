//! A message's way: out of its origin, over the network, into its destination.

use super::{Story, spaced};
use crate::print::columns::beat::Mark;
use crate::print::columns::draft::{Admitting, Deed, Place, Sending, Subject};
use groundhog_engine::host::observe::{BatchNumber, Decision, EngineEvent};
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::event::{Answer, Event};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::ledger::words;
use groundhog_sim::units::{NodeId, SimTime};

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    from: NodeId,
    to: NodeId,
    subject: Subject,
    arrived: bool,
}

impl Story {
    /// What happens to a message at its origin.
    pub(super) fn origin(&mut self, line: &Line<'_>) {
        let at = line.at;
        match *line.event {
            Event::Intended { message, node, to, class } => {
                self.messages.insert(message, StreamName { origin: node, destination: to, class });
                self.sending(at, node, message, |sending| sending.wanted = true);
            }
            Event::NotSent { message, node, cause } => {
                self.said(at, node, message, "", &format!(" not sent: {}", spaced(cause.id())));
            }
            Event::ReserveAnswered { message, node, answer, refusal, .. } => {
                if let Some(sequence) = answer {
                    self.sequences.insert(message, sequence.0);
                    self.given(at, node, message);
                } else if let Some(refusal) = refusal {
                    self.said(at, node, message, "no sequence for ", &format!(": {}", spaced(refusal)));
                }
            }
            Event::Exposed { message, node, transaction, .. } => {
                self.sequences.insert(message, transaction.sequence.0);
                self.sending(at, node, message, |sending| sending.signed = true);
            }
            _ => {}
        }
    }

    /// What happens to a message at a relay and at its destination.
    pub(super) fn destination(&mut self, line: &Line<'_>) {
        let at = line.at;
        match *line.event {
            Event::Relayed { message: Some(message), node, .. } => {
                self.said(at, node, message, "relays ", "");
            }
            Event::Unverified { message: Some(message), node, reason, .. } => {
                self.said(at, node, message, "", &format!(" does not verify: {}", spaced(reason)));
            }
            Event::Unverified { message: None, node, reason, .. } => {
                let words = format!("a replayed frame does not verify: {}", spaced(reason));
                self.words(at, node, Mark::Plain, words);
            }
            Event::Arrived { message, node, transaction, passage, .. } => {
                let subject = self.carried(line, message, transaction, passage.copy);
                let deed = Deed::Admitting(Admitting::default());
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
            Event::Answered { message, node, transaction, passage, answer, .. } => {
                let subject = self.carried(line, message, transaction, passage.copy);
                self.answered(at, node, subject, answer);
            }
            Event::AdmissionAbandoned { message, node, transaction, .. } => {
                let subject = self.carried(line, message, transaction, 0);
                let deed = Deed::Said(String::new(), ": its caller gives up".to_owned());
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
            Event::Dispatched { message, node, transaction, .. } => {
                let subject = self.carried(line, message, transaction, 0);
                self.admitting(at, node, subject, |admitting| admitting.dispatched = true);
            }
            Event::Mail { message, node, transaction, step, .. } => {
                let subject = self.carried(line, message, transaction, 0);
                let deed = Deed::Said("mail ".to_owned(), format!(": {}", words::mail_step(step)));
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
            // The handler's end says nothing that its beginning did not.
            _ => self.grown(at),
        }
    }

    /// A transition's decision belongs to the beat of the message that asked for it, which is the one before it.
    pub(super) fn decided(
        &mut self,
        line: &Line<'_>,
        node: NodeId,
        class: Class,
        decision: &Decision,
        staged: Option<BatchNumber>,
    ) {
        let at = line.at;
        let batch = staged.map(|batch| batch.0);
        let words = match decision {
            Decision::Verdict { verdict, .. } => {
                batch.map_or(verdict.id().to_owned(), |batch| format!("{}, batch {batch}", verdict.id()))
            }
            Decision::Reserved { lease, .. } => match batch {
                Some(batch) => format!("leases up to #{lease} in batch {batch}"),
                None => return self.grown(at),
            },
            Decision::Taken { .. } => "taken out of custody".to_owned(),
            Decision::Refused { reason } => format!("refused: {}", spaced(reason)),
        };
        let open = self.open_at(node).filter(|draft| draft.subjects[0].class == class);
        match open.map(|draft| (&mut draft.deed, &mut draft.events)) {
            Some((Deed::Sending(Sending { leased: place @ None, .. }), events))
            | Some((Deed::Admitting(Admitting { decided: place @ None, .. }), events)) => {
                *place = Some(words);
                *events += 1;
            }
            _ => {
                let sequence = match decision {
                    Decision::Verdict { sequence, .. } | Decision::Taken { sequence, .. } => Some(sequence.0),
                    Decision::Reserved { .. } | Decision::Refused { .. } => None,
                };
                let stream = line.streams.first().copied();
                let subject = Subject { message: None, stream, class, sequence, copy: 0 };
                let deed = Deed::Said(String::new(), format!(": {words}"));
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
        }
    }

    pub(super) fn frame(&mut self, line: &Line<'_>) {
        let at = line.at;
        match *line.event {
            Event::FrameSent { frame, message, copy, from, to, class, .. } => {
                let stream = line.streams.first().copied();
                let subject = Subject { message, stream, class, sequence: None, copy };
                self.frames.insert(frame, Frame { from, to, subject, arrived: false });
                match (message, stream) {
                    (None, _) => {
                        let said = Deed::Said("adversary sends ".to_owned(), format!(" again, to n{}", to.0));
                        let named = Subject { copy: 0, ..subject };
                        self.push(at, Place::At(from, Mark::Fault), 1, vec![named], said);
                    }
                    // A relay has said so.
                    (Some(_), Some(stream)) if stream.origin != from => self.grown(at),
                    (Some(message), _) if copy == 0 => {
                        self.sending(at, from, message, |sending| sending.sent = true);
                    }
                    (Some(_), _) => {
                        let deed = Deed::Said("sends ".to_owned(), format!(" to n{}", to.0));
                        self.push(at, Place::At(from, Mark::Plain), 1, vec![subject], deed);
                    }
                }
            }
            Event::FrameDelivered { frame, duplicate, .. } => {
                let Some(Frame { from, to, subject, .. }) = self.frames.get(&frame).copied() else { return };
                self.frames.entry(frame).and_modify(|frame| frame.arrived = true);
                let place = Place::Between(from, to);
                if duplicate {
                    let deed = Deed::Said("<- the network doubles ".to_owned(), String::new());
                    self.push(at, Place::At(to, Mark::Plain), 1, vec![subject], deed);
                } else {
                    self.push(at, place, 1, vec![subject], Deed::Travelled);
                }
            }
            Event::FrameLost { frame, cause, .. } => {
                let Some(Frame { from, to, mut subject, arrived }) = self.frames.get(&frame).copied() else {
                    return;
                };
                // A death takes all copies of a message at once.
                subject.copy = if arrived { 0 } else { subject.copy };
                let (node, what) = if arrived { (to, "") } else { (from, "-x ") };
                let after = if arrived { String::new() } else { format!(" to n{}", to.0) };
                let deed = Deed::Said(what.to_owned(), format!("{after} lost: {}", spaced(cause.id())));
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
            _ => {}
        }
    }

    pub(super) fn answered(&mut self, at: SimTime, node: NodeId, subject: Subject, answer: Answer) {
        let told = match answer {
            // Its dispatch says so.
            Answer::Verdict(verdict) if verdict.dispatches() => return self.grown(at),
            Answer::Verdict(verdict) => verdict.id().to_owned(),
            Answer::Refused(reason) => format!("refused: {}", spaced(reason)),
            Answer::FailedBatch => "failed with its batch".to_owned(),
            Answer::Unscheduled => "nobody is there any more".to_owned(),
        };
        self.admitting(at, node, subject, |admitting| admitting.told = Some(told));
    }
}

pub const fn sequence_of(event: &Event<'_>) -> Option<u64> {
    match event {
        Event::Exposed { transaction, .. }
        | Event::Arrived { transaction, .. }
        | Event::Answered { transaction, .. }
        | Event::Mail { transaction, .. }
        | Event::Dispatched { transaction, .. } => Some(transaction.sequence.0),
        Event::Engine { event: EngineEvent::Transition { decision, .. }, .. } => match decision {
            Decision::Verdict { sequence, .. } | Decision::Taken { sequence, .. } => Some(sequence.0),
            Decision::Reserved { first, .. } => Some(first.0),
            Decision::Refused { .. } => None,
        },
        _ => None,
    }
}
