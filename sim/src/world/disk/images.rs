//! Every state that a power failure now could leave, each once.
//!
//! Promise: names are decided before contents, and two ways to decide the same are merged as soon as they are, so that
//! what cannot be told apart costs nothing. What is given is complete, or says that it is not.

use super::names::NameChange;
use super::scope::{Scope, Unread};
use super::state::{State, bare_part, directory_part, file_part, platter_content};
use super::survive::Rule;
use super::{Choice, Disk, Node, PowerLossReport};
use crate::plan::{DiskProfile, Survivors};
use std::collections::{BTreeMap, BTreeSet};

/// Beyond this many undecided sizes and sectors of one file, not all of its contents are looked at.
const CONTENT_CHOICES: usize = 16;

/// Ways to decide that are looked at for each image that is asked for at most.
const WAYS_AN_IMAGE: usize = 16;

/// One state that could be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The state.
    pub state: State,
    /// What survives in it; of a power failure alone, by the places in [`Disk::pending_choices`]. Where several ways lead to
    /// the state, one with few survivors.
    pub survivors: Survivors,
}

/// The distinct states that could be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// The states, in the order of their digests.
    pub images: Vec<Image>,
    /// Whether these are all.
    pub complete: bool,
}

/// Where names lead after some of the changes are decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Names {
    /// Where changed names that still count lead, by entry.
    leads: BTreeMap<u32, Option<u32>>,
    /// Bare directories in which a name that is deleted unread survives for good.
    littered: BTreeSet<u32>,
    /// Up to which operation a surviving rename wrote a file (profile `ordered`).
    whole_up_to: BTreeMap<u32, u64>,
}

/// What decides one way: the places of the survivors.
type Kept = Vec<u32>;

impl Disk {
    /// The distinct states that a power failure now could leave: at most `most` of them.
    ///
    /// # Panics
    /// When files are still open: they end with the life, so the process ends first.
    #[must_use]
    pub fn images(&self, unread: Unread<'_>, most: usize) -> Images {
        assert!(self.handles.is_empty(), "a life ends before its disk loses power");
        let choices = self.pending_choices();
        let scope = Scope::of(self, unread);
        let places = choices.iter().copied().zip(0_u32..).collect();
        let mut walk =
            Walk { disk: self, scope, places, most, ways: 0, complete: true, contents: BTreeMap::new() };
        let mut images = BTreeMap::new();
        for (names, kept) in walk.names() {
            walk.contents_of(&names, kept, &mut images);
        }
        let of = u32::try_from(choices.len()).expect("a disk has fewer than 2^32 pending changes");
        let image = |(state, kept)| Image { state, survivors: Survivors { of, kept } };
        Images { images: images.into_iter().map(image).collect(), complete: walk.complete }
    }
}

/// The contents that one file could have, and what decides each.
type Contents = BTreeMap<u128, Kept>;

struct Walk<'a> {
    disk: &'a Disk,
    scope: Scope,
    places: BTreeMap<Choice, u32>,
    most: usize,
    ways: usize,
    complete: bool,
    contents: BTreeMap<(u32, u64), Contents>,
}

impl Walk<'_> {
    /// Every distinct way in which the names could survive.
    fn names(&mut self) -> BTreeMap<Names, Kept> {
        let disk = self.disk;
        let changes: Vec<NameChange> =
            disk.changes_in_order().iter().map(|reference| disk.changes[reference.change]).collect();
        let mut last_use: BTreeMap<u32, usize> = BTreeMap::new();
        for (place, change) in changes.iter().enumerate() {
            for entry in [change.from, change.to].into_iter().flatten() {
                if self.scope.counting.contains(&entry) {
                    last_use.insert(entry, place);
                }
            }
        }
        let first = Names {
            leads: last_use.keys().map(|entry| (*entry, disk.entries[*entry].base)).collect(),
            littered: self.littered(&last_use),
            whole_up_to: BTreeMap::new(),
        };
        match disk.profile {
            DiskProfile::Strict => self.any_of(&changes, first, &last_use),
            DiskProfile::Ordered => self.prefixes(&changes, first),
        }
    }

    /// Bare directories in which a name that is deleted unread, and that nothing changes, survives.
    fn littered(&self, changed: &BTreeMap<u32, usize>) -> BTreeSet<u32> {
        let stays = |id: &&u32| {
            let entry = &self.disk.entries[**id];
            let unread = !self.scope.read.contains(*id) && self.scope.bare.contains(&entry.directory);
            unread && entry.base.is_some() && !changed.contains_key(*id)
        };
        self.scope.counting.iter().filter(stays).map(|id| self.disk.entries[*id].directory).collect()
    }

    /// Each change survives or not by itself.
    fn any_of(
        &mut self,
        changes: &[NameChange],
        first: Names,
        last_use: &BTreeMap<u32, usize>,
    ) -> BTreeMap<Names, Kept> {
        let mut ways = BTreeMap::from([(first, Kept::new())]);
        for (place, change) in changes.iter().enumerate() {
            if !self.scope.touches(change) {
                continue;
            }
            let mut next = BTreeMap::new();
            for (names, kept) in ways {
                for survives in [false, true] {
                    let (mut names, mut kept) = (names.clone(), kept.clone());
                    if survives {
                        kept.push(self.places[&Choice::Name { operation: change.operation }]);
                        names.apply(change);
                    }
                    self.let_go(&mut names, place, last_use);
                    self.merge(&mut next, names, kept);
                }
            }
            ways = next;
        }
        ways
    }

    /// A name that no change needs any more and that nobody reads: only whether it is there may count.
    fn let_go(&self, names: &mut Names, place: usize, last_use: &BTreeMap<u32, usize>) {
        let over = |entry: &u32| last_use[entry] == place && !self.scope.read.contains(entry);
        let gone: Vec<u32> = names.leads.keys().copied().filter(over).collect();
        for entry in gone {
            let directory = self.disk.entries[entry].directory;
            if names.leads.remove(&entry).flatten().is_some() && self.scope.bare.contains(&directory) {
                names.littered.insert(directory);
            }
        }
    }

    /// The journal is written in order: changes survive as a prefix.
    fn prefixes(&mut self, changes: &[NameChange], first: Names) -> BTreeMap<Names, Kept> {
        let last_use: BTreeMap<u32, usize> = first.leads.keys().map(|entry| (*entry, 0)).collect();
        let (mut names, mut kept) = (first, Kept::new());
        let mut ways = BTreeMap::new();
        for reached in 0..=changes.len() {
            let mut over = names.clone();
            self.let_go(&mut over, 0, &last_use);
            self.merge(&mut ways, over, kept.clone());
            if let Some(change) = changes.get(reached) {
                kept.push(self.places[&Choice::Name { operation: change.operation }]);
                names.apply(change);
                if change.over {
                    names.whole_up_to.insert(change.inode, change.operation);
                }
            }
        }
        ways
    }

    /// Of two ways to the same the one with fewer survivors stays. Beyond the bound no further way is taken.
    fn merge<K: Ord>(&mut self, ways: &mut BTreeMap<K, Kept>, to: K, kept: Kept) {
        self.ways += 1;
        if let Some(known) = ways.get_mut(&to) {
            if kept.len() < known.len() {
                *known = kept;
            }
        } else if ways.len() < self.most && self.ways <= self.most.saturating_mul(WAYS_AN_IMAGE) {
            ways.insert(to, kept);
        } else {
            self.complete = false;
        }
    }

    /// Every distinct state with these names.
    fn contents_of(&mut self, names: &Names, kept: Kept, images: &mut BTreeMap<State, Kept>) {
        let (settled, open) = self.files_of(names);
        let mut ways: BTreeMap<State, Kept> = BTreeMap::from([(settled, kept)]);
        for (inode, paths) in open {
            let whole_up_to = names.whole_up_to.get(&inode).copied().unwrap_or(0);
            let contents = self.contents(inode, whole_up_to);
            let mut next = BTreeMap::new();
            for (state, kept) in ways {
                for (content, keeping) in &contents {
                    let part = |entry: &u32| file_part(&self.disk.entries[*entry].path, *content);
                    let state = paths.iter().fold(state, |state, entry| state.with(part(entry)));
                    let kept = kept.iter().chain(keeping).copied().collect();
                    self.merge(&mut next, state, kept);
                }
            }
            ways = next;
        }
        for (state, kept) in ways {
            self.merge(images, state, kept);
        }
    }

    /// What is the same in each state with these names, and the files that are not, by the names that lead to them.
    fn files_of(&mut self, names: &Names) -> (State, BTreeMap<u32, Vec<u32>>) {
        let disk = self.disk;
        let leads = |id: u32| names.leads.get(&id).copied().unwrap_or(disk.entries[id].base);
        let reachable = disk.reachable(&leads);
        let (mut state, mut open, mut furnished) = (State::default(), BTreeMap::new(), BTreeSet::new());
        for id in self.scope.read.clone() {
            let entry = &disk.entries[id];
            let Some(inode) = leads(id).filter(|_| reachable.contains(&entry.directory)) else { continue };
            if entry.path.as_str().is_empty() {
                continue;
            }
            furnished.insert(entry.directory);
            match &disk.inodes[inode].node {
                Node::Directory { .. } => state = state.with(directory_part(&entry.path)),
                Node::File(content) if content.changes.is_empty() => {
                    let settled = self.contents(inode, 0);
                    let (content, _) = settled.first_key_value().expect("a settled file has one content");
                    state = state.with(file_part(&entry.path, *content));
                }
                Node::File(_) => open.entry(inode).or_insert_with(Vec::new).push(id),
            }
        }
        for directory in names.littered.difference(&furnished) {
            if reachable.contains(directory) {
                state = state.with(bare_part(self.path_of(*directory, &leads)));
            }
        }
        (state, open)
    }

    fn path_of(&self, directory: u32, leads: &dyn Fn(u32) -> Option<u32>) -> &str {
        let found = self.disk.entries.iter().find(|(id, _)| leads(*id) == Some(directory));
        found.map_or("", |(_, entry)| entry.path.as_str())
    }

    /// The distinct contents of one file.
    fn contents(&mut self, inode: u32, whole_up_to: u64) -> Contents {
        if let Some(known) = self.contents.get(&(inode, whole_up_to)) {
            return known.clone();
        }
        let content = self.disk.content(inode);
        let number = self.disk.inodes[inode].number;
        let rule = Rule { profile: self.disk.profile, inode: number, whole_up_to };
        let mut choices = Vec::new();
        content.choices(number, &mut choices);
        if choices.len() > CONTENT_CHOICES {
            self.complete = false;
            choices.truncate(CONTENT_CHOICES);
        }
        let mut contents = Contents::new();
        for chosen in 0_u32..1 << choices.len() {
            let is_chosen = |place: usize| chosen >> place & 1 == 1;
            let mut choose =
                |choice| choices.iter().position(|other| *other == choice).is_some_and(is_chosen);
            let platter = content.resolve(rule, &mut choose, &mut PowerLossReport::default());
            let kept = (0..choices.len())
                .filter(|place| is_chosen(*place))
                .map(|place| self.places[&choices[place]]);
            let kept: Kept = kept.collect();
            let known = contents.entry(platter_content(&platter)).or_insert_with(|| kept.clone());
            if kept.len() < known.len() {
                *known = kept;
            }
        }
        self.contents.insert((inode, whole_up_to), contents.clone());
        contents
    }
}

impl Names {
    /// A survivor changes the names, unless it no longer applies.
    fn apply(&mut self, change: &NameChange) {
        let NameChange { inode, from, to, creates, .. } = *change;
        let applies = match (from, to) {
            (Some(from), _) => self.leads.get(&from).is_none_or(|leads| *leads == Some(inode)),
            (None, Some(to)) => !creates || self.leads.get(&to).is_none_or(Option::is_none),
            (None, None) => unreachable!("a settled change is not pending"),
        };
        if !applies {
            return;
        }
        for (entry, leads) in [(from, None), (to, Some(inode))] {
            if let Some(known) = entry.and_then(|entry| self.leads.get_mut(&entry)) {
                *known = leads;
            }
        }
    }
}
