//! What happened to a node's connections, taken in by its life: each gets its slot or gives it back.
//!
//! Promise: it is taken in before the next admission; on a ring, where connections come and go all the time, also at once,
//! by a task that does nothing else.

use super::LifeContext;
use super::connections::Slotted;
use crate::ledger::event::Event;
use crate::world::reconnect::ConnectionStep;
use std::sync::Arc;
use std::task::Poll;

/// Takes in every change so far.
pub(super) fn settle(context: &LifeContext) {
    let (node, life) = (context.node, context.life);
    let changes = context.shared.with(|world| {
        let changes = world.take_connection_changes(node, life);
        let did = |peer: crate::units::NodeId| world.nodes[peer.index()].identity.did();
        changes.into_iter().map(|change| (change, did(change.peer))).collect::<Vec<_>>()
    });
    if changes.is_empty() {
        return;
    }
    let slotted = context.connections.settle(&context.streams, changes);
    context.shared.with(|world| {
        for Slotted { peer, slot, step } in slotted {
            world.record(&match step {
                ConnectionStep::Admitted => Event::ConnectionAdmitted { node, life, peer, slot },
                ConnectionStep::Retired { under_way } => {
                    Event::ConnectionRetired { node, life, peer, slot, under_way }
                }
            });
        }
    });
}

/// Takes in changes as they come, for as long as the life goes on.
pub(super) async fn at_once(context: Arc<LifeContext>) {
    let (node, life) = (context.node, context.life);
    loop {
        std::future::poll_fn(|task| {
            match context.shared.with(|world| world.changes_wait(node, life, task.waker())) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        settle(&context);
    }
}
