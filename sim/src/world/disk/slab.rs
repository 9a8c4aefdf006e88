//! A slab: values under small numbers that are used again.
//!
//! Promise: the same insertions and removals give the same numbers, and a removed value's memory is used again.

use std::ops::{Index, IndexMut};

/// Values under small numbers.
#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = Some(value);
            return id;
        }
        let id = u32::try_from(self.slots.len()).expect("a disk holds fewer than 2^32 things");
        self.slots.push(Some(value));
        id
    }

    /// # Panics
    /// When the number stands for nothing.
    pub(super) fn remove(&mut self, id: u32) -> T {
        let value = self.slots[id as usize].take().expect("removed twice");
        self.free.push(id);
        value
    }

    pub(super) fn get(&self, id: u32) -> Option<&T> {
        self.slots.get(id as usize).and_then(Option::as_ref)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Every value with its number, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots.iter().enumerate().filter_map(|(id, slot)| slot.as_ref().map(|value| (id as u32, value)))
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, id: u32) -> &T {
        self.slots[id as usize].as_ref().expect("the number stands for a value")
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, id: u32) -> &mut T {
        self.slots[id as usize].as_mut().expect("the number stands for a value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_number_is_used_again() {
        let mut slab = Slab::new();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), 'a');
        assert_eq!((slab.len(), slab.get(a)), (1, None));
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(a, &'c'), (b, &'b')]);
    }
}
