//! What an open would say of each record of a store, said without opening it.

use super::key::{StreamKey, Table};
use super::record::{self, Stored};
use super::tables::{BadStream, Unrestorable, believed};
use crate::host::Host;
use crate::host::disk::DiskPath;
use crate::host::observe::RecordName;
use crate::store::look::{Look, look};
use crate::store::{OpenError, StoredRecord};

/// One record, looked at.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// Its name.
    pub record: RecordName,
    /// Length of its file in bytes; `None` where there is none.
    pub file_bytes: Option<u64>,
    /// Whether it has its presence marker. An open marks one that has not.
    pub is_marked: bool,
    /// What it holds, or why it does not restore.
    pub finding: Result<Stored, Unrestorable>,
    /// The table and the stream that it is of, as far as its bytes still say; of another name, where it is misfiled.
    pub spells: Option<(Table, StreamKey)>,
}

/// Everything in one store.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Every record, in the order of names.
    pub records: Vec<Inspected>,
    /// Leftovers of writes that were cut short: an open removes them.
    pub temporaries: usize,
}

/// Looks into the store of streams in `root`. Nothing of it changes.
///
/// # Errors
/// [`OpenError`], `Locked` where a node holds the directory and `RootMissing` where there is none among them.
pub async fn inspect(host: &Host, root: &DiskPath) -> Result<Inspection, OpenError> {
    let Look { scan, file_bytes, unmarked, temporaries } = look(host, root).await?;
    let one = |record: RecordName, finding, spells| Inspected {
        record,
        file_bytes: file_bytes.get(&record).copied(),
        is_marked: !unmarked.contains(&record),
        finding,
        spells,
    };
    let whole = scan.records.iter().map(|StoredRecord { name, record, .. }| {
        let finding = believed(*name, record);
        let spells = match &finding {
            Ok(stored) => Some((stored.table(), *stored.key())),
            Err(_) => record::parse_storage_key(&record.storage_key),
        };
        one(*name, finding, spells)
    });
    let bad = scan.bad.iter().cloned().map(|bad| {
        let BadStream { record, why, spells } = bad.into();
        one(record, Err(why), spells)
    });
    let mut records: Vec<Inspected> = whole.chain(bad).collect();
    records.sort_by_key(|inspected| inspected.record);
    Ok(Inspection { records, temporaries })
}
