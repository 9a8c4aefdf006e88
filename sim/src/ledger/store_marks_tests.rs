use super::*;
use crate::laws::fake::{Ledger, record, transaction};
use crate::plan::{Action, Burst, Fault, RecordOf, When};
use crate::units::{Life, MessageId};

const OF: RecordOf =
    RecordOf { origin: NodeId(1), destination: NodeId(3), class: Class::Application, table: Table::Receiver };

/// The marks of these events, after a plan's only act on node 3's store began.
fn reached(act: StoreAct, events: &[EngineEvent<'_>]) -> Vec<Mark> {
    let mut plan = Ledger::plan();
    let kind = FaultKind::Store { node: NodeId(3), act, stopped_us: 1 };
    plan.faults.push(Fault { id: FaultId(7), at: When::Time { us: 0 }, until_us: None, kind });
    let mut marks = StoreMarks::new(&plan);
    let mut reached = Vec::new();
    marks.event(&Event::FaultBegan { fault: FaultId(7) }, &mut |mark| reached.push(mark));
    for event in events {
        let event = Event::Engine { node: NodeId(3), life: Life(1), event: *event };
        marks.event(&event, &mut |mark| reached.push(mark));
    }
    reached
}

#[test]
fn an_act_counts_once_and_only_by_what_it_leads_to() {
    let told = |reason| EngineEvent::Unrestorable { record: record(1), reason, spells: None };
    let refused = |number| EngineEvent::UnavailableRefused {
        transition: groundhog_engine::host::observe::TransitionNumber(1),
        record: record(number),
        refused: 1,
    };
    let removed = StoreAct::RemoveRecord { of: OF };
    let events = [told("missing"), told("missing"), refused(1), refused(2)];
    assert_eq!(reached(removed, &events), [Mark::RecordRemoved, Mark::MissingRefused]);
    assert_eq!(reached(removed, &[told("misfiled"), refused(1)]), []);
    assert_eq!(reached(StoreAct::Swap { of: OF, with: OF }, &[told("misfiled")]), [Mark::RecordsSwapped]);
    let empty = EngineEvent::Opened { restored: 0, unrestorable: 0, next_batch: BatchNumber(1) };
    let full = EngineEvent::Opened { restored: 1, unrestorable: 0, next_batch: BatchNumber(1) };
    assert_eq!(reached(StoreAct::RemoveStore, &[full, empty, empty]), [Mark::StoreRemoved]);
    assert_eq!(reached(StoreAct::Clear { of: OF }, &[empty]), []);
}

#[test]
fn a_cleared_sender_began_again_only_in_its_own_stream() {
    let burst = Burst { count: 2, bytes: 1, ..Burst::one(NodeId(3), Class::Application) };
    let began_again = |of: RecordOf| {
        let mut plan = Ledger::plan();
        let act = Act::Send(burst.clone());
        plan.actions.push(Action { id: ActionId(90), at_us: 0, node: NodeId(1), act });
        let kind = FaultKind::Store { node: NodeId(1), act: StoreAct::Clear { of }, stopped_us: 1 };
        plan.faults.push(Fault { id: FaultId(7), at: When::Time { us: 0 }, until_us: None, kind });
        let mut marks = StoreMarks::new(&plan);
        let mut count = 0;
        let first = transaction(1, 3, 0, 1);
        let message = MessageId { action: ActionId(90), ordinal: 0 };
        let exposed = Event::Exposed { message, node: NodeId(1), life: Life(0), transaction: &first };
        for event in [exposed, Event::FaultBegan { fault: FaultId(7) }, exposed] {
            marks.event(&event, &mut |mark| count += u32::from(mark == Mark::SenderBeganAgain));
        }
        count
    };
    let sender = RecordOf { table: Table::Sender, ..OF };
    assert_eq!(began_again(sender), 1);
    assert_eq!(began_again(RecordOf { class: Class::E2e, ..sender }), 0);
    assert_eq!(began_again(OF), 0, "the receiver's record is another");
}
