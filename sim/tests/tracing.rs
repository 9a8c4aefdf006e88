//! What the runtime traces, at whatever level, is a view: nothing that happens depends on who takes it.
//!
//! A file of its own, since whoever subscribes does so for the whole process.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{Death, FaultKind, Plan};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::NodeId;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{burst, fault, quiet_plan};

static TRACED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Takes what is traced, as a file or a terminal would.
struct Traced;

impl Write for Traced {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        TRACED_BYTES.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, RunOptions::default()).expect("the plan runs")
}

#[test]
fn every_level_of_tracing_changes_nothing() {
    let mut plan = quiet_plan(3);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Application, 60));
    plan.actions.push(burst(1, 100_000, 1, 2, Class::Control, 60));
    let crash = FaultKind::Crash { node: NodeId(1), death: Death::Power, down_us: 10_000, survivors: None };
    plan.faults.push(fault(0, 103_000, 200_000, crash));
    let untraced = outcome(&plan);
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(|| Traced)
        .init();
    let traced = outcome(&plan);
    let bytes = TRACED_BYTES.load(Ordering::Relaxed);
    assert!(bytes > 100_000, "{bytes} bytes were traced");
    assert!(traced == untraced, "tracing changes no event and no figure");
}
