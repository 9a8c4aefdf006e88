//! What a story is made of: one thing that happened, in the words that stand in a node's column.

use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::units::{NodeId, SimTime};

/// One message of a story: its stream, and its place in it where that is known.
pub type About = (StreamName, Option<u64>);

/// What a beat does to the line of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: life goes on.
    Plain,
    /// The life ends here.
    Death,
    /// A life begins here.
    Boot,
    /// Something of the plan strikes here.
    Fault,
    /// Something here is not as it should be.
    Wrong,
}

/// What happened, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// In the column of one node.
    At {
        /// The node.
        node: NodeId,
        /// In a few words.
        text: String,
        /// What it does to the node's line.
        mark: Mark,
    },
    /// From one column to another.
    Arrow {
        /// Who sent it.
        from: NodeId,
        /// Whom it reached.
        to: NodeId,
        /// What it carries.
        label: String,
    },
    /// Over all columns.
    Across(String),
    /// A fault of the link between two nodes.
    Link {
        /// The two.
        ends: (NodeId, NodeId),
        /// In a few words.
        text: String,
    },
    /// A law was broken.
    Broken {
        /// The law's id.
        law: &'static str,
        /// What it saw.
        saw: String,
    },
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// When: of several events the first.
    pub at: SimTime,
    /// How many events it tells.
    pub events: u64,
    /// The messages that it is about.
    pub about: Vec<About>,
    /// What happened.
    pub what: What,
    /// Whether it is to be looked at; a run that is looked at in part goes on behind it.
    pub shown: bool,
}

impl Beat {
    /// Whether it is one of those that a story turns on: a death, a boot, a fault, a broken law.
    pub const fn is_notable(&self) -> bool {
        match &self.what {
            What::At { mark, .. } => !matches!(mark, Mark::Plain),
            What::Broken { .. } | What::Link { .. } => true,
            What::Arrow { .. } | What::Across(_) => false,
        }
    }

    /// The nodes in whose columns it stands.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let (one, other) = match self.what {
            What::At { node, .. } => (Some(node), None),
            What::Arrow { from, to, .. } => (Some(from), Some(to)),
            What::Across(_) | What::Link { .. } | What::Broken { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }
}
