//! `groundhog convict`: is every known-bad behaviour found, how soon, by the law that is named for it, in how small a case?

use super::CallError;
use super::run::{enough_seeds, joined, print_failures, program, time};
use crate::campaign::{cores, pool, signals};
use crate::conviction::{Case, Terms, Trial, Verdict, examine};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::plan_words::counted;
use crate::print::text;
use crate::shrinking::{self, Watch};
use crate::target;
use clap::Args;
use groundhog_engine::flaws::Flaw;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Arguments {
    /// Flaws to convict; all of them when none is named.
    flaws: Vec<String>,
    /// Seeds that a flaw may survive from one start before it counts as not convicted.
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = clap::value_parser!(u64).range(1..=crate::conviction::APART))]
    seeds: u64,
    /// The first seed of the first start; the next start is a million seeds further on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Starts; the median over them is told.
    #[arg(long, value_name = "N", default_value_t = STARTS, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    starts: u64,
    /// One start and no shrinking.
    #[arg(long, conflicts_with_all = ["starts", "shrink_for", "out"])]
    quick: bool,
    /// Draw each seed with kinds of fault off, light or heavy.
    #[arg(long)]
    swarm: bool,
    /// Do not shrink the first failing seed of each flaw.
    #[arg(long, conflicts_with_all = ["shrink_for", "out"])]
    no_shrink: bool,
    /// Real time that shrinking one case may take.
    #[arg(long, value_name = "TIME", default_value = shrinking::TIME, value_parser = time)]
    shrink_for: Duration,
    /// Write each small plan and its timeline into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Flaws examined at once; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Seeds that a flaw may survive unless something else is asked for.
pub const SEEDS: u64 = 200;

/// How long runs and shrinkers have to stop themselves once they are told to.
const GRACE: Duration = Duration::from_secs(20);

/// Starts unless something else is asked for.
const STARTS: u64 = 5;

/// Examines them.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let flaws =
        if arguments.flaws.is_empty() { Flaw::ALL.to_vec() } else { target::flaws(&arguments.flaws)? };
    let last_start = (arguments.terms().starts - 1) * crate::conviction::APART;
    enough_seeds(arguments.from, last_start + arguments.seeds)?;
    let claim = |folder: &PathBuf| groundhog_reports::claim(folder, &[]).map_err(CallError::Out);
    let _claim = arguments.out.as_ref().map(claim).transpose()?;
    let interrupts = Arc::new(AtomicU8::new(0));
    signals::count(Arc::clone(&interrupts)).map_err(CallError::Signals)?;
    let began = Instant::now();
    let (terms, jobs) = (arguments.terms(), arguments.jobs.map_or_else(cores, usize::from));
    let give_up = || {
        print_failures(&[interrupted(arguments, 0)], arguments.json);
        std::process::exit(i32::from(Exit::Cut.code()));
    };
    let examined =
        examine_all(&flaws, &terms, jobs, &Watch { interrupts: &interrupts, give_up: &give_up }, |case| {
            if !arguments.json {
                text::out(&told(case, usize::from(text::width())));
            }
        });
    let cases = examined?;
    if arguments.json {
        text::out(&format!("{}\n", serde_json::to_string_pretty(&cases)?));
    } else {
        text::out(&summary(&cases, flaws.len(), arguments, began.elapsed()));
    }
    let not_written: Vec<&Case> = cases.iter().filter(|case| case.not_written.is_some()).collect();
    for case in &not_written {
        eprintln!("error: not written: {}: {}", case.flaw, case.not_written.as_deref().unwrap_or_default());
    }
    let mut failures = failures(&cases, &|case| arguments.repeat(&[case.flaw]));
    if cases.len() < flaws.len() {
        failures.push(interrupted(arguments, flaws.len() - cases.len()));
    }
    let exit = print_failures(&failures, arguments.json);
    Ok(if exit == Exit::Held && !not_written.is_empty() { Exit::Wrong } else { exit })
}

/// Examines flaws on several cores and tells of each in their order. Fewer cases come back when it was interrupted.
pub fn examine_all(
    flaws: &[Flaw],
    terms: &Terms,
    jobs: usize,
    watch: &Watch<'_>,
    mut tell: impl FnMut(&Case) + Send,
) -> Result<Vec<Case>, CallError> {
    let bar = progress(flaws.len() as u64);
    let (mut cases, mut failed) = (Vec::new(), None);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut told: Option<Instant> = None;
            while !over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(100));
                let requests = watch.interrupts.load(Ordering::Relaxed);
                if requests > 0 && told.is_none() {
                    terms.stop.store(true, Ordering::Relaxed);
                    told = Some(Instant::now());
                }
                if requests > 1 || told.is_some_and(|since| since.elapsed() > GRACE) {
                    (watch.give_up)();
                }
            }
        });
        pool::run(
            jobs,
            |number| {
                let next = flaws.get(usize::try_from(number).ok()?).copied();
                next.filter(|_| !terms.stop.load(Ordering::Relaxed))
            },
            |_, flaw| examine(*flaw, terms, watch),
            |_, case| match case {
                Ok(Some(case)) => {
                    bar.suspend(|| tell(&case));
                    bar.inc(1);
                    cases.push(case);
                }
                Ok(None) => {}
                Err(error) => failed = Some(error),
            },
        );
        over.store(true, Ordering::Relaxed);
        looking.thread().unpark();
    });
    bar.finish_and_clear();
    failed.map_or(Ok(cases), Err)
}

/// A bar on the standard error; hidden without a terminal.
fn progress(flaws: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} flaws");
    ProgressBar::new(flaws).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Arguments {
    fn terms(&self) -> Terms {
        Terms {
            seeds: self.seeds,
            from: self.from,
            starts: if self.quick { 1 } else { self.starts },
            swarm: self.swarm,
            shrink_for: (!self.quick && !self.no_shrink).then_some(self.shrink_for),
            out: self.out.clone(),
            stop: Arc::default(),
        }
    }

    /// The command that examines these flaws in the same way again.
    fn repeat(&self, flaws: &[&str]) -> String {
        let mut words = vec![program(), "convict".to_owned()];
        words.extend(flaws.iter().map(|flaw| (*flaw).to_owned()));
        let mut number = |option: &str, value: u64, usual: u64| {
            if value != usual {
                words.extend([option.to_owned(), value.to_string()]);
            }
        };
        number("--seeds", self.seeds, SEEDS);
        number("--from", self.from, 0);
        if !self.quick {
            number("--starts", self.starts, STARTS);
        }
        for (option, given) in
            [("--quick", self.quick), ("--swarm", self.swarm), ("--no-shrink", self.no_shrink)]
        {
            words.extend(given.then(|| option.to_owned()));
        }
        joined(&words)
    }
}

/// One case, for a person.
fn told(case: &Case, width: usize) -> String {
    let word = match (case.verdict(), case.is_well()) {
        (Verdict::Convicted, true) => "convicted",
        (Verdict::Convicted, false) => "UNSOUND  ",
        (Verdict::FallsToAnother, _) => "ANOTHER  ",
        (Verdict::Survives, _) => "SURVIVES ",
    };
    let real = Duration::from_millis(case.real_time_ms).as_secs_f64();
    let mut text = format!("{word}  {}  ({}, {real:.1} s)\n", case.flaw, case.scenario);
    for trial in case.trials() {
        let _ = writeln!(text, "           {:<30} {}", trial.law, seeds_of(trial));
    }
    if let Some(shrunk) = &case.shrunk {
        let sizes = [
            counted(shrunk.actions as u64, "action"),
            counted(shrunk.faults as u64, "fault"),
            counted(shrunk.nodes as u64, "node"),
        ];
        let real = Duration::from_millis(shrunk.real_time_ms).as_secs_f64();
        let stopped = if shrunk.one_minimal { "" } else { ", stopped before its end" };
        let _ = writeln!(text, "           shrunk to {}, {real:.1} s{stopped}", sizes.join(", "));
        if let Some(path) = &shrunk.path {
            let _ = writeln!(text, "           {path}");
        }
    }
    let also = case.also();
    if !also.is_empty() {
        let also = format!("           also breaks {}", also.join(", "));
        let _ = writeln!(text, "           {}", text::wrapped(also.trim(), width, 13));
    }
    text
}

fn seeds_of(trial: &Trial) -> String {
    let known: Vec<u64> = trial.seeds.iter().flatten().copied().collect();
    let starts = trial.seeds.len();
    match (trial.median(), known.iter().min(), known.iter().max()) {
        (Some(median), Some(least), Some(most)) if known.len() == starts && starts > 1 => {
            if least == most {
                return format!("after {} from each of {starts} starts", counted(median, "seed"));
            }
            format!("median {median} of {starts} starts, {least} to {most} seeds")
        }
        (Some(median), ..) if starts == 1 => format!("after {}", counted(median, "seed")),
        _ if known.is_empty() => "never".to_owned(),
        _ => format!("from {} of {starts} starts only", known.len()),
    }
}

fn summary(cases: &[Case], asked: usize, arguments: &Arguments, took: Duration) -> String {
    let well = cases.iter().filter(|case| case.is_well()).count();
    let slowest = cases.iter().filter_map(|case| Some((case.outcome.median()?, case.flaw))).max();
    let word = match (well == cases.len(), cases.len() == asked) {
        (false, _) => "FAILED",
        (true, true) => "HELD",
        (true, false) => "CUT",
    };
    let mut text = format!(
        "\n{word:<8} {well} of {} flaws convicted by the laws named for them, {:.0} s\n",
        if cases.len() == asked { asked.to_string() } else { format!("{} examined", cases.len()) },
        took.as_secs_f64()
    );
    if let Some((median, flaw)) = slowest {
        let _ =
            writeln!(text, "  slowest  {flaw}, {} of {} allowed", counted(median, "seed"), arguments.seeds);
    }
    let shrunk: Vec<usize> = cases
        .iter()
        .filter_map(|case| Some(case.shrunk.as_ref()?.actions + case.shrunk.as_ref()?.faults))
        .collect();
    if !shrunk.is_empty() {
        let small = shrunk.iter().filter(|size| **size <= 10).count();
        let _ = writeln!(
            text,
            "  shrunk   {small} of {} to at most 10 actions and faults together",
            shrunk.len()
        );
    }
    text
}

/// Every flaw with which something is wrong.
pub fn failures(cases: &[Case], repeat: &dyn Fn(&Case) -> String) -> Vec<Failure> {
    let failure = |case: &Case| Failure {
        kind: FailureKind::Broken,
        what: format!("flaw {}", case.flaw),
        saw: wrong(case),
        shrunk: None,
        see: None,
        repeat: Some(repeat(case)),
    };
    cases.iter().filter(|case| !case.is_well()).map(failure).collect()
}

fn wrong(case: &Case) -> String {
    let missing: Vec<&str> = case.trials().filter(|trial| !trial.convicts()).map(|trial| trial.law).collect();
    match (case.verdict(), case.broken_without, &case.not_shrunk) {
        (Verdict::Survives, ..) => format!("is not seen by {}", missing.join(" and ")),
        (Verdict::FallsToAnother, ..) => {
            format!("is not seen by {}, but breaks {}", missing.join(" and "), case.also().join(", "))
        }
        (Verdict::Convicted, Some(seed), _) => {
            format!("seed {seed} of {} does not hold without it, so it proves nothing", case.scenario)
        }
        (Verdict::Convicted, None, not_shrunk) => {
            format!("could not be shrunk: {}", not_shrunk.as_deref().unwrap_or("for no reason"))
        }
    }
}

fn interrupted(arguments: &Arguments, left: usize) -> Failure {
    let flaws: Vec<&str> = arguments.flaws.iter().map(String::as_str).collect();
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: if left == 0 {
            "before it was done".to_owned()
        } else {
            format!("{left} flaws were not examined")
        },
        shrunk: None,
        see: None,
        repeat: Some(arguments.repeat(&flaws)),
    }
}

/// The command that examines one flaw from one start.
pub fn repeat_quick(flaw: &str, from: u64) -> String {
    let words = ["convict", flaw, "--quick", "--from"].map(str::to_owned);
    let words: Vec<String> = std::iter::once(program()).chain(words).chain([from.to_string()]).collect();
    joined(&words)
}
