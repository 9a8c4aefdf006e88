//! What the acts of one plan license: for which nodes and streams, from when, and until when.
//!
//! Promise: read from the plan, and from when its acts begin and lives do; nothing that an engine says widens a licence.

use super::available::{Available, UNAVAILABLE};
use super::excuses::{LIMITS, Licence, Limit};
use super::lease::Lease;
use super::store_acts::Routes;
use super::{Names, Setting, second_runtime};
use crate::ledger::event::{Answer, Event};
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan::{Act, DiskFault, DiskOperation, FaultKind, Plan, StoreAct};
use crate::units::{FaultId, NodeId, SimTime};
use groundhog_engine::streams::key::{Class, Table};
use std::collections::BTreeMap;

/// Origin, destination and class.
type Route = (NodeId, NodeId, Class);

/// What one act touches.
#[derive(Clone, Copy, Debug)]
struct Touched {
    node: NodeId,
    /// The one stream that it touches; `None` for every stream of the node.
    stream: Option<Route>,
    licence: Licence,
    /// Whether it is over when every fault has ended.
    is_mended: bool,
}

/// An act that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    touched: Touched,
    fault: Option<FaultId>,
    since: SimTime,
    /// Whether the node's engines have opened since: what they found there is what they know.
    opened: bool,
    /// Whether it is undone: the node's next life knows nothing of it.
    is_over: bool,
}

impl Begun {
    const fn new(touched: Touched, fault: Option<FaultId>, since: SimTime) -> Self {
        Self { touched, fault, since, opened: false, is_over: false }
    }

    /// Whether it is in force for this law now.
    fn is_in_force(&self, law: &str) -> bool {
        match self.touched.licence {
            // What is sent was signed under a lease that nobody can see any more: by the life that has it in memory, or
            // before it, and sent again. Nothing new is signed until the record is cleared.
            Licence::RecordTouched if law == Lease::ID => true,
            // A store is read once: a record that is touched later is bad, and a stream begins again, for the next life.
            Licence::RecordTouched | Licence::SenderCleared => self.opened,
            _ => true,
        }
    }

    /// Whether a violation is one that it licenses.
    fn licenses(&self, violation: &Violation, event: Option<&Event<'_>>, route: Option<Route>) -> bool {
        let Touched { node, stream, licence, .. } = self.touched;
        let here = violation.node == Some(node);
        if self.since > violation.at || !self.is_in_force(violation.law) {
            return false;
        }
        let of_node = || here || route.is_some_and(|(origin, ..)| origin == node);
        match licence {
            // A bad record makes its own stream unavailable, at the node that holds it, and nothing else of it wrong.
            Licence::RecordTouched | Licence::Damage | Licence::FailedRead
                if violation.law == Available::ID =>
            {
                here && stream.is_none_or(|stream| route == Some(stream)) && event.is_some_and(is_unavailable)
            }
            Licence::RecordTouched => here && stream == route,
            // Only what that node can no longer show, or cannot read.
            Licence::StoreRemoved | Licence::Damage | Licence::FailedRead => here,
            // Wherever what was signed again is seen.
            Licence::SenderCleared => match stream {
                Some(stream) => route == Some(stream),
                None => route.is_some_and(|(origin, ..)| origin == node),
            },
            Licence::LyingFlush | Licence::PutBack => of_node(),
        }
    }
}

/// Whether a call is refused since its stream's record did not restore.
fn is_unavailable(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Answered { answer: Answer::Refused(UNAVAILABLE), .. }
            | Event::ReserveAnswered { refusal: Some(UNAVAILABLE), .. }
    )
}

/// The acts of one plan that license something for one law, and which of them have begun.
#[derive(Debug)]
pub(super) struct Licences {
    names: Names,
    routes: Routes,
    acts: BTreeMap<FaultId, Vec<Touched>>,
    /// Streams that an operator clears; `None` for all of the node.
    cleared: BTreeMap<FaultId, (NodeId, Option<Route>)>,
    begun: Vec<Begun>,
}

impl Licences {
    /// The acts of a plan that excuse a law from anything.
    pub(super) fn of(setting: &Setting, law: &str) -> Self {
        let excuses = |touched: &Touched| {
            LIMITS.iter().any(|limit| limit.licence == Some(touched.licence) && limit.laws.contains(&law))
        };
        let acts = setting.plan.faults.iter().filter_map(|fault| {
            let touched: Vec<Touched> = touched_by(&fault.kind).into_iter().filter(excuses).collect();
            (!touched.is_empty()).then_some((fault.id, touched))
        });
        let acts: BTreeMap<_, _> = acts.collect();
        let mut begun = put_back(&setting.plan, law);
        begun.extend(second_runtimes(&setting.plan, law));
        let is_empty = acts.is_empty() && begun.is_empty();
        let routes = if is_empty { Routes::default() } else { Routes::of(setting) };
        let cleared = if acts.is_empty() { BTreeMap::new() } else { cleared_by(&setting.plan) };
        Self { names: setting.names.clone(), routes, acts, cleared, begun }
    }

    /// Whether nothing in the plan could excuse the law.
    pub(super) fn is_empty(&self) -> bool {
        self.acts.is_empty() && self.begun.is_empty()
    }

    /// What it is to be told.
    pub(super) fn reads(&self) -> EventMask {
        let acts = EventMask::of(&[
            EventKind::FaultBegan,
            EventKind::FaultEnded,
            EventKind::Quiesced,
            EventKind::Booted,
            EventKind::Ready,
        ]);
        if self.acts.is_empty() { EventMask::NONE } else { acts }
    }

    /// Reads one event.
    pub(super) fn event(&mut self, at: SimTime, event: &Event<'_>) {
        match event {
            Event::FaultBegan { fault } => {
                if let Some((node, stream)) = self.cleared.get(fault).copied() {
                    self.end(|begun| {
                        let Touched { node: touched, stream: of, licence, .. } = begun.touched;
                        licence == Licence::RecordTouched
                            && touched == node
                            && (stream.is_none() || of == stream)
                    });
                }
                let touched = self.acts.get(fault).into_iter().flatten();
                self.begun.extend(touched.map(|touched| Begun::new(*touched, Some(*fault), at)));
            }
            Event::FaultEnded { fault } => {
                self.end(|begun| begun.fault == Some(*fault) && begun.touched.licence == Licence::FailedRead)
            }
            Event::Quiesced => self.end(|begun| begun.touched.is_mended),
            Event::Booted { node, .. } => self.booted(*node),
            Event::Ready { node, .. } => {
                let here = self.begun.iter_mut().filter(|begun| begun.touched.node == *node);
                here.for_each(|begun| begun.opened = true);
            }
            _ => {}
        }
    }

    fn end(&mut self, ends: impl Fn(&Begun) -> bool) {
        self.begun.iter_mut().filter(|begun| ends(begun)).for_each(|begun| begun.is_over = true);
    }

    fn booted(&mut self, node: NodeId) {
        self.begun.retain(|begun| {
            // What a law begins from is the disk again from a node's next life on.
            let is_over = begun.is_over || begun.touched.licence == Licence::StoreRemoved;
            begun.touched.node != node || !is_over
        });
    }

    /// The stream that an event is about.
    fn route(&self, event: &Event<'_>) -> Option<Route> {
        match event {
            Event::Exposed { transaction, .. }
            | Event::Arrived { transaction, .. }
            | Event::Answered { transaction, .. }
            | Event::Dispatched { transaction, .. } => {
                let stream = &transaction.stream;
                let (origin, destination) = (&stream.origin, &stream.destination);
                Some((self.names.node(origin)?, self.names.node(destination)?, stream.class))
            }
            Event::ReserveAnswered { message, .. } => self.routes.get(*message),
            _ => None,
        }
    }

    /// The limit that a violation counts as, if an act licenses it.
    pub(super) fn limit_of(&self, violation: &Violation, event: Option<&Event<'_>>) -> Option<&'static str> {
        let route = event.and_then(|event| self.route(event));
        let excuses = |limit: &&Limit| limit.laws.contains(&violation.law);
        LIMITS.iter().filter(excuses).find_map(|limit| {
            let licensed = |begun: &Begun| {
                limit.licence == Some(begun.touched.licence) && begun.licenses(violation, event, route)
            };
            self.begun.iter().any(licensed).then_some(limit.id)
        })
    }
}

/// Accounts with two live runtimes: the licence of a backup that is put back, for fewer laws.
fn second_runtimes(plan: &Plan, law: &str) -> Vec<Begun> {
    if !second_runtime::LAWS.contains(&law) {
        return Vec::new();
    }
    let nodes = second_runtime::nodes(plan);
    nodes.map(|(node, since)| forks(node, since)).collect()
}

/// Acts of the plan that put an earlier copy of a disk back: each licenses something from its time on.
fn put_back(plan: &Plan, law: &str) -> Vec<Begun> {
    let excuses = |limit: &Limit| limit.licence == Some(Licence::PutBack) && limit.laws.contains(&law);
    if !LIMITS.iter().any(excuses) {
        return Vec::new();
    }
    let acts = plan.actions.iter().filter(|action| matches!(action.act, Act::PutBack(_)));
    acts.map(|action| forks(action.node, SimTime::from_us(action.at_us))).collect()
}

/// A node whose allocator is another's too, from then on.
const fn forks(node: NodeId, since: SimTime) -> Begun {
    let touched = Touched { node, stream: None, licence: Licence::PutBack, is_mended: false };
    Begun::new(touched, None, since)
}

/// What operators clear.
fn cleared_by(plan: &Plan) -> BTreeMap<FaultId, (NodeId, Option<Route>)> {
    let cleared = plan.faults.iter().filter_map(|fault| match &fault.kind {
        FaultKind::Store { node, act: StoreAct::Clear { of }, .. } => {
            Some((fault.id, (*node, Some((of.origin, of.destination, of.class)))))
        }
        FaultKind::Store { node, act: StoreAct::RemoveStore, .. } => Some((fault.id, (*node, None))),
        _ => None,
    });
    cleared.collect()
}

fn touched_by(kind: &FaultKind) -> Vec<Touched> {
    let all = |node, licence| vec![Touched { node, stream: None, licence, is_mended: false }];
    match kind {
        FaultKind::Disk { node, fault, operations, .. } => match fault {
            DiskFault::LyingFlush => all(*node, Licence::LyingFlush),
            DiskFault::BadSector | DiskFault::FlippedBit => all(*node, Licence::Damage),
            DiskFault::Error | DiskFault::Stuck { fails: true } if reads(operations) => {
                all(*node, Licence::FailedRead)
            }
            _ => Vec::new(),
        },
        FaultKind::Store { node, act, stopped_us } => store_act(*node, act, *stopped_us == 0),
        _ => Vec::new(),
    }
}

fn store_act(node: NodeId, act: &StoreAct, while_it_runs: bool) -> Vec<Touched> {
    let is_mended = matches!(act, StoreAct::Unreadable { .. });
    let of_each = |licence: fn(Table) -> Option<Licence>| {
        let touched = act.records().into_iter().filter_map(|of| {
            let stream = Some((of.origin, of.destination, of.class));
            Some(Touched { node, stream, licence: licence(of.table)?, is_mended })
        });
        touched.collect()
    };
    match act {
        StoreAct::Clear { .. } => of_each(|table| (table == Table::Sender).then_some(Licence::SenderCleared)),
        StoreAct::RemoveStore => {
            let removed = while_it_runs.then_some(Licence::StoreRemoved);
            let licences = [Some(Licence::SenderCleared), removed].into_iter().flatten();
            licences.map(|licence| Touched { node, stream: None, licence, is_mended }).collect()
        }
        StoreAct::RemoveMarker { .. } | StoreAct::LowerBudget { .. } | StoreAct::SharedSnapshot => Vec::new(),
        _ => of_each(|_| Some(Licence::RecordTouched)),
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

#[cfg(test)]
#[path = "licences_tests.rs"]
mod tests;
