//! The ends of a life, and what the kernel does in between.
//!
//! Promise: a process crash loses nothing that was written. A power failure loses any part of what was not flushed, as
//! the profile allows and as the caller's draws decide; what is left is durable, and is what a reader sees.

use super::choice::{Choice, Choose, PowerLossReport};
use super::names::{ChangeRef, NameChange};
use super::survive::Rule;
use super::{Disk, Node};
use crate::plan::DiskProfile;
use std::collections::BTreeMap;

impl Disk {
    /// The process dies. Its handles and locks are gone; what it wrote stays, still unflushed.
    pub fn process_crash(&mut self) {
        for file in self.handles.all() {
            self.close(file);
        }
    }

    /// Power fails: each unflushed name change, size and sector survives or not by itself (profile `strict`), or as the
    /// profile `ordered` binds them. Survivors apply in the order of issue; one that no longer applies does nothing.
    pub fn power_failure(&mut self, choose: Choose<'_>) -> PowerLossReport {
        self.process_crash();
        let mut report = PowerLossReport::default();
        // A directory that is lost while names are decided keeps its own names until all are.
        let directories = if self.is_a_directory_pending() { self.directories() } else { Vec::new() };
        directories.iter().for_each(|directory| self.refer(*directory));
        let whole_up_to = self.lose_names(choose, &mut report);
        self.lose_contents(&whole_up_to, choose, &mut report);
        if !directories.is_empty() {
            self.find_names_again();
        }
        directories.into_iter().for_each(|directory| self.release(directory));
        debug_assert_eq!(self.changes.len(), 0, "nothing is pending after a power failure");
        report
    }

    /// The kernel writes back whatever `choose` names, now: it is durable from here on, and so is what it depends on.
    pub fn write_back(&mut self, choose: Choose<'_>) {
        let pending = self.changes_in_order();
        for reference in pending {
            if !self.is_pending(reference) || self.changes[reference.change].clean {
                continue;
            }
            if choose(Choice::Name { operation: reference.operation }) {
                self.settle_with_past(reference.change);
            } else if self.profile == DiskProfile::Ordered {
                break;
            }
        }
        let (profile, tag) = (self.profile, self.tag);
        for id in self.pending_files() {
            let number = self.inodes[id].number;
            self.content_mut(id).write_back(profile, number, choose, tag);
            self.recount(id);
        }
    }

    /// Everything that a power failure now would ask about, in the order of issue of names and then by file.
    #[must_use]
    pub fn pending_choices(&self) -> Vec<Choice> {
        let names = self.changes_in_order().into_iter();
        let mut choices: Vec<_> =
            names.map(|ChangeRef { operation, .. }| Choice::Name { operation }).collect();
        for id in self.pending_files() {
            self.content(id).choices(self.inodes[id].number, &mut choices);
        }
        choices
    }

    /// Files of which something is not yet durable.
    fn pending_files(&self) -> Vec<u32> {
        let pending = |node: &Node| matches!(node, Node::File(content) if !content.changes.is_empty());
        self.inodes.iter().filter(|(_, inode)| pending(&inode.node)).map(|(id, _)| id).collect()
    }

    /// Whether the name of a directory waits for a flush.
    fn is_a_directory_pending(&self) -> bool {
        self.changes.iter().any(|(_, change)| self.is_directory(change.inode))
    }

    /// Decides the pending name changes. Gives for each file up to which operation a surviving rename wrote it.
    fn lose_names(&mut self, choose: Choose<'_>, report: &mut PowerLossReport) -> BTreeMap<u32, u64> {
        let mut whole_up_to = BTreeMap::new();
        let mut journal_runs = true;
        let pending = self.changes_in_order();
        for ChangeRef { change, operation } in &pending {
            let survives = journal_runs && choose(Choice::Name { operation: *operation });
            if self.profile == DiskProfile::Ordered {
                journal_runs = survives;
            }
            if survives {
                report.names_kept += 1;
                let NameChange { inode, over, .. } = self.changes[*change];
                if over && self.profile == DiskProfile::Ordered {
                    whole_up_to.insert(inode, *operation);
                }
                self.apply_to_base(*change);
            } else {
                report.names_lost += 1;
            }
        }
        let names: Vec<u32> =
            pending.iter().flat_map(|reference| self.forget_change(reference.change)).collect();
        names.into_iter().for_each(|entry| self.tidy(entry));
        self.clear_queues();
        whole_up_to
    }

    /// A survivor changes the medium, unless it no longer applies.
    fn apply_to_base(&mut self, change: u32) {
        let NameChange { inode, from, to, creates, .. } = self.changes[change];
        let applies = match (from, to) {
            (Some(from), _) => self.entries[from].base == Some(inode),
            (None, Some(to)) => !creates || self.entries[to].base.is_none(),
            (None, None) => unreachable!("a settled change is not pending"),
        };
        if !applies {
            return;
        }
        if let Some(from) = from {
            self.set_base(from, None);
        }
        if let Some(to) = to {
            self.set_base(to, Some(inode));
        }
    }

    /// Ends a decided change: a reader sees what the medium has. Gives the names that may be nowhere now.
    fn forget_change(&mut self, change: u32) -> impl Iterator<Item = u32> + use<> {
        let NameChange { inode, from, to, .. } = self.remove_change(change);
        let names = [from, to].into_iter().flatten();
        for entry in names.clone() {
            self.entries[entry].changes.clear();
            self.set_now(entry, self.entries[entry].base);
        }
        self.release(inode);
        names
    }

    fn lose_contents(
        &mut self,
        whole_up_to: &BTreeMap<u32, u64>,
        choose: Choose<'_>,
        report: &mut PowerLossReport,
    ) {
        let tag = self.tag;
        for id in self.pending_files() {
            let whole_up_to = whole_up_to.get(&id).copied().unwrap_or(0);
            let rule = Rule { profile: self.profile, inode: self.inodes[id].number, whole_up_to };
            let platter = self.content(id).resolve(rule, choose, report);
            self.content_mut(id).adopt(platter, tag);
            self.recount(id);
        }
    }
}
