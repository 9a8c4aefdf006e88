//! Positions on the ring of 2^160, and the distance clockwise from one to another.

use groundhog_engine::identity::Did;

/// Bits of a position.
pub const BITS: u32 = 160;

/// A position: a DID read as a number, most significant byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    high: u32,
    low: u128,
}

/// How far it is from one position clockwise to another: 0 to 2^160 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance(Position);

impl Distance {
    /// No distance at all.
    pub const ZERO: Self = Self(Position { high: 0, low: 0 });

    /// 2^`exponent`.
    ///
    /// # Panics
    /// When the exponent is 160 or more.
    #[must_use]
    pub const fn power(exponent: u32) -> Self {
        assert!(exponent < BITS, "a position has 160 bits");
        Self(if exponent < 128 {
            Position { high: 0, low: 1 << exponent }
        } else {
            Position { high: 1 << (exponent - 128), low: 0 }
        })
    }
}

impl Position {
    /// Where an account stands.
    #[must_use]
    pub fn of(did: &Did) -> Self {
        let (high, low) = did.0.split_at(4);
        Self {
            high: u32::from_be_bytes(high.try_into().expect("four bytes")),
            low: u128::from_be_bytes(low.try_into().expect("sixteen bytes")),
        }
    }

    /// The way clockwise from here to there.
    #[must_use]
    pub const fn to(self, there: Self) -> Distance {
        let (low, borrow) = there.low.overflowing_sub(self.low);
        Distance(Self { high: there.high.wrapping_sub(self.high).wrapping_sub(borrow as u32), low })
    }

    /// The position so far clockwise from here.
    #[must_use]
    pub const fn plus(self, distance: Distance) -> Self {
        let (low, carry) = self.low.overflowing_add(distance.0.low);
        Self { high: self.high.wrapping_add(distance.0.high).wrapping_add(carry as u32), low }
    }

    /// Whether it lies in (`predecessor`, `own`]: what a member with that predecessor answers for. A member that is its
    /// own predecessor is alone and answers for everything.
    #[must_use]
    pub fn is_answered_by(self, predecessor: Self, own: Self) -> bool {
        predecessor == own || (self != predecessor && predecessor.to(self) <= predecessor.to(own))
    }
}
