//! Reading and writing postcard's wire format without a copy.
//!
//! Promise: what is read back is what was written, byte for byte. A number in more bytes than it needs is refused, so an
//! encoding is canonical and its digest can be taken from the bytes that arrived.

use crate::identity::Did;
use bytes::Bytes;

/// Why bytes are not an encoding of what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end inside the named field.
    #[error("the bytes end inside {field}")]
    Short {
        /// The field.
        field: &'static str,
    },
    /// A number is longer than its type, or than it needs to be.
    #[error("{field} is not a canonical number")]
    Number {
        /// The field.
        field: &'static str,
    },
    /// An option's tag is neither 0 nor 1.
    #[error("{field} has tag {tag}, which is neither 0 nor 1")]
    Tag {
        /// The field.
        field: &'static str,
        /// The tag.
        tag: u8,
    },
    /// A length is beyond its limit.
    #[error("{field} has {length} bytes, and the limit is {limit}")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its length.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// Bytes follow the last field.
    #[error("{bytes} bytes follow the last field")]
    Trailing {
        /// How many.
        bytes: usize,
    },
}

/// A cursor over encoded bytes.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a Bytes,
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader from `at` on.
    #[must_use]
    pub const fn new(bytes: &'a Bytes, at: usize) -> Self {
        Self { bytes, at }
    }

    /// How far it has read.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], WireError> {
        let end = self.at + N;
        let bytes = self.bytes.get(self.at..end).ok_or(WireError::Short { field })?;
        self.at = end;
        Ok(bytes.try_into().expect("the range has N bytes"))
    }

    /// A number in groups of seven bits, lowest first.
    ///
    /// # Errors
    /// [`WireError::Short`] or [`WireError::Number`].
    pub fn number(&mut self, field: &'static str) -> Result<u64, WireError> {
        let mut value = 0u64;
        for group in 0..10 {
            let byte = *self.bytes.get(self.at).ok_or(WireError::Short { field })?;
            self.at += 1;
            if group == 9 && byte > 1 || group > 0 && byte == 0 {
                return Err(WireError::Number { field });
            }
            value |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(WireError::Number { field })
    }

    /// An option's tag.
    ///
    /// # Errors
    /// [`WireError::Short`] or [`WireError::Tag`].
    pub fn is_some(&mut self, field: &'static str) -> Result<bool, WireError> {
        match self.array::<1>(field)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [tag] => Err(WireError::Tag { field, tag }),
        }
    }

    /// Bytes after their length, at most `limit`, as a view.
    ///
    /// # Errors
    /// [`WireError`].
    pub fn slice(&mut self, field: &'static str, limit: usize) -> Result<Bytes, WireError> {
        let length = self.number(field)?;
        let fits = usize::try_from(length).ok().filter(|length| *length <= limit);
        let length = fits.ok_or(WireError::TooLong { field, length, limit: limit as u64 })?;
        let end = self.at + length;
        if end > self.bytes.len() {
            return Err(WireError::Short { field });
        }
        let slice = self.bytes.slice(self.at..end);
        self.at = end;
        Ok(slice)
    }

    /// That nothing follows.
    ///
    /// # Errors
    /// [`WireError::Trailing`].
    pub const fn end(&self) -> Result<(), WireError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            bytes => Err(WireError::Trailing { bytes }),
        }
    }
}

/// Appends a number in groups of seven bits, lowest first.
pub fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes after their length.
pub fn put_slice(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a DID as records hold it: its 42-character hex string (decision 10).
pub fn put_did(out: &mut Vec<u8>, did: &Did) {
    put_slice(out, &did.to_hex());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_postcards_and_read_back(value in prop_oneof![any::<u64>(), 0u64..300, Just(u64::MAX)]) {
            let mut out = Vec::new();
            put_number(&mut out, value);
            prop_assert_eq!(&out, &postcard::to_allocvec(&value).unwrap());
            let bytes = Bytes::from(out);
            let mut reader = Reader::new(&bytes, 0);
            prop_assert_eq!(reader.number("value"), Ok(value));
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn whatever_reads_as_a_number_is_its_only_encoding(bytes in proptest::collection::vec(any::<u8>(), 1..12)) {
            let bytes = Bytes::from(bytes);
            let mut reader = Reader::new(&bytes, 0);
            if let Ok(value) = reader.number("value") {
                let mut again = Vec::new();
                put_number(&mut again, value);
                prop_assert_eq!(&bytes[..reader.position()], &again[..]);
            }
        }

        #[test]
        fn a_did_is_written_as_serde_writes_it(did in any::<[u8; 20]>()) {
            let mut out = Vec::new();
            put_did(&mut out, &Did(did));
            prop_assert_eq!(out, postcard::to_allocvec(&Did(did)).unwrap());
        }
    }

    #[test]
    fn numbers_that_are_longer_than_needed_are_refused() {
        let cases: &[&[u8]] = &[
            &[0x80, 0x00],
            &[0x81, 0x80, 0x00],
            &[0xff; 10],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81],
        ];
        for case in cases {
            let bytes = Bytes::copy_from_slice(case);
            let refused = Reader::new(&bytes, 0).number("value");
            assert_eq!(refused, Err(WireError::Number { field: "value" }), "{case:?}");
        }
    }
}
