//! What a power failure can leave of one file's bytes.
//!
//! Promise: the one function that decides an image serves the power failure itself and the laws' look at every image
//! that it could leave, so that the two cannot disagree.

use super::choice::{Choice, Choose, PowerLossReport};
use super::content::{FileContent, Tag};
use super::platter::Platter;
use crate::plan::DiskProfile;
use bytes::Bytes;
use smallvec::SmallVec;

/// Beyond this many undecided sizes and sectors of one file, its images are not enumerated: see [`FileContent::images`].
pub(super) const ENUMERATED_CHOICES: usize = 10;

/// How one file's changes are decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) profile: DiskProfile,
    /// The file's number, for the names of its choices.
    pub(super) inode: u64,
    /// A rename of the file over another one survives, so that what was written up to this operation does, too.
    pub(super) whole_up_to: u64,
}

impl FileContent {
    /// The file after a power failure, each undecided size and sector decided by `choose`.
    pub(super) fn resolve(&self, rule: Rule, choose: Choose<'_>, report: &mut PowerLossReport) -> Platter {
        if self.changes.is_empty() {
            return self.base.clone();
        }
        let sizes = self.surviving_sizes(rule, choose);
        let ordered = rule.profile == DiskProfile::Ordered;
        // A size never precedes its data: what was written up to the last surviving size is whole.
        let whole =
            if ordered { sizes.iter().rposition(|(survives, clean)| *survives && !clean) } else { None };
        let mut pen = self.base.pen();
        let mut count = |kept: bool| {
            if kept {
                report.contents_kept += 1
            } else {
                report.contents_lost += 1
            }
            kept
        };
        for (index, change) in self.changes.iter().enumerate() {
            let forced = !change.clean
                && (change.operation <= rule.whole_up_to || whole.is_some_and(|whole| index <= whole));
            if let Some(size) = change.size
                && count(forced || sizes[index].0)
            {
                pen.set_size(size);
            }
            for sector in change.undecided() {
                let (inode, operation) = (rule.inode, change.operation);
                if count(forced || choose(Choice::Sector { inode, operation, sector })) {
                    change.write_sector(sector, &mut pen);
                }
            }
        }
        pen.finish()
    }

    /// For each change whether its size survives, and whether it is clean.
    fn surviving_sizes(&self, rule: Rule, choose: Choose<'_>) -> SmallVec<[(bool, bool); 8]> {
        let decide = |change: &super::content::ContentChange| {
            let (inode, operation) = (rule.inode, change.operation);
            let forced = !change.clean && operation <= rule.whole_up_to;
            let survives = change.size.is_some() && (forced || choose(Choice::Size { inode, operation }));
            (survives, change.clean)
        };
        self.changes.iter().map(decide).collect()
    }

    /// Takes what a power failure left as the file.
    pub(super) fn adopt(&mut self, platter: Platter, tag: Tag) {
        self.now = platter.content();
        self.base_found = self.found_on(&platter, tag);
        self.base = Platter { blocks: self.now.clone(), size: platter.size, bad: platter.bad };
        self.now_found = super::content::found_in(tag, &self.now);
        self.changes = Vec::new();
        self.renamed_over = Vec::new();
    }

    /// What the kernel writes back when it feels like it: any undecided size or sector that is not clean.
    pub(super) fn write_back(&mut self, profile: DiskProfile, inode: u64, choose: Choose<'_>, tag: Tag) {
        let mut pen = self.base.pen();
        for index in 0..self.changes.len() {
            let change = &self.changes[index];
            let operation = change.operation;
            if change.clean {
                continue;
            }
            if change.size.is_some() && choose(Choice::Size { inode, operation }) {
                if profile == DiskProfile::Ordered {
                    self.settle_through(index, &mut pen);
                }
                self.settle_size(index, &mut pen);
            }
            for sector in self.changes[index].undecided().collect::<Vec<_>>() {
                if choose(Choice::Sector { inode, operation, sector }) {
                    self.settle_sector(index, sector, &mut pen);
                }
            }
        }
        self.finish(pen, tag);
    }

    /// Every choice that a power failure now would ask about this file, each once: the sizes that the sectors of one torn
    /// write gave to a file are one choice.
    pub(super) fn choices(&self, inode: u64, into: &mut Vec<Choice>) {
        let mut last_size = None;
        for change in &self.changes {
            let operation = change.operation;
            if change.size.is_some() && last_size.replace(operation) != Some(operation) {
                into.push(Choice::Size { inode, operation });
            }
            into.extend(change.undecided().map(|sector| Choice::Sector { inode, operation, sector }));
        }
    }

    /// Gives `each` every image that a power failure now could leave, some more than once.
    ///
    /// With more than [`ENUMERATED_CHOICES`] undecided choices it gives only those of a flush after each change, and
    /// returns `false`: torn images exist, too.
    pub(super) fn images(&self, rule: Rule, each: &mut dyn FnMut(&Platter)) -> bool {
        let mut choices = Vec::new();
        self.choices(rule.inode, &mut choices);
        let mut resolve =
            |choose: Choose<'_>| each(&self.resolve(rule, choose, &mut PowerLossReport::default()));
        if choices.len() > ENUMERATED_CHOICES {
            resolve(&mut |_| false);
            for change in &self.changes {
                resolve(
                    &mut |choice| matches!(choice, Choice::Size { operation, .. } | Choice::Sector { operation, .. } if operation <= change.operation),
                );
            }
            return false;
        }
        for chosen in 0_u32..1 << choices.len() {
            resolve(&mut |choice| {
                let place = choices.iter().position(|other| *other == choice);
                chosen >> place.expect("only undecided choices are asked") & 1 == 1
            });
        }
        true
    }
}

/// The bytes of an image as a reader would get them; `None` when a bad sector stands in the way.
pub(super) fn readable(platter: &Platter) -> Option<Bytes> {
    platter.is_readable().then(|| platter.content())
}
