//! Putting messages together, in bounded memory.

use super::{CHUNK_DATA_MAX_BYTES, CHUNKS_MAX, Envelope, MESSAGE_MAX_BYTES, MessageKey};
use crate::identity::Did;
use crate::identity::delegation::CLOCK_TOLERANCE_MS;
use crate::streams::transaction::LIFETIME_MAX_MS;
use crate::units::{Sequence, WallMs};
use bytes::Bytes;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The bounds of what waits to be put together. A buffered chunk costs its bytes and `slot_cost_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Messages of one peer that wait.
    pub pending_messages: usize,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Chunks of one message.
    pub chunks: u32,
    /// Bytes of one chunk.
    pub chunk_bytes: usize,
    /// Cost of everything that waits.
    pub cost_bytes: usize,
    /// Cost of what waits for one peer.
    pub peer_cost_bytes: usize,
    /// What a chunk costs beside its bytes.
    pub slot_cost_bytes: usize,
    /// Messages of one peer that are remembered as complete.
    pub tombstones: usize,
}

impl ReassemblyLimits {
    /// The limits of facts 11.2; a peer's cost is that of one message as long as any.
    pub const SEED: ReassemblyLimits = ReassemblyLimits {
        pending_messages: 512,
        message_bytes: MESSAGE_MAX_BYTES,
        chunks: CHUNKS_MAX,
        chunk_bytes: CHUNK_DATA_MAX_BYTES,
        cost_bytes: 240_000_000,
        peer_cost_bytes: MESSAGE_MAX_BYTES + CHUNKS_MAX as usize * 128,
        slot_cost_bytes: 128,
        tombstones: 1_024,
    };
}

/// What a chunk that was taken has led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reassembled {
    /// Others are missing.
    Waits,
    /// A chunk of that place was there already; the first one stays.
    Duplicate,
    /// Its message was complete before, and is not put together again.
    AlreadyComplete,
    /// The whole message.
    Complete(Bytes),
}

/// Why a chunk is not taken. What waits stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The lifetime is beyond its limit.
    #[error("a lifetime of {lifetime_ms} ms is longer than {LIFETIME_MAX_MS} ms")]
    LifetimeTooLong {
        /// The lifetime.
        lifetime_ms: u64,
    },
    /// It was issued further ahead than clocks may differ.
    #[error("the chunk was issued at {issued}, more than {CLOCK_TOLERANCE_MS} ms after {now}")]
    FromTheFuture {
        /// When it was issued.
        issued: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// Its lifetime is past.
    #[error("the chunk expired at {expires}, and it is {now}")]
    Expired {
        /// Its last instant.
        expires: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// Its place is not one of its message.
    #[error("place {position} is not one of {total}")]
    NoSuchPosition {
        /// The place.
        position: u32,
        /// How many there are.
        total: u32,
    },
    /// Its message has too many chunks.
    #[error("{total} chunks are more than {limit}")]
    TooManyChunks {
        /// How many.
        total: u32,
        /// The limit.
        limit: u32,
    },
    /// It carries too much, or nothing.
    #[error("a chunk of {bytes} bytes is not between 1 and {limit}")]
    ChunkLength {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Sequence, number of chunks or lifetime are not those of the chunks before it.
    #[error("the chunk does not go with those of its message")]
    Mismatch,
    /// Its message grows too long.
    #[error("a message of more than {limit} bytes")]
    MessageTooLong {
        /// The limit.
        limit: usize,
    },
    /// Too many messages of its peer wait.
    #[error("{limit} messages of this peer wait for chunks already")]
    TooManyMessages {
        /// The limit.
        limit: usize,
    },
    /// Too much of its peer waits.
    #[error("what waits for this peer would cost more than {limit} bytes")]
    PeerFull {
        /// The limit.
        limit: usize,
    },
    /// Too much waits.
    #[error("what waits would cost more than {limit} bytes")]
    Full {
        /// The limit.
        limit: usize,
    },
}

impl Rejected {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Rejected::LifetimeTooLong { .. } => "lifetime-too-long",
            Rejected::FromTheFuture { .. } => "from-the-future",
            Rejected::Expired { .. } => "expired",
            Rejected::NoSuchPosition { .. } => "no-such-position",
            Rejected::TooManyChunks { .. } => "too-many-chunks",
            Rejected::ChunkLength { .. } => "chunk-length",
            Rejected::Mismatch => "chunk-mismatch",
            Rejected::MessageTooLong { .. } => "message-too-long",
            Rejected::TooManyMessages { .. } => "too-many-messages",
            Rejected::PeerFull { .. } => "peer-full",
            Rejected::Full { .. } => "reassembly-full",
        }
    }
}

/// What became of chunks and messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReassemblyCounters {
    /// Messages put together.
    pub completed: u64,
    /// Messages that expired before they were complete.
    pub expired: u64,
    /// Chunks whose place was taken.
    pub duplicates: u64,
    /// Chunks of messages that were complete.
    pub after_completion: u64,
    /// Tombstones dropped before they expired, because there were too many.
    pub tombstones_overflowed: u64,
    /// Chunks rejected.
    pub rejected: u64,
}

/// A message of which chunks are missing.
#[derive(Debug)]
pub(super) struct Pending {
    sequence: Sequence,
    total: u32,
    issued: WallMs,
    lifetime_ms: u64,
    pub(super) chunks: BTreeMap<u32, Bytes>,
    bytes: usize,
}

impl Pending {
    fn begun_by(envelope: &Envelope) -> Self {
        let Envelope { sequence, issued, lifetime_ms, ref chunk, .. } = *envelope;
        Self { sequence, total: chunk.total, issued, lifetime_ms, chunks: BTreeMap::new(), bytes: 0 }
    }

    const fn expires(&self) -> WallMs {
        self.issued.plus_ms(self.lifetime_ms)
    }

    fn cost(&self, slot_cost_bytes: usize) -> usize {
        self.bytes + self.chunks.len() * slot_cost_bytes
    }

    fn message(self) -> Bytes {
        let mut message = Vec::with_capacity(self.bytes);
        self.chunks.values().for_each(|chunk| message.extend_from_slice(chunk));
        message.into()
    }
}

/// Messages of one peer that are complete, until they expire; of too many the one that was complete first is forgotten.
#[derive(Debug, Default)]
struct Tombstones {
    keys: BTreeSet<MessageKey>,
    in_order: VecDeque<(MessageKey, WallMs)>,
}

impl Tombstones {
    /// Whether another one had to be forgotten before its time.
    fn bury(&mut self, key: MessageKey, expires: WallMs, limit: usize) -> bool {
        self.keys.insert(key);
        self.in_order.push_back((key, expires));
        let overflows = self.in_order.len() > limit;
        if overflows && let Some((oldest, _)) = self.in_order.pop_front() {
            self.keys.remove(&oldest);
        }
        overflows
    }

    fn expire(&mut self, now: WallMs) {
        self.in_order.retain(|(key, expires)| {
            let stays = now <= *expires;
            if !stays {
                self.keys.remove(key);
            }
            stays
        });
    }
}

#[derive(Debug, Default)]
pub(super) struct Peer {
    pub(super) pending: BTreeMap<MessageKey, Pending>,
    tombstones: Tombstones,
    cost_bytes: usize,
    /// Nothing of this peer expires before it, so nothing is looked for before it.
    nothing_expires_before: WallMs,
}

impl Peer {
    /// Lets go of what is expired; gives its cost and how many messages it was.
    fn expire(&mut self, now: WallMs, slot_cost_bytes: usize) -> (usize, u64) {
        if now <= self.nothing_expires_before {
            return (0, 0);
        }
        let (mut freed, mut expired) = (0, 0);
        self.pending.retain(|_, pending| {
            let stays = now <= pending.expires();
            if !stays {
                freed += pending.cost(slot_cost_bytes);
                expired += 1;
            }
            stays
        });
        self.tombstones.expire(now);
        self.cost_bytes -= freed;
        let buried = self.tombstones.in_order.iter().map(|(_, expires)| *expires);
        let next = self.pending.values().map(Pending::expires).chain(buried).min();
        self.nothing_expires_before = next.unwrap_or(WallMs(u64::MAX));
        (freed, expired)
    }
}

/// What waits to be put together on one node. A chunk is kept with the peer of the connection that it arrived on, so that a
/// peer that floods fills its own share.
#[derive(Debug)]
pub struct Reassembly {
    limits: ReassemblyLimits,
    pub(super) peers: IndexMap<Did, Peer, FxBuildHasher>,
    cost_bytes: usize,
    counters: ReassemblyCounters,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self::new(ReassemblyLimits::SEED)
    }
}

impl Reassembly {
    /// Nothing waits yet.
    #[must_use]
    pub fn new(limits: ReassemblyLimits) -> Self {
        Self { limits, peers: IndexMap::default(), cost_bytes: 0, counters: ReassemblyCounters::default() }
    }

    /// Takes the chunk of a verified envelope that arrived from `peer` at `now`.
    ///
    /// # Errors
    /// [`Rejected`].
    pub fn take(&mut self, peer: Did, envelope: &Envelope, now: WallMs) -> Result<Reassembled, Rejected> {
        let taken = self.well_formed(envelope, now).and_then(|()| self.take_well_formed(peer, envelope, now));
        match &taken {
            Ok(Reassembled::Waits) => {}
            Ok(Reassembled::Duplicate) => self.counters.duplicates += 1,
            Ok(Reassembled::AlreadyComplete) => self.counters.after_completion += 1,
            Ok(Reassembled::Complete(_)) => self.counters.completed += 1,
            Err(_) => self.counters.rejected += 1,
        }
        taken
    }

    fn well_formed(&self, envelope: &Envelope, now: WallMs) -> Result<(), Rejected> {
        let Envelope { issued, lifetime_ms, ref chunk, .. } = *envelope;
        if lifetime_ms > LIFETIME_MAX_MS {
            return Err(Rejected::LifetimeTooLong { lifetime_ms });
        }
        if issued > now.plus_ms(CLOCK_TOLERANCE_MS) {
            return Err(Rejected::FromTheFuture { issued, now });
        }
        let expires = issued.plus_ms(lifetime_ms);
        if now > expires {
            return Err(Rejected::Expired { expires, now });
        }
        if chunk.total > self.limits.chunks {
            return Err(Rejected::TooManyChunks { total: chunk.total, limit: self.limits.chunks });
        }
        if chunk.position >= chunk.total {
            return Err(Rejected::NoSuchPosition { position: chunk.position, total: chunk.total });
        }
        let (bytes, limit) = (chunk.data.len(), self.limits.chunk_bytes);
        if bytes == 0 || bytes > limit {
            return Err(Rejected::ChunkLength { bytes, limit });
        }
        Ok(())
    }

    fn take_well_formed(
        &mut self,
        peer: Did,
        envelope: &Envelope,
        now: WallMs,
    ) -> Result<Reassembled, Rejected> {
        self.expire_of(peer, now);
        let limits = self.limits;
        let (key, chunk) = (envelope.key(), &envelope.chunk);
        let cost = chunk.data.len() + limits.slot_cost_bytes;
        if self.cost_bytes + cost > limits.cost_bytes {
            self.sweep(now);
        }
        let has_room = self.cost_bytes + cost <= limits.cost_bytes;
        let known = self.peers.get(&peer);
        if known.is_some_and(|peer| peer.tombstones.keys.contains(&key)) {
            return Ok(Reassembled::AlreadyComplete);
        }
        let (waiting, peer_cost) = known.map_or((0, 0), |peer| (peer.pending.len(), peer.cost_bytes));
        let mut bytes = chunk.data.len();
        match known.and_then(|peer| peer.pending.get(&key)) {
            Some(Pending { sequence, total, issued, lifetime_ms, chunks, bytes: before }) => {
                if !envelope.goes_with(*sequence, *total, *issued, *lifetime_ms) {
                    return Err(Rejected::Mismatch);
                }
                if chunks.contains_key(&chunk.position) {
                    return Ok(Reassembled::Duplicate);
                }
                bytes += before;
            }
            None if waiting >= limits.pending_messages => {
                return Err(Rejected::TooManyMessages { limit: limits.pending_messages });
            }
            None => {}
        }
        if bytes > limits.message_bytes {
            return Err(Rejected::MessageTooLong { limit: limits.message_bytes });
        }
        if peer_cost + cost > limits.peer_cost_bytes {
            return Err(Rejected::PeerFull { limit: limits.peer_cost_bytes });
        }
        if !has_room {
            return Err(Rejected::Full { limit: limits.cost_bytes });
        }
        Ok(self.buffer(peer, envelope, cost))
    }

    fn buffer(&mut self, peer: Did, envelope: &Envelope, cost: usize) -> Reassembled {
        let limits = self.limits;
        let peer = self.peers.entry(peer).or_default();
        let pending = peer.pending.entry(envelope.key()).or_insert_with(|| Pending::begun_by(envelope));
        // A view of the chunk would keep the whole frame that it arrived in.
        let data = Bytes::copy_from_slice(&envelope.chunk.data);
        pending.bytes += data.len();
        pending.chunks.insert(envelope.chunk.position, data);
        let expires = pending.expires();
        peer.nothing_expires_before = peer.nothing_expires_before.min(expires);
        peer.cost_bytes += cost;
        self.cost_bytes += cost;
        if pending.chunks.len() < pending.total as usize {
            return Reassembled::Waits;
        }
        let complete = peer.pending.remove(&envelope.key()).expect("it is the one that was added to");
        let freed = complete.cost(limits.slot_cost_bytes);
        peer.cost_bytes -= freed;
        self.cost_bytes -= freed;
        let overflowed = peer.tombstones.bury(envelope.key(), expires, limits.tombstones);
        self.counters.tombstones_overflowed += u64::from(overflowed);
        Reassembled::Complete(complete.message())
    }

    /// Lets go of everything that is expired. What a peer holds is also looked at when it sends a chunk.
    pub fn sweep(&mut self, now: WallMs) {
        for at in (0..self.peers.len()).rev() {
            let (peer, _) = self.peers.get_index(at).expect("an index below the length");
            self.expire_of(*peer, now);
        }
    }

    fn expire_of(&mut self, peer: Did, now: WallMs) {
        let Some(held) = self.peers.get_mut(&peer) else { return };
        let (freed, expired) = held.expire(now, self.limits.slot_cost_bytes);
        if held.pending.is_empty() && held.tombstones.in_order.is_empty() {
            self.peers.swap_remove(&peer);
        }
        self.cost_bytes -= freed;
        self.counters.expired += expired;
    }

    /// What was counted.
    #[must_use]
    pub const fn counters(&self) -> &ReassemblyCounters {
        &self.counters
    }

    /// What everything that waits costs, in bytes.
    #[must_use]
    pub const fn cost_bytes(&self) -> usize {
        self.cost_bytes
    }

    /// How many messages wait, of all peers.
    #[must_use]
    pub fn pending_messages(&self) -> usize {
        self.peers.values().map(|peer| peer.pending.len()).sum()
    }
}
