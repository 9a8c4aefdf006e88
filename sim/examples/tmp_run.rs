//! tmp
use groundhog_sim::{
    plan::Plan,
    run::{RunOptions, run},
};
fn main() {
    for path in std::env::args().skip(1) {
        let plan: Plan = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let t = std::time::Instant::now();
        let o = run(&plan, RunOptions::default()).unwrap();
        println!(
            "{path} {:?} events {} intended {} dispatched {} losses {:?} verdicts {:?} refusals {:?} deaths {:?} faults {:?} batch {:?}",
            t.elapsed(),
            o.events,
            o.intended,
            o.dispatched,
            o.losses,
            o.verdicts,
            o.refusals,
            o.deaths,
            o.faults,
            o.batch_sizes
        );
        println!("  {}", o.fingerprint.iter().map(|b| format!("{b:02x}")).collect::<String>());
        println!("  marks {:?} limits {:?} cut {:?}", o.marks, o.limits, o.cut);
        for v in o.violations.iter().take(5) {
            println!("  {v:?}");
        }
    }
}
