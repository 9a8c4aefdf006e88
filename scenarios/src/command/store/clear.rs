//! `groundhog store clear`.

use super::directory::{StoreCallError, StoreDirectory};
use super::words;
use crate::exit::Exit;
use crate::print::text::{self, width, wrapped};
use clap::{Args, ValueEnum};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::identity::Did;
use groundhog_engine::store::name::{FileName, record_name};
use groundhog_engine::streams::inspect::Inspected;
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey, Table};
use groundhog_engine::streams::record::storage_key;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "A stream is named by the file name of its record, or by its origin, destination, class and table:\n\n  \
    groundhog store clear DIR 1f3a...\n  \
    groundhog store clear DIR 0x01ab... 0x77fe... application receiver --yes"
)]
pub struct Arguments {
    /// The store's directory.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The record's file name, or the origin.
    #[arg(value_name = "RECORD|ORIGIN")]
    first: String,
    /// The destination.
    #[arg(value_name = "DESTINATION", requires = "class")]
    destination: Option<String>,
    /// The class.
    #[arg(value_name = "CLASS", requires = "table")]
    class: Option<ClassName>,
    /// The table.
    #[arg(value_name = "TABLE")]
    table: Option<TableName>,
    /// The overlay's id, where the store does not tell.
    #[arg(long, value_name = "ID")]
    network_id: Option<u32>,
    /// Do it.
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ClassName {
    Control,
    Storage,
    E2e,
    Application,
}

#[derive(Clone, Copy, ValueEnum)]
enum TableName {
    Sender,
    Receiver,
}

impl ClassName {
    const fn class(self) -> Class {
        match self {
            Self::Control => Class::Control,
            Self::Storage => Class::Storage,
            Self::E2e => Class::E2e,
            Self::Application => Class::Application,
        }
    }
}

impl TableName {
    const fn table(self) -> Table {
        match self {
            Self::Sender => Table::Sender,
            Self::Receiver => Table::Receiver,
        }
    }
}

/// Clears one stream, or says what that would cost.
pub fn main(arguments: &Arguments) -> Result<Exit, StoreCallError> {
    let directory = StoreDirectory::at(&arguments.directory)?;
    let records = directory.inspect()?.records;
    let (name, table) = named(arguments, &records)?;
    let Some(found) = records.iter().find(|record| record.record == name) else {
        let what = format!("{} holds no record {name}, and no marker of one", arguments.directory.display());
        return Err(StoreCallError::Name(format!("{what}; `groundhog store list` shows what it holds")));
    };
    let table = table.or_else(|| found.finding.as_ref().ok().map(|stored| stored.table()));
    let cost = wrapped(words::cost(table), usize::from(width()), 0);
    text::out(&format!("{}\n{cost}\n", words::entry(found)));
    if !arguments.yes {
        return Err(StoreCallError::NotConfirmed);
    }
    let cleared = directory.clear(name)?;
    let what = match (cleared.record, cleared.marker) {
        (true, true) => "its record and its marker",
        (true, false) => "its record, which had no marker",
        (false, _) => "its marker, whose record was gone",
    };
    text::out(&format!("\nremoved {what}\n"));
    Ok(Exit::Held)
}

/// The record that the call names, and its table where the call says it.
fn named(
    arguments: &Arguments,
    records: &[Inspected],
) -> Result<(RecordName, Option<Table>), StoreCallError> {
    let Arguments { first, destination, class, table, .. } = arguments;
    let (Some(destination), Some(class), Some(table)) = (destination, class, table) else {
        if let (FileName::Record(name), None) = (FileName::parse(first), destination) {
            return Ok((name, None));
        }
        let what = "name a stream by the 40 lower-case hex digits of its record's file, or by ORIGIN DESTINATION CLASS TABLE";
        return Err(StoreCallError::Name(format!("{first:?} names no record: {what}")));
    };
    let (origin, destination) = (did(first)?, did(destination)?);
    let network_id = network(arguments, records)?;
    let stream = StreamKey { network_id, origin, destination, class: class.class() };
    let table = table.table();
    Ok((record_name(&storage_key(table, &stream)), Some(table)))
}

fn did(text: &str) -> Result<Did, StoreCallError> {
    let value = serde_json::Value::from(text);
    serde_json::from_value(value).map_err(|_| {
        StoreCallError::Name(format!("{text:?} is no account: that is 0x and 40 lower-case hex digits"))
    })
}

/// The overlay whose streams the store holds.
fn network(arguments: &Arguments, records: &[Inspected]) -> Result<NetworkId, StoreCallError> {
    let of = |record: &Inspected| record.spells.map(|(_, stream)| stream.network_id);
    let told: BTreeSet<NetworkId> = records.iter().filter_map(of).collect();
    match (arguments.network_id, told.first()) {
        (Some(id), _) => Ok(NetworkId(id)),
        (None, Some(id)) if told.len() == 1 => Ok(*id),
        (None, _) => {
            let what = "the store does not tell which overlay the stream is of; say it with --network-id";
            Err(StoreCallError::Name(what.to_owned()))
        }
    }
}
