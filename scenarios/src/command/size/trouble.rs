//! What went wrong at one load: a law was broken, the run was cut, or the formula says something else.

use crate::print::block::{Failure, FailureKind};
use groundhog_sim::outcome::Outcome;
use serde::Serialize;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    #[serde(skip)]
    kind: FailureKind,
    what: String,
    saw: String,
}

impl Trouble {
    /// The worst of what there is: a figure of a run that broke a law, or was cut, is none to hold against a formula.
    pub fn of(outcome: &Outcome, question: &str, differs: Option<String>) -> Option<Self> {
        if let Some(broken) = outcome.violations.first() {
            let (what, saw) = (broken.law.to_owned(), broken.saw.clone());
            return Some(Self { kind: FailureKind::Broken, what, saw });
        }
        let what = format!("size {question}");
        if let Some(cut) = &outcome.cut {
            return Some(Self { kind: FailureKind::Cut, what, saw: format!("the run was cut: {cut:?}") });
        }
        differs.map(|saw| Self { kind: FailureKind::Threshold, what, saw })
    }

    /// The block that ends the command.
    pub fn failure(&self, load: &str, repeat: &str) -> Failure {
        Failure {
            kind: self.kind,
            what: self.what.clone(),
            saw: format!("{load}: {}", self.saw),
            shrunk: None,
            see: None,
            repeat: Some(repeat.to_owned()),
        }
    }
}
