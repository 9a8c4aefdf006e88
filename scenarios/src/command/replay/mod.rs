//! `groundhog replay`: a plan again, as a timeline that a person reads.

mod arguments;
mod entry;
mod filter;
mod stream;
mod teller;

pub use arguments::{Arguments, seconds};

use super::CallError;
use crate::campaign::interrupt::Interrupt;
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::columns::{Columns, Until};
use crate::print::text::{self, wrapped};
use crate::simulate::{self, Manner};
use filter::Filter;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use teller::{Counts, Extent, Form, Teller};

/// Prints it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let plan = arguments.plan()?;
    let filter = arguments.filter(&plan)?;
    let until = arguments.until()?;
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let manner = Manner { max_polls: arguments.max_polls, ..Manner::plain(interrupt.stop()) };
    let give_up = || super::run::print_failures(&[interrupted(arguments)], arguments.json);
    let run = || {
        if arguments.columns {
            picture(&plan, &manner, filter, until)
        } else {
            timeline(&plan, &manner, filter, until, arguments)
        }
    };
    let outcome = interrupt.during(give_up, run)?;
    let mut failures = super::run::failures_of_one(&plan, &outcome, &|_| arguments.repeat());
    if outcome.cut == Some(Cut::Interrupted) {
        failures.retain(|failure| failure.kind != FailureKind::Cut);
        failures.push(interrupted(arguments));
    }
    Ok(super::run::print_failures(&failures, arguments.json))
}

fn picture(plan: &Plan, manner: &Manner, filter: Filter, until: Until) -> Result<Outcome, CallError> {
    let columns = Columns::new(plan, until, filter.nodes().clone());
    let take = |(columns, filter): &mut (Columns, Filter), line: &Line<'_>| {
        let shown = filter.wants(line);
        columns.take(line, shown);
    };
    let (outcome, (columns, _)) = simulate::gather(plan, manner, (columns, filter), take)?;
    let picture = columns.picture(&outcome, usize::from(text::width()));
    text::out(&format!("{picture}\n{}", ending(&outcome)));
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
    let (outcome, teller) = simulate::gather(plan, manner, teller, Teller::take)?;
    let counts = teller.finish(outcome.events, &outcome.violations);
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
        shrunk: None,
        see: None,
        repeat: Some(arguments.again()),
    }
}
