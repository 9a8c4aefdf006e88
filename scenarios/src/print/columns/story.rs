//! A run's events as the beats of a story: what a message goes through at one node is one beat, and the disk's work is told
//! in a clause of what comes of it.
//!
//! Promise: it reads lines of a timeline in their order and runs nothing. Deaths, boots, faults, failures and broken laws
//! always have beats of their own.

use super::beat::{About, Beat, Mark};
use super::draft::{Admitting, Deed, Draft, Place, Sending, Sequences, Subject, beats};
use super::focus;
use super::quiet::Quiet;
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::{BatchNumber, Decision, EngineEvent};
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::event::{Answer, Event, Transaction};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::ledger::words;
use groundhog_sim::outcome::Violation;
use groundhog_sim::plan::{FaultKind, Plan};
use groundhog_sim::units::{FaultId, FrameNumber, Life, MessageId, NodeId, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
struct Frame {
    from: NodeId,
    to: NodeId,
    subject: Subject,
    arrived: bool,
}

/// Grows event by event.
pub struct Story {
    faults: BTreeMap<FaultId, FaultKind>,
    messages: BTreeMap<MessageId, StreamName>,
    sequences: Sequences,
    frames: BTreeMap<FrameNumber, Frame>,
    quiet: Vec<Quiet>,
    /// Nodes that opened in their first life: they are told together.
    opened: Vec<NodeId>,
    reborn: BTreeSet<NodeId>,
    drafts: Vec<Draft>,
    /// Whether the last draft may still grow.
    open: bool,
    focus: Vec<About>,
    scenes: Vec<NodeId>,
}

/// A story that is over.
#[derive(Debug)]
pub struct Told {
    /// Its beats, in order.
    pub beats: Vec<Beat>,
    /// The messages and streams that the law is about that it is told for.
    pub focus: Vec<About>,
    /// The nodes at which laws were broken, that of the law that it is told for first.
    pub scenes: Vec<NodeId>,
}

impl Story {
    /// Of a run of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Self {
        Self {
            faults: plan.faults.iter().map(|fault| (fault.id, fault.kind.clone())).collect(),
            messages: BTreeMap::new(),
            sequences: Sequences::new(),
            frames: BTreeMap::new(),
            quiet: plan.nodes.iter().map(|_| Quiet::default()).collect(),
            opened: Vec::new(),
            reborn: BTreeSet::new(),
            drafts: Vec::new(),
            open: false,
            focus: Vec::new(),
            scenes: Vec::new(),
        }
    }

    /// Takes the next event. One that is not `shown` has no beat of its own to look at, and changes those after it as ever.
    pub fn take(&mut self, line: &Line<'_>, shown: bool) {
        let told = self.drafts.len();
        self.event(line);
        self.drafts[told..].iter_mut().for_each(|draft| draft.shown = shown);
    }

    /// A law was broken: at the event that was taken last, or when the run was over.
    pub fn broken(&mut self, violation: &Violation) {
        if let Some(node) = violation.node {
            self.progress(violation.at, node);
            self.scenes.push(node);
        }
        let saw = focus::abbreviated(&violation.saw);
        self.push(violation.at, Place::Broken(violation.law), 0, Vec::new(), Deed::Words(saw));
        self.open = false;
    }

    /// This is what the story is told for, and the event at which it was seen.
    pub fn turns_on(&mut self, violation: &Violation, line: Option<&Line<'_>>) {
        if let Some(line) = line {
            let about = |stream: &StreamName| (*stream, sequence_of(line.event));
            self.focus.extend(line.streams.iter().map(about));
        }
        self.focus.extend(focus::named_in(&violation.saw));
        if let Some(node) = violation.node {
            self.scenes.insert(0, node);
        }
    }

    /// The story is over.
    pub fn told(self) -> Told {
        Told { beats: beats(self.drafts, &self.sequences), focus: self.focus, scenes: self.scenes }
    }

    fn event(&mut self, line: &Line<'_>) {
        let at = line.at;
        match *line.event {
            Event::DiskAnswered { node, operation, error, injected, .. } => {
                self.disk(at, node, &words::kebab(operation), error, injected);
            }
            Event::Engine { node, event, .. } => self.engine(line, node, &event),
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
            Event::FrameSent { .. } | Event::FrameLost { .. } | Event::FrameDelivered { .. } => {
                self.frame(line);
            }
            Event::Relayed { message: Some(message), node, .. } => {
                self.said(at, node, message, "relays ", "");
            }
            Event::Unverified { message: Some(message), node, reason, .. } => {
                self.said(at, node, message, "", &format!(" does not verify: {}", spaced(reason)));
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
            // The handler's end says nothing that its beginning did not.
            Event::Handled { .. }
            | Event::Relayed { message: None, .. }
            | Event::Unverified { message: None, .. } => self.grown(at),
            _ => self.life(at, line.event),
        }
    }

    /// What happens to a node as a whole, and to all of them.
    fn life(&mut self, at: SimTime, event: &Event<'_>) {
        match *event {
            // First boots are told once their nodes are open.
            Event::Booted { life: Life(0), .. } => {}
            Event::Booted { node, life, .. } => {
                self.quiet[node.index()] = Quiet::default();
                self.reborn.insert(node);
                self.words(at, node, Mark::Boot, format!("boots, life {}", life.0));
            }
            Event::Ready { node, life } => self.ready(at, node, life),
            Event::OpenFailed { node, reason, .. } => {
                let effort = self.quiet[node.index()].taken().0.effort();
                self.words(at, node, Mark::Wrong, format!("does not open: {}{effort}", spaced(reason)));
            }
            Event::Died { node, death, during, gathering, .. } => {
                let mut words = spaced(words::death_kind(death));
                let (quiet, events) = self.quiet[node.index()].taken();
                match (during, quiet.progress()) {
                    (Some((_, batch, _)), Some(progress)) if batch.0 > 0 => {
                        words.push_str(&format!("; batch {}: {progress}", batch.0));
                    }
                    (_, Some(progress)) => words.push_str(&format!("; {progress}")),
                    _ => {}
                }
                words.push_str(if gathering { "; a batch gathering" } else { "" });
                self.words(at, node, Mark::Death, words);
                self.counted(events);
            }
            Event::PowerLost { node, kept, lost } => {
                let place = Place::At(node, Mark::Death);
                let death = self.drafts.last_mut().filter(|draft| draft.place == place);
                if let Some(Draft { deed: Deed::Words(words), events, .. }) = death {
                    words.push_str(&format!("; {lost} of {} pending changes lost", kept + lost));
                    *events += 1;
                }
            }
            Event::Panicked { node, message, .. } => {
                self.words(at, node, Mark::Wrong, format!("panics: {message}"));
            }
            Event::ClockSet { node, from, to } => {
                let by_ms = i128::from(to.0) - i128::from(from.0);
                self.words(at, node, Mark::Fault, format!("clock set by {by_ms:+} ms"));
            }
            Event::FaultBegan { fault } => self.fault(at, fault, "begins"),
            Event::FaultEnded { fault } => self.fault(at, fault, "is over"),
            Event::Quiesced => self.across(at, "every fault is over"),
            Event::ReplayMissed { node } => {
                self.words(at, node, Mark::Plain, "an adversary finds nothing to replay".to_owned());
            }
            _ => {}
        }
    }

    fn disk(
        &mut self,
        at: SimTime,
        node: NodeId,
        operation: &str,
        error: Option<DiskErrorKind>,
        injected: bool,
    ) {
        // What is not there is an answer like any other, which opening a store asks for.
        let fails = error.filter(|error| *error != DiskErrorKind::NotFound || injected);
        let operation = spaced(operation);
        match fails {
            None if !injected => self.quiet[node.index()].operation(),
            None => self.words(at, node, Mark::Fault, format!("{operation} struck by a fault")),
            Some(error) => {
                let error = spaced(&words::kebab(error));
                self.words(at, node, Mark::Fault, format!("{operation} fails: {error}"));
            }
        }
    }

    fn engine(&mut self, line: &Line<'_>, node: NodeId, event: &EngineEvent<'_>) {
        let at = line.at;
        match *event {
            EngineEvent::Step { step, .. } => self.quiet[node.index()].step(step),
            EngineEvent::BatchClosed { records, .. } => self.quiet[node.index()].closed(records.len()),
            EngineEvent::BatchDurable { batch: BatchNumber(batch) } => {
                let (quiet, events) = self.quiet[node.index()].taken();
                self.words(at, node, Mark::Plain, format!("batch {batch} durable{}", quiet.effort()));
                self.counted(events);
            }
            EngineEvent::BatchFailed { batch: BatchNumber(batch), undone, .. } => {
                let (quiet, events) = self.quiet[node.index()].taken();
                let words = format!("batch {batch} fails, {undone} undone{}", quiet.effort());
                self.words(at, node, Mark::Wrong, words);
                self.counted(events);
            }
            EngineEvent::Opened { restored, unrestorable, next_batch } => {
                let mut words = format!("opens: {restored} record{}", if restored == 1 { "" } else { "s" });
                if unrestorable > 0 {
                    words.push_str(&format!(", {unrestorable} unrestorable"));
                }
                words.push_str(&format!(", next batch {}", next_batch.0));
                let (quiet, events) = self.quiet[node.index()].taken();
                words.push_str(&quiet.effort());
                // Told with all others once it is ready, when this is its first life.
                if restored + unrestorable > 0 || self.reborn.contains(&node) {
                    self.words(at, node, Mark::Plain, words);
                    self.counted(events);
                }
            }
            EngineEvent::Transition { stream, decision, staged, .. } => {
                self.decided(line, node, stream.class, &decision, staged);
            }
            // What a caller got is told by the world, which saw it.
            EngineEvent::Released { .. } | EngineEvent::CallerGone { .. } => self.grown(at),
        }
    }

    /// A transition's decision belongs to the beat of the message that asked for it, which is the one before it.
    fn decided(
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
                    Decision::Verdict { sequence, .. } => Some(sequence.0),
                    Decision::Reserved { .. } | Decision::Refused { .. } => None,
                };
                let stream = line.streams.first().copied();
                let subject = Subject { message: None, stream, class, sequence, copy: 0 };
                let deed = Deed::Said(String::new(), format!(": {words}"));
                self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
            }
        }
    }

    fn frame(&mut self, line: &Line<'_>) {
        let at = line.at;
        match *line.event {
            Event::FrameSent { frame, message, copy, from, to, class, .. } => {
                let stream = line.streams.first().copied();
                let subject = Subject { message, stream, class, sequence: None, copy };
                self.frames.insert(frame, Frame { from, to, subject, arrived: false });
                match (message, stream) {
                    (None, _) => {
                        let said = Deed::Said("adversary sends ".to_owned(), format!(" to n{}", to.0));
                        self.push(at, Place::At(from, Mark::Fault), 1, vec![subject], said);
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

    fn answered(&mut self, at: SimTime, node: NodeId, subject: Subject, answer: Answer) {
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

    fn ready(&mut self, at: SimTime, node: NodeId, life: Life) {
        if life.0 > 0 {
            return self.grown(at);
        }
        self.opened.push(node);
        let first = self.drafts.iter_mut().find(|draft| {
            draft.place == Place::Across && matches!(&draft.deed, Deed::Words(words) if words.contains(OPEN))
        });
        let mut opened = self.opened.clone();
        opened.sort_unstable();
        let numbers: Vec<u64> = opened.iter().map(|node| u64::from(node.0)).collect();
        let words = format!("{} boot, {OPEN} by {at}", nodes(&numbers));
        match first {
            Some(draft) => {
                draft.deed = Deed::Words(words);
                draft.events += 1;
            }
            None => self.push(at, Place::Across, 1, Vec::new(), Deed::Words(words)),
        }
    }

    fn fault(&mut self, at: SimTime, fault: FaultId, what: &str) {
        let Some(kind) = self.faults.get(&fault) else { return };
        let label = words::fault_label(kind);
        let node = match kind {
            // The death that follows says so, and the boot.
            FaultKind::Crash { .. } => return self.grown(at),
            FaultKind::Link { .. } => None,
            FaultKind::Disk { node, .. }
            | FaultKind::Clock { node, .. }
            | FaultKind::StallHandler { node, .. }
            | FaultKind::SlowProcessor { node, .. } => Some(*node),
        };
        match node {
            None => self.across(at, &format!("* fault {what}: {label}")),
            Some(node) => {
                let name = label.rsplit_once(", ").map_or(&*label, |(name, _)| name);
                self.words(at, node, Mark::Fault, format!("fault {what}: {name}"));
            }
        }
    }

    /// How far a batch came is told before a law is broken there.
    fn progress(&mut self, at: SimTime, node: NodeId) {
        let Some(quiet) = self.quiet.get_mut(node.index()).filter(|quiet| quiet.is_writing()) else { return };
        let (quiet, events) = quiet.taken();
        if let Some(progress) = quiet.progress() {
            self.words(at, node, Mark::Plain, format!("so far: {progress}"));
            self.counted(events);
        }
    }
}

/// How it is told that nodes opened in their first lives.
const OPEN: &str = "open";

fn nodes(numbers: &[u64]) -> String {
    match numbers {
        [one] => format!("n{one}"),
        [first, .., last] if last - first + 1 == numbers.len() as u64 => format!("n{first} to n{last}"),
        _ => numbers.iter().map(|number| format!("n{number}")).collect::<Vec<_>>().join(", "),
    }
}

/// An id in words.
fn spaced(id: &str) -> String {
    id.replace('-', " ")
}

const fn sequence_of(event: &Event<'_>) -> Option<u64> {
    match event {
        Event::Exposed { transaction, .. }
        | Event::Arrived { transaction, .. }
        | Event::Answered { transaction, .. }
        | Event::Dispatched { transaction, .. } => Some(transaction.sequence.0),
        Event::Engine { event: EngineEvent::Transition { decision, .. }, .. } => match decision {
            Decision::Verdict { sequence, .. } => Some(sequence.0),
            Decision::Reserved { first, .. } => Some(first.0),
            Decision::Refused { .. } => None,
        },
        _ => None,
    }
}

/// Drafts.
impl Story {
    fn push(&mut self, at: SimTime, place: Place, events: u64, subjects: Vec<Subject>, deed: Deed) {
        self.open = !subjects.is_empty();
        self.drafts.push(Draft { at, until: at, events, place, subjects, deed, shown: true });
    }

    fn words(&mut self, at: SimTime, node: NodeId, mark: Mark, words: String) {
        self.push(at, Place::At(node, mark), 1, Vec::new(), Deed::Words(words));
    }

    fn across(&mut self, at: SimTime, words: &str) {
        self.push(at, Place::Across, 1, Vec::new(), Deed::Words(words.to_owned()));
    }

    fn said(&mut self, at: SimTime, node: NodeId, message: MessageId, before: &str, after: &str) {
        let subject = self.workload(message);
        let deed = Deed::Said(before.to_owned(), after.to_owned());
        self.push(at, Place::At(node, Mark::Plain), 1, vec![subject], deed);
    }

    /// An event that needs no words belongs to the beat before it.
    fn grown(&mut self, at: SimTime) {
        if let Some(draft) = self.drafts.last_mut().filter(|_| self.open) {
            draft.until = at;
            draft.events += 1;
        }
    }

    /// The last draft tells so many more.
    fn counted(&mut self, events: u64) {
        if let Some(draft) = self.drafts.last_mut() {
            draft.events += events;
        }
    }

    /// A sequence was handed out: worth a word where it was asked for at this moment.
    fn given(&mut self, at: SimTime, node: NodeId, message: MessageId) {
        let subject = self.workload(message);
        match self.open_at(node).filter(|draft| draft.subjects[0].is(&subject)) {
            Some(Draft { deed: Deed::Sending(sending), events, .. }) => {
                sending.given = true;
                *events += 1;
            }
            _ => self.grown(at),
        }
    }

    fn open_at(&mut self, node: NodeId) -> Option<&mut Draft> {
        let draft = self.drafts.last_mut().filter(|_| self.open)?;
        (draft.place == Place::At(node, Mark::Plain)).then_some(draft)
    }

    fn sending(&mut self, at: SimTime, node: NodeId, message: MessageId, grow: impl FnOnce(&mut Sending)) {
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

    fn admitting(&mut self, at: SimTime, node: NodeId, subject: Subject, grow: impl FnOnce(&mut Admitting)) {
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

    fn workload(&self, message: MessageId) -> Subject {
        let stream = self.messages.get(&message).copied();
        let class = stream.map_or(Class::Control, |stream| stream.class);
        Subject { message: Some(message), stream, class, sequence: None, copy: 0 }
    }

    /// What an admission carries.
    fn carried(
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
