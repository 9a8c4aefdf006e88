use super::*;
use crate::identity::Did;
use crate::streams::key::NetworkId;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;

fn stream(origin: u64, class: Class) -> StreamKey {
    let mut did = [0; 20];
    did[12..].copy_from_slice(&origin.to_be_bytes());
    StreamKey { network_id: NetworkId(1), origin: Did(did), destination: Did([9; 20]), class }
}

fn config(limits: LaneQuota) -> QuotaConfig {
    QuotaConfig::new([limits; 4]).unwrap()
}

fn at(ms: u64) -> MonotonicNs {
    MonotonicNs(ms * 1_000_000)
}

fn charge(quota: &mut OriginQuota, origin: u64, bytes: u64, now: MonotonicNs) -> &'static str {
    let (result, _) = quota.reserve(&stream(origin, Class::Application), bytes, MessageLimit::Enforced, now);
    result.map_or_else(|error| error.id(), |()| "admitted")
}

#[test]
fn a_stream_that_was_silent_sends_a_burst_and_then_its_rate() {
    let mut quota = OriginQuota::new(&QuotaConfig::SEED);
    let admitted = (0..100).filter(|_| charge(&mut quota, 1, 10, at(5_000)) == "admitted").count();
    assert_eq!(admitted, 32);
    assert_eq!(charge(&mut quota, 1, 10, at(5_124)), "message-rate-exhausted");
    assert_eq!(charge(&mut quota, 1, 10, at(5_125)), "admitted");
    assert_eq!(charge(&mut quota, 1, 10, at(5_125)), "message-rate-exhausted");
    assert_eq!(charge(&mut quota, 2, 10, at(5_125)), "admitted", "another origin has its own buckets");
}

#[test]
fn lanes_have_buckets_of_their_own() {
    let mut quota = OriginQuota::new(&QuotaConfig::SEED);
    for class in Class::ALL {
        let mut reserve = || quota.reserve(&stream(1, class), 0, MessageLimit::Enforced, at(1_000)).0;
        assert!((0..32).all(|_| reserve().is_ok()), "{class}");
        assert!(reserve().is_err(), "{class}");
    }
}

#[test]
fn bytes_are_counted_too_and_the_message_test_comes_first() {
    let limits = LaneQuota { message_burst: 2, byte_burst: 100, bytes_per_s: 10, ..LaneQuota::SEED };
    let mut quota = OriginQuota::new(&config(limits));
    assert_eq!(charge(&mut quota, 1, 101, at(1_000)), "byte-rate-exhausted");
    assert_eq!(quota.records(Class::Application), 0, "a first admission that is rejected leaves no record");
    assert_eq!(charge(&mut quota, 1, 100, at(1_000)), "admitted");
    let key = stream(1, Class::Application);
    let (result, _) = quota.reserve(&key, 6, MessageLimit::Enforced, at(1_500));
    let expected = QuotaError::ByteRateExhausted { stream: key, cost_bytes: 6, available_bytes: 5 };
    assert_eq!(result, Err(expected));
    assert_eq!(charge(&mut quota, 1, 5, at(1_500)), "admitted", "what was rejected consumed nothing");
    assert_eq!(
        charge(&mut quota, 1, 0, at(1_500)),
        "admitted",
        "four message tokens had been gained, two kept"
    );
    assert_eq!(charge(&mut quota, 1, 1_000, at(1_500)), "message-rate-exhausted");
}

#[test]
fn a_message_that_is_as_long_as_any_fits_a_full_bucket() {
    let mut quota = OriginQuota::new(&QuotaConfig::SEED);
    assert_eq!(charge(&mut quota, 1, 60_000_000, at(0)), "admitted");
    assert_eq!(charge(&mut quota, 1, 60_000_000, at(0)), "byte-rate-exhausted");
}

#[test]
fn a_delegated_message_skips_the_message_bucket_alone() {
    let limits = LaneQuota { message_burst: 1, byte_burst: 3 * 512, bytes_per_s: 1, ..LaneQuota::SEED };
    let mut quota = OriginQuota::new(&config(limits));
    let key = stream(1, Class::Application);
    for expected in [true, true, true, false] {
        let (result, _) = quota.reserve(&key, 1, MessageLimit::Delegated, at(1_000));
        assert_eq!(result.is_ok(), expected, "each pays 512 bytes at least");
    }
    let mut quota = OriginQuota::new(&config(limits));
    assert!(quota.reserve(&key, 1_000, MessageLimit::Delegated, at(1_000)).0.is_ok());
    assert!(
        quota.reserve(&key, 500, MessageLimit::Enforced, at(1_000)).0.is_ok(),
        "its message token is there"
    );
    assert!(quota.reserve(&key, 0, MessageLimit::Enforced, at(1_000)).0.is_err());
}

#[test]
fn a_clock_that_goes_backwards_lets_nothing_pass_and_changes_nothing() {
    let mut quota = OriginQuota::new(&QuotaConfig::SEED);
    assert_eq!(charge(&mut quota, 1, 0, at(2_000)), "admitted");
    let before: Vec<_> = quota.encoded().collect();
    assert_eq!(charge(&mut quota, 1, 0, at(1_000)), "quota-clock-regressed");
    assert_eq!(quota.encoded().collect::<Vec<_>>(), before);
    assert_eq!(charge(&mut quota, 1, 0, at(2_000)), "admitted");
}

#[test]
fn a_limit_of_zero_is_no_configuration() {
    let zero = |limit: &'static str| ZeroLimit { lane: Class::E2e, limit };
    let cases = [
        (LaneQuota { messages_per_s: 0, ..LaneQuota::SEED }, zero("messages_per_s")),
        (LaneQuota { message_burst: 0, ..LaneQuota::SEED }, zero("message_burst")),
        (LaneQuota { bytes_per_s: 0, ..LaneQuota::SEED }, zero("bytes_per_s")),
        (LaneQuota { byte_burst: 0, ..LaneQuota::SEED }, zero("byte_burst")),
        (LaneQuota { records: 0, ..LaneQuota::SEED }, zero("records")),
    ];
    for (limits, expected) in cases {
        let lanes = [LaneQuota::SEED, LaneQuota::SEED, limits, LaneQuota::SEED];
        assert_eq!(QuotaConfig::new(lanes), Err(expected));
        assert!(expected.to_string().contains("lane e2e"));
    }
}

#[test]
fn a_full_table_gives_the_place_of_the_stream_that_is_full_and_was_touched_longest_ago() {
    let limits = LaneQuota { records: 3, ..LaneQuota::SEED };
    let mut quota = OriginQuota::new(&config(limits));
    assert_eq!(charge(&mut quota, 1, 60_000_000, at(0)), "admitted");
    assert_eq!(charge(&mut quota, 3, 0, at(1_000)), "admitted");
    assert_eq!(charge(&mut quota, 2, 0, at(1_000)), "admitted");
    assert_eq!(charge(&mut quota, 4, 0, at(1_100)), "quota-table-capacity-exhausted");
    let held = |quota: &OriginQuota| {
        let lane = &quota.lanes[Class::Application.index()];
        let mut origins: Vec<u8> = lane.iter().map(|(key, _)| key.origin.0[19]).collect();
        origins.sort_unstable();
        origins
    };
    assert_eq!(charge(&mut quota, 4, 0, at(1_125)), "admitted");
    assert_eq!(held(&quota), [1, 3, 4], "1 is older and still fills; of 2 and 3 the lower key goes");
    assert_eq!(charge(&mut quota, 5, 0, at(16_000)), "admitted");
    assert_eq!(held(&quota), [3, 4, 5], "now 1 is the oldest that is full");
}

#[test]
fn a_table_that_a_stranger_filled_takes_a_newcomer_within_the_longest_outage() {
    let mut quota = OriginQuota::new(&QuotaConfig::SEED);
    for origin in 0..1_024 {
        assert_eq!(charge(&mut quota, origin, 60_000_000, at(1_000)), "admitted");
    }
    let outage_ns = u64::try_from(LaneQuota::SEED.longest_outage_ns()).unwrap();
    assert_eq!(outage_ns, 16 * SECOND_NS);
    assert_eq!(charge(&mut quota, 5_000, 1, at(1_000)), "quota-table-capacity-exhausted");
    assert_eq!(charge(&mut quota, 5_000, 1, MonotonicNs(SECOND_NS + outage_ns)), "admitted");
    assert_eq!(quota.records(Class::Application), 1_024);
}

#[test]
fn refusals_are_counted_by_lane_and_reason() {
    let mut counters = QuotaCounters::default();
    let stream = stream(1, Class::Storage);
    let (last_refill, now) = (at(2_000), at(1_000));
    for error in [
        QuotaError::MessageRateExhausted { stream },
        QuotaError::MessageRateExhausted { stream },
        QuotaError::ByteRateExhausted { stream, cost_bytes: 2, available_bytes: 1 },
        QuotaError::TableCapacityExhausted { lane: Class::Storage, capacity: 1_024 },
        QuotaError::ClockRegressed { last_refill, now },
    ] {
        *counters.of(Class::Storage, &error) += 1;
    }
    let expected = QuotaCounters {
        message_rate_exhausted: [0, 2, 0, 0],
        byte_rate_exhausted: [0, 1, 0, 0],
        table_capacity_exhausted: [0, 1, 0, 0],
        arithmetic_failure: [0, 1, 0, 0],
    };
    assert_eq!((counters, counters.total()), (expected, 5));
}

/// The same rules without any cleverness: rationals over one denominator, and a search for the victim.
#[derive(Clone, Debug)]
struct Naive {
    limits: LaneQuota,
    records: BTreeMap<StreamKey, (u64, u128, u128)>,
}

impl Naive {
    fn full(&self) -> (u128, u128) {
        let parts = |burst: u64| u128::from(burst) * 1_000_000_000;
        (parts(self.limits.message_burst), parts(self.limits.byte_burst))
    }

    fn as_of(&self, (last, messages, bytes): (u64, u128, u128), now: u64) -> Option<(u128, u128)> {
        let elapsed = u128::from(now.checked_sub(last)?);
        let full = self.full();
        let gain = |rate: u64| elapsed * u128::from(rate);
        Some((
            full.0.min(messages + gain(self.limits.messages_per_s)),
            full.1.min(bytes + gain(self.limits.bytes_per_s)),
        ))
    }

    fn reserve(&mut self, key: &StreamKey, bytes: u64, limit: MessageLimit, now: u64) -> &'static str {
        let known = self.records.get(key).copied();
        let held = match known {
            Some(record) => match self.as_of(record, now) {
                Some(held) => held,
                None => return "quota-clock-regressed",
            },
            None => self.full(),
        };
        let (message_cost, byte_cost) = match limit {
            MessageLimit::Enforced => (1_000_000_000, u128::from(bytes) * 1_000_000_000),
            MessageLimit::Delegated => (0, u128::from(bytes.max(512)) * 1_000_000_000),
        };
        let (word, kept) = if held.0 < message_cost {
            ("message-rate-exhausted", held)
        } else if held.1 < byte_cost {
            ("byte-rate-exhausted", held)
        } else {
            ("admitted", (held.0 - message_cost, held.1 - byte_cost))
        };
        if known.is_none() {
            if word != "admitted" {
                return word;
            }
            if self.records.len() == self.limits.records {
                let is_full = |record: &(u64, u128, u128)| self.as_of(*record, now) == Some(self.full());
                let full = self.records.iter().filter(|(_, record)| is_full(record));
                let Some(victim) = full.map(|(key, record)| (record.0, *key)).min() else {
                    return "quota-table-capacity-exhausted";
                };
                self.records.remove(&victim.1);
            }
        }
        self.records.insert(*key, (now, kept.0, kept.1));
        word
    }

    fn encoded(&self) -> Vec<Vec<u8>> {
        let encode = |(key, record): (&StreamKey, &(u64, u128, u128))| {
            encode_record(key, MonotonicNs(record.0), record.1, record.2)
        };
        sorted(self.records.iter().map(encode).collect())
    }
}

fn sorted(mut records: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    records.sort_unstable();
    records
}

#[derive(Clone, Debug)]
struct Act {
    origin: u64,
    bytes: u64,
    delegated: bool,
    /// Milliseconds that pass before it; now and then the clock goes back.
    pass_ms: i64,
    /// How many of the last reservations are taken back after it.
    undo: usize,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let pass_ms = prop_oneof![6 => 0i64..300, 2 => 300i64..4_000, 1 => -200i64..0];
    let undo = prop_oneof![5 => Just(0usize), 1 => 1usize..5];
    let act = (0u64..8, 0u64..900, proptest::bool::weighted(0.2), pass_ms, undo);
    let act = act.prop_map(|(origin, bytes, delegated, pass_ms, undo)| Act {
        origin,
        bytes,
        delegated,
        pass_ms,
        undo,
    });
    proptest::collection::vec(act, 1..150)
}

proptest! {
    #[test]
    fn every_verdict_every_bucket_and_every_undo_are_those_of_the_naive_rules(acts in acts()) {
        let limits = LaneQuota { messages_per_s: 3, message_burst: 4, bytes_per_s: 500, byte_burst: 1_000, records: 3 };
        let mut quota = OriginQuota::new(&config(limits));
        let mut naive = Naive { limits, records: BTreeMap::new() };
        let mut undos = Vec::new();
        let mut now = 10 * SECOND_NS;
        for act in acts {
            now = now.saturating_add_signed(act.pass_ms * 1_000_000);
            let limit = if act.delegated { MessageLimit::Delegated } else { MessageLimit::Enforced };
            let key = stream(act.origin, Class::Storage);
            let before = naive.clone();
            let expected = naive.reserve(&key, act.bytes, limit, now);
            let (result, undo) = quota.reserve(&key, act.bytes, limit, MonotonicNs(now));
            prop_assert_eq!(result.map_or_else(|error| error.id(), |()| "admitted"), expected);
            match undo {
                Some(undo) => undos.push((undo, before)),
                None => prop_assert_eq!(naive.encoded(), before.encoded(), "nothing changed"),
            }
            for _ in 0..act.undo {
                let Some((undo, before)) = undos.pop() else { break };
                quota.undo(undo);
                naive = before;
            }
            prop_assert_eq!(sorted(quota.encoded().collect()), naive.encoded());
            prop_assert!(quota.records(Class::Storage) <= limits.records);
        }
    }

    #[test]
    fn an_origin_is_never_admitted_more_than_its_burst_and_what_its_rate_gains(
        pauses_ms in proptest::collection::vec(0u64..400, 1..400),
    ) {
        let mut quota = OriginQuota::new(&QuotaConfig::SEED);
        let (mut now_ms, mut admitted) = (0u64, Vec::new());
        for pause_ms in pauses_ms {
            now_ms += pause_ms;
            if charge(&mut quota, 1, 10, MonotonicNs(now_ms * 1_000_000)) == "admitted" {
                admitted.push(now_ms);
            }
        }
        for (first, begin_ms) in admitted.iter().enumerate() {
            for (last, end_ms) in admitted.iter().enumerate().skip(first) {
                let within = (last - first + 1) as u64;
                prop_assert!(within * 1_000 <= 32_000 + 8 * (end_ms - begin_ms), "{within} in {begin_ms}..{end_ms}");
            }
        }
    }
}
