//! One table, fault kind x law: which act of the plan turns which broken law into which known limit.
//!
//! Promise: the default is that a law must hold. A limit is licensed only by an act of the plan that has begun, for the
//! node that it touches, from then on; never by what an engine says, never by an empty store, and never by a power
//! failure alone.

use super::licences::Licences;
use super::{Law, LawKind, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::units::SimTime;
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
        // The disk that was put back is what the next life begins from, and what it says is shown by it: no law that reads the
        // disk beside the events is excused. What is lost by it `streams/delivered` tells apart itself.
        laws: &[
            "streams/at-most-once",
            "streams/one-digest",
            "streams/honest",
            "streams/old-or-new",
            "streams/verdict",
            "streams/slots",
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
        // The lease law reads the disk: what was signed under a lease that somebody took away since, and is sent, cannot be
        // shown to be covered.
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
        // What is lost by it `streams/delivered` tells apart itself.
        laws: &["streams/one-digest", "streams/honest"],
    },
    Limit {
        id: "store-removed",
        means: "A store that is removed under a running node can no longer show what refusals were computed from; every write fails until the node restarts.",
        licence: Some(Licence::StoreRemoved),
        // Until that restart, and of that node alone: its refusals and results cannot be shown to be durable, and the
        // reference of `commit/undo` begins from a disk where the record is gone. It accepts nothing meanwhile, which
        // `streams/bad-records` watches, and so nothing else is excused.
        laws: &["streams/refusal-true", "commit/release", "commit/undo"],
    },
];

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
        if licences.is_empty() && ceilings.is_empty() {
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
        self.law.reads().with(self.licences.reads())
    }

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let kind = EventKind::of(event);
        if self.licences.reads().holds(kind) {
            self.licences.event(at, event);
        }
        if !self.law.reads().holds(kind) {
            return;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::catalogue;
    use crate::laws::fake::{Ledger, transaction};
    use crate::plan::{Death, DiskFault, Fault, FaultKind, StoreAct, When};
    use crate::units::{FaultId, NodeId};
    use groundhog_engine::streams::key::{Class, Table};

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
