use super::*;
use crate::laws::fake::{COPY, Ledger, transaction};
use crate::laws::{Law, catalogue, excuses::Excused};
use crate::plan::{Death, Fault, RecordOf, When};
use groundhog_engine::streams::window::VerdictKind;

const OF: RecordOf =
    RecordOf { origin: NodeId(1), destination: NodeId(3), class: Class::Application, table: Table::Receiver };

/// A law of a plan with these acts on nodes' stores, numbered in their order.
fn ledger(law: &str, acts: &[(u16, StoreAct)]) -> Ledger<Box<dyn Law>> {
    let mut plan = Ledger::plan();
    for (id, (node, act)) in (0..).zip(acts) {
        let kind = FaultKind::Store { node: NodeId(*node), act: *act, stopped_us: 0 };
        plan.faults.push(Fault { id: FaultId(id), at: When::Time { us: 0 }, until_us: None, kind });
    }
    let setting = Ledger::setting_of(plan);
    Ledger::over(Excused::over((catalogue::by_id(law).unwrap().build)(&setting), &setting))
}

fn begins<L: Law>(ledger: &mut Ledger<L>, fault: u32) {
    ledger.event(&Event::FaultBegan { fault: FaultId(fault) });
}

fn refuses<L: Law>(ledger: &mut Ledger<L>, node: u16, origin: u16, reason: &'static str) {
    ledger.arrived(node, &transaction(origin, node, 1, 1), COPY);
    ledger.answered(node, &transaction(origin, node, 1, 1), COPY, Answer::Refused(reason));
}

#[test]
fn a_record_that_is_touched_makes_its_stream_unavailable_from_the_next_life_on() {
    let unavailable = |restarts: bool, node: u16, origin: u16, reason| {
        let mut ledger = ledger(Available::ID, &[(3, StoreAct::RemoveRecord { of: OF })]);
        begins(&mut ledger, 0);
        if restarts {
            ledger.restarted(3);
        }
        refuses(&mut ledger, node, origin, reason);
        ledger.finish_with_limits()
    };
    let (saw, limits) = unavailable(true, 3, 1, UNAVAILABLE);
    assert_eq!((saw.len(), limits), (0, BTreeMap::from([("unavailable-stream", 1)])));
    assert_eq!(unavailable(false, 3, 1, UNAVAILABLE).0.len(), 1, "the store was read before");
    assert_eq!(unavailable(true, 3, 2, UNAVAILABLE).0.len(), 1, "another stream");
    assert_eq!(unavailable(true, 2, 1, UNAVAILABLE).0.len(), 1, "another node");
    assert_eq!(unavailable(true, 3, 1, "stream-capacity-exceeded").0.len(), 1, "another reason");
}

#[test]
fn a_stream_that_was_cleared_is_available_from_the_next_life_on() {
    for (clears, breaks) in
        [(StoreAct::Clear { of: OF }, 1), (StoreAct::RemoveStore, 1), (StoreAct::SharedSnapshot, 0)]
    {
        let mut ledger = ledger(Available::ID, &[(3, StoreAct::RemoveRecord { of: OF }), (3, clears)]);
        begins(&mut ledger, 0);
        ledger.restarted(3);
        begins(&mut ledger, 1);
        refuses(&mut ledger, 3, 1, UNAVAILABLE);
        ledger.restarted(3);
        refuses(&mut ledger, 3, 1, UNAVAILABLE);
        assert_eq!(ledger.finish().len(), breaks, "{clears:?}");
    }
}

#[test]
fn what_could_not_be_read_can_be_once_every_fault_has_ended_and_the_node_has_restarted() {
    for (quiesced, restarts, breaks) in [(false, true, 0), (true, false, 0), (true, true, 1)] {
        let mut ledger = ledger(Available::ID, &[(3, StoreAct::Unreadable { of: OF, sector: 0 })]);
        begins(&mut ledger, 0);
        ledger.restarted(3);
        if quiesced {
            ledger.event(&Event::Quiesced);
        }
        if restarts {
            ledger.restarted(3);
        }
        refuses(&mut ledger, 3, 1, UNAVAILABLE);
        assert_eq!(ledger.finish().len(), breaks, "{quiesced} {restarts}");
    }
}

#[test]
fn what_was_signed_under_a_lease_that_was_taken_away_is_sent_until_the_stream_is_cleared() {
    let of = RecordOf { table: Table::Sender, ..OF };
    for (origin, clears, breaks) in [(1, false, 0), (1, true, 1), (2, false, 1)] {
        let acts = [(1, StoreAct::RemoveRecord { of }), (1, StoreAct::Clear { of })];
        let mut ledger = ledger(Lease::ID, &acts);
        begins(&mut ledger, 0);
        if clears {
            begins(&mut ledger, 1);
        }
        ledger.restarted(1);
        ledger.exposed(origin, &transaction(origin, 3, 0, 1));
        assert_eq!(ledger.finish().len(), breaks, "of node {origin}, cleared: {clears}");
    }
}

#[test]
fn a_removed_store_excuses_what_its_own_node_refuses_until_it_restarts() {
    for (node, restarts, breaks) in [(3, false, 0), (3, true, 1), (1, false, 1)] {
        let mut ledger = ledger("streams/refusal-true", &[(node, StoreAct::RemoveStore)]);
        begins(&mut ledger, 0);
        if restarts {
            ledger.restarted(3);
        }
        ledger.admitted(3, &transaction(1, 3, 7, 7), COPY, VerdictKind::Replay);
        assert_eq!(ledger.finish().len(), breaks, "of node {node}, restarts: {restarts}");
    }
}

#[test]
fn what_is_signed_again_is_licensed_once_the_sender_has_opened_anew() {
    let of = RecordOf { table: Table::Sender, ..OF };
    for (restarts, breaks) in [(false, 1), (true, 0)] {
        let mut ledger = ledger("streams/one-digest", &[(1, StoreAct::Clear { of })]);
        ledger.exposed(1, &transaction(1, 3, 0, 1));
        begins(&mut ledger, 0);
        if restarts {
            ledger.died(1, Death::Process);
        }
        ledger.exposed(1, &transaction(1, 3, 0, 2));
        assert_eq!(ledger.finish().len(), breaks, "restarts: {restarts}");
    }
}
