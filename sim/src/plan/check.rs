//! Whether a plan is one: everything that it names exists, and every bound of the format holds.
//!
//! Promise: the world never meets a plan that this has not passed, so it may assert instead of answering.

use super::check_links as links;
use super::{Act, Action, DiskFault, Fault, FaultKind, LinkFault, Plan, Survivors, When};
use crate::units::NodeId;
use groundhog_engine::flaws::Flaw;
use groundhog_engine::streams::transaction::LIFETIME_MAX_MS;
use std::collections::BTreeSet;

/// The most actions that a plan may hold.
pub const MAX_ACTIONS: usize = 1_000_000;

/// The most faults that a plan may hold.
pub const MAX_FAULTS: usize = 1_000_000;

/// The most changes of one disk that a death in a plan may decide.
pub const MAX_SURVIVORS: u32 = 1 << 20;

/// The most messages that a plan may send, copies included.
pub const MAX_FRAMES: u64 = 100_000_000;

/// Why a text is no plan of this build.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Its format is another.
    #[error("the plan has format {found}, and this build reads format {expected} (the plan was written by groundhog {by})", expected = super::FORMAT)]
    Format {
        /// The format that it names.
        found: u64,
        /// The version that wrote it, as far as it says.
        by: String,
    },
    /// It says no format.
    #[error("this is no plan: it has no number under \"format\"")]
    NoFormat,
    /// It is not JSON, or has an unknown, missing or ill-typed field.
    #[error("the plan cannot be read: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Something that it names does not exist, or a bound is broken.
    #[error("{place}: {what}")]
    Wrong {
        /// Where in the plan.
        place: String,
        /// What is wrong there.
        what: String,
    },
}

/// The longest run, in microseconds: a hundred days.
pub(super) const MAX_RUN_US: u64 = 100 * 86_400 * 1_000_000;

/// The longest that one frame or one disk operation takes without a fault, in microseconds: a minute.
pub(super) const MAX_WAIT_US: u64 = 60_000_000;

/// The worst oscillator, in parts per million: a clock at half or one and a half times its speed.
const MAX_DRIFT_PPM: u64 = 500_000;

/// The most data in one message: with its proofs it fits one frame of 64 KiB.
const MAX_MESSAGE_BYTES: u32 = 61_440;

pub(super) fn ensure(
    holds: bool,
    place: impl FnOnce() -> String,
    what: impl FnOnce() -> String,
) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError::Wrong { place: place(), what: what() }) }
}

impl Plan {
    /// A plan from its text, checked.
    ///
    /// # Errors
    /// [`PlanError`] when the text is no plan of this build's format, or names what does not exist.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        let found = value.get("format").and_then(serde_json::Value::as_u64).ok_or(PlanError::NoFormat)?;
        if found != u64::from(super::FORMAT) {
            let by =
                value.get("groundhog").and_then(serde_json::Value::as_str).unwrap_or("unknown").to_owned();
            return Err(PlanError::Format { found, by });
        }
        // Read again from the text, so that errors carry line and column.
        let plan: Self = serde_json::from_str(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// Its text: a line for each of its things, stable, and read back to an equal plan.
    #[must_use]
    pub fn to_json(&self) -> String {
        super::text::of(self)
    }

    /// Checks what the format's types do not.
    ///
    /// # Errors
    /// [`PlanError::Wrong`] at the first thing that is wrong.
    pub fn check(&self) -> Result<(), PlanError> {
        let plan = || "plan".to_owned();
        ensure(self.format == super::FORMAT, plan, || format!("format {} is not this build's", self.format))?;
        ensure((1..=super::MAX_NODES).contains(&self.nodes.len()), plan, || {
            format!("{} nodes, and 1 to {} are possible", self.nodes.len(), super::MAX_NODES)
        })?;
        ensure(self.quiesce_us <= self.end_us, plan, || "quiesce_us comes after end_us".to_owned())?;
        ensure(self.actions.len() <= MAX_ACTIONS, plan, || format!("more than {MAX_ACTIONS} actions"))?;
        ensure(self.faults.len() <= MAX_FAULTS, plan, || format!("more than {MAX_FAULTS} faults"))?;
        for id in &self.flaws {
            ensure(Flaw::from_id(id).is_some(), plan, || format!("no flaw is called {id:?}"))?;
        }
        if let Some(Err(zero)) = self.engines.quota.map(|quota| quota.config()) {
            return Err(PlanError::Wrong { place: "engines".to_owned(), what: zero.to_string() });
        }
        if let Some(what) = self.engines.mail.as_ref().and_then(super::mail::MailPlan::wrong) {
            return Err(PlanError::Wrong { place: "engines.mail".to_owned(), what });
        }
        for (node, place) in self.nodes.iter().zip(0..) {
            ensure(
                node.id == NodeId(place),
                || format!("node {place}"),
                || format!("its id is {}", node.id.0),
            )?;
            ensure(node.cores > 0, || format!("node {place}"), || "it has no cores".to_owned())?;
        }
        self.check_figures()?;
        links::check(self)?;
        self.check_ring()?;
        let links = self.check_links()?;
        self.check_actions(&links)?;
        self.check_faults(&links)
    }

    /// Figures with which no run could mean anything: what they would break is no law of the engine's.
    fn check_figures(&self) -> Result<(), PlanError> {
        let within = |place: &str, value: u64, least: u64, most: u64| {
            let place = || place.to_owned();
            ensure((least..=most).contains(&value), place, || {
                format!("{value}, and {least} to {most} is possible")
            })
        };
        let unique: BTreeSet<&String> = self.flaws.iter().collect();
        ensure(unique.len() == self.flaws.len(), || "flaws".to_owned(), || "one stands twice".to_owned())?;
        within("end_us", self.end_us, 1, MAX_RUN_US)?;
        let engines = &self.engines;
        within("engines.stream_capacity", engines.stream_capacity.into(), 1, 1 << 20)?;
        within("engines.store_budget_bytes", engines.store_budget_bytes, 1 << 10, 1 << 40)?;
        within("engines.delegation_lifetime_ms", engines.delegation_lifetime_ms, 1, MAX_RUN_US)?;
        within("engines.transaction_lifetime_ms", engines.transaction_lifetime_ms, 1, LIFETIME_MAX_MS)?;
        let latency = &self.profile.disk_latency;
        for ns in [latency.metadata_ns, latency.transfer_ns, latency.flush_ns, latency.flush_directory_ns] {
            within("profile.disk_latency", ns, 0, MAX_WAIT_US * 1_000)?;
        }
        for link in &self.links {
            let place = format!("link {} - {}", link.a, link.b);
            within(&place, link.latency_us, 0, MAX_WAIT_US)?;
            within(&place, link.jitter_us, 0, MAX_WAIT_US)?;
        }
        for node in &self.nodes {
            let place = format!("the clock of {}", node.id);
            within(&place, node.clock.drift_ppm.unsigned_abs().into(), 0, MAX_DRIFT_PPM)?;
            within(&place, node.clock.offset_ms.unsigned_abs(), 0, MAX_RUN_US)?;
            within(&place, node.clock.wrong_at_boot_ms.unsigned_abs(), 0, MAX_RUN_US)?;
        }
        Ok(())
    }

    fn check_links(&self) -> Result<BTreeSet<(NodeId, NodeId)>, PlanError> {
        let mut links = BTreeSet::new();
        // Each peer has a connection slot.
        let most_peers = self.engines.slot_bounds().slots;
        let mut peers = vec![0; self.nodes.len()];
        for (link, place) in self.links.iter().zip(0_usize..) {
            let place = || format!("link {place}");
            ensure(link.a < link.b, place, || "its ends are not in order, or equal".to_owned())?;
            ensure(link.b.index() < self.nodes.len(), place, || format!("there is no {}", link.b))?;
            ensure((1..=4).contains(&link.channels), place, || format!("{} channels", link.channels))?;
            let shares = [link.loss_per_mille, link.duplicate_per_mille];
            ensure(shares.iter().all(|share| *share <= 1_000), place, || {
                "more than 1,000 of 1,000".to_owned()
            })?;
            ensure(links.insert((link.a, link.b)), place, || "another link has the same ends".to_owned())?;
            for end in [link.a, link.b] {
                peers[end.index()] += 1;
                ensure(peers[end.index()] <= most_peers, place, || {
                    format!("{end} has more than {most_peers} peers, and a node no more connection slots")
                })?;
            }
        }
        Ok(links)
    }

    fn check_actions(&self, links: &BTreeSet<(NodeId, NodeId)>) -> Result<(), PlanError> {
        let in_order = self.actions.is_sorted_by_key(|action| action.id);
        ensure(in_order, || "plan".to_owned(), || "its actions are not in order of id".to_owned())?;
        let mut frames = 0_u64;
        let mut ids = BTreeSet::new();
        for action in &self.actions {
            let place = || format!("action {}", action.id.0);
            ensure(ids.insert(action.id), place, || "another action has the same id".to_owned())?;
            ensure(action.at_us <= self.end_us, place, || "it comes after end_us".to_owned())?;
            self.node_exists(action.node, place)?;
            self.check_membership(action)?;
            check_act(self, action, links)?;
            if let Act::Send(burst) = &action.act {
                frames =
                    frames.saturating_add(u64::from(burst.count).saturating_mul(u64::from(burst.copies)));
            }
            if let Act::Flood(flood) = &action.act {
                frames = frames.saturating_add(u64::from(flood.count));
            }
        }
        ensure(
            frames <= MAX_FRAMES,
            || "plan".to_owned(),
            || format!("more than {MAX_FRAMES} frames are sent"),
        )
    }

    fn check_faults(&self, links: &BTreeSet<(NodeId, NodeId)>) -> Result<(), PlanError> {
        let mut ids = BTreeSet::new();
        for fault in &self.faults {
            let place = || format!("fault {}", fault.id.0);
            ensure(ids.insert(fault.id), place, || "another fault has the same id".to_owned())?;
            if let Some(until_us) = fault.until_us {
                ensure(until_us <= self.quiesce_us, place, || "it ends after quiesce_us".to_owned())?;
            }
            self.check_when(fault)?;
            match &fault.kind {
                FaultKind::Link { from, to, fault: kind, .. } => {
                    let ends = (*from.min(to), *from.max(to));
                    let linked = self.can_connect(links.contains(&ends), *from, *to);
                    ensure(linked, place, || format!("{from} and {to} are not linked"))?;
                    if let LinkFault::Loss { per_mille } | LinkFault::Duplicate { per_mille } = kind {
                        ensure(*per_mille <= 1_000, place, || "more than 1,000 of 1,000".to_owned())?;
                    }
                    if let LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel } = kind {
                        let channels = self.link_between(*from, *to).map_or(0, |link| link.channels);
                        ensure(*channel < channels, place, || {
                            format!("the pool has {channels} channels, and no channel {channel}")
                        })?;
                    }
                }
                FaultKind::Crash { node, survivors, .. } => {
                    self.node_exists(*node, place)?;
                    survivors.as_ref().map_or(Ok(()), |survivors| check_survivors(survivors, place))?;
                }
                FaultKind::Disk { node, .. }
                | FaultKind::Clock { node, .. }
                | FaultKind::StallHandler { node, .. }
                | FaultKind::SlowProcessor { node, .. } => self.node_exists(*node, place)?,
                FaultKind::Store { node, act, .. } => {
                    self.node_exists(*node, place)?;
                    for of in act.records() {
                        self.node_exists(of.origin, place)?;
                        self.node_exists(of.destination, place)?;
                        ensure(of.holder() == *node, place, || {
                            format!("{node} does not hold that record, {} does", of.holder())
                        })?;
                    }
                }
            }
            if let FaultKind::SlowProcessor { factor, .. }
            | FaultKind::Disk { fault: DiskFault::Slow { factor }, .. } = &fault.kind
            {
                ensure(*factor >= 2, place, || format!("{factor} times slower, and 2 is the least"))?;
            }
        }
        Ok(())
    }

    fn check_when(&self, fault: &Fault) -> Result<(), PlanError> {
        let place = || format!("fault {}", fault.id.0);
        match fault.at {
            When::Time { us } => {
                let until = fault.until_us.unwrap_or(self.quiesce_us);
                ensure(us <= until, place, || "it begins after it ends, or after quiesce_us".to_owned())
            }
            When::Step { node, count, .. } => {
                ensure(count > 0, place, || "steps are counted from 1".to_owned())?;
                self.node_exists(node, place)
            }
            When::Operation { node, .. } => {
                if let FaultKind::Crash { node: whose, .. } = fault.kind {
                    ensure(whose == node, place, || {
                        format!("an operation of {node} is struck by its own death, not {whose}'s")
                    })?;
                }
                self.node_exists(node, place)
            }
            When::Poll { node, .. } => self.node_exists(node, place),
        }
    }

    fn node_exists(&self, node: NodeId, place: impl FnOnce() -> String) -> Result<(), PlanError> {
        ensure(node.index() < self.nodes.len(), place, || format!("there is no {node}"))
    }
}

fn check_survivors(survivors: &Survivors, place: impl Fn() -> String) -> Result<(), PlanError> {
    let Survivors { of, kept } = survivors;
    ensure(*of <= MAX_SURVIVORS, &place, || format!("more than {MAX_SURVIVORS} changes of one disk"))?;
    ensure(kept.is_sorted_by(|one, next| one < next), &place, || {
        "the survivors kept are not in order, or one stands twice".to_owned()
    })?;
    ensure(kept.last().is_none_or(|last| last < of), &place, || {
        format!("a survivor beyond the {of} changes, which are counted from 0")
    })
}

fn check_act(plan: &Plan, action: &Action, links: &BTreeSet<(NodeId, NodeId)>) -> Result<(), PlanError> {
    let place = || format!("action {}", action.id.0);
    let linked = |one: NodeId, other: NodeId| {
        let found = links.contains(&(one.min(other), one.max(other)));
        ensure(found, place, || format!("{one} and {other} are not linked"))
    };
    match &action.act {
        Act::Send(burst) => {
            ensure(burst.copies > 0, place, || "no copy of its messages is sent".to_owned())?;
            ensure(burst.count > 0, place, || "it sends no message".to_owned())?;
            links::check_burst(plan, burst, MAX_MESSAGE_BYTES, place)?;
            ensure(action.node != burst.to, place, || format!("{} sends to itself", action.node))?;
            if burst.route != super::Route::Links {
                ensure(burst.via.is_none(), place, || "the ring finds the relays itself".to_owned())?;
                return plan.node_exists(burst.to, place);
            }
            match burst.via {
                None => linked(action.node, burst.to),
                Some(via) => {
                    linked(action.node, via)?;
                    linked(via, burst.to)
                }
            }
        }
        Act::RotateDelegatee => Ok(()),
        Act::Mail(act) => {
            let wrong = super::mail::wrong(act, plan.engines.mail.as_ref());
            wrong.map_or(Ok(()), |what| Err(PlanError::Wrong { place: place(), what }))
        }
        Act::Join | Act::Leave { .. } => Ok(()),
        Act::Replay { frame, to, .. } => {
            plan.node_exists(frame.origin, place)?;
            plan.node_exists(frame.destination, place)?;
            if plan.can_connect(false, action.node, *to) { Ok(()) } else { linked(action.node, *to) }
        }
        Act::Flood(flood) => flood.check(plan, action, links),
        Act::Reconnect(reconnect) => reconnect.check(action, links),
        Act::Signalling(signalling) => signalling.check(action),
        Act::PutBack(put_back) => put_back.check(action),
        Act::SecondRuntime(second) => second.check(plan, action),
    }
}
