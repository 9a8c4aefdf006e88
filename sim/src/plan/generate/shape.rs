//! Who is linked to whom: a ring of neighbours, hubs with their spokes, and some random links.

use crate::plan::dice::Dice;
use crate::plan::swarm::{Intensity, Kind, Levels};
use crate::plan::{LinkPlan, Scenario};
use crate::ring::{Order, View};
use crate::units::NodeId;
use crate::world::account;
use groundhog_engine::streams::key::Class;
use std::collections::BTreeSet;

/// A node that many others talk to.
pub(super) struct Hub {
    pub node: NodeId,
    /// The nodes that it talks to, all linked to it.
    pub spokes: Vec<NodeId>,
    /// The streams that its bursts belong to, in the order in which they open.
    pub streams: Vec<HubStream>,
    /// The instants at which its bursts begin together, in order.
    pub waves_us: Vec<u64>,
}

/// One stream between a hub and one of its spokes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct HubStream {
    pub from: NodeId,
    pub to: NodeId,
    pub class: Class,
}

/// The links and the hubs.
pub(super) struct Shape {
    pub links: Vec<LinkPlan>,
    pub hubs: Vec<Hub>,
    nodes: u32,
    /// On a ring, the pairs that are connected while everybody is there.
    near: Vec<(NodeId, NodeId)>,
}

impl Shape {
    pub(super) fn draw(scenario: &Scenario, seed: u64, chaos_us: u64, levels: &Levels) -> Self {
        let hubs = hubs(scenario, seed, chaos_us);
        let mut pairs = BTreeSet::new();
        for node in 0..scenario.nodes {
            pairs.insert(pair(node, (node + 1) % scenario.nodes));
        }
        for hub in &hubs {
            pairs.extend(hub.spokes.iter().map(|spoke| pair(u32::from(hub.node.0), u32::from(spoke.0))));
        }
        let mut dice = Dice::new(seed, "chords", 0);
        for _ in 0..scenario.scaled(&scenario.sections.links.chords, &mut dice) {
            let from = dice.below(u64::from(scenario.nodes)) as u32;
            let to = dice.below(u64::from(scenario.nodes)) as u32;
            if from != to {
                pairs.insert(pair(from, to));
            }
        }
        let links = pairs.into_iter().map(|(a, b)| link_between(scenario, seed, (a, b), levels)).collect();
        Self { links, hubs, nodes: scenario.nodes, near: Vec::new() }
    }

    /// No links and no hubs: on a ring everybody can be reached, and nobody is the centre.
    pub(super) fn unlinked(scenario: &Scenario, seed: u64, successors: u8) -> Self {
        let near = near(scenario.nodes, seed, usize::from(successors));
        Self { links: Vec::new(), hubs: Vec::new(), nodes: scenario.nodes, near }
    }

    /// Two nodes, each pair as likely.
    pub(super) fn pair(&self, dice: &mut Dice) -> (NodeId, NodeId) {
        let one = NodeId(dice.below(u64::from(self.nodes)) as u16);
        (one, self.other_than(one, dice))
    }

    /// A node, and not this one.
    pub(super) fn other_than(&self, node: NodeId, dice: &mut Dice) -> NodeId {
        let step = 1 + dice.below(u64::from(self.nodes) - 1);
        NodeId(((u64::from(node.0) + step) % u64::from(self.nodes)) as u16)
    }

    /// The nodes linked to `node`, in order.
    pub(super) fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        let mut neighbours: Vec<NodeId> = self
            .links
            .iter()
            .filter_map(|link| match node {
                node if node == link.a => Some(link.b),
                node if node == link.b => Some(link.a),
                _ => None,
            })
            .collect();
        neighbours.sort_unstable();
        neighbours
    }

    /// A link, of a hub more often than not.
    pub(super) fn busy_link(&self, dice: &mut Dice) -> (NodeId, NodeId) {
        if dice.per_mille(850)
            && let Some(hub) = dice.pick(&self.hubs)
            && let Some(spoke) = dice.pick(&hub.spokes)
        {
            return if dice.per_mille(500) { (hub.node, *spoke) } else { (*spoke, hub.node) };
        }
        match dice.pick(&self.links) {
            Some(link) => (link.a, link.b),
            None => dice.pick(&self.near).copied().unwrap_or_else(|| self.pair(dice)),
        }
    }
}

/// The pairs of which one has the other in its view, of all nodes that there will be.
fn near(nodes: u32, seed: u64, successors: usize) -> Vec<(NodeId, NodeId)> {
    let nodes = || (0..nodes as u16).map(NodeId);
    let order = Order::new(nodes().map(|node| account(seed, node)));
    let mut view = View::default();
    let mut near = Vec::new();
    for node in nodes() {
        view.refresh(&order, node, successors, |_| true);
        near.extend(view.peers().iter().map(|peer| (node, *peer)));
    }
    near
}

fn pair(one: u32, other: u32) -> (NodeId, NodeId) {
    (NodeId(one.min(other) as u16), NodeId(one.max(other) as u16))
}

fn hubs(scenario: &Scenario, seed: u64, chaos_us: u64) -> Vec<Hub> {
    let links = &scenario.sections.links;
    let mut dice = Dice::new(seed, "hubs", 0);
    let mut nodes: Vec<u16> = (0..scenario.nodes as u16).collect();
    dice.shuffle(&mut nodes);
    let count = scenario.scaled(&links.hubs, &mut dice).min(u64::from(scenario.nodes)) as usize;
    nodes[..count]
        .iter()
        .zip(0..)
        .map(|(node, place)| {
            let mut dice = Dice::new(seed, "hub", place);
            let spokes = (links.spokes.roll_u64(&mut dice) as usize).min(nodes.len() - 1);
            let mut others: Vec<NodeId> =
                nodes.iter().filter(|other| *other != node).map(|other| NodeId(*other)).collect();
            dice.shuffle(&mut others);
            others.truncate(spokes);
            let waves = scenario.sections.load.waves.roll_u64(&mut dice);
            let node = NodeId(*node);
            let streams = streams(node, &others, scenario, &mut dice);
            Hub { node, spokes: others, streams, waves_us: waves_us(waves, chaos_us, &mut dice) }
        })
        .collect()
}

fn streams(hub: NodeId, spokes: &[NodeId], scenario: &Scenario, dice: &mut Dice) -> Vec<HubStream> {
    let both_ways = |spoke: NodeId| [(hub, spoke), (spoke, hub)];
    let mut streams: Vec<HubStream> = spokes
        .iter()
        .flat_map(|spoke| both_ways(*spoke))
        .flat_map(|(from, to)| Class::ALL.map(|class| HubStream { from, to, class }))
        .collect();
    dice.shuffle(&mut streams);
    streams.truncate(scenario.sections.load.streams.roll_u64(dice) as usize);
    streams
}

/// One instant in each of as many equal parts of the chaos, so that every life has work.
fn waves_us(waves: u64, chaos_us: u64, dice: &mut Dice) -> Vec<u64> {
    let part = (chaos_us / waves).max(1);
    (0..waves).map(|wave| (wave * part + dice.below(part * 3 / 4 + 1)).min(chaos_us - 1)).collect()
}

/// What a link between two nodes is like, in order.
pub(super) fn link_between(
    scenario: &Scenario,
    seed: u64,
    (a, b): (NodeId, NodeId),
    levels: &Levels,
) -> LinkPlan {
    let links = &scenario.sections.links;
    let of = |kind| Intensity::of(levels, kind);
    let mut dice = Dice::new(seed, "link", u64::from(a.0) << 16 | u64::from(b.0));
    LinkPlan {
        a,
        b,
        latency_us: links.latency_us.roll_u64(&mut dice),
        jitter_us: links.jitter_us.roll_u64(&mut dice),
        bandwidth_bytes_per_s: links.bandwidth_bytes_per_s.roll_u64(&mut dice),
        channels: links.channels.roll_u32(&mut dice) as u8,
        ordered: {
            let per_mille = links.ordered_per_mille.roll_u64(&mut dice);
            let unordered_per_mille = of(Kind::UnorderedChannels).share(1_000 - per_mille);
            dice.per_mille(1_000 - unordered_per_mille)
        },
        loss_per_mille: of(Kind::SteadyLoss).thin_share(links.loss_per_mille.roll_u64(&mut dice)) as u16,
        duplicate_per_mille: of(Kind::SteadyDuplicates)
            .thin_share(links.duplicate_per_mille.roll_u64(&mut dice)) as u16,
    }
}
