//! What happens to nodes, and on the ring, as bytes.

use super::encoder::Encoder;
use crate::ledger::event::Event;
use crate::units::NodeId;

/// What happens to a node, its clocks and its disk, and to the plan's faults.
pub(super) fn encode_machine(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Booted { node, life, wall } => {
            out.place(node, life);
            out.number(wall.0);
        }
        Event::Ready { node, life } => out.place(node, life),
        Event::Panicked { node, life, message } => {
            out.place(node, life);
            out.text(message);
        }
        Event::ThreadStarted { node, life, task } => {
            out.place(node, life);
            out.task(task);
        }
        Event::OpenFailed { node, life, reason } => {
            out.place(node, life);
            out.text(reason);
        }
        Event::Died { node, life, death, during, gathering, fault } => {
            out.place(node, life);
            out.byte(death as u8);
            out.flag(gathering);
            out.option(fault.map(|fault| u64::from(fault.0)));
            match during {
                None => out.byte(0),
                Some((step, batch, roles)) => {
                    out.byte(1 + step as u8);
                    out.number(batch.0);
                    out.roles(roles);
                }
            }
        }
        Event::PowerLost { node, kept, lost } => {
            out.number(u64::from(node.0));
            out.number(u64::from(kept));
            out.number(u64::from(lost));
        }
        Event::ClockSet { node, from, to } => {
            out.number(u64::from(node.0));
            out.number(from.0);
            out.number(to.0);
        }
        Event::DiskAnswered { node, life, number, operation, bytes, error, injected } => {
            out.place(node, life);
            out.number(number);
            out.byte(operation as u8);
            out.number(u64::from(bytes));
            out.byte(error.map_or(0, |kind| 1 + kind as u8));
            out.flag(injected);
        }
        Event::FaultBegan { fault } | Event::FaultEnded { fault } => out.number(u64::from(fault.0)),
        Event::Quiesced => {}
        _ => unreachable!("encoded elsewhere"),
    }
}

/// What happens on the ring.
pub(super) fn encode_ring(event: &Event<'_>, out: &mut Encoder<'_>) {
    let node_number = |node: NodeId| u64::from(node.0);
    match *event {
        Event::Joined { node } => out.number(node_number(node)),
        Event::Left { node, life, hand_off } => {
            out.place(node, life);
            out.flag(hand_off);
        }
        Event::Routed { message, node, next, hops, stale } => {
            out.message(message);
            out.number(node_number(node));
            out.number(node_number(next));
            out.byte(hops);
            out.flag(stale);
        }
        Event::HandedOff { from, to, mails } => {
            out.number(node_number(from));
            out.number(node_number(to));
            out.number(mails.into());
        }
        _ => unreachable!("encoded elsewhere"),
    }
}
