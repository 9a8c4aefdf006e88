//! A plan in words: one sentence for each action and fault, in the order in which they are written down.
//!
//! Promise: every number that decides what an action or fault does is in its sentence, exactly.

mod acts;
mod faults;
#[cfg(test)]
mod tests;

use groundhog_sim::plan::{Act, Action, Burst, FrameName, MailAct, Plan, Route};
use groundhog_sim::units::NodeId;

/// Its sentences: actions in order of time, then faults.
pub fn sentences(plan: &Plan) -> Vec<String> {
    let mut actions: Vec<&Action> = plan.actions.iter().collect();
    actions.sort_by_key(|action| (action.at_us, action.id));
    let actions = actions.into_iter().map(action);
    actions.chain(plan.faults.iter().map(|fault| faults::sentence(plan, fault))).collect()
}

/// Simulated time, exactly: `50 ms`, `1.5 s`, `48.213 ms`, `320 us`.
pub fn time(us: u64) -> String {
    let (unit_us, unit) = match us {
        0..1_000 => return format!("{us} us"),
        1_000_000.. if us.is_multiple_of(1_000) => (1_000_000, "s"),
        _ => (1_000, "ms"),
    };
    let (whole, rest) = (us / unit_us, us % unit_us);
    let decimals = format!("{:0width$}", rest, width = if unit_us == 1_000 { 3 } else { 6 });
    let decimals = decimals.trim_end_matches('0');
    if decimals.is_empty() { format!("{whole} {unit}") } else { format!("{whole}.{decimals} {unit}") }
}

/// `1 node`, `2 nodes`.
pub fn counted(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{}{plural}", format_args!("{} {one}", groundhog_reports::count(count)))
}

/// `1st`, `2nd`, `3rd`, `4th`.
fn nth(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn action(action: &Action) -> String {
    let (at, node) = (time(action.at_us), action.node);
    match &action.act {
        Act::Send(burst) => format!("at {at} {node} sends {}", sent(burst)),
        Act::Join => format!("at {at} {node} joins the ring"),
        Act::Leave { hand_off: true } => {
            format!("at {at} {node} leaves the ring and hands over what it holds")
        }
        Act::Leave { hand_off: false } => format!("at {at} {node} leaves the ring without a word"),
        Act::RotateDelegatee => format!("at {at} {node} takes a fresh delegatee key"),
        Act::Mail(act) => format!("at {at} {}", mail(node, act)),
        Act::Replay { frame, to, lane } => {
            let lane = lane.map_or_else(String::new, |lane| format!(" on the {lane} lane"));
            format!("at {at} an adversary at {node} sends {} to {to} again{lane}", recorded(frame))
        }
        other => format!("at {at} {}", acts::words(node, other)),
    }
}

fn mail(node: NodeId, act: &MailAct) -> String {
    match act {
        MailAct::Lose => format!("every carrier loses its mail for {node}"),
        MailAct::LoseOne => format!("the first carrier of mail for {node} loses it"),
        MailAct::Unreachable { for_us } => {
            format!("{node} reaches none of its carriers for {}, and others are named to it", time(*for_us))
        }
        MailAct::Taking { after_us: None } => format!("the application of {node} takes no more mail"),
        MailAct::Taking { after_us: Some(after_us) } => {
            format!("the application of {node} takes its mail {} after it has it", time(*after_us))
        }
        MailAct::Flood { mails, every_us } => {
            let mails = counted(u64::from(*mails), "mail");
            format!("an adversary mails {node} under fresh accounts: {mails}, {} apart", time(*every_us))
        }
    }
}

fn sent(burst: &Burst) -> String {
    let count = u64::from(burst.count);
    let mut text = format!("{} to {}", counted(count, &format!("{} message", burst.class)), burst.to);
    if let Some(via) = burst.via {
        text.push_str(&format!(" through {via}"));
    }
    text.push_str(match burst.route {
        Route::Links => "",
        Route::Ring => " by the ring",
        Route::OutOfBand => " out of band",
    });
    if burst.bytes > 0 {
        let each = if count > 1 { " each" } else { "" };
        text.push_str(&format!(", {}{each}", counted(burst.bytes.into(), "byte")));
    }
    if count > 1 {
        let apart = match burst.every_us {
            0 => ", all at once".to_owned(),
            every_us => format!(", {} apart", time(every_us)),
        };
        text.push_str(&apart);
    }
    if burst.copies > 1 {
        let every = match burst.copy_every_us {
            0 => "at once".to_owned(),
            every_us => format!("every {}", time(every_us)),
        };
        text.push_str(&format!(", {} copies {every}", burst.copies));
    }
    for (every, what) in
        [(burst.cancel_reserve_every, "reservation"), (burst.cancel_admit_every, "admission")]
    {
        if every > 0 {
            let (caller, after) = (nth(every.into()), time(burst.cancel_after_us));
            let caller = if every == 1 { "every".to_owned() } else { format!("every {caller}") };
            text.push_str(&format!("; {caller} caller gives up its {what} after {after}"));
        }
    }
    text
}

fn recorded(frame: &FrameName) -> String {
    let FrameName { origin, destination, class, sequence, copy } = frame;
    let copy = if *copy == 0 { String::new() } else { format!(", copy {copy}") };
    format!("the recorded frame {class}#{sequence} of {origin} to {destination}{copy}")
}
