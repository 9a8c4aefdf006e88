//! Every state that the end of a life can leave, with operations under way: each of them may have taken effect, in part or
//! not at all, and where power fails each pending change survives or not.
//!
//! Promise: what is given is what a death of the plan with those survivors leaves. It is complete, or says that it is not.

use super::images::{Image, Images};
use super::scope::Unread;
use super::state::State;
use super::{Choice, Disk};
use crate::plan::Survivors;
use groundhog_engine::host::disk::DiskRequest;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Ways for the operations that are cut short to end that are looked at most. Each is a disk of its own.
const MOST_WAYS: usize = 4_096;

/// Sectors of a torn write that are looked at; beyond these the last ones are lost in every way.
const MOST_SECTORS: usize = 12;

/// What the end of a life could leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Of a process crash.
    pub process: Images,
    /// Of a power failure.
    pub power: Images,
}

/// One way for the operations that are cut short to end.
struct Way {
    disk: Disk,
    kept: Vec<u32>,
}

impl Disk {
    /// What an end of the life now could leave; `cut` are the operations that it cuts short, in the order in which a death
    /// asks for them. At most `most` states of each kind of death.
    #[must_use]
    pub fn ends(&self, cut: &[&DiskRequest], unread: Unread<'_>, most: usize) -> Ends {
        let mut walk = Cutting { unread, asked: 0, complete: true };
        let mut ways = vec![Way { disk: self.clone(), kept: Vec::new() }];
        // A file that another operation is about to give another name counts though its own name does not.
        let renames =
            cut.len() > 1 && cut.iter().any(|request| matches!(request, DiskRequest::Rename { .. }));
        for request in cut {
            ways = walk.cut_short(ways, request, renames);
        }
        let Cutting { asked, complete, .. } = walk;
        let (mut process, mut power) = (BTreeMap::new(), BTreeMap::new());
        let mut all = complete;
        for Way { mut disk, kept } in ways {
            disk.process_crash();
            let images = disk.images(unread, most);
            all &= images.complete;
            for Image { state, survivors: Survivors { of, kept: later } } in images.images {
                let kept = kept.iter().copied().chain(later.into_iter().map(|place| asked + place)).collect();
                all &= keep(&mut power, state, Survivors { of: asked + of, kept }, most);
            }
            keep(&mut process, disk.state(unread), Survivors { of: asked, kept }, usize::MAX);
        }
        Ends { process: images(process, complete), power: images(power, all) }
    }
}

/// Of two ways to one state the one with fewer survivors stays. Whether there was room for it.
fn keep(images: &mut BTreeMap<State, Survivors>, state: State, survivors: Survivors, most: usize) -> bool {
    let room = images.len() < most;
    match images.entry(state) {
        Entry::Occupied(mut known) => {
            if survivors.kept.len() < known.get().kept.len() {
                known.insert(survivors);
            }
        }
        Entry::Vacant(free) if room => drop(free.insert(survivors)),
        Entry::Vacant(_) => return false,
    }
    true
}

fn images(images: BTreeMap<State, Survivors>, complete: bool) -> Images {
    let image = |(state, survivors)| Image { state, survivors };
    Images { images: images.into_iter().map(image).collect(), complete }
}

struct Cutting<'a> {
    unread: Unread<'a>,
    /// Changes that were asked for so far.
    asked: u32,
    complete: bool,
}

impl Cutting<'_> {
    /// Every way to end one operation more. Ways to one state are merged, unless `renames` says that a name may still
    /// change hands.
    fn cut_short(&mut self, mut ways: Vec<Way>, request: &DiskRequest, renames: bool) -> Vec<Way> {
        let Some(Way { disk: first, .. }) = ways.first() else { return ways };
        let choices = first.partly_choices(request);
        let first_place = self.asked;
        self.asked += choices.len() as u32;
        if !renames && !first.counts(self.unread, request) {
            ways.iter_mut().for_each(|way| way.disk.apply_partly(request, &mut |_| false));
            return ways;
        }
        let undecided = choices.len().min(MOST_SECTORS);
        self.complete &= undecided == choices.len();
        let (mut next, mut states) = (Vec::new(), BTreeSet::new());
        for (way, chosen) in
            ways.iter().flat_map(|way| (0_u32..1 << undecided).map(move |chosen| (way, chosen)))
        {
            if next.len() >= MOST_WAYS {
                self.complete = false;
                break;
            }
            let is_chosen = |place: usize| chosen >> place & 1 == 1;
            let mut disk = way.disk.clone();
            disk.apply_partly(request, &mut |choice: Choice| {
                choices.iter().position(|asked| *asked == choice).is_some_and(is_chosen)
            });
            let new =
                (0..undecided).filter(|place| is_chosen(*place)).map(|place| first_place + place as u32);
            let kept = way.kept.iter().copied().chain(new).collect();
            if renames || states.insert(disk.state(self.unread)) {
                next.push(Way { disk, kept });
            }
        }
        next
    }
}
