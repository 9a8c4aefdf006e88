//! The application that looks after its own replays: the engine's reference namespace, with an epoch that is counted on the
//! node's disk.
//!
//! Promise: no two lives of a node have the same epoch, whatever is lost between them; a payload that is sent in several
//! envelopes is the same bytes in each.

use super::{DATA_DIRECTORY, LifeContext};
use crate::ledger::event::Event;
use crate::ledger::link_event::LinkEvent;
use crate::units::{ActionId, MessageId};
use bytes::Bytes;
use groundhog_engine::host::Host;
use groundhog_engine::host::disk::{DiskError, DiskErrorKind, DiskPath};
use groundhog_engine::identity::Did;
use groundhog_engine::identity::signing::sha256;
use groundhog_engine::streams::link_local::{
    Delegates, Epoch, Namespace, NamespaceError, Namespaces, NotActed, ReferenceNamespace, ReferenceSender,
};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The namespace's name.
const NAME: &str = "onion";

/// The namespace in one life of a node: what it receives and what it sends.
#[derive(Debug)]
pub struct Application {
    prefix: Vec<u8>,
    epoch: Epoch,
    receiver: Mutex<ReferenceNamespace>,
    sender: Mutex<Sending>,
}

#[derive(Debug)]
struct Sending {
    sender: ReferenceSender,
    /// The last payload of each action, for the further envelopes of it.
    last: BTreeMap<ActionId, Vec<u8>>,
}

impl Application {
    /// The namespace in the life of this number, which no life of the node had before.
    ///
    /// # Errors
    /// [`NamespaceError`].
    pub fn open(number: u64) -> Result<Self, NamespaceError> {
        let mut epoch = [0; 16];
        epoch[8..].copy_from_slice(&number.to_be_bytes());
        let epoch = Epoch(epoch);
        let receiver = ReferenceNamespace::open(NAME, epoch)?;
        let prefix = receiver.namespace().prefix().to_vec();
        let sender = ReferenceSender::open(NAME, number)?;
        let sender = Mutex::new(Sending { sender, last: BTreeMap::new() });
        Ok(Self { prefix, epoch, receiver: Mutex::new(receiver), sender })
    }

    /// What the engine is told before anything arrives.
    ///
    /// # Errors
    /// [`NamespaceError`].
    pub fn declared(message_limit: bool) -> Result<Namespaces, NamespaceError> {
        let mut namespaces = Namespaces::default();
        namespaces.declare(Namespace::new(NAME, Delegates { replay: true, message_limit })?)?;
        Ok(namespaces)
    }

    /// What its senders must know.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether a transaction with this data is one of the namespace's.
    pub fn owns(&self, data: &[u8]) -> bool {
        data.starts_with(&self.prefix)
    }

    /// The data of a message: that of the message before it, where both carry the same payload.
    pub fn payload(&self, message: MessageId, envelopes: u32, epoch: Epoch, content: &[u8]) -> Vec<u8> {
        let Sending { sender, last } = &mut *self.sender.lock().expect("one task alone uses this lock");
        let again = !message.ordinal.is_multiple_of(envelopes.max(1));
        if let Some(data) = last.get(&message.action).filter(|_| again) {
            return data.clone();
        }
        let data = sender.payload(epoch, content);
        last.insert(message.action, data.clone());
        data
    }

    fn act(&self, origin: Did, data: &Bytes) -> Result<(), NotActed> {
        let mut receiver = self.receiver.lock().expect("one task at a time uses this lock");
        receiver.act(origin, data).map(|_| ())
    }
}

/// The namespace acts on a dispatched transaction, if it is one of its own.
pub fn act(context: &LifeContext, message: Option<MessageId>, origin: Did, data: &Bytes) {
    let Some(application) = context.application.as_ref().filter(|application| application.owns(data)) else {
        return;
    };
    let refused = application.act(origin, data).err().map(|why| why.id());
    let payload = sha256(&[&origin.0, data]);
    let (node, life) = (context.node, context.life);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Link { node, life, event: LinkEvent::Acted { message, payload, refused } });
        }
    });
}

/// The number of this life, counted on the disk before anybody is told of it.
///
/// # Errors
/// Those of the disk.
pub async fn next_life(host: &Host) -> Result<u64, DiskError> {
    let data = DiskPath::new(DATA_DIRECTORY);
    let directory = data.join(NAME);
    let (file, fresh) = (directory.join("epoch"), directory.join("epoch.new"));
    match host.create_directory(&directory).await {
        Ok(()) => {}
        Err(error) if error.kind == DiskErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    host.flush_directory(&data).await?;
    let last = match host.open(&file).await {
        Ok(handle) => {
            let read = host.read(handle).await;
            host.close(handle);
            let read = read?;
            read.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
        }
        Err(error) if error.kind == DiskErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let number = last + 1;
    match host.remove(&fresh).await {
        Ok(()) => {}
        Err(error) if error.kind == DiskErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let handle = host.create(&fresh).await?;
    let written = async {
        host.write(handle, 0, Bytes::copy_from_slice(&number.to_be_bytes())).await?;
        host.flush(handle).await
    }
    .await;
    host.close(handle);
    written?;
    host.rename(&fresh, &file).await?;
    host.flush_directory(&directory).await?;
    Ok(number)
}
