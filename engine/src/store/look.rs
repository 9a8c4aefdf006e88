//! Looking into a store without opening it, and clearing one record of it: for an operator, while no node holds it.
//!
//! Promise: a look changes nothing of the store. A clear removes the marker first, durably, and then the record: wherever it
//! is cut short, the record is as it was, or it was never there.

use super::claim::{Listing, take};
use super::name::{marker_path, record_path};
use super::write::absent_is_fine;
use super::{FileStore, OpenError, Scan, StoreConfig};
use crate::flaws::Flaws;
use crate::host::Host;
use crate::host::disk::{DiskError, DiskErrorKind, DiskPath};
use crate::host::observe::RecordName;
use std::collections::{BTreeMap, BTreeSet};

/// What lies in a store.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// What the scan of an open would give.
    pub scan: Scan,
    /// Length of each record's file, as it is listed.
    pub file_bytes: BTreeMap<RecordName, u64>,
    /// Records without a marker: an open marks them.
    pub unmarked: BTreeSet<RecordName>,
    /// Leftovers of writes that were cut short: an open removes them.
    pub temporaries: usize,
}

/// Looks into the store in `root`, under its lock. Nothing is created.
///
/// # Errors
/// [`OpenError`]; `RootMissing` where there is no such directory, `Locked` where a node holds it.
pub async fn look(host: &Host, root: &DiskPath) -> Result<Look, OpenError> {
    let missing = || OpenError::RootMissing { root: root.clone() };
    let (lock, mut listing) = take(host, root, Flaws::NONE).await?.ok_or_else(missing)?;
    let file_bytes: BTreeMap<RecordName, u64> =
        listing.records.iter().map(|(name, (_, bytes))| (*name, *bytes)).collect();
    let unmarked = unmarked(&listing);
    let temporaries = listing.temporaries.len();
    let mut store = FileStore::new(host, root.clone(), StoreConfig::default(), lock);
    let restored = store.scan(&mut listing).await;
    store.close();
    Ok(Look { scan: restored?.scan, file_bytes, unmarked, temporaries })
}

fn unmarked(listing: &Listing) -> BTreeSet<RecordName> {
    listing.records.keys().copied().filter(|name| !listing.markers.contains(name)).collect()
}

/// What a clear found and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// Whether the record's file was there.
    pub record: bool,
    /// Whether its marker was.
    pub marker: bool,
}

/// Removes one record and its marker, under the store's lock, each durable before the next step.
///
/// # Errors
/// [`OpenError`]; what is not removed yet stays, and the same call again goes on.
pub async fn clear(host: &Host, root: &DiskPath, name: RecordName) -> Result<Cleared, OpenError> {
    let missing = || OpenError::RootMissing { root: root.clone() };
    let (lock, listing) = take(host, root, Flaws::NONE).await?.ok_or_else(missing)?;
    let found =
        Cleared { record: listing.records.contains_key(&name), marker: listing.markers.contains(&name) };
    let removed = remove_both(host, root, name).await;
    host.close(lock);
    removed?;
    Ok(found)
}

async fn remove_both(host: &Host, root: &DiskPath, name: RecordName) -> Result<(), DiskError> {
    for path in [marker_path(root, name), record_path(root, name)] {
        remove(host, &path).await?;
        host.flush_directory(root).await?;
    }
    Ok(())
}

/// What lies in a record's place may be a directory, which is removed if it is empty.
async fn remove(host: &Host, path: &DiskPath) -> Result<(), DiskError> {
    match absent_is_fine(host.remove(path).await) {
        Err(error) if error.kind == DiskErrorKind::WrongKind => {
            absent_is_fine(host.remove_directory(path).await)
        }
        removed => removed,
    }
}
