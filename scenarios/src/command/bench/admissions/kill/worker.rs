//! The process that is killed: a sender and a receiver over one store, which tells its parent what it is about to do
//! before it does it.
//!
//! Promise: what leaves the process, or is acted on in it, was written to its parent first, and only once the engine had
//! released it.

use super::lines::{self, Digest, Line};
use crate::command::bench::admissions::people::{self, Content, Person};
use crate::command::bench::admissions::watching::watched;
use crate::exit::Exit;
use crate::target;
use clap::Args;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::host::Host;
use groundhog_engine::host::disk::DiskPath;
use groundhog_engine::host::native::NativeMachine;
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::identity::delegation::Signer;
use groundhog_engine::identity::signing::Crypto;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::SlotLease;
use groundhog_engine::streams::transaction::TransactionId;
use groundhog_engine::streams::verify::Verifier;
use groundhog_engine::streams::{Arrival, Streams, StreamsConfig};
use std::error::Error;
use std::io::Write;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Origins; each has a stream of every class.
const ORIGINS: u64 = 4;

/// How long a worker lives at most, should its parent forget it.
const LIFE_MAX: Duration = Duration::from_secs(60);

#[derive(Args)]
pub struct Arguments {
    /// The store's directory.
    #[arg(long)]
    dir: PathBuf,
    /// Which life this is.
    #[arg(long)]
    life: u32,
    /// Payloads to hand in again first, in hex, one a line.
    #[arg(long)]
    again: PathBuf,
    /// New transactions of each stream.
    #[arg(long)]
    new: u64,
    /// Known-bad behaviours.
    #[arg(long)]
    flaw: Vec<String>,
}

/// Works until it is killed, or has done all that it was asked for.
pub fn main(arguments: &Arguments) -> Exit {
    match work(arguments) {
        Ok(()) => Exit::Held,
        Err(error) => {
            eprintln!("error: {error}");
            Exit::Wrong
        }
    }
}

type Failed = Box<dyn Error + Send + Sync>;

fn work(arguments: &Arguments) -> Result<(), Failed> {
    let flaws = target::flaws(&arguments.flaw)?.into_iter().fold(Flaws::NONE, Flaws::with);
    let again = std::fs::read_to_string(&arguments.again)?;
    let again: Option<Vec<Payload>> = again.lines().map(lines::payload_of).collect();
    let again = again.ok_or("what is to be handed in again is no payload")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let life = live(arguments, flaws, again);
        tokio::time::timeout(LIFE_MAX, life).await.map_err(|_| "nobody ended this life")?
    })
}

/// Writes a line. A parent that is gone needs nothing more, and nothing may be done that it was not told.
fn tell(line: &Line) {
    let mut output = std::io::stdout().lock();
    if output.write_all(line.text().as_bytes()).and_then(|()| output.flush()).is_err() {
        std::process::exit(i32::from(Exit::Cut.code()));
    }
}

/// Tells of the batches, so that it is seen where a kill strikes.
fn tell_of(event: EngineEvent<'_>) {
    match event {
        EngineEvent::BatchClosed { batch, .. } => tell(&Line::Begun(batch.0)),
        EngineEvent::BatchDurable { batch } => tell(&Line::Durable(batch.0)),
        EngineEvent::Step { step, .. } => tell(&Line::Step(step.id().to_owned())),
        _ => {}
    }
}

/// Everything that a task needs.
struct Node {
    host: Host,
    streams: Streams,
    connection: SlotLease,
    receiver: Arc<Signer>,
    hop: Signer,
    life: u32,
    flaws: Flaws,
}

async fn live(arguments: &Arguments, flaws: Flaws, again: Vec<Payload>) -> Result<(), Failed> {
    let machine = NativeMachine::new(&arguments.dir)?;
    let host = watched(Arc::clone(&machine), tell_of);
    let receiver = Arc::new(people::signer(Person::Receiver, 0));
    let config = StreamsConfig { flaws, ..people::config(&receiver) };
    let streams = Streams::open(&host, DiskPath::new("store"), config).await?;
    tell(&Line::Opened);
    let hop = people::signer(Person::Hop, 0);
    let connection = streams.connected(hop.account())?;
    let node = Arc::new(Node { host, streams, connection, receiver, hop, life: arguments.life, flaws });
    let tasks = usize::try_from(ORIGINS)? * Class::ALL.len();
    let again = Arc::new(again);
    let handing: Vec<_> = (0..tasks)
        .map(|task| tokio::spawn(hand_in(Arc::clone(&node), Arc::clone(&again), task, tasks)))
        .collect();
    for task in handing {
        task.await?;
    }
    let sending: Vec<_> = (0..ORIGINS)
        .flat_map(|origin| Class::ALL.map(|class| (origin, class)))
        .map(|(origin, class)| tokio::spawn(send(Arc::clone(&node), origin, class, arguments.new)))
        .collect();
    for task in sending {
        task.await??;
    }
    tell(&Line::Done);
    machine.shutdown();
    Ok(())
}

/// Hands in every `tasks`th of what was seen before.
async fn hand_in(node: Arc<Node>, again: Arc<Vec<Payload>>, task: usize, tasks: usize) {
    let mut verifier = node.verifier();
    for payload in again.iter().skip(task).step_by(tasks) {
        let digest = payload.transaction.digest();
        node.receive(&mut verifier, payload.clone(), digest).await;
    }
}

/// Sends `new` transactions of one stream, one after the other: reserves, signs, and hands in. The account is the same in
/// every life, its delegatee another, and no two lives sign the same.
async fn send(node: Arc<Node>, origin: u64, class: Class, new: u64) -> Result<(), Failed> {
    let mut verifier = node.verifier();
    let signer = people::signer(Person::Origin(origin), u64::from(node.life));
    let destination = node.receiver.account();
    for number in 0..new {
        let reserved = node.streams.reserve(&signer, destination, class, NonZeroU64::MIN).await?;
        let id = (u128::from(node.life) << 64) | u128::from(number);
        let content = Content { class, sequence: reserved.first, id: TransactionId(id.to_be_bytes()) };
        let payload = people::sign(&signer, &node.hop, destination, content, node.host.wall_now());
        let digest = payload.transaction.digest();
        tell(&Line::Exposed(Box::new(payload.clone())));
        node.receive(&mut verifier, payload, digest).await;
    }
    Ok(())
}

impl Node {
    fn verifier(&self) -> Verifier {
        Verifier::new(people::NETWORK, Crypto::Ed25519, self.flaws)
    }

    /// Verifies and admits; dispatching is telling of it.
    async fn receive(&self, verifier: &mut Verifier, payload: Payload, digest: Digest) {
        let verified = match verifier.verify(payload, self.host.wall_now()) {
            Ok(verified) => verified,
            Err(error) => return tell(&Line::Refused(digest, error.id().to_owned())),
        };
        let arrival = Arrival {
            introducer: Introducer::Slot(self.connection.slot()),
            link: Some(self.connection.link()),
            witness: &self.receiver,
        };
        match self.streams.admit(&verified, arrival).await {
            Ok(_) => tell(&Line::Admitted(digest)),
            Err(error) => tell(&Line::Refused(digest, error.id().to_owned())),
        }
    }
}
