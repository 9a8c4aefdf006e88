//! Claiming a store's directory: taken for this process alone, under names that a flush can make durable.
//!
//! Promise: after a claim, flushes of the directory and of its ancestors that succeed mean what they say. A flush that
//! failed in an earlier life leaves names that are seen and that no later flush writes (decision 13), so the names that
//! lead to a store are believed only where something of the store's lies below them: nothing ever does before an open
//! has flushed them all. A directory without a record, a marker or a temporary is unborn. Nothing in it can be lost, so
//! it is removed and created anew, and with it each ancestor below the host's root that is empty then.
//!
//! What remains: a directory that holds a stranger's names cannot be removed and is believed as it stands, and so are
//! the ancestors above it. Whoever put them there answers for the names that lead to them; two stores below one ancestor
//! must not be opened for the first time at once. The host's root is the operator's and is never removed.

use super::OpenError;
use super::name::FileName;
use crate::flaws::{Flaw, Flaws};
use crate::host::Host;
use crate::host::disk::{DirectoryEntry, DiskError, DiskErrorKind, DiskPath, EntryKind, FileHandle};
use crate::host::observe::RecordName;
use std::collections::{BTreeMap, BTreeSet};

/// What a listing of the directory holds of the store's.
#[derive(Default)]
pub(super) struct Listing {
    /// Kind and length of each record's file.
    pub(super) records: BTreeMap<RecordName, (EntryKind, u64)>,
    /// Names that have a presence marker.
    pub(super) markers: BTreeSet<RecordName>,
    /// Records that were being written when a life ended.
    pub(super) temporaries: Vec<DiskPath>,
}

impl Listing {
    /// Lists the directory.
    pub(super) async fn read(host: &Host, root: &DiskPath) -> Result<Self, DiskError> {
        let mut listing = Listing::default();
        for DirectoryEntry { name, kind, length } in host.list(root).await? {
            match FileName::parse(&name) {
                FileName::Record(record) => {
                    listing.records.insert(record, (kind, length.unwrap_or(0)));
                }
                FileName::Marker(record) => {
                    listing.markers.insert(record);
                }
                FileName::Temporary(_) => listing.temporaries.push(root.join(&name)),
                FileName::Foreign => {}
            }
        }
        Ok(listing)
    }

    /// Whether an open has succeeded here before: only an open store writes such names.
    fn shows_a_birth(&self) -> bool {
        !(self.records.is_empty() && self.markers.is_empty() && self.temporaries.is_empty())
    }
}

/// Locks and lists the store's directory. One that is not there, or unborn, is created anew with its ancestors.
///
/// # Errors
/// [`OpenError`]; nothing is held then.
pub(super) async fn claim(
    host: &Host,
    root: &DiskPath,
    flaws: Flaws,
) -> Result<(FileHandle, Listing), OpenError> {
    if let Some((lock, listing)) = take(host, root, flaws).await? {
        if listing.shows_a_birth() {
            return Ok((lock, listing));
        }
        // Under the lock, so that no store that another process opens is removed.
        match host.remove_directory(root).await {
            Ok(()) => host.close(lock),
            Err(error) if error.kind == DiskErrorKind::WrongKind => return Ok((lock, listing)),
            Err(error) => {
                host.close(lock);
                return Err(error.into());
            }
        }
    }
    remove_empty_ancestors(host, root).await?;
    create_directories(host, root).await?;
    take(host, root, flaws).await?.ok_or_else(|| OpenError::RootMissing { root: root.clone() })
}

/// The directory's lock, and then what it holds; `None` where it is not there.
pub(super) async fn take(
    host: &Host,
    root: &DiskPath,
    flaws: Flaws,
) -> Result<Option<(FileHandle, Listing)>, OpenError> {
    let lock = match host.lock_directory(root).await {
        Ok(lock) => lock,
        Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind == DiskErrorKind::Locked => {
            return Err(OpenError::Locked { root: root.clone() });
        }
        Err(error) => return Err(error.into()),
    };
    match Listing::read(host, root).await {
        Ok(listing) => Ok(Some((lock, listing))),
        Err(_) if flaws.has(Flaw::ListingErrorSkipped) => Ok(Some((lock, Listing::default()))),
        Err(error) => {
            host.close(lock);
            Err(error.into())
        }
    }
}

/// Every ancestor that holds nothing, up to the first that does; never the host's root.
async fn remove_empty_ancestors(host: &Host, root: &DiskPath) -> Result<(), DiskError> {
    let mut ancestor = root.parent();
    while let Some(path) = ancestor.filter(|path| path.parent().is_some()) {
        match host.remove_directory(&path).await {
            Err(error) if error.kind == DiskErrorKind::WrongKind => return Ok(()),
            Err(error) if error.kind != DiskErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => ancestor = path.parent(),
        }
    }
    Ok(())
}

pub(super) async fn create_directories(host: &Host, root: &DiskPath) -> Result<(), DiskError> {
    let mut path = DiskPath::root();
    for name in root.as_str().split('/').filter(|name| !name.is_empty()) {
        path = path.join(name);
        match host.create_directory(&path).await {
            Err(error) if error.kind != DiskErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
