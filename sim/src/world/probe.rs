//! Looks at every point at which one life could be ended, and at what would be left of its disk there.
//!
//! Promise: looking changes no event of the run. A point that is given can be struck by a plan, as it is written here, and
//! what it says is left is what a plan with those survivors leaves.

use super::World;
use super::disk::{Ends, Image, Images, State, Unread, changes_the_disk};
use super::lives::Status;
use crate::ledger::encode::encode;
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::ledger::timeline::place_of;
use crate::plan::{Death, FaultKind, Phase, StepId, When};
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::host::disk::{DiskPath, DiskRequest};
use groundhog_engine::host::observe::Step;
use groundhog_engine::store::name::FileName;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What is looked at beside a run. The deaths that the plan decides always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The life whose points are looked at.
    pub life: Option<ProbedLife>,
}

/// A life whose points are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedLife {
    /// Whose.
    pub node: NodeId,
    /// Which.
    pub life: Life,
    /// Until its engines are open; else as long as faults may begin.
    pub opening: bool,
    /// The points, by number, of which it is asked what would be left.
    pub images_of: Range<u64>,
    /// Each state is given once, at the first point that leaves it.
    pub once: bool,
    /// States of one death that are looked at most.
    pub most_images: usize,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// The points, in their order; their places are their numbers.
    pub points: Vec<Point>,
    /// The deaths that the plan decides, in their order.
    pub deaths: Vec<DeathSeen>,
    /// The life was to be looked at until its engines were open, and quiescence came first: what it did from then on no
    /// fault may strike.
    pub late: bool,
}

/// A point at which the life could be ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Where it is.
    pub at: When,
    /// True simulated time.
    pub time: SimTime,
    /// Names what the life has given out so far: 0 while that is nothing.
    pub given_out: u128,
    /// Deaths of the plan itself that strike at the very place.
    pub own: Vec<FaultId>,
    /// What a process crash would leave.
    pub process: Left,
    /// What a power failure would leave.
    pub power: Left,
}

/// What one death would leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Distinct states.
    pub seen: u64,
    /// These, or those not seen at an earlier point.
    pub images: Vec<Image>,
    /// The bound was hit: there are more.
    pub more: bool,
}

/// A death that the plan decides, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeathSeen {
    /// Which.
    pub fault: FaultId,
    /// How many changes it decided.
    pub of: u32,
    /// What it left.
    pub state: State,
}

/// What a life gives out, which binds its node from then on.
const GIVEN_OUT: EventMask = EventMask::of(&[
    EventKind::ReserveAnswered,
    EventKind::Exposed,
    EventKind::FrameSent,
    EventKind::Relayed,
    EventKind::Arrived,
    EventKind::Answered,
    EventKind::Dispatched,
    EventKind::Handled,
    EventKind::EngineTransition,
    EventKind::EngineReleased,
    EventKind::EngineBatchClosed,
    EventKind::EngineBatchDurable,
]);

/// The operations that a death would cut short and that it asks about, by number; the struck one first.
type Cut = Vec<u64>;

/// The probe of one run.
#[derive(Debug, Default)]
pub(super) struct Prober {
    life: Option<ProbedLife>,
    probed: Probed,
    /// Whether the life has booted.
    begun: bool,
    given_out: u128,
    steps: BTreeMap<Step, u32>,
    seen: BTreeSet<(Death, State)>,
    /// What was left at the last point, as long as the disk has not changed.
    last: Option<(Cut, Ends)>,
}

impl Prober {
    pub(super) fn new(probe: Probe) -> Self {
        Self { life: probe.life, ..Self::default() }
    }

    /// Looks at one event.
    pub(super) fn event(&mut self, at: SimTime, event: &Event<'_>) {
        let Some(ProbedLife { node, life, opening, .. }) = self.life else { return };
        match event {
            Event::Booted { node: whose, life: which, .. } if (*whose, *which) == (node, life) => {
                (self.begun, self.probed.late) = (true, opening);
            }
            Event::Ready { node: whose, life: which } if (*whose, *which) == (node, life) => {
                self.probed.late = false
            }
            Event::Died { node: whose, life: which, .. } if (*whose, *which) == (node, life) => {
                (self.begun, self.probed.late) = (false, false);
            }
            Event::Quiesced if self.probed.late => self.life = None,
            _ if self.begun && place_of(event).0 == Some(node) && GIVEN_OUT.holds(EventKind::of(event)) => {
                let mut bytes = self.given_out.to_le_bytes().to_vec();
                encode(at, event, &mut bytes);
                let mut first = [0; 16];
                first.copy_from_slice(&Sha256::digest(&bytes)[..16]);
                self.given_out = u128::from_le_bytes(first);
            }
            _ => {}
        }
    }

    fn left(&mut self, death: Death, images: &Images, once: bool) -> Left {
        let seen = images.images.len() as u64;
        let is_new = |image: &&Image| !once || self.seen.insert((death, image.state));
        let images_given = images.images.iter().filter(is_new).cloned().collect();
        Left { seen, images: images_given, more: !images.complete }
    }
}

/// Names that `open` deletes unread: temporaries of the store.
pub(super) fn deleted_unread(root: &DiskPath, path: &DiskPath) -> bool {
    let text = path.as_str();
    let inside = text.rfind('/').is_some_and(|at| text[..at] == *root.as_str());
    inside && matches!(FileName::parse(path.name()), FileName::Temporary(_))
}

impl World {
    /// What the probe saw.
    pub fn probed(&mut self) -> Probed {
        self.prober.take().map(|prober| prober.probed).unwrap_or_default()
    }

    /// A disk operation is at one of its phases.
    pub(super) fn look_at_operation(
        &mut self,
        (node, life): (NodeId, Life),
        number: u64,
        phase: Phase,
        request: &DiskRequest,
        own: Option<usize>,
    ) {
        let Some(prober) = self.prober.as_mut().filter(|prober| prober.life.is_some()) else { return };
        if phase == Phase::After && changes_the_disk(request) {
            prober.last = None;
        }
        if !self.is_looked_at(node, life) {
            return;
        }
        let struck = (phase == Phase::Partly).then(|| (number, request.clone()));
        let at = When::Operation { node, life, operation: number, phase };
        self.look(at, own.into_iter().collect(), struck, Some(number));
    }

    /// An engine has reported a step; `own` are the plan's deaths that strike at it.
    pub(super) fn look_at_step(&mut self, node: NodeId, life: Life, step: Step, own: Vec<usize>) {
        if !self.is_looked_at(node, life) {
            return;
        }
        let prober = self.prober.as_mut().expect("somebody looks");
        let count = prober.steps.entry(step).or_default();
        *count += 1;
        let at = When::Step { node, life, step: StepId(step), table: None, count: *count };
        self.look(at, own, None, None);
    }

    /// A life has ended, and the disk with it.
    pub(super) fn look_at_death(&mut self, node: NodeId, fault: Option<FaultId>, asked: Option<usize>) {
        let (Some(prober), Some(fault), Some(asked)) = (&mut self.prober, fault, asked) else { return };
        let unread: Unread<'_> = &|path| deleted_unread(&self.store_root, path);
        let of = u32::try_from(asked).unwrap_or(u32::MAX);
        let state = self.disks[node.index()].state(unread);
        prober.probed.deaths.push(DeathSeen { fault, of, state });
    }

    /// The disk of a life has changed without an operation of it.
    pub(super) fn disk_changed_unasked(&mut self) {
        if let Some(prober) = &mut self.prober {
            prober.last = None;
        }
    }

    fn is_looked_at(&self, node: NodeId, life: Life) -> bool {
        let looked_at = self.prober.as_ref().and_then(|prober| prober.life.as_ref());
        looked_at.is_some_and(|looked_at| {
            let due = !looked_at.opening || self.nodes[node.index()].status == Status::Opening;
            looked_at.node == node && looked_at.life == life && due
        }) && !self.quiesced
            && self.is_alive(node, life)
    }

    fn look(&mut self, at: When, own: Vec<usize>, struck: Option<(u64, DiskRequest)>, except: Option<u64>) {
        let mut prober = self.prober.take().expect("somebody looks");
        let life = prober.life.clone().expect("a life is looked at");
        let own = own.into_iter().map(|index| &self.plan.faults[index]);
        let own = own.filter(|fault| matches!(fault.kind, FaultKind::Crash { .. })).map(|fault| fault.id);
        let mut point = Point {
            at,
            time: self.now(),
            given_out: prober.given_out,
            own: own.collect(),
            process: Left::default(),
            power: Left::default(),
        };
        if life.images_of.contains(&(prober.probed.points.len() as u64)) {
            let ends = self.ends(&mut prober, &life, struck, except);
            point.process = prober.left(Death::Process, &ends.process, life.once);
            point.power = prober.left(Death::Power, &ends.power, life.once);
        }
        prober.probed.points.push(point);
        self.prober = Some(prober);
    }

    fn ends(
        &mut self,
        prober: &mut Prober,
        life: &ProbedLife,
        struck: Option<(u64, DiskRequest)>,
        except: Option<u64>,
    ) -> Ends {
        let mut cut: Vec<(u64, DiskRequest)> = struck.into_iter().collect();
        cut.extend(self.requests_under_way(life.node, life.life, except));
        cut.retain(|(_, request)| changes_the_disk(request));
        let numbers: Cut = cut.iter().map(|(number, _)| *number).collect();
        if let Some((known, ends)) = &prober.last
            && *known == numbers
        {
            return ends.clone();
        }
        let unread: Unread<'_> = &|path| deleted_unread(&self.store_root, path);
        let requests: Vec<&DiskRequest> = cut.iter().map(|(_, request)| request).collect();
        let ends = self.disks[life.node.index()].ends(&requests, unread, life.most_images);
        prober.last = Some((numbers, ends.clone()));
        ends
    }
}
