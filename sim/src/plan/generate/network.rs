//! Faults of links, handlers and processors.

use super::Draft;
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{FaultKind, LinkFault, When};
use groundhog_engine::streams::key::Class;

pub(super) fn draw(draft: &mut Draft<'_>) {
    let network = &draft.scenario.sections.network;
    links(draft, Kind::Partitions, "partition", |_| LinkFault::Partition);
    links(draft, Kind::Losses, "loss", |dice| LinkFault::Loss {
        per_mille: network.loss_per_mille.roll_u32(dice) as u16,
    });
    links(draft, Kind::Duplicates, "duplicate", |dice| LinkFault::Duplicate {
        per_mille: network.duplicate_per_mille.roll_u32(dice) as u16,
    });
    links(draft, Kind::Delays, "delay", |dice| LinkFault::Delay { us: network.delay_us.roll_u64(dice) });
    links(draft, Kind::NarrowLinks, "narrow", |dice| LinkFault::Bandwidth {
        bytes_per_s: network.narrow_bytes_per_s.roll_u64(dice),
    });
    stalled_channels(draft);
    handlers(draft);
    processors(draft);
}

fn links(draft: &mut Draft<'_>, kind: Kind, purpose: &str, fault: impl Fn(&mut Dice) -> LinkFault) {
    let network = &draft.scenario.sections.network;
    for place in 0..draft.faults_of(kind, purpose) {
        let mut dice = draft.dice(purpose, place);
        let ends = draft.shape.busy_link(&mut dice);
        let lasts_ms = network.lasts_ms.roll_u64(&mut dice);
        let span = draft.span(&mut dice, lasts_ms);
        let one_way_per_mille = network.one_way_per_mille.roll_u64(&mut dice);
        let one_way = dice.per_mille(one_way_per_mille);
        let fault = fault(&mut dice);
        draft.link_fault(ends, one_way, span, fault);
    }
}

/// Channels of links between a hub and a spoke stall from just before a wave on, so that frames pile up behind them.
fn stalled_channels(draft: &mut Draft<'_>) {
    let network = &draft.scenario.sections.network;
    for place in 0..draft.faults_of(Kind::StalledChannels, "stalled-channel") {
        let mut dice = draft.dice("stalled-channel", place);
        let lasts_ms = network.lasts_ms.roll_u64(&mut dice);
        let Some(hub) = dice.pick(&draft.shape.hubs) else { return };
        let Some(spoke) = dice.pick(&hub.spokes).copied() else { return };
        let node = hub.node;
        let wave = dice.pick(&hub.waves_us).copied().unwrap_or(0);
        let span = draft.span_from(wave.saturating_add(dice.below(3_000)), lasts_ms);
        let ends = if dice.per_mille(500) { (node, spoke) } else { (spoke, node) };
        let pair = (node.min(spoke), node.max(spoke));
        let link = draft.shape.links.iter().find(|link| (link.a, link.b) == pair);
        let channels = link.map_or(1, |link| link.channels);
        let channel = dice.below(u64::from(channels)) as u8;
        draft.link_fault(ends, true, span, LinkFault::StallChannel { channel });
    }
}

fn handlers(draft: &mut Draft<'_>) {
    let handlers = &draft.scenario.sections.handlers;
    for place in 0..draft.faults_of(Kind::StalledHandlers, "stalled-handler") {
        let mut dice = draft.dice("stalled-handler", place);
        let node = draft.busy_node(&mut dice);
        let lasts_ms = handlers.lasts_ms.roll_u64(&mut dice);
        let span = draft.span(&mut dice, lasts_ms);
        let class = *dice.pick(&Class::ALL).expect("there are four classes");
        let kind = FaultKind::StallHandler { node, class };
        draft.fault(When::Time { us: span.from_us }, Some(span.until_us), kind);
    }
}

fn processors(draft: &mut Draft<'_>) {
    let handlers = &draft.scenario.sections.handlers;
    for place in 0..draft.faults_of(Kind::SlowProcessors, "slow-processor") {
        let mut dice = draft.dice("slow-processor", place);
        let node = draft.busy_node(&mut dice);
        let lasts_ms = handlers.lasts_ms.roll_u64(&mut dice);
        let span = draft.span(&mut dice, lasts_ms);
        let factor = handlers.slow_factor.roll_u32(&mut dice);
        let kind = FaultKind::SlowProcessor { node, factor };
        draft.fault(When::Time { us: span.from_us }, Some(span.until_us), kind);
    }
}
