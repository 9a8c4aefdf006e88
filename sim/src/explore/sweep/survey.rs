//! The first look at a plan: which points there are.
//!
//! Promise: the points counted here are those that are struck, all of them: `N of N` speaks of this N.

use super::{Done, Job, Probe, ProbedLife, Runner, Settings, Stopped};
use crate::outcome::Violation;
use crate::plan::{Plan, When};
use crate::units::{Life, NodeId};
use crate::world::probe::Point;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// A node and the points of its first life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptNode {
    /// Which.
    pub node: NodeId,
    /// Its points, by number.
    pub points: Range<u64>,
    /// Disk operations, of which at least one phase is a point.
    pub operations: u64,
    /// Points at operations: a phase each.
    pub at_operations: u64,
    /// Points at steps.
    pub at_steps: u64,
}

/// What is to be swept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The nodes that have points.
    pub nodes: Vec<SweptNode>,
    /// Laws that the plan breaks without any death, each the first time: no crash point is asked about these.
    pub broken: Vec<Violation>,
}

impl Survey {
    /// Looks at the first life of each node that is to be swept: runs the plan once for each, without a death.
    ///
    /// # Errors
    /// [`Stopped`]: the plan itself must run to its end.
    pub fn of(plan: &Plan, settings: &Settings, runner: &mut dyn Runner) -> Result<Self, Stopped> {
        if let Some(node) = settings.nodes.iter().find(|node| node.index() >= plan.nodes.len()) {
            return Err(Stopped::NoNode(*node));
        }
        let all: Vec<NodeId> = plan.nodes.iter().map(|node| node.id).collect();
        let nodes = if settings.nodes.is_empty() { &all } else { &settings.nodes };
        let look = |node: &NodeId| {
            let life = ProbedLife { images_of: 0..0, ..first_life(*node, settings) };
            Job { plan: plan.clone(), probe: Probe { life: Some(life) } }
        };
        let seen = runner.run(nodes.iter().map(look).collect()).ok_or(Stopped::Interrupted)?;
        let mut survey = Self::default();
        for (node, done) in nodes.iter().zip(seen) {
            let Done { violations, probed, .. } = whole(done?)?;
            survey.nodes.extend(within(*node, &probed.points, settings));
            for violation in violations {
                if !survey.breaks(violation.law) {
                    survey.broken.push(violation);
                }
            }
        }
        Ok(survey)
    }

    /// Whether the plan breaks this law without any death.
    #[must_use]
    pub fn breaks(&self, law: &str) -> bool {
        self.broken.iter().any(|violation| violation.law == law)
    }

    /// Points in all.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.nodes.iter().map(SweptNode::count).sum()
    }
}

impl SweptNode {
    /// How many points it has.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.points.end - self.points.start
    }
}

fn within(node: NodeId, points: &[Point], settings: &Settings) -> Option<SweptNode> {
    let before = |time| points.partition_point(|point| point.time < time);
    let span = before(settings.within.start)..before(settings.within.end);
    let points = points.get(span.clone()).unwrap_or_default();
    let operation = |point: &Point| match point.at {
        When::Operation { operation, .. } => Some(operation),
        _ => None,
    };
    let at_operations = points.iter().filter_map(operation).count() as u64;
    let operations: BTreeSet<u64> = points.iter().filter_map(operation).collect();
    (!points.is_empty()).then(|| SweptNode {
        node,
        points: span.start as u64..span.end as u64,
        operations: operations.len() as u64,
        at_operations,
        at_steps: points.len() as u64 - at_operations,
    })
}

/// The look at a node's first life.
pub(super) fn first_life(node: NodeId, settings: &Settings) -> ProbedLife {
    ProbedLife {
        node,
        life: Life(0),
        opening: false,
        images_of: 0..u64::MAX,
        once: false,
        most_images: settings.most_images,
    }
}

/// A run of the plan itself, which must come to its end.
pub(super) fn whole(done: Done) -> Result<Done, Stopped> {
    match done.cut {
        Some(cut) => Err(Stopped::Cut(cut)),
        None => Ok(done),
    }
}
