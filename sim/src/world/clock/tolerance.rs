//! How far apart the wall clocks of a plan ever are, for generators that must stay within tolerance and laws that must
//! know whether a plan did.
//!
//! Promise: `certain_ns` is reached in every run of the plan, and `possible_ns` is passed in none. They are equal but for
//! rounding where every fault of a clock has a time and no machine boots again with a wrong clock.

use super::{Clock, UNITS_PER_NS};
use crate::plan::{ClockFault, Death, Fault, FaultKind, NodePlan, When};
use crate::units::{FaultId, SimTime};

/// The most that any two wall clocks of a plan differ over the whole run, drift included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// In every run of the plan.
    pub certain_ns: u128,
    /// At most, whenever faults without a time strike and machines boot.
    pub possible_ns: u128,
}

/// How far the clocks of these nodes are apart under these faults. After quiescence they only come closer.
#[must_use]
pub fn spread(nodes: &[NodePlan], faults: &[Fault], quiesce: SimTime) -> Spread {
    let slack: Vec<Slack> = nodes.iter().map(|node| Slack::of(node, faults, quiesce)).collect();
    let mut clocks: Vec<Clock> = nodes.iter().map(|node| Clock::new(node.clock)).collect();
    let mut spread = Spread { certain_ns: 0, possible_ns: 0 };
    // Between two changes every error is linear in time, and so the widest spread is at one end.
    for together in timeline(nodes, faults, quiesce).chunk_by(|first, second| first.0 == second.0) {
        let at = together[0].0;
        spread.widen(&clocks, &slack, at);
        for (_, node, change) in together {
            let clock = &mut clocks[*node];
            let _ = match *change {
                Change::Boot => clock.boot(at, None),
                Change::Correct => clock.correct(at),
                Change::Begin(id, fault) => clock.begin_fault(at, id, fault),
                Change::End(id) => clock.end_fault(at, id),
            };
        }
        spread.widen(&clocks, &slack, at);
    }
    spread.widen(&clocks, &slack, quiesce);
    spread
}

impl Spread {
    fn widen(&mut self, clocks: &[Clock], slack: &[Slack], at: SimTime) {
        let (mut lowest, mut least, mut most, mut highest) = (i128::MAX, i128::MAX, i128::MIN, i128::MIN);
        for (clock, slack) in clocks.iter().zip(slack) {
            let error = clock.error_units(at);
            let (behind, ahead) = (slack.behind_ns * UNITS_PER_NS, slack.ahead_ns * UNITS_PER_NS);
            lowest = lowest.min(error - behind);
            least = least.min(error + ahead);
            most = most.max(error - behind);
            highest = highest.max(error + ahead);
        }
        if clocks.is_empty() {
            return;
        }
        let unit = UNITS_PER_NS.unsigned_abs();
        self.certain_ns = self.certain_ns.max((most - least).max(0).unsigned_abs() / unit);
        self.possible_ns = self.possible_ns.max((highest - lowest).unsigned_abs().div_ceil(unit));
    }
}

#[derive(Clone, Copy)]
enum Change {
    Boot,
    Correct,
    End(FaultId),
    Begin(FaultId, ClockFault),
}

/// What happens to clocks at a time known from the plan, up to quiescence, in order.
fn timeline(nodes: &[NodePlan], faults: &[Fault], quiesce: SimTime) -> Vec<(SimTime, usize, Change)> {
    let mut changes = Vec::new();
    for (node, plan) in nodes.iter().enumerate() {
        changes.push((SimTime(0), node, Change::Boot));
        if plan.clock.corrected_after_us > 0 && plan.clock.wrong_at_boot_ms != 0 {
            changes.push((SimTime::from_us(plan.clock.corrected_after_us), node, Change::Correct));
        }
    }
    for fault in faults {
        let (When::Time { us }, FaultKind::Clock { node, fault: kind }) = (fault.at, &fault.kind) else {
            continue;
        };
        if node.index() < nodes.len() {
            let at = SimTime::from_us(us);
            changes.push((at, node.index(), Change::Begin(fault.id, *kind)));
            if let Some(until_us) = fault.until_us {
                changes.push((SimTime::from_us(until_us).max(at), node.index(), Change::End(fault.id)));
            }
        }
    }
    changes.retain(|(at, ..)| *at < quiesce);
    // Stable: what the plan names first happens first.
    changes.sort_by_key(|(at, ..)| *at);
    changes
}

/// How much further a clock may be from true time because of what has no time in the plan.
struct Slack {
    behind_ns: i128,
    ahead_ns: i128,
}

impl Slack {
    fn of(node: &NodePlan, faults: &[Fault], quiesce: SimTime) -> Self {
        let mut slack = Self { behind_ns: 0, ahead_ns: 0 };
        let run_ns = i128::from(quiesce.0);
        let reboots = faults.iter().any(|fault| {
            matches!(&fault.kind, FaultKind::Crash { node: whose, death: Death::Power, .. } if *whose == node.id)
        });
        if reboots && node.clock.corrected_after_us > 0 {
            slack.add(i128::from(node.clock.wrong_at_boot_ms) * 1_000_000);
        }
        for fault in faults {
            let FaultKind::Clock { node: whose, fault: kind } = &fault.kind else { continue };
            if *whose != node.id {
                continue;
            }
            let timed = matches!(fault.at, When::Time { .. });
            match *kind {
                ClockFault::BehindAtBoot { by_ms } if reboots => slack.add(-i128::from(by_ms) * 1_000_000),
                ClockFault::Step { by_ms } if !timed => slack.add(i128::from(by_ms) * 1_000_000),
                // Rounded away from zero.
                ClockFault::Drift { ppm } if !timed => {
                    let ns = (run_ns * i128::from(ppm.unsigned_abs()) + 999_999) / 1_000_000;
                    slack.add(if ppm < 0 { -ns } else { ns });
                }
                ClockFault::Freeze if !timed => slack.add(-run_ns),
                _ => {}
            }
        }
        slack
    }

    fn add(&mut self, ns: i128) {
        if ns < 0 { self.behind_ns -= ns } else { self.ahead_ns += ns }
    }
}
