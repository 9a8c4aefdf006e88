//! `groundhog replay`: a plan again, as a timeline that a person reads.

mod entry;
mod filter;
mod stream;
mod teller;

use super::CallError;
use crate::campaign::interrupt::Interrupt;
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::columns::{Columns, Until};
use crate::print::text::{self, wrapped};
use crate::simulate::{self, Laws, Manner};
use crate::target::{self, Source, TargetError};
use clap::Args;
use filter::{Around, Filter};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use stream::Streams;
use teller::{Counts, Extent, Form, Teller};

/// Events that are shown where nothing else is asked for.
const LAST: usize = 40;

#[derive(Args)]
pub struct Arguments {
    /// The plan.
    plan: String,
    /// Only what happens at this node, such as 3; may be given more than once.
    #[arg(long, value_name = "NODE", value_parser = stream::node)]
    node: Vec<u16>,
    /// Only what is about this stream, such as n3->n1/control or n3/control, and the deaths and faults of its ends; may be
    /// given more than once.
    #[arg(long, value_name = "STREAM", value_parser = stream::streams)]
    stream: Vec<Streams>,
    /// Only what happens around this simulated time, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    around: Option<u64>,
    /// How far around, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.05", requires = "around")]
    within: u64,
    /// So many events before the first broken law.
    #[arg(long, value_name = "N", default_value_t = LAST, conflicts_with_all = ["all", "around", "columns"],
        value_parser = count)]
    last: usize,
    /// Every event of the run.
    #[arg(long, conflicts_with = "around")]
    all: bool,
    /// Up to where this law is first broken, whatever else was before.
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "around"])]
    law: Option<String>,
    /// As a picture, with a column for each node that matters, and the disk's work told in a few words.
    #[arg(long, conflicts_with = "json")]
    columns: bool,
    /// As JSON: an object for each event, and a last one with the fingerprint and the broken laws.
    #[arg(long)]
    json: bool,
    /// Polls that the run may use.
    #[arg(long, value_name = "N", default_value_t = groundhog_sim::run::POLL_BUDGET,
        value_parser = clap::value_parser!(u64).range(1..))]
    max_polls: u64,
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

/// Prints it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let plan = plan(arguments)?;
    let filter = arguments.filter(&plan)?;
    let until = arguments.until()?;
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let manner = Manner { laws: Laws::All, max_polls: arguments.max_polls, stop: interrupt.stop() };
    let give_up = || super::run::print_failures(&[interrupted(arguments)], arguments.json);
    let run = || {
        if arguments.columns {
            picture(&plan, &manner, filter, until)
        } else {
            timeline(&plan, &manner, filter, until, arguments)
        }
    };
    let outcome = interrupt.during(give_up, run)?;
    let mut failures = super::run::failures_of_one(&plan, &outcome, &|_| repeat(arguments));
    if outcome.cut == Some(Cut::Interrupted) {
        failures.retain(|failure| failure.kind != FailureKind::Cut);
        failures.push(interrupted(arguments));
    }
    Ok(super::run::print_failures(&failures, arguments.json))
}

/// Runs the plan and gives every line to `take`, which is given back.
fn watched<T: Send + 'static>(
    plan: &Plan,
    manner: &Manner,
    taker: T,
    take: impl Fn(&mut T, &Line<'_>) + Send + 'static,
) -> Result<(Outcome, Option<T>), CallError> {
    let taker = Arc::new(Mutex::new(Some(taker)));
    let sink = {
        let taker = Arc::clone(&taker);
        Box::new(move |line: &Line<'_>| {
            if let Some(taker) = &mut *taker.lock().expect("taking a line does not panic") {
                take(taker, line);
            }
        })
    };
    let outcome = simulate::watch(plan, manner, sink)?;
    let taker = taker.lock().expect("taking a line does not panic").take();
    Ok((outcome, taker))
}

fn picture(plan: &Plan, manner: &Manner, filter: Filter, until: Until) -> Result<Outcome, CallError> {
    let columns = Columns::new(plan, until, filter.nodes().clone());
    let take = |(columns, filter): &mut (Columns, Filter), line: &Line<'_>| {
        let shown = filter.wants(line);
        columns.take(line, shown);
    };
    let (outcome, taker) = watched(plan, manner, (columns, filter), take)?;
    if let Some((columns, _)) = taker {
        text::out(&columns.picture(&outcome, usize::from(text::width())));
    }
    text::out(&format!("\n{}", ending(&outcome)));
    Ok(outcome)
}

fn timeline(
    plan: &Plan,
    manner: &Manner,
    filter: Filter,
    until: Until,
    arguments: &Arguments,
) -> Result<Outcome, CallError> {
    let (width, words) = (usize::from(text::width()), filter.words());
    let form = if arguments.json { Form::Json } else { Form::Lines { width, colour: text::colour() } };
    let extent = if until == Until::End { Extent::All } else { Extent::Last(arguments.last, until.clone()) };
    let output = Box::new(std::io::BufWriter::new(std::io::stdout()));
    let teller = Teller::new(filter, extent, form, output);
    let (outcome, teller) = watched(plan, manner, teller, Teller::take)?;
    let counts = teller.map(|teller| teller.finish(outcome.events, &outcome.violations)).unwrap_or_default();
    if arguments.json {
        text::out(&last_object(&outcome));
    } else {
        let said = said(&outcome, counts, &words, &until);
        text::out(&format!("\n{}\n{}", wrapped(&said, width, 0), ending(&outcome)));
    }
    Ok(outcome)
}

/// What was shown, and how to see the rest.
fn said(outcome: &Outcome, counts: Counts, words: &str, until: &Until) -> String {
    let count = groundhog_reports::count;
    let law = match until {
        Until::End => {
            return format!("{} of {} events{words}.", count(counts.shown), count(outcome.events));
        }
        Until::Broken => outcome.violations.first().map(|violation| violation.law),
        Until::Law(law) => outcome.violations.iter().map(|violation| violation.law).find(|id| id == law),
    };
    let shown = if counts.shown < counts.wanted {
        format!("The last {} of {} events{words}", count(counts.shown), count(counts.wanted))
    } else {
        format!("All {} events{words}", count(counts.shown))
    };
    let (ends, other) = match (law, until) {
        (Some(law), _) => {
            let others = outcome.violations.iter().filter(|violation| violation.law != law).count();
            let other = if others > 0 { " --law ID ends with another law." } else { "" };
            (format!("{shown} until {law} was first broken."), other)
        }
        (None, Until::Law(law)) => (format!("{law} was not broken. {shown}."), ""),
        (None, _) => (format!("No law was broken. {shown}."), ""),
    };
    format!(
        "{ends} --all shows every event, --around SECONDS those around a time, --columns a picture.{other}"
    )
}

/// What stands last whatever was shown.
fn ending(outcome: &Outcome) -> String {
    let fingerprint = crate::campaign::tally::hex(&outcome.fingerprint);
    format!("{} events\nfingerprint {fingerprint}\n", outcome.events)
}

/// What a machine reads last.
fn last_object(outcome: &Outcome) -> String {
    let violation = |violation: &groundhog_sim::outcome::Violation| {
        serde_json::json!({
            "law": violation.law,
            "at_us": violation.at.as_us(),
            "node": violation.node.map(|node| node.0),
            "saw": violation.saw,
        })
    };
    let last = serde_json::json!({
        "events": outcome.events,
        "fingerprint": crate::campaign::tally::hex(&outcome.fingerprint),
        "violations": outcome.violations.iter().map(violation).collect::<Vec<_>>(),
        "cut": outcome.cut.as_ref().map(groundhog_reports::cut_id),
    });
    format!("{last}\n")
}

fn interrupted(arguments: &Arguments) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: "the replay was stopped".to_owned(),
        see: None,
        repeat: Some(arguments.again()),
    }
}

/// The command that runs the plan again and fails in the same way.
fn repeat(arguments: &Arguments) -> String {
    let run = super::run::repeat_plan(&arguments.plan);
    [run].into_iter().chain(arguments.bounds()).collect::<Vec<_>>().join(" ")
}

impl Arguments {
    fn filter(&self, plan: &Plan) -> Result<Filter, TargetError> {
        let around = self.around.map(|middle_us| Around { middle_us, within_us: self.within });
        Filter::new(plan, &self.node, self.stream.clone(), around)
    }

    /// Where what is shown ends.
    fn until(&self) -> Result<Until, TargetError> {
        match &self.law {
            Some(law) => Ok(Until::Law(target::law(law)?)),
            None if self.all || self.around.is_some() => Ok(Until::End),
            None => Ok(Until::Broken),
        }
    }

    fn bounds(&self) -> Vec<String> {
        if self.max_polls == groundhog_sim::run::POLL_BUDGET {
            return Vec::new();
        }
        vec!["--max-polls".to_owned(), self.max_polls.to_string()]
    }

    /// The command that replays again what this one does.
    fn again(&self) -> String {
        let mut words = vec![super::run::program(), "replay".to_owned(), self.plan.clone()];
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
        super::run::joined(&words)
    }
}

fn plan(arguments: &Arguments) -> Result<Plan, CallError> {
    let mut targets = target::find(&arguments.plan, &[])?;
    match targets.pop().map(|target| target.source) {
        Some(Source::Plan(plan)) => Ok(*plan),
        _ => Err(TargetError::NotAPlan { path: PathBuf::from(&arguments.plan) }.into()),
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
