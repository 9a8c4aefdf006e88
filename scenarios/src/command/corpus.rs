//! `groundhog corpus`: do the kept plans still show what they were kept for?

use super::CallError;
use super::run::{joined, print_failures, program};
use crate::campaign::interrupt::Interrupt;
use crate::corpus::{self, Entry};
use crate::exit::Exit;
use crate::print::text;
use crate::scenario_file::nearest;
use crate::simulate::Manner;
use crate::target::TargetError;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Arguments {
    /// Kept plans to run, by name; all of them when none is named.
    names: Vec<String>,
    /// The folder of kept plans.
    #[arg(long, value_name = "DIR", default_value_os_t = corpus::default_folder())]
    corpus: PathBuf,
    /// Plans at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// List what is kept, and run nothing.
    #[arg(long)]
    list: bool,
}

/// Runs or lists them.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let entries = chosen(arguments)?;
    if arguments.list {
        text::out(&listed(&entries));
        return Ok(Exit::Held);
    }
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let manner = Manner::plain(interrupt.stop());
    let jobs = arguments.jobs.map_or_else(crate::campaign::cores, usize::from);
    let left = |plans| corpus::left(plans, &arguments.corpus, "interrupted before", Some(arguments.repeat()));
    let account = interrupt.during(
        || print_failures(&[left(entries.len() as u64)], false),
        || corpus::examine_all(&entries, jobs, &manner, || {}),
    );
    text::out(&account.line(&arguments.corpus));
    let mut failures = account.failures(&|entry| repeat(&arguments.corpus, &entry.name));
    failures.extend((account.left > 0).then(|| left(account.left)));
    Ok(print_failures(&failures, false))
}

impl Arguments {
    /// The command that examines the same plans again.
    fn repeat(&self) -> String {
        let mut words = vec![program(), "corpus".to_owned()];
        words.extend(self.names.iter().cloned());
        words.extend(folder_words(&self.corpus));
        joined(&words)
    }
}

/// The command that examines one kept plan.
pub fn repeat(folder: &std::path::Path, name: &str) -> String {
    let mut words = vec![program(), "corpus".to_owned(), name.to_owned()];
    words.extend(folder_words(folder));
    joined(&words)
}

/// The option that names the folder, where it is not the one that is meant anyway.
fn folder_words(folder: &std::path::Path) -> Vec<String> {
    if folder == corpus::default_folder() {
        return Vec::new();
    }
    vec!["--corpus".to_owned(), folder.display().to_string()]
}

fn chosen(arguments: &Arguments) -> Result<Vec<Entry>, CallError> {
    let folder = &arguments.corpus;
    if !folder.is_dir() {
        return Err(TargetError::Call(format!(
            "{} is no folder of kept plans; name one with --corpus, or keep a first plan with `groundhog keep`",
            folder.display()
        ))
        .into());
    }
    let entries = corpus::read(folder)?;
    for name in &arguments.names {
        if entries.iter().all(|entry| entry.name != *name) {
            let nearest = nearest(name, entries.iter().map(|entry| entry.name.as_str())).map(str::to_owned);
            return Err(TargetError::Name { kind: "kept plan", name: name.clone(), nearest }.into());
        }
    }
    let asked = |entry: &Entry| arguments.names.is_empty() || arguments.names.contains(&entry.name);
    Ok(entries.into_iter().filter(asked).collect())
}

fn listed(entries: &[Entry]) -> String {
    let width = usize::from(text::width());
    entries
        .iter()
        .map(|entry| {
            let flaws = if entry.plan.flaws.is_empty() {
                String::new()
            } else {
                format!(", with {}", entry.plan.flaws.join(", "))
            };
            let why = text::wrapped(&entry.why.reason, width - 2, 2);
            format!("{}\n  {} since {}{flaws}\n  {why}\n", entry.name, entry.why.law, entry.why.kept)
        })
        .collect()
}
