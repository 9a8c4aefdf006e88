//! The acts of a plan on its nodes' stores, as laws need them: which records each touches.
//!
//! Promise: what an act touches stands in the plan, and nothing that an engine says adds to it.

use super::Setting;
use crate::plan::{Act, FaultKind, RecordOf, StoreAct};
use crate::units::{ActionId, FaultId, MessageId, NodeId};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey, Table};
use std::collections::BTreeMap;

/// One act.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Whose store.
    pub node: NodeId,
    /// What is done.
    pub act: StoreAct,
    /// Whether the node runs meanwhile.
    pub while_it_runs: bool,
    /// The records that it names; none where it touches all, or none.
    pub records: Vec<(RecordName, StreamKey, Table)>,
}

impl Touch {
    /// Whether every record of the node is gone.
    #[must_use]
    pub const fn is_of_all(&self) -> bool {
        matches!(self.act, StoreAct::RemoveStore)
    }

    /// Whether what the records hold is another thing afterwards.
    #[must_use]
    pub const fn changes_records(&self) -> bool {
        !matches!(
            self.act,
            StoreAct::RemoveMarker { .. } | StoreAct::LowerBudget { .. } | StoreAct::SharedSnapshot
        )
    }

    /// Whether the receiver's window of this stream at the node begins again.
    #[must_use]
    pub fn forgets_receiver(&self, node: NodeId, stream: &StreamKey) -> bool {
        let named =
            |(_, of, table): &(RecordName, StreamKey, Table)| of == stream && *table == Table::Receiver;
        self.node == node && self.act.forgets() && (self.is_of_all() || self.records.iter().any(named))
    }
}

/// The acts of one plan.
#[derive(Clone, Debug, Default)]
pub struct StoreActs(BTreeMap<FaultId, Touch>);

impl StoreActs {
    /// Of one run.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        let key = |of: &RecordOf| -> Option<(RecordName, StreamKey, Table)> {
            let stream = StreamKey {
                network_id: NetworkId(setting.plan.engines.network_id),
                origin: setting.names.did(of.origin)?,
                destination: setting.names.did(of.destination)?,
                class: of.class,
            };
            Some(((setting.reader.name)(of.table, &stream), stream, of.table))
        };
        let touches = setting.plan.faults.iter().filter_map(|fault| match &fault.kind {
            FaultKind::Store { node, act, stopped_us } => {
                let records = act.records().iter().filter_map(key).collect();
                let touch = Touch { node: *node, act: *act, while_it_runs: *stopped_us == 0, records };
                Some((fault.id, touch))
            }
            _ => None,
        });
        Self(touches.collect())
    }

    /// The act that this fault is.
    #[must_use]
    pub fn get(&self, fault: FaultId) -> Option<&Touch> {
        self.0.get(&fault)
    }

    /// Whether the plan has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Which way the messages of each burst of a plan go.
#[derive(Clone, Debug, Default)]
pub struct Routes(BTreeMap<ActionId, (NodeId, NodeId, Class)>);

impl Routes {
    /// Of one run.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        let sends = setting.plan.actions.iter().filter_map(|action| match &action.act {
            Act::Send(burst) => Some((action.id, (action.node, burst.to, burst.class))),
            _ => None,
        });
        Self(sends.collect())
    }

    /// Origin, destination and class of a message.
    #[must_use]
    pub fn get(&self, message: MessageId) -> Option<(NodeId, NodeId, Class)> {
        self.0.get(&message.action).copied()
    }
}
