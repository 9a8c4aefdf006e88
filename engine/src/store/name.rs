//! What a name in a store's directory stands for.
//!
//! Promise: only 40 lower-case hex digits are a record's name. Whatever else lies in the directory is never taken for a
//! record, and only the store's own leftovers are ever removed.

use crate::host::disk::DiskPath;
use crate::host::observe::{BatchNumber, RecordName};
use sha2::{Digest, Sha256};

/// Hex digits of a record's name.
const DIGITS: usize = 40;

/// The name that a storage key is filed under: the first 20 bytes of its SHA-256 (decision 10).
#[must_use]
pub fn record_name(storage_key: &str) -> RecordName {
    let digest = Sha256::digest(storage_key.as_bytes());
    let mut name = [0u8; 20];
    name.copy_from_slice(&digest[..20]);
    RecordName(name)
}

/// What one name in the directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileName {
    /// A record.
    Record(RecordName),
    /// The presence marker of a record.
    Marker(RecordName),
    /// A record that was being written when a life ended.
    Temporary(RecordName),
    /// Nothing of the store's.
    Foreign,
}

impl FileName {
    /// Reads a name. Upper-case digits are never a record's name (seed 000, Bad records).
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let Some((digits, rest)) = text.split_at_checked(DIGITS) else {
            return FileName::Foreign;
        };
        let Some(name) = parse_digits(digits.as_bytes()) else {
            return FileName::Foreign;
        };
        match rest {
            "" => FileName::Record(name),
            ".p" => FileName::Marker(name),
            ".tmp" | ".p.tmp" => FileName::Temporary(name),
            _ => rest
                .strip_prefix('.')
                .and_then(|rest| rest.strip_suffix(".tmp"))
                .filter(|batch| !batch.is_empty() && batch.bytes().all(|digit| digit.is_ascii_digit()))
                .map_or(FileName::Foreign, |_| FileName::Temporary(name)),
        }
    }
}

fn parse_digits(digits: &[u8]) -> Option<RecordName> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut name = [0u8; 20];
    for (byte, pair) in name.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(RecordName(name))
}

/// A name's digits on the stack: a path is built for every record of every batch.
fn with_digits<T>(name: RecordName, suffix: &str, use_text: impl FnOnce(&str) -> T) -> T {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0u8; DIGITS + 32];
    for (at, byte) in name.0.iter().enumerate() {
        text[2 * at] = HEX[usize::from(byte >> 4)];
        text[2 * at + 1] = HEX[usize::from(byte & 15)];
    }
    let length = DIGITS + suffix.len();
    text[DIGITS..length].copy_from_slice(suffix.as_bytes());
    use_text(std::str::from_utf8(&text[..length]).expect("hex digits and an ASCII suffix are UTF-8"))
}

/// The text of the path of the record's file, for whoever only looks: a path of its own would cost two allocations more.
pub fn with_record_path<T>(root: &DiskPath, name: RecordName, look: impl FnOnce(&str) -> T) -> T {
    with_digits(name, "", |digits| {
        let root = root.as_str();
        let mut text = String::with_capacity(root.len() + 1 + digits.len());
        if !root.is_empty() {
            text.push_str(root);
            text.push('/');
        }
        text.push_str(digits);
        look(&text)
    })
}

/// The record's file.
#[must_use]
pub fn record_path(root: &DiskPath, name: RecordName) -> DiskPath {
    with_digits(name, "", |text| root.join(text))
}

/// The record's presence marker.
#[must_use]
pub fn marker_path(root: &DiskPath, name: RecordName) -> DiskPath {
    with_digits(name, ".p", |text| root.join(text))
}

/// The temporary that a marker is renewed through.
#[must_use]
pub fn marker_temporary_path(root: &DiskPath, name: RecordName) -> DiskPath {
    with_digits(name, ".p.tmp", |text| root.join(text))
}

/// The record's temporary of one batch. Each batch has its own, so that a write that outlives its batch never touches
/// the bytes of a later one.
#[must_use]
pub fn temporary_path(root: &DiskPath, name: RecordName, batch: BatchNumber) -> DiskPath {
    with_digits(name, &format!(".{}.tmp", batch.0), |text| root.join(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let root = DiskPath::new("data");
        let name = record_name("some key");
        assert_eq!(FileName::parse(record_path(&root, name).name()), FileName::Record(name));
        assert_eq!(FileName::parse(marker_path(&root, name).name()), FileName::Marker(name));
        for root in [DiskPath::root(), root.clone(), root.join("store")] {
            with_record_path(&root, name, |text| assert_eq!(text, record_path(&root, name).as_str()));
        }
        for batch in [0, 7, u64::MAX] {
            let temporary = temporary_path(&root, name, BatchNumber(batch));
            assert_eq!(FileName::parse(temporary.name()), FileName::Temporary(name));
        }
    }

    #[test]
    fn nothing_else_is_a_record() {
        let digits = "0123456789abcdef0123456789abcdef01234567";
        let name = RecordName(parse_digits(digits.as_bytes()).expect("hex").0);
        assert_eq!(FileName::parse(digits), FileName::Record(name));
        assert_eq!(FileName::parse(&format!("{digits}.tmp")), FileName::Temporary(name));
        for foreign in [
            digits.to_uppercase(),
            digits[..39].to_owned(),
            format!("{digits}8"),
            format!("{digits}.q"),
            format!("{digits}..tmp"),
            format!("{digits}.1x.tmp"),
            "g".repeat(40),
            "é".repeat(20),
            String::new(),
            ".lock".to_owned(),
        ] {
            assert_eq!(FileName::parse(&foreign), FileName::Foreign, "{foreign}");
        }
    }
}
