//! What the streams report of relay custody: each change, and how it stands to the bound.
//!
//! Promise: reported under the lock, in the order in which it happened, before the transition that did it.

use crate::commit::Staging;
use crate::host::observe::{CustodyChange, CustodyStall, EngineEvent};
use crate::streams::Refusal;
use crate::streams::Streams;
use crate::streams::key::StreamKey;
use crate::streams::record::CUSTODY_MAX_ENTRIES;
use crate::streams::tables::{Admitted, Arriving, LeftCustody, NotAdmitted, Tables};
use crate::streams::window::{Digest, Verdict};
use crate::units::Sequence;

/// How many deliveries were in custody before a transition, and which of them were spent at it.
type Before<'a> = (usize, &'a [LeftCustody]);

impl Streams {
    /// What an admission did to custody, and found there.
    pub(in crate::streams) fn report_delivery(
        &self,
        tables: &Tables,
        (before, expired): Before<'_>,
        arriving: &Arriving<'_>,
        admitted: &Admitted,
        staging: &Staging<'_, Tables>,
    ) {
        let now = tables.custody().len();
        if before == 0 && now == 0 {
            return;
        }
        let change = match admitted.result {
            Ok(Verdict::Redelivered) => Some(CustodyChange::Redelivered),
            Ok(_) if now + expired.len() > before => Some(CustodyChange::TakenIn { spent: arriving.spent }),
            _ => None,
        };
        self.report_expired((before, expired), staging);
        if let Some(change) = change {
            let mail = (arriving.stream, arriving.sequence, arriving.digest);
            self.report_change(mail, change, now, staging);
        }
        self.report_bound_of_custody((before, now), tables, staging);
        if let Err(NotAdmitted::Refused(Refusal::RelayCustodyFull { until, held, .. })) = admitted.result {
            self.report_stall(CustodyStall::Refused { until }, held, staging);
        }
    }

    /// What taking did to custody.
    pub(in crate::streams) fn report_taking(
        &self,
        tables: &Tables,
        (before, expired): Before<'_>,
        left: Option<&LeftCustody>,
        staging: &Staging<'_, Tables>,
    ) {
        let now = tables.custody().len();
        self.report_expired((before, expired), staging);
        if let Some(LeftCustody { stream, entry }) = left {
            let mail = (stream, entry.sequence, &entry.digest);
            self.report_change(mail, CustodyChange::Taken, now, staging);
        }
        self.report_bound_of_custody((before, now), tables, staging);
    }

    fn report_expired(&self, (before, expired): Before<'_>, staging: &Staging<'_, Tables>) {
        for (gone, LeftCustody { stream, entry }) in (1..).zip(expired) {
            let (mail, spent) = ((stream, entry.sequence, &entry.digest), entry.spent);
            self.report_change(mail, CustodyChange::Expired { spent }, before - gone, staging);
        }
    }

    fn report_bound_of_custody(
        &self,
        (before, now): (usize, usize),
        tables: &Tables,
        staging: &Staging<'_, Tables>,
    ) {
        match (before >= CUSTODY_MAX_ENTRIES, now >= CUSTODY_MAX_ENTRIES, tables.custody().until()) {
            (false, true, Some(until)) => self.report_stall(CustodyStall::Full { until }, now, staging),
            (true, false, _) => self.report_stall(CustodyStall::Over, now, staging),
            _ => {}
        }
    }

    fn report_change(
        &self,
        (stream, sequence, digest): (&StreamKey, Sequence, &Digest),
        change: CustodyChange,
        held: usize,
        staging: &Staging<'_, Tables>,
    ) {
        self.host.observe(EngineEvent::Custody {
            transition: staging.transition(),
            stream,
            sequence,
            digest: *digest,
            change,
            held: count(held),
        });
    }

    fn report_stall(&self, stall: CustodyStall, held: usize, staging: &Staging<'_, Tables>) {
        let transition = staging.transition();
        self.host.observe(EngineEvent::CustodyStall { transition, stall, held: count(held) });
    }

    /// What a drain pass did not read is dropped: what only a flawed engine does.
    #[cfg(feature = "flaws")]
    pub(in crate::streams) fn drop_unread(&self, read: &[(StreamKey, Sequence, Digest)]) {
        let dropped = self.transact(|tables, staging| {
            let dropped = tables.drop_unread(read, staging);
            for LeftCustody { stream, entry } in &dropped {
                let mail = (stream, entry.sequence, &entry.digest);
                self.report_change(mail, CustodyChange::Dropped, tables.custody().len(), staging);
            }
        });
        drop(dropped);
    }
}

fn count(held: usize) -> u32 {
    u32::try_from(held).unwrap_or(u32::MAX)
}
