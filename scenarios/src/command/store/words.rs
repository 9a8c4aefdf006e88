//! A record in words, and as data.

use crate::print::text::{width, wrapped};
use groundhog_engine::streams::inspect::Inspected;
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::record::{Introducer, Stored};
use groundhog_engine::units::WallMs;
use groundhog_reports::count;
use serde_json::{Value, json};
use std::fmt::Write;

/// `sender` or `receiver`.
pub const fn table(table: Table) -> &'static str {
    match table {
        Table::Sender => "sender",
        Table::Receiver => "receiver",
    }
}

/// A record in four lines.
pub fn entry(inspected: &Inspected) -> String {
    let mut text = match (&inspected.finding, &inspected.spells) {
        (Ok(stored), _) => {
            let of = format!("{:<8}  {:<11}", table(stored.table()), stored.key().class.id());
            format!("{of}  {}\n", holds(stored))
        }
        (Err(why), _) => format!("{:<10}{}\n", "BAD", wrapped(&why.to_string(), usize::from(width()), 10)),
    };
    match inspected.spells {
        Some((of_table, stream)) => {
            if inspected.finding.is_err() {
                let _ = writeln!(text, "  spells  {} {}", table(of_table), stream.class);
            }
            let _ = writeln!(text, "  from    {}\n  to      {}", stream.origin, stream.destination);
        }
        None => text.push_str("  stream  not told by what is left of it\n"),
    }
    let bytes = inspected.file_bytes.map_or("no file".to_owned(), |bytes| format!("{} bytes", count(bytes)));
    let _ = write!(text, "  record  {}  {bytes}", inspected.record);
    if let Ok(Stored::Receiver { custody, .. }) = &inspected.finding
        && !custody.is_empty()
    {
        let _ = write!(text, ", {} in custody", custody.len());
    }
    text.push_str(if inspected.is_marked { "\n" } else { ", no marker yet\n" });
    text
}

fn holds(stored: &Stored) -> String {
    match stored {
        Stored::Sender { leased, .. } => format!("leased up to {leased}"),
        Stored::Receiver { window, introducer, spent, .. } => {
            format!("high {}, {}, spent {}", window.high(), charged_to(*introducer), instant(*spent))
        }
    }
}

fn charged_to(introducer: Introducer) -> String {
    match introducer {
        Introducer::Slot(slot) => format!("slot {}", slot.get()),
        Introducer::Inbox => "inbox".to_owned(),
        Introducer::Own => "self".to_owned(),
    }
}

/// An instant of a wall clock, as far as it is one of a calendar.
fn instant(at: WallMs) -> String {
    let milliseconds = i64::try_from(at.0).ok();
    let stamp = milliseconds.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    stamp.map_or_else(|| format!("at {} ms", at.0), |stamp| stamp.strftime("%F %T UTC").to_string())
}

/// What clearing the record costs (seed 000, Clearing one stream).
pub fn cost(of: Option<Table>) -> &'static str {
    match of {
        Some(Table::Receiver) => {
            "This resets the stream's replay window: a transaction of it that has not expired may be admitted once more. No \
             other stream changes."
        }
        Some(Table::Sender) => {
            "The stream starts again at sequence 0. Its destination rejects those sequences until they pass its high watermark: \
             below its window as stale, inside it as a fork, with signed evidence against this node. The messages that they \
             carry are lost. No other stream changes."
        }
        None => {
            "Nothing tells which table it is of. If a receiver's: a transaction of the stream that has not expired may be admitted \
             once more. If a sender's: the stream starts again at sequence 0, and what it signs is rejected, as stale and then as \
             a fork against this node, and lost, until it passes its destination's high watermark."
        }
    }
}

/// A record as data.
pub fn data(inspected: &Inspected) -> Value {
    let mut of = stream(inspected.spells.as_ref());
    let mut put = |key: &str, value: Value| {
        of[key] = value;
    };
    put("record", json!(inspected.record.to_string()));
    put("bytes", json!(inspected.file_bytes));
    put("marked", json!(inspected.is_marked));
    match &inspected.finding {
        Ok(Stored::Sender { leased, .. }) => put("leased", json!(leased.0)),
        Ok(Stored::Receiver { window, custody, introducer, spent, .. }) => {
            put("high", json!(window.high().0));
            put("introducer", json!(charged_to(*introducer)));
            put("spent_ms", json!(spent.0));
            put("custody", json!(custody.len()));
        }
        Err(why) => {
            put("bad", json!(why.id()));
            put("why", json!(why.to_string()));
        }
    }
    of
}

fn stream(spells: Option<&(Table, StreamKey)>) -> Value {
    let Some((of, StreamKey { network_id, origin, destination, class })) = spells else { return json!({}) };
    json!({
        "table": table(*of),
        "network_id": network_id.0,
        "origin": origin.to_string(),
        "destination": destination.to_string(),
        "class": class.id(),
    })
}
