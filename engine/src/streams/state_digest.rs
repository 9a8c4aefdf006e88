//! A digest of the tables that does not depend on the order of their records.
//!
//! Promise: two tables have one digest if and only if they would write the same records (up to collisions of SHA-256), and
//! an onlooker can keep the digest up with each change instead of building it anew.

use sha2::{Digest as _, Sha256};

/// The sum, over all records, of SHA-256 of the record's value: four little-endian words of 64 bits, each added for itself
/// and wrapping. A record's value is what [`super::record`] encodes; it names its table and its stream.
///
/// A sender stream counts with its lease, not with what it used of it: a lease is what a failed batch must restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateDigest([u64; 4]);

impl StateDigest {
    /// A record of this value is in the tables.
    pub fn add(&mut self, value: &[u8]) {
        self.combine(value, u64::wrapping_add);
    }

    /// A record of this value is no longer in the tables.
    pub fn remove(&mut self, value: &[u8]) {
        self.combine(value, u64::wrapping_sub);
    }

    /// The digest.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (part, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            part.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn combine(&mut self, value: &[u8], with: fn(u64, u64) -> u64) {
        let hash = Sha256::digest(value);
        for (word, part) in self.0.iter_mut().zip(hash.chunks_exact(8)) {
            *word = with(*word, u64::from_le_bytes(part.try_into().expect("eight bytes")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_records_does_not_count_and_a_removed_one_leaves_no_trace() {
        let of = |values: &[&[u8]]| {
            let mut digest = StateDigest::default();
            values.iter().for_each(|value| digest.add(value));
            digest
        };
        assert_eq!(of(&[]).to_bytes(), [0; 32]);
        assert_eq!(of(&[b"one", b"two"]), of(&[b"two", b"one"]));
        assert_ne!(of(&[b"one"]), of(&[b"two"]));
        assert_eq!(of(&[b"one"]).to_bytes(), <[u8; 32]>::from(Sha256::digest(b"one")));
        let mut changed = of(&[b"one", b"two"]);
        changed.remove(b"one");
        changed.add(b"three");
        assert_eq!(changed, of(&[b"three", b"two"]));
    }
}
