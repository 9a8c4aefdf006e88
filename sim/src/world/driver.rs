//! The driver: takes what is due, lets it happen, and lets the woken tasks run until none is ready.
//!
//! Promise: of two things due at one instant nothing runs between but what they woke; madsim's clock follows the world's,
//! 1 simulated microsecond to 1 of its milliseconds.

use super::timeline::Due;
use super::{Shared, World};
use crate::outcome::Cut;
use crate::units::{NodeId, SimTime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Nanoseconds of madsim's clock to one of the world's.
const DILATION: u64 = 1_000;

/// Spawned tasks leave traces in the executor until it is asked how many live; it is asked this often.
const PRUNE_EVERY_EVENTS: u64 = 10_000;

/// Runs a world to its end.
pub async fn drive(shared: &Shared, stop: &AtomicBool) -> Option<Cut> {
    let ready = shared.with(|world| Arc::clone(&world.ready));
    let mut handled: u64 = 0;
    let mut dilated_to = SimTime(0);
    ready.time_moved();
    loop {
        // What wakes no task needs neither the executor nor the world let go of.
        let (now, ended) = shared.with(|world| {
            while !world.ended && !ready.any() && handled < PRUNE_EVERY_EVENTS {
                handled += world.instant();
            }
            (world.now(), world.ended)
        });
        if ready.any() {
            if now > dilated_to {
                ready.time_moved();
            }
            let ahead_ns = (now.0 - dilated_to.0).saturating_mul(DILATION);
            dilated_to = now;
            madsim::time::advance(Duration::from_nanos(ahead_ns));
            ready.idle().await;
        }
        if let Some(cut) = ready.cut() {
            return Some(cut);
        }
        if handled >= PRUNE_EVERY_EVENTS {
            handled = 0;
            madsim::runtime::Handle::current().metrics().num_tasks();
        }
        if stop.load(Ordering::Relaxed) {
            return Some(Cut::Interrupted);
        }
        if ended {
            return None;
        }
    }
}

/// Kills every node and lets the executor drop what they left, so that nothing of the run outlives it.
pub async fn bury(shared: &Shared) {
    shared.with(World::kill_all);
    // One round drops the futures; the second drops what their destructors woke.
    for _ in 0..2 {
        madsim::time::sleep(Duration::from_millis(1)).await;
    }
}

impl World {
    /// Lets all that is due at the next instant happen before any task runs: the executor picks among all that it woke.
    /// Gives how much that was.
    fn instant(&mut self) -> u64 {
        let mut happened = 0;
        let mut due = Some(self.timeline.pop().expect("the end is always due"));
        while let Some(this) = due {
            self.happen(this);
            happened += 1;
            let more = !self.ended && self.timeline.next_at() == Some(self.now());
            due = if more { self.timeline.pop() } else { None };
        }
        happened
    }

    /// Lets one due thing happen.
    fn happen(&mut self, due: Due) {
        if self.ready.asks_who() {
            self.doing = due.word();
        }
        if let Some(node) = self.node_of(due)
            && self.hold_while_paused(node, due)
        {
            return;
        }
        match due {
            Due::Disk(key) => self.complete_disk(key),
            Due::Timer(key) => self.complete_timer(key),
            Due::Deliver { frame, .. } => self.deliver(frame),
            Due::FrameGivenUp { direction, generation, transfer, ends } => {
                self.frame_given_up(direction, generation, transfer, ends);
            }
            Due::Signal(key) => self.signal_arrives(key),
            Due::Act { index, ordinal } => self.act(index, ordinal),
            Due::Copy { message, copy } => self.send_copy(message, copy),
            Due::GiveUp { node, life, class } => self.give_up(node, life, class),
            Due::FaultBegin { index } => self.begin_fault(index as usize),
            Due::FaultEnd { index } => self.end_fault(index as usize),
            Due::Boot { node } => self.boot(node),
            Due::CorrectClock { node } => self.correct_clock(node),
            Due::Maintain { node, life } => self.maintain(node, life),
            Due::Gone { node, life } => self.gone(node, life),
            Due::HandOff { from, to } => self.handed_off(from, to),
            Due::Quiesce => self.quiesce(),
            Due::End => self.ended = true,
        }
    }

    /// A paused machine does nothing: what is due there waits until it goes on.
    fn hold_while_paused(&mut self, node: NodeId, due: Due) -> bool {
        let state = self.node(node);
        if !state.clock.is_paused() {
            return false;
        }
        state.held.push(due);
        true
    }
}
