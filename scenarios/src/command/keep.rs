//! `groundhog keep`: a plan into the corpus, with law, date and reason.

use super::CallError;
use super::shrink::law_beside;
use crate::corpus;
use crate::exit::Exit;
use crate::print::text;
use crate::scenario_file::nearest;
use crate::simulate::{self, Manner};
use crate::target::{self, Source, TargetError};
use clap::Args;
use groundhog_sim::laws::catalogue::LAWS;
use groundhog_sim::plan::Plan;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Args)]
pub struct Arguments {
    /// The plan; a shrunk one is worth most.
    plan: String,
    /// Why it is kept, in a sentence.
    #[arg(long, value_name = "TEXT", value_parser = sentence)]
    reason: String,
    /// The law that it breaks; needed where it breaks none any more, or several and the file beside it does not say for
    /// which it was cut down.
    #[arg(long, value_name = "ID")]
    law: Option<String>,
    /// The name of the entry.
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// The folder of kept plans.
    #[arg(long, value_name = "DIR", default_value_os_t = corpus::default_folder())]
    corpus: PathBuf,
}

fn sentence(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("expected a reason".to_owned()) } else { Ok(text.to_owned()) }
}

fn name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("expected letters, digits, - and _".to_owned())
    }
}

/// Keeps it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let plan = plan(&arguments.plan)?;
    let law = law(&plan, arguments)?;
    let name = arguments.name.clone().unwrap_or_else(|| corpus::name_of(&plan, &law));
    let path = corpus::keep(&arguments.corpus, &name, &plan, &law, &arguments.reason)?;
    let expects = if plan.flaws.is_empty() {
        format!("{law} to hold")
    } else {
        format!("{law} to break with its flaws and to hold without them")
    };
    text::out(&format!(
        "KEPT     {}\n  law      {law}\n  reason   {}\n  expects  {expects}, under 16 schedule seeds\n",
        path.display(),
        arguments.reason
    ));
    Ok(Exit::Held)
}

fn plan(named: &str) -> Result<Plan, CallError> {
    match target::find(named, &[])?.pop().map(|target| target.source) {
        Some(Source::Plan(plan)) => Ok(*plan),
        _ => Err(TargetError::NotAPlan { path: PathBuf::from(named) }.into()),
    }
}

/// The law that the plan is kept for: the one that was named, or the one that it breaks.
fn law(plan: &Plan, arguments: &Arguments) -> Result<String, CallError> {
    let call = |text: String| CallError::from(TargetError::Call(text));
    if let Some(law) = &arguments.law {
        let ids = || LAWS.iter().map(|law| law.id);
        if !ids().any(|id| id == law) {
            let nearest = nearest(law, ids()).map(str::to_owned);
            return Err(TargetError::Name { kind: "law", name: law.clone(), nearest }.into());
        }
    }
    let manner = Manner::plain(Arc::default());
    let outcome = simulate::simulate(plan, &manner)?;
    let mut broken: Vec<&str> = outcome.violations.iter().map(|violation| violation.law).collect();
    broken.sort_unstable();
    broken.dedup();
    let beside = law_beside(Path::new(&arguments.plan));
    match (&arguments.law, &broken[..]) {
        (Some(law), broken) if plan.flaws.is_empty() || broken.contains(&law.as_str()) => Ok(law.clone()),
        (Some(law), _) => Err(call(format!("{} does not break {law}", arguments.plan))),
        (None, [law]) => Ok((*law).to_owned()),
        (None, []) => Err(call(format!(
            "{} breaks no law; where it did before a change, name the law with --law",
            arguments.plan
        ))),
        (None, several) if beside.as_deref().is_some_and(|beside| several.contains(&beside)) => {
            Ok(beside.expect("it is one of them"))
        }
        (None, several) => Err(call(format!(
            "{} breaks {}; name with --law the one that it is kept for",
            arguments.plan,
            several.join(", ")
        ))),
    }
}
