//! What a person asks to run: a scenario of the catalogue, all of them, a scenario file, or a plan.

use crate::catalogue::{CATALOGUE, PLANS};
use crate::names;
use crate::scenario_file::{self, ScenarioError, Setting, nearest};
use groundhog_engine::flaws::Flaw;
use groundhog_sim::plan::{Plan, PlanError, Scenario, generate, generate_swarm};
use std::path::{Path, PathBuf};

/// Something that plans come from.
#[derive(Clone, Debug)]
pub struct Target {
    /// As the command line names it.
    pub spelled: String,
    /// Where plans come from.
    pub source: Source,
    /// Whether it is a scenario of the catalogue as it stands, with no setting on top.
    pub pristine: bool,
    /// Whether each seed has kinds of fault off, light or heavy.
    pub swarm: bool,
}

/// Where plans come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Drawn from a scenario.
    Scenario(Box<Scenario>),
    /// Written down.
    Plan(Box<Plan>),
}

impl Target {
    /// The plan of one seed; a written plan has its own.
    pub fn plan(&self, seed: u64, flaws: &[Flaw]) -> Plan {
        let mut plan = match &self.source {
            Source::Scenario(scenario) if self.swarm => generate_swarm(scenario, seed),
            Source::Scenario(scenario) => generate(scenario, seed),
            Source::Plan(plan) => (**plan).clone(),
        };
        for flaw in flaws {
            if !plan.flaws.iter().any(|id| id == flaw.id()) {
                plan.flaws.push(flaw.id().to_owned());
            }
        }
        plan
    }

    /// Of a thousand seeds of a series over several targets, so many are run.
    pub fn seeds_per_thousand(&self) -> u64 {
        match &self.source {
            Source::Scenario(scenario) => scenario.seeds_per_thousand.into(),
            Source::Plan(_) => 1_000,
        }
    }

    /// The scenario's name, as plans carry it.
    pub fn scenario(&self) -> &str {
        match &self.source {
            Source::Scenario(scenario) => &scenario.name,
            Source::Plan(plan) => &plan.scenario,
        }
    }
}

/// Why there is nothing to run: the call or a file is wrong.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No scenario is called so, and no file is there.
    #[error("no scenario or file is called `{name}`{}", near(.nearest.as_deref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is neither a scenario nor a plan.
    #[error("{path} is neither a scenario (.toml) nor a plan (.json)", path = .path.display())]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// The scenario is wrong.
    #[error("{0}")]
    Scenario(#[from] ScenarioError),
    /// The plan is wrong.
    #[error("{path}: {source}", path = .path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PlanError,
    },
    /// An option needs a scenario to draw from.
    #[error("{option} draws from a scenario, and {path} is a plan, which is one run already", path = .path.display())]
    OnlyScenarios {
        /// The option.
        option: &'static str,
        /// The plan's file.
        path: PathBuf,
    },
    /// No flaw, law, mark or limit is called so.
    #[error("no {kind} is called `{name}`{}", near(.nearest.as_deref()))]
    Name {
        /// A flaw, a law, a mark, a limit.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
    },
    /// A plan is needed.
    #[error("{path} is no plan: `groundhog plan` and `groundhog run --out` write them", path = .path.display())]
    NotAPlan {
        /// What was named.
        path: PathBuf,
    },
    /// Options that cannot be, or not together.
    #[error("{0}")]
    Call(String),
    /// What was asked for gives a plan that cannot be run.
    #[error("{culprit} gives a plan that cannot be run: {why}; set another value")]
    Unfit {
        /// The setting, or the file.
        culprit: String,
        /// What is wrong with the plan.
        why: String,
    },
    /// A setting without a value.
    #[error("--set {0}: expected key=value")]
    Setting(String),
}

fn near(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; the nearest is `{near}`"))
}

/// Reads every `--set key=value`.
pub fn settings(texts: &[String]) -> Result<Vec<Setting>, TargetError> {
    texts.iter().map(|text| setting(text)).collect()
}

/// Reads every `--flaw id`.
pub fn flaws(ids: &[String]) -> Result<Vec<Flaw>, TargetError> {
    ids.iter().map(|id| flaw(id)).collect()
}

/// Reads the id of a law.
pub fn law(id: &str) -> Result<String, TargetError> {
    let laws = names::all(names::Kind::Laws);
    if laws.iter().any(|law| law.name == id) {
        return Ok(id.to_owned());
    }
    let nearest = nearest(id, laws.iter().map(|law| law.name)).map(str::to_owned);
    Err(TargetError::Name { kind: "law", name: id.to_owned(), nearest })
}

fn setting(text: &str) -> Result<Setting, TargetError> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok(Setting { key: key.trim().to_owned(), value: value.trim().to_owned() })
        }
        _ => Err(TargetError::Setting(text.to_owned())),
    }
}

fn flaw(id: &str) -> Result<Flaw, TargetError> {
    let unknown = || TargetError::Name {
        kind: "flaw",
        name: id.to_owned(),
        nearest: nearest(id, Flaw::ALL.iter().map(|flaw| flaw.id())).map(str::to_owned),
    };
    Flaw::from_id(id).ok_or_else(unknown)
}

/// What `name` stands for.
pub fn find(name: &str, settings: &[Setting]) -> Result<Vec<Target>, TargetError> {
    let entries = CATALOGUE.iter().filter(|entry| name == "all" || entry.name == name);
    let found: Vec<Target> = entries
        .map(|entry| {
            let file = format!("catalogue/{}.toml", entry.name);
            let scenario = scenario_file::read(&file, entry.text, settings, &names::limit_ids())?;
            let source = Source::Scenario(Box::new(scenario));
            Ok(Target { spelled: entry.name.to_owned(), source, pristine: settings.is_empty(), swarm: false })
        })
        .collect::<Result<_, TargetError>>()?;
    match PLANS.iter().find(|plan| plan.name == name) {
        _ if !found.is_empty() => Ok(found),
        Some(plan) => {
            let source = written_plan(PathBuf::from(name), plan.text, settings)?;
            Ok(vec![Target { spelled: name.to_owned(), source, pristine: false, swarm: false }])
        }
        None => Ok(vec![from_file(name, settings)?]),
    }
}

fn written_plan(path: PathBuf, text: &str, settings: &[Setting]) -> Result<Source, TargetError> {
    if !settings.is_empty() {
        return Err(TargetError::OnlyScenarios { option: "--set", path });
    }
    let plan = Plan::from_json(text).map_err(|source| TargetError::Plan { path, source })?;
    Ok(Source::Plan(Box::new(plan)))
}

/// The same targets under swarm, if it is asked for.
pub fn swarmed(targets: Vec<Target>, swarm: bool) -> Result<Vec<Target>, TargetError> {
    let drawn = |target: Target| match &target.source {
        Source::Plan(_) if swarm => {
            Err(TargetError::OnlyScenarios { option: "--swarm", path: PathBuf::from(&target.spelled) })
        }
        _ => Ok(Target { swarm, ..target }),
    };
    targets.into_iter().map(drawn).collect()
}

/// The most that a plan or a scenario may be, in bytes: far beyond what the bounds of a plan make of it.
const MOST_BYTES: u64 = 256 << 20;

/// The text of a file, which must be a regular one: a pipe or a device would never end.
///
/// # Errors
/// When it cannot be read, is no regular file, or is larger than any plan.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(std::io::Error::other(
            "it is no regular file; write what it says into one, and name that",
        ));
    }
    if metadata.len() > MOST_BYTES {
        let what = format!("it has {} bytes, and a plan or scenario at most {MOST_BYTES}", metadata.len());
        return Err(std::io::Error::other(what));
    }
    std::fs::read_to_string(path)
}

fn from_file(name: &str, settings: &[Setting]) -> Result<Target, TargetError> {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension.is_none() && !path.exists() {
        let plans = PLANS.iter().map(|plan| plan.name);
        let names = CATALOGUE.iter().map(|entry| entry.name).chain(plans).chain(["all"]);
        let nearest = nearest(name, names).map(str::to_owned);
        return Err(TargetError::Unknown { name: name.to_owned(), nearest });
    }
    let path = path.to_owned();
    let text = || read_text(&path).map_err(|source| TargetError::Unreadable { path: path.clone(), source });
    let source = match extension {
        Some("toml") => {
            let scenario = scenario_file::read(name, &text()?, settings, &names::limit_ids())?;
            Source::Scenario(Box::new(scenario))
        }
        Some("json") => written_plan(path.clone(), &text()?, settings)?,
        _ => return Err(TargetError::Kind { path }),
    };
    Ok(Target { spelled: name.to_owned(), source, pristine: false, swarm: false })
}
