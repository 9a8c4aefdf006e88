//! Events as lines that a person reads.
//!
//! Promise: one event is one line: true simulated time, node and life, what happened. How long a line may be is left to
//! whoever shows it; most fit 80 columns. Hashes are cut short, so two different events may read the same: only encodings
//! tell events apart.

use super::event::{Answer, Event, Passage, Transaction};
use super::kind::EventKind;
use super::words;
use crate::plan::Fault;
use crate::units::{FaultId, Life, MessageId, NodeId, SimTime};
use groundhog_engine::host::observe::{CustodyStall, Decision, EngineEvent, RecordName, Roles};
use groundhog_engine::identity::Did;
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::quota::MessageLimit;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Columns of a line before what happened: time, place, kind.
pub const HEAD_COLUMNS: usize = 35;

/// Record states that a line names of those that a result was computed from.
const MOST_DEPENDS: usize = 3;

/// Whose account a DID is.
pub type AccountOf = Box<dyn Fn(&Did) -> Option<NodeId> + Send>;

/// Writes lines.
pub struct Timeline {
    account_of: AccountOf,
    faults: BTreeMap<FaultId, String>,
    line: String,
}

impl Default for Timeline {
    /// One that knows no account: streams are named by their DIDs.
    fn default() -> Self {
        Self::new(Box::new(|_| None))
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timeline")
    }
}

impl Timeline {
    /// One that names the nodes of accounts.
    #[must_use]
    pub fn new(account_of: AccountOf) -> Self {
        Self { account_of, faults: BTreeMap::new(), line: String::with_capacity(160) }
    }

    /// The same, saying what these faults do.
    #[must_use]
    pub fn with_faults(self, faults: &[Fault]) -> Self {
        let labels = faults.iter().map(|fault| (fault.id, words::fault_label(&fault.kind)));
        Self { faults: labels.collect(), ..self }
    }

    /// Whose account a DID is.
    #[must_use]
    pub fn accounts(&self) -> &AccountOf {
        &self.account_of
    }

    /// The line of one event; stands until the next call.
    pub fn line(&mut self, at: SimTime, event: &Event<'_>) -> &str {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        self.write(&mut line, at, event).expect("a string takes every text");
        line.truncate(line.trim_end().len());
        self.line = line;
        &self.line
    }

    fn write(&self, out: &mut String, at: SimTime, event: &Event<'_>) -> fmt::Result {
        let micros = at.as_us();
        write!(out, "{:>4}.{:06} s ", micros / 1_000_000, micros % 1_000_000)?;
        let place = match place_of(event) {
            (Some(NodeId(node)), Some(Life(life))) => format!("n{node}.{life}"),
            (Some(NodeId(node)), None) => format!("n{node}"),
            (None, _) => String::new(),
        };
        write!(out, "{place:<7} {:<12} ", EventKind::of(event).id())?;
        match event {
            Event::Engine { event, .. } => self.engine(out, event),
            _ => self.observed(out, event),
        }
    }

    fn observed(&self, out: &mut String, event: &Event<'_>) -> fmt::Result {
        match *event {
            Event::Booted { wall, .. } => write!(out, "wall {wall}"),
            Event::Ready { .. } | Event::Quiesced => Ok(()),
            // A panic's message may have lines of its own.
            Event::Panicked { message, .. } => {
                message.split_whitespace().try_for_each(|word| write!(out, "{word} "))
            }
            Event::ThreadStarted { task, .. } => write!(out, "started by {task}"),
            Event::OpenFailed { reason, .. } => out.write_str(reason),
            Event::Died { death, during, gathering, fault, .. } => {
                out.write_str(words::death_kind(death))?;
                if let Some((step, batch, roles)) = during {
                    write!(out, ", last step {} of batch {}", step.id(), batch.0)?;
                    write_roles(out, roles)?;
                }
                out.write_str(if gathering { ", gathering" } else { "" })?;
                fault.map_or(Ok(()), |fault| write!(out, ", fault {}", fault.0))
            }
            Event::PowerLost { kept, lost, .. } => write!(out, "pending changes: {kept} kept, {lost} lost"),
            Event::ClockSet { from, to, .. } => {
                let by = i128::from(to.0) - i128::from(from.0);
                write!(out, "by {by:+} ms, from {from}")
            }
            Event::DiskAnswered { number, operation, bytes, error, injected, .. } => {
                write!(out, "op {number} {}", words::kebab(operation))?;
                if bytes > 0 {
                    write!(out, " {bytes} B")?;
                }
                error.map_or(Ok(()), |error| write!(out, " failed: {}", words::kebab(error)))?;
                out.write_str(if injected { " (fault)" } else { "" })
            }
            Event::FaultBegan { fault } | Event::FaultEnded { fault } => {
                write!(out, "fault {}", fault.0)?;
                self.faults.get(&fault).map_or(Ok(()), |label| write!(out, ": {label}"))
            }
            Event::Intended { message, to, class, .. } => {
                write!(out, "message {message} to n{} {class}", to.0)
            }
            Event::NotSent { message, cause, .. } => write!(out, "message {message}: {}", cause.id()),
            Event::ReserveAnswered { message, answer, refusal, .. } => {
                write!(out, "message {message}")?;
                answer.map_or(Ok(()), |sequence| write!(out, " got #{sequence}"))?;
                refusal.map_or(Ok(()), |refusal| write!(out, " refused: {refusal}"))
            }
            Event::FrameSent { frame, message, copy, to, class, channel, bytes, .. } => {
                write!(out, "frame {} to n{} {class} ch {channel} {bytes} B", frame.0, to.0)?;
                write_message(out, message)?;
                write_copy(out, copy)
            }
            Event::FrameLost { frame, message, cause } => {
                write!(out, "frame {}: {}", frame.0, cause.id())?;
                write_message(out, message)
            }
            Event::FrameDelivered { frame, message, duplicate, .. } => {
                write!(out, "frame {}{}", frame.0, if duplicate { " (duplicate)" } else { "" })?;
                write_message(out, message)
            }
            Event::Relayed { message, .. } => write_message(out, message),
            Event::ConnectionAdmitted { peer, slot, .. } => write!(out, "to n{} on {slot}", peer.0),
            Event::ConnectionRetired { peer, slot, under_way, .. } => {
                write!(out, "from n{}, {slot} is free", peer.0)?;
                if under_way > 0 { write!(out, ", {under_way} under way") } else { Ok(()) }
            }
            Event::Joined { .. } | Event::Left { .. } | Event::Routed { .. } | Event::HandedOff { .. } => {
                write_ring(out, event)
            }
            Event::SecondRuntime { of, .. } => write!(out, "of the account of n{}", of.0),
            Event::ReplayMissed { .. } => {
                out.write_str("no such frame was recorded, or no connection stands")
            }
            _ => self.admission(out, event),
        }
    }

    fn admission(&self, out: &mut String, event: &Event<'_>) -> fmt::Result {
        match *event {
            Event::Exposed { message, transaction, .. } => {
                self.transaction(out, transaction)?;
                write_message(out, Some(message))
            }
            Event::Unverified { message, reason, .. } => {
                out.write_str(reason)?;
                write_message(out, message)
            }
            Event::Arrived { wall, transaction, passage, .. } => {
                self.transaction(out, transaction)?;
                out.write_str(if passage.honest { " honest" } else { "" })?;
                write_copy(out, passage.copy)?;
                write!(out, " wall {wall}")
            }
            Event::Answered { transaction, passage, answer, .. } => {
                self.transaction(out, transaction)?;
                match answer {
                    Answer::Verdict(verdict) => write!(out, " {}", verdict.id())?,
                    Answer::Refused(reason) => write!(out, " refused: {reason}")?,
                    Answer::FailedBatch => out.write_str(" failed batch")?,
                    Answer::Unscheduled => out.write_str(" unscheduled")?,
                }
                write_copy(out, passage.copy)
            }
            Event::AdmissionAbandoned { transaction, .. } => self.transaction(out, transaction),
            Event::Dispatched { transaction, verdict, .. } => {
                self.transaction(out, transaction)?;
                write!(out, " {}", verdict.id())
            }
            Event::Mail { message, transaction, step, .. } => {
                self.transaction(out, transaction)?;
                out.write_str(" ")?;
                out.write_str(&words::mail_step(step))?;
                write_message(out, message)
            }
            Event::Handled { message, class, .. } => {
                write!(out, "{class}")?;
                write_message(out, message)
            }
            Event::ReplayMissed { .. } => Ok(()),
            Event::Link { event, .. } => event.write(out),
            _ => unreachable!("every other event is written by its caller"),
        }
    }

    fn engine(&self, out: &mut String, event: &EngineEvent<'_>) -> fmt::Result {
        match *event {
            EngineEvent::Opened { restored, unrestorable, next_batch } => {
                write_count(out, restored as usize, "record")?;
                if unrestorable > 0 {
                    write!(out, ", {unrestorable} unrestorable")?;
                }
                write!(out, ", next batch {}", next_batch.0)
            }
            EngineEvent::Transition { transition, stream, table, decision, staged, .. } => {
                let side = if table == Table::Sender { "sends" } else { "admits" };
                write!(out, "{} {side} ", transition.0)?;
                self.stream(out, stream)?;
                write_decision(out, decision)?;
                staged.map_or(Ok(()), |batch| write!(out, ", batch {}", batch.0))
            }
            EngineEvent::Released { transition, depends } => {
                write!(out, "{}", transition.0)?;
                depends.iter().take(MOST_DEPENDS).try_for_each(|(record, batch)| {
                    out.write_str(" on ")?;
                    write_record(out, *record)?;
                    write!(out, "@{}", batch.0)
                })?;
                match depends.len().saturating_sub(MOST_DEPENDS) {
                    0 => Ok(()),
                    more => write!(out, " and {more} more"),
                }
            }
            EngineEvent::BatchClosed { batch, records, transitions } => {
                let bytes: u64 = records.iter().filter_map(|(_, bytes)| bytes.map(u64::from)).sum();
                write!(out, "batch {}: ", batch.0)?;
                write_count(out, records.len(), "record")?;
                write!(out, ", {bytes} B, {transitions} waiting")
            }
            EngineEvent::Step { step, batch, roles } => {
                write!(out, "{} of batch {}", step.id(), batch.0)?;
                write_roles(out, roles)
            }
            EngineEvent::BatchDurable { batch } => write!(out, "batch {}", batch.0),
            EngineEvent::BatchFailed { batch, undone, state_digest } => {
                let [a, b, c, ..] = state_digest;
                write!(out, "batch {}, {undone} undone, state {a:02x}{b:02x}{c:02x}", batch.0)
            }
            EngineEvent::CallerGone { transition } => write!(out, "{}", transition.0),
            EngineEvent::Retired { stream, introducer, spent, staged, .. } => {
                self.stream(out, stream)?;
                write!(out, " of {introducer}, spent after {spent}, batch {}", staged.0)
            }
            EngineEvent::Custody { stream, sequence, change, held, .. } => {
                self.stream(out, stream)?;
                write!(out, "#{sequence} {}, {held} held", change.id())
            }
            EngineEvent::CustodyStall { stall, held, .. } => {
                write!(out, "{}, {held} held", stall.id())?;
                match stall {
                    CustodyStall::Full { until } | CustodyStall::Refused { until } => {
                        write!(out, ", until one is taken or {until} is past")
                    }
                    CustodyStall::Over => Ok(()),
                }
            }
            EngineEvent::BoundMet { introducer, bound, .. } => write!(out, "{introducer}: {bound}"),
            EngineEvent::TableUse { used } => {
                let TableUse { streams, fullest_slot, pool, inbox, own, custody } = used;
                write!(out, "{streams} streams, {fullest_slot} of one slot, {pool} of the pool, ")?;
                write!(out, "{inbox} of the inbox, {own} of its own, {custody} in custody")
            }
            EngineEvent::Unrestorable { record, reason, spells } => {
                write!(out, "record {record} is {reason}")?;
                let Some((table, stream)) = spells else { return Ok(()) };
                write!(out, ", of {table:?} ")?;
                self.stream(out, stream)
            }
            EngineEvent::LoadFailed { reason } => write!(out, "the store does not open: {reason}"),
            EngineEvent::UnavailableRefused { transition, refused, .. } => {
                write!(out, "{} refused, {refused} since the open", transition.0)
            }
            EngineEvent::LinkLocal { transition, stream, decision } => {
                write!(out, "{} by its link ", transition.0)?;
                self.stream(out, stream)?;
                write_decision(out, decision)
            }
            EngineEvent::Quota { transition, stream, charge } => {
                write!(out, "{} ", transition.0)?;
                self.stream(out, stream)?;
                let messages = u8::from(charge.limit == MessageLimit::Enforced);
                write!(out, " {messages} messages, {} B", charge.data_bytes)?;
                charge.refused.map_or(Ok(()), |reason| write!(out, " refused: {reason}"))
            }
        }
    }

    fn transaction(&self, out: &mut String, transaction: &Transaction) -> fmt::Result {
        self.stream(out, &transaction.stream)?;
        write!(out, "#{}", transaction.sequence)
    }

    fn stream(&self, out: &mut String, stream: &StreamKey) -> fmt::Result {
        self.account(out, &stream.origin)?;
        out.write_str("->")?;
        self.account(out, &stream.destination)?;
        write!(out, "/{}", stream.class)
    }

    fn account(&self, out: &mut String, did: &Did) -> fmt::Result {
        match (self.account_of)(did) {
            Some(node) => write!(out, "n{}", node.0),
            None => out.write_str(&did.short()),
        }
    }
}

fn write_ring(out: &mut String, event: &Event<'_>) -> fmt::Result {
    match *event {
        Event::Left { hand_off, .. } => {
            out.write_str(if hand_off { "with hand-off" } else { "without a word" })
        }
        Event::Routed { message, next, hops, stale, .. } => {
            write_message(out, message)?;
            let view = if stale { ", stale view" } else { "" };
            write!(out, " to n{}, hop {hops}{view}", next.0)
        }
        Event::HandedOff { to, mails, .. } => write!(out, "to n{}, with {mails} mails", to.0),
        _ => Ok(()),
    }
}

fn write_decision(out: &mut String, decision: Decision) -> fmt::Result {
    match decision {
        Decision::Verdict { verdict, sequence, .. } => write!(out, "#{sequence} {}", verdict.id()),
        Decision::Reserved { first, last, lease } => {
            write!(out, "#{first}")?;
            if last > first {
                write!(out, "-{last}")?;
            }
            write!(out, " lease {lease}")
        }
        Decision::Taken { sequence, .. } => write!(out, "#{sequence} taken"),
        Decision::Refused { reason } => write!(out, " refused: {reason}"),
    }
}

/// The node that an event happened at, and its life, where the event names them.
#[must_use]
pub const fn place_of(event: &Event<'_>) -> (Option<NodeId>, Option<Life>) {
    match *event {
        Event::Booted { node, life, .. }
        | Event::Ready { node, life }
        | Event::OpenFailed { node, life, .. }
        | Event::Died { node, life, .. }
        | Event::Panicked { node, life, .. }
        | Event::ThreadStarted { node, life, .. }
        | Event::DiskAnswered { node, life, .. }
        | Event::ReserveAnswered { node, life, .. }
        | Event::Exposed { node, life, .. }
        | Event::ConnectionAdmitted { node, life, .. }
        | Event::ConnectionRetired { node, life, .. }
        | Event::Relayed { node, life, .. }
        | Event::Unverified { node, life, .. }
        | Event::Arrived { node, life, .. }
        | Event::Answered { node, life, .. }
        | Event::AdmissionAbandoned { node, life, .. }
        | Event::Dispatched { node, life, .. }
        | Event::Handled { node, life, .. }
        | Event::Link { node, life, .. }
        | Event::Mail { node, life, .. }
        | Event::Left { node, life, .. }
        | Event::Engine { node, life, .. } => (Some(node), Some(life)),
        Event::PowerLost { node, .. }
        | Event::ReplayMissed { node }
        | Event::ClockSet { node, .. }
        | Event::Intended { node, .. }
        | Event::NotSent { node, .. }
        | Event::FrameSent { from: node, .. }
        | Event::Joined { node }
        | Event::Routed { node, .. }
        | Event::HandedOff { from: node, .. }
        | Event::SecondRuntime { node, .. }
        | Event::FrameDelivered { to: node, .. } => (Some(node), None),
        Event::FaultBegan { .. } | Event::FaultEnded { .. } | Event::Quiesced | Event::FrameLost { .. } => {
            (None, None)
        }
    }
}

/// A line without its time and its place, for whoever says those beside it.
#[must_use]
pub fn without_time_and_place(line: &str) -> &str {
    let after_time = line.split_once(" s ").map_or(line, |(_, rest)| rest);
    let is_place = |rest: &str| {
        let digits = rest.strip_prefix('n').unwrap_or_default();
        digits.starts_with(|digit: char| digit.is_ascii_digit())
    };
    let after_place = match after_time.split_once(' ') {
        Some((place, rest)) if is_place(place) => rest,
        _ => after_time,
    };
    after_place.trim_start()
}

fn write_message(out: &mut String, message: Option<MessageId>) -> fmt::Result {
    message.map_or(Ok(()), |message| write!(out, " message {message}"))
}

/// The original copy goes without saying.
fn write_copy(out: &mut String, copy: u32) -> fmt::Result {
    match copy {
        0 => Ok(()),
        u32::MAX => out.write_str(" replayed"),
        copy if copy == Passage::FROM_INBOX.copy => out.write_str(" out of the inbox"),
        copy => write!(out, " copy {copy}"),
    }
}

fn write_roles(out: &mut String, Roles { leases, windows }: Roles) -> fmt::Result {
    for (number, what) in [(leases, "lease"), (windows, "window")] {
        if number > 0 {
            out.write_str(", ")?;
            write_count(out, number as usize, what)?;
        }
    }
    Ok(())
}

fn write_count(out: &mut String, number: usize, what: &str) -> fmt::Result {
    write!(out, "{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn write_record(out: &mut String, RecordName([a, b, c, ..]): RecordName) -> fmt::Result {
    write!(out, "{a:02x}{b:02x}{c:02x}")
}
