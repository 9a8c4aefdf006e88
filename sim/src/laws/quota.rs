//! `streams/quota`: an engine charges and refuses as exact token buckets do that saw what was released, in lock order.
//!
//! The clock of quotas is read where admissions are serialised, so it never goes backwards within a life.

use super::per_node::PerNode;
use super::reference_quota::ReferenceQuota;
use super::{Law, Names, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan;
use crate::units::SimTime;
use groundhog_engine::host::observe::EngineEvent;

/// See the module.
pub struct Quota {
    names: Names,
    limits: Option<plan::Quota>,
    nodes: PerNode<ReferenceQuota>,
}

impl Quota {
    /// Its id.
    pub const ID: &'static str = "streams/quota";
    /// What it states.
    pub const STATES: &'static str = "Quotas are exact token buckets: a rejection consumes nothing, a failed batch gives back what it was charged, and \
         the clock never regresses (000, Receiver state machine; facts 7).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let limits = setting.plan.engines.quota;
        Self { names: setting.names.clone(), limits, nodes: PerNode::default() }
    }

    fn reads_now(&self) -> EventMask {
        let asked = EventMask::of(&[EventKind::EngineQuota]);
        self.limits.map_or(asked, |_| ReferenceQuota::READS)
    }
}

impl Law for Quota {
    law_identity!(Mechanism reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Engine { node, event, .. } = event else { return };
        let mut saw = None;
        match (&self.limits, event) {
            (None, EngineEvent::Quota { .. }) => {
                saw = Some("asked a quota that the plan does not give it".to_owned())
            }
            (None, _) => {}
            (Some(limits), event) => {
                let expected = self.nodes.at(*node).event(event, limits);
                if let EngineEvent::Quota { stream, charge, .. } = event {
                    let word = |refused: Option<&'static str>| refused.unwrap_or("charged");
                    let stream = self.names.stream(stream);
                    if charge.refused == Some("quota-clock-regressed") {
                        saw = Some(format!("refused {stream}, for the clock of its quota went backwards"));
                    } else if let Some(expected) = expected.filter(|expected| *expected != charge.refused) {
                        let (found, expected) = (word(charge.refused), word(expected));
                        saw = Some(format!(
                            "asked the quota of {stream}: {found}, and exact buckets say {expected}"
                        ));
                    }
                }
            }
        }
        if let Some(saw) = saw {
            let saw = format!("{node} {saw}");
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, admission, stream};
    use groundhog_engine::host::observe::{BatchNumber, Decision, TransitionNumber};
    use groundhog_engine::streams::key::StreamKey;
    use groundhog_engine::streams::quota::{MessageLimit, QuotaCharge};
    use groundhog_engine::units::MonotonicNs;

    const LIMITS: plan::Quota =
        plan::Quota { messages_per_s: 1, message_burst: 2, bytes_per_s: 10, byte_burst: 100, records: 1 };

    fn ledger(quota: Option<plan::Quota>) -> Ledger<Quota> {
        let mut plan = Ledger::plan();
        plan.engines.quota = quota;
        let mut ledger = Ledger::over(Quota::new(&Ledger::setting_of(plan)));
        ledger.engine(3, EngineEvent::Opened { restored: 0, unrestorable: 0, next_batch: BatchNumber(1) });
        ledger
    }

    fn asks(
        ledger: &mut Ledger<Quota>,
        number: u64,
        stream: &StreamKey,
        ms: u64,
        refused: Option<&'static str>,
    ) {
        let (transition, at) = (TransitionNumber(number), MonotonicNs(ms * 1_000_000));
        let charge = QuotaCharge { at, data_bytes: 10, limit: MessageLimit::Enforced, refused };
        ledger.engine(3, EngineEvent::Quota { transition, stream, charge });
    }

    fn by_link(ledger: &mut Ledger<Quota>, number: u64, stream: &StreamKey) {
        let (transition, decision) = (TransitionNumber(number), Decision::Refused { reason: "any" });
        ledger.engine(3, EngineEvent::LinkLocal { transition, stream, decision });
    }

    const RATE: Option<&str> = Some("message-rate-exhausted");

    #[test]
    fn charges_and_refusals_are_those_of_exact_buckets() {
        type Charges<'a> = &'a [(u64, Option<&'static str>)];
        let cases: [(Charges<'_>, usize); 6] = [
            (&[(0, None), (0, None), (0, RATE), (999, RATE), (1_000, None)], 0),
            (&[(0, None), (0, None), (0, None)], 1),
            (&[(0, None), (0, RATE)], 1),
            (&[(0, None), (0, None), (999, None)], 1),
            (&[(0, None), (0, None), (0, Some("byte-rate-exhausted"))], 1),
            (&[(5, None), (4, Some("quota-clock-regressed"))], 1),
        ];
        for (charges, breaks) in cases {
            let mut ledger = ledger(Some(LIMITS));
            for (number, (ms, refused)) in (0..).zip(charges) {
                asks(&mut ledger, number, &stream(1, 3), *ms, *refused);
                by_link(&mut ledger, number, &stream(1, 3));
            }
            assert_eq!(ledger.finish().len(), breaks, "{charges:?}");
        }
    }

    #[test]
    fn a_full_table_gives_the_place_of_a_full_bucket_only() {
        for (ms, refused, breaks) in [
            (999, Some("quota-table-capacity-exhausted"), 0),
            (999, None, 1),
            (1_000, None, 0),
            (1_000, Some("quota-table-capacity-exhausted"), 1),
        ] {
            let mut ledger = ledger(Some(LIMITS));
            asks(&mut ledger, 0, &stream(1, 3), 0, None);
            by_link(&mut ledger, 0, &stream(1, 3));
            asks(&mut ledger, 1, &stream(2, 3), ms, refused);
            assert_eq!(ledger.finish().len(), breaks, "after {ms} ms");
        }
    }

    #[test]
    fn a_failed_batch_gives_back_what_its_transitions_and_those_on_top_were_charged() {
        for (fails, refused, breaks) in [(true, None, 0), (true, RATE, 1), (false, RATE, 0), (false, None, 1)]
        {
            let mut ledger = ledger(Some(LIMITS));
            let batch = BatchNumber(1);
            asks(&mut ledger, 0, &stream(1, 3), 0, None);
            ledger.engine(3, admission(0, 5, 5, 1));
            ledger.engine(3, EngineEvent::BatchClosed { batch, records: &[], transitions: 1 });
            asks(&mut ledger, 1, &stream(1, 3), 0, None);
            by_link(&mut ledger, 1, &stream(1, 3));
            ledger.engine(
                3,
                match fails {
                    true => EngineEvent::BatchFailed { batch, undone: 2, state_digest: [0; 32] },
                    false => EngineEvent::BatchDurable { batch },
                },
            );
            asks(&mut ledger, 2, &stream(1, 3), 0, refused);
            assert_eq!(ledger.finish().len(), breaks, "fails: {fails}");
        }
    }

    #[test]
    fn an_engine_that_has_no_quota_asks_none_and_a_restart_forgets_it() {
        let mut none = ledger(None);
        asks(&mut none, 0, &stream(1, 3), 0, None);
        assert_eq!(none.finish().len(), 1);
        let mut again = ledger(Some(LIMITS));
        for life in 0..2 {
            for number in 0..2 {
                asks(&mut again, number, &stream(1, 3), 0, None);
                by_link(&mut again, number, &stream(1, 3));
            }
            let next_batch = BatchNumber(2 + life);
            again.engine(3, EngineEvent::Opened { restored: 0, unrestorable: 0, next_batch });
        }
        assert_eq!(again.finish(), Vec::<String>::new());
    }
}
