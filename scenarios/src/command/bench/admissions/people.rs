//! Who sends and who receives, and transactions that are signed and verified ahead of their admission.
//!
//! Promise: what is admitted went through both signatures and the engine's own verification, with real Ed25519 keys; none
//! of that happens while an admission is timed.

use groundhog_engine::flaws::Flaws;
use groundhog_engine::host::Machine;
use groundhog_engine::host::native::NativeMachine;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{Crypto, KeyPair, sha256};
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::quota::{LaneQuota, QuotaConfig};
use groundhog_engine::streams::transaction::{Draft, LIFETIME_MAX_MS, Transaction, TransactionId};
use groundhog_engine::streams::verify::{Verified, Verifier};
use groundhog_engine::streams::{STREAM_CAPACITY, StreamsConfig};
use groundhog_engine::units::{Sequence, WallMs};
use std::ops::Range;

/// The overlay of the bench.
pub const NETWORK: NetworkId = NetworkId(1);

/// Data of a transaction, in bytes; its first byte is its kind.
const DATA_BYTES: usize = 64;

/// Whose keys.
#[derive(Clone, Copy, Debug)]
pub enum Person {
    /// The node that admits.
    Receiver,
    /// The peer that hands transactions over.
    Hop,
    /// An origin, by its number.
    Origin(u64),
}

/// `person` under its `delegatee`th delegatee key. Two runs have the same people.
pub fn signer(person: Person, delegatee: u64) -> Signer {
    let (kind, number) = match person {
        Person::Receiver => (0_u64, 0),
        Person::Hop => (1, 0),
        Person::Origin(number) => (2, number),
    };
    let key = |which: u64| {
        let words = [kind, number, which].map(u64::to_be_bytes).concat();
        KeyPair::from_seed(&sha256(&[b"groundhog bench", &words]))
    };
    let (account, key) = (key(0), key(1 + delegatee));
    let always = (WallMs(0), WallMs(u64::MAX));
    let delegation = Delegation::sign(&account, *key.public(), always, NETWORK, Crypto::Ed25519);
    Signer::new(key, delegation)
}

/// How the receiver's streams are set up: as the seed says, with a quota that is asked and never in the way.
pub fn config(receiver: &Signer) -> StreamsConfig {
    let limits = LaneQuota {
        messages_per_s: 1_000_000_000,
        message_burst: 1_000_000_000,
        bytes_per_s: 1 << 40,
        byte_burst: 1 << 40,
        records: STREAM_CAPACITY,
    };
    let quota = Some(QuotaConfig::new([limits; 4]).expect("no limit is zero"));
    StreamsConfig { quota, ..StreamsConfig::new(NETWORK, receiver.account()) }
}

/// What tells one transaction from another.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Its class.
    pub class: Class,
    /// Its place in its stream.
    pub sequence: Sequence,
    /// Its id.
    pub id: TransactionId,
}

/// A transaction of `origin` for `destination`, as `hop` hands it over.
pub fn sign(origin: &Signer, hop: &Signer, destination: Did, content: Content, issued: WallMs) -> Payload {
    let mut data = [0; DATA_BYTES];
    data[0] = MessageKind::plain(content.class) as u8;
    let draft = Draft {
        destination,
        id: content.id,
        sequence: content.sequence,
        reply_via: None,
        data: &data,
        issued,
        lifetime_ms: LIFETIME_MAX_MS,
    };
    let transaction = Transaction::sign(&draft, origin, NETWORK, Crypto::Ed25519);
    Payload::sign(transaction.expect("a plain message within its limits"), hop, NETWORK, Crypto::Ed25519)
}

/// Which streams a load goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A fresh stream for each admission: the worst case, for each writes a new record.
    Fresh,
    /// So many streams that go on, in turn.
    Streams(u32),
}

impl Load {
    /// The origin, class and sequence of the load's `number`th transaction. An origin has a stream of each class.
    fn place(self, number: u64) -> (u64, Class, Sequence) {
        let (stream, sequence) = match self {
            Load::Fresh => (number, 0),
            Load::Streams(streams) => (number % u64::from(streams), number / u64::from(streams)),
        };
        let classes = Class::ALL.len() as u64;
        let class = Class::ALL[usize::try_from(stream % classes).unwrap_or_default()];
        (stream / classes, class, Sequence(sequence))
    }
}

/// Signs and verifies the transactions `numbers` of a load on all cores, in their order.
pub fn prepare(machine: &NativeMachine, load: Load, numbers: Range<u64>) -> Vec<Verified> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let share = (numbers.end - numbers.start).div_ceil(cores).max(1);
    let now = machine.wall_now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|core| {
                let from = (numbers.start + core * share).min(numbers.end);
                let to = (from + share).min(numbers.end);
                scope.spawn(move || prepare_here(load, from..to, now))
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn prepare_here(load: Load, numbers: Range<u64>, now: WallMs) -> Vec<Verified> {
    let (receiver, hop) = (signer(Person::Receiver, 0), signer(Person::Hop, 0));
    let mut verifier = Verifier::new(NETWORK, Crypto::Ed25519, Flaws::NONE);
    let mut origins = std::collections::BTreeMap::new();
    numbers
        .map(|number| {
            let (origin, class, sequence) = load.place(number);
            if load == Load::Fresh {
                // Its streams end with it: only the origin at hand is kept.
                origins.retain(|kept, _| *kept == origin);
            }
            let origin = origins.entry(origin).or_insert_with(|| signer(Person::Origin(origin), 0));
            let id = TransactionId(u128::from(number).to_be_bytes());
            let payload = sign(origin, &hop, receiver.account(), Content { class, sequence, id }, now);
            verifier.verify(payload, now).expect("signed here and now")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_load_uses_each_place_once_and_as_many_streams_as_it_says() {
        for (load, streams) in [(Load::Fresh, 100), (Load::Streams(1), 1), (Load::Streams(7), 7)] {
            let places: Vec<_> = (0..100).map(|number| load.place(number)).collect();
            let all: BTreeSet<_> = places.iter().collect();
            let used: BTreeSet<_> = places.iter().map(|(origin, class, _)| (origin, class)).collect();
            assert_eq!((all.len(), used.len()), (100, streams), "{load:?}");
        }
    }

    #[test]
    fn what_is_prepared_verifies_and_keeps_its_order() {
        let now = WallMs(1_700_000_000_000);
        let prepared = prepare_here(Load::Streams(2), 3..9, now);
        let places: Vec<_> = prepared.iter().map(|verified| verified.transaction().sequence.0).collect();
        assert_eq!(places, [1, 2, 2, 3, 3, 4]);
        assert_eq!(prepared[1].stream(), prepared[3].stream());
        assert_ne!(prepared[0].stream(), prepared[1].stream());
    }
}
