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
