//! Completions that tasks wait for: a disk answer, the end of a sleep, of a charge, of a stall.
//!
//! Promise: a slot is filled at most once, a freed slot is never mistaken for its successor, and the slots of a dead life
//! are freed with it.

use std::task::Waker;

/// One slot, and which use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotKey {
    index: u32,
    generation: u32,
}

#[derive(Debug)]
struct Slot<M, T> {
    generation: u32,
    /// `None` while the slot is free.
    meta: Option<M>,
    waker: Option<Waker>,
    value: Option<T>,
}

/// Slots that carry `M` while they wait and hold `T` once filled.
#[derive(Debug)]
pub struct Slots<M, T> {
    slots: Vec<Slot<M, T>>,
    free: Vec<u32>,
}

impl<M, T> Default for Slots<M, T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<M, T> Slots<M, T> {
    /// A new waiting slot.
    pub fn open(&mut self, meta: M) -> SlotKey {
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 completions wait at once");
            self.slots.push(Slot { generation: 0, meta: None, waker: None, value: None });
            index
        });
        let slot = &mut self.slots[index as usize];
        assert!(slot.meta.is_none(), "a free slot holds nothing");
        slot.meta = Some(meta);
        SlotKey { index, generation: slot.generation }
    }

    fn get(&mut self, key: SlotKey) -> Option<&mut Slot<M, T>> {
        let slot = self.slots.get_mut(key.index as usize)?;
        (slot.generation == key.generation && slot.meta.is_some()).then_some(slot)
    }

    /// What an open slot carries; `None` once it is freed.
    pub fn meta(&mut self, key: SlotKey) -> Option<&mut M> {
        self.get(key).and_then(|slot| slot.meta.as_mut())
    }

    /// Whether the slot is open and not filled.
    pub fn waits(&mut self, key: SlotKey) -> bool {
        self.get(key).is_some_and(|slot| slot.value.is_none())
    }

    /// Fills a slot and wakes whoever waits. Does nothing when it is freed.
    pub fn fill(&mut self, key: SlotKey, value: T) {
        if let Some(slot) = self.get(key) {
            assert!(slot.value.is_none(), "a slot is filled once");
            slot.value = Some(value);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// Takes the value of a filled slot and frees it, or remembers who waits. `None` also for a freed slot, which never
    /// completes.
    pub fn take_or_wait(&mut self, key: SlotKey, waker: &Waker) -> Option<T> {
        let slot = self.get(key)?;
        if let Some(value) = slot.value.take() {
            self.free(key);
            return Some(value);
        }
        match &mut slot.waker {
            Some(waiting) if waiting.will_wake(waker) => {}
            waiting => *waiting = Some(waker.clone()),
        }
        None
    }

    /// Frees a slot; does nothing when it is free already.
    pub fn free(&mut self, key: SlotKey) -> Option<M> {
        let slot = self.get(key)?;
        let meta = slot.meta.take();
        slot.waker = None;
        slot.value = None;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.index);
        meta
    }

    /// What every open slot carries, in order of index.
    pub fn every_meta(&mut self) -> impl Iterator<Item = &mut M> {
        self.slots.iter_mut().filter_map(|slot| slot.meta.as_mut())
    }

    /// Every open slot's key and what it carries, in order of index.
    pub fn open_slots(&self) -> impl Iterator<Item = (SlotKey, &M)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let key = SlotKey { index: u32::try_from(index).ok()?, generation: slot.generation };
            slot.meta.as_ref().map(|meta| (key, meta))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_not_its_successor() {
        let mut slots: Slots<u8, u8> = Slots::default();
        let first = slots.open(1);
        slots.free(first);
        let second = slots.open(2);
        slots.fill(first, 9);
        assert_eq!(slots.take_or_wait(second, Waker::noop()), None);
        slots.fill(second, 7);
        assert_eq!(slots.take_or_wait(second, Waker::noop()), Some(7));
        assert_eq!(slots.open_slots().count(), 0);
    }
}
