//! When a transaction is spent: no clock up to the tolerance behind lets it be delivered any more.
//!
//! Promise: what is spent need not be remembered. A stream that is forgotten once all it admitted is spent reopens nothing.

use super::key::Class;
use super::transaction::Transaction;
use crate::flaws::{Flaw, Flaws};
use crate::identity::delegation::CLOCK_TOLERANCE_MS;
use crate::units::WallMs;

/// The longest time that mail may wait in a relay inbox, in milliseconds: seven days (decision 5).
pub const RELAY_INBOX_MAX_MS: u64 = 604_800_000;

/// The last instant at which a transaction can be delivered, by a clock up to the tolerance behind: after its lifetime, and
/// for application traffic after the time that mail may wait in a relay inbox (decision 5). It is spent after it.
#[must_use]
pub fn spent(transaction: &Transaction) -> WallMs {
    let spent = transaction.expires().plus_ms(CLOCK_TOLERANCE_MS);
    match transaction.class() {
        Class::Application => spent.plus_ms(RELAY_INBOX_MAX_MS + CLOCK_TOLERANCE_MS),
        Class::Control | Class::Storage | Class::E2e => spent,
    }
}

/// [`spent`], as an engine with these flaws reckons it.
pub(super) fn spent_by(transaction: &Transaction, flaws: Flaws) -> WallMs {
    if flaws.has(Flaw::RetiredTooEarly) { transaction.expires() } else { spent(transaction) }
}
