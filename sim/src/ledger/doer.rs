//! Who was at work when an event was recorded: a task of a node, or the world itself.
//!
//! Promise: a name is the same in every run of a plan; it holds no address and no number of the process.

use crate::units::{Life, NodeId};
use groundhog_engine::streams::key::Class;
use std::fmt;

/// One of the tasks of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The first of a life: it opens the engines, then starts a reader for each lane that opens.
    Open,
    /// Reserves for, signs and pushes the messages of one class.
    Sender(Class),
    /// Verifies, admits and handles what arrives on one lane of one peer.
    Reader {
        /// Whose frames.
        peer: NodeId,
        /// Of which lane.
        class: Class,
    },
    /// Gives slots to connections as they come and go.
    Connections,
    /// Looks after the node's mail, by its name, such as `drain`.
    Mail(&'static str),
    /// Started by an engine, by the engine's name for it, such as `commit-writer`.
    Engine(&'static str),
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open (opens the engines, starts readers)"),
            Self::Sender(class) => write!(f, "sender of {class}"),
            Self::Reader { peer, class } => write!(f, "reader of {class} from {peer}"),
            Self::Connections => f.write_str("connections (gives them slots)"),
            Self::Mail(name) => write!(f, "{name} (of the relay inbox)"),
            Self::Engine(name) => write!(f, "{name} (of the engine)"),
        }
    }
}

/// Who was at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    /// A task of one life.
    Task {
        /// Whose.
        node: NodeId,
        /// In which life.
        life: Life,
        /// Which of its tasks.
        task: Task,
    },
    /// No task: the world, because this was due.
    World(&'static str),
}

impl Doer {
    /// The node and the life of a task.
    #[must_use]
    pub const fn place(&self) -> Option<(NodeId, Life)> {
        match self {
            Self::Task { node, life, .. } => Some((*node, *life)),
            Self::World(_) => None,
        }
    }

    /// The task without its node, as a report names it; for the world, what was due.
    #[must_use]
    pub fn task(&self) -> String {
        match self {
            Self::Task { task, .. } => task.to_string(),
            Self::World(due) => format!("none: {due}"),
        }
    }
}

impl fmt::Display for Doer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task { node, life, task } => write!(f, "{node}, life {}, {task}", life.0),
            Self::World(due) => write!(f, "the world, {due}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_named_with_its_node_and_the_world_with_what_was_due() {
        let (node, life) = (NodeId(3), Life(1));
        let names = [
            (Task::Open, "open (opens the engines, starts readers)"),
            (Task::Sender(Class::Storage), "sender of storage"),
            (Task::Reader { peer: NodeId(7), class: Class::Control }, "reader of control from node 7"),
            (Task::Connections, "connections (gives them slots)"),
            (Task::Engine("commit-writer"), "commit-writer (of the engine)"),
        ];
        for (task, name) in names {
            let doer = Doer::Task { node, life, task };
            assert_eq!(doer.task(), name);
            assert_eq!(doer.to_string(), format!("node 3, life 1, {name}"));
            assert_eq!(doer.place(), Some((node, life)));
        }
        let world = Doer::World("a frame arrives");
        assert_eq!((world.task().as_str(), world.place()), ("none: a frame arrives", None));
        assert_eq!(world.to_string(), "the world, a frame arrives");
    }
}
