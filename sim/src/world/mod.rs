//! The world: nodes with clocks, disks, processors and links, and the one heap of time that moves them.
//!
//! Promise: nothing happens in it but by the plan, by keyed draws of the plan's seed, and by the order in which the
//! executor, seeded by the plan, picks ready tasks.

mod disk_calls;
mod driver;
mod faults;
mod lives;
mod machine;
mod node;
mod observing;
mod slots;
mod tasks;
mod timeline;
mod timers;
mod traffic;
mod view;
mod workload;

pub use driver::drive;

use self::disk_calls::DiskCallMeta;
use self::faults::ActiveFaults;
use self::lives::NodeState;
use self::slots::Slots;
use self::tasks::ReadyTasks;
use self::timeline::Timeline;
use self::timers::Timer;
use self::traffic::Traffic;
use self::workload::Workload;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::units::{NodeId, SimTime};
use disk::Disk;
use groundhog_engine::host::disk::{DiskAnswer, DiskError};
use std::sync::{Arc, Mutex, Weak};

/// The world, shared by the driver and the machines of every life. One thread only: the lock is never contended.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<World>>);

impl Shared {
    /// Does something with the world. Never nested: whatever runs inside must not call back into a machine.
    pub fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        act(&mut self.0.lock().expect("a panic inside the world ends the run"))
    }
}

/// Everything that exists in one run.
pub struct World {
    plan: Arc<Plan>,
    shared: Weak<Mutex<World>>,
    ready: Arc<ReadyTasks>,
    executor: madsim::runtime::Handle,
    timeline: Timeline,
    nodes: Vec<NodeState>,
    disks: Vec<Disk>,
    traffic: Traffic,
    workload: Workload,
    faults: ActiveFaults,
    ledger: Ledger,
    disk_answers: Slots<DiskCallMeta, Result<DiskAnswer, DiskError>>,
    timers: Slots<Timer, ()>,
    quiesced: bool,
    ended: bool,
}

impl World {
    fn now(&self) -> SimTime {
        self.timeline.now()
    }

    fn node(&mut self, node: NodeId) -> &mut NodeState {
        &mut self.nodes[node.index()]
    }

    fn shared(&self) -> Shared {
        Shared(self.shared.upgrade().expect("the driver holds the world while it exists"))
    }
}
