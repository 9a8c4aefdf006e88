//! `groundhog shrink`: the smallest plan that still breaks the same law.

use super::CallError;
use super::run::{joined, program, repeat_plan, time};
use crate::campaign::signals;
use crate::exit::Exit;
use crate::print::block::{self, Failure, FailureKind};
use crate::print::text;
use crate::print::unwritten::Unwritten;
use crate::scenario_file::nearest;
use crate::shrinking::{self, Budget, Small, Watch};
use crate::target::{self, Source, TargetError};
use clap::Args;
use groundhog_sim::explore::shrink::{ShrinkError, Size};
use groundhog_sim::laws::catalogue::LAWS;
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// What the numbers mean that it ends with.
const EXITS: &str = "\
Exit codes: 1 the law is broken, by the smaller plan too, or nothing can be left
out; 2 the call or the plan is wrong, or the plan breaks no law; 3 a run of the
plan was cut short by a bound; 4 the plan, or the smaller one, does not give the
same run twice, which is a defect of determinism.";

#[derive(Args)]
#[command(after_help = EXITS)]
pub struct Arguments {
    /// The plan that breaks a law.
    plan: String,
    /// The law; where it is left out the one that the plan was cut down or kept for, as the file beside it says, else the
    /// first that the plan breaks.
    #[arg(long, value_name = "ID")]
    law: Option<String>,
    /// Real time that it may take; then the smallest plan so far is written.
    #[arg(long = "for", value_name = "TIME", default_value = shrinking::TIME, value_parser = time)]
    for_time: Duration,
    /// Write the smaller plan here; beside the plan, as PLAN-shrunk.json, where it is left out. Its timeline is
    /// written beside it, as .txt.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Runs at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Polls that one run may use.
    #[arg(long, value_name = "N", default_value_t = groundhog_sim::run::POLL_BUDGET, value_parser = clap::value_parser!(u64).range(1..))]
    max_polls: u64,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// What a machine reads.
#[derive(serde::Serialize)]
struct Told<'a> {
    law: &'a str,
    saw: &'a str,
    at_us: u64,
    node: Option<u16>,
    /// The smaller plan, and what happens in its run.
    plan: String,
    timeline: String,
    written: bool,
    /// Whether Ctrl-C ended it before it was done.
    interrupted: bool,
    from: Sizes,
    to: Sizes,
    words: Vec<String>,
    runs: u64,
    /// Whether nothing can be left out, as far as was tried.
    one_minimal: bool,
    /// Whether the same plan without its flaws holds.
    holds_without_flaws: Option<bool>,
    fingerprint: String,
    /// Real time, in milliseconds of the machine that ran it.
    real_time_ms: u64,
}

#[derive(serde::Serialize)]
struct Sizes {
    actions: usize,
    messages: u64,
    faults: usize,
    nodes: usize,
    covered_us: u64,
}

impl From<Size> for Sizes {
    fn from(size: Size) -> Self {
        let Size { actions, messages, faults, nodes, covered_us } = size;
        Self { actions, messages, faults, nodes, covered_us }
    }
}

/// Shrinks it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let plan = read(&arguments.plan)?;
    let Place { file, folder, stem } = place(arguments)?;
    not_itself(&arguments.plan, &file)?;
    groundhog_reports::probe(&folder).map_err(CallError::Out)?;
    let names = [format!("{stem}.json"), format!("{stem}.txt")];
    groundhog_reports::check(&folder, &names.each_ref().map(String::as_str)).map_err(CallError::Out)?;
    let interrupts = Arc::new(AtomicU8::new(0));
    signals::count(Arc::clone(&interrupts)).map_err(CallError::Signals)?;
    let outcome = shrinking::judge(&plan, arguments.max_polls)?;
    if let Some(cut) = &outcome.cut {
        return Ok(stopped(arguments, cut));
    }
    let law = law(arguments, &outcome)?;
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let budget = Budget {
        time: arguments.for_time,
        jobs: arguments.jobs.map_or_else(cores, usize::from),
        max_polls: arguments.max_polls,
        shown: true,
    };
    let give_up = || {
        eprintln!("error: a candidate's run does not end, and cannot be stopped: nothing is written");
        std::process::exit(i32::from(Exit::Cut.code()));
    };
    let watch = Watch { interrupts: &interrupts, give_up: &give_up };
    match shrinking::shrink(&plan, law, Some(outcome.fingerprint), &budget, &watch) {
        Ok(small) => {
            let mut unwritten = Unwritten::default();
            let written = unwritten.take(small.write(&folder, &stem, Vec::new())).is_some();
            let interrupted = interrupts.load(Ordering::Relaxed) > 0;
            let exit =
                tell(&Story { arguments, plan: &plan, small: &small, path: &file, written, interrupted })?;
            unwritten.tell();
            Ok(unwritten.ending(exit))
        }
        Err(ShrinkError::Cut(cut)) => Ok(stopped(arguments, &cut)),
        Err(ShrinkError::Run(error)) => Err(error.into()),
        // The law was broken a moment ago.
        Err(error @ (ShrinkError::Flaky(_) | ShrinkError::NotBroken { .. })) => {
            Ok(differs(arguments, &error))
        }
    }
}

fn read(name: &str) -> Result<Plan, TargetError> {
    match target::find(name, &[])?.pop().map(|target| target.source) {
        Some(Source::Plan(plan)) => Ok(*plan),
        _ => Err(TargetError::NotAPlan { path: PathBuf::from(name) }),
    }
}

/// Where the smaller plan goes.
struct Place {
    file: PathBuf,
    folder: PathBuf,
    /// The file's name without `.json`.
    stem: String,
}

fn place(arguments: &Arguments) -> Result<Place, TargetError> {
    let file = match &arguments.out {
        Some(file) => file.clone(),
        None => {
            let plan = Path::new(&arguments.plan);
            let stem = plan.file_stem().unwrap_or_default().to_string_lossy();
            plan.with_file_name(format!("{stem}-shrunk.json"))
        }
    };
    let stem = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let (true, Some(stem)) = (file.extension().is_some_and(|kind| kind == "json"), stem) else {
        let what = format!("--out {}: expected a file that ends with .json, as plans do", file.display());
        return Err(TargetError::Call(what));
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    Ok(Place { file, folder, stem })
}

/// The smaller plan never takes the place of the one that it came from.
fn not_itself(plan: &str, file: &Path) -> Result<(), TargetError> {
    let same = match (Path::new(plan).canonicalize(), file.canonicalize()) {
        (Ok(plan), Ok(file)) => plan == file,
        _ => false,
    };
    if same {
        let what = format!("--out {plan} is the plan itself; name another file");
        return Err(TargetError::Call(what));
    }
    Ok(())
}

/// The law that stands beside a plan that was cut down or kept: it is what the plan is about.
pub(super) fn law_beside(plan: &Path) -> Option<String> {
    let text = |kind| crate::target::read_text(&plan.with_extension(kind)).ok();
    let kept = || {
        let table: toml::Table = text("toml")?.parse().ok()?;
        table.get("law")?.as_str().map(str::to_owned)
    };
    let shrunk = || text("txt")?.lines().next().map(str::to_owned);
    kept().or_else(shrunk)
}

/// The law that was asked for, or that the plan was cut down or kept for, or the first that was broken.
fn law(arguments: &Arguments, outcome: &Outcome) -> Result<&'static str, TargetError> {
    let plan = &arguments.plan;
    let mut broken: Vec<&'static str> = Vec::new();
    for violation in &outcome.violations {
        if !broken.contains(&violation.law) {
            broken.push(violation.law);
        }
    }
    let Some(asked) = &arguments.law else {
        let beside = law_beside(Path::new(plan));
        if let Some(law) = broken.iter().find(|law| beside.as_deref() == Some(**law)) {
            return Ok(law);
        }
        return broken.first().copied().ok_or_else(|| {
            TargetError::Call(format!("{plan} breaks no law in this build: there is nothing to shrink"))
        });
    };
    let known = LAWS.iter().find(|law| law.id == asked).ok_or_else(|| TargetError::Name {
        kind: "law",
        name: asked.clone(),
        nearest: nearest(asked, LAWS.iter().map(|law| law.id)).map(str::to_owned),
    })?;
    if broken.contains(&known.id) {
        return Ok(known.id);
    }
    let breaks = if broken.is_empty() { "no law".to_owned() } else { broken.join(", ") };
    Err(TargetError::Call(format!("{plan} does not break {asked} in this build: it breaks {breaks}")))
}

/// What there is to tell.
struct Story<'a> {
    arguments: &'a Arguments,
    plan: &'a Plan,
    small: &'a Small,
    path: &'a Path,
    written: bool,
    interrupted: bool,
}

fn tell(story: &Story<'_>) -> Result<Exit, CallError> {
    let Story { arguments, plan, small, path, written, .. } = *story;
    small.tell_of_defect();
    if arguments.json {
        let mut told = serde_json::to_string_pretty(&told(small, path, story))?;
        told.push('\n');
        text::out(&told);
    } else {
        text::out(&summary(story));
    }
    let path = path.display().to_string();
    let failure = Failure {
        kind: FailureKind::Broken,
        what: small.shrunk.violation.law.to_owned(),
        saw: small.saw(),
        shrunk: Some(small.line(plan)),
        see: written.then(|| Path::new(&path).with_extension("txt").display().to_string()),
        repeat: Some(repeat_plan(if written { &path } else { &arguments.plan })),
    };
    Ok(print(arguments, failure))
}

/// Sentences of a plan that are printed at most: a plan that could not be cut down has hundreds.
const MOST_SENTENCES: usize = 40;

fn summary(story: &Story<'_>) -> String {
    let Story { plan, small, path, .. } = *story;
    let width = usize::from(text::width());
    let shrunk = &small.shrunk;
    let mut summary = format!("{}, {} runs\n", small.line(plan), groundhog_reports::count(shrunk.runs));
    let minimal = if shrunk.one_minimal {
        "Nothing more can be left out: without any one action, fault, node or link the law holds."
    } else if story.interrupted {
        "INTERRUPTED: more can perhaps be left out; this is as far as it came."
    } else {
        "The time was over: more can perhaps be left out; --for gives it more time."
    };
    summary.push_str(&format!("{}\n\n", text::wrapped(minimal, width, 0)));
    summary.push_str(&few_words(small, width));
    if let (Some(true), flaws) = (shrunk.holds_without_flaws, shrunk.plan.flaws.join(", ")) {
        let holds = format!("The same plan without {flaws} holds.");
        summary.push_str(&format!("\n{}\n", text::wrapped(&holds, width, 0)));
    }
    let written = if story.written { path.display().to_string() } else { "not written".to_owned() };
    summary.push_str(&format!("\nplan      {written}\n\n"));
    summary
}

/// The plan in words, as far as somebody reads them.
fn few_words(small: &Small, width: usize) -> String {
    let words = small.words(width, "  ");
    let sentences = crate::print::plan_words::sentences(&small.shrunk.plan).len();
    if sentences <= MOST_SENTENCES {
        return words;
    }
    // A sentence begins where a line is indented by two.
    let begins = |line: &&str| !line.starts_with("    ");
    let mut seen = 0;
    let shown = words.lines().take_while(|line| {
        seen += usize::from(begins(line));
        seen <= MOST_SENTENCES
    });
    let shown: String = shown.map(|line| format!("{line}\n")).collect();
    format!(
        "{shown}  and {} sentences more, which the text beside the plan has\n",
        sentences - MOST_SENTENCES
    )
}

fn told<'a>(small: &'a Small, path: &Path, story: &Story<'_>) -> Told<'a> {
    let shrunk = &small.shrunk;
    let violation = &shrunk.violation;
    Told {
        law: violation.law,
        saw: &violation.saw,
        at_us: violation.at.as_us(),
        node: violation.node.map(|node| node.0),
        plan: path.display().to_string(),
        written: story.written,
        interrupted: story.interrupted,
        timeline: path.with_extension("txt").display().to_string(),
        from: shrunk.from.into(),
        to: shrunk.to.into(),
        words: crate::print::plan_words::sentences(&shrunk.plan),
        runs: shrunk.runs,
        one_minimal: shrunk.one_minimal,
        holds_without_flaws: shrunk.holds_without_flaws,
        fingerprint: crate::campaign::tally::hex(&shrunk.fingerprint),
        real_time_ms: u64::try_from(small.took.as_millis()).unwrap_or(u64::MAX),
    }
}

fn stopped(arguments: &Arguments, cut: &Cut) -> Exit {
    let saw = match cut {
        Cut::Polls { limit, .. } => {
            format!("its run used more than {limit} polls: what it breaks is not known")
        }
        other => format!("its run was cut short ({other:?}): what it breaks is not known"),
    };
    let failure = Failure {
        kind: FailureKind::Cut,
        what: arguments.plan.clone(),
        saw,
        shrunk: None,
        see: None,
        repeat: Some(repeat_plan(&arguments.plan)),
    };
    print(arguments, failure)
}

fn differs(arguments: &Arguments, error: &ShrinkError) -> Exit {
    let saw = error.to_string();
    let words = [program(), "run".to_owned(), arguments.plan.clone(), "--check".to_owned()];
    let failure = Failure {
        kind: FailureKind::Differs,
        what: "not deterministic".to_owned(),
        saw: saw.strip_prefix("not deterministic: ").unwrap_or(&saw).to_owned(),
        shrunk: None,
        see: None,
        repeat: Some(joined(&words)),
    };
    print(arguments, failure)
}

fn print(arguments: &Arguments, failure: Failure) -> Exit {
    let block = block::block(std::slice::from_ref(&failure), text::colour());
    if arguments.json {
        eprint!("{block}");
    } else {
        text::out(&block);
    }
    failure.kind.exit()
}
