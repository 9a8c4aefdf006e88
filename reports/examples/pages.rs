//! Writes the report of a run that held, of one that failed, and of a campaign, made of sample figures, into the folder
//! that is named, to look at them: `cargo run -p groundhog-reports --example pages -- target/pages`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use groundhog_reports::{
    CampaignFacts, MarksJudged, ReportError, RunFacts, ScenarioFacts, Totals, terminal, terminal_campaign,
    write_campaign, write_run,
};
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), ReportError> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/pages".to_owned()));
    let repeat = |scenario: &str, seed: u64| format!("groundhog run {scenario} --seed {seed}");
    let facts = RunFacts {
        version: "0.1.0".to_owned(),
        repeat: repeat("crash-mid-batch", 7),
        real: Duration::from_millis(412),
    };
    let mut plan = samples::plan("crash-mid-batch", 7);
    let held = samples::held(7);
    print!("{}", terminal(&plan, &held, &facts, 80, true));
    write_run(&folder.join("held"), &plan, &held, &facts)?;
    plan.flaws = vec!["early-release".to_owned()];
    let failed = samples::failed(7);
    let facts = RunFacts { repeat: format!("{} --flaw early-release", facts.repeat), ..facts };
    print!("\n{}", terminal(&plan, &failed, &facts, 80, false));
    write_run(&folder.join("failed"), &plan, &failed, &facts)?;

    let scenarios = ["crash-mid-batch", "lane-interleaving"].map(|scenario| {
        let mut totals = Totals::new(scenario);
        for seed in 0..20 {
            let broken = scenario == "crash-mid-batch" && seed % 9 == 4;
            let outcome = if broken { samples::failed(seed) } else { samples::held(seed) };
            totals.absorb(&samples::plan(scenario, seed), &outcome);
        }
        ScenarioFacts { totals, marks: samples::marks(), marks_judged: MarksJudged::Judged }
    });
    let campaign = CampaignFacts {
        version: "0.1.0",
        command: "groundhog run all --seeds 20",
        real: Duration::from_secs(9),
        scenarios: &scenarios,
        repeat: &repeat,
    };
    print!("\n{}", terminal_campaign(&campaign, 80, false));
    let written = write_campaign(&folder.join("campaign"), &campaign)?;
    println!("\n{}", written.page.display());
    Ok(())
}
