//! Writing one batch, in the order that keeps every crash point safe (decisions 12 and 13).
//!
//! Promise: when [`FileStore::write_batch`] returns, every value of the batch survives any crash. When it fails, the
//! owner goes back to the values before it, and every name of which the disk's truth is not known any more is written
//! anew before the next batch is reported.

use super::bounded::Bounded;
use super::claim::create_directories;
use super::{BatchError, FileStore, Put, Removal, StoreError, frame};
use crate::flaws::Flaw;
use crate::host::disk::{DiskError, DiskErrorKind, DiskPath};
use crate::host::observe::{BatchNumber, EngineEvent, RecordName, Roles, Step};
use crate::store::name::{marker_path, marker_temporary_path, record_name, record_path, temporary_path};
use bytes::Bytes;
use std::collections::BTreeSet;

/// The names of one batch, built once.
struct Paths {
    temporary: DiskPath,
    record: DiskPath,
}

/// How far a failed batch had come.
struct Failure {
    source: StoreError,
    landed: bool,
}

impl Failure {
    fn before_renames(source: impl Into<StoreError>) -> Self {
        Self { source: source.into(), landed: false }
    }

    fn landed(source: impl Into<StoreError>) -> Self {
        Self { source: source.into(), landed: true }
    }
}

impl FileStore {
    /// Writes a batch and returns once it is durable: temporaries, each flushed; the removed records' markers
    /// unlinked; renames, in order; one flush of the directory. A name stands in at most one of both lists, once.
    /// [`FileStore::finish_batch`] must follow before the next batch.
    ///
    /// # Errors
    /// [`BatchError`]; the store then stands as before the batch, but for what the error says may have landed.
    pub async fn write_batch(
        &mut self,
        batch: BatchNumber,
        puts: &[Put],
        removals: &[Removal],
    ) -> Result<(), BatchError> {
        debug_assert!(puts.iter().all(|put| put.name == record_name(&put.record.storage_key)));
        let paths: Vec<Paths> = puts
            .iter()
            .map(|put| Paths {
                temporary: temporary_path(&self.root, put.name, batch),
                record: record_path(&self.root, put.name),
            })
            .collect();
        let mut renamed = 0;
        if self.flaws.has(Flaw::VanishedRootRecreated) {
            // What comes of it is told by the operations that follow.
            let _ = create_directories(&self.host, &self.root).await;
        }
        match self.write_to_flush(batch, puts, removals, &paths, &mut renamed).await {
            Ok(()) => {
                self.settle(batch, puts, removals);
                Ok(())
            }
            Err(Failure { source, landed }) => {
                if landed {
                    self.doubt(puts, removals);
                }
                if !matches!(source, StoreError::StorageRootMissing { .. }) {
                    self.discard(&paths[renamed..]).await;
                }
                Err(BatchError { batch, landed, source })
            }
        }
    }

    /// What follows a durable batch without a flush of its own: the new records' markers, and the removed records'
    /// files. The next batch's flush, or the next open's, covers these. No error here fails anything: the next batch
    /// tries again, and an open heals it.
    pub async fn finish_batch(&mut self) {
        self.create_markers().await;
        let gone = std::mem::take(&mut self.unremoved);
        self.unremoved = self.unlink_records(&gone).await;
    }

    /// Unlinks the records; gives back those that may still be there.
    async fn unlink_records(&self, gone: &BTreeSet<RecordName>) -> BTreeSet<RecordName> {
        let mut left = BTreeSet::new();
        let mut todo = gone.iter();
        let mut jobs = Bounded::new();
        loop {
            while jobs.has_room()
                && let Some(name) = todo.next()
            {
                jobs.begin(self.unlink_record(*name));
            }
            match jobs.next().await {
                Some((_, Ok(()))) => {}
                Some((name, Err(_))) => _ = left.insert(name),
                None => return left,
            }
        }
    }

    async fn unlink_record(&self, name: RecordName) -> (RecordName, Result<(), DiskError>) {
        (name, absent_is_fine(self.host.remove(&self.removed_last(name)).await))
    }

    /// Of a record that is removed, the marker goes before the flush, and the record after it: at no moment may a power
    /// failure leave the marker alone.
    fn removed_first(&self, name: RecordName) -> DiskPath {
        let record_first = self.flaws.has(Flaw::RecordRemovedBeforeMarker);
        if record_first { record_path(&self.root, name) } else { marker_path(&self.root, name) }
    }

    fn removed_last(&self, name: RecordName) -> DiskPath {
        let record_first = self.flaws.has(Flaw::RecordRemovedBeforeMarker);
        if record_first { marker_path(&self.root, name) } else { record_path(&self.root, name) }
    }

    async fn write_to_flush(
        &mut self,
        batch: BatchNumber,
        puts: &[Put],
        removals: &[Removal],
        paths: &[Paths],
        renamed: &mut usize,
    ) -> Result<(), Failure> {
        self.within_budget(puts).map_err(Failure::before_renames)?;
        let removed: Vec<RecordName> = removals
            .iter()
            .map(|removal| removal.name)
            .filter(|name| self.index.contains_key(name))
            .collect();
        if puts.is_empty() && removed.is_empty() && self.unknown_markers.is_empty() {
            return Ok(());
        }
        self.write_temporaries(batch, puts, paths).await.map_err(Failure::before_renames)?;
        let redone = self.redo_unknown_markers(&removed).await.map_err(Failure::landed)?;
        for name in &removed {
            absent_is_fine(self.host.remove(&self.removed_first(*name)).await).map_err(Failure::landed)?;
        }
        for (put, paths) in puts.iter().zip(paths) {
            self.host.rename(&paths.temporary, &paths.record).await.map_err(Failure::landed)?;
            *renamed += 1;
            self.step(Step::Renamed, batch, Roles::one(put.table));
        }
        if self.flaws.has(Flaw::OneFlushForMarkerAndRecord) {
            self.unmarked.extend(self.new_records(puts));
            self.create_markers().await;
        }
        if !self.flaws.has(Flaw::NoDirectoryFlush) {
            self.flush_root().await.map_err(Failure::landed)?;
        }
        for name in redone {
            self.unknown_markers.remove(&name);
        }
        self.step(Step::DirectoryFlushed, batch, roles(puts, removals));
        Ok(())
    }

    /// Refuses what would pass the budget or overwrite a record of the set U, before anything is done. A removed
    /// record still counts: its file leaves only after the batch.
    fn within_budget(&self, puts: &[Put]) -> Result<(), StoreError> {
        let capacity = self.capacity_bytes;
        let mut required = self.used_bytes;
        for put in puts {
            if self.unavailable.contains(&put.name) {
                return Err(StoreError::RecordUnavailable { record: put.name });
            }
            let length = frame::length(&put.record);
            if length > capacity {
                return Err(StoreError::StorageValueExceedsCapacity { record: put.name, length, capacity });
            }
            required = required + length - self.index.get(&put.name).copied().unwrap_or(0);
        }
        if required > capacity {
            return Err(StoreError::StorageBudgetExhausted { used: self.used_bytes, required, capacity });
        }
        Ok(())
    }

    async fn write_temporaries(
        &self,
        batch: BatchNumber,
        puts: &[Put],
        paths: &[Paths],
    ) -> Result<(), StoreError> {
        let mut first_error = None;
        let mut todo = puts.iter().zip(paths);
        let mut jobs = Bounded::new();
        loop {
            while first_error.is_none()
                && jobs.has_room()
                && let Some((put, paths)) = todo.next()
            {
                jobs.begin(self.write_put(batch, put, &paths.temporary));
            }
            match jobs.next().await {
                Some(Ok(())) => {}
                Some(Err(error)) => _ = first_error.get_or_insert(error),
                None => break,
            }
        }
        first_error.map_or(Ok(()), |error| Err(self.named(error)))
    }

    async fn write_put(&self, batch: BatchNumber, put: &Put, path: &DiskPath) -> Result<(), DiskError> {
        let bytes = frame::encode(batch, self.durable, &put.record);
        self.write_temporary(path.clone(), bytes).await?;
        self.step(Step::TemporaryFlushed, batch, Roles::one(put.table));
        Ok(())
    }

    /// One temporary, whole and durable under a name that no record has. After a failed flush its bytes are never
    /// flushed again: the next batch writes another file (decision 13).
    pub(super) async fn write_temporary(&self, path: DiskPath, bytes: Bytes) -> Result<(), DiskError> {
        let file = self.host.create(&path).await?;
        let mut written = self.host.write(file, 0, bytes).await;
        if written.is_ok() && !self.flaws.has(Flaw::NoFlushBeforeRename) {
            written = self.host.flush(file).await;
            if written.is_err() && self.flaws.has(Flaw::FailedFlushRetried) {
                written = self.host.flush(file).await;
            }
        }
        self.host.close(file);
        written
    }

    /// Writes every unknown marker anew, so that this batch's flush decides what a power failure leaves of it. One
    /// that must be absent before its record is removed is created and unlinked, which is a change of the directory
    /// whatever it held; one that must be present is renewed. Only the first kind can fail a batch.
    async fn redo_unknown_markers(&self, removed: &[RecordName]) -> Result<Vec<RecordName>, StoreError> {
        let mut redone = Vec::new();
        for name in &self.unknown_markers {
            let path = marker_path(&self.root, *name);
            if removed.contains(name) || !self.index.contains_key(name) {
                self.create_marker(&path).await?;
                absent_is_fine(self.host.remove(&path).await)?;
                redone.push(*name);
            } else if self.renew_marker(*name).await.is_ok() {
                redone.push(*name);
            }
        }
        Ok(redone)
    }

    async fn create_markers(&mut self) {
        let unmarked = std::mem::take(&mut self.unmarked);
        let (fresh, unknown) = self.mark_records(&unmarked).await;
        self.fresh_markers.extend(fresh);
        self.unknown_markers.extend(unknown);
    }

    /// Creates the markers; gives back those that were created, and those of which nobody knows.
    async fn mark_records(&self, unmarked: &[(RecordName, Roles)]) -> (Vec<RecordName>, Vec<RecordName>) {
        let (mut fresh, mut unknown) = (Vec::new(), Vec::new());
        let mut todo = unmarked.iter();
        let mut jobs = Bounded::new();
        loop {
            while jobs.has_room()
                && let Some((name, roles)) = todo.next()
            {
                jobs.begin(self.mark(*name, *roles));
            }
            match jobs.next().await {
                Some((name, Ok(()))) => fresh.push(name),
                Some((name, Err(_))) => unknown.push(name),
                None => return (fresh, unknown),
            }
        }
    }

    async fn mark(&self, name: RecordName, roles: Roles) -> (RecordName, Result<(), DiskError>) {
        let created = self.create_marker(&marker_path(&self.root, name)).await;
        if created.is_ok() {
            self.step(Step::Marked, self.durable, roles);
        }
        (name, created)
    }

    pub(super) async fn create_marker(&self, path: &DiskPath) -> Result<(), DiskError> {
        let file = self.host.create(path).await?;
        self.host.close(file);
        Ok(())
    }

    /// Puts a new file in the marker's place, a name change that the next flush covers whatever became of the old
    /// one's. A rename over a name leaves the old or the new and never neither: at no moment is the record unmarked.
    pub(super) async fn renew_marker(&self, name: RecordName) -> Result<(), DiskError> {
        let temporary = marker_temporary_path(&self.root, name);
        self.create_marker(&temporary).await?;
        self.host.rename(&temporary, &marker_path(&self.root, name)).await
    }

    /// Flushes the directory. After a failure nobody knows which of the names touched since the last flush a power
    /// failure would leave.
    pub(super) async fn flush_root(&mut self) -> Result<(), StoreError> {
        match self.host.flush_directory(&self.root).await {
            Ok(()) => {
                self.fresh_markers.clear();
                Ok(())
            }
            Err(error) => {
                if !self.flaws.has(Flaw::MarkerTrustedAfterFailedFlush) {
                    self.unknown_markers.extend(self.fresh_markers.drain(..));
                }
                Err(self.named(error))
            }
        }
    }

    /// The batch is durable: from here on its values are the store's.
    fn settle(&mut self, batch: BatchNumber, puts: &[Put], removals: &[Removal]) {
        self.durable = batch;
        if !self.flaws.has(Flaw::OneFlushForMarkerAndRecord) {
            self.unmarked.extend(self.new_records(puts));
        }
        for put in puts {
            let length = frame::length(&put.record);
            let replaced = self.index.insert(put.name, length).unwrap_or(0);
            self.used_bytes = self.used_bytes + length - replaced;
            self.unremoved.remove(&put.name);
        }
        for removal in removals {
            if let Some(length) = self.index.swap_remove(&removal.name) {
                self.used_bytes -= length;
                self.unremoved.insert(removal.name);
            }
        }
        debug_assert!(self.used_bytes <= self.capacity_bytes);
    }

    /// The batch failed after its names were touched. Its owner rewrites the records that it still has; what is left
    /// to the store is a new record that may have landed and has no owner, and the markers of records that stay.
    fn doubt(&mut self, puts: &[Put], removals: &[Removal]) {
        let landed = puts.iter().map(|put| put.name).filter(|name| !self.index.contains_key(name));
        self.unremoved.extend(landed);
        if !self.flaws.has(Flaw::MarkerTrustedAfterFailedFlush) {
            let kept =
                removals.iter().map(|removal| removal.name).filter(|name| self.index.contains_key(name));
            self.unknown_markers.extend(kept);
        }
    }

    fn new_records(&self, puts: &[Put]) -> Vec<(RecordName, Roles)> {
        puts.iter()
            .filter(|put| !self.index.contains_key(&put.name))
            .map(|put| (put.name, Roles::one(put.table)))
            .collect()
    }

    /// Best effort: what stays is removed by the next open.
    async fn discard(&self, paths: &[Paths]) {
        let mut todo = paths.iter();
        let mut jobs = Bounded::new();
        loop {
            while jobs.has_room()
                && let Some(paths) = todo.next()
            {
                jobs.begin(self.host.remove(&paths.temporary));
            }
            if jobs.next().await.is_none() {
                return;
            }
        }
    }

    /// A name that cannot be created or flushed for want of its directory means that the directory is gone.
    fn named(&self, error: DiskError) -> StoreError {
        if error.kind == DiskErrorKind::NotFound {
            StoreError::StorageRootMissing { root: self.root.clone() }
        } else {
            StoreError::Disk(error)
        }
    }

    pub(super) fn step(&self, step: Step, batch: BatchNumber, roles: Roles) {
        self.host.observe(EngineEvent::Step { step, batch, roles });
    }
}

pub(super) fn absent_is_fine(removed: Result<(), DiskError>) -> Result<(), DiskError> {
    removed.or_else(|error| if error.kind == DiskErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// The roles that a batch serves.
fn roles(puts: &[Put], removals: &[Removal]) -> Roles {
    Roles::of(puts.iter().map(|put| put.table).chain(removals.iter().map(|removal| removal.table)))
}
