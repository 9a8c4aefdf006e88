//! Keyed draws: the world's randomness, by identity and never by order.
//!
//! Promise: a draw is a function of the plan's seed, its purpose and the identity of what it is drawn for. Cutting one
//! message, operation or fault from a plan moves no other's draw. Integers only; golden tests pin every value, since a
//! changed mixing would move every run.

/// What a draw decides. Two purposes of one identity are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Purpose {
    /// A frame's latency on its link.
    Latency = 1,
    /// Whether a frame is lost.
    Loss = 2,
    /// Whether a frame is delivered twice.
    Duplicate = 3,
    /// How much later the second delivery is.
    DuplicateLatency = 4,
    /// How long a receive credit takes back to the sender.
    CreditLatency = 5,
    /// How long a delivery notice takes back to the sender.
    NoticeLatency = 6,
    /// Whether an unflushed change survives a power failure.
    DiskSurvival = 7,
    /// How long a disk operation takes.
    DiskLatency = 8,
    /// Which part of an interrupted operation took effect.
    DiskPartly = 9,
    /// Which sector turns bad.
    DiskSector = 10,
    /// Which bit flips.
    DiskBit = 11,
    /// When the kernel writes back.
    DiskWriteBack = 12,
    /// Keys of the nodes' accounts and delegatees.
    Keys = 13,
    /// Data of a message.
    Payload = 14,
    /// How long a handler runs.
    Handler = 15,
    /// Anything that a generator of plans decides.
    Generate = 16,
    /// What becomes of an operation that is under way when its life ends.
    DiskUnderWay = 17,
}

/// The draws of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    seed: u64,
}

/// Something that draws are made for, such as one copy of one message on one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(u64);

/// One drawn value. Use it for one decision only: two decisions from one draw depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u64);

const ODD: [u64; 4] =
    [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];

/// High and low half of the whole product, folded: every bit of each factor reaches every bit of the result.
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The finaliser of SplitMix64: a bijection in which every bit of `x` reaches every bit of the result.
const fn avalanche(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Draws {
    /// The draws of the run with this seed (`Plan::seed`).
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed: avalanche(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) }
    }

    /// The identity that these words spell. Words of different lengths never spell the same one by construction.
    #[inline]
    #[must_use]
    pub const fn identity<const N: usize>(self, words: [u64; N]) -> Identity {
        let mut state = self.seed ^ (N as u64).wrapping_mul(ODD[3]);
        let mut at = 0;
        while at + 1 < N {
            state = fold(words[at] ^ ODD[0], words[at + 1] ^ state);
            at += 2;
        }
        if at < N {
            state = fold(words[at] ^ ODD[1], state ^ ODD[2]);
        }
        Identity(state)
    }

    /// One draw for one purpose and the identity that `words` spell.
    #[inline]
    #[must_use]
    pub const fn draw<const N: usize>(self, purpose: Purpose, words: [u64; N]) -> Draw {
        self.identity(words).draw(purpose)
    }
}

impl Identity {
    /// This identity with one word more, for one whose words are not known at once.
    #[inline]
    #[must_use]
    pub const fn with(self, word: u64) -> Self {
        Self(fold(word ^ ODD[2], self.0 ^ ODD[3]))
    }

    /// One draw for one purpose.
    #[inline]
    #[must_use]
    pub const fn draw(self, purpose: Purpose) -> Draw {
        Draw(avalanche(self.0.wrapping_add((purpose as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))))
    }

    /// The `nth` draw of many for one purpose, such as one for each sector.
    #[inline]
    #[must_use]
    pub const fn nth(self, purpose: Purpose, nth: u64) -> Draw {
        Draw(avalanche(self.draw(purpose).0.wrapping_add(nth.wrapping_mul(ODD[1]))))
    }
}

impl Draw {
    /// All 64 bits.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// A number below `bound`, by multiply and shift: no value is likelier than another by more than `bound / 2^64`.
    ///
    /// # Panics
    /// When `bound` is 0.
    #[inline]
    #[must_use]
    pub const fn below(self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below zero");
        (((self.0 as u128) * (bound as u128)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    ///
    /// # Panics
    /// When `low` is above `high`.
    #[inline]
    #[must_use]
    pub const fn between(self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "a range runs upwards");
        match (high - low).checked_add(1) {
            Some(span) => low + self.below(span),
            None => self.0,
        }
    }

    /// Whether something happens that happens `per_mille` times in a thousand; never at 0, always from 1,000.
    #[inline]
    #[must_use]
    pub const fn chance_per_mille(self, per_mille: u16) -> bool {
        self.below(1_000) < per_mille as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Purpose; 17] = [
        Purpose::Latency,
        Purpose::Loss,
        Purpose::Duplicate,
        Purpose::DuplicateLatency,
        Purpose::CreditLatency,
        Purpose::NoticeLatency,
        Purpose::DiskSurvival,
        Purpose::DiskLatency,
        Purpose::DiskPartly,
        Purpose::DiskSector,
        Purpose::DiskBit,
        Purpose::DiskWriteBack,
        Purpose::Keys,
        Purpose::Payload,
        Purpose::Handler,
        Purpose::Generate,
        Purpose::DiskUnderWay,
    ];

    #[test]
    fn draws_are_pinned() {
        let draws = Draws::new(7);
        let values = [
            draws.draw(Purpose::Latency, []).bits(),
            draws.draw(Purpose::Latency, [1]).bits(),
            draws.draw(Purpose::Loss, [1, 2]).bits(),
            draws.draw(Purpose::DiskSurvival, [1, 2, 3]).bits(),
            draws.draw(Purpose::DiskLatency, [1, 2, 3, 4, 5, 6]).bits(),
            draws.identity([1, 2, 3]).nth(Purpose::DiskPartly, 5).bits(),
            Draws::new(u64::MAX).draw(Purpose::Generate, [u64::MAX; 6]).bits(),
            draws.identity([1, 2]).with(3).draw(Purpose::DiskSurvival).bits(),
        ];
        // Computed by another implementation of the same rules, in another language.
        assert_eq!(
            values,
            [
                0xb8b4_c297_7eab_ce45,
                0x8887_c739_b067_51f8,
                0x6ce9_93d3_c862_3d68,
                0x8fba_2b1f_d285_a9d5,
                0x8f39_a3df_f5ae_940f,
                0x6866_db84_0058_88c8,
                0x40e0_e62e_63d2_de62,
                0xceb0_96f7_979b_6253
            ]
        );
    }

    #[test]
    fn every_purpose_of_one_identity_draws_its_own_value() {
        let identity = Draws::new(1).identity([0, 0, 0]);
        let distinct: std::collections::BTreeSet<u64> =
            ALL.iter().map(|purpose| identity.draw(*purpose).bits()).collect();
        assert_eq!(distinct.len(), ALL.len());
    }

    #[test]
    fn a_length_is_part_of_an_identity() {
        let draws = Draws::new(1);
        assert_ne!(draws.identity([0]), draws.identity([0, 0]));
        assert_ne!(draws.identity([0, 0]), draws.identity([0, 0, 0]));
        assert_ne!(draws.identity([]), draws.identity([0]));
    }

    #[test]
    fn small_neighbouring_identities_fill_the_range_evenly() {
        let draws = Draws::new(3);
        let mut buckets = [0u32; 16];
        for node in 0..64 {
            for sequence in 0..1_000 {
                let draw = draws.draw(Purpose::Latency, [node, 3, sequence]);
                buckets[usize::try_from(draw.below(16)).unwrap()] += 1;
            }
        }
        // 64,000 draws: 4,000 a bucket, standard deviation 61; six of them on each side.
        assert!(buckets.iter().all(|count| count.abs_diff(4_000) < 370), "{buckets:?}");
    }

    #[test]
    fn chances_are_met_and_their_ends_are_certain() {
        let draws = Draws::new(11);
        let share = |per_mille| {
            (0..10_000u64).filter(|i| draws.draw(Purpose::Loss, [*i]).chance_per_mille(per_mille)).count()
        };
        assert_eq!(share(0), 0);
        assert_eq!(share(1_000), 10_000);
        assert!(share(250).abs_diff(2_500) < 260, "{}", share(250));
    }

    #[test]
    fn flipping_any_bit_of_any_word_flips_about_half_the_draw() {
        let draws = Draws::new(5);
        let words = [17u64, 4, 990, 2, 0, 1];
        let before = draws.draw(Purpose::Latency, words).bits();
        let mut flipped = 0;
        for word in 0..words.len() {
            for bit in 0..64 {
                let mut other = words;
                other[word] ^= 1 << bit;
                let changed = (before ^ draws.draw(Purpose::Latency, other).bits()).count_ones();
                assert!(changed > 8, "word {word} bit {bit} moved {changed} bits");
                flipped += changed;
            }
        }
        assert!((flipped / 384).abs_diff(32) <= 1, "{} of 64 on average", flipped / 384);
    }

    proptest! {
        #[test]
        fn below_and_between_stay_inside(seed: u64, word: u64, a: u64, b: u64) {
            let draw = Draws::new(seed).draw(Purpose::Latency, [word]);
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(draw.below(high.max(1)) < high.max(1));
            let within = draw.between(low, high);
            prop_assert!(low <= within && within <= high);
        }
    }
}
