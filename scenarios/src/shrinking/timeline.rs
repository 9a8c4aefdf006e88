//! What happens in the run of a plan, up to its first failure, to lie beside the plan.

use crate::simulate::{self, Manner};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::plan::Plan;
use groundhog_sim::units::SimTime;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

/// The last so many events before the failure.
const LAST: usize = 40;

/// Lines that a run keeps at most while it is not known where it fails.
const MOST_LINES: usize = 100_000;

/// The last events of a plan's run before it breaks a law, a line each.
pub fn timeline(plan: &Plan) -> String {
    let lines: Arc<Mutex<VecDeque<(SimTime, String)>>> = Arc::default();
    let sink = {
        let lines = Arc::clone(&lines);
        Box::new(move |line: &Line<'_>| {
            let mut lines = lines.lock().expect("keeping lines does not panic");
            if lines.len() == MOST_LINES {
                lines.pop_front();
            }
            lines.push_back((line.at, line.text.to_owned()));
        })
    };
    let manner = Manner::plain(Arc::default());
    let outcome = match simulate::watch(plan, &manner, sink) {
        Ok(outcome) => outcome,
        Err(error) => return format!("{error}\n"),
    };
    let until = outcome.violations.first().map_or(SimTime(u64::MAX), |violation| violation.at);
    let lines = lines.lock().expect("keeping lines does not panic");
    let before: Vec<&String> = lines.iter().filter(|(at, _)| *at <= until).map(|(_, line)| line).collect();
    let last = &before[before.len().saturating_sub(LAST)..];
    let mut text = format!("The last {} of {} events before the failure:\n\n", last.len(), before.len());
    for line in last {
        let _ = writeln!(text, "{line}");
    }
    text
}
