//! The seed's sizes, and the hand-written encoding against the layout.

use super::*;
use crate::identity::Did;
use crate::streams::key::{Class, NetworkId};
use proptest::prelude::*;

fn widest_key() -> StreamKey {
    StreamKey {
        network_id: NetworkId(u32::MAX),
        origin: Did([0xff; 20]),
        destination: Did([0xee; 20]),
        class: Class::Application,
    }
}

fn full_window() -> Window {
    let high = u64::MAX;
    let mut window = Window::first(Sequence(high), [1; 32]);
    for below in 1..32 {
        window.observe(Sequence(high - below), &[2; 32]);
    }
    window
}

/// The longest encoding of an instant of 128 bits; in memory an instant has 64, whose longest is nine bytes shorter.
const INSTANT_SLACK_BYTES: usize = 19 - 10;

#[test]
fn the_sizes_are_the_seeds() {
    let mut key = Vec::new();
    put_key(&mut key, &widest_key());
    assert_eq!(key.len(), 92);
    assert_eq!(KEY_MAX_BYTES, 92);
    assert_eq!(postcard::to_allocvec(&u128::MAX).unwrap().len(), 19);

    let empty = |window: &Window| {
        encode_receiver(
            &widest_key(),
            window,
            &[],
            Introducer::Slot(SlotIndex::new(u16::MAX)),
            WallMs(u64::MAX),
        )
        .len()
    };
    let one_slot = Window::first(Sequence(u64::MAX), [1; 32]);
    assert_eq!(empty(&full_window()) - empty(&one_slot), 31 * 32);
    let around_window = 1 + 92 + 1 + (23 - INSTANT_SLACK_BYTES);
    assert_eq!(empty(&full_window()) - around_window, 1_066);
    assert_eq!(WINDOW_MAX_BYTES, 1_066);

    let entry = CustodyEntry { sequence: Sequence(u64::MAX), digest: [3; 32], spent: WallMs(u64::MAX) };
    let with = |count| {
        let custody = vec![entry; count];
        encode_receiver(
            &widest_key(),
            &full_window(),
            &custody,
            Introducer::Slot(SlotIndex::new(u16::MAX)),
            WallMs(u64::MAX),
        )
    };
    assert_eq!(with(1).len() - with(0).len(), 61 - INSTANT_SLACK_BYTES);
    assert_eq!(CUSTODY_ENTRY_MAX_BYTES, 61);
    assert_eq!(CHARGE_MAX_BYTES, 1 + 3 + 19);

    let widest = with(64).len() + 65 * INSTANT_SLACK_BYTES;
    assert_eq!(widest, 5_087);
    assert_eq!(RECEIVER_RECORD_MAX_BYTES, widest + 2);
    assert_eq!(RECEIVER_RECORD_MAX_BYTES, 5_089);

    assert_eq!(encode_sender(&widest_key(), Sequence(u64::MAX)).len(), 103);
    assert_eq!(SENDER_RECORD_MAX_BYTES, 103);
}

#[test]
fn a_full_store_has_the_seeds_bound() {
    assert_eq!(STORAGE_KEY_PREFIX.len(), 36);
    let sender_key = storage_key(Table::Sender, &widest_key()).len();
    let receiver_key = storage_key(Table::Receiver, &widest_key()).len();
    assert_eq!((sender_key, receiver_key), (228, 230));
    let sender_pair = 2 + sender_key + 1 + SENDER_RECORD_MAX_BYTES;
    let receiver_pair =
        2 + receiver_key + RECEIVER_RECORD_MAX_BYTES - CUSTODY_MAX_ENTRIES * CUSTODY_ENTRY_MAX_BYTES;
    assert_eq!((sender_pair, receiver_pair), (334, 1_417));
    let custody = CUSTODY_MAX_ENTRIES * CUSTODY_ENTRY_MAX_BYTES;
    assert_eq!(16_384 * (sender_pair + receiver_pair) + custody, 28_692_288);
}

#[test]
fn a_storage_key_is_prefix_table_and_hex() {
    let key = StreamKey {
        network_id: NetworkId(1),
        origin: Did([0xab; 20]),
        destination: Did([0; 20]),
        class: Class::E2e,
    };
    let hex_of_did =
        |did: &str| format!("2a{}", did.bytes().map(|byte| format!("{byte:02x}")).collect::<String>());
    let expected = format!(
        "groundhog:transaction-replay:streams:receiver:01{}{}02",
        hex_of_did(&format!("0x{}", "ab".repeat(20))),
        hex_of_did(&format!("0x{}", "00".repeat(20))),
    );
    assert_eq!(&*storage_key(Table::Receiver, &key), expected);
}

#[test]
fn what_is_not_a_record_says_why() {
    let good = encode_receiver(&widest_key(), &full_window(), &[], Introducer::Inbox, WallMs(5));
    assert!(decode(&good).is_ok());
    assert_eq!(decode(&good[..good.len() - 1]), Err(RecordError::Undecodable));
    assert_eq!(decode(&[&good[..], &[0]].concat()), Err(RecordError::Undecodable));
    assert_eq!(decode(&[]), Err(RecordError::Undecodable));
    assert_eq!(decode(&[2]), Err(RecordError::Undecodable));

    let layout = |high, accepted, custody, spent: u128| {
        let layout = (1u8, widest_key(), (Sequence(high), accepted), custody, Introducer::Own, spent);
        postcard::to_allocvec(&layout).unwrap()
    };
    let entry = CustodyEntry { sequence: Sequence(1), digest: [0; 32], spent: WallMs(1) };
    let mut slots = [None; 32];
    let highest_empty = InvalidWindow::HighestEmpty { high: Sequence(7) };
    assert_eq!(decode(&layout(7, slots, vec![], 1)), Err(RecordError::InvalidWindow(highest_empty)));
    slots[31] = Some([1; 32]);
    assert!(decode(&layout(7, slots, vec![entry; 64], 1)).is_ok());
    let long = RecordError::CustodyTooLong { entries: 65 };
    assert_eq!(decode(&layout(7, slots, vec![entry; 65], 1)), Err(long));
    assert!(decode(&layout(7, slots, vec![], u128::from(u64::MAX))).is_ok());
    assert_eq!(decode(&layout(7, slots, vec![], u128::from(u64::MAX) + 1)), Err(RecordError::Undecodable));
}

#[test]
fn a_record_of_a_build_without_charges_says_so_and_is_never_read() {
    let full = encode_receiver(&widest_key(), &full_window(), &[], Introducer::Own, WallMs(9));
    let charge = 1 + 1;
    let bare = &full[..full.len() - charge];
    assert_eq!(decode(bare), Err(RecordError::WithoutCharge), "key, window and custody");
    assert_eq!(decode(&bare[..bare.len() - 1]), Err(RecordError::WithoutCharge), "key and window");
    assert_eq!(decode(&bare[..bare.len() - 2]), Err(RecordError::Undecodable), "half a window");
    assert_eq!(decode(&full[..full.len() - 1]), Err(RecordError::Undecodable), "half a charge");
}

#[test]
fn a_storage_key_is_read_as_it_was_written_and_nothing_else_is() {
    let key = widest_key();
    for table in [Table::Sender, Table::Receiver] {
        let text = storage_key(table, &key);
        assert_eq!(parse_storage_key(&text), Some((table, key)));
        for wrong in [
            text.to_uppercase(),
            text[..text.len() - 1].to_owned(),
            text[..text.len() - 2].to_owned(),
            format!("{text}00"),
            text.replace("er:", "er;"),
            SHARED_SNAPSHOT_KEY.to_owned(),
            String::new(),
        ] {
            assert_eq!(parse_storage_key(&wrong), None, "{wrong}");
        }
    }
}

fn keys() -> impl Strategy<Value = StreamKey> {
    (any::<u32>(), any::<[u8; 20]>(), any::<[u8; 20]>(), proptest::sample::select(&Class::ALL[..])).prop_map(
        |(network, origin, destination, class)| StreamKey {
            network_id: NetworkId(network),
            origin: Did(origin),
            destination: Did(destination),
            class,
        },
    )
}

fn introducers() -> impl Strategy<Value = Introducer> {
    prop_oneof![
        any::<u16>().prop_map(|slot| Introducer::Slot(SlotIndex::new(slot))),
        Just(Introducer::Inbox),
        Just(Introducer::Own)
    ]
}

proptest! {
    #[test]
    fn records_are_the_layouts_and_decode_to_themselves(
        key in keys(),
        leased in any::<u64>(),
        steps in proptest::collection::vec((0u64..80, any::<u8>()), 1..60),
        custody in proptest::collection::vec((any::<u64>(), any::<u8>(), any::<u64>()), 0..5),
        introducer in introducers(),
        spent in any::<u64>(),
    ) {
        let sender = encode_sender(&key, Sequence(leased));
        prop_assert_eq!(&sender, &postcard::to_allocvec(&Layout::Sender(key, Sequence(leased))).unwrap());
        prop_assert_eq!(decode(&sender), Ok(Stored::Sender { key, leased: Sequence(leased) }));

        let mut window = Window::first(Sequence(steps[0].0), [0; 32]);
        for (sequence, seed) in steps {
            window.observe(Sequence(sequence), &[seed; 32]);
        }
        let entry = |(sequence, seed, spent)| CustodyEntry {
            sequence: Sequence(sequence), digest: [seed; 32], spent: WallMs(spent),
        };
        let custody: Vec<_> = custody.into_iter().map(entry).collect();
        let receiver = encode_receiver(&key, &window, &custody, introducer, WallMs(spent));
        let accepted = window.slots().map(|slot| slot.copied());
        let layout = LayoutWindow { high: window.high(), accepted };
        let layout = Layout::Receiver(key, Box::new(layout), custody.clone(), introducer, WallMs(spent));
        prop_assert_eq!(&receiver, &postcard::to_allocvec(&layout).unwrap());
        let expected = Stored::Receiver { key, window, custody, introducer, spent: WallMs(spent) };
        prop_assert_eq!(decode(&receiver), Ok(expected));
    }
}
