//! Mail in a plan: how it is held for nodes that are away, and what becomes of it.

use groundhog_engine::streams::RELAY_INBOX_MAX_MS;
use serde::{Deserialize, Serialize};

/// How mail is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailPlan {
    /// How long a carrier keeps it, in milliseconds of the carrier's wall clock.
    pub lifetime_ms: u64,
    /// Bytes of mail that a carrier keeps in all.
    pub carrier_bytes: u64,
    /// Time between two drain passes of a node, in microseconds of its oscillator. A member of a ring drains at its
    /// maintenance passes instead.
    pub drain_every_us: u64,
    /// How long an application has mail before it takes it.
    pub take_after_us: u64,
}

impl MailPlan {
    /// What is wrong with it, if anything is.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        let Self { lifetime_ms, drain_every_us, .. } = *self;
        if !(1..=RELAY_INBOX_MAX_MS).contains(&lifetime_ms) {
            return Some(format!(
                "carriers keep mail for {lifetime_ms} ms, and 1 to {RELAY_INBOX_MAX_MS} is possible"
            ));
        }
        (drain_every_us == 0).then(|| "drain passes follow each other without time between them".to_owned())
    }
}

/// What happens to the mail of the node that the action names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MailAct {
    /// Every carrier loses all that it keeps for the node.
    Lose,
    /// The first carrier on the ring that keeps something for the node loses it.
    LoseOne,
    /// For a while the node reaches no carrier that keeps something for it now: others are named to it, and keep nothing.
    Unreachable {
        /// How long.
        for_us: u64,
    },
    /// From now on the node's application takes its mail after so long; never while this is absent.
    Taking {
        /// How long it has mail before it takes it.
        after_us: Option<u64>,
    },
    /// An adversary hands carriers mail for the node, each under an account of its own.
    Flood {
        /// How many.
        mails: u32,
        /// Time between two.
        every_us: u64,
    },
}

/// The most mail of one flood.
const MOST_MAILS: u32 = 10_000;

impl MailAct {
    /// The spans of time that it names, in microseconds.
    pub fn spans(&mut self) -> Option<&mut u64> {
        match self {
            MailAct::Lose | MailAct::LoseOne => None,
            MailAct::Unreachable { for_us } => Some(for_us),
            MailAct::Taking { after_us } => after_us.as_mut(),
            MailAct::Flood { every_us, .. } => Some(every_us),
        }
    }

    /// How much mail it brings about.
    #[must_use]
    pub const fn mails(&self) -> u64 {
        match self {
            MailAct::Flood { mails, .. } => *mails as u64,
            _ => 1,
        }
    }
}

/// What is wrong with an act, if anything is.
pub(super) fn wrong(act: &MailAct, plan: Option<&MailPlan>) -> Option<String> {
    if plan.is_none() {
        return Some("it is about mail, and engines.mail is absent".to_owned());
    }
    match act {
        MailAct::Flood { mails, .. } if *mails == 0 || *mails > MOST_MAILS => {
            Some(format!("a flood of {mails} mails, and 1 to {MOST_MAILS} are possible"))
        }
        _ => None,
    }
}
