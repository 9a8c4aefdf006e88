//! What a scenario says: the distributions that plans are drawn from. Each key stands here once, with its meaning, its
//! default and its range; readers of scenario files learn all three from here.
//!
//! Promise: every key has a range, so that no drawn value can be refused by the plan's format.

mod faults;
mod keys;
mod machines;
mod people;
mod traffic;

pub use keys::{Defaults, Key, KeySource};

use super::dice::{Dice, Draw};
use super::profile::{Crypto, DiskProfile};
use faults::{Crashes, Disks, Network, Scenes};
use machines::{Bounds, Clocks, Handlers, Machines, Time};
use people::{Adversaries, RingKeys, StoreActs};
use std::collections::BTreeMap;
use traffic::{Links, Load, Mail, Peers};

macro_rules! sections {
    ($( #[doc = $about:literal] $name:ident $field:ident; )*) => {
        /// Every section of a scenario.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Sections {
            $( #[doc = $about] pub $field: $name, )*
        }

        impl Sections {
            /// Reads every key of every section, in the order of their definition.
            ///
            /// # Errors
            /// The first error of the source.
            pub fn read<S: KeySource>(source: &mut S) -> Result<Self, S::Error> {
                Ok(Self { $( $field: $name::read(source)?, )* })
            }
        }
    };
}

sections! {
    /// How long a run is, in simulated time.
    Time time;
    /// What the machines are like.
    Machines machines;
    /// The engines' bounds.
    Bounds engines;
    /// Which links exist and what they are like. Neighbours on a ring are always linked.
    Links links;
    /// What the nodes send.
    Load load;
    /// Deaths of nodes.
    Crashes crashes;
    /// Faults of disks.
    Disks disks;
    /// Faults of links.
    Network network;
    /// Scenes of overtaking: one class, or one channel, stands still while traffic beside it goes on.
    Scenes scenes;
    /// Faults of handlers and processors.
    Handlers handlers;
    /// Clocks. Whatever is drawn is cut so that any two clocks differ by at most the tolerance over the whole run.
    Clocks clocks;
    /// What connections carry beside plain frames, and connections that are torn down.
    Peers peers;
    /// The ring that nodes live on: any two members can be linked, each pair within the bounds of the links' section.
    RingKeys ring;
    /// Adversaries, who record every frame.
    Adversaries adversaries;
    /// Acts of an operator on stores, and their damage at rest. Each strikes another node; its stream goes on after it.
    StoreActs store;
    /// Mail: what is held for nodes that are away, and what they do with it.
    Mail mail;
}

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it is for, in one sentence.
    pub about: String,
    /// How many nodes.
    pub nodes: u32,
    /// The number of nodes that the counts of bursts, hubs, chords and faults are written for; another number of nodes
    /// scales them in proportion.
    pub counts_for: u32,
    /// Whether signatures are real.
    pub crypto: Vec<(Crypto, u32)>,
    /// How disks keep what is not flushed.
    pub disk: Vec<(DiskProfile, u32)>,
    /// Everything else.
    pub sections: Sections,
    /// Of a thousand seeds of a series over several scenarios, so many are run.
    pub seeds_per_thousand: u32,
    /// The ceiling of each known limit in one run.
    pub limits: BTreeMap<String, u64>,
}

impl Scenario {
    /// This scenario with nothing in it but its load and its scenes, on links without a bound, and scenes that last.
    #[must_use]
    pub fn quieted(&self) -> Self {
        let Ok(calm) = Sections::read(&mut Defaults);
        let mut quiet = self.clone();
        let sections = &mut quiet.sections;
        sections.crashes = calm.crashes;
        sections.disks = calm.disks;
        sections.network = calm.network;
        sections.handlers = calm.handlers;
        sections.clocks = calm.clocks;
        sections.links.bandwidth_bytes_per_s = Draw::Fixed(0);
        sections.links.jitter_us = calm.links.jitter_us;
        sections.load.bytes = calm.load.bytes;
        sections.time.chaos_ms = sections.scenes.quiet_chaos_ms.clone();
        sections.scenes.lasts_ms = sections.scenes.quiet_chaos_ms.clone();
        quiet
    }

    /// A count drawn for this scenario's number of nodes.
    pub fn scaled(&self, draw: &Draw, dice: &mut Dice) -> u64 {
        self.for_nodes(draw.roll_u64(dice))
    }

    /// A count of the file for this scenario's number of nodes: never zero where the file's is not.
    #[must_use]
    pub fn for_nodes(&self, count: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(self.nodes) / u128::from(self.counts_for.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX).max(count.min(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Keys(Vec<Key>);

    impl KeySource for Keys {
        type Error = std::convert::Infallible;

        fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
            self.0.push(key.clone());
            Ok(Draw::Fixed(key.default))
        }
    }

    #[test]
    fn every_default_lies_in_its_range_and_every_key_says_what_it_is() {
        let mut keys = Keys(Vec::new());
        let Ok(_) = Sections::read(&mut keys);
        assert!(keys.0.len() > 80);
        for key in keys.0 {
            assert!(key.range.contains(&key.default), "{}.{}", key.section, key.name);
            assert!(key.about.ends_with('.') && !key.about.contains("  "), "{}.{}", key.section, key.name);
        }
    }
}
