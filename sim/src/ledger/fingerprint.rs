//! The fingerprint of a run: SHA-256 over its events' encodings, with checkpoints to find where two runs part.
//!
//! Promise: it depends on the events, their times and their order alone. A checkpoint is chained: it covers every event
//! before it, so two runs whose checkpoints differ parted in the first interval whose checkpoint differs.

use super::encode::encode;
use super::event::Event;
use crate::units::SimTime;
use sha2::{Digest, Sha256};

/// Events between two checkpoints.
pub const CHECKPOINT_EVENTS: u64 = 1_024;
/// Encoded bytes that are gathered before they are hashed.
const BUFFER_BYTES: usize = 4_096;

/// The fingerprint of the events so far.
#[derive(Debug)]
pub struct Fingerprint {
    hash: Sha256,
    buffer: Vec<u8>,
    /// Where the last event's encoding begins in the buffer.
    last: usize,
    events: u64,
    checkpoints: Vec<[u8; 8]>,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self {
            hash: Sha256::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES + 1_024),
            last: 0,
            events: 0,
            checkpoints: Vec::new(),
        }
    }
}

impl Fingerprint {
    /// Takes one event in.
    #[inline]
    pub fn record(&mut self, at: SimTime, event: &Event<'_>) {
        if self.buffer.len() >= BUFFER_BYTES {
            self.hash_buffer();
        }
        if self.events.is_multiple_of(CHECKPOINT_EVENTS) && self.events > 0 {
            self.checkpoint();
        }
        self.last = self.buffer.len();
        encode(at, event, &mut self.buffer);
        self.events += 1;
    }

    /// Counts one event that is not taken in.
    pub fn skip(&mut self) {
        self.events += 1;
    }

    /// The encoding of the last event; empty before the first.
    #[must_use]
    pub fn last_encoded(&self) -> &[u8] {
        &self.buffer[self.last..]
    }

    /// Events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The checkpoints so far. The last interval, which may be short, has none until the end.
    #[must_use]
    pub fn checkpoints(&self) -> &[[u8; 8]] {
        &self.checkpoints
    }

    /// The fingerprint and all checkpoints; the last one covers every event.
    #[must_use]
    pub fn finish(mut self) -> ([u8; 32], Vec<[u8; 8]>) {
        if self.events > 0 {
            self.checkpoint();
        }
        (self.hash.finalize().into(), self.checkpoints)
    }

    fn hash_buffer(&mut self) {
        self.hash.update(&self.buffer);
        self.buffer.clear();
        self.last = 0;
    }

    fn checkpoint(&mut self) {
        self.hash_buffer();
        let digest: [u8; 32] = self.hash.clone().finalize().into();
        let mut checkpoint = [0; 8];
        checkpoint.copy_from_slice(&digest[..8]);
        self.checkpoints.push(checkpoint);
    }
}
