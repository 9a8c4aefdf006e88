//! The ring that nodes live on: who stands where, who answers for what, and which way a message goes.
//!
//! Promise: pure; positions are exact 160-bit integers, and every hop that [`next_hop`] names is strictly nearer to its
//! destination, so that no message goes in a circle whatever the views on its way say.

mod order;
mod position;
#[cfg(test)]
mod tests;
mod view;

pub use order::{Order, next_hop};
pub use position::{Distance, Position};
pub use view::{Holders, View};
