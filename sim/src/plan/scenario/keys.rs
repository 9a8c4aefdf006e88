//! Keys as a reader needs them, and how sections are made of them.

use crate::plan::dice::Draw;
use std::ops::RangeInclusive;

/// One key of a section, as a reader needs it.
#[derive(Clone, Debug)]
pub struct Key {
    /// The section's name.
    pub section: &'static str,
    /// The key's name.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Which values it may take.
    pub range: RangeInclusive<i64>,
    /// What it is where a file leaves it out.
    pub default: i64,
}

/// Where the values of keys come from.
pub trait KeySource {
    /// Why a value cannot be had.
    type Error;
    /// The value of one key.
    ///
    /// # Errors
    /// When the source holds something that is no distribution within the key's range.
    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error>;
}

/// The values of every key where a file says nothing.
#[derive(Debug)]
pub struct Defaults;

impl KeySource for Defaults {
    type Error = std::convert::Infallible;

    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
        Ok(Draw::Fixed(key.default))
    }
}

pub(super) const COUNT: RangeInclusive<i64> = 0..=1_000_000;
pub(super) const PER_MILLE: RangeInclusive<i64> = 0..=1_000;
/// Seven days.
pub(super) const TIME_MS: RangeInclusive<i64> = 0..=604_800_000;
pub(super) const TIME_US: RangeInclusive<i64> = 0..=604_800_000_000;
pub(super) const SIZE: RangeInclusive<i64> = 0..=i64::MAX;

/// A section: its keys with their meanings, defaults and ranges, and how all of them are read.
macro_rules! section {
    ($( #[doc = $about:literal] )* $name:ident $field:ident { $( #[doc = $key_about:literal] $key:ident = $default:literal, $range:expr; )* }) => {
        $( #[doc = $about] )*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $( #[doc = $key_about] pub $key: Draw, )*
        }

        impl $name {
            pub(super) fn read<S: KeySource>(source: &mut S) -> Result<Self, S::Error> {
                Ok(Self { $( $key: source.draw(&Key {
                    section: stringify!($field),
                    name: stringify!($key),
                    about: $key_about.trim_ascii(),
                    range: $range,
                    default: $default,
                })?, )* })
            }
        }
    };
}
pub(super) use section;
