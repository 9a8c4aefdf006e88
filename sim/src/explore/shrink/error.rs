//! Why there is no shrunk plan.

use crate::outcome::Cut;
use crate::plan::Plan;
use crate::run::RunError;

/// Which of two plans did not repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The plan that was to be shrunk.
    Original,
    /// The plan that came out.
    Shrunk,
}

/// Why there is no shrunk plan.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// The plan does not break the law.
    #[error("the plan does not break {law}")]
    NotBroken {
        /// The law.
        law: String,
    },
    /// Two runs of one plan differed.
    #[error("not deterministic: {of} gave fingerprint {first} and {verdict_first}, and run again {again} and {verdict_again}",
        of = match .0.stage { Stage::Original => "the plan", Stage::Shrunk => "the shrunk plan" },
        first = hex(&.0.first), again = hex(&.0.again),
        verdict_first = verdict(.0.broke_first, &.0.law), verdict_again = verdict(.0.broke_again, &.0.law))]
    Flaky(Box<Flaky>),
    /// The plan's run did not come to its end.
    #[error("a run of the plan was cut short ({0:?}): what it would have shown is not known")]
    Cut(Cut),
    /// The plan could not be run.
    #[error("{0}")]
    Run(#[from] RunError),
}

/// Two runs of one plan that differ: a defect, of determinism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaky {
    /// The law.
    pub law: String,
    /// Which plan.
    pub stage: Stage,
    /// The plan itself.
    pub plan: Plan,
    /// The fingerprint of the first run.
    pub first: [u8; 32],
    /// Of the second.
    pub again: [u8; 32],
    /// Whether the first run broke the law.
    pub broke_first: bool,
    /// Whether the second did.
    pub broke_again: bool,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn verdict(broke: bool, law: &str) -> String {
    if broke { format!("broke {law}") } else { format!("held {law}") }
}
