//! The scenarios that come with the command.

/// One scenario file of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The scenario's name.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
}

impl Entry {
    /// What the scenario is for, as its file says.
    pub fn about(&self) -> String {
        let line = self.text.lines().find_map(|line| line.strip_prefix("about = \""));
        line.map_or_else(String::new, |about| about.trim_end_matches('"').to_owned())
    }
}

macro_rules! catalogue {
    ($($name:literal)*) => {
        /// Every scenario, in the order in which `all` runs them.
        pub const CATALOGUE: &[Entry] = &[$(Entry {
            name: $name,
            text: include_str!(concat!("../catalogue/", $name, ".toml")),
        },)*];
    };
}

catalogue! {
    "crash-mid-batch" "lane-interleaving" "skewed-clocks"
    "origin-flood" "connection-rotation" "newcomer-after-rotation" "quota-burst" "replay-storm" "two-allocators"
    "sender-table-full"
    "retirement" "bad-records" "operator-clear" "hard-cutover"
    "link-generations" "reference-misses" "chunked-transfers"
    "custody-stall" "custody-churn" "mail-flood"
    "ring-churn" "week-of-churn"
    "custody-stall-reset"
}

/// A plan that comes with the command.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPlan {
    /// The plan's name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its file's text.
    pub text: &'static str,
}

/// Every plan that has a name. None of them is among `all`.
pub const PLANS: &[WrittenPlan] = &[
    WrittenPlan {
        name: "group-commit",
        about: "A plan and no scenario: one group commit of 8 admissions, from open to released, for `groundhog sweep`.",
        text: include_str!("../plans/group-commit.json"),
    },
    WrittenPlan {
        name: "retirement-batch",
        about: "A plan and no scenario: three spent streams are retired in the batch of a new one, and begin again, for `groundhog sweep`.",
        text: include_str!("../plans/retirement-batch.json"),
    },
    WrittenPlan {
        name: "custody-take",
        about: "A plan and no scenario: mail is drained and admitted, one is taken and two are not, for `groundhog sweep`.",
        text: include_str!("../plans/custody-take.json"),
    },
];
