//! Group commit: many transitions, one write (seed 000, Persistence and bounds).
//!
//! Promise, in the seed's five laws:
//! - *Release.* No result is returned before its batch is durable, refusals and results that wrote nothing included.
//! - *Atomicity.* Each record is whole at its previous or its new value after any crash (the store's part).
//! - *Order.* Each record's durable values follow lock order: one writer writes the batches in order.
//! - *Fail closed.* A failed batch fails and undoes every pending transition: its own, and those of the batch
//!   gathering on top of it. It is counted once.
//! - *Latency.* A transition waits for at most two batch writes: the one in flight, then its own.
//!
//! A transition runs to its end before [`GroupCommit::transact`] returns; dropping its [`Ticket`] abandons the wait and
//! nothing else. No write runs under the lock.

mod core;
#[cfg(test)]
mod tests;
mod ticket;
#[cfg(feature = "flaws")]
mod unserialised;
mod writer;

pub use ticket::Ticket;

use crate::flaws::{Flaw, Flaws};
use crate::host::observe::{BatchNumber, EngineEvent, RecordName, Roles, Step, TransitionNumber};
use crate::host::{Host, Unscheduled};
use crate::store::{BatchError, FileStore, Record};
use crate::streams::key::Table;
use core::{Core, Phase};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use tokio::sync::Notify;

/// The most transitions that wait for one batch, and the most records that one batch holds before it takes no further
/// transition. One that comes later is refused with [`CommitError::Overloaded`].
pub const BATCH_LIMIT: usize = 65_536;

/// An engine's tables in memory, as group commit needs them.
pub trait State: Send + 'static {
    /// Names one record in memory.
    type Key: Copy + Ord + Hash + Debug + Send + Sync + 'static;
    /// Takes back one staged effect: what `undo` needs to restore the tables to what they were before it.
    type Undo: Send + 'static;

    /// Whose record it is. Must not depend on what the tables hold now: the record may have been removed.
    fn table(&self, key: Self::Key) -> Table;

    /// The record's name: [`crate::store::name::record_name`] of its storage key. Must not depend on what the tables
    /// hold now.
    fn name(&self, key: Self::Key) -> RecordName;

    /// The record as it is now; `None` where it is removed. Called once for each record that changed, when its batch
    /// closes, under the lock.
    fn encode(&self, key: Self::Key) -> Option<Record>;

    /// Takes back one effect. Called in reverse lock order, and within a transition in reverse order of staging.
    fn undo(&mut self, undo: Self::Undo);

    /// A digest of everything that a failed batch must restore.
    fn digest(&self) -> [u8; 32];
}

/// Why a transition that was applied, or should have been, has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A batch that the result depends on could not be written. The transition is undone.
    #[error("not durable, and undone: {0}")]
    Failed(Arc<BatchError>),
    /// The machine went down before the batch was durable: nobody knows whether it is.
    #[error("the machine went down before the result was durable")]
    Unscheduled,
    /// Too many transitions or records wait for one batch. Nothing was applied.
    #[error("{limit} transitions or records wait for one batch: nothing was applied")]
    Overloaded {
        /// [`BATCH_LIMIT`].
        limit: usize,
    },
}

/// What one transition stages while it holds the lock.
#[derive(Debug)]
pub struct Staging<'a, S: State> {
    transition: TransitionNumber,
    batch: BatchNumber,
    staged: SmallVec<[S::Key; 4]>,
    depends: SmallVec<[S::Key; 4]>,
    undo: &'a mut Vec<(TransitionNumber, S::Undo)>,
    /// Effects that are not written, as long as no effect that is came before or after them.
    unwritten: SmallVec<[S::Undo; 2]>,
    releases_early: bool,
}

impl<S: State> Staging<'_, S> {
    /// The record of `key` was changed in memory and is to be written by the gathering batch. The result depends on
    /// it. Several effects on one record may be staged; each is undone, and the record is written once.
    pub fn stage(&mut self, key: S::Key, undo: S::Undo) {
        let transition = self.transition;
        self.undo.extend(self.unwritten.drain(..).map(|undo| (transition, undo)));
        self.staged.push(key);
        self.undo.push((self.transition, undo));
    }

    /// The tables were changed in memory alone, and this change is not to be written: `undo` takes it back if the result
    /// fails with the batch that it waits for.
    pub fn stage_unwritten(&mut self, undo: S::Undo) {
        if self.staged.is_empty() {
            self.unwritten.push(undo);
        } else {
            self.undo.push((self.transition, undo));
        }
    }

    /// The result is returned before anything is durable: what no correct engine does, for its flaws.
    pub(crate) fn release_early(&mut self) {
        self.releases_early = true;
    }

    /// The result was computed from the record of `key`, whether it is there or not.
    pub fn depend_on(&mut self, key: S::Key) {
        self.depends.push(key);
    }

    /// This transition's number.
    #[must_use]
    pub const fn transition(&self) -> TransitionNumber {
        self.transition
    }

    /// The number of the gathering batch: what a record staged now will carry.
    #[must_use]
    pub const fn batch(&self) -> BatchNumber {
        self.batch
    }
}

/// Everything that the callers and the writer of one life share.
struct Shared<S: State> {
    host: Host,
    flaws: Flaws,
    core: Mutex<Core<S>>,
    /// The writer has work, or nobody is left to bring any.
    work: Notify,
}

impl<S: State> Shared<S> {
    /// The core, unless a transition panicked while it held the lock: what it left is not to be written.
    fn lock(&self) -> Result<MutexGuard<'_, Core<S>>, Unscheduled> {
        self.core.lock().map_err(|_| Unscheduled)
    }

    /// The core, whatever happened to it: to let go of what waits, and to look.
    fn lock_regardless(&self) -> MutexGuard<'_, Core<S>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the writer once nobody is left who could bring it work.
struct Handle<S: State>(Arc<Shared<S>>);

impl<S: State> Drop for Handle<S> {
    fn drop(&mut self) {
        let mut core = self.0.lock_regardless();
        if core.phase == Phase::Running {
            core.phase = Phase::Closing;
        }
        drop(core);
        self.0.work.notify_one();
    }
}

/// A look at one engine's tables that neither keeps them nor waits for them.
pub struct Watch<S: State>(Weak<Shared<S>>);

impl<S: State> Clone for Watch<S> {
    fn clone(&self) -> Self {
        Self(Weak::clone(&self.0))
    }
}

impl<S: State> Debug for Watch<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl<S: State> Watch<S> {
    /// Looks at the tables as they are in memory, and at how many batches failed; `None` while a transition holds the lock,
    /// and once the engine is gone.
    pub fn look<T>(&self, look: impl FnOnce(&S, u64) -> T) -> Option<T> {
        let shared = self.0.upgrade()?;
        let core = match shared.core.try_lock() {
            Ok(core) => core,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(look(&core.state, core.failures))
    }
}

/// One engine's tables behind one lock, and the one writer that makes them durable. Cheap to clone. When the last clone
/// is dropped the writer writes what is still pending and gives the store up.
pub struct GroupCommit<S: State>(Arc<Handle<S>>);

impl<S: State> Clone for GroupCommit<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: State> Debug for GroupCommit<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GroupCommit")
    }
}

impl<S: State> GroupCommit<S> {
    /// Starts the one writer of this life. `restored` names every record of the store that `state` holds, with the
    /// batch that wrote it.
    ///
    /// # Errors
    /// [`Unscheduled`] when the machine is going down.
    pub fn open(
        host: &Host,
        store: FileStore,
        state: S,
        restored: impl IntoIterator<Item = (S::Key, BatchNumber)>,
        flaws: Flaws,
    ) -> Result<Self, Unscheduled> {
        let core = Core::new(host, state, restored.into_iter().collect(), store.next_batch());
        let shared =
            Arc::new(Shared { host: host.clone(), flaws, core: Mutex::new(core), work: Notify::new() });
        host.spawn("commit-writer", writer::run(writer::Writer::new(Arc::clone(&shared), store)))?;
        Ok(Self(Arc::new(Handle(shared))))
    }

    /// Runs one transition: `run` applies its effect to the tables, stages what it changed and says what it read. It
    /// must not wait for anything, and must leave the tables as they were if it stages nothing.
    ///
    /// # Errors
    /// [`Unscheduled`] when the machine is going down, or an earlier transition panicked: nothing was applied.
    pub fn transact<T>(
        &self,
        run: impl FnOnce(&mut S, &mut Staging<'_, S>) -> T,
    ) -> Result<Ticket<T>, Unscheduled> {
        let shared = &self.0.0;
        let mut guard = shared.lock()?;
        let core = &mut *guard;
        if core.phase == Phase::Dead {
            return Err(Unscheduled);
        }
        if core.gathering.is_full() {
            return Ok(Ticket::refused(CommitError::Overloaded { limit: BATCH_LIMIT }));
        }
        core.gather_suspects();
        let transition = core.number_transition();
        let mut staging = Staging {
            transition,
            batch: core.gathering.number(),
            staged: SmallVec::new(),
            depends: SmallVec::new(),
            undo: &mut core.gathering.undo,
            unwritten: SmallVec::new(),
            releases_early: false,
        };
        let value = run(&mut core.state, &mut staging);
        let Staging { staged, mut depends, unwritten, releases_early, .. } = staging;
        staged.iter().for_each(|key| core.mark_dirty(*key));
        let roles = Roles::of(staged.iter().map(|key| core.state.table(*key)));
        depends.extend(staged.iter().copied());
        let depends = core.generations_of(&mut depends);
        let batch = if releases_early
            || shared.flaws.has(Flaw::EarlyRelease)
            || (shared.flaws.has(Flaw::EarlyReleaseOfRefusals) && staged.is_empty())
        {
            Arc::clone(&core.settled)
        } else {
            core.join_pending(unwritten.into_iter().map(|undo| (transition, undo)))
        };
        if !staged.is_empty() {
            let step = EngineEvent::Step { step: Step::Gathering, batch: core.gathering.number(), roles };
            shared.host.observe(step);
        }
        let wake = !core.gathering.is_empty() && core.in_flight.is_none();
        drop(guard);
        if wake {
            shared.work.notify_one();
        }
        Ok(Ticket::new(batch, shared.flaws, transition, depends, value))
    }

    /// Looks at the tables as they are in memory, staged effects included.
    pub fn read<T>(&self, look: impl FnOnce(&S) -> T) -> T {
        look(&self.0.0.lock_regardless().state)
    }

    /// Looks at the tables without keeping them.
    #[must_use]
    pub fn watch(&self) -> Watch<S> {
        Watch(Arc::downgrade(&self.0.0))
    }

    /// Batches of this life that failed, each counted once (counter `persistence_failure`).
    #[must_use]
    pub fn persistence_failures(&self) -> u64 {
        self.0.0.lock_regardless().failures
    }
}
