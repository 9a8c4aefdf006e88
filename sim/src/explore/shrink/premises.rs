//! What the original plan kept to, and every candidate must keep to as well: outside of it a broken law is no finding.

use crate::plan::{Act, Plan};
use crate::units::SimTime;
use crate::world::clock;

/// The premises of one plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Premises {
    /// Any two clocks differ by at most the tolerance over the whole run.
    clocks_within_tolerance: bool,
    /// Where the law was broken by what had not happened when the run ended: how long the run went on, at least, after
    /// quiescence and after the last message.
    patience: Option<Patience>,
}

#[derive(Clone, Copy, Debug)]
struct Patience {
    after_quiescence_us: u64,
    after_last_message_us: u64,
}

impl Premises {
    /// The premises that this plan kept to. `judged_at_the_end` when its run broke the law only as it ended, and nothing but
    /// time says how long a message may take.
    pub(super) fn of(plan: &Plan, judged_at_the_end: bool) -> Self {
        Self {
            clocks_within_tolerance: clocks_within_tolerance(plan),
            patience: judged_at_the_end.then(|| Patience::of(plan)),
        }
    }

    /// Whether a candidate keeps to them.
    pub(super) fn hold(&self, candidate: &Plan) -> bool {
        let patient = self.patience.is_none_or(|least| {
            let now = Patience::of(candidate);
            now.after_quiescence_us >= least.after_quiescence_us
                && now.after_last_message_us >= least.after_last_message_us
        });
        patient && (!self.clocks_within_tolerance || clocks_within_tolerance(candidate))
    }
}

impl Patience {
    fn of(plan: &Plan) -> Self {
        let last_message_us = plan.actions.iter().map(|action| match &action.act {
            Act::Send(burst) => {
                let lasts_us = burst.every_us.saturating_mul(u64::from(burst.count.saturating_sub(1)));
                action.at_us.saturating_add(lasts_us)
            }
            Act::Flood(flood) => {
                let lasts_us = flood.every_us.saturating_mul(u64::from(flood.count.saturating_sub(1)));
                action.at_us.saturating_add(lasts_us)
            }
            Act::Signalling(signalling) => {
                let after = u64::from(signalling.count.saturating_sub(1));
                action.at_us.saturating_add(signalling.every_us.saturating_mul(after))
            }
            Act::Reconnect(reconnect) => action.at_us.saturating_add(reconnect.after_us),
            Act::RotateDelegatee | Act::Replay { .. } | Act::PutBack(_) => action.at_us,
            Act::SecondRuntime(second) => action.at_us.saturating_add(second.lasts_us.unwrap_or(0)),
            Act::Mail(_) => action.at_us,
            Act::Join | Act::Leave { .. } => action.at_us,
        });
        Self {
            after_quiescence_us: plan.end_us - plan.quiesce_us,
            after_last_message_us: plan.end_us.saturating_sub(last_message_us.max().unwrap_or(0)),
        }
    }
}

fn clocks_within_tolerance(plan: &Plan) -> bool {
    let spread = clock::spread(&plan.nodes, &plan.faults, SimTime::from_us(plan.quiesce_us));
    spread.possible_ns <= u128::from(plan.engines.clock_tolerance_ms) * 1_000_000
}
