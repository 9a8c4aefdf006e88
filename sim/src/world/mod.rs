//! The world: nodes with clocks, disks, processors and links, and the one heap of time that moves them.
//!
//! Promise: nothing happens in it but by the plan, by keyed draws of the plan's seed, and by the order in which the
//! executor, seeded by the plan, picks ready tasks.

pub mod adversary;
pub mod clock;
pub mod disk;
mod disk_calls;
mod driver;
mod faults;
mod flood;
mod lives;
mod machine;
pub mod mail;
mod mailbox;
pub mod network;
mod node;
mod observing;
pub mod plants;
pub mod probe;
pub mod processor;
mod put_back;
mod quiesce;
mod receiving;
mod reconnect;
mod references;
mod ring;
mod second_runtime;
mod signalling;
mod slots;
mod store_acts;
mod survival;
mod tasks;
mod timeline;
mod timers;
mod traffic;
mod transport;
mod view;
mod workload;

pub use driver::{bury, drive};
pub use node::account;
pub use transport::Program;

use self::disk_calls::DiskCallMeta;
use self::faults::ActiveFaults;
use self::lives::{NodeState, Status};
use self::mail::Mail;
use self::node::Identity;
use self::plants::Planted;
use self::probe::{Probe, Prober};
use self::ring::Members;
use self::second_runtime::SecondRuntimes;
use self::slots::Slots;
use self::tasks::ReadyTasks;
use self::timeline::{Due, Timeline};
use self::timers::Timer;
use self::traffic::Traffic;
use self::view::DiskView;
use self::workload::Workload;
use crate::laws::reading::RecordReader;
use crate::laws::{Names, Setting, catalogue};
use crate::ledger::Ledger;
use crate::outcome::{Cut, Outcome};
use crate::plan::Plan;
use crate::run::{RunError, RunOptions};
use crate::units::{ActionId, NodeId, SimTime};
use disk::Disk;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskPath};
use groundhog_engine::identity::Did;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The world, shared by the driver and the machines of every life. One thread only: the lock is never contended.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<World>>);

impl Shared {
    /// Does something with the world. Never nested: whatever runs inside must not call back into a machine.
    pub fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        // A panic inside the world is a defect of the simulator, told as such by the driver; destructors still run.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the simulator itself has panicked: what the world holds is not to be believed.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.0.is_poisoned()
    }
}

/// Everything that exists in one run.
pub struct World {
    plan: Arc<Plan>,
    program: Program,
    shared: Weak<Mutex<World>>,
    ready: Arc<ReadyTasks>,
    executor: madsim::runtime::Handle,
    timeline: Timeline,
    nodes: Vec<NodeState>,
    disks: Vec<Disk>,
    traffic: Traffic,
    workload: Workload,
    mail: Mail,
    faults: ActiveFaults,
    ledger: Ledger,
    disk_answers: Slots<DiskCallMeta, Result<DiskAnswer, DiskError>>,
    timers: Slots<Timer, ()>,
    quiesced: bool,
    ended: bool,
    /// What was due last; kept only where somebody looks on who asks for it.
    doing: &'static str,
    planted: Option<Arc<Planted>>,
    flaws: Flaws,
    store_root: DiskPath,
    /// Copies of disks that are to be put back, by the act that does.
    backups: BTreeMap<ActionId, Box<Disk>>,
    /// What the simulator said when it panicked.
    failure: Option<String>,
    prober: Option<Box<Prober>>,
    ring: Option<Box<Members>>,
    second_runtimes: SecondRuntimes,
}

/// What a world begins from.
pub struct Start {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What its nodes run.
    pub program: Program,
    /// The executor's node for each node of the plan.
    pub nodes: Vec<madsim::task::NodeId>,
    /// The executor.
    pub executor: madsim::runtime::Handle,
    /// What is planted in it.
    pub planted: Option<Arc<Planted>>,
    /// What is looked at beside the run.
    pub probe: Option<Probe>,
}

impl World {
    /// The world at time zero: every node is about to boot.
    ///
    /// # Errors
    /// [`RunError::Plan`] when the plan cannot be.
    pub fn begin(start: Start, options: RunOptions) -> Result<Shared, RunError> {
        let Start { plan, program, nodes: executor_nodes, executor, planted, probe } = start;
        let flaws = node::flaws_of(&plan.flaws).map_err(RunError::Plan)?;
        let traffic = Traffic::new(&plan, flaws).map_err(|error| RunError::Plan(error.to_string()))?;
        let crypto = node::crypto_of(&plan);
        let owners = plan.accounts();
        let mut nodes = Vec::with_capacity(plan.nodes.len());
        for (of_plan, executor) in plan.nodes.iter().zip(executor_nodes) {
            let identity = Identity::new(&plan, owners.of(of_plan.id), crypto);
            nodes.push(NodeState::new(of_plan, identity, executor));
        }
        let accounts =
            nodes.iter().zip(&plan.nodes).map(|(state, of_plan)| (of_plan.id, state.identity.did()));
        let accounts: Vec<(NodeId, Did)> = accounts.collect();
        // A second runtime is called by the node whose account it has.
        let first = accounts.iter().filter(|(node, _)| owners.of(*node) == *node);
        let names = Names::new(first.copied());
        let setting = Setting { plan: Arc::clone(&plan), names: names.clone(), reader: RecordReader::ENGINE };
        let laws = catalogue::build_all(&setting);
        let dids: Vec<_> = nodes.iter().map(|state| state.identity.did()).collect();
        let mail = Mail::new(&plan, &dids, crypto, flaws);
        let mut ledger_options = options.ledger;
        ledger_options.account_of.get_or_insert_with(|| Box::new(move |did| names.node(did)));
        let ledger = Ledger::new(&plan, laws, ledger_options);
        let world = Arc::new_cyclic(|shared| {
            Mutex::new(World {
                program,
                shared: shared.clone(),
                ready: ReadyTasks::new(options.poll_budget, ledger.asks_who()),
                executor,
                timeline: Timeline::default(),
                nodes,
                disks: plan.nodes.iter().map(|_| node::new_disk(&plan)).collect(),
                traffic,
                workload: Workload::new(&plan),
                mail,
                faults: ActiveFaults::new(&plan),
                ledger,
                disk_answers: Slots::default(),
                timers: Slots::default(),
                quiesced: false,
                ended: false,
                doing: "nothing was due yet",
                planted,
                flaws,
                store_root: node::store_root(),
                backups: BTreeMap::new(),
                failure: None,
                ring: Members::of(&plan, accounts.iter().map(|(_, did)| *did)).map(Box::new),
                second_runtimes: SecondRuntimes::of(&plan),
                prober: probe.map(|probe| Box::new(Prober::new(probe))),
                plan,
            })
        });
        let shared = Shared(world);
        shared.with(World::schedule);
        Ok(shared)
    }

    /// Everything that the plan says is due.
    fn schedule(&mut self) {
        for node in 0..self.nodes.len() {
            let node = NodeId(u16::try_from(node).expect("a plan holds at most MAX_NODES nodes"));
            self.timeline.at(SimTime(0), Due::Boot { node });
        }
        self.schedule_faults();
        self.schedule_actions();
        self.timeline.at(SimTime::from_us(self.plan.quiesce_us), Due::Quiesce);
        self.timeline.at(SimTime::from_us(self.plan.end_us), Due::End);
    }

    /// What the simulator said when it failed.
    pub fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// What the run gave.
    pub fn outcome(&mut self, cut: Option<Cut>) -> Outcome {
        self.ended = false;
        self.tell_of_stored_mail();
        self.ended = true;
        let view = DiskView::new(&self.disks, &self.nodes, &self.store_root);
        let now = self.timeline.now();
        let mut outcome = match cut {
            None => self.ledger.finish(now, &view),
            Some(_) => Outcome { cut, ..self.ledger.finish_cut(now, &view) },
        };
        if let Some(planted) = &self.planted {
            planted.at_the_end(&mut outcome);
        }
        outcome
    }

    /// Ends every life without an event: the run is over.
    fn kill_all(&mut self) {
        for state in &mut self.nodes {
            state.status = Status::Down;
            state.state.end();
            self.executor.kill(state.executor);
        }
    }

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
