//! One table, fault kind x law: which act of the plan turns which broken law into which known limit.
//!
//! Promise: the default is that a law must hold. A limit is licensed only by an act of the plan that has begun, for the
//! node that it touches, from then on; never by what an engine says, never by an empty store, and never by a power
//! failure alone.

use super::store_acts::Routes;
use super::{Law, LawKind, Names, Setting, View, second_runtime};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan::{Act, DiskFault, DiskOperation, FaultKind, Plan, StoreAct};
use crate::units::{FaultId, NodeId, SimTime};
use groundhog_engine::streams::key::{Class, Table};
use std::collections::BTreeMap;

/// The limit that stands for sequences that were signed twice because an earlier allocator was put back.
pub const TWO_ALLOCATORS: &str = "forks-by-two-allocators";

/// A kind of act that licenses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Licence {
    /// A flush that reported success and made nothing durable: from then on a power failure may roll the node back.
    LyingFlush,
    /// A flipped bit or a bad sector: from then on records of the node may be damaged.
    Damage,
    /// An earlier copy of the node's disk that was put back: from then on the node has forgotten what came since. Or a
    /// second runtime of its account: from then on another signs what it signs.
    PutBack,
    /// Reads, listings or opens that fail: from then on records of the node may be unreadable to a life that opens.
    FailedRead,
    /// A record that somebody damaged, moved or took away: its stream is unavailable.
    RecordTouched,
    /// A sender's record that an operator cleared, or that went with its store: the stream's sequences begin again.
    SenderCleared,
    /// The store's directory, removed from under a node that runs.
    StoreRemoved,
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
            "streams/slots",
            "streams/refusal-ends",
            "streams/bad-records",
            "streams/mail",
            "streams/at-most-once",
            "streams/one-digest",
            "streams/honest",
            "streams/old-or-new",
            "streams/refusal-true",
            "streams/available",
            "streams/delivered",
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
            "streams/slots",
            "streams/old-or-new",
            "streams/available",
            "streams/refusal-true",
            "streams/lease",
            "commit/release",
            "commit/order",
            "streams/delivered",
            "streams/bad-records",
        ],
    },
    Limit {
        id: "unreadable-record",
        means: "A record that could not be read at open fails closed: its stream is unavailable until the next life.",
        licence: Some(Licence::FailedRead),
        laws: &["streams/slots", "streams/available", "streams/delivered", "streams/bad-records"],
    },
    Limit {
        id: TWO_ALLOCATORS,
        means: "Two runtimes on one allocator, or a backup that is put back, sign sequences twice: an honest node is shown as forking.",
        licence: Some(Licence::PutBack),
        laws: &[
            "streams/at-most-once",
            "streams/one-digest",
            "streams/honest",
            "streams/old-or-new",
            "streams/refusal-true",
            "streams/delivered",
            "streams/lease",
            "streams/verdict",
            "streams/slots",
            "commit/release",
            "commit/order",
        ],
    },
    Limit {
        id: super::slots::NEWCOMER,
        means: "A connection that is admitted into a slot that others charged has its fair claim alone until that is spent.",
        licence: None,
        laws: &["streams/slots"],
    },
    Limit {
        id: super::delivered::EXPIRED_BY_CLOCK,
        means: "A clock outside its tolerance makes honest delegations look expired or unborn.",
        licence: None,
        laws: &["streams/delivered"],
    },
    Limit {
        id: super::old_or_new::FAILED_BATCH_LANDED,
        means: "A batch that failed may be on the disk all the same: after a restart its transactions were admitted, and nobody was told.",
        licence: None,
        laws: &["streams/old-or-new"],
    },
    Limit {
        id: super::at_most_once::CLOCK_EXCURSION,
        means: "A wall clock that runs past what streams wait for, and back, lets a node forget what can still be delivered.",
        licence: None,
        laws: &["streams/at-most-once"],
    },
    Limit {
        id: super::conservation::CANCELLED_CALLER,
        means: "A caller that gives up abandons only its wait: its transition stands, and its message is lost.",
        licence: None,
        laws: &["streams/conservation"],
    },
    Limit {
        id: "unavailable-stream",
        means: "A stream whose record was damaged, moved or taken away fails closed until an operator clears it.",
        licence: Some(Licence::RecordTouched),
        // What was signed before is sent again when its lease can no longer be seen.
        laws: &["streams/available", "streams/lease"],
    },
    Limit {
        id: super::at_most_once::CLEARED_RECEIVER,
        means: "A receiver's stream that was cleared begins again: what has not expired may be admitted once more.",
        licence: None,
        laws: &["streams/at-most-once"],
    },
    Limit {
        id: super::delivered::CLEARED_SENDER,
        means: "A sender's stream that was cleared begins again at sequence 0: what it signs is stale, then a fork, and lost, until past the receiver's window.",
        licence: Some(Licence::SenderCleared),
        laws: &["streams/one-digest", "streams/honest", "streams/delivered", "streams/lease"],
    },
    Limit {
        id: "store-removed",
        means: "A store that is removed under a running node can no longer show what refusals were computed from; every write fails until the node restarts.",
        licence: Some(Licence::StoreRemoved),
        laws: &[
            "streams/refusal-true",
            "streams/verdict",
            "streams/delivered",
            "streams/lease",
            "commit/release",
            "commit/undo",
            "commit/undo-digest",
        ],
    },
];

/// Origin, destination and class.
type Route = (NodeId, NodeId, Class);

/// What one act touches.
#[derive(Clone, Copy, Debug)]
struct Touched {
    node: NodeId,
    /// The one stream that it touches; `None` for every stream of the node.
    stream: Option<Route>,
    licence: Licence,
}

/// The acts of one plan that license something, and which of them have begun.
#[derive(Debug)]
struct Licences {
    names: Names,
    routes: Routes,
    acts: BTreeMap<FaultId, Vec<Touched>>,
    begun: Vec<(Touched, SimTime)>,
}

impl Licences {
    /// The acts of a plan that excuse a law from anything.
    fn of(setting: &Setting, law: &str) -> Self {
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
        let routes =
            if acts.is_empty() && begun.is_empty() { Routes::default() } else { Routes::of(setting) };
        Self { names: setting.names.clone(), routes, acts, begun }
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

    /// What a law begins from is the disk again from a node's next life on.
    fn booted(&mut self, node: NodeId) {
        self.begun.retain(|(touched, _)| touched.node != node || touched.licence != Licence::StoreRemoved);
    }

    /// The limit that a violation counts as, if an act touched the stream that showed it, or, where the act touched every
    /// stream of a node, the node where it was seen or the origin of the transaction that showed it.
    fn limit_of(&self, violation: &Violation, event: Option<&Event<'_>>) -> Option<&'static str> {
        let route = event.and_then(|event| self.route(event));
        let is_touched = |touched: &Touched| match touched.stream {
            Some(stream) => route == Some(stream),
            None => {
                violation.node == Some(touched.node)
                    || route.is_some_and(|(origin, ..)| origin == touched.node)
            }
        };
        LIMITS.iter().find_map(|limit| {
            let licensed = |(touched, since): &(Touched, SimTime)| {
                limit.licence == Some(touched.licence) && is_touched(touched) && *since <= violation.at
            };
            (limit.laws.contains(&violation.law) && self.begun.iter().any(licensed)).then_some(limit.id)
        })
    }
}

/// A law with its excuses: what an act of the plan licenses is counted as a limit, and a limit beyond the plan's ceiling
/// breaks the law after all.
pub struct Excused {
    law: Box<dyn Law>,
    licences: Licences,
    ceilings: BTreeMap<String, u64>,
    fresh: Vec<Violation>,
    limits: BTreeMap<&'static str, u64>,
}

impl Excused {
    /// The law as a run of this setting checks it: itself, where nothing in the plan could excuse it.
    #[must_use]
    pub fn over(law: Box<dyn Law>, setting: &Setting) -> Box<dyn Law> {
        let licences = Licences::of(setting, law.id());
        let ceilings = setting.plan.limits.clone();
        if licences.acts.is_empty() && licences.begun.is_empty() && ceilings.is_empty() {
            return law;
        }
        Box::new(Self { law, licences, ceilings, fresh: Vec::new(), limits: BTreeMap::new() })
    }

    fn settle(&mut self, event: Option<&Event<'_>>, broken: &mut Vec<Violation>) {
        for violation in self.fresh.drain(..) {
            match self.licences.limit_of(&violation, event) {
                Some(limit) => *self.limits.entry(limit).or_default() += 1,
                None => broken.push(violation),
            }
        }
    }
}

impl Law for Excused {
    fn id(&self) -> &'static str {
        self.law.id()
    }

    fn kind(&self) -> LawKind {
        self.law.kind()
    }

    fn states(&self) -> &'static str {
        self.law.states()
    }

    fn reads(&self) -> EventMask {
        let faults = EventMask::of(&[EventKind::FaultBegan, EventKind::Booted]);
        self.law.reads().with(if self.licences.acts.is_empty() { EventMask::NONE } else { faults })
    }

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        if let Event::FaultBegan { fault } = event {
            let touched = self.licences.acts.get(fault).into_iter().flatten();
            self.licences.begun.extend(touched.map(|touched| (*touched, at)));
            if !self.law.reads().holds(EventKind::FaultBegan) {
                return;
            }
        }
        if let Event::Booted { node, .. } = event {
            self.licences.booted(*node);
            if !self.law.reads().holds(EventKind::Booted) {
                return;
            }
        }
        self.law.event(at, event, view, &mut self.fresh);
        if !self.fresh.is_empty() {
            self.settle(Some(event), broken);
        }
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        self.law.limits(into);
        for (limit, count) in &self.limits {
            *into.entry(limit).or_default() += count;
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        self.law.end(at, view, &mut self.fresh);
        self.settle(None, broken);
        let mut met = BTreeMap::new();
        self.limits(&mut met);
        for (limit, count) in met {
            if let Some(ceiling) = self.ceilings.get(limit).filter(|ceiling| count > **ceiling) {
                let saw = format!("limit {limit} was met {count} times, and its ceiling is {ceiling}");
                broken.push(Violation { law: self.law.id(), at, node: None, saw });
            }
        }
    }
}

/// Acts of the plan that put an earlier copy of a disk back: each licenses something from its time on.
fn put_back(plan: &Plan, law: &str) -> Vec<(Touched, SimTime)> {
    let excuses = |limit: &Limit| limit.licence == Some(Licence::PutBack) && limit.laws.contains(&law);
    if !LIMITS.iter().any(excuses) {
        return Vec::new();
    }
    let acts = plan.actions.iter().filter(|action| matches!(action.act, Act::PutBack(_)));
    let touched = |node| Touched { node, stream: None, licence: Licence::PutBack };
    acts.map(|action| (touched(action.node), SimTime::from_us(action.at_us))).collect()
}

/// Accounts with two live runtimes: the same licence, for fewer laws.
fn second_runtimes(plan: &Plan, law: &str) -> Vec<(Touched, SimTime)> {
    if !second_runtime::LAWS.contains(&law) {
        return Vec::new();
    }
    let touched = |node| Touched { node, stream: None, licence: Licence::PutBack };
    second_runtime::nodes(plan).map(|(node, since)| (touched(node), since)).collect()
}

fn touched_by(kind: &FaultKind) -> Vec<Touched> {
    let all = |node, licence| vec![Touched { node, stream: None, licence }];
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
    let of_each = |licence: fn(Table) -> Option<Licence>| {
        let touched = act.records().into_iter().filter_map(|of| {
            let stream = Some((of.origin, of.destination, of.class));
            Some(Touched { node, stream, licence: licence(of.table)? })
        });
        touched.collect()
    };
    match act {
        StoreAct::Clear { .. } => of_each(|table| (table == Table::Sender).then_some(Licence::SenderCleared)),
        StoreAct::RemoveStore => {
            let removed = while_it_runs.then_some(Licence::StoreRemoved);
            let licences = [Some(Licence::SenderCleared), removed].into_iter().flatten();
            licences.map(|licence| Touched { node, stream: None, licence }).collect()
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
mod tests {
    use super::*;
    use crate::laws::catalogue;
    use crate::laws::fake::{Ledger, transaction};
    use crate::plan::{Death, Fault, When};

    fn fault(node: u16, fault: DiskFault) -> FaultKind {
        FaultKind::Disk { node: NodeId(node), fault, operations: Vec::new(), skip: 0, count: 0 }
    }

    /// Node 1 signs two transactions with one sequence, after a fault of the plan began, or before.
    fn signed_twice(
        kind: FaultKind,
        begun: bool,
        ceiling: Option<u64>,
    ) -> (usize, BTreeMap<&'static str, u64>) {
        let mut plan = Ledger::plan();
        plan.faults.push(Fault { id: FaultId(7), at: When::Time { us: 0 }, until_us: None, kind });
        plan.limits.extend(ceiling.map(|ceiling| (String::from("rolled-back-by-lying-flush"), ceiling)));
        let setting = Ledger::setting_of(plan);
        let law = (catalogue::by_id("streams/one-digest").unwrap().build)(&setting);
        let mut ledger = Ledger::over(Excused::over(law, &setting));
        if begun {
            ledger.event(&Event::FaultBegan { fault: FaultId(7) });
        }
        ledger.exposed(1, &transaction(1, 3, 0, 1));
        ledger.died(1, Death::Power);
        ledger.exposed(1, &transaction(1, 3, 0, 2));
        let (saw, limits) = ledger.finish_with_limits();
        (saw.len(), limits)
    }

    #[test]
    fn only_an_act_that_began_and_touches_the_node_licenses_a_limit() {
        let licensed = BTreeMap::from([("rolled-back-by-lying-flush", 1)]);
        assert_eq!(signed_twice(fault(1, DiskFault::LyingFlush), true, None), (0, licensed.clone()));
        assert_eq!(signed_twice(fault(1, DiskFault::LyingFlush), false, None), (1, BTreeMap::new()));
        assert_eq!(signed_twice(fault(2, DiskFault::LyingFlush), true, None), (1, BTreeMap::new()));
        assert_eq!(signed_twice(fault(1, DiskFault::FlippedBit), true, None), (1, BTreeMap::new()));
        let crash = FaultKind::Crash { node: NodeId(1), death: Death::Power, down_us: 0, survivors: None };
        assert_eq!(
            signed_twice(crash, true, None),
            (1, BTreeMap::new()),
            "a loss of power is never a licence"
        );
        assert_eq!(signed_twice(fault(1, DiskFault::LyingFlush), true, Some(1)), (0, licensed.clone()));
        assert_eq!(
            signed_twice(fault(1, DiskFault::LyingFlush), true, Some(0)),
            (1, licensed),
            "beyond its ceiling"
        );
    }

    #[test]
    fn a_cleared_stream_excuses_itself_and_no_other() {
        use crate::plan::RecordOf;
        let of = |class, table| RecordOf { origin: NodeId(1), destination: NodeId(3), class, table };
        let clear = |of| FaultKind::Store { node: NodeId(1), act: StoreAct::Clear { of }, stopped_us: 1 };
        let licensed = BTreeMap::from([("cleared-sender", 1)]);
        let own = clear(of(Class::Application, Table::Sender));
        assert_eq!(signed_twice(own, true, None), (0, licensed.clone()));
        let other_class = clear(of(Class::E2e, Table::Sender));
        assert_eq!(signed_twice(other_class, true, None), (1, BTreeMap::new()));
        let removed =
            |node| FaultKind::Store { node: NodeId(node), act: StoreAct::RemoveStore, stopped_us: 1 };
        assert_eq!(signed_twice(removed(1), true, None), (0, licensed));
        assert_eq!(signed_twice(removed(3), true, None), (1, BTreeMap::new()), "another node's store");
    }

    #[test]
    fn every_limit_excuses_laws_that_exist_and_its_id_is_its_own() {
        for (place, limit) in LIMITS.iter().enumerate() {
            assert!(!limit.means.is_empty() && !limit.laws.is_empty(), "{}", limit.id);
            assert!(LIMITS[place + 1..].iter().all(|other| other.id != limit.id), "{}", limit.id);
            for law in limit.laws {
                assert!(catalogue::by_id(law).is_some(), "{} excuses {law}", limit.id);
            }
        }
    }
}
