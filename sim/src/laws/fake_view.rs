//! Hand-made disks, for the tests of the laws.

use super::fake::stream;
use super::reading::{ReadRecord, RecordValue, ReferenceWindow};
use super::{RecordImage, StoreUse, View};
use crate::units::NodeId;
use bytes::Bytes;
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::Counters;
use groundhog_engine::streams::key::Class;
use groundhog_engine::units::WallMs;
use std::collections::BTreeMap;

/// A plain encoding: origin, destination, class, table, spent instant, then the lease, or sequence and digest word of each
/// slot taken.
pub fn read(value: &[u8]) -> Option<ReadRecord> {
    let words: Vec<u64> =
        value.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let [origin, destination, class, table, spent, rest @ ..] = &words[..] else { return None };
    let spent = WallMs(*spent);
    let mut key = stream(u16::try_from(*origin).ok()?, u16::try_from(*destination).ok()?);
    key.class = *Class::ALL.get(usize::try_from(*class).ok()?)?;
    let value = match table {
        0 => RecordValue::Sender(*rest.first()?),
        _ => {
            let mut window = ReferenceWindow::default();
            for slot in rest.chunks_exact(2) {
                window.observe(slot[0], slot[1]);
            }
            RecordValue::Receiver(window)
        }
    };
    let spent = matches!(value, RecordValue::Receiver(_)).then_some(spent);
    Some(ReadRecord { stream: key, spent, value })
}

fn encode(words: &[u64]) -> Bytes {
    words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>().into()
}

/// When what `fake::brief` makes is spent.
pub const BRIEF_SPENT_MS: u64 = 4_000;

/// A record as a disk may hold it.
#[derive(Clone, Debug)]
pub enum Image {
    /// No file.
    Absent,
    /// Not whole.
    Torn,
    /// Whole, of no readable value.
    Generation(u64),
    /// A sender's lease for the application stream between two nodes.
    Lease(u64, (u16, u16), u64),
    /// A receiver's window: sequences with the tags of their digests. Never spent.
    Window(u64, (u16, u16), Vec<(u64, u8)>),
    /// The same of the control stream, spent after [`BRIEF_SPENT_MS`].
    Brief(u64, (u16, u16), Vec<(u64, u8)>),
}

impl Image {
    fn image(&self) -> RecordImage {
        let (generation, value) = match self {
            Image::Absent => return RecordImage::Absent,
            Image::Torn => return RecordImage::Torn,
            Image::Generation(generation) => (*generation, Bytes::new()),
            Image::Lease(generation, (origin, destination), lease) => {
                (*generation, encode(&[u64::from(*origin), u64::from(*destination), 3, 0, 0, *lease]))
            }
            Image::Window(generation, (origin, destination), slots) => {
                (*generation, window([u64::from(*origin), u64::from(*destination), 3], u64::MAX, slots))
            }
            Image::Brief(generation, (origin, destination), slots) => {
                (*generation, window([u64::from(*origin), u64::from(*destination), 0], BRIEF_SPENT_MS, slots))
            }
        };
        RecordImage::Whole { generation, value }
    }
}

fn window([origin, destination, class]: [u64; 3], spent: u64, slots: &[(u64, u8)]) -> Bytes {
    let mut words = vec![origin, destination, class, 1, spent];
    for (sequence, tag) in slots {
        words.extend([*sequence, u64::from_le_bytes([*tag; 8])]);
    }
    encode(&words)
}

/// Disks by hand.
#[derive(Default)]
pub struct FakeView {
    visible: BTreeMap<(NodeId, RecordName), (Image, bool)>,
    surviving: BTreeMap<(NodeId, RecordName), Vec<Image>>,
    /// Markers without records, by node.
    pub orphans: Vec<(NodeId, RecordName)>,
    /// What `store_use` says.
    pub store_use: StoreUse,
    /// What nodes count.
    pub counters: BTreeMap<NodeId, Counters>,
}

impl FakeView {
    /// What a reader sees, and whether the marker is there.
    pub fn visible(&mut self, node: u16, record: RecordName, image: Image, marked: bool) {
        self.visible.insert((NodeId(node), record), (image, marked));
    }

    /// What a power failure could leave.
    pub fn surviving(&mut self, node: u16, record: RecordName, images: &[Image]) {
        self.surviving.insert((NodeId(node), record), images.to_vec());
    }

    /// Both: one image, certain and marked.
    pub fn certain(&mut self, node: u16, record: RecordName, image: Image) {
        self.surviving(node, record, std::slice::from_ref(&image));
        self.visible(node, record, image, true);
    }
}

impl View for FakeView {
    fn surviving_generations(&self, node: NodeId, record: RecordName, into: &mut Vec<Option<u64>>) {
        for image in self.surviving_images(node, record) {
            into.push(match image {
                RecordImage::Whole { generation, .. } => Some(generation),
                RecordImage::Absent | RecordImage::Torn => None,
            });
        }
    }

    fn surviving_images(&self, node: NodeId, record: RecordName) -> Vec<RecordImage> {
        self.surviving
            .get(&(node, record))
            .map_or_else(Vec::new, |images| images.iter().map(Image::image).collect())
    }

    fn visible_image(&self, node: NodeId, record: RecordName) -> RecordImage {
        self.visible.get(&(node, record)).map_or(RecordImage::Absent, |(image, _)| image.image())
    }

    fn visible_records(&self, node: NodeId) -> Vec<(RecordName, bool)> {
        let here = self
            .visible
            .iter()
            .filter(|((at, _), (image, _))| *at == node && !matches!(image, Image::Absent));
        here.map(|((_, record), (_, marked))| (*record, *marked)).collect()
    }

    fn visible_orphan_markers(&self, node: NodeId) -> Vec<RecordName> {
        self.orphans.iter().filter(|(at, _)| *at == node).map(|(_, record)| *record).collect()
    }

    fn store_use(&self, _node: NodeId) -> StoreUse {
        self.store_use
    }

    fn counters(&self, node: NodeId) -> Option<Counters> {
        self.counters.get(&node).copied()
    }
}
