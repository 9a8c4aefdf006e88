//! What callers wait with: a reservation or an admission that has taken effect, until its result is durable.
//!
//! Promise: dropping a wait abandons it and nothing else. Evidence of a fork is signed when it is asked for, not under the
//! lock.

use super::engine::StreamsConfig;
use super::error::{AdmitError, Refusal, ReserveError, TakeError};
use super::evidence::ForkEvidence;
use super::key::{NetworkId, StreamKey};
use super::tables::{LeftCustody, NotAdmitted, NotInCustody, NotReserved};
use super::transaction::Transaction;
use super::verify::Verified;
use super::window::{Digest, Verdict, VerdictKind};
use crate::commit::Ticket;
use crate::host::observe::RecordName;
use crate::identity::delegation::Signer;
use crate::identity::signing::Crypto;
use crate::reserve::Reserved;
use crate::units::{Sequence, WallMs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

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

/// A ticket, or why there is none; taken out when it is told.
pub(super) type Started<T> = Result<Ticket<T>, Option<Refusal>>;

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
    pub(super) stream: StreamKey,
    pub(super) ticket: Started<Result<Reserved, NotReserved>>,
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

/// The wait for mail that the application takes, and which has left custody already. The mail is the application's once this
/// says so, and not before.
#[must_use = "mail that nobody waits for has left custody and is lost"]
#[derive(Debug)]
pub struct Taking {
    pub(super) stream: StreamKey,
    pub(super) sequence: Sequence,
    pub(super) ticket: Started<Result<LeftCustody, NotInCustody>>,
}

impl Future for Taking {
    type Output = Result<(), TakeError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (stream, sequence) = (self.stream, self.sequence);
        let taken = ready!(poll_started(&mut self.ticket, context))?;
        Poll::Ready(taken.map(|_| ()).map_err(|NotInCustody| TakeError::NotInCustody { stream, sequence }))
    }
}

/// A verdict that waits for its release; a fork with what its evidence needs.
#[derive(Debug)]
pub(super) enum Judged {
    Dispatches(VerdictKind),
    Replay,
    Stale(Sequence),
    Fork(Box<Witnessed>),
}

/// A fork before it is signed, which is not done under the lock.
#[derive(Debug)]
pub(super) struct Witnessed {
    accepted: Digest,
    incoming: Transaction,
    at: WallMs,
    witness: Arc<Signer>,
    network_id: NetworkId,
    crypto: Crypto,
}

impl Judged {
    pub(super) fn new(
        verdict: Verdict,
        verified: &Verified,
        witness: &Arc<Signer>,
        config: &StreamsConfig,
    ) -> Self {
        match verdict {
            Verdict::First | Verdict::Advance | Verdict::Late | Verdict::Redelivered => {
                Judged::Dispatches(verdict.kind())
            }
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
pub(super) enum Admission {
    /// The tables have no say in it.
    NotAsked(Option<AdmitError>),
    Judged(Started<Result<Judged, NotAdmitted>>),
}

/// The wait for an admission, which has taken effect already. Gives `First`, `Advance`, `Late` or `Redelivered`.
#[must_use = "an admission that nobody waits for loses its transaction"]
#[derive(Debug)]
pub struct Admitting {
    pub(super) stream: StreamKey,
    pub(super) sequence: Sequence,
    pub(super) record: Option<RecordName>,
    pub(super) state: Admission,
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
            Admission::NotAsked(refused) => {
                return Poll::Ready(Err(refused.take().expect("polled after it gave its result")));
            }
            Admission::Judged(started) => ready!(poll_started(started, context))?,
        };
        let (stream, sequence) = (self.stream, self.sequence);
        Poll::Ready(match judged {
            Ok(Judged::Dispatches(verdict)) => Ok(verdict),
            Ok(Judged::Replay) => Err(AdmitError::Replay { stream, sequence }),
            Ok(Judged::Stale(retained_min)) => Err(AdmitError::Stale { stream, sequence, retained_min }),
            Ok(Judged::Fork(found)) => Err(AdmitError::Fork { stream, evidence: Box::new(found.sign()) }),
            Err(NotAdmitted::Spent { spent, now }) => Err(AdmitError::Spent { stream, sequence, spent, now }),
            Err(NotAdmitted::Refused(refusal)) => Err(refusal.into()),
        })
    }
}
