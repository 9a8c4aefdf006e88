//! What `groundhog run` is told, and the command that says the same again.

use crate::campaign::Seeds;
use crate::campaign::monitor::Bounds;
use crate::command::CallError;
use crate::print::quote::quote;
use crate::shrinking::Budget;
use crate::simulate::{self, Laws};
use crate::target::{Source, Target, TargetError};
use clap::Args;
use groundhog_sim::run::Plant;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct Arguments {
    /// A scenario of the catalogue, `all` of them, a scenario file (.toml) or a plan (.json).
    pub target: String,
    /// Run this seed.
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "from", "for_time"])]
    pub seed: Option<u64>,
    /// Run so many seeds. Of `all`, a scenario takes the share that its file names.
    #[arg(long, value_name = "N", conflicts_with = "for_time", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: Option<u64>,
    /// The first of many seeds.
    #[arg(long, value_name = "N")]
    pub from: Option<u64>,
    /// Run seeds for so long, such as 90s, 10m or 1h.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub for_time: Option<Duration>,
    /// Runs at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Change one key of the scenario, such as nodes=1000 or links.channels=2.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Switch a known-bad behaviour of the engine on; `groundhog list flaws` names them.
    #[arg(long, value_name = "ID")]
    pub flaw: Vec<String>,
    /// Have each kind of fault off, light or heavy in each seed; `groundhog list faults` names them.
    #[arg(long)]
    pub swarm: bool,
    /// Check only laws of one kind.
    #[arg(long, value_enum, default_value_t)]
    pub laws: Laws,
    /// Run each plan again in another process and name the first event that differs.
    #[arg(long)]
    pub check: bool,
    /// Leave failing plans as they are; else the first failing seed of each law is cut down to what it needs.
    #[arg(long)]
    pub no_shrink: bool,
    /// Real time that shrinking one failure may take.
    #[arg(long, value_name = "TIME", default_value = crate::shrinking::TIME, value_parser = time, conflicts_with = "no_shrink")]
    pub shrink_for: Duration,
    /// Write reports into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
    /// Polls that one run may use.
    #[arg(long, value_name = "N", default_value_t = groundhog_sim::run::POLL_BUDGET, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_polls: u64,
    /// Memory that the process may hold, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MIB, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub max_memory: u64,
    /// Real time that one run may take.
    #[arg(long, value_name = "TIME", default_value = WATCHDOG, value_parser = time)]
    pub watchdog: Duration,
    /// Plant what must never be in a run, to examine the examination; `groundhog list plants` names them.
    #[arg(long, value_name = "ID", value_parser = simulate::plant, hide = true)]
    pub plant: Option<Plant>,
}

/// The memory that a process may hold unless it is told otherwise, in MiB.
const MEMORY_MIB: u64 = 4_096;

/// The real time that one run may take unless it is told otherwise.
const WATCHDOG: &str = "5m";

/// A length of real time: a number and ms, s, m or h.
pub fn time(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor_ms = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let ms = factor_ms.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
    let ms = ms.filter(|ms| (1..=31_536_000_000).contains(ms));
    ms.map(Duration::from_millis)
        .ok_or_else(|| "expected a number above 0 with ms, s, m or h, such as 10m".to_owned())
}

impl Arguments {
    /// Which seeds are run.
    pub fn series(&self) -> Seeds {
        let from = self.from.unwrap_or(0);
        match (self.seeds, self.for_time) {
            (_, Some(time)) => Seeds::For { from, time },
            (Some(count), None) => Seeds::Many { from, count },
            (None, None) => Seeds::One(self.seed.unwrap_or(from)),
        }
    }

    /// Refuses options that mean nothing for what is run.
    pub fn fit(&self, targets: &[Target]) -> Result<(), CallError> {
        let options = [
            ("--seed", self.seed.is_some()),
            ("--seeds", self.seeds.is_some()),
            ("--from", self.from.is_some()),
            ("--for", self.for_time.is_some()),
        ];
        let plan = targets.iter().find(|target| matches!(target.source, Source::Plan(_)));
        if let (Some(plan), Some((option, _))) = (plan, options.iter().find(|(_, given)| *given)) {
            let path = PathBuf::from(&plan.spelled);
            return Err(TargetError::OnlyScenarios { option, path }.into());
        }
        let (from, count) = (self.from.unwrap_or(0), self.seeds.unwrap_or(1));
        enough_seeds(from, count)?;
        Ok(())
    }

    /// The bounds that are watched from outside.
    pub fn bounds(&self) -> Bounds {
        Bounds { run_time: self.watchdog, memory_bytes: self.max_memory << 20 }
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        self.jobs.map_or_else(crate::campaign::cores, usize::from)
    }

    /// What shrinking one failure may use.
    pub fn shrinking(&self) -> Budget {
        Budget { time: self.shrink_for, jobs: self.threads(), max_polls: self.max_polls, shown: true }
    }

    /// The command that runs one seed of one target again, with every option that changes what is printed.
    pub fn repeat(&self, target: &Target, seed: u64) -> String {
        let mut words = vec![program(), "run".to_owned(), target.spelled.clone()];
        if matches!(target.source, Source::Scenario(_)) {
            words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        self.push_common(&mut words);
        joined(&words)
    }

    /// The command that runs everything again.
    pub fn whole(&self) -> String {
        let mut words = vec![program(), "run".to_owned(), self.target.clone()];
        let numbers = [("--seed", self.seed), ("--seeds", self.seeds), ("--from", self.from)];
        for (option, number) in numbers {
            words.extend(number.map(|number| [option.to_owned(), number.to_string()]).into_iter().flatten());
        }
        if let Some(time) = self.for_time {
            words.extend(["--for".to_owned(), format!("{}ms", time.as_millis())]);
        }
        self.push_common(&mut words);
        joined(&words)
    }

    fn push_common(&self, words: &mut Vec<String>) {
        for (option, values) in [("--set", &self.set), ("--flaw", &self.flaw)] {
            words.extend(values.iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        if self.swarm {
            words.push("--swarm".to_owned());
        }
        if self.laws != Laws::All {
            words.extend(["--laws".to_owned(), self.laws.id().to_owned()]);
        }
        if self.max_polls != groundhog_sim::run::POLL_BUDGET {
            words.extend(["--max-polls".to_owned(), self.max_polls.to_string()]);
        }
        if self.max_memory != MEMORY_MIB {
            words.extend(["--max-memory".to_owned(), self.max_memory.to_string()]);
        }
        if Ok(self.watchdog) != time(WATCHDOG) {
            words.extend(["--watchdog".to_owned(), format!("{}ms", self.watchdog.as_millis())]);
        }
        if let Some(plant) = self.plant {
            words.extend(["--plant".to_owned(), plant.id().to_owned()]);
        }
        if self.check {
            words.push("--check".to_owned());
        }
        if self.no_shrink {
            words.push("--no-shrink".to_owned());
        } else if Ok(self.shrink_for) != time(crate::shrinking::TIME) {
            words.extend(["--shrink-for".to_owned(), format!("{}ms", self.shrink_for.as_millis())]);
        }
    }
}

/// Refuses a series that goes on beyond the last seed that there is.
///
/// # Errors
/// [`TargetError::Call`].
pub fn enough_seeds(from: u64, count: u64) -> Result<(), TargetError> {
    if from.checked_add(count.saturating_sub(1)).is_some() {
        return Ok(());
    }
    let left = u64::MAX - from + 1;
    let what = format!(
        "--from {from}: {count} seeds are asked for, and from there on there are {left}, to {}",
        u64::MAX
    );
    Err(TargetError::Call(what))
}

/// Words as a shell reads them back.
pub fn joined(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// The program as it was called: by a path where it was, so that the command works when pasted.
pub fn program() -> String {
    let called = std::env::args().next().filter(|called| called.contains('/'));
    let Some(called) = called else { return "groundhog".to_owned() };
    let folder = std::env::current_dir().ok().map(|folder| format!("{}/", folder.display()));
    let below = folder.and_then(|folder| called.strip_prefix(&folder).map(str::to_owned));
    below.filter(|below| below.contains('/')).unwrap_or(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        for (text, ms) in [
            ("90s", Some(90_000)),
            ("10m", Some(600_000)),
            ("1h", Some(3_600_000)),
            ("5ms", Some(5)),
            ("5", None),
            ("m", None),
            ("-1s", None),
            ("99999999999h", None),
        ] {
            assert_eq!(time(text).ok(), ms.map(Duration::from_millis), "{text}");
        }
    }
}
