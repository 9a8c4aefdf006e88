//! Random operations, and every image that a power failure could leave after them.

use super::reference::{Image, Reference, parent, runs};
use super::*;
use crate::plan::Survivors;
use crate::world::disk::Unread;
use proptest::prelude::*;
use std::collections::BTreeSet;

const NAMES: [&str; 6] = ["d/a", "d/b", "d/t", "d/e/x", "d/e/y", "d/e/f/z"];

/// Directories that are created and removed, the second below the first.
const DIRECTORIES: [&str; 2] = ["d/e", "d/e/f"];

/// More pending choices than this are not enumerated here, so no operation adds to them.
const CHOICES_MAX: usize = 10;

#[derive(Clone, Debug)]
enum Act {
    Create(usize),
    CreateDirectory(usize),
    RemoveDirectory(usize),
    Write {
        file: usize,
        offset: usize,
        length: usize,
        fill: u8,
    },
    Record {
        file: usize,
        generation: u8,
        length: usize,
    },
    Flush(usize),
    Rename(usize, usize),
    Remove(usize),
    FlushDirectory(usize),
    /// The rest only the disk itself can do.
    Fault(OpFault, usize),
    WriteBack(u64),
    Partly(u64, usize),
    Crash,
}

fn plain_act() -> impl Strategy<Value = Act> {
    let (name, file) = (0..NAMES.len(), 0_usize..4);
    prop_oneof![
        4 => name.clone().prop_map(Act::Create),
        2 => (0..DIRECTORIES.len()).prop_map(Act::CreateDirectory),
        2 => (0..DIRECTORIES.len()).prop_map(Act::RemoveDirectory),
        2 => (file.clone(), prop_oneof![Just(0_usize), Just(100), Just(512), Just(700)], prop_oneof![Just(1_usize), Just(300), Just(512), Just(800)], 1_u8..4)
            .prop_map(|(file, offset, length, fill)| Act::Write { file, offset, length, fill }),
        3 => (file.clone(), 1_u8..4, prop_oneof![Just(5_usize), Just(600)])
            .prop_map(|(file, generation, length)| Act::Record { file, generation, length }),
        3 => file.prop_map(Act::Flush),
        3 => (name.clone(), name.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        2 => name.prop_map(Act::Remove),
        2 => (0_usize..3).prop_map(Act::FlushDirectory),
    ]
}

fn any_act() -> impl Strategy<Value = Act> {
    let fault = prop_oneof![
        Just(OpFault::Error),
        Just(OpFault::NoSpace),
        Just(OpFault::FailedFlush),
        Just(OpFault::FailedDirectoryFlush { read_only: false }),
        Just(OpFault::LyingFlush),
        Just(OpFault::BadSector { sector: 1 }),
        Just(OpFault::FlippedBit { bit: 9 }),
    ];
    prop_oneof![
        8 => plain_act(),
        2 => (fault, 0_usize..4).prop_map(|(fault, file)| Act::Fault(fault, file)),
        1 => any::<u64>().prop_map(Act::WriteBack),
        1 => (any::<u64>(), 0_usize..4).prop_map(|(bits, file)| Act::Partly(bits, file)),
        1 => Just(Act::Crash),
    ]
}

/// Acts that throw no coin, so that they do the same whatever the operations are numbered.
fn steady_act() -> impl Strategy<Value = Act> {
    any_act().prop_map(|act| if let Act::WriteBack(_) | Act::Partly(..) = act { Act::Crash } else { act })
}

fn profile() -> impl Strategy<Value = DiskProfile> {
    prop_oneof![Just(DiskProfile::Strict), Just(DiskProfile::Ordered)]
}

/// A coin for each choice, thrown by its name.
fn coin(bits: u64, choice: Choice) -> bool {
    let place = match choice {
        Choice::Name { operation } | Choice::Effect { operation } => operation,
        Choice::Size { operation, .. } => operation + 7,
        Choice::Sector { operation, sector, .. } => operation + 13 + u64::from(sector),
    };
    bits.rotate_left((place % 64) as u32) & 1 == 1
}

/// The disk and, as far as it can follow, the reference.
struct Pair {
    disk: Disk,
    reference: Reference,
    /// Open files: the handle, and the reference's number of the file.
    files: Vec<(FileHandle, u64)>,
    across_directories: bool,
}

impl Pair {
    fn new(profile: DiskProfile, across_directories: bool) -> Self {
        let (disk, reference) = (disk(profile), Reference::new(profile));
        Self { disk, reference, files: Vec::new(), across_directories }
    }

    fn file(&self, index: usize) -> Option<(FileHandle, u64)> {
        (!self.files.is_empty()).then(|| self.files[index % self.files.len()])
    }

    /// Does what can be done, on both.
    fn act(&mut self, act: &Act) {
        let parent_is_there = |name: &str| self.reference.has(parent(name));
        match *act {
            Act::Create(name) if parent_is_there(NAMES[name]) => {
                self.files.push((self.disk.create(NAMES[name]), self.reference.create(NAMES[name])));
            }
            Act::CreateDirectory(place) => {
                let name = DIRECTORIES[place];
                if parent_is_there(name) && !self.reference.has(name) {
                    self.disk.does(DiskRequest::CreateDirectory { path: path(name) });
                    self.reference.create_directory(name);
                }
            }
            Act::RemoveDirectory(place) => {
                let name = DIRECTORIES[place];
                let removed = self.disk.ask(DiskRequest::RemoveDirectory { path: path(name) }, None);
                if !self.reference.has(name) {
                    assert_eq!(removed, Err(DiskErrorKind::NotFound));
                } else if !self.reference.is_empty(name) {
                    assert_eq!(removed, Err(DiskErrorKind::WrongKind));
                } else {
                    assert_eq!(removed, Ok(DiskAnswer::Done));
                    return self.reference.remove(name);
                }
                self.reference.pass();
            }
            Act::Write { file, offset, length, fill } => {
                self.write(file, offset, vec![fill; length].into());
            }
            Act::Record { file, generation, length } => self.write(file, 0, record(generation, length)),
            Act::Flush(file) => {
                if let Some((handle, inode)) = self.file(file) {
                    let _ = self.disk.flush(handle);
                    self.reference.flush(inode);
                }
            }
            Act::Rename(from, to) => self.rename(NAMES[from], NAMES[to]),
            Act::Remove(name) if self.reference.has(NAMES[name]) => {
                self.disk.does(DiskRequest::Remove { path: path(NAMES[name]) });
                self.reference.remove(NAMES[name]);
            }
            Act::FlushDirectory(depth) => {
                let directory = ["d", DIRECTORIES[0], DIRECTORIES[1]][depth];
                let directory = if self.reference.has(directory) { directory } else { "d" };
                self.disk.flush_directory(directory);
                self.reference.flush_directory(directory);
            }
            _ => {}
        }
    }

    fn write(&mut self, file: usize, offset: usize, bytes: Bytes) {
        if let Some((handle, inode)) = self.file(file) {
            self.reference.write(inode, offset, &bytes);
            self.disk.does(DiskRequest::Write { file: handle, offset: offset as u64, bytes });
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        let inside = from[..from.len() - 1] == to[..to.len() - 1];
        let target_is_there = self.reference.has(parent(to));
        if self.reference.has(from) && target_is_there && from != to && (inside || self.across_directories) {
            self.disk.rename(from, to);
            self.reference.rename(from, to);
        }
    }

    /// What only the disk can do.
    fn act_alone(&mut self, act: &Act) {
        match *act {
            Act::Fault(fault, file) => self.fault(fault, file),
            Act::WriteBack(bits) => self.disk.write_back(&mut |choice| coin(bits, choice)),
            Act::Partly(bits, file) => {
                if let Some((file, _)) = self.file(file) {
                    let write = DiskRequest::Write { file, offset: 0, bytes: record(9, 1_100) };
                    self.disk.apply_partly(&write, &mut |choice| coin(bits, choice));
                }
            }
            Act::Crash => {
                self.disk.process_crash();
                self.disk.start_life();
                self.files.clear();
            }
            ref plain => self.act(plain),
        }
    }

    fn fault(&mut self, fault: OpFault, file: usize) {
        let Some((file, _)) = self.file(file) else { return };
        let requests = [
            DiskRequest::Flush { file },
            DiskRequest::FlushDirectory { path: path("d") },
            DiskRequest::Write { file, offset: 0, bytes: record(8, 600) },
            DiskRequest::Rename { from: path("d/t"), to: path("d/a") },
            DiskRequest::RemoveDirectory { path: path("d/e") },
        ];
        for request in requests.into_iter().filter(|request| fault.strikes(request)) {
            let _ = self.disk.ask(request, Some(fault));
        }
    }

    fn is_crowded(&self) -> bool {
        self.disk.pending_choices().len() > CHOICES_MAX
    }
}

fn image(disk: &Disk) -> Image {
    let mut image = Image::new();
    for directory in ["d", DIRECTORIES[0], DIRECTORIES[1]] {
        for (path, _) in disk.visible_names(&path(directory)) {
            image.insert(path.as_str().to_owned(), disk.visible(path).map(|bytes| runs(&bytes)));
        }
    }
    image
}

/// Every disk that a power failure now could leave.
fn survivors(disk: &Disk) -> Vec<Disk> {
    let choices = disk.pending_choices();
    let all = 0_u32..1 << choices.len();
    all.map(|kept| {
        let mut survivor = disk.clone();
        survivor.power_failure(&mut |choice| {
            let place = choices.iter().position(|other| *other == choice);
            kept >> place.expect("every choice was announced") & 1 == 1
        });
        survivor
    })
    .collect()
}

fn images(disk: &Disk) -> BTreeSet<Image> {
    survivors(disk).iter().map(image).collect()
}

/// What `certain` and `surviving` say agrees with every disk that could be left.
fn check_certainty(disk: &Disk) -> Result<(), TestCaseError> {
    let survivors = survivors(disk);
    for name in NAMES.into_iter().chain(["d/none"]) {
        let name = path(name);
        let found: BTreeSet<Found> = survivors.iter().map(|survivor| survivor.visible_found(&name)).collect();
        let said: BTreeSet<Found> = match disk.certain(name.as_str()) {
            Certainty::Certain(found) => BTreeSet::from([found]),
            Certainty::Uncertain(found) => found.into_iter().collect(),
        };
        prop_assert_eq!(&said, &found, "{:?}", name);
        let contents: BTreeSet<_> = survivors.iter().map(|survivor| seen(survivor, &name)).collect();
        let said: BTreeSet<_> = disk.surviving(&name).iter().map(short).collect();
        prop_assert_eq!(&said, &contents, "{:?}", name);
    }
    Ok(())
}

/// Names that are deleted unread, in some of the tests.
const UNREAD: [&str; 3] = ["d/t", "d/e/y", "d/e/f/z"];

fn states(disk: &Disk, unread: Unread<'_>) -> BTreeSet<State> {
    survivors(disk).iter().map(|survivor| survivor.state(unread)).collect()
}

/// The images are complete, each once, and each comes about as it says.
fn check_images(disk: &Disk, unread: Unread<'_>) -> Result<(), TestCaseError> {
    let Images { images, complete } = disk.images(unread, 65_536);
    prop_assert!(complete);
    let choices = disk.pending_choices();
    let walked: BTreeSet<State> = images.iter().map(|image| image.state).collect();
    prop_assert_eq!(walked.len(), images.len());
    prop_assert_eq!(walked, states(disk, unread));
    for image in images {
        let Survivors { of, kept } = &image.survivors;
        prop_assert_eq!(*of as usize, choices.len());
        let mut survivor = disk.clone();
        survivor.power_failure(&mut |choice| {
            let place =
                choices.iter().position(|other| *other == choice).expect("every choice was announced");
            kept.contains(&(place as u32))
        });
        prop_assert_eq!(survivor.state(unread), image.state, "{:?}", image);
    }
    Ok(())
}

/// What a reader gets: `None` where no file is, `Some(None)` where it cannot be read.
fn seen(disk: &Disk, name: &DiskPath) -> Option<Option<String>> {
    let mut disk = disk.clone();
    disk.visible(name)?;
    Some(disk.read(name.as_str()).ok().as_deref().map(runs))
}

fn short(content: &Option<Option<Bytes>>) -> Option<Option<String>> {
    content.as_ref().map(|content| content.as_deref().map(runs))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_survives_is_what_the_reference_says(profile in profile(), acts in prop::collection::vec(plain_act(), 1..24)) {
        let mut pair = Pair::new(profile, false);
        for act in &acts {
            pair.act(act);
            if pair.is_crowded() {
                break;
            }
        }
        prop_assert_eq!(image(&pair.disk), pair.reference.visible());
        if pair.disk.pending_choices().len() <= CHOICES_MAX + 3 {
            prop_assert_eq!(images(&pair.disk), pair.reference.images());
        }
    }

    #[test]
    fn certainty_is_what_every_survivor_agrees_on(profile in profile(), acts in prop::collection::vec(any_act(), 1..24)) {
        let mut pair = Pair::new(profile, true);
        for act in &acts {
            pair.act_alone(act);
            if pair.is_crowded() {
                break;
            }
        }
        if pair.disk.pending_choices().len() <= CHOICES_MAX {
            check_certainty(&pair.disk)?;
        }
    }

    #[test]
    fn the_images_walked_are_those_of_every_way_to_decide(profile in profile(), acts in prop::collection::vec(any_act(), 1..24), littered in any::<bool>()) {
        let mut pair = Pair::new(profile, true);
        for act in &acts {
            pair.act_alone(act);
            if pair.is_crowded() {
                break;
            }
        }
        let mut disk = pair.disk;
        disk.process_crash();
        if disk.pending_choices().len() <= CHOICES_MAX {
            check_images(&disk, &|path| littered && UNREAD.contains(&path.as_str()))?;
        }
    }

    #[test]
    fn disks_of_one_state_have_one_future(
        profile in profile(),
        acts in prop::collection::vec(steady_act(), 1..16),
        cut in 0_usize..12,
        later in prop::collection::vec((steady_act(), 0_usize..NAMES.len()), 1..8),
    ) {
        // The same in another order of operations and inodes: something is done and undone in between.
        let mut pairs = [Pair::new(profile, true), Pair::new(profile, true)];
        for pair in &mut pairs {
            let file = pair.disk.durable("d/kept", record(5, 5));
            pair.disk.close(file);
        }
        for (place, act) in acts.iter().enumerate() {
            if pairs[0].is_crowded() {
                break;
            }
            pairs[0].act_alone(act);
            pairs[1].act_alone(act);
            if place == cut {
                let file = pairs[1].disk.create("d/u");
                pairs[1].disk.close(file);
                pairs[1].disk.does(DiskRequest::Remove { path: path("d/u") });
            }
        }
        let unread = |path: &DiskPath| path.as_str() == "d/u" || UNREAD.contains(&path.as_str());
        prop_assert_eq!(pairs[0].disk.state(&unread), pairs[1].disk.state(&unread));
        pairs.iter_mut().for_each(|pair| pair.act_alone(&Act::Crash));
        for (act, name) in &later {
            if pairs.iter().any(Pair::is_crowded) {
                break;
            }
            for pair in &mut pairs {
                pair.files.push((pair.disk.create(NAMES[0]), pair.reference.create(NAMES[0])));
                pair.act_alone(act);
                pair.act_alone(&Act::Remove(*name));
            }
        }
        pairs.iter_mut().for_each(|pair| pair.disk.process_crash());
        let [one, other] = &pairs;
        if one.disk.pending_choices().len().max(other.disk.pending_choices().len()) <= CHOICES_MAX + 2 {
            prop_assert_eq!(states(&one.disk, &unread), states(&other.disk, &unread));
        }
    }

    #[test]
    fn flushing_writing_back_and_crashing_only_narrow_what_may_survive(
        profile in profile(),
        acts in prop::collection::vec(plain_act(), 1..20),
        bits in any::<u64>(),
        inner in 0_usize..3,
    ) {
        let mut pair = Pair::new(profile, true);
        for act in &acts {
            pair.act(act);
            if pair.is_crowded() {
                break;
            }
        }
        if pair.disk.pending_choices().len() > CHOICES_MAX {
            return Ok(());
        }
        let (before, seen) = (images(&pair.disk), image(&pair.disk));
        prop_assert!(before.contains(&seen), "what a reader sees may survive");
        for act in [Act::WriteBack(bits), Act::FlushDirectory(inner), Act::Flush(0), Act::Crash] {
            pair.act_alone(&act);
            prop_assert!(images(&pair.disk).is_subset(&before), "{:?}", act);
            prop_assert_eq!(&image(&pair.disk), &seen);
        }
        pair.disk.write_back(&mut |_| true);
        prop_assert!(pair.disk.pending_choices().is_empty());
        prop_assert_eq!(image(&survivors(&pair.disk)[0]), seen);
    }

    #[test]
    fn a_file_flushed_then_renamed_then_named_durably_always_survives(
        profile in profile(),
        before in prop::collection::vec(any_act(), 0..20),
        after in prop::collection::vec(any_act(), 0..12),
        bits in any::<u64>(),
    ) {
        let mut pair = Pair::new(profile, true);
        before.iter().for_each(|act| pair.act_alone(act));
        let file = pair.disk.flushed("d/fresh", record(7, 1_300));
        pair.disk.close(file);
        pair.disk.rename("d/fresh", "d/kept");
        pair.disk.flush_directory("d");
        prop_assert_eq!(certain(&pair.disk, "d/kept"), generation(7));
        after.iter().for_each(|act| pair.act_alone(act));
        prop_assert_eq!(certain(&pair.disk, "d/kept"), generation(7));
        pair.disk.power_failure(&mut |choice| coin(bits, choice));
        prop_assert_eq!(pair.disk.visible(&path("d/kept")), Some(record(7, 1_300)));
    }

    #[test]
    fn ordered_names_survive_as_a_prefix(acts in prop::collection::vec(plain_act(), 1..24), bits in any::<u64>()) {
        let mut pair = Pair::new(DiskProfile::Ordered, true);
        acts.iter().for_each(|act| pair.act(act));
        let names: Vec<Choice> = pair.disk.pending_choices().into_iter().filter(|choice| is_name(*choice)).collect();
        let kept = names.iter().take_while(|choice| coin(bits, **choice)).count();
        let report = pair.disk.power_failure(&mut |choice| coin(bits, choice));
        prop_assert_eq!((report.names_kept as usize, report.names_lost as usize), (kept, names.len() - kept));
    }

    #[test]
    fn nothing_is_left_in_memory_that_nothing_leads_to(profile in profile(), acts in prop::collection::vec(any_act(), 1..60), bits in any::<u64>()) {
        let mut pair = Pair::new(profile, true);
        acts.iter().for_each(|act| pair.act_alone(act));
        pair.disk.power_failure(&mut |choice| coin(bits, choice));
        // The root and `d`, and what a reader sees.
        prop_assert_eq!(pair.disk.inode_count(), 2 + image(&pair.disk).len());
        prop_assert_eq!(pair.disk.names.len(), pair.disk.inode_count());
        prop_assert_eq!(pair.disk.entries.len(), pair.disk.inode_count());
        let contents = NAMES.iter().chain(&["d/fresh"]).filter_map(|name| pair.disk.visible(&path(name)));
        let bytes: u64 = contents.map(|bytes| bytes.len().next_multiple_of(512) as u64).sum();
        prop_assert_eq!(pair.disk.used_bytes(), bytes + 512 * pair.disk.inode_count() as u64);
    }
}
