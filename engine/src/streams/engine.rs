//! The streams of one node: open, reserve, admit.
//!
//! Promise: a reservation or an admission takes effect at the call, in the order of the calls, and its result is returned
//! once everything that it was computed from is durable. Dropping the future abandons the wait and nothing else.

use super::error::{AdmitError, OpenError, Refusal};
use super::key::{Class, NetworkId, StreamKey, Table};
use super::link_local::{Link, Namespaces};
use super::message::MessageKind;
use super::quota::{MessageLimit, QuotaConfig};
use super::record::Introducer;
use super::slots::{Charges, DEFAULT_SUCCESSORS, NoFreeSlot, Occupancy, SlotBounds, SlotLease};
use super::spent::spent_by;
use super::state_digest::StateDigest;
use super::tables::{
    Admitted, Arriving, BadStream, Bounds, Counters, Decided, NotAdmitted, Retired, Tables, Unrestorable,
};
use super::verify::{Verified, stream_key};
use super::waits::{Admission, Admitting, Judged, Reserving, Started, Taking};
use super::window::{Digest, Verdict};
use crate::commit::{GroupCommit, Staging, Watch};
use crate::flaws::{Flaw, Flaws};
use crate::host::Host;
use crate::host::disk::DiskPath;
use crate::host::observe::{Decision, EngineEvent, RecordName};
use crate::identity::Did;
use crate::identity::delegation::Signer;
use crate::identity::signing::Crypto;
use crate::store::{self, FileStore, Scan, StoreConfig};
use crate::units::{MonotonicNs, Sequence, WallMs};
use std::num::NonZeroU64;
use std::sync::Arc;

/// The most streams in each table (seed 000, Persistence and bounds).
pub const STREAM_CAPACITY: usize = 16_384;

/// Sequences that a written lease covers at least (seed 000, Persistence and bounds).
pub const SEQUENCE_LEASE: NonZeroU64 = NonZeroU64::new(64).unwrap();

/// Where the tables are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In an authoritative file store of at most so many bytes.
    Authoritative {
        /// The store's budget.
        capacity_bytes: u64,
    },
    /// Nowhere: every reservation and admission is refused.
    Unavailable,
}

/// How a node's streams are set up.
#[derive(Clone, Copy, Debug)]
pub struct StreamsConfig {
    /// The overlay.
    pub network_id: NetworkId,
    /// This node's account: transactions for another destination are not admitted.
    pub account: Did,
    /// How evidence is signed.
    pub crypto: Crypto,
    /// Where the tables are kept.
    pub storage: Storage,
    /// The most streams in each table, the set U counted in both.
    pub capacity: usize,
    /// How much each origin may send; `None` where nothing limits it.
    pub quota: Option<QuotaConfig>,
    /// Connection slots, and the most streams that each introducer may have in the receiver's table.
    pub slots: SlotBounds,
    /// The known-bad behaviours asked for.
    pub flaws: Flaws,
}

impl StreamsConfig {
    /// A node as the seed describes it.
    #[must_use]
    pub const fn new(network_id: NetworkId, account: Did) -> Self {
        Self {
            network_id,
            account,
            crypto: Crypto::Ed25519,
            storage: Storage::Authoritative { capacity_bytes: store::CAPACITY_BYTES },
            capacity: STREAM_CAPACITY,
            quota: Some(QuotaConfig::SEED),
            slots: SlotBounds::for_successors(DEFAULT_SUCCESSORS),
            flaws: Flaws::NONE,
        }
    }
}

/// How a transaction came to its admission.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Whom a new stream is charged to.
    pub introducer: Introducer,
    /// The authenticated connection that it came over, whole or in chunks; `None` for what came over none, or over one that
    /// has ended since.
    pub link: Option<&'a Link>,
    /// Who signs the evidence of a fork.
    pub witness: &'a Arc<Signer>,
}

/// The streams of one node. Cheap to clone; the store is given up with the last clone.
#[derive(Clone, Debug)]
pub struct Streams {
    pub(super) host: Host,
    config: StreamsConfig,
    namespaces: Arc<Namespaces>,
    occupancy: Occupancy,
    commit: Option<GroupCommit<Tables>>,
}

impl Streams {
    /// Opens the store in `root` and restores both tables from one scan. A record that does not restore is kept, and its
    /// stream alone is refused (seed 000, Bad records).
    ///
    /// # Errors
    /// [`OpenError`]; another open begins again.
    pub async fn open(host: &Host, root: DiskPath, config: StreamsConfig) -> Result<Self, OpenError> {
        let (occupancy, namespaces) = (Occupancy::new(config.slots.slots), Arc::default());
        let Storage::Authoritative { capacity_bytes } = config.storage else {
            return Ok(Self { host: host.clone(), config, namespaces, occupancy, commit: None });
        };
        let flaws = config.flaws;
        let opened = FileStore::open(host, root, StoreConfig { capacity_bytes, flaws }).await;
        let (store, scan) = opened.inspect_err(|error| {
            host.observe(EngineEvent::LoadFailed { reason: error.id() });
        })?;
        let scan = if flaws.has(Flaw::MemoryStoreAfterRestart) { Scan::default() } else { scan };
        let bounds = Bounds { capacity: config.capacity, slots: config.slots, lease_block: SEQUENCE_LEASE };
        let mut tables = Tables::new(bounds, config.quota.as_ref(), flaws);
        let (restored, bad) = tables.restore(scan);
        for BadStream { record, why, spells } in &bad {
            let spells = spells.as_ref().map(|(table, stream)| (*table, stream));
            host.observe(EngineEvent::Unrestorable { record: *record, reason: why.id(), spells });
        }
        host.observe(EngineEvent::Opened {
            restored: u32::try_from(restored.len()).unwrap_or(u32::MAX),
            unrestorable: u32::try_from(tables.unrestorable().len()).unwrap_or(u32::MAX),
            next_batch: store.next_batch(),
        });
        if let Some(used) = tables.changed_use() {
            host.observe(EngineEvent::TableUse { used });
        }
        let commit = GroupCommit::open(host, store, tables, restored, flaws)?;
        Ok(Self { host: host.clone(), config, namespaces, occupancy, commit: Some(commit) })
    }

    /// The same streams, with namespaces of application traffic that look after themselves. To be said before anything
    /// arrives.
    #[must_use]
    pub fn declaring(self, namespaces: Namespaces) -> Self {
        Self { namespaces: Arc::new(namespaces), ..self }
    }

    /// Reserves `count` sequences for what `signer` sends to `destination` in `class`.
    pub fn reserve(&self, signer: &Signer, destination: Did, class: Class, count: NonZeroU64) -> Reserving {
        let origin = (signer.account(), signer.delegation());
        let stream = stream_key(self.config.network_id, origin, destination, class, self.config.flaws);
        let ticket = self.transact(|tables, staging| {
            let decided = tables.reserve(&stream, count, staging);
            self.report_unavailable((decided.record, decided.decision), tables, staging);
            self.report(Table::Sender, &stream, &decided, staging);
            decided.result
        });
        Reserving { stream, ticket }
    }

    /// Admits a verified transaction, if this node is its destination and its stream's window lets it in.
    pub fn admit(&self, verified: &Verified, arrival: Arrival<'_>) -> Admitting {
        let transaction = verified.transaction();
        let stream = *verified.stream();
        let (sequence, account) = (transaction.sequence, self.config.account);
        let destination = transaction.destination;
        if destination != account {
            let refused = Some(AdmitError::NotDestination { destination, account });
            return Admitting { stream, sequence, record: None, state: Admission::NotAsked(refused) };
        }
        let is_admitted_itself = self.config.flaws.has(Flaw::ChunkEnvelopesAdmitted);
        if transaction.kind() == MessageKind::Chunk && !is_admitted_itself {
            let refused = Some(AdmitError::ChunkEnvelope { stream, sequence });
            return Admitting { stream, sequence, record: None, state: Admission::NotAsked(refused) };
        }
        let mut record = None;
        let mut treatment =
            self.namespaces.treatment(&stream, transaction.data(), arrival.link, self.config.flaws);
        if self.config.flaws.has(Flaw::RelayedLimitDelegated) && is_relayed(&stream, arrival.link) {
            treatment.limit = MessageLimit::Delegated;
        }
        let monotonic = || match self.config.flaws.has(Flaw::QuotaClockBeforeLock) {
            true => MonotonicNs(verified.at().0.saturating_mul(1_000_000)),
            false => self.host.monotonic_now(),
        };
        let ticket = self.transact(|tables, staging| {
            let arriving = Arriving {
                stream: &stream,
                sequence,
                digest: verified.digest(),
                data_bytes: transaction.data().len() as u64,
                spent: spent_by(transaction, self.config.flaws),
                introducer: arrival.introducer,
                treatment,
                now: self.host.wall_now(),
                monotonic: monotonic(),
            };
            let before = tables.custody().len();
            let expired = tables.expire_custody(arriving.now, staging);
            self.report_retired(&tables.sweep(&arriving, staging), staging);
            let admitted = tables.admit(&arriving, staging);
            self.report_delivery(tables, (before, &expired), &arriving, &admitted, staging);
            record = admitted.record;
            self.report_bound(&admitted.result, staging);
            if let Some(record) = admitted.record {
                self.report_unavailable((record, admitted.decision), tables, staging);
            }
            self.report_admitted(&stream, &admitted, staging);
            self.report_use(tables);
            admitted.result.map(|verdict| Judged::new(verdict, verified, arrival.witness, &self.config))
        });
        Admitting { stream, sequence, record, state: Admission::Judged(ticket) }
    }

    /// The application takes mail that was dispatched out of the relay inbox. It is handed over once that is durable: what
    /// waits for this gets it, and nobody gets it again.
    pub fn taken(&self, stream: &StreamKey, sequence: Sequence, digest: &Digest) -> Taking {
        let ticket = self.transact(|tables, staging| {
            let before = tables.custody().len();
            let expired = tables.expire_custody(self.host.wall_now(), staging);
            let decided = tables.take(stream, sequence, digest, staging);
            self.report_taking(tables, (before, &expired), decided.result.as_ref().ok(), staging);
            self.report(Table::Receiver, stream, &decided, staging);
            self.report_use(tables);
            decided.result
        });
        Taking { stream: *stream, sequence, ticket }
    }

    /// A drain pass of this node's relay inbox read this much of what was admitted before. Nothing leaves custody on its
    /// word: the reading may come from a holder that a membership change has just named (seed 000, Receiver streams by
    /// connection slot).
    pub fn drained(&self, read: &[(StreamKey, Sequence, Digest)]) {
        #[cfg(feature = "flaws")]
        if self.config.flaws.has(Flaw::CustodyDroppedOnAbsentCarrier) && read.is_empty() {
            self.drop_unread(read);
        }
        #[cfg(not(feature = "flaws"))]
        let _ = read;
    }

    pub(super) fn transact<T>(
        &self,
        run: impl FnOnce(&mut Tables, &mut Staging<'_, Tables>) -> T,
    ) -> Started<T> {
        let commit = self.commit.as_ref().ok_or(Some(Refusal::StorageUnavailable))?;
        commit.transact(run).map_err(|unscheduled| Some(unscheduled.into()))
    }

    fn report<T>(
        &self,
        table: Table,
        stream: &StreamKey,
        decided: &Decided<T>,
        staging: &Staging<'_, Tables>,
    ) {
        let Decided { record, decision, staged, .. } = *decided;
        let transition = staging.transition();
        self.host.observe(EngineEvent::Transition { transition, stream, table, record, decision, staged });
    }

    fn report_admitted(&self, stream: &StreamKey, admitted: &Admitted, staging: &Staging<'_, Tables>) {
        let Admitted { record, decision, staged, charge, .. } = *admitted;
        let transition = staging.transition();
        if let Some(charge) = charge {
            self.host.observe(EngineEvent::Quota { transition, stream, charge });
        }
        self.host.observe(match record {
            Some(record) => {
                let table = Table::Receiver;
                EngineEvent::Transition { transition, stream, table, record, decision, staged }
            }
            None => EngineEvent::LinkLocal { transition, stream, decision },
        });
    }

    fn report_use(&self, tables: &mut Tables) {
        if let Some(used) = tables.changed_use() {
            self.host.observe(EngineEvent::TableUse { used });
        }
    }

    fn report_retired(&self, retired: &[Retired], staging: &Staging<'_, Tables>) {
        for Retired { stream, record, introducer, spent } in retired {
            self.host.observe(EngineEvent::Retired {
                transition: staging.transition(),
                stream,
                record: *record,
                introducer: *introducer,
                spent: *spent,
                staged: staging.batch(),
            });
        }
    }

    fn report_unavailable(
        &self,
        (record, decision): (RecordName, Decision),
        tables: &Tables,
        staging: &Staging<'_, Tables>,
    ) {
        if (decision == Decision::Refused { reason: Refusal::UNAVAILABLE }) {
            let (transition, refused) = (staging.transition(), tables.counters().unavailable_stream);
            self.host.observe(EngineEvent::UnavailableRefused { transition, record, refused });
        }
    }

    fn report_bound(&self, result: &Result<Verdict, NotAdmitted>, staging: &Staging<'_, Tables>) {
        let Err(NotAdmitted::Refused(Refusal::StreamCapacityExceeded { introducer, bound, .. })) = *result
        else {
            return;
        };
        let transition = staging.transition();
        self.host.observe(EngineEvent::BoundMet { transition, introducer, bound });
    }

    /// A connection to `peer` is admitted: it takes the cleanest free slot, and keeps it for as long as it keeps the lease.
    /// What it delivers is admitted under [`Introducer::Slot`] of that slot.
    ///
    /// # Errors
    /// [`NoFreeSlot`]: the connection is not to be admitted.
    pub fn connected(&self, peer: Did) -> Result<SlotLease, NoFreeSlot> {
        let charged = || match self.config.flaws.has(Flaw::AnyFreeSlot) {
            true => vec![0; usize::from(self.config.slots.slots)],
            false => self.charges().slots().to_vec(),
        };
        self.occupancy.take(peer, charged)
    }

    /// How many deliveries are in relay custody, staged ones included.
    #[must_use]
    pub fn custody(&self) -> usize {
        self.read(|tables| tables.custody().len()).unwrap_or(0)
    }

    /// How many streams each introducer has, staged ones included.
    #[must_use]
    pub fn charges(&self) -> Charges {
        self.read(|tables| tables.charges().clone()).unwrap_or_else(|| Charges::new(self.config.slots))
    }

    /// Whom a retained stream is charged to.
    #[must_use]
    pub fn introducer(&self, stream: &StreamKey) -> Option<Introducer> {
        self.read(|tables| tables.introducer(stream)).flatten()
    }

    /// What was counted since the open.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.commit.as_ref().map_or_else(Counters::default, |commit| Counters {
            persistence_failure: commit.persistence_failures(),
            ..commit.read(|tables| *tables.counters())
        })
    }

    /// The same for who looks on: it neither keeps the store open nor waits for the lock.
    #[must_use]
    pub fn watch_counters(&self) -> CountersWatch {
        CountersWatch(self.commit.as_ref().map(GroupCommit::watch))
    }

    /// The set U: every record that did not restore, and why.
    #[must_use]
    pub fn unrestorable(&self) -> Vec<(RecordName, Unrestorable)> {
        self.read(|tables| tables.unrestorable().iter().map(|(name, why)| (*name, *why)).collect())
            .unwrap_or_default()
    }

    /// How many streams a table holds, staged ones included.
    #[must_use]
    pub fn streams(&self, table: Table) -> usize {
        self.read(|tables| tables.streams(table)).unwrap_or(0)
    }

    /// When nothing that a retained stream admitted can be delivered any more, by a clock up to the tolerance behind.
    #[must_use]
    pub fn spent(&self, stream: &StreamKey) -> Option<WallMs> {
        self.read(|tables| tables.spent(stream)).flatten()
    }

    /// Every quota record, encoded and in order.
    #[cfg(test)]
    pub(super) fn quota_records(&self) -> Option<Vec<Vec<u8>>> {
        self.read(Tables::quota_records)
    }

    /// The digest of both tables, and of the quota, as they are in memory: see [`StateDigest`].
    #[must_use]
    pub fn state_digest(&self) -> [u8; 32] {
        use crate::commit::State;
        self.read(Tables::digest).unwrap_or_else(|| StateDigest::default().to_bytes())
    }

    fn read<T>(&self, look: impl FnOnce(&Tables) -> T) -> Option<T> {
        self.commit.as_ref().map(|commit| commit.read(look))
    }
}

/// A look at what is counted: see [`Streams::watch_counters`].
#[derive(Clone, Debug)]
pub struct CountersWatch(Option<Watch<Tables>>);

impl CountersWatch {
    /// What was counted since the open; `None` while a transition holds the lock, and once the streams are gone.
    #[must_use]
    pub fn look(&self) -> Option<Counters> {
        let Some(watch) = &self.0 else { return Some(Counters::default()) };
        watch.look(|tables, persistence_failure| Counters { persistence_failure, ..*tables.counters() })
    }
}

/// Whether application traffic came over another's connection than its origin's.
fn is_relayed(stream: &StreamKey, link: Option<&Link>) -> bool {
    stream.class == Class::Application && link.is_some_and(|link| link.peer() != stream.origin)
}

#[cfg(test)]
#[path = "engine_tests/mod.rs"]
mod tests;
