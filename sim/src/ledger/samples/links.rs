//! What transports and applications do beside admissions.

use super::*;

pub(super) fn link_events() -> Vec<Event<'static>> {
    let at = |node, life, event| Event::Link { node, life, event };
    let acted = |message, payload, refused| LinkEvent::Acted { message, payload: [payload; 32], refused };
    let chunk = |message, outcome, cost_bytes, pending, expired, overflowed| LinkEvent::Chunk {
        message,
        outcome,
        cost_bytes,
        pending,
        expired,
        overflowed,
    };
    let (one, other) = (Some(message(0)), Some(message(1)));
    let events = [
        acted(one, 1, None),
        acted(None, 1, None),
        acted(one, 2, None),
        acted(one, 1, Some("already-acted")),
        acted(one, 1, Some("other-epoch")),
        LinkEvent::Referenced { message: one, to: N, references: 1 },
        LinkEvent::Referenced { message: other, to: N, references: 1 },
        LinkEvent::Referenced { message: one, to: N2, references: 1 },
        LinkEvent::Referenced { message: one, to: N, references: 2 },
        LinkEvent::Resolved { frame: FrameNumber(0), references: 1 },
        LinkEvent::Resolved { frame: FrameNumber(1), references: 1 },
        LinkEvent::Resolved { frame: FrameNumber(0), references: 2 },
        LinkEvent::Told { peer: N, known: true },
        LinkEvent::Told { peer: N2, known: true },
        LinkEvent::Told { peer: N, known: false },
        chunk(one, "waits", 1, 1, 0, 0),
        chunk(other, "waits", 1, 1, 0, 0),
        chunk(one, "complete", 1, 1, 0, 0),
        chunk(one, "waits", 2, 1, 0, 0),
        chunk(one, "waits", 1, 2, 0, 0),
        chunk(one, "waits", 1, 1, 1, 0),
        chunk(one, "waits", 1, 1, 0, 1),
        LinkEvent::Dropped { message: one },
        LinkEvent::Dropped { message: None },
    ];
    let placed = [(N2, L), (N, L2)].map(|(node, life)| at(node, life, LinkEvent::Dropped { message: one }));
    events.into_iter().map(|event| at(N, L, event)).chain(placed).collect()
}
