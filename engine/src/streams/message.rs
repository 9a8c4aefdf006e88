//! The kinds of message that a transaction carries, and the class of each.
//!
//! Promise: the class of a transaction is a function of its signed data, so both sides agree on it without a field.

use super::key::Class;

/// The kind of a message: the first byte of a transaction's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the kinds' own; what they carry is the application's")]
pub enum MessageKind {
    ConnectRequest = 0,
    ConnectReport = 1,
    FindSuccessorRequest = 2,
    FindSuccessorReport = 3,
    NotifyPredecessor = 4,
    ProbeRequest = 5,
    ProbeOffer = 6,
    SearchEntry = 7,
    FoundEntry = 8,
    OperateEntry = 9,
    SyncEntries = 10,
    SyncEntriesReport = 11,
    Custom = 12,
    HandshakeRequest = 13,
    HandshakeResponse = 14,
    StreamFrame = 15,
    TopologyRequest = 16,
    TopologyReport = 17,
    Chunk = 18,
    ProbeAcknowledgement = 19,
}

/// The data does not begin with a kind that this node knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid message: {}", match first { Some(byte) => format!("kind {byte} is unknown"), None => "empty".to_owned() })]
pub struct InvalidMessage {
    /// The first byte; `None` where there is none.
    pub first: Option<u8>,
}

impl MessageKind {
    /// Every kind, in the order of its byte.
    pub const ALL: [MessageKind; 20] = {
        use MessageKind as K;
        [
            K::ConnectRequest,
            K::ConnectReport,
            K::FindSuccessorRequest,
            K::FindSuccessorReport,
            K::NotifyPredecessor,
            K::ProbeRequest,
            K::ProbeOffer,
            K::SearchEntry,
            K::FoundEntry,
            K::OperateEntry,
            K::SyncEntries,
            K::SyncEntriesReport,
            K::Custom,
            K::HandshakeRequest,
            K::HandshakeResponse,
            K::StreamFrame,
            K::TopologyRequest,
            K::TopologyReport,
            K::Chunk,
            K::ProbeAcknowledgement,
        ]
    };

    /// The kind of signed `data`.
    ///
    /// # Errors
    /// [`InvalidMessage`] for empty data or an unknown kind.
    pub fn of(data: &[u8]) -> Result<Self, InvalidMessage> {
        let first = data.first().copied();
        let found = Self::ALL.iter().find(|kind| Some(**kind as u8) == first);
        found.copied().ok_or(InvalidMessage { first })
    }

    /// A kind of each class, for whoever only needs some message of a class.
    #[must_use]
    pub const fn plain(class: Class) -> Self {
        match class {
            Class::Control => MessageKind::ProbeRequest,
            Class::Storage => MessageKind::OperateEntry,
            Class::E2e => MessageKind::StreamFrame,
            Class::Application => MessageKind::Custom,
        }
    }

    /// The kind's traffic class.
    #[must_use]
    pub const fn class(self) -> Class {
        use MessageKind as K;
        match self {
            K::ConnectRequest
            | K::ConnectReport
            | K::FindSuccessorRequest
            | K::FindSuccessorReport
            | K::NotifyPredecessor
            | K::ProbeRequest
            | K::ProbeOffer
            | K::TopologyRequest
            | K::TopologyReport
            | K::ProbeAcknowledgement => Class::Control,
            K::SearchEntry | K::FoundEntry | K::OperateEntry | K::SyncEntries | K::SyncEntriesReport => {
                Class::Storage
            }
            K::HandshakeRequest | K::HandshakeResponse | K::StreamFrame => Class::E2e,
            K::Custom | K::Chunk => Class::Application,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_first_byte_and_an_unknown_one_is_refused() {
        let class = |byte: u8| MessageKind::of(&[byte, 0xff]).map(MessageKind::class);
        let table: [(&[u8], Class); 4] = [
            (&[0, 1, 2, 3, 4, 5, 6, 16, 17, 19], Class::Control),
            (&[7, 8, 9, 10, 11], Class::Storage),
            (&[13, 14, 15], Class::E2e),
            (&[12, 18], Class::Application),
        ];
        let mut known = Vec::new();
        for (bytes, expected) in table {
            for byte in bytes {
                assert_eq!(class(*byte), Ok(expected), "kind {byte}");
                known.push(*byte);
            }
        }
        for byte in (0..=u8::MAX).filter(|byte| !known.contains(byte)) {
            assert_eq!(class(byte), Err(InvalidMessage { first: Some(byte) }));
        }
        assert_eq!(MessageKind::of(&[]), Err(InvalidMessage { first: None }));
    }

    #[test]
    fn the_plain_kind_of_a_class_has_that_class() {
        assert!(Class::ALL.iter().all(|class| MessageKind::plain(*class).class() == *class));
    }
}
