//! Scenes of overtaking: one class or one channel of a pair of nodes stands still, and everything beside it goes on for
//! more than a window's length; and long dense bursts.

use super::{Draft, Span};
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, FaultKind, LinkFault, When};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;

/// What stands still in a scene.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Still {
    Handler,
    Channel,
    Receiver,
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    let scenes = &draft.scenario.sections.scenes;
    for place in 0..draft.faults_of(Kind::SceneClass, "stalled-class") {
        scene(draft, draft.dice("stalled-class", place), Still::Handler);
    }
    for place in 0..draft.faults_of(Kind::SceneChannel, "stalled-pool") {
        scene(draft, draft.dice("stalled-pool", place), Still::Channel);
    }
    for place in 0..draft.faults_of(Kind::SceneReceiver, "stalled-receiver") {
        scene(draft, draft.dice("stalled-receiver", place), Still::Receiver);
    }
    for place in 0..draft.faults_of(Kind::Floods, "flood") {
        let mut dice = draft.dice("flood", place);
        let (from, to) = draft.shape.busy_link(&mut dice);
        let at_us = dice.below(draft.chaos_us * 3 / 4 + 1);
        let class = *dice.pick(&Class::ALL).expect("there are four classes");
        let count = scenes.flood.roll_u32(&mut dice);
        let every_us = scenes.every_us.roll_u64(&mut dice);
        burst(draft, from, at_us, Burst { count, every_us, ..Burst::one(to, class) });
    }
}

fn scene(draft: &mut Draft<'_>, mut dice: Dice, still: Still) {
    let scenes = &draft.scenario.sections.scenes;
    let (from, to) = draft.shape.busy_link(&mut dice);
    let lasts_ms = scenes.lasts_ms.roll_u64(&mut dice);
    // Not too late: what stood still needs time to arrive among the rest.
    let begin_us = dice.below(draft.chaos_us / 2 + 1);
    let span = draft.span_from(begin_us, lasts_ms);
    let class = *dice.pick(&Class::ALL).expect("there are four classes");
    stall(draft, (from, to), class, span, still);
    let every_us = scenes.every_us.roll_u64(&mut dice);
    // Behind its transport a receiver lets the lane go on: only a long burst shows what overtakes what.
    let behind = if still == Still::Receiver { &scenes.flood } else { &scenes.behind };
    let behind = Burst { count: behind.roll_u32(&mut dice), every_us, ..Burst::one(to, class) };
    burst(draft, from, begin_us.saturating_add(1), behind);
    for other in Class::ALL.into_iter().filter(|other| *other != class) {
        let beside = Burst { count: scenes.beside.roll_u32(&mut dice), every_us, ..Burst::one(to, other) };
        // Soon, so that there is time to be late in.
        let later_us = dice.below((lasts_ms * 1_000 / 4).min(100_000) + 1);
        burst(draft, from, begin_us.saturating_add(later_us), beside);
    }
}

fn stall(draft: &mut Draft<'_>, (from, to): (NodeId, NodeId), class: Class, span: Span, still: Still) {
    match still {
        Still::Handler => {
            let kind = FaultKind::StallHandler { node: to, class };
            draft.fault(When::Time { us: span.from_us }, Some(span.until_us), kind);
        }
        Still::Channel | Still::Receiver => {
            let pair = (from.min(to), from.max(to));
            let link = draft.shape.links.iter().find(|link| (link.a, link.b) == pair);
            let channels = link.map_or(1, |link| usize::from(link.channels));
            let channel = (class.index() % channels) as u8;
            let fault = match still {
                Still::Receiver => LinkFault::StallReceiver { channel },
                Still::Handler | Still::Channel => LinkFault::StallChannel { channel },
            };
            draft.link_fault((from, to), true, span, fault);
        }
    }
}

fn burst(draft: &mut Draft<'_>, node: NodeId, at_us: u64, burst: Burst) {
    let at_us = at_us.min(draft.chaos_us - 1);
    draft.actions.push(Action { id: ActionId(0), at_us, node, act: Act::Send(burst) });
}
