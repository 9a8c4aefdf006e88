//! What a run leaves behind: a folder with a page, a summary for machines, the plan, and latency files; and the summary that a
//! terminal shows.
//!
//! Promise: every figure comes from the outcome, every file is whole or absent, and equal outcomes give equal bytes, but for
//! the real time that [`RunFacts`] and [`CampaignFacts`] bring, which is labelled wherever it stands.

mod facts;
mod floods;
mod folder;
mod format;
mod hgrm;
mod latency;
mod marks;
mod owned;
mod page;
mod plot;
mod summary;
mod terminal;
mod totals;
mod write;

pub use facts::{CampaignFacts, MarksJudged, RunFacts, ScenarioFacts};
pub use floods::FloodTotal;
pub use folder::{ReportError, probe};
pub use format::{count, duration};
pub use latency::{LADDER, Percentile, SAMPLES_ABOVE, percentile};
pub use marks::{MarkRate, Standing};
pub use owned::{Claim, check, claim};
pub use page::{CurvePoints, Sizing, of_sizing as sizing_page};
pub use summary::{FORMAT, of_campaign as campaign_summary, of_run as run_summary};
pub use terminal::{labelled_command, terminal, terminal_campaign};
pub use totals::{BoundTotal, Broken, CutTotal, LevelSeeds, LimitUse, Totals, cut_id};
pub use write::{FILES_OF_A_CAMPAIGN, FILES_OF_A_RUN};
pub use write::{Written, file_stem, write_campaign, write_files, write_run};

pub use hgrm::percentile_distribution;
