//! Whether what a plan says of its connections can be.

use super::check::PlanError;
use super::{Burst, ChunksPlan, Plan, ReferencesPlan};
use groundhog_engine::streams::chunks::{CHUNK_DATA_MAX_BYTES, CHUNK_DATA_MIN_BYTES};

/// The most data in one message that is cut: with its proofs it stays within what a message may be.
const MAX_LONG_MESSAGE_BYTES: u32 = 59_000_000;

/// The longest table of delegations.
const MAX_REFERENCES: u32 = 65_536;

fn ensure(holds: bool, place: &str, what: impl FnOnce() -> String) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError::Wrong { place: place.to_owned(), what: what() }) }
}

/// Checks the figures of `engines.links`.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let links = &plan.engines.links;
    if let Some(ReferencesPlan { sent, received }) = links.references {
        for entries in [sent, received] {
            ensure((1..=MAX_REFERENCES).contains(&entries), "engines.links.references", || {
                format!("{entries} delegations, and 1 to {MAX_REFERENCES} are possible")
            })?;
        }
    }
    let Some(ChunksPlan { chunk_bytes, .. }) = links.chunks else { return Ok(()) };
    let possible = CHUNK_DATA_MIN_BYTES..=CHUNK_DATA_MAX_BYTES - CHUNK_OVERHEAD_BYTES;
    ensure(possible.contains(&(chunk_bytes as usize)), "engines.links.chunks", || {
        format!("{chunk_bytes} bytes a piece, and {} to {} are possible", possible.start(), possible.end())
    })
}

/// Room that a piece leaves in its frame for its envelope.
const CHUNK_OVERHEAD_BYTES: usize = 2_048;

/// Checks what a burst has to do with connections.
pub(super) fn check_burst(
    plan: &Plan,
    burst: &Burst,
    frame_bytes: u32,
    place: impl Fn() -> String,
) -> Result<(), PlanError> {
    let links = &plan.engines.links;
    let most = if links.chunks.is_some() { MAX_LONG_MESSAGE_BYTES } else { frame_bytes };
    ensure(burst.bytes <= most, &place(), || {
        let takes = if links.chunks.is_some() { "a message cut into pieces" } else { "a frame" };
        format!("{} bytes a message, and {takes} takes at most {most}", burst.bytes)
    })?;
    if burst.envelopes == 0 {
        return Ok(());
    }
    ensure(links.namespace.is_some(), &place(), || {
        "it sends payloads of a namespace, and engines.links declares none".to_owned()
    })?;
    let application = burst.class == groundhog_engine::streams::key::Class::Application;
    ensure(application, &place(), || {
        format!(
            "it sends payloads of a namespace in class {}, and they are of class application",
            burst.class
        )
    })?;
    ensure(burst.cancel_admit_every == 0, &place(), || {
        "it sends payloads of a namespace, whose admissions no caller gives up".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Act, Crypto, LinksPlan, NamespacePlan, yardstick};
    use groundhog_engine::streams::key::Class;

    /// What is wrong with a plan that says this of its connections and of one burst.
    fn wrong(links: LinksPlan, class: Class, bytes: u32, envelopes: u32) -> Option<String> {
        let mut plan = yardstick::admissions(9, 1, Crypto::KeyedHash);
        plan.engines.links = links;
        for action in &mut plan.actions {
            if let Act::Send(burst) = &mut action.act {
                (burst.class, burst.bytes, burst.envelopes) = (class, bytes, envelopes);
            }
        }
        plan.check().err().map(|error| error.to_string())
    }

    #[test]
    fn a_plan_that_its_connections_cannot_carry_says_why() {
        let chunks = |chunk_bytes| {
            let (pending_messages, cost_bytes, peer_cost_bytes, tombstones) = (1, 1 << 20, 1 << 20, 1);
            let chunks =
                ChunksPlan { chunk_bytes, pending_messages, cost_bytes, peer_cost_bytes, tombstones };
            LinksPlan { chunks: Some(chunks), ..LinksPlan::default() }
        };
        let namespace = Some(NamespacePlan { delegates_message_limit: true });
        let declared = LinksPlan { namespace, ..LinksPlan::default() };
        let references = Some(ReferencesPlan { sent: 0, received: 1 });
        let (application, plain) = (Class::Application, LinksPlan::default());
        assert_eq!(wrong(plain, application, 64, 0), None);
        assert_eq!(wrong(declared, application, 64, 2), None);
        assert_eq!(wrong(chunks(1_024), application, 100_000, 0), None);
        for (links, class, bytes, envelopes, says) in [
            (plain, application, 100_000, 0, "a frame takes at most"),
            (chunks(1_024), application, 60_000_000, 0, "a message cut into pieces takes at most"),
            (chunks(1), application, 64, 0, "1 bytes a piece"),
            (LinksPlan { references, ..plain }, application, 64, 0, "0 delegations"),
            (plain, application, 64, 1, "declares none"),
            (declared, Class::Control, 64, 1, "are of class application"),
        ] {
            let saw = wrong(links, class, bytes, envelopes).expect("it cannot be");
            assert!(saw.contains(says), "{saw}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_written() {
        let plan = yardstick::admissions(9, 1, Crypto::KeyedHash);
        let text = plan.to_json();
        assert!(!text.contains("\"links\": {") && !text.contains("envelopes"), "{text}");
    }
}
