//! State of each node, by its place.
//!
//! Promise: looking a node up is one array access.

use crate::units::NodeId;

/// One value a node, made when it is first asked for.
#[derive(Clone, Debug, Default)]
pub struct PerNode<T>(Vec<T>);

impl<T: Default> PerNode<T> {
    /// The node's value.
    #[inline]
    pub fn at(&mut self, node: NodeId) -> &mut T {
        if self.0.len() <= node.index() {
            self.0.resize_with(node.index() + 1, T::default);
        }
        &mut self.0[node.index()]
    }

    /// Every node that was ever asked for, with its value, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut T)> {
        self.0.iter_mut().zip(0u16..).map(|(value, node)| (NodeId(node), value))
    }
}
