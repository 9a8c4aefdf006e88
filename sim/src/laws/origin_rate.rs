//! `streams/origin-rate`: no origin gets more messages through than its quota, and none is refused for a quota that it has
//! not used.
//!
//! Seen from outside, since an origin's first arrival in a life of the receiver: what is dispatched of a stream is at most a
//! burst and what the rate has gained, by the fastest clock that the plan allows the node.

use super::per_node::PerNode;
use super::{Law, Names, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::plan::{ClockFault, FaultKind, Plan, Quota};
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::key::StreamKey;
use rustc_hash::FxHashMap;

const MILLION: u128 = 1_000_000;

#[derive(Clone, Copy)]
struct Stream {
    first_arrival: SimTime,
    /// Arrivals that may have been charged: all that were not answered by what charges nothing.
    arrivals: u64,
    dispatched: u64,
}

#[derive(Default)]
struct Node {
    streams: FxHashMap<StreamKey, Stream>,
    /// Streams that arrived, by class.
    of_class: [u64; 4],
    speed_ppm: u128,
}

/// See the module.
pub struct OriginRate {
    names: Names,
    limits: Option<Quota>,
    nodes: PerNode<Node>,
}

impl OriginRate {
    /// Its id.
    pub const ID: &'static str = "streams/origin-rate";
    /// What it states.
    pub const STATES: &'static str = "An origin is dispatched at most its burst and what its rate gains, and is refused for its quota only when it \
         has used it (000, Receiver state machine; facts 7).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let mut nodes = PerNode::<Node>::default();
        for node in &setting.plan.nodes {
            nodes.at(node.id).speed_ppm = fastest_ppm(&setting.plan, node.id);
        }
        Self { names: setting.names.clone(), limits: setting.plan.engines.quota, nodes }
    }

    fn arrived(&mut self, at: SimTime, node: NodeId, stream: &StreamKey) {
        let state = self.nodes.at(node);
        let Node { streams, of_class, .. } = state;
        let seen = streams.entry(*stream).or_insert_with(|| {
            of_class[stream.class.index()] += 1;
            Stream { first_arrival: at, arrivals: 0, dispatched: 0 }
        });
        seen.arrivals += 1;
    }

    fn dispatched(&mut self, at: SimTime, node: NodeId, stream: &StreamKey) -> Option<String> {
        let Quota { messages_per_s, message_burst, .. } = self.limits?;
        let state = self.nodes.at(node);
        let speed_ppm = state.speed_ppm.max(MILLION);
        let seen = state.streams.get_mut(stream)?;
        seen.dispatched += 1;
        let elapsed_ns = u128::from(at.0 - seen.first_arrival.0) * speed_ppm / MILLION;
        let gained = u128::from(messages_per_s) * elapsed_ns / 1_000_000_000;
        (u128::from(seen.dispatched) > u128::from(message_burst) + gained).then(|| {
            let (stream, dispatched) = (self.names.stream(stream), seen.dispatched);
            format!("dispatched {dispatched} messages of {stream}, and its quota lets {message_burst} and {gained} more pass by now")
        })
    }

    /// A replay, a fork, what is stale and what is refused pays nothing, and a failed batch gives back what it was charged.
    fn not_charged(&mut self, node: NodeId, stream: &StreamKey) {
        if let Some(seen) = self.nodes.at(node).streams.get_mut(stream) {
            seen.arrivals = seen.arrivals.saturating_sub(1);
        }
    }

    fn refused(&mut self, node: NodeId, stream: &StreamKey, reason: &str) -> Option<String> {
        let is_quotas = matches!(
            reason,
            "message-rate-exhausted"
                | "byte-rate-exhausted"
                | "quota-table-capacity-exhausted"
                | "quota-clock-regressed"
        );
        if !is_quotas {
            return None;
        }
        let state = self.nodes.at(node);
        let arrivals = state.streams.get(stream).map_or(0, |stream| stream.arrivals);
        let streams = state.of_class[stream.class.index()];
        let why = match (self.limits, reason) {
            (None, _) => "nothing limits it".to_owned(),
            (Some(Quota { message_burst, .. }), "message-rate-exhausted") if arrivals <= message_burst => {
                format!(
                    "{arrivals} messages of it can have been charged, this one included, and {message_burst} may come at once"
                )
            }
            (Some(Quota { records, .. }), "quota-table-capacity-exhausted")
                if streams <= u64::from(records) =>
            {
                format!("{streams} streams of its class have arrived, and {records} have a place")
            }
            (Some(_), "quota-clock-regressed") => "a clock that only goes forwards is at hand".to_owned(),
            _ => return None,
        };
        Some(format!("refused {} as {reason}, and {why}", self.names.stream(stream)))
    }

    fn reads_now(&self) -> crate::ledger::kind::EventMask {
        use crate::ledger::kind::{EventKind, EventMask};
        match self.limits {
            None => EventMask::of(&[EventKind::Answered]),
            Some(_) => EventMask::of(&[
                EventKind::Booted,
                EventKind::Arrived,
                EventKind::Answered,
                EventKind::Dispatched,
            ]),
        }
    }
}

/// How fast the node's oscillator runs at most: all that the plan adds to it at once.
fn fastest_ppm(plan: &Plan, node: NodeId) -> u128 {
    let faster = |speed: u128, ppm: i32| {
        speed * (MILLION + u128::try_from(ppm.max(0)).expect("not negative")) / MILLION + 1
    };
    let own = plan.nodes.iter().filter(|other| other.id == node).map(|node| node.clock.drift_ppm);
    let faults = plan.faults.iter().filter_map(|fault| match fault.kind {
        FaultKind::Clock { node: at, fault: ClockFault::Drift { ppm } } if at == node => Some(ppm),
        _ => None,
    });
    own.chain(faults).filter(|ppm| *ppm > 0).fold(MILLION, faster)
}

impl Law for OriginRate {
    law_identity!(Outcome reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match event {
            Event::Booted { node, .. } => {
                let state = self.nodes.at(*node);
                *state = Node { speed_ppm: state.speed_ppm, ..Node::default() };
                return;
            }
            Event::Arrived { node, transaction, .. } => {
                return self.arrived(at, *node, &transaction.stream);
            }
            Event::Dispatched { node, transaction, .. } => {
                (*node, self.dispatched(at, *node, &transaction.stream))
            }
            Event::Answered { node, transaction, answer: Answer::Refused(reason), .. } => {
                let saw = self.refused(*node, &transaction.stream, reason);
                self.not_charged(*node, &transaction.stream);
                (*node, saw)
            }
            Event::Answered { node, transaction, answer, .. } => {
                if !matches!(answer, Answer::Verdict(verdict) if verdict.dispatches()) {
                    self.not_charged(*node, &transaction.stream);
                }
                return;
            }
            _ => return,
        };
        if let Some(saw) = saw {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw: format!("{node} {saw}") });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, Ledger, transaction};
    use groundhog_engine::streams::window::VerdictKind;

    const LIMITS: Quota =
        Quota { messages_per_s: 1, message_burst: 2, bytes_per_s: 10, byte_burst: 100, records: 1 };

    fn ledger(quota: Option<Quota>) -> Ledger<OriginRate> {
        let mut plan = Ledger::plan();
        plan.engines.quota = quota;
        Ledger::over(OriginRate::new(&Ledger::setting_of(plan)))
    }

    fn dispatch(ledger: &mut Ledger<OriginRate>, sequence: u64) {
        let transaction = transaction(1, 3, sequence, 1);
        ledger.admitted(3, &transaction, COPY, VerdictKind::Advance);
        ledger.dispatched(3, &transaction);
    }

    #[test]
    fn what_is_dispatched_is_at_most_a_burst_and_what_the_rate_gained() {
        for (wait_us, breaks) in [(990_000, 1), (1_000_000, 0)] {
            let mut ledger = ledger(Some(LIMITS));
            dispatch(&mut ledger, 1);
            dispatch(&mut ledger, 2);
            ledger.wait_us(wait_us);
            dispatch(&mut ledger, 3);
            assert_eq!(ledger.finish().len(), breaks, "after {wait_us} us");
        }
    }

    #[test]
    fn a_restart_begins_anew_and_without_limits_there_are_none() {
        let mut restarted = ledger(Some(LIMITS));
        let mut without = ledger(None);
        for life in 0..2 {
            (1..3).for_each(|sequence| dispatch(&mut restarted, 2 * life + sequence));
            restarted.restarted(3);
        }
        (0..9).for_each(|sequence| dispatch(&mut without, sequence));
        assert_eq!((restarted.finish().len(), without.finish().len()), (0, 0));
    }

    #[test]
    fn a_refusal_for_a_quota_that_was_not_used_breaks_it() {
        let refused = |quota, origins: &[u16], arrivals: u64, reason| {
            let mut ledger = ledger(quota);
            let mut last = transaction(1, 3, 1, 1);
            for origin in origins {
                for sequence in 0..arrivals {
                    last = transaction(*origin, 3, sequence, 1);
                    ledger.arrived(3, &last, COPY);
                }
            }
            ledger.answered(3, &last, COPY, Answer::Refused(reason));
            ledger.finish().len()
        };
        let limits = Some(LIMITS);
        assert_eq!(refused(limits, &[1], 2, "message-rate-exhausted"), 1);
        assert_eq!(refused(limits, &[1], 3, "message-rate-exhausted"), 0);
        assert_eq!(refused(limits, &[1], 3, "quota-table-capacity-exhausted"), 1);
        assert_eq!(refused(limits, &[1, 2], 1, "quota-table-capacity-exhausted"), 0);
        assert_eq!(refused(limits, &[1], 9, "quota-clock-regressed"), 1);
        assert_eq!(refused(limits, &[1], 1, "byte-rate-exhausted"), 0);
        assert_eq!(refused(None, &[1], 9, "byte-rate-exhausted"), 1);
        assert_eq!(refused(None, &[1], 9, "stream-capacity-exceeded"), 0);
    }

    #[test]
    fn the_fastest_clock_of_the_plan_counts() {
        use crate::plan::{Fault, NodePlan, When};
        use crate::units::FaultId;
        let mut plan = Ledger::plan();
        let clock = crate::plan::ClockPlan { drift_ppm: 500_000, ..Default::default() };
        plan.nodes = (0..2).map(|id| NodePlan { id: NodeId(id), cores: 1, clock }).collect();
        let drift = |id, ppm| Fault {
            id: FaultId(id),
            at: When::Time { us: 0 },
            until_us: Some(1),
            kind: FaultKind::Clock { node: NodeId(1), fault: ClockFault::Drift { ppm } },
        };
        plan.faults = vec![drift(0, 500_000), drift(1, -500_000)];
        assert_eq!(fastest_ppm(&plan, NodeId(0)), 1_500_001);
        assert_eq!(fastest_ppm(&plan, NodeId(1)), 2_250_002);
        assert_eq!(fastest_ppm(&plan, NodeId(2)), 1_000_000);
    }
}
