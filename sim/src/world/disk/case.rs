//! A volume that ignores case: a name in another case leads to the same file, and a listing shows it as it was written last.
//!
//! Promise: off unless asked for, at no cost. What leads where is kept in lower case; how a name is written is no change that
//! waits for a flush.

use super::Disk;
use groundhog_engine::host::disk::{DiskPath, DiskRequest};
use std::collections::BTreeMap;

/// How names are written that are not in lower case, by their paths in lower case.
pub(super) type Written = BTreeMap<DiskPath, String>;

impl Disk {
    /// From now on names are compared ignoring the case of ASCII letters. To be said before anything is on the disk.
    pub fn ignore_case(&mut self) {
        self.written = Some(Written::new());
    }

    /// The same request by names in lower case; `None` where the volume does not ignore case.
    pub(super) fn folded(&self, request: &DiskRequest) -> Option<DiskRequest> {
        use DiskRequest as R;
        self.written.as_ref()?;
        let mut folded = request.clone();
        match &mut folded {
            R::Write { .. } | R::Flush { .. } | R::Read { .. } | R::Length { .. } => {}
            R::Rename { from, to } => (*from, *to) = (lower(from), lower(to)),
            R::Create { path }
            | R::Open { path }
            | R::Remove { path }
            | R::CreateDirectory { path }
            | R::List { path }
            | R::FlushDirectory { path }
            | R::LockDirectory { path }
            | R::RemoveDirectory { path } => *path = lower(path),
        }
        Some(folded)
    }

    /// A request, as it was made, has succeeded.
    pub(super) fn write_names(&mut self, request: &DiskRequest) {
        let Some(written) = &mut self.written else { return };
        match request {
            DiskRequest::Rename { from, to } => {
                written.remove(&lower(from));
                let path = lower(to);
                if path == *to {
                    written.remove(&path)
                } else {
                    written.insert(path, to.name().to_owned())
                };
            }
            DiskRequest::Remove { path } => drop(written.remove(&lower(path))),
            _ => {}
        }
    }

    /// A name as a listing shows it.
    pub(super) fn listed_name(&self, path: &DiskPath) -> String {
        let written = self.written.as_ref().and_then(|written| written.get(path));
        written.cloned().unwrap_or_else(|| path.name().to_owned())
    }
}

fn lower(path: &DiskPath) -> DiskPath {
    DiskPath::new(&path.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::DiskProfile;
    use crate::world::disk::DiskConfig;
    use groundhog_engine::host::disk::DiskAnswer;

    fn disk(ignores_case: bool) -> Disk {
        let config = DiskConfig {
            profile: DiskProfile::Strict,
            capacity_bytes: None,
            directories: Vec::new(),
            tag: |_| None,
        };
        let mut disk = Disk::new(config);
        if ignores_case {
            disk.ignore_case();
        }
        disk.apply(&DiskRequest::Create { path: DiskPath::new("ab") }, None).expect("created");
        disk
    }

    fn rename(disk: &mut Disk, from: &str, to: &str) {
        let (from, to) = (DiskPath::new(from), DiskPath::new(to));
        disk.apply(&DiskRequest::Rename { from, to }, None).expect("renamed");
    }

    fn listed(disk: &mut Disk) -> Vec<String> {
        match disk.apply(&DiskRequest::List { path: DiskPath::root() }, None) {
            Ok(DiskAnswer::Entries(entries)) => entries.into_iter().map(|entry| entry.name).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn opens(disk: &mut Disk, name: &str) -> bool {
        disk.apply(&DiskRequest::Open { path: DiskPath::new(name) }, None).is_ok()
    }

    #[test]
    fn a_file_in_upper_case_is_still_found_where_case_is_ignored_and_there_alone() {
        for ignores_case in [true, false] {
            let mut disk = disk(ignores_case);
            rename(&mut disk, "ab", "AB");
            assert_eq!(listed(&mut disk), ["AB"]);
            assert_eq!((opens(&mut disk, "ab"), opens(&mut disk, "AB")), (ignores_case, true));
        }
    }

    #[test]
    fn a_rename_over_a_name_writes_it_anew_and_a_removed_name_is_forgotten() {
        let mut disk = disk(true);
        rename(&mut disk, "ab", "AB");
        disk.apply(&DiskRequest::Create { path: DiskPath::new("new") }, None).expect("created");
        rename(&mut disk, "new", "ab");
        assert_eq!(listed(&mut disk), ["ab"]);
        rename(&mut disk, "ab", "Ab");
        disk.apply(&DiskRequest::Remove { path: DiskPath::new("aB") }, None).expect("removed");
        disk.apply(&DiskRequest::Create { path: DiskPath::new("ab") }, None).expect("created");
        assert_eq!(listed(&mut disk), ["ab"]);
    }
}
