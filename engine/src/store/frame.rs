//! The bytes of a record's file: what was written, by which batch, and whether it is whole.
//!
//! Promise: [`decode`] gives back exactly what [`encode`] was given, or says why the bytes are not a whole record. A
//! torn, shortened, lengthened or flipped file is never taken for a record.
//!
//! ```text
//! magic 4 | version 2 | key length 2 | value length 4 | generation 8 | durable 8 | checksum 4 | storage key | value
//! ```
//! Integers are little-endian. The checksum (CRC-32) covers every byte but its own four.

use crate::host::observe::BatchNumber;
use crate::store::Record;
use bytes::Bytes;
use std::sync::Arc;

const MAGIC: [u8; 4] = *b"ghR\x01";
const VERSION: u16 = 1;
const CHECKSUM_AT: usize = 28;

/// Bytes of a record's file besides its storage key and its value. Decision 10 allows 404.
pub const OVERHEAD_BYTES: usize = 32;

/// The longest storage key, in bytes.
pub const STORAGE_KEY_MAX_BYTES: usize = u16::MAX as usize;

/// What the start of a record's file says; not yet known to be whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The batch that wrote this value.
    pub generation: BatchNumber,
    /// The last batch that was durable when this value was written; zero when there was none.
    pub durable: BatchNumber,
    /// Length of the storage key in bytes.
    pub key_bytes: u16,
    /// Length of the value in bytes.
    pub value_bytes: u32,
}

/// Why bytes are not a whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Too short for a header, or another magic.
    #[error("no record begins here")]
    NotARecord,
    /// Written by a build with another format.
    #[error("format version {0} is not {VERSION}")]
    Version(u16),
    /// The header announces another length than the file has.
    #[error("the record should be {expected} bytes long and is {found}")]
    Length {
        /// Bytes that the header announces.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The checksum does not fit.
    #[error("the checksum does not fit the bytes")]
    Checksum,
    /// The storage key is not text.
    #[error("the storage key is not UTF-8")]
    StorageKey,
}

/// A whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What its header says.
    pub header: Header,
    /// The record.
    pub record: Record,
}

/// The length of a record's file in bytes.
#[must_use]
pub fn length(record: &Record) -> u64 {
    (OVERHEAD_BYTES + record.storage_key.len() + record.value.len()) as u64
}

/// The bytes of a record's file.
///
/// # Panics
/// When the storage key or the value is longer than a header can say: both come from an engine whose records are
/// bounded far below.
#[must_use]
pub fn encode(generation: BatchNumber, durable: BatchNumber, record: &Record) -> Bytes {
    let key = record.storage_key.as_bytes();
    let key_bytes = u16::try_from(key.len()).expect("a storage key is bounded by STORAGE_KEY_MAX_BYTES");
    let value_bytes = u32::try_from(record.value.len()).expect("a value is bounded by the store's capacity");
    let mut bytes = Vec::with_capacity(OVERHEAD_BYTES + key.len() + record.value.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&key_bytes.to_le_bytes());
    bytes.extend_from_slice(&value_bytes.to_le_bytes());
    bytes.extend_from_slice(&generation.0.to_le_bytes());
    bytes.extend_from_slice(&durable.0.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&record.value);
    let checksum = checksum(&bytes);
    bytes[CHECKSUM_AT..OVERHEAD_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Bytes::from(bytes)
}

/// The header alone, at the price of a few comparisons. Says nothing about the bytes after it.
///
/// # Errors
/// [`FrameError::NotARecord`], [`FrameError::Version`].
pub fn peek(bytes: &[u8]) -> Result<Header, FrameError> {
    let Some(header) = bytes.first_chunk::<OVERHEAD_BYTES>() else {
        return Err(FrameError::NotARecord);
    };
    if header[..4] != MAGIC {
        return Err(FrameError::NotARecord);
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != VERSION {
        return Err(FrameError::Version(version));
    }
    let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    Ok(Header {
        generation: BatchNumber(long(12)),
        durable: BatchNumber(long(20)),
        key_bytes: u16::from_le_bytes([header[6], header[7]]),
        value_bytes: u32::from_le_bytes([header[8], header[9], header[10], header[11]]),
    })
}

/// The generation of a whole record: what the batch that wrote it was numbered.
///
/// # Errors
/// [`FrameError`] where the bytes are not a whole record.
pub fn generation(bytes: &[u8]) -> Result<BatchNumber, FrameError> {
    check(bytes).map(|header| header.generation)
}

/// A whole record, sharing the memory of `bytes`.
///
/// # Errors
/// [`FrameError`] where the bytes are not a whole record.
pub fn decode(bytes: &Bytes) -> Result<Frame, FrameError> {
    let header = check(bytes)?;
    let value_at = OVERHEAD_BYTES + usize::from(header.key_bytes);
    let key = std::str::from_utf8(&bytes[OVERHEAD_BYTES..value_at]).map_err(|_| FrameError::StorageKey)?;
    Ok(Frame { header, record: Record { storage_key: Arc::from(key), value: bytes.slice(value_at..) } })
}

/// The storage key that the start of damaged bytes spells, where it is still there. The caller must find it filed
/// under its own name before it believes it: nothing else vouches for it.
#[must_use]
pub fn prefix_key(bytes: &[u8]) -> Option<&str> {
    let header = peek(bytes).ok()?;
    let key = bytes.get(OVERHEAD_BYTES..OVERHEAD_BYTES + usize::from(header.key_bytes))?;
    std::str::from_utf8(key).ok()
}

fn check(bytes: &[u8]) -> Result<Header, FrameError> {
    let header = peek(bytes)?;
    let expected = OVERHEAD_BYTES as u64 + u64::from(header.key_bytes) + u64::from(header.value_bytes);
    if bytes.len() as u64 != expected {
        return Err(FrameError::Length { expected, found: bytes.len() as u64 });
    }
    let stored = u32::from_le_bytes(bytes[CHECKSUM_AT..OVERHEAD_BYTES].try_into().expect("four bytes"));
    if stored != checksum(bytes) {
        return Err(FrameError::Checksum);
    }
    Ok(header)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM_AT]);
    hasher.update(&bytes[OVERHEAD_BYTES..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(key: &str, value: &[u8]) -> Bytes {
        let record = Record { storage_key: Arc::from(key), value: Bytes::copy_from_slice(value) };
        encode(BatchNumber(7), BatchNumber(6), &record)
    }

    #[test]
    fn the_overhead_is_what_decision_10_allows() {
        const { assert!(OVERHEAD_BYTES <= 404) };
        assert_eq!(framed("key", b"value").len(), OVERHEAD_BYTES + 3 + 5);
        let full_store = 28_692_288 + 32_768 * OVERHEAD_BYTES as u64;
        assert!(full_store <= crate::store::CAPACITY_BYTES, "a full store needs {full_store} bytes");
    }

    #[test]
    fn a_file_of_another_build_says_so() {
        let mut bytes = framed("key", b"value").to_vec();
        bytes[4] = 2;
        assert_eq!(decode(&Bytes::from(bytes)), Err(FrameError::Version(2)));
        assert_eq!(decode(&Bytes::new()), Err(FrameError::NotARecord));
        assert_eq!(decode(&Bytes::from_static(&[0; 64])), Err(FrameError::NotARecord));
    }

    #[test]
    fn a_torn_value_still_names_its_key() {
        let mut bytes = framed("the key", b"value").to_vec();
        bytes.truncate(OVERHEAD_BYTES + 9);
        assert_eq!(prefix_key(&bytes), Some("the key"));
        bytes.truncate(OVERHEAD_BYTES + 6);
        assert_eq!(prefix_key(&bytes), None);
    }

    proptest! {
        #[test]
        fn what_was_framed_comes_back(key in ".{0,40}", value in proptest::collection::vec(any::<u8>(), 0..200),
            generation in any::<u64>(), durable in any::<u64>()) {
            let record = Record { storage_key: Arc::from(key.as_str()), value: Bytes::from(value) };
            let bytes = encode(BatchNumber(generation), BatchNumber(durable), &record);
            prop_assert_eq!(bytes.len() as u64, length(&record));
            let frame = decode(&bytes).expect("whole");
            prop_assert_eq!(&frame.record, &record);
            prop_assert_eq!(frame.header.generation, BatchNumber(generation));
            prop_assert_eq!(frame.header.durable, BatchNumber(durable));
        }

        #[test]
        fn one_flipped_bit_is_never_a_record(value in proptest::collection::vec(any::<u8>(), 0..64),
            at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut bytes = framed("key", &value).to_vec();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(decode(&Bytes::from(bytes)).is_err());
        }

        #[test]
        fn another_length_is_never_a_record(value in proptest::collection::vec(any::<u8>(), 0..64),
            cut in any::<prop::sample::Index>(), tail in proptest::collection::vec(any::<u8>(), 1..9)) {
            let bytes = framed("key", &value);
            prop_assert!(decode(&bytes.slice(..cut.index(bytes.len()))).is_err());
            let longer = [&bytes[..], &tail[..]].concat();
            prop_assert!(decode(&Bytes::from(longer)).is_err());
        }
    }
}
