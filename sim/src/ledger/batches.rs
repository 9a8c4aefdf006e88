//! Where every node's group commit stands, by what its engine reported.
//!
//! Promise: a batch is in exactly one phase. It is
//!
//! - `Gathering` from the first transition that stages a record into it, or is reported to join it, until it is closed;
//! - `Temporaries` from its closing until every record that it writes is reported flushed under its temporary name;
//! - `Renames` from there until every one of these records is reported renamed;
//! - `DirectoryFlush` from there until it is reported durable (the directory flush itself, and after its return);
//! - `BeforeRelease` from there until the first result after it is released, or the next batch is durable.
//!
//! A batch that writes nothing but removals passes `Temporaries` and `Renames` at its closing.

use crate::units::NodeId;
use groundhog_engine::host::observe::{BatchNumber, EngineEvent, RecordName, Roles, Step};

/// Where one batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the module's text defines each")]
pub enum BatchPhase {
    Gathering,
    Temporaries,
    Renames,
    DirectoryFlush,
    BeforeRelease,
}

impl BatchPhase {
    /// Every phase in its order.
    pub const ALL: [Self; 5] =
        [Self::Gathering, Self::Temporaries, Self::Renames, Self::DirectoryFlush, Self::BeforeRelease];
}

/// A batch that is being written.
#[derive(Clone, Debug, Default)]
struct Writing {
    batch: BatchNumber,
    roles: Roles,
    writes: u32,
    flushed: u32,
    renamed: u32,
}

/// The batches of one node's life.
#[derive(Clone, Debug, Default)]
struct NodeBatches {
    gathering: Option<(BatchNumber, Roles)>,
    writing: Option<Writing>,
    unreleased: Option<Roles>,
    /// The records of the batch being written, kept for its failure.
    records: Vec<RecordName>,
    /// Batches that were closed and neither durable nor failed, whatever their number.
    closed: u32,
}

/// A batch that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedBatch<'a> {
    /// Which.
    pub batch: BatchNumber,
    /// What it was to write.
    pub records: &'a [RecordName],
    /// Whether another batch was gathering on top of it.
    pub gathering_on_top: bool,
}

/// The batches of every node.
#[derive(Clone, Debug)]
pub struct Batches {
    nodes: Vec<NodeBatches>,
}

impl Batches {
    /// For this many nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self { nodes: vec![NodeBatches::default(); nodes] }
    }

    /// A life began or ended: what its engine held in memory is gone.
    pub fn forget(&mut self, node: NodeId) {
        if let Some(batches) = self.nodes.get_mut(node.index()) {
            *batches = NodeBatches::default();
        }
    }

    /// The batches of the node that are closed and neither durable nor failed, and one more if another is gathering.
    #[must_use]
    pub fn in_hand(&self, node: NodeId) -> u32 {
        self.nodes.get(node.index()).map_or(0, |node| node.closed + u32::from(node.gathering.is_some()))
    }

    /// The phase and roles of every batch of the node, the newest last. A gathering one counts only while nothing is being
    /// written and nothing waits for its release: otherwise the older batch names the place.
    pub fn phases(&self, node: NodeId) -> impl Iterator<Item = (BatchPhase, Roles)> + '_ {
        let node = self.nodes.get(node.index());
        let unreleased =
            node.and_then(|node| node.unreleased).map(|roles| (BatchPhase::BeforeRelease, roles));
        let writing = node.and_then(|node| node.writing.as_ref()).map(|batch| (batch.phase(), batch.roles));
        let gathering = node.and_then(|node| node.gathering).map(|(_, roles)| (BatchPhase::Gathering, roles));
        let gathering = gathering.filter(|_| unreleased.is_none() && writing.is_none());
        unreleased.into_iter().chain(writing).chain(gathering)
    }

    /// Reads one report of the node's engine. Returns the batch that failed by it, if one did.
    pub fn event(&mut self, node: NodeId, event: &EngineEvent<'_>) -> Option<FailedBatch<'_>> {
        let node = self.nodes.get_mut(node.index())?;
        match *event {
            EngineEvent::Transition { table, staged: Some(batch), .. } => {
                node.gather(batch, Roles::one(table))
            }
            EngineEvent::Step { step: Step::Gathering, batch, roles } => node.gather(batch, roles),
            EngineEvent::BatchClosed { batch, records, .. } => node.close(batch, records),
            EngineEvent::Step { step, batch, .. } => node.step(step, batch),
            EngineEvent::BatchDurable { batch } => node.durable(batch),
            EngineEvent::Released { .. } => node.unreleased = None,
            EngineEvent::BatchFailed { batch, .. } => return Some(node.failed(batch)),
            _ => {}
        }
        None
    }
}

impl NodeBatches {
    /// Told by the transition and by its step: which roles are served matters, not how often.
    fn gather(&mut self, batch: BatchNumber, more: Roles) {
        match &mut self.gathering {
            Some((gathering, roles)) if *gathering == batch => {
                roles.leases = roles.leases.saturating_add(more.leases);
                roles.windows = roles.windows.saturating_add(more.windows);
            }
            gathering => *gathering = Some((batch, more)),
        }
    }

    fn close(&mut self, batch: BatchNumber, records: &[(RecordName, Option<u32>)]) {
        let roles = match self.gathering.take() {
            Some((gathering, roles)) if gathering == batch => roles,
            other => {
                self.gathering = other;
                Roles::default()
            }
        };
        let writes = records.iter().filter(|(_, bytes)| bytes.is_some()).count();
        let writes = u32::try_from(writes).unwrap_or(u32::MAX);
        self.records.clear();
        self.records.extend(records.iter().map(|(record, _)| *record));
        self.writing = Some(Writing { batch, roles, writes, flushed: 0, renamed: 0 });
        self.closed += 1;
    }

    fn step(&mut self, step: Step, batch: BatchNumber) {
        if let Some(writing) = self.writing.as_mut().filter(|writing| writing.batch == batch) {
            match step {
                Step::TemporaryFlushed => writing.flushed += 1,
                Step::Renamed => writing.renamed += 1,
                Step::BeforeRelease => self.durable(batch),
                _ => {}
            }
        }
    }

    /// Reported twice, by the batch and by its step: the first counts.
    fn durable(&mut self, batch: BatchNumber) {
        if let Some(written) = self.writing.take_if(|writing| writing.batch == batch) {
            self.unreleased = Some(written.roles);
            self.closed = self.closed.saturating_sub(1);
        }
    }

    /// Reported after the undo: the gathering batch, if any, was undone with it.
    fn failed(&mut self, batch: BatchNumber) -> FailedBatch<'_> {
        let gathering_on_top = self.gathering.take().is_some();
        let known = self.writing.take_if(|writing| writing.batch == batch).is_some();
        self.closed = self.closed.saturating_sub(1);
        FailedBatch { batch, records: if known { &self.records } else { &[] }, gathering_on_top }
    }
}

impl Writing {
    fn phase(&self) -> BatchPhase {
        if self.flushed < self.writes {
            BatchPhase::Temporaries
        } else if self.renamed < self.writes {
            BatchPhase::Renames
        } else {
            BatchPhase::DirectoryFlush
        }
    }
}
