//! `streams/relay-unchanged`: a node that relays keeps no record of the streams that it relays.

use super::names::Names;
use super::reading::{RecordReader, RecordValue};
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::plan::{Accounts, Act};
use crate::units::{NodeId, SimTime};
use std::collections::BTreeSet;

/// See the module.
pub struct RelayUnchanged {
    names: Names,
    reader: RecordReader,
    relays: BTreeSet<NodeId>,
    accounts: Accounts,
}

impl RelayUnchanged {
    /// Its id.
    pub const ID: &'static str = "streams/relay-unchanged";
    /// What it states.
    pub const STATES: &'static str =
        "An intermediate relay does not read or advance origin replay state (000, Receiver state machine).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let relays = setting.plan.actions.iter().filter_map(|action| match &action.act {
            Act::Send(burst) => burst.via,
            Act::Flood(flood) => flood.via,
            _ => None,
        });
        // Any member may relay what goes by the ring.
        let members = setting.plan.nodes.iter().filter(|_| setting.plan.ring.is_some()).map(|node| node.id);
        let relays = relays.chain(members);
        let accounts = setting.plan.accounts();
        Self { names: setting.names.clone(), reader: setting.reader, relays: relays.collect(), accounts }
    }

    fn look(&self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        for (record, _) in view.visible_records(node) {
            let Some(read) = self.reader.image(&view.visible_image(node, record)) else { continue };
            let owner = match read.value {
                RecordValue::Sender(_) => read.stream.origin,
                RecordValue::Receiver(_) => read.stream.destination,
            };
            if self.names.node(&owner).is_some_and(|owner| owner != self.accounts.of(node)) {
                let saw =
                    format!("{node} relayed {} and holds a record of it", self.names.stream(&read.stream));
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }
}

impl Law for RelayUnchanged {
    law_identity!(Outcome reads Booted);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        if let Event::Booted { node, life, .. } = event
            && life.0 > 0
            && self.relays.contains(node)
        {
            self.look(at, *node, view, broken);
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        for node in &self.relays {
            self.look(at, *node, view, broken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, plan_of_a_burst, receiver_record, sender_record};

    #[test]
    fn a_relay_holds_records_of_its_own_streams_only() {
        let mut plan = plan_of_a_burst(1, 3, 1);
        let Act::Send(burst) = &mut plan.actions[0].act else { unreachable!("the plan is one burst") };
        burst.via = Some(NodeId(2));
        let setting = Ledger::setting_of(plan);

        let mut ledger = Ledger::over(RelayUnchanged::new(&setting));
        ledger.view.certain(2, sender_record(2, 3), Image::Lease(1, (2, 3), 63));
        ledger.view.certain(2, receiver_record(1, 2), Image::Window(1, (1, 2), vec![(0, 1)]));
        assert_eq!(ledger.finish(), Vec::<String>::new());

        let mut ledger = Ledger::over(RelayUnchanged::new(&setting));
        ledger.view.certain(2, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(0, 1)]));
        assert_eq!(ledger.finish(), ["node 2 relayed node 1->node 3/application and holds a record of it"]);
    }
}
