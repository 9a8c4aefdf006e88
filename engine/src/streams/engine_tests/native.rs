//! The same over real files: what one process made durable, the next one finds.

use super::*;
use crate::host::Machine;
use crate::host::native::NativeMachine;
use crate::streams::payload::Payload;
use crate::streams::verify::Verifier;

struct Life {
    /// Dropped last, since the streams stand on it.
    machine: Arc<NativeMachine>,
    streams: Streams,
}

async fn start(directory: &tempfile::TempDir) -> Life {
    let machine = NativeMachine::new(directory.path()).unwrap();
    let config = fixtures::config(Flaws::NONE);
    // The process before gives the directory up when its writer ends, which is soon after its streams are dropped.
    for _ in 0..1_000 {
        match Streams::open(&machine.host(), root(), config).await {
            Ok(streams) => return Life { machine, streams },
            Err(OpenError::Store(store::OpenError::Locked { .. })) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the directory stayed locked");
}

impl Life {
    /// A transaction that is signed and handed in at `now`.
    fn admit(&self, origin: &Signer, sequence: u64, content: u8, now: WallMs) -> Admitting {
        let (me, class) = (receiver().account(), Class::Application);
        let transaction = fixtures::sign(origin, me, class, sequence, content, (now, 600_000));
        let payload = Payload::sign(transaction, &signer(1, 2), fixtures::NETWORK, fixtures::CRYPTO);
        let mut verifier = Verifier::new(fixtures::NETWORK, fixtures::CRYPTO, Flaws::NONE);
        let arrival = Arrival { introducer: Introducer::Own, link: None, witness: &receiver() };
        self.streams.admit(&verifier.verify(payload, now).unwrap(), arrival)
    }

    async fn sequence(&self) -> u64 {
        let reserving = self.streams.reserve(&signer(1, 2), Did([9; 20]), Class::E2e, NonZeroU64::MIN);
        reserving.await.unwrap().first.0
    }
}

#[tokio::test]
async fn a_restart_over_real_files_keeps_windows_and_resumes_after_the_lease() {
    let directory = tempfile::tempdir().unwrap();
    let life = start(&directory).await;
    for sequence in 0..5 {
        assert_eq!(life.sequence().await, sequence);
    }
    let (alice, now) = (signer(1, 2), life.machine.wall_now());
    assert_eq!(word(life.admit(&alice, 10, 0, now).await), "first");
    assert_eq!(word(life.admit(&alice, 11, 0, now).await), "advance");
    let digest = life.streams.state_digest();
    drop(life);

    let life = start(&directory).await;
    assert_eq!(life.streams.state_digest(), digest);
    assert_eq!(life.sequence().await, 64);
    for (sequence, content, verdict) in [(10, 0, "replay"), (11, 1, "fork"), (12, 0, "advance")] {
        assert_eq!(word(life.admit(&alice, sequence, content, now).await), verdict);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admissions_in_flight_together_share_batches_over_real_files() {
    let directory = tempfile::tempdir().unwrap();
    let life = start(&directory).await;
    let now = life.machine.wall_now();
    let admissions: Vec<_> = (0..64u8).map(|origin| life.admit(&signer(origin, 2), 1, 0, now)).collect();
    for admitting in admissions {
        assert_eq!(word(admitting.await), "first");
    }
    let names = std::fs::read_dir(directory.path().join(root().as_str())).unwrap();
    let is_record = |name: &str| name.len() == 40;
    let records =
        names.filter(|entry| is_record(&entry.as_ref().unwrap().file_name().to_string_lossy())).count();
    assert_eq!(records, 64);
    life.machine.shutdown();
    let refused = life.streams.counters();
    assert_eq!(refused.persistence_failure, 0);
}
