//! The folder that a run or a campaign leaves.

use crate::facts::{CampaignFacts, RunFacts};
use crate::folder::{ReportError, ReportFile, write_all};
use crate::hgrm::percentile_distribution;
use crate::summary;
use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::{Latency, Outcome};
use groundhog_sim::plan::Plan;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The page, `report.html`.
    pub page: PathBuf,
    /// Every file, the page first.
    pub files: Vec<PathBuf>,
}

const PAGE: &str = "report.html";
const SUMMARY: &str = "summary.json";
const PLAN: &str = "plan.json";

/// Files that the report of every run has.
pub const FILES_OF_A_RUN: &[&str] = &[PAGE, SUMMARY, PLAN];

/// Files that the report of every campaign has.
pub const FILES_OF_A_CAMPAIGN: &[&str] = &[PAGE, SUMMARY];

/// Writes the report of one run: `report.html`, `summary.json`, `plan.json`, and for each class that dispatched anything
/// `latency-<class>.hgrm` (from the intended time of sending) and `latency-<class>-uncorrected.hgrm` (from the actual one).
///
/// # Errors
/// Every variant of [`ReportError`]; no file is ever half-written.
pub fn write_run(
    folder: &Path,
    plan: &Plan,
    outcome: &Outcome,
    extra: &RunFacts,
) -> Result<Written, ReportError> {
    let totals = extra.totals(plan, outcome);
    let encode = |file, result: serde_json::Result<Vec<u8>>| {
        result.map_err(|source| ReportError::Encode { file, source })
    };
    let mut files = vec![
        file(PAGE, crate::page::of_run(plan, outcome, &totals, extra)?.into_bytes()),
        file(SUMMARY, encode(SUMMARY, summary::of_run(plan, outcome, &totals, extra))?),
        file(PLAN, plan.to_json().into_bytes()),
    ];
    for latency in totals.latencies.values() {
        files.extend(latency_files("", latency));
    }
    written(folder, &files)
}

/// Writes the report of many seeds: `report.html`, `summary.json`, and for each scenario and class the merged latencies,
/// `<scenario>-latency-<class>.hgrm` and `<scenario>-latency-<class>-uncorrected.hgrm`.
///
/// # Errors
/// Every variant of [`ReportError`]; no file is ever half-written.
pub fn write_campaign(folder: &Path, facts: &CampaignFacts<'_>) -> Result<Written, ReportError> {
    let summary =
        summary::of_campaign(facts).map_err(|source| ReportError::Encode { file: SUMMARY, source })?;
    let mut files = vec![file(PAGE, crate::page::of_campaign(facts)?.into_bytes()), file(SUMMARY, summary)];
    let mut stems = BTreeSet::new();
    for scenario in facts.scenarios {
        let mut stem = file_stem(&scenario.totals.scenario);
        while !stems.insert(stem.clone()) {
            stem.push_str("-again");
        }
        let prefix = format!("{stem}-");
        for latency in scenario.totals.latencies.values() {
            files.extend(latency_files(&prefix, latency));
        }
    }
    written(folder, &files)
}

/// Writes files, each by its name and text, into a folder, which is made where there is none.
///
/// # Errors
/// Every variant of [`ReportError`]; no file is ever half-written.
pub fn write_files(folder: &Path, files: Vec<(String, String)>) -> Result<(), ReportError> {
    let files: Vec<ReportFile> =
        files.into_iter().map(|(name, text)| file(&name, text.into_bytes())).collect();
    write_all(folder, &files, &[]).map(|_| ())
}

fn written(folder: &Path, files: &[ReportFile]) -> Result<Written, ReportError> {
    let files = write_all(folder, files, &older(folder))?;
    Ok(Written { page: files[0].clone(), files })
}

fn file(name: &str, content: Vec<u8>) -> ReportFile {
    ReportFile { name: name.to_owned(), content }
}

fn latency_name(prefix: &str, class: Class, corrected: bool) -> String {
    format!("{prefix}latency-{class}{}.hgrm", if corrected { "" } else { "-uncorrected" })
}

fn latency_files(prefix: &str, latency: &Latency) -> Vec<ReportFile> {
    if latency.from_intended.is_empty() {
        return Vec::new();
    }
    let both = [(true, &latency.from_intended), (false, &latency.from_sent)];
    let files = both.into_iter().map(|(corrected, histogram)| ReportFile {
        name: latency_name(prefix, latency.class, corrected),
        content: percentile_distribution(histogram).into_bytes(),
    });
    files.collect()
}

/// Files that an older report in the same folder left and the new one may lack: latencies of any scenario, the plan.
fn older(folder: &Path) -> Vec<String> {
    let ours = |name: &str| {
        let latency = |corrected| {
            let names = Class::ALL.map(|class| latency_name("", class, corrected));
            names.iter().any(|latency| {
                name.strip_suffix(latency.as_str())
                    .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('-'))
            })
        };
        name == PLAN || latency(true) || latency(false)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| ours(name)).collect()
}

/// A scenario's name as part of a file's name: whatever is neither letter, digit, dash nor underscore becomes a dash.
#[must_use]
pub fn file_stem(scenario: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    scenario.chars().map(|letter| if keep(letter) { letter } else { '-' }).collect()
}
