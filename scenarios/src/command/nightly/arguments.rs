//! What `groundhog nightly` is told.

use crate::campaign::cores;
use crate::campaign::monitor::Bounds;
use crate::command::run::{joined, program, time};
use crate::corpus;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct Arguments {
    /// How long it may take, such as 5m or 1h.
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = time)]
    pub time: Duration,
    /// The first fresh seed; a new one each day where it is left out.
    #[arg(long, value_name = "N")]
    pub from: Option<u64>,
    /// Switch a known-bad behaviour of the engine on in all fresh seeds: the night must find it.
    #[arg(long, value_name = "ID")]
    pub flaw: Vec<String>,
    /// Where small plans and the summary are written.
    #[arg(long, value_name = "DIR", default_value = "out/nightly")]
    pub out: PathBuf,
    /// The folder of kept plans: they run first, and what fails tonight is kept there, unless a flaw is on.
    #[arg(long, value_name = "DIR", default_value_os_t = corpus::default_folder())]
    pub corpus: PathBuf,
    /// Runs at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
    /// Memory that the process may hold, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4_096, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub max_memory: u64,
    /// Real time that one run may take.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub watchdog: Duration,
}

/// Seeds of one day: no night has as many.
pub const SEEDS_A_DAY: u64 = 100_000_000;

impl Arguments {
    /// The first fresh seed. That of a day is the same on every machine, and is told, so that a night can be repeated.
    pub fn first_seed(&self) -> u64 {
        let day = || u64::try_from(jiff::Timestamp::now().as_second() / 86_400).unwrap_or(0);
        self.from.unwrap_or_else(|| day() * SEEDS_A_DAY)
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// The bounds that are watched from outside.
    pub fn bounds(&self) -> Bounds {
        Bounds { run_time: self.watchdog, memory_bytes: self.max_memory << 20 }
    }

    /// The command that runs the same night again.
    pub fn repeat(&self, first_seed: u64) -> String {
        let mut words = vec![program(), "nightly".to_owned()];
        words.extend(["--for".to_owned(), format!("{}ms", self.time.as_millis())]);
        words.extend(["--from".to_owned(), first_seed.to_string()]);
        words.extend(self.flaw.iter().flat_map(|flaw| ["--flaw".to_owned(), flaw.clone()]));
        if self.corpus != corpus::default_folder() {
            words.extend(["--corpus".to_owned(), self.corpus.display().to_string()]);
        }
        joined(&words)
    }
}
