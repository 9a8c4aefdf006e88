//! Mail: hubs that are away while mail for them is sent, and what can go wrong with it afterwards.

use super::Draft;
use super::shape::Hub;
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, Death, Engines, FaultKind, MailAct, MailPlan, When};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;

/// How long after its boot a node's engines are open, with much to spare.
pub(super) const OPEN_US: u64 = 30_000;

/// Deliveries that fill custody (seed 000, Receiver streams by connection slot).
pub(super) const CUSTODY: u32 = 64;

/// How mail is held; `None` where the scenario has none.
pub(super) fn plan(draft: &Draft<'_>) -> Option<MailPlan> {
    let section = &draft.scenario.sections.mail;
    let mut dice = draft.dice("mail", 0);
    let lifetime_ms = section.lifetime_ms.roll_u64(&mut dice);
    (lifetime_ms > 0).then(|| MailPlan {
        lifetime_ms,
        carrier_bytes: section.carrier_bytes.roll_u64(&mut dice),
        drain_every_us: section.drain_every_ms.roll_u64(&mut dice) * 1_000,
        take_after_us: section.take_after_us.roll_u64(&mut dice),
    })
}

pub(super) fn draw(draft: &mut Draft<'_>, engines: &Engines) {
    let Some(mail) = engines.mail else { return };
    let hubs: Vec<(NodeId, Vec<NodeId>)> =
        draft.shape.hubs.iter().map(|Hub { node, .. }| (*node, draft.shape.neighbours(*node))).collect();
    if hubs.is_empty() {
        return;
    }
    let counts = [
        (Kind::MailAbsences, "absences"),
        (Kind::CustodyStalls, "stalls"),
        (Kind::CustodyResets, "resets"),
        (Kind::MailFloods, "floods"),
    ];
    let [absences, stalls, resets, floods] = counts.map(|(kind, purpose)| draft.faults_of(kind, purpose));
    for place in 0..absences {
        let (hub, neighbours) = &hubs[(place % hubs.len() as u64) as usize];
        Scene::new(draft, "absence", place, (*hub, neighbours), mail).absence(absences / hubs.len() as u64);
    }
    for place in 0..stalls {
        let (hub, neighbours) = &hubs[(place % hubs.len() as u64) as usize];
        Scene::new(draft, "stall", place, (*hub, neighbours), mail).stall();
    }
    for place in 0..resets {
        let (hub, neighbours) = &hubs[(place % hubs.len() as u64) as usize];
        Scene::new(draft, "reset", place, (*hub, neighbours), mail).reset();
    }
    for place in 0..floods {
        // All of them for one hub: its share of the inbox is what they are to fill.
        let (hub, neighbours) = &hubs[0];
        Scene::new(draft, "flood", place, (*hub, neighbours), mail).flood(floods);
    }
}

/// One scene at one hub.
pub(super) struct Scene<'a, 'd> {
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) dice: Dice,
    place: u64,
    pub(super) hub: NodeId,
    neighbours: &'a [NodeId],
    pub(super) mail: MailPlan,
}

impl<'a, 'd> Scene<'a, 'd> {
    fn new(
        draft: &'a mut Draft<'d>,
        purpose: &str,
        place: u64,
        (hub, neighbours): (NodeId, &'a [NodeId]),
        mail: MailPlan,
    ) -> Self {
        let dice = draft.dice(purpose, place);
        Self { draft, dice, place, hub, neighbours, mail }
    }

    /// The hub is away; mail comes; it is back, drains, and what the dice say goes wrong.
    fn absence(mut self, of_hub: u64) {
        let section = &self.draft.scenario.sections.mail;
        let dice = &mut self.dice;
        let away_us = section.away_ms.roll_u64(dice) * 1_000;
        let origins = section.origins.roll_u32(dice);
        let mails = section.mails.roll_u32(dice).min(CUSTODY / origins.max(1)).max(1);
        let overtaking = section.overtaking.roll_u32(dice);
        let dice = &mut self.dice;
        let chances = [
            Kind::MailDeaths,
            Kind::LostCarriers,
            Kind::UnreachableCarriers,
            Kind::RefusingApplications,
            Kind::LostMail,
        ];
        let draft = &self.draft;
        let [dies, carrier_lost, unreachable, refusing, lost] = chances.map(|kind| {
            let per_mille = kind.of(&draft.scenario.sections).roll_u64(dice);
            dice.per_mille(draft.intensity(kind).share(per_mille))
        });
        // Each absence of a hub has a part of the time for itself.
        let part_us = self.draft.chaos_us / of_hub.max(1).saturating_add(1);
        let turn = self.place / (self.draft.shape.hubs.len() as u64).max(1);
        let mut at_us = turn * part_us + self.dice.below(part_us / 8 + 1) + OPEN_US;
        let Some(origins) = self.origins(origins) else { return };
        if refusing {
            self.act(at_us, MailAct::Taking { after_us: None });
        }
        self.die(at_us, away_us);
        for origin in &origins {
            let within_us = away_us / 2 / u64::from(mails);
            self.send(at_us + away_us / 8, *origin, mails, within_us);
        }
        if carrier_lost {
            self.act(at_us + away_us * 7 / 8, MailAct::LoseOne);
        }
        at_us += away_us + OPEN_US + self.mail.drain_every_us;
        if unreachable {
            self.act(at_us + 5_000, MailAct::Unreachable { for_us: 3 * self.mail.drain_every_us });
            at_us += 2 * self.mail.drain_every_us;
        }
        if dies {
            // The drain pass is under way, or over and its mail not taken.
            let patience_us = if refusing { 2 * self.mail.drain_every_us } else { self.mail.take_after_us };
            at_us += self.dice.below(patience_us + 20_000);
            let down_us = OPEN_US;
            self.die(at_us, down_us);
            at_us += down_us + OPEN_US;
            if overtaking > 0 {
                self.send(at_us, origins[0], overtaking, 200);
            }
        }
        if lost {
            self.act(at_us, MailAct::Lose);
        }
        if refusing {
            let after_us = Some(self.mail.take_after_us);
            self.act(at_us + self.mail.drain_every_us, MailAct::Taking { after_us });
        }
    }

    /// 64 deliveries enter custody, nobody takes them, and every carrier loses them; then more mail comes.
    fn stall(mut self) {
        let section = &self.draft.scenario.sections.mail;
        let away_us = section.away_ms.roll_u64(&mut self.dice) * 1_000;
        let (origins, mails) =
            (section.origins.roll_u32(&mut self.dice), section.mails.roll_u32(&mut self.dice));
        let begin_us = OPEN_US + self.dice.below(1_000_000);
        let drain_us = self.mail.drain_every_us;
        self.act(begin_us, MailAct::Taking { after_us: None });
        let Some(origins) = self.origins(origins) else { return };
        let share = CUSTODY / origins.len() as u32;
        let more = CUSTODY % origins.len() as u32;
        self.die(begin_us, away_us);
        for (origin, place) in origins.iter().zip(0..) {
            let count = share + u32::from(place < more);
            self.send(begin_us + away_us / 8, *origin, count, away_us / 2 / u64::from(count.max(1)));
        }
        // Two passes, and then the process that had them all dies: it knows of none any more.
        let died_us = begin_us + away_us + 3 * drain_us;
        self.act(died_us - 1_000, MailAct::Lose);
        self.die(died_us, OPEN_US);
        self.act(died_us + 1_000, MailAct::Taking { after_us: Some(self.mail.take_after_us) });
        let again_us = died_us + 2 * drain_us;
        self.die(again_us, away_us);
        for origin in &origins {
            self.send(again_us + away_us / 8, *origin, mails, away_us / 2 / u64::from(mails));
        }
    }

    /// Part of the chaos, between two drain passes of the hub, which is there all the time.
    fn flood(mut self, floods: u64) {
        let mails = self.draft.scenario.sections.mail.flood_mails.roll_u32(&mut self.dice);
        let part_us = self.draft.chaos_us / floods.saturating_add(1);
        let at_us = OPEN_US + self.place * part_us;
        let every_us = (part_us / 2 / u64::from(mails)).min(1_000);
        self.act(at_us, MailAct::Flood { mails, every_us });
    }

    pub(super) fn origins(&mut self, count: u32) -> Option<Vec<NodeId>> {
        let mut origins = self.neighbours.to_vec();
        self.dice.shuffle(&mut origins);
        origins.truncate(count.max(1) as usize);
        (!origins.is_empty()).then_some(origins)
    }

    pub(super) fn send(&mut self, at_us: u64, from: NodeId, count: u32, every_us: u64) {
        let burst = Burst { count, every_us, ..Burst::one(self.hub, Class::Application) };
        self.push(at_us, from, Act::Send(burst));
    }

    pub(super) fn act(&mut self, at_us: u64, act: MailAct) {
        self.push(at_us, self.hub, Act::Mail(act));
    }

    fn push(&mut self, at_us: u64, node: NodeId, act: Act) {
        let at_us = at_us.min(self.draft.chaos_us - 1);
        self.draft.actions.push(Action { id: ActionId(0), at_us, node, act });
    }

    pub(super) fn die(&mut self, at_us: u64, down_us: u64) {
        let us = at_us.min(self.draft.chaos_us - 1);
        let kind = FaultKind::Crash { node: self.hub, death: Death::Process, down_us, survivors: None };
        self.draft.fault(When::Time { us }, None, kind);
    }
}
