//! The ring of a plan: how its members keep their views, and what the links between any two of them are like.
//!
//! Promise: the link of a pair depends on the seed and the pair alone, whenever it is first needed.

use super::dice::Dice;
use super::{LinkPlan, Plan};
use crate::units::NodeId;
use serde::{Deserialize, Serialize};

/// The most relays that a message may pass, as the seed's system has it.
pub const HOP_BUDGET: u8 = 64;

/// See the module. Every node of the plan is a member whenever it is ready, from the beginning or from its first join on,
/// until it leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingPlan {
    /// Length of a successor list.
    pub successors: u8,
    /// Time between two maintenance passes of a node, by its own clock, in milliseconds.
    pub maintenance_ms: u64,
    /// Hops that a message may take.
    pub hop_budget: u8,
    /// How long what a member answers for takes to get to the one that takes it over, in milliseconds.
    #[serde(default)]
    pub hand_off_ms: u64,
    /// Nodes that are no members when the run begins, in order: each boots at its first join.
    pub outside: Vec<NodeId>,
    /// The links between members.
    pub links: LinkTemplate,
}

/// From the first to the second, both included, each as likely.
pub type Span = (u64, u64);

/// What the link of a pair is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTemplate {
    /// Least one-way latency, in microseconds.
    pub latency_us: Span,
    /// Most latency added on top.
    pub jitter_us: Span,
    /// Bandwidth of each direction; 0 is unlimited.
    pub bandwidth_bytes_per_s: Span,
    /// Channels of the connection's pool, 1 to 4.
    pub channels: Span,
    /// Links whose channels deliver in order, in thousandths.
    pub ordered_per_mille: u16,
    /// Frames lost, in thousandths, all the time.
    pub loss_per_mille: u16,
    /// Frames delivered twice, in thousandths, all the time.
    pub duplicate_per_mille: u16,
}

impl LinkTemplate {
    /// The link between two nodes.
    #[must_use]
    pub fn link(&self, seed: u64, one: NodeId, other: NodeId) -> LinkPlan {
        let (a, b) = (one.min(other), one.max(other));
        let mut dice = Dice::new(seed, "ring link", u64::from(a.0) << 16 | u64::from(b.0));
        let mut draw = |(least, most): Span| dice.between(least, most.max(least));
        LinkPlan {
            a,
            b,
            latency_us: draw(self.latency_us),
            jitter_us: draw(self.jitter_us),
            bandwidth_bytes_per_s: draw(self.bandwidth_bytes_per_s),
            channels: u8::try_from(draw(self.channels)).unwrap_or(u8::MAX),
            ordered: draw((0, 999)) < u64::from(self.ordered_per_mille),
            loss_per_mille: self.loss_per_mille,
            duplicate_per_mille: self.duplicate_per_mille,
        }
    }
}

/// How a burst's messages find their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// Over the link to the destination, or over its one relay.
    #[default]
    Links,
    /// By the ring: straight where a connection stands, else from member to member, each by its own view.
    Ring,
    /// Out of band, as a handshake comes that opens a connection: what it opens at its receiver is charged to that node itself.
    OutOfBand,
}

impl Route {
    /// Whether it is the one that plans do not write down.
    #[must_use]
    pub fn is_links(&self) -> bool {
        *self == Self::Links
    }
}

impl Plan {
    /// What the link between two nodes is like, whether it is listed or made on demand; `None` where there is none.
    #[must_use]
    pub fn link_between(&self, one: NodeId, other: NodeId) -> Option<LinkPlan> {
        let ends = (one.min(other), one.max(other));
        let listed = self.links.iter().find(|link| (link.a, link.b) == ends).cloned();
        listed.or_else(|| Some(self.ring.as_ref()?.links.link(self.seed, one, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_a_pair_is_the_same_from_both_ends_and_another_for_another_pair() {
        let template = LinkTemplate {
            latency_us: (1_000, 40_000),
            jitter_us: (0, 5_000),
            bandwidth_bytes_per_s: (0, 0),
            channels: (1, 4),
            ordered_per_mille: 500,
            loss_per_mille: 0,
            duplicate_per_mille: 7,
        };
        let link = |one, other| template.link(3, NodeId(one), NodeId(other));
        assert_eq!(link(4, 9), link(9, 4));
        assert_ne!(link(4, 9).latency_us, link(4, 8).latency_us);
        for other in 1..200 {
            let link = link(0, other);
            assert!((1_000..=40_000).contains(&link.latency_us) && (1..=4).contains(&link.channels));
        }
        let ordered = (1..200).filter(|other| link(0, *other).ordered).count();
        assert!((60..140).contains(&ordered), "{ordered} of 199");
    }
}
