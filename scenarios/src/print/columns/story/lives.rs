//! What happens to a node as a whole: its lives, its disk, its batches, its faults.

use super::{Story, spaced};
use crate::print::columns::beat::Mark;
use crate::print::columns::draft::{Deed, Draft, Place};
use crate::print::columns::quiet::Quiet;
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::{BatchNumber, EngineEvent};
use groundhog_sim::ledger::event::Event;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::words;
use groundhog_sim::plan::FaultKind;
use groundhog_sim::units::{FaultId, Life, NodeId, SimTime};

/// How it is told that nodes opened in their first lives.
const OPEN: &str = "open";

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
            // What a caller got is told by the world, which saw it.
            EngineEvent::Released { .. } | EngineEvent::CallerGone { .. } => self.grown(at),
        }
    }

    pub(super) fn ready(&mut self, at: SimTime, node: NodeId, life: Life) {
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

    pub(super) fn fault(&mut self, at: SimTime, fault: FaultId, what: &str) {
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
    pub(super) fn progress(&mut self, at: SimTime, node: NodeId) {
        let Some(quiet) = self.quiet.get_mut(node.index()).filter(|quiet| quiet.is_writing()) else { return };
        let (quiet, events) = quiet.taken();
        if let Some(progress) = quiet.progress() {
            self.words(at, node, Mark::Plain, format!("so far: {progress}"));
            self.counted(events);
        }
    }
}

fn nodes(numbers: &[u64]) -> String {
    match numbers {
        [one] => format!("n{one}"),
        [first, .., last] if last - first + 1 == numbers.len() as u64 => format!("n{first} to n{last}"),
        _ => numbers.iter().map(|number| format!("n{number}")).collect::<Vec<_>>().join(", "),
    }
}
