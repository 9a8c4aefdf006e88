//! One load on relay custody: so much mail is admitted, taken by nobody, and lost at every carrier; then a mail comes each
//! day.
//!
//! Promise: nothing else happens, every clock is right, and what is told was seen in the ledger's events. The formula is
//! reckoned from the plan's bounds and shares no code with the engine's.

use crate::simulate::{self, Manner};
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::streams::RELAY_INBOX_MAX_MS;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::record::CUSTODY_MAX_ENTRIES;
use groundhog_engine::units::WallMs;
use groundhog_sim::laws::stall_ends::CUSTODY_FULL;
use groundhog_sim::ledger::event::{Answer, Event, Transaction};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{
    Act, Action, Burst, Crypto, Death, Fault, FaultKind, MailAct, MailPlan, Plan, When, yardstick,
};
use groundhog_sim::run::RunError;
use groundhog_sim::units::{ActionId, FaultId, NodeId};

/// Whose custody it is.
const NODE: NodeId = NodeId(0);

/// Who mails to it, in turn.
const ORIGINS: [NodeId; 4] = [NodeId(1), NodeId(2), NodeId(3), NodeId(4)];

/// Time between two drain passes, in microseconds.
pub const DRAIN_US: u64 = 60_000_000;

/// How long the node is away while mail for it is sent.
const AWAY_US: u64 = 60_000_000;

/// From the last spent instant of custody to the end of a run.
const AFTER_MS: u64 = 600_000;

/// How long a pass may take until its delivery is at its admission, in milliseconds.
const PASS_MS: u64 = 1_000;

const DAY_US: u64 = 86_400_000_000;

/// Days on which a mail comes after the loss.
pub const DAYS: u64 = 7;

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Mails that are lost at every carrier.
    pub lost: u32,
    /// The lifetime of every transaction, in milliseconds.
    pub lifetime_ms: u64,
}

/// What the bounds make of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The most deliveries in custody.
    pub held: u64,
    /// How long after the first lost mail was signed nothing new is admitted; `None` where there is no stall.
    pub stalls_ms: Option<u64>,
}

/// What was seen of a load.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The most deliveries in custody.
    pub held: u64,
    /// How long after the first lost mail was signed a delivery was admitted again; `None` where none was ever refused.
    pub stalled_ms: Option<u64>,
    /// A delivery was refused, and none was admitted afterwards.
    pub going_on: bool,
    /// Deliveries that were refused.
    pub refused: u64,
    /// Mails that carriers gave up after seven days, undelivered.
    pub expired: u64,
}

impl Load {
    /// 64 deliveries fit; once they are in custody, the first to be spent is the first to leave.
    pub fn formula(&self, tolerance_ms: u64) -> Formula {
        let most = CUSTODY_MAX_ENTRIES as u64;
        let lost = u64::from(self.lost);
        // Where custody is not full of lost mail, the mail of a day finds its place and is taken.
        let held = if lost < most { lost + 1 } else { most };
        let stalls_ms = (lost >= most).then_some(self.lifetime_ms + RELAY_INBOX_MAX_MS + 2 * tolerance_ms);
        Formula { held, stalls_ms }
    }

    /// Runs it.
    pub fn run(&self, seed: u64, manner: &Manner) -> Result<(Formula, Seen, Outcome), RunError> {
        let plan = self.plan(seed);
        let formula = self.formula(plan.engines.clock_tolerance_ms);
        let watch = Watch { lifetime_ms: self.lifetime_ms, ..Watch::default() };
        let (outcome, watch) = simulate::gather(&plan, manner, watch, Watch::line)?;
        let expired = outcome.mail.get("expired").copied().unwrap_or(0);
        Ok((formula, watch.seen(expired), outcome))
    }

    fn plan(&self, seed: u64) -> Plan {
        let mut plan = yardstick::admissions(yardstick::FEWEST_NODES, 1, Crypto::KeyedHash);
        "size custody".clone_into(&mut plan.scenario);
        (plan.seed, plan.schedule_seed) = (seed, seed);
        plan.actions.clear();
        plan.engines.transaction_lifetime_ms = self.lifetime_ms;
        plan.engines.delegation_lifetime_ms = 30 * DAY_US / 1_000;
        plan.engines.mail = Some(MailPlan {
            lifetime_ms: RELAY_INBOX_MAX_MS,
            carrier_bytes: 1 << 30,
            drain_every_us: DRAIN_US,
            take_after_us: 10_000,
        });
        plan.quiesce_us = DAYS * DAY_US;
        plan.end_us = plan.quiesce_us + (self.lifetime_ms + AFTER_MS) * 1_000;
        let mut script = Script { plan };
        script.lose(self.lost);
        for day in 0..DAYS {
            script.mail(day);
        }
        script.plan
    }
}

/// Puts a plan together.
struct Script {
    plan: Plan,
}

impl Script {
    /// Mail is admitted and taken by nobody, every carrier loses it, and the process that knew of it dies.
    fn lose(&mut self, lost: u32) {
        let begin_us = 1_000_000;
        self.act(begin_us, NODE, Act::Mail(MailAct::Taking { after_us: None }));
        self.away(begin_us, AWAY_US);
        let origins = ORIGINS.len() as u32;
        for (origin, place) in ORIGINS.into_iter().zip(0..) {
            let count = lost / origins + u32::from(place < lost % origins);
            if count > 0 {
                let every_us = AWAY_US / 2 / u64::from(count);
                self.send(begin_us + 1_000_000, origin, count, every_us);
            }
        }
        let died_us = begin_us + AWAY_US + 5 * DRAIN_US / 2;
        self.act(died_us - 1_000, NODE, Act::Mail(MailAct::Lose));
        self.away(died_us, 30_000);
        self.act(died_us + 1_000, NODE, Act::Mail(MailAct::Taking { after_us: Some(10_000) }));
    }

    /// The node is away, and one mail comes.
    fn mail(&mut self, day: u64) {
        let at_us = day * DAY_US + AWAY_US + 6 * DRAIN_US;
        self.away(at_us, AWAY_US);
        self.send(at_us + AWAY_US / 4, ORIGINS[day as usize % ORIGINS.len()], 1, 0);
    }

    fn send(&mut self, at_us: u64, from: NodeId, count: u32, every_us: u64) {
        let burst = Burst { count, every_us, ..Burst::one(NODE, Class::Application) };
        self.act(at_us, from, Act::Send(burst));
    }

    fn act(&mut self, at_us: u64, node: NodeId, act: Act) {
        let id = ActionId(u32::try_from(self.plan.actions.len()).expect("a handful of acts"));
        self.plan.actions.push(Action { id, at_us, node, act });
    }

    fn away(&mut self, us: u64, down_us: u64) {
        let id = FaultId(u32::try_from(self.plan.faults.len()).expect("a handful of faults"));
        let kind = FaultKind::Crash { node: NODE, death: Death::Process, down_us, survivors: None };
        self.plan.faults.push(Fault { id, at: When::Time { us }, until_us: None, kind });
    }
}

/// Watches the node's inbox.
#[derive(Default)]
struct Watch {
    lifetime_ms: u64,
    held: u64,
    /// When the first mail was signed that is in custody.
    signed: Option<WallMs>,
    /// The clock at the delivery that is at its admission.
    arrived: WallMs,
    stalled: bool,
    stalled_ms: Option<u64>,
    refused: u64,
}

impl Watch {
    fn line(&mut self, line: &Line<'_>) {
        match *line.event {
            Event::Engine { node: NODE, event: EngineEvent::Custody { held, .. }, .. } => {
                self.held = self.held.max(u64::from(held));
            }
            Event::Arrived { node: NODE, wall, passage, .. } if passage.is_from_inbox() => {
                self.arrived = wall;
            }
            Event::Answered { node: NODE, transaction, passage, answer, .. } if passage.is_from_inbox() => {
                self.answered(transaction, answer);
            }
            _ => {}
        }
    }

    fn answered(&mut self, transaction: &Transaction, answer: Answer) {
        match answer {
            Answer::Verdict(verdict) if verdict.admits() => {
                let signed = WallMs(transaction.expires.0 - self.lifetime_ms);
                let first = *self.signed.get_or_insert(signed);
                self.signed = Some(first.min(signed));
                if std::mem::take(&mut self.stalled) {
                    self.stalled_ms = Some(self.arrived.0 - first.0);
                }
            }
            Answer::Refused(CUSTODY_FULL) => {
                self.stalled = true;
                self.refused += 1;
            }
            _ => {}
        }
    }

    fn seen(&self, expired: u64) -> Seen {
        Seen {
            held: self.held,
            stalled_ms: self.stalled_ms,
            going_on: self.stalled,
            refused: self.refused,
            expired,
        }
    }
}

impl Seen {
    /// Where what was seen is not what the formula says. A stall is over once the first delivery is spent, and seen to be at
    /// the next drain pass.
    pub fn differs(&self, formula: &Formula) -> Option<String> {
        if self.held != formula.held {
            return Some(format!(
                "at most {} deliveries were in custody, and {} by the formula",
                self.held, formula.held
            ));
        }
        if self.going_on {
            return Some("a stall had not ended when the run did".to_owned());
        }
        match (self.stalled_ms, formula.stalls_ms) {
            (None, None) => None,
            (Some(seen), Some(least)) => {
                let most = least + DRAIN_US / 1_000 + PASS_MS;
                let within = least < seen && seen <= most;
                (!within).then(|| format!("admitted again after {seen} ms, and by the formula after {least} ms and at most {most} ms"))
            }
            (Some(seen), None) => Some(format!("stalled for {seen} ms, and by the formula not at all")),
            (None, Some(least)) => Some(format!("did not stall, and by the formula for {least} ms")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custody_stalls_from_64_on_until_the_first_of_them_is_spent() {
        let formula = |lost, lifetime_ms| Load { lost, lifetime_ms }.formula(3_000);
        assert_eq!(formula(63, 600_000), Formula { held: 64, stalls_ms: None });
        for lost in [64, 65, 200] {
            let stalls_ms = Some(604_800_000 + 600_000 + 6_000);
            assert_eq!(formula(lost, 600_000), Formula { held: 64, stalls_ms });
        }
        assert_eq!(formula(0, 1), Formula { held: 1, stalls_ms: None });
    }

    #[test]
    fn what_was_seen_is_held_against_the_formula() {
        let formula = Formula { held: 64, stalls_ms: Some(1_000) };
        let seen = |held, stalled_ms| Seen { held, stalled_ms, ..Seen::default() };
        let differs = |seen: Seen| seen.differs(&formula).is_some();
        for (after_ms, wrong) in [(1_000, true), (1_001, false), (62_000, false), (62_001, true)] {
            assert_eq!(differs(seen(64, Some(after_ms))), wrong, "{after_ms} ms");
        }
        assert!(differs(seen(63, Some(1_001))) && differs(seen(64, None)));
        assert!(differs(Seen { going_on: true, ..seen(64, Some(1_001)) }));
        assert!(seen(64, Some(9)).differs(&Formula { held: 64, stalls_ms: None }).is_some());
        assert_eq!(seen(64, None).differs(&Formula { held: 64, stalls_ms: None }), None);
    }

    #[test]
    fn the_plan_is_one() {
        for (lost, lifetime_ms) in [(0, 1), (1, 60_000), (200, 6_000_000)] {
            Load { lost, lifetime_ms }.plan(0).check().expect("a plan");
        }
    }
}
