//! Drafts for tests, and what is read of them.

use super::beat::{Beat, What};
use super::draft::{Deed, Draft, Place, Subject};
use super::joining::{Sequences, beats};
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::units::{NodeId, SimTime};

/// Where messages come from.
pub const FROM: NodeId = NodeId(0);
/// Where they go.
pub const TO: NodeId = NodeId(3);

/// One event of an application message, at a time in microseconds.
pub fn draft(us: u64, sequence: u64, place: Place, deed: Deed) -> Draft {
    let class = Class::Application;
    let stream = Some(StreamName { origin: FROM, destination: TO, class });
    let subject = Subject { message: None, stream, class, sequence: Some(sequence), copy: 0 };
    let at = SimTime::from_us(us);
    Draft { at, until: at, events: 1, place, subjects: vec![subject], deed, shown: true }
}

/// What the beats that drafts become say.
pub fn words(drafts: Vec<Draft>) -> Vec<String> {
    let text = |beat: Beat| match beat.what {
        What::At { text, .. } | What::Arrow { label: text, .. } => text,
        What::Link { text, .. } | What::Across(text) => text,
        What::Broken { saw, .. } => saw,
    };
    beats(drafts, &Sequences::new()).into_iter().map(text).collect()
}
