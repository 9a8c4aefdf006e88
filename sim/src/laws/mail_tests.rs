use super::*;
use crate::laws::fake::{COPY, Ledger, transaction};
use crate::plan::{ClockPlan, Death, NodePlan};
use groundhog_engine::units::WallMs;

const INBOX: crate::ledger::event::Passage = crate::ledger::event::Passage::FROM_INBOX;
const FIRST: Answer = Answer::Verdict(VerdictKind::First);
const REPLAY: Answer = Answer::Verdict(VerdictKind::Replay);
const STALE: Answer = Answer::Verdict(VerdictKind::Stale);
const AGAIN: Answer = Answer::Verdict(VerdictKind::Redelivered);

/// What happens to one mail for node 3.
enum Does {
    Mail(MailStep),
    Delivered(Answer),
    /// It arrives, and the process dies before anybody is told.
    Unanswered,
    Direct,
    Later(u64),
}

use Does::{Delivered, Direct, Later, Unanswered};

fn held(asked: u8) -> Does {
    Does::Mail(MailStep::Held { owner: NodeId(1), copies: 1, asked })
}

fn gone(why: MailGone) -> Does {
    Does::Mail(MailStep::Gone { why })
}

const TAKING: Does = Does::Mail(MailStep::Taking);
const TAKEN: Does = Does::Mail(MailStep::Taken);
const STORED: Does = Does::Mail(MailStep::Stored);

fn sent() -> Transaction {
    Transaction { expires: WallMs(1_000), ..transaction(1, 3, 41, 7) }
}

fn saw(does: &[Does]) -> Vec<String> {
    let mut plan = Ledger::plan();
    plan.nodes =
        (0..4).map(|id| NodePlan { id: NodeId(id), cores: 1, clock: ClockPlan::default() }).collect();
    let mut ledger = Ledger::over(Mail::new(&Ledger::setting_of(plan)));
    let sent = sent();
    let mut wall = WallMs(0);
    for does in does {
        let (message, node, life) = (None, NodeId(3), ledger.life(3));
        match does {
            Does::Mail(step) => {
                ledger.event(&Event::Mail { message, node, life, transaction: &sent, step: *step });
            }
            Delivered(answer) => {
                ledger.arrived_at(3, wall, &sent, INBOX);
                ledger.answered(3, &sent, INBOX, *answer);
            }
            Unanswered => {
                ledger.arrived_at(3, wall, &sent, INBOX);
                ledger.died(3, Death::Process);
            }
            Direct => ledger.arrived_at(3, wall, &sent, COPY),
            Later(until) => wall = WallMs(*until),
        }
    }
    ledger.finish()
}

#[test]
fn mail_that_is_somewhere_or_taken_or_lost_by_a_named_cause_is_in_order() {
    let good: [&[Does]; 12] = [
        &[held(3), STORED],
        &[held(3), Delivered(FIRST), TAKING, TAKEN, gone(MailGone::Fetched)],
        &[held(3), Delivered(FIRST), STORED],
        &[held(3), Delivered(FIRST), Delivered(AGAIN), TAKING, TAKEN, gone(MailGone::Fetched)],
        &[held(3), gone(MailGone::LostEverywhere)],
        &[held(3), gone(MailGone::PushedOut)],
        &[held(1), gone(MailGone::Expired)],
        &[held(3), gone(MailGone::CarrierLost)],
        &[held(3), Delivered(STALE), gone(MailGone::Fetched)],
        &[held(3), Direct, Delivered(REPLAY), gone(MailGone::Fetched)],
        &[held(3), Delivered(FIRST), TAKING, Delivered(REPLAY), gone(MailGone::Fetched)],
        &[held(3), Unanswered, Delivered(AGAIN), STORED],
    ];
    for (case, does) in good.iter().enumerate() {
        assert_eq!(saw(does), Vec::<String>::new(), "case {case}");
    }
}

#[test]
fn mail_that_is_taken_twice_or_is_nowhere_breaks_it() {
    let bad: [(&[Does], &str); 8] = [
        (&[held(3), Delivered(FIRST), TAKING, TAKEN, TAKEN, STORED], "taken twice"),
        (&[held(3), TAKEN, STORED], "without having been delivered"),
        (&[held(3)], "nothing says why"),
        (&[held(3), gone(MailGone::Fetched)], "neither took nor refused"),
        (&[held(1), gone(MailGone::CarrierLost)], "no other was asked"),
        (&[held(3), Delivered(FIRST), Delivered(REPLAY), STORED], "as a replay, and nobody had taken it"),
        (&[held(3), Unanswered, Delivered(REPLAY), STORED], "as a replay, and nobody had taken it"),
        (&[held(3), Delivered(FIRST), Delivered(STALE), STORED], "as stale, and it was in custody"),
    ];
    for (does, why) in bad {
        let saw = saw(does);
        assert_eq!(saw.len(), 1, "{why}: {saw:?}");
        assert!(saw[0].contains(why), "{why}: {saw:?}");
    }
}

#[test]
fn after_its_last_instant_a_mail_may_be_forgotten() {
    let last = super::super::lifespan::spent(&sent()).0;
    for (wall, breaks) in [(last, 1), (last + 1, 0)] {
        let does = [held(3), Delivered(FIRST), Later(wall), Delivered(STALE), STORED];
        assert_eq!(saw(&does).len(), breaks, "{wall}");
    }
}
