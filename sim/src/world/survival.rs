//! Who answers what a death leaves to chance: the plan where it says, keyed draws where it does not.
//!
//! Promise: each answer depends on the name of what is asked, or on its place in the plan's list, and never on what the
//! schedule did in between; a death that the plan decides draws nothing.

use super::World;
use super::disk::{Choice, Disk, OpFault, PowerLossReport};
use crate::draw::{Draws, Purpose};
use crate::plan::{FaultKind, Survivors};
use crate::units::{Life, NodeId};
use groundhog_engine::host::disk::DiskRequest;

/// The answers to what one death asks.
#[derive(Clone, Debug)]
pub(super) struct Survival {
    seed: u64,
    pub(super) node: NodeId,
    pub(super) life: Life,
    decided: Option<Decided>,
}

/// The answers that a plan gives, and how many of them were asked for.
#[derive(Clone, Debug)]
struct Decided {
    survivors: Survivors,
    asked: usize,
}

impl Decided {
    /// Puts a list of questions; the returned answers know each of them by its name.
    fn ask(&mut self, choices: Vec<Choice>) -> impl FnMut(Choice) -> bool + use<'_> {
        let first = self.asked;
        self.asked += choices.len();
        move |choice| {
            let place = choices.iter().position(|asked| *asked == choice).map(|place| first + place);
            place.is_some_and(|place| self.survivors.kept.binary_search(&(place as u32)).is_ok())
        }
    }
}

impl Survival {
    /// Of a death that the plan does not decide.
    pub(super) const fn drawn(seed: u64, node: NodeId, life: Life) -> Self {
        Self { seed, node, life, decided: None }
    }

    /// Changes that the plan decided so far; `None` where it decides none.
    pub(super) fn asked(&self) -> Option<usize> {
        self.decided.as_ref().map(|decided| decided.asked)
    }

    /// The operation that the death strikes in its middle.
    pub(super) fn cut_short(&mut self, disk: &mut Disk, request: &DiskRequest) {
        match &mut self.decided {
            Some(decided) => {
                let choices = disk.partly_choices(request);
                disk.apply_partly(request, &mut decided.ask(choices));
            }
            None => {
                let (seed, node, life) = (self.seed, self.node, self.life);
                disk.apply_partly(request, &mut |choice| {
                    survives(seed, Purpose::DiskPartly, node, life, choice)
                });
            }
        }
    }

    /// Another operation, under way when the life ends. Nobody is left to be answered.
    pub(super) fn under_way(
        &mut self,
        disk: &mut Disk,
        number: u64,
        request: &DiskRequest,
        fault: Option<&OpFault>,
    ) {
        if self.decided.is_some() {
            return self.cut_short(disk, request);
        }
        let words = [self.node.0.into(), self.life.0.into(), number];
        match Draws::new(self.seed).draw(Purpose::DiskUnderWay, words).below(3) {
            0 => {}
            1 => self.cut_short(disk, request),
            _ => drop(disk.apply(request, fault)),
        }
    }

    /// Power fails.
    pub(super) fn power_failure(&mut self, disk: &mut Disk) -> PowerLossReport {
        // Files that only open handles lead to are gone, and nothing is asked about them.
        disk.process_crash();
        match &mut self.decided {
            Some(decided) => {
                let choices = disk.pending_choices();
                disk.power_failure(&mut decided.ask(choices))
            }
            None => {
                let (seed, node, life) = (self.seed, self.node, self.life);
                disk.power_failure(&mut |choice| survives(seed, Purpose::DiskSurvival, node, life, choice))
            }
        }
    }
}

impl World {
    /// The answers to what a death of the plan at this node asks.
    pub(super) fn survival(&self, index: usize, node: NodeId) -> Survival {
        let decided = match &self.plan.faults[index].kind {
            FaultKind::Crash { survivors: Some(survivors), .. } => {
                Some(Decided { survivors: survivors.clone(), asked: 0 })
            }
            _ => None,
        };
        Survival { decided, ..Survival::drawn(self.plan.seed, node, self.nodes[node.index()].life) }
    }
}

/// Whether one pending change survives, drawn by its identity.
pub(super) fn survives(seed: u64, purpose: Purpose, node: NodeId, life: Life, choice: Choice) -> bool {
    let (kind, operation, inode, sector) = match choice {
        Choice::Name { operation } => (0, operation, 0, 0),
        Choice::Size { inode, operation } => (1, operation, inode, 0),
        Choice::Sector { inode, operation, sector } => (2, operation, inode, sector),
        Choice::Effect { operation } => (3, operation, 0, 0),
    };
    let place = u64::from(node.0) << 40 | u64::from(life.0) << 8;
    let draws = Draws::new(seed);
    // A fair coin alone would leave a long chain of ordered changes almost always short: some deaths take little, some
    // nearly everything.
    let kept_per_mille = [500, 500, 900, 100][draws.draw(purpose, [place]).below(4) as usize];
    let draw = draws.draw(purpose, [place | kind, operation, inode, u64::from(sector)]);
    draw.chance_per_mille(kept_per_mille)
}
