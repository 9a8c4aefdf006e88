//! One run: a plan in, an outcome out.
//!
//! Promise: each run has a plain thread of its own, which no other run's state reaches; whatever happens in it, the caller
//! gets an outcome or a typed error.

use crate::ledger::LedgerOptions;
use crate::outcome::Outcome;
use crate::plan::Plan;
pub use crate::world::plants::Plant;
use crate::world::plants::Planted;
use crate::world::probe::{Probe, Probed};
use crate::world::{Program, Start, World};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Polls of tasks that a run may use: far beyond any plan of the catalogue, and seconds of real time.
pub const POLL_BUDGET: u64 = 200_000_000;

/// How a run is made, apart from what its plan says. None of it changes an event, but for a plant.
pub struct RunOptions {
    /// What the ledger checks and keeps.
    pub ledger: LedgerOptions,
    /// Polls that the run may use.
    pub poll_budget: u64,
    /// Set from outside to interrupt the run.
    pub stop: Arc<AtomicBool>,
    /// What is planted in it to examine the examination; nothing unless that is asked for. This alone may change events.
    pub plant: Option<Plant>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            ledger: LedgerOptions::default(),
            poll_budget: POLL_BUDGET,
            stop: Arc::new(AtomicBool::new(false)),
            plant: None,
        }
    }
}

/// Why a plan could not be run to an outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The plan cannot be: a link, a node or a flaw of it does not exist.
    #[error("the plan cannot be run: {0}")]
    Plan(String),
    /// The operating system gave no thread.
    #[error("no thread for the run: {0}")]
    Thread(String),
    /// The simulator itself failed: a defect of Groundhog, never of the engine.
    #[error("the simulator failed: {0}")]
    Simulator(String),
}

thread_local! {
    /// What the last panic of this run was about.
    static PANICKED: std::cell::RefCell<PanickedAt> = const { std::cell::RefCell::new(PanickedAt::new()) };
}

/// Where a panic happened.
struct PanickedAt {
    /// File and line.
    place: String,
    /// Whether it was where the standard library starts threads.
    starting_a_thread: bool,
}

impl PanickedAt {
    const fn new() -> Self {
        Self { place: String::new(), starting_a_thread: false }
    }
}

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Panic {
    /// A thread was to be started, which the simulation refuses; the standard library takes that for impossible.
    #[error("a thread was started inside the run")]
    Thread,
    /// Anything else: what it said, and where.
    #[error("{0}")]
    Other(String),
}

/// The name of the threads that runs run on.
const THREAD_NAME: &str = "groundhog-run";

/// What the panic just caught on this thread was.
pub(crate) fn caught(payload: &(dyn std::any::Any + Send)) -> Panic {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    PANICKED.with_borrow(|at| match at.starting_a_thread {
        true => Panic::Thread,
        false => Panic::Other(format!("{} ({})", text.unwrap_or("no message"), at.place)),
    })
}

/// Whether this file of the standard library is the one that asks the system for threads: madsim lets that fail, and a
/// failure there is asserted to be impossible.
fn starts_threads(file: &str) -> bool {
    file.contains("library/std/src/sys/") && file.contains("thread")
}

/// A panic inside a run is an outcome, told where outcomes are told, and not a trace on the screen of whoever waits.
fn keep_panics_of_runs() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD_NAME) {
                others(panic);
            } else if std::env::var_os("RUST_BACKTRACE").is_some_and(|asked| asked == "full") {
                eprintln!("in a run: {panic}\n{}", std::backtrace::Backtrace::force_capture());
            }
            if let Some(place) = panic.location() {
                // The file's name alone: where the sources lie differs from machine to machine.
                let file = place.file().rsplit('/').next().unwrap_or_default();
                let starting_a_thread = starts_threads(place.file());
                PANICKED.set(PanickedAt { place: format!("{file}:{}", place.line()), starting_a_thread });
            }
        }));
    });
}

/// Runs a plan.
///
/// # Errors
/// [`RunError`]. A broken law is no error: it is in the outcome.
pub fn run(plan: &Plan, options: RunOptions) -> Result<Outcome, RunError> {
    run_program(plan, options, Program::Engines, None).map(|(outcome, _)| outcome)
}

/// Runs a plan and looks at what `probe` asks for. The run is the same as without it.
///
/// # Errors
/// [`RunError`].
pub fn run_probed(plan: &Plan, options: RunOptions, probe: Probe) -> Result<(Outcome, Probed), RunError> {
    run_program(plan, options, Program::Engines, Some(probe))
}

/// Runs a plan whose nodes run no engines: its bursts go straight to the network, which is measured alone.
///
/// # Errors
/// [`RunError`].
pub fn run_transport_alone(plan: &Plan, options: RunOptions) -> Result<Outcome, RunError> {
    run_program(plan, options, Program::TransportAlone, None).map(|(outcome, _)| outcome)
}

fn run_program(
    plan: &Plan,
    options: RunOptions,
    program: Program,
    probe: Option<Probe>,
) -> Result<(Outcome, Probed), RunError> {
    plan.check().map_err(|error| RunError::Plan(error.to_string()))?;
    let plan = Arc::new(plan.clone());
    // Here, before the run and outside it.
    let planted = options.plant.map(Planted::before_the_run);
    let thread = std::thread::Builder::new().name(THREAD_NAME.to_owned());
    keep_panics_of_runs();
    let running = thread.spawn(move || {
        let run =
            std::panic::catch_unwind(AssertUnwindSafe(|| simulate(plan, options, program, planted, probe)));
        run.unwrap_or_else(|panic| Err(RunError::Simulator(caught(panic.as_ref()).to_string())))
    });
    let running = running.map_err(|error| RunError::Thread(error.to_string()))?;
    running.join().unwrap_or_else(|_| Err(RunError::Simulator("its thread ended without a word".to_owned())))
}

fn simulate(
    plan: Arc<Plan>,
    options: RunOptions,
    program: Program,
    planted: Option<Planted>,
    probe: Option<Probe>,
) -> Result<(Outcome, Probed), RunError> {
    let runtime =
        madsim::runtime::Runtime::with_seed_and_config(plan.schedule_seed, madsim::Config::default());
    let nodes = plan.nodes.iter().map(|_| runtime.create_node().build().id()).collect();
    let planted = planted.map(Arc::new);
    let start = Start { plan, program, nodes, executor: runtime.handle().clone(), planted, probe };
    let stop = Arc::clone(&options.stop);
    let shared = World::begin(start, options)?;
    runtime.block_on(async move {
        let cut = crate::world::drive(&shared, &stop).await;
        if let Some(failure) = shared.with(World::failure) {
            return Err(RunError::Simulator(failure));
        }
        let seen = shared.with(|world| (world.outcome(cut), world.probed()));
        crate::world::bury(&shared).await;
        Ok(seen)
    })
}
