//! `groundhog store list`.

use super::directory::{StoreCallError, StoreDirectory};
use super::words;
use crate::exit::Exit;
use crate::print::text::{self, width, wrapped};
use clap::Args;
use groundhog_engine::streams::inspect::{Inspected, Inspection};
use groundhog_engine::streams::key::Table;
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

/// Lists the records.
pub fn main(arguments: &Arguments) -> Result<Exit, StoreCallError> {
    let inspection = StoreDirectory::at(&arguments.directory)?.inspect()?;
    if arguments.json {
        let records: Vec<_> = inspection.records.iter().map(words::data).collect();
        text::out(&format!("{:#}\n", serde_json::json!({ "records": records })));
        return Ok(Exit::Held);
    }
    let mut out = String::new();
    for record in &inspection.records {
        out.push_str(&words::entry(record));
        out.push('\n');
    }
    out.push_str(&summary(&inspection));
    text::out(&out);
    Ok(Exit::Held)
}

/// All in one line.
pub fn summary(inspection: &Inspection) -> String {
    let records = &inspection.records;
    let of = |table| {
        let is_of = |record: &&Inspected| record.finding.as_ref().is_ok_and(|stored| stored.table() == table);
        count(records.iter().filter(is_of).count() as u64)
    };
    let bad = records.iter().filter(|record| record.finding.is_err()).count() as u64;
    let bytes: u64 = records.iter().filter_map(|record| record.file_bytes).sum();
    let all = format!(
        "{} sender and {} receiver streams, {} that do not restore, {} bytes",
        of(Table::Sender),
        of(Table::Receiver),
        count(bad),
        count(bytes)
    );
    format!("{}\n", wrapped(&all, usize::from(width()), 0))
}
