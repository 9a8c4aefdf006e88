//! `groundhog store` as a process, over a store that the engine has written on this machine's disk.

mod common;

use common::{command, err, json, out, pasted, repeat};
use groundhog_engine::host::disk::DiskPath;
use groundhog_engine::host::native::NativeMachine;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{Crypto, KeyPair};
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::transaction::{Draft, Transaction, TransactionId};
use groundhog_engine::streams::verify::Verifier;
use groundhog_engine::streams::{Arrival, Streams, StreamsConfig};
use groundhog_engine::units::{Sequence, WallMs};
use serde_json::Value;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const NETWORK: NetworkId = NetworkId(7);
const CRYPTO: Crypto = Crypto::Ed25519;

fn signer(seed: u8) -> Arc<Signer> {
    let (account, key) = (KeyPair::from_seed(&[seed; 32]), KeyPair::from_seed(&[seed + 100; 32]));
    let always = (WallMs(0), WallMs(u64::MAX));
    let delegation = Delegation::sign(&account, *key.public(), always, NETWORK, CRYPTO);
    Arc::new(Signer::new(key, delegation))
}

/// A node's store on the real disk, with the machine that it stands on.
struct Store {
    data: TempDir,
    runtime: Runtime,
    node: Arc<Signer>,
    peer: Arc<Signer>,
}

impl Store {
    /// A node that has sent one message to its peer and admitted sequence 41 of it.
    fn written() -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let store = Self { data, runtime, node: signer(1), peer: signer(2) };
        let streams = store.open();
        let one = NonZeroU64::new(1).expect("one");
        let reserved = streams.reserve(&store.node, store.peer.account(), Class::Application, one);
        store.runtime.block_on(reserved).expect("reserved");
        assert_eq!(store.admit(&streams, 41), "first");
        store.close(streams);
        store
    }

    fn open(&self) -> Streams {
        let machine =
            self.runtime.block_on(async { NativeMachine::new(self.data.path()).expect("a machine") });
        let config = StreamsConfig { crypto: CRYPTO, ..StreamsConfig::new(NETWORK, self.node.account()) };
        let root = DiskPath::new("transaction-replay");
        self.runtime.block_on(Streams::open(&machine.host(), root, config)).expect("the store opens")
    }

    /// The store is given up by a task that ends a little after its streams are dropped.
    fn close(&self, streams: Streams) {
        drop(streams);
        for _ in 0..10_000 {
            if self.call("list", &[]).status.code() == Some(0) {
                return;
            }
        }
        panic!("the store is still held");
    }

    fn admit(&self, streams: &Streams, sequence: u64) -> String {
        let draft = Draft {
            destination: self.node.account(),
            id: TransactionId([3; 16]),
            sequence: Sequence(sequence),
            reply_via: None,
            data: &[MessageKind::plain(Class::Application) as u8, 1],
            issued: WallMs(now_ms()),
            lifetime_ms: 600_000,
        };
        let transaction = Transaction::sign(&draft, &self.peer, NETWORK, CRYPTO).expect("signed");
        let payload = Payload::sign(transaction, &self.peer, NETWORK, CRYPTO);
        let flaws = groundhog_engine::flaws::Flaws::NONE;
        let verified =
            Verifier::new(NETWORK, CRYPTO, flaws).verify(payload, WallMs(now_ms())).expect("it verifies");
        let arrival = Arrival { introducer: Introducer::Inbox, link: None, witness: &self.node };
        let _inside = self.runtime.enter();
        match self.runtime.block_on(streams.admit(&verified, arrival)) {
            Ok(verdict) => format!("{verdict:?}").to_lowercase(),
            Err(error) => error.id().to_owned(),
        }
    }

    fn directory(&self) -> PathBuf {
        self.data.path().join("transaction-replay")
    }

    fn call(&self, what: &str, more: &[&str]) -> Output {
        call(what, &self.directory(), more)
    }

    fn json(&self, what: &str) -> Value {
        json(&self.call(what, &["--json"]))
    }

    /// The file name of the record of a table.
    fn record(&self, table: &str) -> String {
        let listed = self.json("list");
        let records = listed["records"].as_array().expect("a list").clone();
        let found = records.iter().find(|record| record["table"] == table).expect("one is there");
        found["record"].as_str().expect("a name").to_owned()
    }
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("64 bits")
}

fn call(what: &str, directory: &Path, more: &[&str]) -> Output {
    command(&["store", what])
        .arg(directory)
        .args(more)
        .env("COLUMNS", "80")
        .output()
        .expect("the command runs")
}

#[test]
fn a_list_names_each_stream_in_eighty_columns_and_as_data() {
    let store = Store::written();
    let output = store.call("list", &[]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in [
        "receiver  application  high 41, inbox, spent 20",
        "sender    application  leased up to 63",
        &store.peer.account().to_string(),
        &store.node.account().to_string(),
        "1 sender and 1 receiver streams, 0 that do not restore",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let listed = store.json("list");
    let records = listed["records"].as_array().expect("a list");
    let receiver = records.iter().find(|record| record["table"] == "receiver").expect("one is there");
    assert_eq!((receiver["high"].as_u64(), receiver["network_id"].as_u64()), (Some(41), Some(7)));
    assert_eq!(receiver["origin"], store.peer.account().to_string());
    assert!(receiver["bytes"].as_u64() > Some(100) && receiver["marked"] == true, "{receiver}");
    assert_eq!(receiver["custody"], 1, "it came out of the inbox, and its mail was not taken");
}

#[test]
fn a_check_tells_what_an_open_would_and_its_repeat_fails_again() {
    let store = Store::written();
    let healthy = store.call("check", &[]);
    assert_eq!(healthy.status.code(), Some(0), "{}", out(&healthy));
    let record = store.record("receiver");
    std::fs::remove_file(store.directory().join(&record)).expect("lost");
    std::fs::write(store.directory().join(store.record("sender")), b"garbage").expect("damaged");
    let output = store.call("check", &[]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("missing: its presence marker has no record"), "{text}");
    assert!(text.contains("undecodable: no record begins here"), "{text}");
    assert!(text.contains(&record) && text.contains("FAILED   store check"), "{text}");
    let line = repeat(&text);
    assert_eq!(pasted(line).status.code(), Some(1), "{line}");
    let checked = store.json("check");
    assert_eq!(checked["healthy"], false);
    let whys: Vec<_> = checked["bad"].as_array().expect("a list").iter().map(|bad| &bad["bad"]).collect();
    assert!(whys.iter().any(|why| *why == "missing") && whys.iter().any(|why| *why == "undecodable"));
}

#[test]
fn a_clear_asks_first_and_then_lets_one_stream_begin_again() {
    let store = Store::written();
    let (receiver, sender) = (store.record("receiver"), store.record("sender"));
    let asked = store.call("clear", &[&receiver]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(err(&asked).contains("say --yes"), "{}", err(&asked));
    assert!(out(&asked).replace('\n', " ").contains("may be admitted once more"), "{}", out(&asked));
    assert!(store.directory().join(&receiver).exists(), "nothing was changed");

    let cleared = store.call("clear", &[&receiver, "--yes"]);
    assert_eq!(cleared.status.code(), Some(0), "{}", err(&cleared));
    assert!(out(&cleared).contains("removed its record and its marker"));
    for gone in [receiver.clone(), format!("{receiver}.p")] {
        assert!(!store.directory().join(gone).exists());
    }
    assert!(store.directory().join(&sender).exists(), "no other stream changes");
    let streams = store.open();
    assert_eq!(store.admit(&streams, 41), "first", "the stream begins again");
    store.close(streams);

    let again = store.call("clear", &[&"0".repeat(40), "--yes"]);
    assert_eq!((again.status.code(), out(&again).as_str()), (Some(2), ""));
    assert!(err(&again).contains("holds no record"));
}

#[test]
fn a_lost_stream_is_cleared_by_its_ends_class_and_table() {
    let store = Store::written();
    std::fs::remove_file(store.directory().join(store.record("receiver"))).expect("lost");
    let streams = store.open();
    assert_eq!(store.admit(&streams, 42), "stream-unavailable");
    store.close(streams);
    let (from, to) = (store.peer.account().to_string(), store.node.account().to_string());
    let cleared = store.call("clear", &[&from, &to, "application", "receiver", "--yes"]);
    assert_eq!(cleared.status.code(), Some(0), "{}", err(&cleared));
    assert!(out(&cleared).contains("its marker, whose record was gone"), "{}", out(&cleared));
    assert_eq!(store.call("check", &[]).status.code(), Some(0));
    let streams = store.open();
    assert_eq!(store.admit(&streams, 42), "first");
    store.close(streams);
}

#[test]
fn a_store_that_a_node_holds_is_left_alone() {
    let store = Store::written();
    let record = store.record("receiver");
    let streams = store.open();
    for (what, more) in [("list", vec![]), ("check", vec![]), ("clear", vec![record.as_str(), "--yes"])] {
        let refused = store.call(what, &more);
        assert_eq!(refused.status.code(), Some(2), "{what}");
        assert!(err(&refused).contains("is held by a node that runs; stop it first"), "{}", err(&refused));
    }
    assert!(store.directory().join(&record).exists());
    store.close(streams);
}

#[test]
fn a_directory_that_is_no_store_is_not_called_healthy() {
    let store = Store::written();
    for what in ["list", "check"] {
        let refused = call(what, store.data.path(), &[]);
        assert_eq!(refused.status.code(), Some(2), "{what}");
        let next = format!("holds no store; name {}", store.directory().display());
        assert!(err(&refused).contains(&next), "{}", err(&refused));
    }
    assert!(!store.data.path().join(".lock").exists(), "nothing is created");
    let empty = tempfile::tempdir().expect("a directory");
    let refused = call("check", empty.path(), &[]);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("`transaction-replay`"));
}

#[test]
fn what_lies_in_a_records_place_or_under_another_name_is_told() {
    let store = Store::written();
    let (receiver, upper) = (store.record("receiver"), store.record("sender").to_uppercase());
    let at = |name: &str| store.directory().join(name);
    std::fs::rename(at(&upper.to_lowercase()), at(&upper)).expect("renamed");
    std::fs::remove_file(at(&receiver)).expect("removed");
    std::fs::create_dir(at(&receiver)).expect("a directory");
    let output = store.call("check", &[]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("BAD       unreadable: a directory in the place of a file"), "{text}");
    assert!(text.contains("BAD       missing"), "{text}");
    assert!(text.contains(&format!("1 with names that no record has, \"{upper}\"")), "{text}");
    assert_eq!(store.json("check")["foreign"], serde_json::json!([upper]));
    // What is to be pasted stands on one line, however long the directory's name is.
    let fits = |line: &str| line.chars().count() <= 80 || line.starts_with("  repeat");
    assert!(text.lines().all(fits), "{text}");
}

#[test]
fn a_wrong_call_says_what_to_do_next() {
    let store = Store::written();
    let nowhere = store.data.path().join("nowhere");
    let missing = call("check", &nowhere, &[]);
    assert!(missing.status.code() == Some(2) && err(&missing).contains("name the directory"));
    assert!(!nowhere.exists(), "nothing is created");
    let did = Did([0xab; 20]).to_string();
    for (more, says) in [
        (vec!["abc"], "40 lower-case hex digits"),
        (vec![did.as_str(), "0xyz", "control", "sender"], "is no account"),
        (vec![did.as_str(), did.as_str(), "control", "sender", "--yes"], "holds no record"),
        (vec![did.as_str(), did.as_str(), "control"], "TABLE"),
    ] {
        let refused = store.call("clear", &more);
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        assert!(err(&refused).contains(says), "{more:?}: {}", err(&refused));
    }
}
