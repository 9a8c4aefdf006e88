use super::*;
use crate::laws::fake::{HONEST, Image, Ledger, receiver_record, transaction};
use crate::ledger::event::Passage;
use crate::plan::{Death, Fault, FaultKind, RecordOf, When};
use crate::units::FaultId;
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::window::VerdictKind;

const ACT: FaultId = FaultId(7);

fn of(origin: u16) -> RecordOf {
    let (origin, destination) = (NodeId(origin), NodeId(3));
    RecordOf { origin, destination, class: Class::Application, table: Table::Receiver }
}

/// A run in which this is done to the store of node 3.
fn ledger(act: StoreAct, stopped_us: u64) -> Ledger<BadRecords> {
    let mut plan = Ledger::plan();
    let kind = FaultKind::Store { node: NodeId(3), act, stopped_us };
    plan.faults.push(Fault { id: ACT, at: When::Time { us: 0 }, until_us: None, kind });
    Ledger::over(BadRecords::new(&Ledger::setting_of(plan)))
}

fn answered(ledger: &mut Ledger<BadRecords>, origin: u16, answer: Answer) {
    let sent = transaction(origin, 3, 1, 1);
    ledger.arrived(3, &sent, HONEST);
    ledger.answered(3, &sent, HONEST, answer);
}

/// Node 3 holds this image as the record of node 1's stream, boots, and gives these answers to node 1 and node 2.
fn after_a_boot(image: Image, orphan: bool, to_its_own: Answer, to_another: Answer) -> Vec<String> {
    let mut ledger = ledger(StoreAct::RemoveRecord { of: of(1) }, 1);
    ledger.event(&Event::FaultBegan { fault: ACT });
    let (bad, good) = (receiver_record(1, 3), receiver_record(2, 3));
    if orphan {
        ledger.view.orphans.push((NodeId(3), bad));
    } else {
        ledger.view.visible(3, bad, image, true);
    }
    ledger.view.visible(3, good, Image::Window(1, (2, 3), vec![(0, 2)]), true);
    ledger.died(3, Death::Process);
    ledger.restarted(3);
    answered(&mut ledger, 1, to_its_own);
    answered(&mut ledger, 2, to_another);
    ledger.finish()
}

const REFUSED: Answer = Answer::Refused(UNAVAILABLE);
const FIRST: Answer = Answer::Verdict(VerdictKind::First);

#[test]
fn a_bad_record_refuses_its_own_stream_and_no_other() {
    let misfiled = || Image::Window(1, (2, 3), vec![(0, 2)]);
    for (image, orphan, why) in [
        (Image::Torn, false, "torn or unreadable"),
        (misfiled(), false, "the record of another stream"),
        (Image::Absent, true, "gone, and was marked"),
    ] {
        assert_eq!(after_a_boot(image.clone(), orphan, REFUSED, FIRST), Vec::<String>::new(), "{why}");
        let served = after_a_boot(image.clone(), orphan, FIRST, FIRST);
        assert!(served.len() == 1 && served[0].contains(why), "{served:?}");
        let refused = after_a_boot(image, orphan, REFUSED, REFUSED);
        assert!(refused.len() == 1 && refused[0].contains("its record restores"), "{refused:?}");
    }
}

#[test]
fn a_bad_record_is_kept_until_somebody_lays_hands_on_it() {
    for touched in [true, false] {
        let mut ledger = ledger(StoreAct::Clear { of: of(1) }, 1);
        ledger.view.visible(3, receiver_record(1, 3), Image::Torn, true);
        ledger.restarted(3);
        if touched {
            ledger.event(&Event::FaultBegan { fault: ACT });
        }
        ledger.view = Default::default();
        ledger.died(3, Death::Process);
        ledger.restarted(3);
        assert_eq!(ledger.finish().len(), usize::from(!touched));
    }
}

#[test]
fn a_directory_that_is_gone_lets_nothing_in_until_the_next_life() {
    for (stopped_us, breaks) in [(0, 1), (1, 0)] {
        let mut ledger = ledger(StoreAct::RemoveStore, stopped_us);
        ledger.restarted(3);
        let before = transaction(1, 3, 9, 9);
        ledger.arrived(3, &before, HONEST);
        ledger.event(&Event::FaultBegan { fault: ACT });
        ledger.answered(3, &before, HONEST, FIRST);
        answered(&mut ledger, 1, Answer::FailedBatch);
        answered(&mut ledger, 2, FIRST);
        ledger.restarted(3);
        answered(&mut ledger, 2, FIRST);
        assert_eq!(ledger.finish().len(), breaks);
    }
}

#[test]
fn a_connection_s_window_admits_without_a_directory() {
    for (link, breaks) in [(None, 1), (Some(1), 0)] {
        let mut ledger = ledger(StoreAct::RemoveStore, 0);
        ledger.restarted(3);
        ledger.event(&Event::FaultBegan { fault: ACT });
        ledger.admitted(3, &transaction(1, 3, 9, 9), Passage { link, ..HONEST }, VerdictKind::First);
        assert_eq!(ledger.finish().len(), breaks);
    }
}

#[test]
fn a_directory_that_goes_before_its_node_is_open_may_be_made_by_it() {
    let mut ledger = ledger(StoreAct::RemoveStore, 0);
    ledger.event(&Event::FaultBegan { fault: ACT });
    answered(&mut ledger, 1, FIRST);
    assert_eq!(ledger.finish(), Vec::<String>::new());
}

#[test]
fn a_store_is_read_by_its_open_and_never_again() {
    let mut ledger = ledger(StoreAct::SharedSnapshot, 1);
    let read = |ledger: &mut Ledger<BadRecords>| {
        let (node, life, number, operation, bytes) = (NodeId(3), ledger.life(3), 9, DiskOperation::Read, 0);
        let error = None::<DiskErrorKind>;
        ledger.event(&Event::DiskAnswered { node, life, number, operation, bytes, error, injected: false });
    };
    read(&mut ledger);
    ledger.restarted(3);
    read(&mut ledger);
    assert!(ledger.finish()[0].contains("after the one scan"));
}
