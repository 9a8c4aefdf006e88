//! Words that summaries use and that no list names: verdicts, causes of loss, refusals, deaths, faults, mail, classes.
//!
//! Promise: a word may have several senses, and `groundhog explain` gives all of them.

/// One sense of one word.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// What it is a kind of.
    pub sense: &'static str,
    /// As summaries spell it.
    pub word: &'static str,
    /// What it means, in a sentence.
    pub means: &'static str,
}

/// All of them.
pub const WORDS: &[Word] = &[
    Word {
        sense: "verdict",
        word: "first",
        means: "Dispatches: the first transaction of a stream that its receiver retains.",
    },
    Word {
        sense: "verdict",
        word: "advance",
        means: "Dispatches: a sequence above every one that was seen; the window moves on to it.",
    },
    Word {
        sense: "verdict",
        word: "late",
        means: "Dispatches: a sequence below the highest, inside the window, that was not seen before.",
    },
    Word { sense: "verdict", word: "replay", means: "Refused: the same transaction was admitted before." },
    Word {
        sense: "verdict",
        word: "fork",
        means: "Refused: another transaction was admitted at the same sequence, which is evidence against its origin.",
    },
    Word {
        sense: "verdict",
        word: "stale",
        means: "Refused: the sequence lies below the window, so that nobody can tell whether it was seen.",
    },
    Word {
        sense: "verdict",
        word: "redelivered",
        means: "Dispatches: mail that was admitted before and not taken, again out of relay custody.",
    },
    Word { sense: "cause of loss", word: "link-loss", means: "A frame was lost on its link." },
    Word {
        sense: "cause of loss",
        word: "partition",
        means: "A frame met a link that was cut, or had no live link.",
    },
    Word {
        sense: "cause of loss",
        word: "sender-crash",
        means: "The sender died with the message in its hands.",
    },
    Word {
        sense: "cause of loss",
        word: "receiver-crash",
        means: "The receiver, or the relay, died with the frame in flight or not yet handled.",
    },
    Word {
        sense: "cause of loss",
        word: "caller-gone",
        means: "The caller gave up waiting for its reservation or its admission.",
    },
    Word {
        sense: "cause of loss",
        word: "failed-batch",
        means: "The group commit of its reservation or admission failed, and was undone.",
    },
    Word {
        sense: "cause of loss",
        word: "refused",
        means: "Refused with a reason, which refusals count by name.",
    },
    Word { sense: "cause of loss", word: "verdict", means: "Refused by verdict: replay, fork or stale." },
    Word {
        sense: "cause of loss",
        word: "unverified",
        means: "A signature or a delegation did not verify: expired, from the future, or wrong.",
    },
    Word {
        sense: "cause of loss",
        word: "drop-after-admission",
        means: "Admitted, and dropped before it was dispatched.",
    },
    Word { sense: "cause of loss", word: "lane-full", means: "A bound of its lane refused it." },
    Word {
        sense: "cause of loss",
        word: "reference-miss",
        means: "A frame referred to a delegation that its receiver no longer kept.",
    },
    Word {
        sense: "cause of loss",
        word: "hold-refused",
        means: "Its destination was away, and no carrier held it.",
    },
    Word {
        sense: "cause of loss",
        word: "pushed-out",
        means: "Newer mail of the same inbox pushed it out of every carrier.",
    },
    Word {
        sense: "cause of loss",
        word: "mail-expired",
        means: "No carrier keeps it any longer: its time there was over.",
    },
    Word { sense: "cause of loss", word: "lost-at-carriers", means: "An accident took it at every carrier." },
    Word {
        sense: "cause of loss",
        word: "no-route",
        means: "No member nearer to its destination was known, or nobody could be connected to.",
    },
    Word {
        sense: "cause of loss",
        word: "hop-budget",
        means: "It had taken as many hops on the ring as it may.",
    },
    Word {
        sense: "cause of loss",
        word: "unexplained",
        means: "No cause is known. In a whole run this breaks the law streams/conservation; in a run that was cut short it is what was under way.",
    },
    Word {
        sense: "refusal",
        word: "persistence",
        means: "The group commit that it was part of failed, so that its result is not durable.",
    },
    Word {
        sense: "refusal",
        word: "disk",
        means: "A disk operation failed while the store was opened or read.",
    },
    Word { sense: "refusal", word: "overloaded", means: "More transitions wait for a commit than may." },
    Word { sense: "refusal", word: "unscheduled", means: "Nothing was started: the machine goes down." },
    Word {
        sense: "refusal",
        word: "storage-unavailable",
        means: "There is no store that is believed: every reservation and admission is refused.",
    },
    Word {
        sense: "refusal",
        word: "stream-unavailable",
        means: "The stream's record does not restore: that stream is refused until an operator clears it.",
    },
    Word {
        sense: "refusal",
        word: "stream-capacity-exceeded",
        means: "The stream is new, and the table, or whoever introduced it, is at its bound. Streams in the table go on.",
    },
    Word {
        sense: "refusal",
        word: "relay-custody-full",
        means: "So much mail was admitted and not taken that no more is let in; it stays where it is held.",
    },
    Word { sense: "refusal", word: "sequence-exhausted", means: "The stream's sequences would wrap." },
    Word {
        sense: "refusal",
        word: "spent",
        means: "It is too late for the transaction: its stream may be forgotten by now.",
    },
    Word { sense: "refusal", word: "not-destination", means: "The transaction is for another node." },
    Word {
        sense: "refusal",
        word: "chunk-envelope",
        means: "It carries a piece of a message: only what the pieces make together is admitted.",
    },
    Word {
        sense: "death",
        word: "process-crash",
        means: "A process ends at once; what it had written is still on its way to the disk.",
    },
    Word {
        sense: "death",
        word: "power-failure",
        means: "A machine loses its power: of what was written and not flushed any part may survive, names apart from content.",
    },
    Word {
        sense: "fault",
        word: "failed-directory-flush",
        means: "A flush of a directory fails: a name in it is not durable.",
    },
    Word {
        sense: "fault",
        word: "failed-flush",
        means: "A flush of a file fails; what it was to make durable may be gone.",
    },
    Word {
        sense: "fault",
        word: "lying-flush",
        means: "A flush says that it is done and makes nothing durable.",
    },
    Word { sense: "fault", word: "disk-error", means: "A disk operation fails with an input/output error." },
    Word { sense: "fault", word: "no-space", means: "The disk has no space for a time." },
    Word { sense: "fault", word: "bad-sector", means: "A sector can no longer be read." },
    Word { sense: "fault", word: "flipped-bit", means: "One bit comes back flipped." },
    Word { sense: "fault", word: "write-back", means: "The kernel writes back what was not flushed." },
    Word { sense: "fault", word: "slow-disk", means: "Disk operations take several times as long." },
    Word { sense: "fault", word: "stuck-disk", means: "Disk operations do not come back for a time." },
    Word { sense: "fault", word: "partition", means: "A link is cut for a time, in one direction or both." },
    Word { sense: "fault", word: "link-loss", means: "A link loses frames for a time." },
    Word { sense: "fault", word: "duplicates", means: "A link delivers frames twice for a time." },
    Word { sense: "fault", word: "delay", means: "Frames of a link take longer for a time." },
    Word { sense: "fault", word: "low-bandwidth", means: "A link carries little for a time." },
    Word {
        sense: "fault",
        word: "stalled-channel",
        means: "One channel of a link delivers nothing for a time.",
    },
    Word {
        sense: "fault",
        word: "stalled-receiver",
        means: "The receiver of one channel stands still for a time.",
    },
    Word { sense: "fault", word: "dropped-connection", means: "A connection is dropped, and begun anew." },
    Word { sense: "fault", word: "clock-step", means: "A wall clock steps forward or back." },
    Word { sense: "fault", word: "clock-drift", means: "A clock runs too fast or too slow for a time." },
    Word { sense: "fault", word: "clock-frozen", means: "A wall clock stands still for a time." },
    Word {
        sense: "fault",
        word: "machine-paused",
        means: "A machine stands still for a time, its clocks too, as one that is suspended.",
    },
    Word {
        sense: "fault",
        word: "clock-behind-at-boot",
        means: "A wall clock is behind after a boot, until it is corrected.",
    },
    Word {
        sense: "fault",
        word: "stalled-handler",
        means: "A node's handler of one class finishes nothing for a time.",
    },
    Word { sense: "fault", word: "slow-processor", means: "A node's processors are slow for a time." },
    Word {
        sense: "fault",
        word: "record-removed",
        means: "A record's file is removed, and its marker stays.",
    },
    Word {
        sense: "fault",
        word: "marker-removed",
        means: "A record's marker is removed, and the record stays.",
    },
    Word {
        sense: "fault",
        word: "record-renamed",
        means: "A record's file takes the name of another, whose content is gone.",
    },
    Word {
        sense: "fault",
        word: "record-in-upper-case",
        means: "A record's file takes its own name in upper case.",
    },
    Word { sense: "fault", word: "records-swapped", means: "The files of two records change places." },
    Word { sense: "fault", word: "record-truncated", means: "A record's file is cut short." },
    Word {
        sense: "fault",
        word: "record-bit-flipped",
        means: "One bit of a record's file is flipped where it lies.",
    },
    Word {
        sense: "fault",
        word: "record-unreadable",
        means: "One sector of a record's file cannot be read.",
    },
    Word {
        sense: "fault",
        word: "store-removed",
        means: "The store's directory is removed with everything in it.",
    },
    Word { sense: "fault", word: "budget-lowered", means: "The store is opened with a smaller budget." },
    Word {
        sense: "fault",
        word: "stream-cleared",
        means: "An operator clears one stream: its marker and its record are removed.",
    },
    Word {
        sense: "fault",
        word: "record-without-charge",
        means: "A record is as an older build wrote it, which charged streams to nobody.",
    },
    Word {
        sense: "fault",
        word: "shared-snapshot",
        means: "What an older build kept of all streams together lies in the store.",
    },
    Word { sense: "mail", word: "held", means: "A carrier took mail for a destination that was away." },
    Word { sense: "mail", word: "not held", means: "No carrier took it." },
    Word { sense: "mail", word: "fetched", means: "Its destination has done with it." },
    Word { sense: "mail", word: "taken", means: "The application of its destination took it." },
    Word {
        sense: "mail",
        word: "not taken",
        means: "The application of its destination did not take it, and it will come again.",
    },
    Word { sense: "mail", word: "expired", means: "Its time at the carriers was over." },
    Word { sense: "mail", word: "pushed-out", means: "Newer mail of the same inbox pushed it out." },
    Word {
        sense: "mail",
        word: "lost-at-every-carrier",
        means: "An act of the plan took it at every carrier. A message that was dispatched before is still dispatched.",
    },
    Word {
        sense: "mail",
        word: "carrier-lost",
        means: "An act of the plan took it at one carrier, and no other had it.",
    },
    Word {
        sense: "class",
        word: "control",
        means: "Traffic that keeps the network itself going; each class has a lane and streams of its own.",
    },
    Word { sense: "class", word: "storage", means: "Traffic of stored records." },
    Word { sense: "class", word: "e2e", means: "Traffic from end to end, which relays pass on." },
    Word { sense: "class", word: "application", means: "Traffic of applications, and mail." },
    Word {
        sense: "cause of loss",
        word: "still-held",
        means: "Carriers hold it at the end of the run: it is neither dispatched nor lost.",
    },
    Word {
        sense: "refusal",
        word: "byte-rate-exhausted",
        means: "The origin sends more bytes in a time than its quota allows; a later transaction may pass.",
    },
    Word {
        sense: "refusal",
        word: "message-rate-exhausted",
        means: "The origin sends more messages in a time than its quota allows; a later transaction may pass.",
    },
    Word {
        sense: "verdict",
        word: "refused",
        means: "Neither dispatched nor judged by the window: refused with a reason, which refusals count by name.",
    },
    Word { sense: "mail", word: "undelivered at the end", means: "Carriers hold it at the end of the run." },
    Word {
        sense: "refusal",
        word: "quota-table-capacity-exhausted",
        means: "As many origins of the class have buckets as the quota's table holds; a later transaction may pass.",
    },
    Word {
        sense: "refusal",
        word: "quota-clock-regressed",
        means: "The clock of the quota went backwards: nothing is charged by it.",
    },
    Word {
        sense: "line of a summary",
        word: "messages",
        means: "What the workload meant to send, what was dispatched, and what was lost.",
    },
    Word {
        sense: "line of a summary",
        word: "lost",
        means: "Messages that were not dispatched, each by exactly one cause.",
    },
    Word {
        sense: "line of a summary",
        word: "verdicts",
        means: "What engines answered to arriving transactions.",
    },
    Word {
        sense: "line of a summary",
        word: "refusals",
        means: "Why engines refused what never came to a verdict.",
    },
    Word { sense: "line of a summary", word: "faults", means: "Faults that struck, by kind." },
    Word { sense: "line of a summary", word: "deaths", means: "Nodes that died, by kind of death." },
    Word {
        sense: "line of a summary",
        word: "limits",
        means: "Known limits that were met, and how often: what would break a law, were it not a cost that the design accepts.",
    },
    Word {
        sense: "line of a summary",
        word: "bound",
        means: "The most that anything bounded ever held, beside its bound.",
    },
    Word { sense: "line of a summary", word: "batches", means: "Group commits, and the records in them." },
    Word {
        sense: "line of a summary",
        word: "marks",
        means: "States that seeds must reach, and how often they did.",
    },
    Word {
        sense: "line of a summary",
        word: "simulated",
        means: "Simulated time from the beginning to the end of the run.",
    },
    Word { sense: "line of a summary", word: "repeat", means: "The command that gives the same again." },
    Word {
        sense: "line of a summary",
        word: "fingerprint",
        means: "SHA-256 over every event of the run: equal for equal seeds, whatever machine runs them.",
    },
    Word {
        sense: "line of a summary",
        word: "swarm",
        means: "Which kinds of fault a seed has: off, light or heavy.",
    },
    Word {
        sense: "line of a summary",
        word: "flood",
        means: "What floods took, by the connection slots that the party had, and whom they hurt.",
    },
    Word {
        sense: "line of a summary",
        word: "shrunk",
        means: "What a failing plan was cut down to while the same law broke, and where that lies.",
    },
    Word {
        sense: "line of a summary",
        word: "images",
        means: "Distinct contents that a disk could be left with after the deaths of a sweep.",
    },
    Word {
        sense: "line of a summary",
        word: "recovery",
        means: "Crash points in the recovery from the deaths of a sweep.",
    },
    Word { sense: "outcome", word: "HELD", means: "No law was broken, and nothing was cut short." },
    Word {
        sense: "outcome",
        word: "FAILED",
        means: "A law was broken, or a mark or a figure missed: the block at the end says which.",
    },
    Word {
        sense: "outcome",
        word: "CUT",
        means: "A bound of time, polls or memory was hit, or it was interrupted.",
    },
    Word {
        sense: "outcome",
        word: "CUT SHORT",
        means: "What was run held or failed as it says; not all that was asked for was run.",
    },
    Word {
        sense: "outcome",
        word: "DIFFERS",
        means: "Two runs of one plan parted: the run is not deterministic.",
    },
    Word { sense: "outcome", word: "KEPT", means: "A plan lies among the kept ones now." },
    Word { sense: "outcome", word: "NONE", means: "Nothing of it was run." },
];

/// Every sense of one word.
pub fn senses(word: &str) -> impl Iterator<Item = &'static Word> {
    WORDS.iter().filter(move |entry| entry.word == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Manner, simulate};
    use std::sync::Arc;

    #[test]
    fn every_word_of_a_summary_is_explained() {
        for scenario in ["crash-mid-batch", "custody-churn", "bad-records"] {
            let settings = crate::target::settings(&["crypto=keyed-hash".to_owned()]).expect("a setting");
            let target = crate::target::find(scenario, &settings).expect("it is in the catalogue").remove(0);
            let outcome = simulate(&target.plan(0, &[]), &Manner::plain(Arc::default())).expect("it runs");
            let words = outcome.verdicts.keys().chain(outcome.losses.keys()).chain(outcome.refusals.keys());
            for word in words.chain(outcome.faults.keys()).chain(outcome.deaths.keys()) {
                assert!(senses(word).next().is_some(), "{scenario} says {word}");
            }
        }
    }

    #[test]
    fn no_sense_stands_twice() {
        for (place, one) in WORDS.iter().enumerate() {
            let twice = WORDS[..place].iter().any(|other| (other.sense, other.word) == (one.sense, one.word));
            assert!(!twice, "{one:?}");
        }
    }
}
