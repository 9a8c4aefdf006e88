//! What was seen from outside, over all lives of the worker, held against what must hold.
//!
//! Promise: it judges by signed transactions and by what was acted on, never by what the engine says about itself.

use super::lines::{Digest, Line};
use crate::command::bench::admissions::people::NETWORK;
use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::SEQUENCE_LEASE;
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::payload::Payload;
use groundhog_sim::laws::at_most_once::AtMostOnce;
use groundhog_sim::laws::honest::Honest;
use groundhog_sim::laws::lease::Lease;
use groundhog_sim::laws::one_digest::OneDigest;
use std::collections::BTreeMap;

/// Something that must not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// What was seen.
    pub saw: String,
}

/// Where in its work a worker was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before its store was open.
    Opening,
    /// Between two batches.
    BetweenBatches,
    /// In a batch, before its first rename.
    Temporaries,
    /// In a batch, after its first rename.
    Renames,
    /// In a batch, after its directory was flushed and before its end was seen.
    BeforeRelease,
}

impl Place {
    /// In words.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::BetweenBatches => "between-batches",
            Self::Temporaries => "temporaries",
            Self::Renames => "renames",
            Self::BeforeRelease => "before-release",
        }
    }

    /// Whether a batch was being written.
    pub const fn in_a_batch(self) -> bool {
        matches!(self, Self::Temporaries | Self::Renames | Self::BeforeRelease)
    }
}

/// One life, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Lines read.
    pub lines: u64,
    /// Transactions signed.
    pub signed: u64,
    /// Transactions admitted.
    pub admitted: u64,
    /// Transactions refused.
    pub refused: u64,
    /// Where it stands.
    pub place: Place,
}

const BORN: Life = Life { lines: 0, signed: 0, admitted: 0, refused: 0, place: Place::Opening };

/// A transaction that has left its sender.
#[derive(Clone, Debug)]
pub struct Seen {
    /// As its hop handed it over.
    pub payload: Payload,
    stream: StreamKey,
    sequence: u64,
    exposed_in: u32,
    admitted_in: Option<u32>,
}

/// A stream as its exposed sequences show it.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The lowest sequence that was not exposed yet.
    next: u64,
    /// The life in which the last one was exposed.
    life: u32,
}

/// Sums over all lives.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Transactions signed.
    pub signed: u64,
    /// Transactions admitted in the life that signed them.
    pub admitted: u64,
    /// Transactions admitted when they were handed in again, for the first time.
    pub admitted_later: u64,
    /// Transactions refused when they were handed in again, by reason.
    pub refused: BTreeMap<String, u64>,
    /// The most sequences of one stream that were skipped for each kill between.
    pub most_skipped: u64,
}

/// The judge.
#[derive(Debug)]
pub struct Judge {
    number: u32,
    life: Life,
    batch: Option<u64>,
    seen: BTreeMap<Digest, Seen>,
    order: Vec<Digest>,
    at: BTreeMap<(StreamKey, u64), Digest>,
    streams: BTreeMap<StreamKey, Progress>,
    sums: Sums,
    broken: Vec<Broken>,
}

impl Judge {
    /// Before the first life.
    pub fn new() -> Self {
        let (seen, order, at, streams, sums, broken) = Default::default();
        Self { number: 0, life: BORN, batch: None, seen, order, at, streams, sums, broken }
    }

    /// A worker was started.
    pub fn born(&mut self) {
        self.number += 1;
        self.life = BORN;
        self.batch = None;
    }

    /// A line of it was read.
    pub fn line(&mut self, line: Line) {
        self.life.lines += 1;
        match line {
            Line::Opened => self.life.place = Place::BetweenBatches,
            Line::Begun(batch) => {
                self.batch = Some(batch);
                self.life.place = Place::Temporaries;
            }
            Line::Step(step) => self.step(&step),
            Line::Durable(batch) => {
                if self.batch == Some(batch) {
                    self.batch = None;
                    self.life.place = Place::BetweenBatches;
                }
            }
            Line::Exposed(payload) => self.exposed(*payload),
            Line::Admitted(digest) => self.admitted(digest),
            Line::Refused(digest, reason) => self.refused(digest, reason),
            Line::Done => {}
        }
    }

    fn step(&mut self, step: &str) {
        if self.batch.is_none() {
            return;
        }
        if step == Step::Renamed.id() {
            self.life.place = Place::Renames;
        } else if step == Step::DirectoryFlushed.id() {
            self.life.place = Place::BeforeRelease;
        }
    }

    fn exposed(&mut self, payload: Payload) {
        let transaction = &payload.transaction;
        let digest = transaction.digest();
        let stream = StreamKey {
            network_id: NETWORK,
            origin: transaction.delegation.delegator.did(),
            destination: transaction.destination,
            class: transaction.class(),
        };
        let sequence = transaction.sequence.0;
        self.life.signed += 1;
        self.sums.signed += 1;
        if let Some(before) = self.at.insert((stream, sequence), digest)
            && before != digest
        {
            let earlier = self.seen.get(&before).map_or(0, |seen| seen.exposed_in);
            let saw = format!(
                "{stream}#{sequence} was signed with two digests (lives {earlier} and {})",
                self.number
            );
            self.broken.push(Broken { law: OneDigest::ID, saw });
        }
        self.skipped(stream, sequence);
        let seen = Seen { payload, stream, sequence, exposed_in: self.number, admitted_in: None };
        if self.seen.insert(digest, seen).is_none() {
            self.order.push(digest);
        }
    }

    /// Holds the sequences that a stream skipped against the lives that ended since it was last used.
    fn skipped(&mut self, stream: StreamKey, sequence: u64) {
        // Before a stream's first sequence, each life that ended may have reserved and exposed nothing.
        let before = self.streams.get(&stream).copied().unwrap_or(Progress { next: 0, life: 1 });
        let kills = u64::from(self.number - before.life);
        let skipped = sequence.saturating_sub(before.next);
        if skipped > kills * SEQUENCE_LEASE.get() {
            let saw = format!("{stream} skipped {skipped} sequences before #{sequence}, over {kills} kills");
            self.broken.push(Broken { law: Lease::ID, saw });
        }
        self.sums.most_skipped = self.sums.most_skipped.max(skipped.div_ceil(kills.max(1)));
        let next = before.next.max(sequence.saturating_add(1));
        self.streams.insert(stream, Progress { next, life: self.number });
    }

    fn admitted(&mut self, digest: Digest) {
        self.life.admitted += 1;
        let number = self.number;
        let Some(seen) = self.seen.get_mut(&digest) else {
            let saw = format!("a transaction was admitted in life {number} that nobody signed");
            self.broken.push(Broken { law: Honest::ID, saw });
            return;
        };
        if let Some(before) = seen.admitted_in.replace(number) {
            let saw =
                format!("{}#{} was admitted twice (lives {before} and {number})", seen.stream, seen.sequence);
            self.broken.push(Broken { law: AtMostOnce::ID, saw });
        } else if seen.exposed_in == number {
            self.sums.admitted += 1;
        } else {
            self.sums.admitted_later += 1;
        }
    }

    /// A transaction may be refused where it was handed in before: in an earlier life, whose admission may be durable.
    fn refused(&mut self, digest: Digest, reason: String) {
        self.life.refused += 1;
        match self.seen.get(&digest) {
            Some(seen) if seen.exposed_in < self.number => *self.sums.refused.entry(reason).or_default() += 1,
            Some(seen) => {
                let saw =
                    format!("{}#{} was refused when it came first: {reason}", seen.stream, seen.sequence);
                self.broken.push(Broken { law: Honest::ID, saw });
            }
            None => {
                let saw = format!("a transaction was refused in life {} that nobody signed", self.number);
                self.broken.push(Broken { law: Honest::ID, saw });
            }
        }
    }

    /// The life as it was seen so far.
    pub const fn life(&self) -> Life {
        self.life
    }

    /// Sums over all lives.
    pub const fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Streams used.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Everything that left its sender, in that order.
    pub fn seen(&self) -> impl DoubleEndedIterator<Item = &Seen> + ExactSizeIterator {
        self.order.iter().map(|digest| &self.seen[digest])
    }

    /// What must not have happened.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::bench::admissions::people::{self, Content, Person};
    use groundhog_engine::streams::key::Class;
    use groundhog_engine::streams::transaction::TransactionId;
    use groundhog_engine::units::{Sequence, WallMs};

    fn exposed(sequence: u64, id: u8) -> (Line, Digest) {
        let (origin, hop) = (people::signer(Person::Origin(1), 0), people::signer(Person::Hop, 0));
        let content =
            Content { class: Class::Storage, sequence: Sequence(sequence), id: TransactionId([id; 16]) };
        let payload = people::sign(&origin, &hop, hop.account(), content, WallMs(1));
        let digest = payload.transaction.digest();
        (Line::Exposed(Box::new(payload)), digest)
    }

    fn laws(judge: &Judge) -> Vec<&'static str> {
        judge.broken().iter().map(|broken| broken.law).collect()
    }

    #[test]
    fn a_replay_refused_over_lives_is_counted_and_one_admitted_is_convicted() {
        let mut judge = Judge::new();
        judge.born();
        let (line, digest) = exposed(0, 1);
        judge.line(line);
        judge.line(Line::Admitted(digest));
        judge.born();
        judge.line(Line::Refused(digest, "replay".to_owned()));
        assert_eq!((laws(&judge), judge.sums().refused["replay"]), (vec![], 1));
        judge.line(Line::Admitted(digest));
        assert_eq!(laws(&judge), [AtMostOnce::ID]);
    }

    #[test]
    fn a_sequence_has_one_digest_and_a_kill_skips_a_lease_at_most() {
        let mut judge = Judge::new();
        judge.born();
        judge.line(exposed(0, 1).0);
        judge.line(exposed(1, 2).0);
        judge.born();
        judge.line(exposed(66, 3).0);
        assert_eq!((laws(&judge), judge.sums().most_skipped), (vec![], 64));
        judge.born();
        judge.line(exposed(132, 4).0);
        assert_eq!(laws(&judge), [Lease::ID], "65 were skipped");
        judge.line(exposed(1, 5).0);
        assert_eq!(laws(&judge), [Lease::ID, OneDigest::ID]);
    }

    #[test]
    fn a_gap_within_a_life_is_no_kills_doing() {
        let mut judge = Judge::new();
        judge.born();
        judge.line(exposed(0, 1).0);
        judge.line(exposed(2, 2).0);
        assert_eq!(laws(&judge), [Lease::ID]);
    }

    #[test]
    fn an_honest_transaction_is_not_refused_when_it_comes_first() {
        let mut judge = Judge::new();
        judge.born();
        let (line, digest) = exposed(0, 1);
        judge.line(line);
        judge.line(Line::Refused(digest, "stale".to_owned()));
        assert_eq!(laws(&judge), [Honest::ID]);
    }

    #[test]
    fn a_kill_is_in_a_batch_from_its_beginning_to_its_end() {
        let mut judge = Judge::new();
        judge.born();
        let step = |step: Step| Line::Step(step.id().to_owned());
        assert_eq!(judge.life().place, Place::Opening);
        for (line, place) in [
            (Line::Opened, Place::BetweenBatches),
            (step(Step::Renamed), Place::BetweenBatches),
            (Line::Begun(4), Place::Temporaries),
            (step(Step::TemporaryFlushed), Place::Temporaries),
            (step(Step::Renamed), Place::Renames),
            (step(Step::DirectoryFlushed), Place::BeforeRelease),
            (Line::Durable(3), Place::BeforeRelease),
            (Line::Durable(4), Place::BetweenBatches),
        ] {
            judge.line(line);
            assert_eq!(judge.life().place, place);
        }
        assert!(Place::Renames.in_a_batch() && !Place::Opening.in_a_batch());
    }
}
