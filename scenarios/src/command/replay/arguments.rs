//! What `groundhog replay` is told, and the command that says the same again.

use super::filter::{Around, Filter};
use super::stream::{self, Streams};
use crate::command::run;
use crate::print::columns::Until;
use crate::target::{self, Source, TargetError};
use clap::Args;
use groundhog_sim::plan::Plan;
use std::path::PathBuf;

/// Events that are shown where nothing else is asked for.
const LAST: usize = 40;

#[derive(Args)]
pub struct Arguments {
    /// The plan.
    pub plan: String,
    /// Only what happens at this node, such as 3; may be given more than once.
    #[arg(long, value_name = "NODE", value_parser = stream::node)]
    pub node: Vec<u16>,
    /// Only what is about this stream, such as 'n3->n1/control' (quoted, or the shell writes a file) or n3/control, and the deaths and faults of its ends; may be
    /// given more than once.
    #[arg(long, value_name = "STREAM", value_parser = stream::streams)]
    pub stream: Vec<Streams>,
    /// Only what happens around this simulated time, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub around: Option<u64>,
    /// How far around, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.05", requires = "around")]
    pub within: u64,
    /// So many events before the first broken law.
    #[arg(long, value_name = "N", default_value_t = LAST, conflicts_with_all = ["all", "around", "columns"],
        value_parser = count)]
    pub last: usize,
    /// Every event of the run.
    #[arg(long, conflicts_with = "around")]
    pub all: bool,
    /// Up to where this law is first broken, whatever else was before.
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "around"])]
    pub law: Option<String>,
    /// As a picture, with a column for each node that matters, and the disk's work told in a few words.
    #[arg(long, conflicts_with = "json")]
    pub columns: bool,
    /// As JSON: an object for each event, and a last one with the fingerprint and the broken laws.
    #[arg(long)]
    pub json: bool,
    /// Polls that the run may use.
    #[arg(long, value_name = "N", default_value_t = groundhog_sim::run::POLL_BUDGET,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub max_polls: u64,
}

/// Seconds with up to six decimals, as microseconds.
pub fn seconds(text: &str) -> Result<u64, String> {
    let expected = || "expected seconds, such as 8.214".to_owned();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 6 || !digits(whole) || !digits(decimals) {
        return Err(expected());
    }
    format!("{whole}{decimals:0<6}").parse().map_err(|_| expected())
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=1_000_000).contains(count));
    count.ok_or_else(|| "expected a number from 1 to 1000000".to_owned())
}

impl Arguments {
    /// The plan, which a file must be.
    pub fn plan(&self) -> Result<Plan, TargetError> {
        let mut targets = target::find(&self.plan, &[])?;
        match targets.pop().map(|target| target.source) {
            Some(Source::Plan(plan)) => Ok(*plan),
            _ => Err(TargetError::NotAPlan { path: PathBuf::from(&self.plan) }),
        }
    }

    /// What of it is wanted.
    pub fn filter(&self, plan: &Plan) -> Result<Filter, TargetError> {
        let around = self.around.map(|middle_us| Around { middle_us, within_us: self.within });
        Filter::new(plan, &self.node, self.stream.clone(), around)
    }

    /// Where what is shown ends.
    pub fn until(&self) -> Result<Until, TargetError> {
        match &self.law {
            Some(law) => Ok(Until::Law(target::law(law)?)),
            None if self.all || self.around.is_some() => Ok(Until::End),
            None => Ok(Until::Broken),
        }
    }

    /// The command that runs the plan again and fails in the same way.
    pub fn repeat(&self) -> String {
        let run = run::repeat_plan(&self.plan);
        [run].into_iter().chain(self.bounds()).collect::<Vec<_>>().join(" ")
    }

    fn bounds(&self) -> Vec<String> {
        if self.max_polls == groundhog_sim::run::POLL_BUDGET {
            return Vec::new();
        }
        vec!["--max-polls".to_owned(), self.max_polls.to_string()]
    }

    /// The command that replays again what this one does.
    pub fn again(&self) -> String {
        let mut words = vec![run::program(), "replay".to_owned(), self.plan.clone()];
        let seconds = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        words.extend(self.node.iter().flat_map(|node| ["--node".to_owned(), node.to_string()]));
        words.extend(self.stream.iter().flat_map(|stream| ["--stream".to_owned(), stream.to_string()]));
        if let Some(around) = self.around {
            words.extend([
                "--around".to_owned(),
                seconds(around),
                "--within".to_owned(),
                seconds(self.within),
            ]);
        }
        if self.last != LAST {
            words.extend(["--last".to_owned(), self.last.to_string()]);
        }
        words.extend(self.law.iter().flat_map(|law| ["--law".to_owned(), law.clone()]));
        let switches = [("--all", self.all), ("--columns", self.columns), ("--json", self.json)];
        words.extend(switches.iter().filter(|(_, on)| *on).map(|(switch, _)| (*switch).to_owned()));
        words.extend(self.bounds());
        run::joined(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_microsecond() {
        for (text, us) in [
            ("8.214", Some(8_214_000)),
            ("0", Some(0)),
            ("1.000001", Some(1_000_001)),
            ("1.0000001", None),
            ("-1", None),
            ("", None),
            ("1e3", None),
        ] {
            assert_eq!(seconds(text).ok(), us, "{text}");
        }
    }

    #[test]
    fn the_command_that_replays_again_says_all_that_was_asked() {
        #[derive(clap::Parser)]
        struct Call {
            #[command(flatten)]
            arguments: Arguments,
        }
        for call in [
            "plan.json",
            "plan.json --node 3 --node 1 --stream n3->n1/control --last 7 --law a/b --json --max-polls 5",
            "plan.json --stream *->n1/e2e --around 0.204627 --within 0.010000 --columns",
            "plan.json --stream n4->* --all",
        ] {
            let words = ["replay"].into_iter().chain(call.split(' '));
            let Ok(Call { arguments }) = clap::Parser::try_parse_from(words) else { panic!("{call}") };
            let again = arguments.again().replace('\'', "");
            assert!(again.ends_with(&format!("replay {call}")), "{again}");
        }
    }
}
