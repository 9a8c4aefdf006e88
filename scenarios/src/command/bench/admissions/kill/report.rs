//! What the kills showed, for a person and for a machine.

use super::judge::{Judge, Life, Place};
use super::rounds::Round;
use crate::command::bench::admissions::directory::in_memory;
use crate::print::block::{Failure, FailureKind};
use crate::print::text::wrapped;
use groundhog_engine::flaws::Flaw;
use groundhog_engine::streams::SEQUENCE_LEASE;
use groundhog_reports::count;
use groundhog_sim::laws::at_most_once::AtMostOnce;
use groundhog_sim::laws::one_digest::OneDigest;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What this shows.
const SHOWS: &str = "the death of a process at any moment, on a real file system: what it had not yet handed to the system \
                     is gone, what it had is still there";
/// What it does not.
const SHOWS_NOT: &str = "a power loss: SIGKILL takes nothing out of the page cache, so a missing flush is not seen here. \
                         `groundhog run crash-mid-batch` takes the power away";

/// Everything that was seen.
pub struct Report<'r> {
    /// The directory that was given.
    pub inside: &'r Path,
    /// Its kind of file system, where the system says it.
    pub file_system: Option<&'r str>,
    /// What kills were drawn from.
    pub seed: u64,
    /// The known-bad behaviours asked for.
    pub flaws: &'r [Flaw],
    /// The rounds.
    pub rounds: &'r [Round],
    /// The last life, and how many transactions it was handed again; `None` where it did not come to its end.
    pub last: Option<(Life, u64)>,
    /// What was seen over all lives.
    pub judge: &'r Judge,
}

/// One failure for each law that was broken: the first that was seen, and how many more.
pub fn broken(judge: &Judge) -> Vec<Failure> {
    let mut laws: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for broken in judge.broken() {
        laws.entry(broken.law).or_insert((broken.saw.as_str(), 0)).1 += 1;
    }
    let failure = |(law, (saw, times)): (&str, (&str, usize))| Failure {
        kind: FailureKind::Broken,
        what: law.to_owned(),
        saw: if times == 1 { saw.to_owned() } else { format!("{saw}, and {} more", times - 1) },
        shrunk: None,
        see: None,
        repeat: None,
    };
    laws.into_iter().map(failure).collect()
}

impl Report<'_> {
    fn times(&self, law: &str) -> usize {
        self.judge.broken().iter().filter(|broken| broken.law == law).count()
    }

    fn in_a_batch(&self) -> usize {
        self.rounds.iter().filter(|round| round.life.place.in_a_batch()).count()
    }

    fn places(&self) -> BTreeMap<Place, u64> {
        let mut places = BTreeMap::new();
        for round in self.rounds {
            *places.entry(round.life.place).or_default() += 1;
        }
        places
    }

    /// For a person, in lines of at most `width` columns.
    pub fn text(&self, width: usize) -> String {
        let mut text = String::from(
            "Killed with SIGKILL and started again over one store, on this machine's real disk\n\n",
        );
        let _ = writeln!(text, "  round    killed after    lines  signed  admitted  refused  at");
        for (number, round) in (1..).zip(self.rounds) {
            let _ = writeln!(text, "  {number:>5}  {:>14}  {}", round.kill.to_string(), seen(&round.life));
        }
        if let Some((life, _)) = &self.last {
            let _ = writeln!(text, "   last  {:>14}  {}", "not killed", seen(life));
        }
        text.push('\n');
        for (label, words) in self.facts() {
            let _ = writeln!(text, "  {label:<15} {}", wrapped(&words, width, 18));
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let sums = self.judge.sums();
        let kind = self.file_system.map(|kind| format!(" ({kind})")).unwrap_or_default();
        let places: Vec<String> =
            self.places().into_iter().map(|(place, kills)| format!("{kills} {}", place.id())).collect();
        let refused: u64 = sums.refused.values().sum();
        let reasons: Vec<String> =
            sums.refused.iter().map(|(reason, times)| format!("{} {reason}", count(*times))).collect();
        let never = |times: usize| if times == 0 { "never".to_owned() } else { format!("{times} times") };
        let mut facts = vec![
            ("directory", format!("{}{kind}", self.inside.display())),
            ("seed", self.seed.to_string()),
            (
                "kills",
                format!(
                    "{}, {} of them in the middle of a batch ({})",
                    self.rounds.len(),
                    self.in_a_batch(),
                    places.join(", ")
                ),
            ),
            (
                "sequences",
                format!(
                    "{} signed in {} streams; at most {} of a stream skipped by a kill, {} allowed",
                    count(sums.signed),
                    self.judge.streams(),
                    sums.most_skipped,
                    SEQUENCE_LEASE
                ),
            ),
            (
                "admissions",
                format!(
                    "{} when they came first, {} when they came again after a kill",
                    count(sums.admitted),
                    count(sums.admitted_later)
                ),
            ),
            ("replays refused", format!("{} ({})", count(refused), reasons.join(", "))),
        ];
        if let Some((_, again)) = self.last {
            facts.push((
                "at the end",
                format!("{} transactions of all lives handed in once more", count(again)),
            ));
        }
        facts.extend([
            ("admitted twice", never(self.times(AtMostOnce::ID))),
            ("signed twice", never(self.times(OneDigest::ID))),
            ("shows", SHOWS.to_owned()),
            ("does not show", SHOWS_NOT.to_owned()),
        ]);
        if self.file_system.is_some_and(in_memory) {
            let note = "this directory is in memory: give one that is on a disk with --dir";
            facts.push(("but", note.to_owned()));
        }
        facts
    }

    /// For a machine.
    pub fn json(&self) -> String {
        let sums = self.judge.sums();
        let rounds: Vec<_> = self
            .rounds
            .iter()
            .map(|round| {
                let mut seen = life_json(&round.life);
                seen["killed_after"] = round.kill.to_string().into();
                seen
            })
            .collect();
        let broken: Vec<_> = self
            .judge
            .broken()
            .iter()
            .map(|broken| serde_json::json!({ "law": broken.law, "saw": broken.saw }))
            .collect();
        let all = serde_json::json!({
            "bench": "admissions --kill",
            "shows": SHOWS,
            "does_not_show": SHOWS_NOT,
            "directory": self.inside.display().to_string(),
            "file_system": self.file_system,
            "seed": self.seed,
            "flaws": self.flaws.iter().map(|flaw| flaw.id()).collect::<Vec<_>>(),
            "rounds": rounds,
            "last": self.last.as_ref().map(|(life, _)| life_json(life)),
            "handed_in_at_the_end": self.last.as_ref().map(|(_, again)| again),
            "kills_in_a_batch": self.in_a_batch(),
            "streams": self.judge.streams(),
            "sequences_signed": sums.signed,
            "most_skipped_by_a_kill": sums.most_skipped,
            "admitted": sums.admitted,
            "admitted_after_a_kill": sums.admitted_later,
            "replays_refused": sums.refused,
            "admitted_twice": self.times(AtMostOnce::ID),
            "signed_twice": self.times(OneDigest::ID),
            "broken": broken,
        });
        format!("{all:#}\n")
    }
}

fn seen(life: &Life) -> String {
    let Life { lines, signed, admitted, refused, place } = life;
    format!("{lines:>7}  {signed:>6}  {admitted:>8}  {refused:>7}  {}", place.id())
}

fn life_json(life: &Life) -> serde_json::Value {
    serde_json::json!({
        "lines": life.lines,
        "signed": life.signed,
        "admitted": life.admitted,
        "refused": life.refused,
        "at": life.place.id(),
    })
}
