//! What every page has: its head, its style, its verdict.

use crate::format::{count, duration};
use crate::totals::Totals;
use groundhog_engine::flaws::Flaw;
use groundhog_sim::outcome::{Cut, LastPoll, Violation};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::time::Duration;

const STYLE: &str = include_str!("style.css");

/// A whole page around `body`.
pub(super) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " \u{2013} Groundhog" }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// The word that stands for a verdict, in capitals.
pub(crate) fn verdict_word(verdict: &str) -> &'static str {
    match verdict {
        "held" => "HELD",
        "failed" => "FAILED",
        "cut" => "CUT SHORT",
        "differs" => "DIFFERS",
        "none" => "NONE",
        _ => "MARKS MISSED",
    }
}

/// The line under the title.
pub(super) fn verdict_line(verdict: &'static str, words: &str) -> Markup {
    html! { p.verdict.(verdict) { b { (verdict_word(verdict)) } (words) } }
}

/// A broken law: what it saw, where, and how to see it again.
pub(super) fn alarm(violation: &Violation, scenario: Option<&str>, words: &str, repeat: &str) -> Markup {
    html! {
        div.alarm {
            h2 { code { (violation.law) } @if let Some(scenario) = scenario { " in " (scenario) } }
            p { (violation.saw) }
            p.soft { (whereabouts(violation)) "; " (words) }
            pre { (repeat) }
        }
    }
}

/// Where and when a violation was seen.
pub(crate) fn whereabouts(violation: &Violation) -> String {
    match violation.node {
        Some(node) => format!("{node}, t = {}", violation.at),
        None => format!("t = {}", violation.at),
    }
}

/// A run that ended early: why, and how to see it again.
pub(super) fn cut_alarm(cut: &Cut, scenario: Option<&str>, seeds: &str, repeat: &str) -> Markup {
    html! {
        div.alarm.cut {
            h2 { "Ended early: " (cut_words(cut)) @if let Some(scenario) = scenario { " in " (scenario) } }
            p.soft { "A run that did not end proves nothing about what it did not reach. " (seeds) }
            pre { (repeat) }
        }
    }
}

/// Why a run ended early.
pub(crate) fn cut_words(cut: &Cut) -> String {
    match cut {
        Cut::Polls { limit, last } => format!("more than {} polls{}", count(*limit), by(last.as_ref())),
        Cut::Livelock { limit, last } => {
            format!("more than {} polls at one instant{}", count(*limit), by(last.as_ref()))
        }
        Cut::Memory { limit_bytes } => format!("more than {} bytes of memory", count(*limit_bytes)),
        Cut::Watchdog { limit_ms } => format!("more than {} ms of real time", count(*limit_ms)),
        Cut::Interrupted => "interrupted from outside".to_owned(),
    }
}

fn by(last: Option<&LastPoll>) -> String {
    let words = |LastPoll { node, life, task }: &LastPoll| {
        format!(", the last of {node} in life {} by its task {task}", life.0)
    };
    last.map_or_else(String::new, words)
}

/// Real time, said to be real wherever it stands.
pub(crate) fn real(real: Duration) -> String {
    duration(u64::try_from(real.as_nanos()).unwrap_or(u64::MAX))
}

/// Simulated time, which may be the sum of many runs.
pub(crate) fn simulated(ns: u128) -> String {
    duration(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// The flaws that were on, each with what it does.
pub(super) fn flaws(totals: &Totals) -> Markup {
    html! {
        @for id in &totals.flaws {
            p.note {
                "Flaw on: " code { (id) } ". "
                @if let Some(flaw) = Flaw::from_id(id) { (flaw.summary()) }
            }
        }
    }
}

/// How signatures were made.
pub(super) fn signatures(totals: &Totals) -> &'static str {
    if totals.keyed_hash {
        "replaced by a keyed hash (same verdicts for the same plan; keys are real)"
    } else {
        "real Ed25519"
    }
}
