//! What group commit decides under its lock: which batch a transition joins, what a batch writes, what a failure takes
//! back.
//!
//! Promise: at most one batch is in flight and one gathers. After a failure the tables, and what is known of each
//! record's generation, are what they were before the first transition that failed.

use super::ticket::{Batch, Depends, Outcome};
use super::{BATCH_LIMIT, State};
use crate::host::Host;
use crate::host::observe::{BatchNumber, RecordName, Roles, TransitionNumber};
use crate::store::{Put, Removal};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Whether transitions are still taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// They are.
    Running,
    /// Nobody is left to bring one; the writer ends once nothing is pending.
    Closing,
    /// The writer is gone.
    Dead,
}

/// A record that a batch writes.
struct Dirty<K> {
    key: K,
    /// The batch that had written its state before; `None` where no record was known.
    before: Option<BatchNumber>,
    /// Whether an earlier, failed batch left its place on the disk unknown.
    suspect: bool,
}

/// A batch from its first transition until it is durable or undone.
pub(super) struct Pending<S: State> {
    batch: Arc<Batch>,
    dirty: Vec<Dirty<S::Key>>,
    pub(super) undo: Vec<(TransitionNumber, S::Undo)>,
    transitions: u32,
    /// Records that the batch removes; known once it is closed.
    removed: Vec<RecordName>,
}

impl<S: State> Pending<S> {
    fn new(host: &Host, number: BatchNumber) -> Self {
        let batch = Batch::new(host, number);
        Self { batch, dirty: Vec::new(), undo: Vec::new(), transitions: 0, removed: Vec::new() }
    }

    pub(super) fn number(&self) -> BatchNumber {
        self.batch.number
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.dirty.len() >= BATCH_LIMIT || self.transitions as usize >= BATCH_LIMIT
    }
}

/// What the writer takes away to write.
pub(super) struct Closed {
    pub(super) batch: Arc<Batch>,
    pub(super) puts: Vec<Put>,
    pub(super) removals: Vec<Removal>,
    pub(super) transitions: u32,
}

impl Closed {
    /// The roles that the batch serves.
    pub(super) fn roles(&self) -> Roles {
        let tables = self.puts.iter().map(|put| put.table);
        Roles::of(tables.chain(self.removals.iter().map(|removal| removal.table)))
    }
}

/// What a failure took back.
pub(super) struct Undone {
    pub(super) batches: SmallVec<[Arc<Batch>; 2]>,
    pub(super) transitions: u32,
    pub(super) digest: [u8; 32],
}

/// The tables and what waits for the disk.
pub(super) struct Core<S: State> {
    host: Host,
    pub(super) state: S,
    pub(super) phase: Phase,
    pub(super) failures: u64,
    pub(super) gathering: Pending<S>,
    pub(super) in_flight: Option<Pending<S>>,
    /// What a result waits for that nothing pending could have changed.
    pub(super) settled: Arc<Batch>,
    /// The batch that wrote, or will write, each record's state as it is in memory.
    generations: FxHashMap<S::Key, BatchNumber>,
    /// Records whose place on the disk a failed batch left unknown: the next batch writes them anew (decision 13).
    suspects: Vec<S::Key>,
    next_transition: TransitionNumber,
}

impl<S: State> Core<S> {
    pub(super) fn new(
        host: &Host,
        state: S,
        generations: FxHashMap<S::Key, BatchNumber>,
        next: BatchNumber,
    ) -> Self {
        Self {
            host: host.clone(),
            state,
            phase: Phase::Running,
            failures: 0,
            gathering: Pending::new(host, next),
            in_flight: None,
            settled: Batch::settled(host),
            generations,
            suspects: Vec::new(),
            next_transition: TransitionNumber(0),
        }
    }

    pub(super) fn number_transition(&mut self) -> TransitionNumber {
        let number = self.next_transition;
        self.next_transition.0 += 1;
        number
    }

    /// Nothing may depend on a record whose place on the disk is unknown: the gathering batch writes it anew.
    pub(super) fn gather_suspects(&mut self) {
        for key in std::mem::take(&mut self.suspects) {
            self.add_dirty(key, true);
        }
    }

    /// The gathering batch writes this record.
    pub(super) fn mark_dirty(&mut self, key: S::Key) {
        self.add_dirty(key, false);
    }

    fn add_dirty(&mut self, key: S::Key, suspect: bool) {
        let number = self.gathering.number();
        let before = self.generations.insert(key, number);
        if before != Some(number) {
            self.gathering.dirty.push(Dirty { key, before, suspect });
        }
    }

    /// The batch that wrote each record's state, each record once. A record that is not there, or that the batch in
    /// flight removes, is no state.
    pub(super) fn generations_of(&self, keys: &mut SmallVec<[S::Key; 4]>) -> Depends {
        if keys.len() > 1 {
            keys.sort_unstable();
            keys.dedup();
        }
        let mut depends = Depends::new();
        for key in keys {
            if let Some(generation) = self.generations.get(key) {
                let name = self.state.name(*key);
                let removed = self.in_flight.as_ref().is_some_and(|pending| {
                    pending.number() == *generation && pending.removed.contains(&name)
                });
                if !removed {
                    depends.push((name, *generation));
                }
            }
        }
        depends
    }

    /// Where a transition waits: the latest pending batch that it can have been computed from. What it changed without
    /// writing is taken back with that batch; where nothing is pending it stands.
    pub(super) fn join_pending(
        &mut self,
        unwritten: impl Iterator<Item = (TransitionNumber, S::Undo)>,
    ) -> Arc<Batch> {
        let pending = if !self.gathering.is_empty() {
            &mut self.gathering
        } else if let Some(in_flight) = &mut self.in_flight {
            in_flight
        } else {
            return Arc::clone(&self.settled);
        };
        pending.transitions += 1;
        pending.undo.extend(unwritten);
        Arc::clone(&pending.batch)
    }

    /// Closes the gathering batch, if there is something to write, and begins the next one.
    pub(super) fn close_gathering(&mut self) -> Option<Closed> {
        if self.gathering.is_empty() {
            return None;
        }
        assert!(self.in_flight.is_none(), "two batches in flight");
        let next = BatchNumber(self.gathering.number().0 + 1);
        let mut closing = std::mem::replace(&mut self.gathering, Pending::new(&self.host, next));
        let mut puts = Vec::with_capacity(closing.dirty.len());
        let mut removals = Vec::new();
        for dirty in &closing.dirty {
            let (name, table) = (self.state.name(dirty.key), self.state.table(dirty.key));
            match self.state.encode(dirty.key) {
                Some(record) => puts.push(Put { name, table, record }),
                None => {
                    removals.push(Removal { name, table });
                    closing.removed.push(name);
                }
            }
        }
        let (batch, transitions) = (Arc::clone(&closing.batch), closing.transitions);
        self.in_flight = Some(closing);
        Some(Closed { batch, puts, removals, transitions })
    }

    /// The batch in flight is durable. Returns it, and the names that it removed.
    pub(super) fn settle(&mut self) -> (Arc<Batch>, Vec<RecordName>) {
        let settled = self.in_flight.take().expect("a batch is in flight");
        self.forget_removed(&settled);
        (settled.batch, settled.removed)
    }

    /// A removed record has no generation, unless a later transition has begun it anew.
    fn forget_removed(&mut self, settled: &Pending<S>) {
        if settled.removed.is_empty() {
            return;
        }
        let number = settled.number();
        for dirty in &settled.dirty {
            if self.generations.get(&dirty.key) == Some(&number)
                && settled.removed.contains(&self.state.name(dirty.key))
            {
                self.generations.remove(&dirty.key);
            }
        }
    }

    /// The batch in flight failed: it and, unless `keep_gathering`, the one gathering on top of it are undone. Where
    /// some of it may have `landed` in its place, all of its records are suspect. The number of a batch that was
    /// undone while it gathered is not used again, so that no two batches of a life share one.
    pub(super) fn fail(&mut self, landed: bool, keep_gathering: bool) -> Undone {
        self.failures += 1;
        let mut batches = SmallVec::new();
        let mut transitions = 0;
        if !keep_gathering && (self.gathering.transitions > 0 || !self.gathering.is_empty()) {
            let next = BatchNumber(self.gathering.number().0 + 1);
            let gathering = std::mem::replace(&mut self.gathering, Pending::new(&self.host, next));
            transitions += gathering.transitions;
            batches.push(Arc::clone(&gathering.batch));
            self.take_back(gathering, false);
        }
        let failed = self.in_flight.take().expect("a batch is in flight");
        transitions += failed.transitions;
        batches.insert(0, Arc::clone(&failed.batch));
        self.take_back(failed, landed);
        Undone { batches, transitions, digest: self.state.digest() }
    }

    fn take_back(&mut self, pending: Pending<S>, landed: bool) {
        for (_, undo) in pending.undo.into_iter().rev() {
            self.state.undo(undo);
        }
        let number = pending.batch.number;
        for dirty in pending.dirty.into_iter().rev() {
            if self.generations.get(&dirty.key) == Some(&number) {
                match dirty.before {
                    Some(before) => self.generations.insert(dirty.key, before),
                    None => self.generations.remove(&dirty.key),
                };
            }
            if landed || dirty.suspect {
                self.suspects.push(dirty.key);
            }
        }
    }

    /// Takes some transitions of the batch in flight back and stops waiting for the rest, as no correct engine may.
    #[cfg(feature = "flaws")]
    pub(super) fn take_back_some(&mut self, gone: &[TransitionNumber]) {
        let in_flight = self.in_flight.take().expect("a batch is in flight");
        for (transition, undo) in in_flight.undo.into_iter().rev() {
            if gone.contains(&transition) {
                self.state.undo(undo);
            }
        }
    }

    /// Lets go of everybody who waits: nobody will write any more.
    pub(super) fn abandon(&mut self) {
        self.phase = Phase::Dead;
        if let Some(in_flight) = &self.in_flight {
            in_flight.batch.resolve(Outcome::Unscheduled);
        }
        self.gathering.batch.resolve(Outcome::Unscheduled);
    }
}
