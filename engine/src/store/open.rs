//! Opening a store: what is found is made durable, checked and marked before anything is built on it.
//!
//! Promise: after an open that succeeded, everything that its scan gave survives any crash, and every record has its
//! presence marker. An open that could not see everything fails; it never shows a part.

use super::bounded::Bounded;
use super::claim::{Listing, claim};
use super::name::{marker_path, record_name, record_path, temporary_path};
use super::{BadReason, BadRecord, FileStore, OpenError, Scan, StoreConfig};
use super::{StoreError, StoredRecord, frame};
use crate::flaws::{Flaw, Flaws};
use crate::host::Host;
use crate::host::disk::{DiskError, DiskErrorKind, DiskPath, EntryKind, FileHandle};
use crate::host::observe::{BatchNumber, RecordName, Roles, Step};
use bytes::Bytes;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One file of the scan, read.
enum Found {
    Whole { frame: frame::Frame },
    Bad { reason: BadReason, storage_key: Option<Arc<str>> },
    Absent,
}

/// Everything that the scan learned.
#[derive(Default)]
pub(super) struct Restored {
    pub(super) scan: Scan,
    /// The last batch of which some record says that it was durable.
    durable: BatchNumber,
    highest: BatchNumber,
}

impl FileStore {
    /// Opens the store in `root`, creating it where it is not, and scans it once: lock and list the directory, creating
    /// it and its ancestors anew where nothing of the store's is in it; flush the directory and every ancestor; remove
    /// stale temporaries; scan; mark unmarked records; flush (decision 12).
    ///
    /// Records of the last batch are written anew, since a life that ended after a failed directory flush leaves names
    /// that are seen and will never be flushed (decision 13). Each record carries the last batch that was durable when
    /// it was written, so no more than that batch and failed ones after it are rewritten.
    ///
    /// # Errors
    /// [`OpenError`]; nothing is held then, and the next open begins again.
    pub async fn open(
        host: &Host,
        root: DiskPath,
        config: StoreConfig,
    ) -> Result<(FileStore, Scan), OpenError> {
        let (lock, listing) = claim(host, &root, config.flaws).await?;
        let mut store = FileStore::new(host, root, config, lock);
        match store.restore(listing).await {
            Ok(scan) => Ok((store, scan)),
            Err(error) => {
                store.close();
                Err(error)
            }
        }
    }

    pub(super) fn new(host: &Host, root: DiskPath, config: StoreConfig, lock: FileHandle) -> Self {
        FileStore {
            host: host.clone(),
            root,
            capacity_bytes: config.capacity_bytes,
            flaws: config.flaws,
            lock,
            index: IndexMap::default(),
            unavailable: BTreeSet::new(),
            used_bytes: 0,
            durable: BatchNumber(0),
            next_batch: BatchNumber(0),
            unmarked: Vec::new(),
            unremoved: BTreeSet::new(),
            fresh_markers: Vec::new(),
            unknown_markers: BTreeSet::new(),
        }
    }

    /// The listing was read under the lock, so that the flush makes durable what it shows.
    async fn restore(&mut self, mut listing: Listing) -> Result<Scan, OpenError> {
        if self.flaws.has(Flaw::MarkBeforeFlushAtOpen) {
            self.mark_unmarked(&listing).await?;
            listing = Listing::read(&self.host, &self.root).await?;
        }
        self.flush_directories().await?;
        for path in std::mem::take(&mut listing.temporaries) {
            self.host.remove(&path).await?;
            self.step(Step::OpenTemporaryRemoved, self.next_batch, Roles::default());
        }
        self.check_budget(&listing)?;
        let mut restored = self.scan(&mut listing).await?;
        self.rewrite_uncertain(&restored, &mut listing).await?;
        self.mark_unmarked(&listing).await?;
        self.flush_root().await.map_err(|error| self.open_error(error))?;
        self.step(Step::OpenDirectoryFlushed, self.next_batch, Roles::default());
        if self.flaws.has(Flaw::MemoryStoreAfterRestart) {
            (restored.scan, self.unavailable) = (Scan::default(), BTreeSet::new());
        }
        self.step(Step::Opened, self.next_batch, Roles::default());
        Ok(restored.scan)
    }

    /// The directory and every ancestor, deepest first: a directory's name lives in its parent.
    async fn flush_directories(&self) -> Result<(), OpenError> {
        let mut directory = Some(self.root.clone());
        while let Some(path) = directory {
            self.host.flush_directory(&path).await?;
            self.step(Step::OpenDirectoryFlushed, self.next_batch, Roles::default());
            directory = path.parent().filter(|_| !self.flaws.has(Flaw::AncestorsNotFlushed));
        }
        Ok(())
    }

    fn check_budget(&mut self, listing: &Listing) -> Result<(), OpenError> {
        self.used_bytes = listing.records.values().map(|(_, length)| length).sum();
        if self.used_bytes > self.capacity_bytes {
            return Err(OpenError::BudgetLowered {
                root: self.root.clone(),
                used: self.used_bytes,
                capacity: self.capacity_bytes,
            });
        }
        Ok(())
    }

    /// Reads every record once. A marker whose record is not listed is looked for under the record's own name first:
    /// on a volume that ignores case, a file in upper case is still the record.
    pub(super) async fn scan(&mut self, listing: &mut Listing) -> Result<Restored, OpenError> {
        let unlisted: Vec<RecordName> =
            listing.markers.iter().copied().filter(|name| !listing.records.contains_key(name)).collect();
        let listed = listing.records.iter().map(|(name, (kind, _))| (*name, Some(*kind)));
        let names: Vec<_> = listed.chain(unlisted.into_iter().map(|name| (name, None))).collect();
        let found = self.read_all(&names).await;
        let mut restored = Restored::default();
        for (name, (kind, file)) in found {
            if matches!(file, Found::Absent) {
                listing.records.remove(&name);
            } else if kind.is_none() {
                listing.records.insert(name, (EntryKind::File, 0));
            }
            self.sort(name, file, listing, &mut restored);
        }
        let highest = restored.highest.0;
        let last = restored.scan.records.iter().max_by_key(|record| record.generation);
        self.next_batch = match (highest.checked_add(1), last) {
            (Some(next), _) => BatchNumber(next),
            (None, Some(last)) => return Err(OpenError::BatchesExhausted { record: last.name }),
            (None, None) => unreachable!("only a record raises the highest generation"),
        };
        self.durable = restored.highest;
        self.used_bytes = listing.records.values().map(|(_, length)| length).sum();
        Ok(restored)
    }

    async fn read_all(
        &self,
        names: &[(RecordName, Option<EntryKind>)],
    ) -> BTreeMap<RecordName, (Option<EntryKind>, Found)> {
        let mut found = BTreeMap::new();
        let mut todo = names.iter();
        let mut jobs = Bounded::new();
        loop {
            while jobs.has_room()
                && let Some((name, kind)) = todo.next()
            {
                jobs.begin(self.read(*name, *kind));
            }
            let Some((name, kind, file)) = jobs.next().await else { return found };
            found.insert(name, (kind, file));
        }
    }

    fn sort(&mut self, name: RecordName, file: Found, listing: &mut Listing, restored: &mut Restored) {
        if self.is_overlooked(&file) {
            return;
        }
        let bad = match file {
            Found::Whole { frame } => {
                let generation = frame.header.generation;
                restored.highest = restored.highest.max(generation);
                restored.durable = restored.durable.max(frame.header.durable);
                let length = frame::length(&frame.record);
                self.index.insert(name, length);
                listing.records.insert(name, (EntryKind::File, length));
                restored.scan.records.push(StoredRecord { name, record: frame.record, generation });
                return;
            }
            Found::Bad { reason, storage_key } => BadRecord { name, reason, storage_key },
            Found::Absent if listing.markers.contains(&name) => {
                BadRecord { name, reason: BadReason::Missing, storage_key: None }
            }
            Found::Absent => return,
        };
        self.unavailable.insert(name);
        restored.scan.bad.push(bad);
    }

    /// What a known-bad store does not see.
    fn is_overlooked(&self, file: &Found) -> bool {
        match file {
            Found::Absent => self.flaws.has(Flaw::LostRecordBeginsAnew),
            Found::Bad { reason: BadReason::Undecodable(_), .. } => {
                self.flaws.has(Flaw::UndecodableRecordDiscarded)
            }
            Found::Whole { .. } | Found::Bad { .. } => false,
        }
    }

    /// One record's file. `kind` is `None` where the listing does not show it.
    async fn read(
        &self,
        name: RecordName,
        kind: Option<EntryKind>,
    ) -> (RecordName, Option<EntryKind>, Found) {
        let bytes = match kind {
            Some(EntryKind::Directory) => Err(DiskErrorKind::WrongKind),
            _ => self.read_bytes(name).await,
        };
        let found = match bytes {
            Ok(bytes) => judge(name, &bytes, self.flaws),
            // A link that leads nowhere is an entry that cannot be read; a file that is not there is no entry.
            Err(DiskErrorKind::NotFound) if kind != Some(EntryKind::Other) => Found::Absent,
            Err(kind) => Found::Bad { reason: BadReason::Unreadable(kind), storage_key: None },
        };
        (name, kind, found)
    }

    async fn read_bytes(&self, name: RecordName) -> Result<Bytes, DiskErrorKind> {
        let file = self.host.open(&record_path(&self.root, name)).await.map_err(|error| error.kind)?;
        let bytes = self.host.read(file).await;
        self.host.close(file);
        bytes.map_err(|error| error.kind)
    }

    /// Writes anew what an earlier life may have left seen but never to be flushed: records above the last batch
    /// known durable, and the markers that its flush, or a later one, should have covered.
    async fn rewrite_uncertain(
        &mut self,
        restored: &Restored,
        listing: &mut Listing,
    ) -> Result<(), OpenError> {
        let records = &restored.scan.records;
        let uncertain: Vec<&StoredRecord> =
            records.iter().filter(|record| record.generation > restored.durable).collect();
        self.rewrite_temporaries(&uncertain, restored.durable).await?;
        for record in &uncertain {
            let temporary = temporary_path(&self.root, record.name, self.next_batch);
            self.host.rename(&temporary, &record_path(&self.root, record.name)).await?;
            self.step(Step::OpenRewritten, self.next_batch, Roles::default());
        }
        if !uncertain.is_empty() {
            // A marker is created only after its record's name is durable.
            self.flush_root().await.map_err(|error| self.open_error(error))?;
            self.step(Step::OpenDirectoryFlushed, self.next_batch, Roles::default());
        }
        for record in records.iter().filter(|record| record.generation >= restored.durable) {
            if listing.markers.contains(&record.name) {
                self.renew_marker(record.name).await?;
                self.step(Step::OpenMarked, self.next_batch, Roles::default());
            }
        }
        Ok(())
    }

    async fn rewrite_temporaries(
        &self,
        records: &[&StoredRecord],
        durable: BatchNumber,
    ) -> Result<(), DiskError> {
        let mut first_error = None;
        let mut todo = records.iter();
        let mut jobs = Bounded::new();
        loop {
            while first_error.is_none()
                && jobs.has_room()
                && let Some(record) = todo.next()
            {
                let path = temporary_path(&self.root, record.name, self.next_batch);
                let bytes = frame::encode(record.generation, durable, &record.record);
                jobs.begin(self.write_temporary(path, bytes));
            }
            match jobs.next().await {
                Some(Ok(())) => {}
                Some(Err(error)) => _ = first_error.get_or_insert(error),
                None => return first_error.map_or(Ok(()), Err),
            }
        }
    }

    /// Marks every record that is there and unmarked, the bad ones too: what is lost from here on is missing.
    async fn mark_unmarked(&self, listing: &Listing) -> Result<(), OpenError> {
        for name in listing.records.keys().filter(|name| !listing.markers.contains(name)) {
            self.create_marker(&marker_path(&self.root, *name)).await?;
            self.step(Step::OpenMarked, self.next_batch, Roles::default());
        }
        Ok(())
    }

    fn open_error(&self, error: StoreError) -> OpenError {
        match error {
            StoreError::Disk(error) => OpenError::Disk(error),
            StoreError::StorageRootMissing { root } => OpenError::RootMissing { root },
            other => unreachable!("a flush of the directory fails with {other}"),
        }
    }
}

/// Whether bytes are the record of this name. Only a whole record can be misfiled: damage is never taken for a move.
fn judge(name: RecordName, bytes: &Bytes, flaws: Flaws) -> Found {
    let believed = |key: &str| record_name(key) == name || flaws.has(Flaw::MisfiledRecordServed);
    match frame::decode(bytes) {
        Ok(frame) if believed(&frame.record.storage_key) => Found::Whole { frame },
        Ok(frame) => Found::Bad { reason: BadReason::Misfiled, storage_key: Some(frame.record.storage_key) },
        Err(error) => Found::Bad {
            reason: BadReason::Undecodable(error),
            storage_key: frame::prefix_key(bytes).filter(|key| record_name(key) == name).map(Arc::from),
        },
    }
}
