//! The streams of one node: open, reserve, admit.
//!
//! Promise: a reservation or an admission takes effect at the call, in the order of the calls, and its result is returned
//! once everything that it was computed from is durable. Dropping the future abandons the wait and nothing else.

use super::error::{AdmitError, OpenError, Refusal, ReserveError};
use super::evidence::ForkEvidence;
use super::key::{Class, NetworkId, StreamKey, Table};
use super::record::Introducer;
use super::state_digest::StateDigest;
use super::tables::{Arriving, Counters, Decided, NotReserved, Tables, Unrestorable};
use super::transaction::Transaction;
use super::verify::{Verified, stream_key};
use super::window::{Digest, Verdict, VerdictKind};
use crate::commit::{GroupCommit, Staging, Ticket};
use crate::flaws::{Flaw, Flaws};
use crate::host::Host;
use crate::host::disk::DiskPath;
use crate::host::observe::{EngineEvent, RecordName};
use crate::identity::Did;
use crate::identity::delegation::{CLOCK_TOLERANCE_MS, Signer};
use crate::identity::signing::Crypto;
use crate::reserve::Reserved;
use crate::store::{self, FileStore, Scan, StoreConfig};
use crate::units::{Sequence, WallMs};
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The most streams in each table (seed 000, Persistence and bounds).
pub const STREAM_CAPACITY: usize = 16_384;

/// Sequences that a written lease covers at least (seed 000, Persistence and bounds).
pub const SEQUENCE_LEASE: NonZeroU64 = NonZeroU64::new(64).unwrap();

/// The longest time that mail may wait in a relay inbox, in milliseconds: seven days (decision 5).
pub const RELAY_INBOX_MAX_MS: u64 = 604_800_000;

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
            flaws: Flaws::NONE,
        }
    }
}

/// How a transaction came to its admission.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Whom a new stream is charged to.
    pub introducer: Introducer,
    /// Who signs the evidence of a fork.
    pub witness: &'a Arc<Signer>,
}

/// Sequences `first..=last` of a stream, covered by a durable lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The stream.
    pub stream: StreamKey,
    /// The first sequence.
    pub first: Sequence,
    /// The last sequence.
    pub last: Sequence,
}

/// The streams of one node. Cheap to clone; the store is given up with the last clone.
#[derive(Clone, Debug)]
pub struct Streams {
    host: Host,
    config: StreamsConfig,
    commit: Option<GroupCommit<Tables>>,
}

impl Streams {
    /// Opens the store in `root` and restores both tables from one scan. A record that does not restore is kept, and its
    /// stream alone is refused (seed 000, Bad records).
    ///
    /// # Errors
    /// [`OpenError`]; another open begins again.
    pub async fn open(host: &Host, root: DiskPath, config: StreamsConfig) -> Result<Self, OpenError> {
        let Storage::Authoritative { capacity_bytes } = config.storage else {
            return Ok(Self { host: host.clone(), config, commit: None });
        };
        let flaws = config.flaws;
        let (store, scan) = FileStore::open(host, root, StoreConfig { capacity_bytes, flaws }).await?;
        let scan = if flaws.has(Flaw::MemoryStoreAfterRestart) { Scan::default() } else { scan };
        let mut tables = Tables::new(config.capacity, SEQUENCE_LEASE, flaws);
        let restored = tables.restore(scan);
        host.observe(EngineEvent::Opened {
            restored: u32::try_from(restored.len()).unwrap_or(u32::MAX),
            unrestorable: u32::try_from(tables.unrestorable().len()).unwrap_or(u32::MAX),
            next_batch: store.next_batch(),
        });
        let commit = GroupCommit::open(host, store, tables, restored, flaws)?;
        Ok(Self { host: host.clone(), config, commit: Some(commit) })
    }

    /// Reserves `count` sequences for what `signer` sends to `destination` in `class`.
    pub fn reserve(&self, signer: &Signer, destination: Did, class: Class, count: NonZeroU64) -> Reserving {
        let origin = (signer.account(), signer.delegation());
        let stream = stream_key(self.config.network_id, origin, destination, class, self.config.flaws);
        let ticket = self.transact(|tables, staging| {
            let decided = tables.reserve(&stream, count, staging);
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
            return Admitting { stream, sequence, record: None, state: Admission::Relayed(refused) };
        }
        let mut record = None;
        let arriving = Arriving {
            stream: &stream,
            sequence,
            digest: verified.digest(),
            spent: spent(transaction),
            introducer: arrival.introducer,
        };
        let ticket = self.transact(|tables, staging| {
            let decided = tables.admit(&arriving, staging);
            record = Some(decided.record);
            self.report(Table::Receiver, &stream, &decided, staging);
            decided.result.map(|verdict| Judged::new(verdict, verified, arrival.witness, &self.config))
        });
        Admitting { stream, sequence, record, state: Admission::Judged(ticket) }
    }

    fn transact<T>(
        &self,
        run: impl FnOnce(&mut Tables, &mut Staging<'_, Tables>) -> T,
    ) -> Result<Ticket<T>, Option<Refusal>> {
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

    /// What was counted since the open.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.commit.as_ref().map_or_else(Counters::default, |commit| Counters {
            persistence_failure: commit.persistence_failures(),
            ..commit.read(|tables| *tables.counters())
        })
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

    /// The digest of both tables as they are in memory: see [`StateDigest`].
    #[must_use]
    pub fn state_digest(&self) -> [u8; 32] {
        use crate::commit::State;
        self.read(Tables::digest).unwrap_or_else(|| StateDigest::default().to_bytes())
    }

    fn read<T>(&self, look: impl FnOnce(&Tables) -> T) -> Option<T> {
        self.commit.as_ref().map(|commit| commit.read(look))
    }
}

/// When a transaction can no longer be delivered, by a clock up to the tolerance behind: after its lifetime, and for
/// application traffic after the time that mail may wait in a relay inbox (decision 5).
#[must_use]
pub fn spent(transaction: &Transaction) -> WallMs {
    let spent = transaction.expires().plus_ms(CLOCK_TOLERANCE_MS);
    match transaction.class() {
        Class::Application => spent.plus_ms(RELAY_INBOX_MAX_MS + CLOCK_TOLERANCE_MS),
        Class::Control | Class::Storage | Class::E2e => spent,
    }
}

/// A ticket, or why there is none; taken out when it is told.
type Started<T> = Result<Ticket<T>, Option<Refusal>>;

fn poll_started<T>(started: &mut Started<T>, context: &mut Context<'_>) -> Poll<Result<T, Refusal>> {
    match started {
        Ok(ticket) => Pin::new(ticket).poll(context).map_err(Refusal::from),
        Err(refusal) => Poll::Ready(Err(refusal.take().expect("polled after it gave its result"))),
    }
}

/// The wait for a reservation, which has taken effect already.
#[must_use = "a reservation that nobody waits for skips its sequences"]
#[derive(Debug)]
pub struct Reserving {
    stream: StreamKey,
    ticket: Started<Result<Reserved, NotReserved>>,
}

impl Future for Reserving {
    type Output = Result<Reservation, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stream = self.stream;
        Poll::Ready(match ready!(poll_started(&mut self.ticket, context))? {
            Ok(Reserved { first, last, .. }) => {
                Ok(Reservation { stream, first: Sequence(first), last: Sequence(last) })
            }
            Err(NotReserved::Exhausted(exhausted)) => {
                Err(ReserveError::SequenceExhausted { stream, count: exhausted.count })
            }
            Err(NotReserved::Refused(refusal)) => Err(refusal.into()),
        })
    }
}

/// A verdict that waits for its release; a fork with what its evidence needs.
#[derive(Debug)]
enum Judged {
    Dispatches(VerdictKind),
    Replay,
    Stale(Sequence),
    Fork(Box<Witnessed>),
}

/// A fork before it is signed, which is not done under the lock.
#[derive(Debug)]
struct Witnessed {
    accepted: Digest,
    incoming: Transaction,
    at: WallMs,
    witness: Arc<Signer>,
    network_id: NetworkId,
    crypto: Crypto,
}

impl Judged {
    fn new(verdict: Verdict, verified: &Verified, witness: &Arc<Signer>, config: &StreamsConfig) -> Self {
        match verdict {
            Verdict::First | Verdict::Advance | Verdict::Late => Judged::Dispatches(verdict.kind()),
            Verdict::Replay => Judged::Replay,
            Verdict::Stale { retained_min } => Judged::Stale(retained_min),
            Verdict::Fork { accepted, .. } => Judged::Fork(Box::new(Witnessed {
                accepted,
                incoming: verified.transaction().clone(),
                at: verified.at(),
                witness: Arc::clone(witness),
                network_id: config.network_id,
                crypto: config.crypto,
            })),
        }
    }
}

impl Witnessed {
    fn sign(self) -> ForkEvidence {
        let Self { accepted, incoming, at, witness, network_id, crypto } = self;
        ForkEvidence::sign(accepted, incoming, at, &witness, network_id, crypto)
    }
}

#[derive(Debug)]
enum Admission {
    Relayed(Option<AdmitError>),
    Judged(Started<Result<Judged, Refusal>>),
}

/// The wait for an admission, which has taken effect already. Gives `First`, `Advance` or `Late`.
#[must_use = "an admission that nobody waits for loses its transaction"]
#[derive(Debug)]
pub struct Admitting {
    stream: StreamKey,
    sequence: Sequence,
    record: Option<RecordName>,
    state: Admission,
}

impl Admitting {
    /// The record of the transaction's stream; `None` when the tables were not asked.
    #[must_use]
    pub const fn record(&self) -> Option<RecordName> {
        self.record
    }
}

impl Future for Admitting {
    type Output = Result<VerdictKind, AdmitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let judged = match &mut self.state {
            Admission::Relayed(refused) => {
                return Poll::Ready(Err(refused.take().expect("polled after it gave its result")));
            }
            Admission::Judged(started) => ready!(poll_started(started, context))?,
        };
        let (stream, sequence) = (self.stream, self.sequence);
        Poll::Ready(match judged? {
            Judged::Dispatches(verdict) => Ok(verdict),
            Judged::Replay => Err(AdmitError::Replay { stream, sequence }),
            Judged::Stale(retained_min) => Err(AdmitError::Stale { stream, sequence, retained_min }),
            Judged::Fork(found) => Err(AdmitError::Fork { stream, evidence: Box::new(found.sign()) }),
        })
    }
}

#[cfg(test)]
#[path = "engine_tests/mod.rs"]
mod tests;
