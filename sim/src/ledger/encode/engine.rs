//! What an engine reports, as bytes.

use super::DIGEST_BYTES;
use super::encoder::Encoder;
use groundhog_engine::host::observe::{BatchNumber, CustodyStall, EngineEvent};
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::quota::{MessageLimit, QuotaCharge};

/// What an engine reports.
pub(super) fn encode_engine(event: &EngineEvent<'_>, out: &mut Encoder<'_>) {
    match *event {
        EngineEvent::Opened { restored, unrestorable, next_batch } => {
            out.number(u64::from(restored));
            out.number(u64::from(unrestorable));
            out.number(next_batch.0);
        }
        EngineEvent::Transition { transition, stream, table, record, decision, staged } => {
            out.number(transition.0);
            out.stream(stream);
            out.byte(table as u8);
            out.record(record);
            out.option(staged.map(|batch| batch.0));
            out.decision(decision);
        }
        EngineEvent::LinkLocal { transition, stream, decision } => {
            out.number(transition.0);
            out.stream(stream);
            out.decision(decision);
        }
        EngineEvent::Quota { transition, stream, charge } => {
            let QuotaCharge { at, data_bytes, limit, refused } = charge;
            out.number(transition.0);
            out.stream(stream);
            out.number(at.0);
            out.number(data_bytes);
            out.flag(limit == MessageLimit::Delegated);
            // No reason is empty.
            out.text(refused.unwrap_or(""));
        }
        EngineEvent::Released { transition, depends } => {
            out.number(transition.0);
            out.number(depends.len() as u64);
            for &(record, BatchNumber(batch)) in depends {
                out.record(record);
                out.number(batch);
            }
        }
        EngineEvent::BatchClosed { batch, records, transitions } => {
            out.number(batch.0);
            out.number(u64::from(transitions));
            out.number(records.len() as u64);
            for &(record, bytes) in records {
                out.record(record);
                out.option(bytes.map(u64::from));
            }
        }
        EngineEvent::Step { step, batch, roles } => {
            out.byte(step as u8);
            out.number(batch.0);
            out.roles(roles);
        }
        EngineEvent::BatchDurable { batch } => out.number(batch.0),
        EngineEvent::BatchFailed { batch, undone, state_digest } => {
            out.number(batch.0);
            out.number(u64::from(undone));
            out.bytes(&state_digest[..DIGEST_BYTES]);
        }
        EngineEvent::CallerGone { transition } => out.number(transition.0),
        EngineEvent::Retired { transition, stream, record, introducer, spent, staged } => {
            out.number(transition.0);
            out.stream(stream);
            out.record(record);
            out.introducer(introducer);
            out.number(spent.0);
            out.number(staged.0);
        }
        EngineEvent::Custody { transition, stream, sequence, digest, change, held } => {
            out.number(transition.0);
            out.stream(stream);
            out.number(sequence.0);
            out.bytes(&digest[..DIGEST_BYTES]);
            out.custody(change);
            out.number(u64::from(held));
        }
        EngineEvent::CustodyStall { transition, stall, held } => {
            out.number(transition.0);
            out.text(stall.id());
            if let CustodyStall::Full { until } | CustodyStall::Refused { until } = stall {
                out.number(until.0);
            }
            out.number(u64::from(held));
        }
        EngineEvent::BoundMet { transition, introducer, bound } => {
            out.number(transition.0);
            out.introducer(introducer);
            out.bound(bound);
        }
        EngineEvent::TableUse { used } => {
            let TableUse { streams, fullest_slot, pool, inbox, own, custody } = used;
            [streams, fullest_slot, pool, inbox, own, custody]
                .into_iter()
                .for_each(|count| out.number(u64::from(count)));
        }
        EngineEvent::Unrestorable { record, reason, spells } => {
            out.record(record);
            out.text(reason);
            out.flag(spells.is_some());
            if let Some((table, stream)) = spells {
                out.byte(table as u8);
                out.stream(stream);
            }
        }
        EngineEvent::LoadFailed { reason } => out.text(reason),
        EngineEvent::UnavailableRefused { transition, record, refused } => {
            out.number(transition.0);
            out.record(record);
            out.number(refused);
        }
    }
}
