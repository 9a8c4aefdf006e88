//! Strikes some points of a node's first life, and sweeps the recoveries that follow.
//!
//! Promise: what is found of a point depends on the point alone, not on which others are explored beside it, nor on threads.

use super::plans::{SweptDeath, first_id, struck};
use super::survey::{Survey, first_life, whole};
use super::tally::{Broken, Finding, Tally};
use super::{Done, Job, Probe, ProbedLife, Runner, Settings, Stopped};
use crate::outcome::Cut;
use crate::plan::{Death, Plan};
use crate::run::RunError;
use crate::units::{FaultId, Life, NodeId};
use crate::world::disk::State;
use crate::world::probe::{DeathSeen, Left, Point};
use std::collections::BTreeSet;
use std::ops::Range;

/// Runs that are asked for at once: enough for any number of cores, and a bound on what is held in memory.
const JOBS_AT_ONCE: usize = 1_024;

/// One run to make, and what it follows from.
#[derive(Clone, Debug)]
struct Branch {
    /// The place of the first death's point among those explored.
    first: usize,
    /// What the lives after the first have given out: 0 for nothing.
    given_out: u128,
    deaths: Vec<SweptDeath>,
}

/// What was run from one first point: after which death, of lives that had given out what, from which state.
type Memory = BTreeSet<(u128, Death, State)>;

struct Explorer<'a> {
    plan: &'a Plan,
    survey: &'a Survey,
    settings: &'a Settings,
    runner: &'a mut dyn Runner,
    memory: Vec<Memory>,
    tally: Tally,
}

/// Explores some points of a node's first life, by number: of those that `survey` found. The tally is that of all of them, or, with the reason, of what
/// was done before it stopped.
pub fn explore(
    plan: &Plan,
    survey: &Survey,
    settings: &Settings,
    node: NodeId,
    points: Range<u64>,
    runner: &mut dyn Runner,
) -> (Tally, Option<Stopped>) {
    let mut explorer =
        Explorer { plan, survey, settings, runner, memory: Vec::new(), tally: Tally::default() };
    let stopped = explorer.all(node, points).err();
    (explorer.tally, stopped)
}

impl Explorer<'_> {
    fn all(&mut self, node: NodeId, points: Range<u64>) -> Result<(), Stopped> {
        let mut branches = self.first_deaths(node, points)?;
        for depth in 0..=usize::from(self.settings.depth) {
            branches = self.follow(depth, branches)?;
        }
        Ok(())
    }

    /// Every image of every death at every one of the points.
    fn first_deaths(&mut self, node: NodeId, points: Range<u64>) -> Result<Vec<Branch>, Stopped> {
        let life = ProbedLife { images_of: points.clone(), ..first_life(node, self.settings) };
        let job = Job { plan: self.plan.clone(), probe: Probe { life: Some(life) } };
        let done = self.runner.run(vec![job]).ok_or(Stopped::Interrupted)?.pop();
        let seen = whole(done.expect("a job has a result")?)?.probed.points;
        let mut branches = Vec::new();
        let struck = seen.into_iter().skip(points.start as usize).take((points.end - points.start) as usize);
        for (first, point) in struck.enumerate() {
            self.memory.push(Memory::new());
            self.branch(0, &Branch { first, given_out: 0, deaths: Vec::new() }, point, &mut branches);
        }
        Ok(branches)
    }

    /// Makes the runs of one depth, and gives those of the next.
    fn follow(&mut self, depth: usize, branches: Vec<Branch>) -> Result<Vec<Branch>, Stopped> {
        let mut next = Vec::new();
        for some in branches.chunks(JOBS_AT_ONCE) {
            let jobs = some.iter().map(|branch| self.job(depth, branch)).collect();
            let done = self.runner.run(jobs).ok_or(Stopped::Interrupted)?;
            for (branch, done) in some.iter().zip(done) {
                self.tally.level(depth).runs += 1;
                let points = self.judge(depth, branch, done);
                for point in points {
                    self.branch(depth + 1, branch, point, &mut next);
                }
            }
        }
        Ok(next)
    }

    fn job(&self, depth: usize, branch: &Branch) -> Job {
        let (node, Life(life)) = branch.deaths[0].life();
        let life = Life(life + branch.deaths.len() as u32);
        let recovery = ProbedLife { life, opening: true, once: true, ..first_life(node, self.settings) };
        let life = (depth < usize::from(self.settings.depth)).then_some(recovery);
        Job { plan: struck(self.plan, &branch.deaths, self.settings.down_us), probe: Probe { life } }
    }

    /// Counts what came of a run. Gives the points of its recovery; of one that failed nothing is followed.
    fn judge(&mut self, depth: usize, branch: &Branch, done: Result<Done, RunError>) -> Vec<Point> {
        let astray = done.as_ref().is_ok_and(|done| !self.came(branch, &done.probed.deaths));
        let tally = &mut self.tally;
        let finding = |saw: String| Broken { runs: 0, first: Finding { deaths: branch.deaths.clone(), saw } };
        let Done { violations, cut, probed } = match done {
            Ok(done) => done,
            Err(error) => {
                tally.failed.get_or_insert_with(|| finding(error.to_string())).runs += 1;
                return Vec::new();
            }
        };
        let mut laws = BTreeSet::new();
        let news = violations.iter().filter(|violation| !self.survey.breaks(violation.law));
        for violation in news.filter(|violation| laws.insert(violation.law)) {
            let known = tally.broken.entry(violation.law.to_owned());
            let saw = || format!("{} at {}", violation.saw, violation.at);
            known.or_insert_with(|| finding(saw())).runs += 1;
        }
        if let Some(cut) = cut {
            tally.cut.get_or_insert_with(|| finding(words(&cut))).runs += 1;
        } else if astray {
            let saw = "a death did not come, or left another image than was foreseen".to_owned();
            tally.failed.get_or_insert_with(|| finding(saw)).runs += 1;
        } else if laws.is_empty() {
            tally.level(depth).late += u64::from(probed.late);
            return probed.points;
        }
        Vec::new()
    }

    /// Whether every death came, and left what was foreseen.
    fn came(&self, branch: &Branch, seen: &[DeathSeen]) -> bool {
        let ids = (first_id(self.plan)..).map(FaultId);
        let foreseen = branch.deaths.iter().zip(ids).map(|(death, fault)| {
            let SweptDeath { survivors, state, .. } = death;
            DeathSeen { fault, of: survivors.of, state: *state }
        });
        foreseen.eq(seen.iter().copied())
    }

    /// Adds the runs that follow from one point: at depth 0 each, further down those that were not made.
    fn branch(&mut self, depth: usize, from: &Branch, point: Point, next: &mut Vec<Branch>) {
        let level = self.tally.level(depth);
        level.points += 1;
        let given_out = if depth == 0 { 0 } else { from.given_out.rotate_left(1) ^ point.given_out };
        for (death, left) in [(Death::Process, point.process), (Death::Power, point.power)] {
            let Left { seen, images, more } = left;
            level.images += seen;
            level.beyond += u64::from(more);
            for image in images {
                let is_new = self.memory[from.first].insert((given_out, death, image.state));
                if depth == 0 || is_new {
                    let mut deaths = from.deaths.clone();
                    deaths.push(SweptDeath {
                        at: point.at,
                        death,
                        survivors: image.survivors,
                        state: image.state,
                        instead_of: point.own.clone(),
                    });
                    next.push(Branch { first: from.first, given_out, deaths });
                }
            }
        }
    }
}

fn words(cut: &Cut) -> String {
    match cut {
        Cut::Polls { limit, .. } => format!("a run used more than {limit} polls"),
        Cut::Livelock { limit, .. } => format!("a run used more than {limit} polls at one instant"),
        Cut::Memory { limit_bytes } => format!("the process held more than {limit_bytes} bytes"),
        Cut::Watchdog { limit_ms } => format!("a run took more than {limit_ms} ms of real time"),
        Cut::Interrupted => "it was interrupted".to_owned(),
    }
}
