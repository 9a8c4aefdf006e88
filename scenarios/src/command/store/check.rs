//! `groundhog store check`.

use super::directory::{StoreCallError, StoreDirectory};
use super::{list, words};
use crate::command::run::{joined, print_failures, program};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text::{self, width, wrapped};
use clap::Args;
use groundhog_engine::streams::inspect::Inspected;
use groundhog_reports::count;
use std::path::PathBuf;

#[derive(Args)]
pub struct Arguments {
    /// The store's directory.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// For machines.
    #[arg(long)]
    json: bool,
}

/// Says what an open would say.
pub fn main(arguments: &Arguments) -> Result<Exit, StoreCallError> {
    let directory = StoreDirectory::at(&arguments.directory)?;
    let (inspection, foreign) = (directory.inspect()?, directory.foreign());
    let bad: Vec<&Inspected> = inspection.records.iter().filter(|record| record.finding.is_err()).collect();
    let unmarked = inspection.records.iter().filter(|record| !record.is_marked).count();
    if arguments.json {
        let report = serde_json::json!({
            "healthy": bad.is_empty(),
            "records": inspection.records.len(),
            "bad": bad.iter().map(|record| words::data(record)).collect::<Vec<_>>(),
            "unmarked": unmarked,
            "temporaries": inspection.temporaries,
            "foreign": foreign,
        });
        text::out(&format!("{report:#}\n"));
        return Ok(if bad.is_empty() { Exit::Held } else { Exit::Broken });
    }
    let mut out = String::new();
    for record in &bad {
        out.push_str(&words::entry(record));
        out.push('\n');
    }
    out.push_str(&list::summary(&inspection));
    let other_names = match foreign.first() {
        Some(name) => format!("with names that no record has, {name:?} first: no open reads them"),
        None => String::new(),
    };
    for (number, what) in [
        (unmarked, "without a presence marker, which the next open makes"),
        (inspection.temporaries, "left over from a write that was cut short, which the next open removes"),
        (foreign.len(), &other_names),
    ] {
        if number > 0 {
            let line = format!("{} {what}", count(number as u64));
            out.push_str(&format!("{}\n", wrapped(&line, usize::from(width()), 2)));
        }
    }
    text::out(&out);
    let directory = arguments.directory.display().to_string();
    let failure = (!bad.is_empty()).then(|| Failure {
        kind: FailureKind::Broken,
        what: "store check".to_owned(),
        saw: format!(
            "{} of {} records do not restore: each fails its own stream closed, until `groundhog store clear`",
            count(bad.len() as u64),
            count(inspection.records.len() as u64)
        ),
        shrunk: None,
        see: None,
        repeat: Some(joined(&[program(), "store".to_owned(), "check".to_owned(), directory])),
    });
    Ok(print_failures(&failure.into_iter().collect::<Vec<_>>(), false))
}
