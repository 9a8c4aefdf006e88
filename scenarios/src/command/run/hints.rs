//! What to try when a flaw was asked for and nothing broke.

use super::arguments::{joined, program};
use crate::campaign::Campaign;
use crate::command::convict::SEEDS;
use crate::conviction::scenario_of;
use crate::print::text;
use groundhog_sim::laws::catalogue::convicted_by;

/// Where each flaw of a campaign that held is convicted, a command each; nothing without flaws.
pub fn of(campaign: &Campaign) -> String {
    let mut hints = String::new();
    for flaw in &campaign.flaws {
        let (scenario, (law, _)) = (scenario_of(*flaw), convicted_by(*flaw));
        let runs_it = campaign.targets.iter().any(|target| target.scenario() == scenario);
        let why = if runs_it {
            format!("{} breaks {law} in some seeds of {scenario}, and in none of these", flaw.id())
        } else {
            format!("{} breaks {law} in {scenario}, which was not run", flaw.id())
        };
        let words = ["run", scenario, "--flaw", flaw.id(), "--seeds"].map(str::to_owned);
        let words: Vec<String> = std::iter::once(program()).chain(words).chain([SEEDS.to_string()]).collect();
        hints.push_str(&format!(
            "  hint       {}\n             {}\n",
            text::wrapped(&why, usize::from(text::width()), 13),
            joined(&words)
        ));
    }
    hints
}
