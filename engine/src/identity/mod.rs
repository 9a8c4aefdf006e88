//! Who signs: DIDs, accounts and delegatees, delegations, signing domains, digests.
//!
//! Promise: every signature binds a network and a purpose, so that none counts anywhere else; keys are made from seeds
//! that the caller brings, never drawn.

pub mod delegation;
pub mod signing;

use std::fmt;

/// A decentralised identifier: the last 20 bytes of SHA-256 of the account's public key (decision 11).
///
/// Encoded as its 42-character hex string, which gives the seed's record sizes (decision 10).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Did(pub [u8; 20]);

impl Did {
    /// The first four bytes in hex, for messages to people.
    #[must_use]
    pub fn short(&self) -> String {
        self.0[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The text that stands for it everywhere: `0x` and 40 lower-case hex digits.
    #[must_use]
    pub fn to_hex(&self) -> [u8; 42] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 42];
        text[..2].copy_from_slice(b"0x");
        for (at, byte) in self.0.iter().enumerate() {
            text[2 + 2 * at] = HEX[usize::from(byte >> 4)];
            text[3 + 2 * at] = HEX[usize::from(byte & 15)];
        }
        text
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl serde::Serialize for Did {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_hex();
        serializer.serialize_str(std::str::from_utf8(&text).expect("hex digits are UTF-8"))
    }
}

impl<'de> serde::Deserialize<'de> for Did {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl serde::de::Visitor<'_> for Hex {
            type Value = Did;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0x and 40 lower-case hex digits")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Did, E> {
                let digits = text.strip_prefix("0x").map(str::as_bytes).filter(|digits| digits.len() == 40);
                let digits =
                    digits.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))?;
                let nibble = |digit: u8| match digit {
                    b'0'..=b'9' => Some(digit - b'0'),
                    b'a'..=b'f' => Some(digit - b'a' + 10),
                    _ => None,
                };
                let mut bytes = [0u8; 20];
                for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                    let (Some(high), Some(low)) = (nibble(pair[0]), nibble(pair[1])) else {
                        return Err(E::invalid_value(serde::de::Unexpected::Str(text), &self));
                    };
                    *byte = high << 4 | low;
                }
                Ok(Did(bytes))
            }
        }
        deserializer.deserialize_str(Hex)
    }
}
