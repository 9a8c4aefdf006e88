//! The tables as group commit sees them: records to write and to remove, and effects to take back.

use super::custody::CustodyUndo;
use super::{Count, Filed, ReceiverStream, RecordKey, Tables};
use crate::commit::State;
use crate::host::observe::RecordName;
use crate::reserve::Counter;
use crate::store::Record;
use crate::streams::custody::CustodyIndex;
use crate::streams::key::{StreamKey, Table};
use crate::streams::link_local::LinkUndo;
use crate::streams::quota::{OriginQuota, QuotaUndo};
use crate::streams::slots::{Charges, SpentIndex};
use crate::streams::state_digest::StateDigest;
use crate::streams::window::WindowUndo;
use crate::units::WallMs;
use std::sync::Arc;

/// Takes back one effect on the tables.
pub(in crate::streams) enum Undo {
    /// A stream began.
    Began { key: RecordKey, newest_before: Option<RecordKey> },
    /// A stream reserved.
    Reserved { stream: StreamKey, counter: Counter },
    /// A stream admitted.
    Admitted { stream: StreamKey, window: WindowUndo, spent: WallMs },
    /// A stream has one delivery more in custody, the last of its list.
    TakenIntoCustody { stream: StreamKey },
    /// A delivery left custody.
    LeftCustody(Box<CustodyUndo>),
    /// A stream was retired.
    Retired(Box<ReceiverStream>),
    /// An origin's quota was asked: it was charged, or of a refusal refilled.
    Quota(QuotaUndo),
    /// A link's volatile window accepted.
    LinkLocal(LinkUndo),
    /// A refusal or a redelivery was counted.
    Counted(Count),
}

impl State for Tables {
    type Key = RecordKey;
    type Undo = Undo;

    fn table(&self, key: RecordKey) -> Table {
        key.table
    }

    fn name(&self, key: RecordKey) -> RecordName {
        key.name
    }

    fn encode(&self, key: RecordKey) -> Option<Record> {
        let record = |filed: &Filed, value| Record { storage_key: Arc::clone(&filed.storage_key), value };
        match key.table {
            Table::Sender => {
                let sender = self.senders.get(&key.stream)?;
                Some(record(&sender.filed, self.sender_value(sender)))
            }
            Table::Receiver => {
                let receiver = self.receivers.get(&key.stream)?;
                Some(record(&receiver.filed, receiver.value()))
            }
        }
    }

    fn undo(&mut self, undo: Undo) {
        const IN_ORDER: &str = "effects are taken back in reverse order";
        match undo {
            Undo::Began { key, newest_before } => {
                let was_there = match key.table {
                    Table::Sender => self.senders.swap_remove(&key.stream).is_some(),
                    Table::Receiver => self.give_up(&key.stream).is_some(),
                };
                assert!(was_there, "{IN_ORDER}");
                self.newest[key.table as usize] = newest_before;
            }
            Undo::Reserved { stream, counter } => {
                self.senders.get_mut(&stream).expect(IN_ORDER).counter = counter;
            }
            Undo::Admitted { stream, window, spent } => {
                let receiver = self.receivers.get_mut(&stream).expect(IN_ORDER);
                receiver.window.undo(&window);
                receiver.spent = spent;
                if receiver.stands > spent {
                    self.spent_index.change(receiver.introducer, (receiver.stands, spent), stream);
                    receiver.stands = spent;
                }
            }
            Undo::TakenIntoCustody { stream } => self.undo_taken_in(&stream),
            Undo::LeftCustody(left) => self.undo_left(*left),
            Undo::Retired(receiver) => {
                self.counters.retired -= 1;
                self.take_in(receiver);
            }
            Undo::Quota(undo) => {
                self.quota.as_mut().expect("a quota that was asked is there").undo(undo);
            }
            Undo::LinkLocal(undo) => undo.undo(),
            Undo::Counted(what) => self.undo_count(&what),
        }
    }

    /// A link's volatile window is not in the digest: nothing that is kept could tell what it was. Nor is what is counted,
    /// which begins again at each open.
    ///
    /// Whom streams are charged to, when they are spent and what is in custody stand in their records: charges and indexes
    /// are in the digest only where they do not follow from them, as they must.
    fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.senders.values().for_each(|sender| digest.add(&self.sender_value(sender)));
        let (mut charges, mut spent_index) = (Charges::new(self.bounds.slots), SpentIndex::default());
        let mut custody = CustodyIndex::default();
        for (stream, receiver) in &self.receivers {
            digest.add(&receiver.value());
            charges.add(receiver.introducer);
            spent_index.insert(receiver.introducer, receiver.stands, *stream);
            receiver.custody.iter().for_each(|entry| custody.insert(*stream, entry));
        }
        self.quota.iter().flat_map(OriginQuota::encoded).for_each(|record| digest.add(&record));
        if charges != self.charges {
            digest.add(format!("{:?}", self.charges).as_bytes());
        }
        let too_late = self.receivers.values().any(|receiver| receiver.stands > receiver.spent);
        if spent_index != self.spent_index || too_late {
            digest.add(b"the index of spent instants");
        }
        if custody != self.custody {
            digest.add(b"the index of relay custody");
        }
        digest.to_bytes()
    }
}
