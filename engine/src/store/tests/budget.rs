//! The budget: a write beyond it changes nothing, an open under a lowered one says so, nothing is ever evicted.

use super::*;
use crate::store::StoreError;
use crate::store::frame::OVERHEAD_BYTES;

/// Bytes of a record file with a one-byte key.
const fn file(value_bytes: u64) -> u64 {
    OVERHEAD_BYTES as u64 + 1 + value_bytes
}

#[tokio::test]
async fn a_batch_beyond_the_budget_changes_nothing() {
    let disk = RealDisk::filled(&[("a", &[1; 100]), ("b", &[2; 100])]).await;
    let capacity = 3 * file(100);
    let (mut store, _) = disk.try_open(capacity).await.expect("it fits");
    let beyond = [put("a", &[3; 100]), put("c", &[3; 100]), put("d", &[])];
    let refused = store.write_batch(BatchNumber(2), &beyond, &[removal("b")]).await.expect_err("too much");
    let (used, required) = (2 * file(100), 3 * file(100) + file(0));
    assert_eq!(refused.source, StoreError::StorageBudgetExhausted { used, required, capacity });
    assert!(!refused.landed);
    assert_eq!(store.used_bytes(), used);
    store.write_batch(BatchNumber(3), &beyond[..2], &[]).await.expect("exactly the budget");
    store.finish_batch().await;
    store.write_batch(BatchNumber(4), &[put("a", &[4; 100])], &[]).await.expect("no competition with itself");
    store.finish_batch().await;
    store.write_batch(BatchNumber(5), &[], &[removal("b")]).await.expect("room for another");
    store.finish_batch().await;
    store.write_batch(BatchNumber(6), &[put("d", &[5; 100])], &[]).await.expect("in its room");
    store.close();
    let (_, scan) = disk.open().await;
    let values: Vec<(&str, &[u8])> = vec![("a", &[4; 100]), ("c", &[3; 100]), ("d", &[5; 100])];
    assert_eq!(contents(&scan), expected(&values));
}

#[tokio::test]
async fn a_record_larger_than_the_store_says_so() {
    let disk = RealDisk::new();
    let capacity = file(100);
    let (mut store, _) = disk.try_open(capacity).await.expect("it opens");
    store.write_batch(BatchNumber(1), &[put("a", &[0; 100])], &[]).await.expect("exactly the store");
    store.finish_batch().await;
    let refused = store.write_batch(BatchNumber(2), &[put("a", &[0; 101])], &[]).await.expect_err("one byte");
    let (record, length) = (record_name("a"), file(101));
    assert_eq!(refused.source, StoreError::StorageValueExceedsCapacity { record, length, capacity });
}

#[tokio::test]
async fn an_open_under_a_lowered_budget_fails_and_loses_nothing() {
    let records: &[(&str, &[u8])] = &[("a", &[1; 100]), ("b", &[2; 100])];
    let disk = RealDisk::filled(records).await;
    std::fs::write(disk.record("c"), [0; 7]).expect("a bad record counts too");
    let used = 2 * file(100) + 7;
    let refused = disk.try_open(used - 1).await.expect_err("too little");
    assert_eq!(refused, OpenError::BudgetLowered { root: root(), used, capacity: used - 1 });
    let (store, scan) = disk.try_open(used).await.expect("exactly enough");
    assert_eq!(contents(&scan), expected(records));
    assert_eq!(store.used_bytes(), used);
}
