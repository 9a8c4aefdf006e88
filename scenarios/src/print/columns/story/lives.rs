//! What happens to a node as a whole: its lives, its disk, its batches, its faults.

use super::{Story, spaced};
use crate::print::columns::beat::Mark;
use crate::print::columns::draft::{Deed, Draft, Place, ranges};
use crate::print::columns::quiet::Quiet;
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::{BatchNumber, CustodyChange, CustodyStall, EngineEvent};
use groundhog_sim::ledger::event::Event;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::words;
use groundhog_sim::plan::FaultKind;
use groundhog_sim::units::{FaultId, Life, NodeId, SimTime};

impl Story {
    /// What happens to a node as a whole, and to all of them.
    pub(super) fn life(&mut self, at: SimTime, event: &Event<'_>) {
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
            Event::SecondRuntime { node, of } => {
                self.words(
                    at,
                    node,
                    Mark::Boot,
                    format!("a second runtime of n{}, from a copy of its disk", of.0),
                );
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
            Event::Link { node, event, .. } => {
                let mut words = String::new();
                event.write(&mut words).expect("a string takes whatever is written");
                self.words(at, node, Mark::Plain, words);
            }
            _ => {}
        }
    }

    pub(super) fn disk(
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

    pub(super) fn engine(&mut self, line: &Line<'_>, node: NodeId, event: &EngineEvent<'_>) {
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
            EngineEvent::LinkLocal { stream, decision, .. } => {
                self.decided(line, node, stream.class, &decision, None);
            }
            EngineEvent::Retired { staged: BatchNumber(batch), .. } => {
                let stream = line
                    .streams
                    .first()
                    .map_or_else(String::new, |of| format!(" n{} {}", of.origin.0, of.class));
                self.words(at, node, Mark::Plain, format!("retires{stream}, batch {batch}"));
            }
            EngineEvent::Unrestorable { record, reason, .. } => {
                self.words(at, node, Mark::Wrong, format!("record {record} is {reason}"));
            }
            EngineEvent::LoadFailed { reason } => {
                self.words(at, node, Mark::Wrong, format!("the store does not open: {reason}"));
            }
            EngineEvent::BoundMet { introducer, bound, .. } => {
                self.words(at, node, Mark::Wrong, format!("{introducer}: {bound}"));
            }
            EngineEvent::CustodyStall { stall, held, .. } => {
                let words = format!("relay custody {}: {held} deliveries", stall.id());
                let mark = if matches!(stall, CustodyStall::Over) { Mark::Plain } else { Mark::Wrong };
                self.words(at, node, mark, words);
            }
            EngineEvent::Custody {
                change: CustodyChange::Expired { .. } | CustodyChange::Dropped, ..
            } => {
                self.words(at, node, Mark::Wrong, "mail leaves custody, and nobody took it".to_owned());
            }
            // What enters custody and what is taken out of it is told by the decision after it.
            EngineEvent::Custody { .. } => self.grown(at),
            // A charge is told by the decision after it; what a caller got, by the world, which saw it.
            EngineEvent::Quota { .. }
            | EngineEvent::TableUse { .. }
            | EngineEvent::Released { .. }
            | EngineEvent::UnavailableRefused { .. }
            | EngineEvent::CallerGone { .. } => {
                self.grown(at);
            }
        }
    }

    pub(super) fn ready(&mut self, at: SimTime, node: NodeId, life: Life) {
        if life.0 > 0 {
            return self.grown(at);
        }
        if self.opened.is_empty() {
            self.push(at, Place::Across, 0, Vec::new(), Deed::Words(String::new()));
        }
        let place = self.opened.first().map_or(self.drafts.len() - 1, |(_, place)| *place);
        self.drafts[place].events += 1;
        self.drafts[place].until = at;
        self.opened.push((node, place));
    }

    /// Nodes that opened in their first life are told together, once it is known which these are.
    pub(super) fn tell_of_first_boots(&mut self) {
        let Some((_, place)) = self.opened.first() else { return };
        let draft = &mut self.drafts[*place];
        let mut numbers: Vec<u64> = self.opened.iter().map(|(node, _)| u64::from(node.0)).collect();
        numbers.sort_unstable();
        draft.deed = Deed::Words(format!("n{} boot, open by {}", ranges(&numbers), draft.until));
    }

    pub(super) fn fault(&mut self, at: SimTime, fault: FaultId, what: &str) {
        let Some(kind) = self.faults.get(&fault) else { return };
        let label = words::fault_label(kind);
        let node = match kind {
            // The death that follows says so, and the boot.
            FaultKind::Crash { .. } => return self.grown(at),
            FaultKind::Link { from, to, .. } => {
                let deed = Deed::Words(format!("* fault {what}: {label}"));
                return self.push(at, Place::Link(*from, *to), 1, Vec::new(), deed);
            }
            FaultKind::Disk { node, .. }
            | FaultKind::Clock { node, .. }
            | FaultKind::StallHandler { node, .. }
            | FaultKind::SlowProcessor { node, .. }
            | FaultKind::Store { node, .. } => *node,
        };
        let name = label.rsplit_once(", ").map_or(&*label, |(name, _)| name);
        self.words(at, node, Mark::Fault, format!("fault {what}: {name}"));
    }

    /// How far a batch came is told before a law is broken there.
    pub(super) fn progress(&mut self, at: SimTime, node: NodeId) {
        let Some(quiet) = self.quiet.get_mut(node.index()).filter(|quiet| quiet.is_writing()) else { return };
        let (quiet, events) = quiet.taken();
        if let Some(progress) = quiet.progress() {
            self.words(at, node, Mark::Plain, format!("so far: {progress}"));
            self.counted(events);
        }
    }
}
