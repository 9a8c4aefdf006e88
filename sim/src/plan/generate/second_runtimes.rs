//! Second runtimes on an account: each on a machine of its own, beyond the scenario's nodes, that sends what the first sends.
//!
//! Promise: at least one stream of the account is used by both while both live, by each for longer than one lease lasts. Nothing
//! is drawn where a scenario has none.

use super::Draft;
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, MAX_NODES, NodePlan, Route, SecondRuntime};
use crate::units::{ActionId, NodeId};

/// Of the bursts that the first runtime sends, the second sends as many in a thousand.
const SHARED_PER_MILLE: u64 = 600;

/// Of the bursts that the first runtime receives, as many in a thousand come to the second, too.
const RECEIVED_PER_MILLE: u64 = 200;

/// A lease and some: whoever sends as many has written a new one.
const MORE_THAN_A_LEASE: (u64, u64) = (66, 90);

pub(super) fn draw(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::SecondRuntimes, "second-runtimes") {
        let mut dice = draft.dice("second-runtime", place);
        one(draft, &mut dice);
    }
}

fn one(draft: &mut Draft<'_>, dice: &mut Dice) {
    let is_first = |node: NodeId| u32::from(node.0) < draft.scenario.nodes;
    let sends: Vec<(u64, NodeId, Burst)> = draft
        .actions
        .iter()
        .filter_map(|action| match &action.act {
            Act::Send(burst) if is_plain(burst) && is_first(action.node) => {
                Some((action.at_us, action.node, burst.clone()))
            }
            _ => None,
        })
        .collect();
    let Some((_, of, shared)) = dice.pick(&sends).cloned() else { return };
    let place = draft.scenario.nodes as usize + draft.seconds.len();
    if place >= MAX_NODES {
        return;
    }
    let node = NodeId(u16::try_from(place).expect("a plan holds at most MAX_NODES nodes"));
    draft.seconds.push(of);
    let chaos_us = draft.chaos_us;
    let begin_us = dice.between(chaos_us / 8, chaos_us / 2);
    let most_us = chaos_us - begin_us;
    let lasts_us = dice.per_mille(500).then(|| dice.between(most_us / 4, most_us - 1));
    let until_us = lasts_us.map_or(draft.end_us, |lasts_us| begin_us + lasts_us);
    draft.push(begin_us, node, Act::SecondRuntime(SecondRuntime { of, lasts_us }));
    let rotations: Vec<u64> = draft
        .actions
        .iter()
        .filter(|action| action.node == of && action.act == Act::RotateDelegatee)
        .map(|action| action.at_us)
        .filter(|at_us| (begin_us..until_us).contains(at_us))
        .collect();
    rotations.into_iter().for_each(|at_us| draft.push(at_us, node, Act::RotateDelegatee));
    both(draft, dice, (of, node), (begin_us, until_us.min(chaos_us)), &shared);
    for (at_us, from, burst) in sends {
        let at_us = at_us + dice.below(5_000);
        if burst.to == of && (begin_us..until_us).contains(&at_us) && dice.per_mille(RECEIVED_PER_MILLE) {
            draft.link(from, node);
            draft.push(at_us, from, Act::Send(Burst { to: node, ..burst.clone() }));
        }
        if from == of && (begin_us..until_us).contains(&at_us) && dice.per_mille(SHARED_PER_MILLE) {
            draft.link(node, burst.to);
            draft.push(at_us, node, Act::Send(burst));
        }
    }
}

/// Both send on one stream at about the same time, each past the lease that it has.
fn both(
    draft: &mut Draft<'_>,
    dice: &mut Dice,
    runtimes: (NodeId, NodeId),
    (begin_us, until_us): (u64, u64),
    shared: &Burst,
) {
    draft.link(runtimes.1, shared.to);
    // The second one's engines are open by then.
    let at_us = dice.between(begin_us + (until_us - begin_us) / 8, begin_us + (until_us - begin_us) / 4);
    for node in [runtimes.0, runtimes.1] {
        let count = dice.between(MORE_THAN_A_LEASE.0, MORE_THAN_A_LEASE.1) as u32;
        let every_us = dice.between(50, 1_000);
        let burst = Burst { count, every_us, cancel_reserve_every: 0, ..shared.clone() };
        draft.push(at_us + dice.below(20_000), node, Act::Send(burst));
    }
}

fn is_plain(burst: &Burst) -> bool {
    burst.via.is_none() && burst.route == Route::Links && burst.envelopes == 0
}

/// The machines that they run on, each like that of its first.
pub(super) fn nodes(draft: &Draft<'_>, nodes: &[NodePlan]) -> Vec<NodePlan> {
    let seconds = draft.seconds.iter().zip(nodes.len()..);
    seconds
        .map(|(of, place)| {
            let id = NodeId(u16::try_from(place).expect("a plan holds at most MAX_NODES nodes"));
            NodePlan { id, ..nodes[of.index()].clone() }
        })
        .collect()
}

impl Draft<'_> {
    fn push(&mut self, at_us: u64, node: NodeId, act: Act) {
        // Ids are given in the end, in order of time.
        self.actions.push(Action { id: ActionId(0), at_us, node, act });
    }
}
