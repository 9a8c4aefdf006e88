//! What `groundhog sweep` is told, and the command that says the same again.

use crate::command::replay::seconds;
use crate::command::run::{joined, program, time};
use crate::simulate::Laws;
use crate::target::{Source, Target};
use clap::Args;
use groundhog_sim::explore::sweep::{DOWN_US, MOST_DEPTH, MOST_IMAGES, Settings};
use groundhog_sim::units::{NodeId, SimTime};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct Arguments {
    /// A scenario of the catalogue, a scenario file (.toml), a plan (.json), or one that comes along: `group-commit`,
    /// `retirement-batch`, `custody-take`.
    pub target: String,
    /// The seed whose plan is swept; 0 where it is left out.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Sweep this node's life; every node's where none is named.
    #[arg(long, value_name = "N")]
    pub node: Vec<u16>,
    /// Change one key of the scenario.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Switch a known-bad behaviour of the engine on; `groundhog list flaws` names them.
    #[arg(long, value_name = "ID")]
    pub flaw: Vec<String>,
    /// Check only laws of one kind.
    #[arg(long, value_enum, default_value_t)]
    pub laws: Laws,
    /// How deep recoveries are swept: 0 for not at all, 2 for the recovery from the recovery.
    #[arg(long, value_name = "N", default_value_t = MOST_DEPTH, value_parser = clap::value_parser!(u8).range(0..=i64::from(MOST_DEPTH)))]
    pub depth: u8,
    /// First deaths from this simulated time on, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub from: Option<u64>,
    /// First deaths before this simulated time, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub until: Option<u64>,
    /// How long a node is down, in simulated microseconds.
    #[arg(long, value_name = "US", default_value_t = DOWN_US, value_parser = clap::value_parser!(u64).range(..=3_600_000_000))]
    pub down_us: u64,
    /// Images of one death that are run at most.
    #[arg(long, value_name = "N", default_value_t = MOST_IMAGES as u64, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub most_images: u64,
    /// Stop at the first run that breaks a law, instead of counting on.
    #[arg(long)]
    pub first: bool,
    /// Do not shrink the first failing point of each law.
    #[arg(long)]
    pub no_shrink: bool,
    /// Real time that shrinking one failure may take.
    #[arg(long, value_name = "TIME", default_value = crate::shrinking::TIME, value_parser = time, conflicts_with = "no_shrink")]
    pub shrink_for: Duration,
    /// Runs at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// The folder of failing plans and of the journal, by which an interrupted sweep goes on when it is started again;
    /// out/sweep-... where it is left out.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// What is swept.
    pub fn settings(&self) -> Settings {
        let at = |seconds: Option<u64>, none| SimTime(seconds.map_or(none, |us| us.saturating_mul(1_000)));
        Settings {
            nodes: self.nodes(),
            depth: self.depth,
            down_us: self.down_us,
            most_images: usize::try_from(self.most_images).unwrap_or(MOST_IMAGES),
            within: at(self.from, 0)..at(self.until, u64::MAX),
        }
    }

    /// The nodes named, each once.
    fn nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.node.iter().copied().map(NodeId).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.jobs.map_or_else(cores, usize::from)
    }

    /// The folder of what is left behind.
    pub fn folder(&self, scenario: &str, seed: u64) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("sweep-{scenario}-{seed}")))
    }

    /// The command that sweeps the same again.
    pub fn repeat(&self) -> String {
        let mut words = vec![program(), "sweep".to_owned(), self.target.clone()];
        let mut push = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(seed) = self.seed {
            push("--seed", seed.to_string());
        }
        self.node.iter().for_each(|node| push("--node", node.to_string()));
        self.set.iter().for_each(|set| push("--set", set.clone()));
        self.flaw.iter().for_each(|flaw| push("--flaw", flaw.clone()));
        if self.laws != Laws::All {
            push("--laws", self.laws.id().to_owned());
        }
        if self.depth != MOST_DEPTH {
            push("--depth", self.depth.to_string());
        }
        for (option, us) in [("--from", self.from), ("--until", self.until)] {
            if let Some(us) = us {
                push(option, format!("{}.{:06}", us / 1_000_000, us % 1_000_000));
            }
        }
        if self.down_us != DOWN_US {
            push("--down-us", self.down_us.to_string());
        }
        if self.most_images != MOST_IMAGES as u64 {
            push("--most-images", self.most_images.to_string());
        }
        if let Some(out) = &self.out {
            push("--out", out.display().to_string());
        }
        for (option, given) in [("--first", self.first), ("--no-shrink", self.no_shrink)] {
            words.extend(given.then(|| option.to_owned()));
        }
        joined(&words)
    }

    /// The command that runs the swept plan itself.
    pub fn run(&self, target: &Target, seed: u64) -> String {
        let mut words = vec![program(), "run".to_owned(), self.target.clone()];
        if matches!(target.source, Source::Scenario(_)) {
            words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        for (option, values) in [("--set", &self.set), ("--flaw", &self.flaw)] {
            words.extend(values.iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        self.judged(words)
    }

    /// The command that runs a failing plan.
    pub fn run_plan(&self, path: &str) -> String {
        self.judged(vec![program(), "run".to_owned(), path.to_owned()])
    }

    /// A command that asks the same laws.
    fn judged(&self, mut words: Vec<String>) -> String {
        if self.laws != Laws::All {
            words.extend(["--laws".to_owned(), self.laws.id().to_owned()]);
        }
        joined(&words)
    }
}
