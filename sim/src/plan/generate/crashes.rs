//! Deaths: chains of them inside group commit at the hubs, each in the life after the one before, and single ones at
//! operations, polls and times elsewhere.

use super::Draft;
use crate::plan::dice::Dice;
use crate::plan::fault::StepId;
use crate::plan::swarm::Kind;
use crate::plan::{Death, FaultKind, Phase, When};
use crate::units::{Life, NodeId};
use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Table;

/// One way to die inside group commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    death: Death,
    table: Table,
    step: Step,
}

/// The phases of a batch that deaths are dealt over.
const PHASES: [Step; 5] =
    [Step::Gathering, Step::TemporaryFlushed, Step::Renamed, Step::DirectoryFlushed, Step::BeforeRelease];

fn cells() -> Vec<Cell> {
    let mut cells = Vec::with_capacity(20);
    for death in [Death::Process, Death::Power] {
        for table in [Table::Sender, Table::Receiver] {
            cells.extend(PHASES.map(|step| Cell { death, table, step }));
        }
    }
    cells
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    in_commit(draft);
    at_operation(draft);
    at_poll(draft);
    at_time(draft);
}

fn in_commit(draft: &mut Draft<'_>) {
    let section = &draft.scenario.sections.crashes;
    let deaths = draft.faults_of(Kind::DeathsInCommit, "in-commit");
    let again = draft.intensity(Kind::DeathsInOpen);
    let mut deck = cells();
    draft.dice("deck", 0).shuffle(&mut deck);
    for place in 0..deaths {
        let mut dice = draft.dice("in-commit", place);
        let Some(hub) = draft.shape.hubs.get((place % draft.shape.hubs.len().max(1) as u64) as usize) else {
            return;
        };
        let node = hub.node;
        let cell = deck[(place % deck.len() as u64) as usize];
        let life = next_life(draft, node);
        let at = When::Step {
            node,
            life,
            step: StepId(cell.step),
            table: Some(cell.table),
            count: step_count(cell.step, &mut dice),
        };
        crash(draft, at, node, cell.death, &mut dice);
        // Only a record that was renamed in and never marked is marked by the next open: a rare chance, seldom let pass.
        let unmarked = cell.death == Death::Process && cell.step == Step::Renamed;
        let in_open_per_mille = again.share(section.in_open_per_mille.roll_u64(&mut dice));
        let in_open_per_mille = if unmarked { in_open_per_mille.max(700) } else { in_open_per_mille };
        if dice.per_mille(in_open_per_mille) && !again.is_off() {
            let life = next_life(draft, node);
            let at = if unmarked && dice.per_mille(850) {
                When::Step { node, life, step: StepId(Step::OpenMarked), table: None, count: 1 }
            } else {
                in_open(node, life, &mut dice)
            };
            let power_per_mille = if unmarked { 900 } else { 750 };
            let death = if dice.per_mille(power_per_mille) { Death::Power } else { Death::Process };
            crash(draft, at, node, death, &mut dice);
        }
    }
}

/// The how-manieth time a step is reported: mostly early, so that most aims are met.
fn step_count(step: Step, dice: &mut Dice) -> u32 {
    match step {
        Step::Gathering => dice.weighted(&[(1, 3), (2, 3), (3, 2), (4, 1), (6, 1)]),
        // The first batch of a life is often one record: its first temporary is its last.
        Step::TemporaryFlushed => dice.weighted(&[(1, 1), (2, 4), (3, 3), (4, 1), (6, 1)]),
        Step::Renamed => dice.weighted(&[(1, 3), (2, 3), (3, 2), (5, 1)]),
        _ => dice.weighted(&[(1, 5), (2, 3), (3, 1)]),
    }
}

/// A place in the open of a life, or just after it.
fn in_open(node: NodeId, life: Life, dice: &mut Dice) -> When {
    let step = |step, count| When::Step { node, life, step: StepId(step), table: None, count };
    match dice.weighted(&[(0, 6), (1, 2), (2, 2), (3, 1), (4, 1)]) {
        0 => When::Operation { node, life, operation: dice.below(40), phase: phase(dice) },
        1 => step(Step::OpenDirectoryFlushed, dice.weighted(&[(1, 2), (2, 1), (3, 1)])),
        2 => step(Step::OpenMarked, dice.weighted(&[(1, 2), (2, 1)])),
        3 => step(Step::OpenTemporaryRemoved, 1),
        _ => step(Step::Opened, 1),
    }
}

fn phase(dice: &mut Dice) -> Phase {
    *dice.pick(&[Phase::Before, Phase::Partly, Phase::After]).expect("there are three phases")
}

fn at_operation(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::DeathsAtOperations, "at-operation") {
        let mut dice = draft.dice("at-operation", place);
        let node = draft.busy_node(&mut dice);
        let life = next_life(draft, node);
        let operation = dice.below(160);
        let at = When::Operation { node, life, operation, phase: phase(&mut dice) };
        let death = death(draft, &mut dice);
        crash(draft, at, node, death, &mut dice);
    }
}

fn at_poll(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::DeathsAtPolls, "at-poll") {
        let mut dice = draft.dice("at-poll", place);
        let node = draft.busy_node(&mut dice);
        let life = next_life(draft, node);
        let at = When::Poll { node, life, poll: dice.below(600) };
        let death = death(draft, &mut dice);
        crash(draft, at, node, death, &mut dice);
    }
}

fn at_time(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::DeathsAtTimes, "at-time") {
        let mut dice = draft.dice("at-time", place);
        let node = unaimed_node(draft, &mut dice);
        let us = dice.below(draft.chaos_us * 9 / 10 + 1);
        let death = death(draft, &mut dice);
        crash(draft, When::Time { us }, node, death, &mut dice);
    }
}

/// A busy node that no death is aimed at by its life, where one is soon found: a death at a time would shift its lives.
fn unaimed_node(draft: &Draft<'_>, dice: &mut Dice) -> NodeId {
    (0..16)
        .map(|_| draft.busy_node(dice))
        .find(|node| !draft.lives.contains_key(node))
        .unwrap_or_else(|| draft.busy_node(dice))
}

fn next_life(draft: &mut Draft<'_>, node: NodeId) -> Life {
    let next = draft.lives.entry(node).or_default();
    let life = Life(*next);
    *next += 1;
    life
}

fn death(draft: &Draft<'_>, dice: &mut Dice) -> Death {
    let power_per_mille = draft.scenario.sections.crashes.power_per_mille.roll_u64(dice);
    if dice.per_mille(power_per_mille) { Death::Power } else { Death::Process }
}

/// A death whose node is up again well before anything must arrive.
pub(super) fn crash(draft: &mut Draft<'_>, at: When, node: NodeId, death: Death, dice: &mut Dice) {
    let longest = (draft.chaos_us / 10).min((draft.end_us - draft.chaos_us) / 8).max(1);
    let down_us = draft.scenario.sections.crashes.down_us.roll_u64(dice).clamp(1, longest);
    draft.fault(at, None, FaultKind::Crash { node, death, down_us });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_role_and_phase_is_one_cell() {
        let cells = cells();
        assert_eq!(cells.len(), 20);
        assert!(cells.iter().enumerate().all(|(at, cell)| !cells[..at].contains(cell)));
    }
}
