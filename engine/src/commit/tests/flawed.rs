//! Each flaw of group commit shows.

use super::*;

async fn flawed(flaw: Flaw) -> Life {
    Life::of(&TestMachine::new(), Flaws::NONE.with(flaw)).await
}

#[tokio::test]
async fn early_release_returns_what_is_not_durable() {
    let life = flawed(Flaw::EarlyRelease).await;
    life.machine.hold("flush directory");
    assert_eq!(life.set(1, 10).now_or_never(), Some(Ok(BatchNumber(1))));
}

#[tokio::test]
async fn early_release_of_refusals_keeps_writes_waiting() {
    let life = flawed(Flaw::EarlyReleaseOfRefusals).await;
    life.machine.hold("flush directory");
    let mut written = life.set(1, 10);
    assert!(pending(&mut written));
    assert_eq!(life.look(1).now_or_never(), Some(Ok(Some(10))));
}

#[tokio::test]
async fn partial_undo_keeps_the_batch_above() {
    let life = flawed(Flaw::PartialUndo).await;
    life.machine.hold("flush directory");
    life.machine.fail("flush directory", "numbers", DiskErrorKind::Io);
    let failing = life.set(1, 10);
    settle().await;
    let above = life.set(2, 20);
    life.machine.let_go();
    failing.await.expect_err("undone");
    above.await.expect("kept");
    assert_eq!(life.values(), BTreeMap::from([(2, 20)]));
}

#[tokio::test]
async fn a_cancelled_caller_lets_a_stale_write_land_last() {
    let life = flawed(Flaw::CancelledCallerBreaksOrder).await;
    life.set(1, 1).await.expect("durable");
    settle().await;
    life.machine.hold("flush");
    let gone = life.set(1, 10);
    settle().await;
    drop(gone);
    settle().await;
    assert_eq!(life.values(), BTreeMap::from([(1, 1)]), "taken back, though its write goes on");
    let later = life.set(2, 20);
    settle().await;
    life.machine.let_go();
    later.await.expect("durable");
    settle().await;
    assert_eq!(life.on_disk(1).map(|(value, _)| value), Some(10), "the disk holds what memory does not");
}
