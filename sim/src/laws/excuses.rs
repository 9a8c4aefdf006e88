//! One table, fault kind x law: which act of the plan turns which broken law into which known limit.
//!
//! Promise: the default is that a law must hold. A limit is licensed only by an act of the plan that has begun, for the
//! node that it touches, from then on; never by what an engine says, never by an empty store, and never by a power
//! failure alone.

use super::Names;
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::plan::{DiskFault, DiskOperation, FaultKind, Plan};
use crate::units::{FaultId, NodeId, SimTime};
use std::collections::BTreeMap;

/// A kind of act that licenses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Licence {
    /// A flush that reported success and made nothing durable: from then on a power failure may roll the node back.
    LyingFlush,
    /// A flipped bit or a bad sector: from then on records of the node may be damaged.
    Damage,
    /// Reads, listings or opens that fail: from then on records of the node may be unreadable to a life that opens.
    FailedRead,
    /// A clock that steps, stands or boots wrong: from then on delegations may be judged live or expired wrongly.
    Clock,
}

/// One known limit: which law it excuses, under which act, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its id, as plans give its ceiling.
    pub id: &'static str,
    /// What it means for a user, in one sentence.
    pub means: &'static str,
    /// The act that licenses it; `None` for one that the law itself tells apart from a break.
    pub licence: Option<Licence>,
    /// The laws that it excuses.
    pub laws: &'static [&'static str],
}

/// Every known limit.
pub const LIMITS: &[Limit] = &[
    Limit {
        id: "rolled-back-by-lying-flush",
        means: "A disk that lies about its flushes loses durable state at a power failure: the guarantee ends there.",
        licence: Some(Licence::LyingFlush),
        laws: &[
            "streams/at-most-once",
            "streams/one-digest",
            "streams/honest",
            "streams/old-or-new",
            "streams/refusal-true",
            "streams/available",
            "streams/lease",
            "store/markers",
            "commit/release",
        ],
    },
    Limit {
        id: "damaged-record",
        means: "A record whose sectors were damaged fails closed: its stream is unavailable until an operator clears it.",
        licence: Some(Licence::Damage),
        laws: &[
            "streams/old-or-new",
            "streams/available",
            "streams/refusal-true",
            "streams/lease",
            "commit/release",
            "streams/delivered",
        ],
    },
    Limit {
        id: "unreadable-record",
        means: "A record that could not be read at open fails closed: its stream is unavailable until the next life.",
        licence: Some(Licence::FailedRead),
        laws: &["streams/available", "streams/delivered"],
    },
    Limit {
        id: "expired-by-clock",
        means: "A clock outside its tolerance makes honest delegations look expired or unborn.",
        licence: Some(Licence::Clock),
        laws: &["streams/delivered"],
    },
];

/// The licences of one run.
#[derive(Debug)]
pub struct Excuses {
    names: Names,
    acts: BTreeMap<FaultId, (NodeId, Licence)>,
    begun: Vec<(NodeId, Licence, SimTime)>,
    ceilings: BTreeMap<String, u64>,
}

impl Excuses {
    /// Reads the acts of a plan.
    #[must_use]
    pub fn new(plan: &Plan, names: Names) -> Self {
        let acts = plan.faults.iter().filter_map(|fault| Some((fault.id, licence_of(&fault.kind)?)));
        Self { names, acts: acts.collect(), begun: Vec::new(), ceilings: plan.limits.clone() }
    }

    /// A fault of the plan takes effect.
    pub fn began(&mut self, fault: FaultId, at: SimTime) {
        if let Some((node, licence)) = self.acts.get(&fault) {
            self.begun.push((*node, *licence, at));
        }
    }

    /// The limit that a violation counts as, if an act touched the node where it was seen, or the origin or destination of
    /// the transaction that showed it.
    #[must_use]
    pub fn limit_of(&self, violation: &Violation, event: Option<&Event<'_>>) -> Option<&'static str> {
        let stream = match event {
            Some(
                Event::Exposed { transaction, .. }
                | Event::Arrived { transaction, .. }
                | Event::Answered { transaction, .. }
                | Event::Dispatched { transaction, .. },
            ) => Some(&transaction.stream),
            _ => None,
        };
        let origin = stream.and_then(|stream| self.names.node(&stream.origin));
        let touched = |node: NodeId| violation.node == Some(node) || origin == Some(node);
        LIMITS.iter().find_map(|limit| {
            let licensed = |(node, licence, since): &(NodeId, Licence, SimTime)| {
                limit.licence == Some(*licence) && touched(*node) && *since <= violation.at
            };
            (limit.laws.contains(&violation.law) && self.begun.iter().any(licensed)).then_some(limit.id)
        })
    }

    /// Limits that went beyond their ceilings; each breaks the first law that it excuses.
    pub fn passed(&self, at: SimTime, limits: &BTreeMap<&'static str, u64>, broken: &mut Vec<Violation>) {
        for (id, count) in limits {
            let Some(ceiling) = self.ceilings.get(*id) else { continue };
            let limit = LIMITS.iter().find(|limit| limit.id == *id);
            let law = limit.and_then(|limit| limit.laws.first()).copied();
            if let Some(law) = law.filter(|_| count > ceiling) {
                let saw = format!("limit {id} was met {count} times, its ceiling is {ceiling}");
                broken.push(Violation { law, at, node: None, saw });
            }
        }
    }
}

fn licence_of(kind: &FaultKind) -> Option<(NodeId, Licence)> {
    match kind {
        FaultKind::Disk { node, fault, operations, .. } => {
            let licence = match fault {
                DiskFault::LyingFlush => Licence::LyingFlush,
                DiskFault::BadSector | DiskFault::FlippedBit => Licence::Damage,
                DiskFault::Error | DiskFault::Stuck { fails: true } if reads(operations) => {
                    Licence::FailedRead
                }
                _ => return None,
            };
            Some((*node, licence))
        }
        FaultKind::Clock { node, .. } => Some((*node, Licence::Clock)),
        _ => None,
    }
}

/// Whether a fault on these operations (all when empty) strikes one that an open reads with.
fn reads(operations: &[DiskOperation]) -> bool {
    let reading = |operation: &DiskOperation| {
        matches!(
            operation,
            DiskOperation::Open | DiskOperation::Read | DiskOperation::Length | DiskOperation::List
        )
    };
    operations.is_empty() || operations.iter().any(reading)
}
