//! What a person sees, apart from what is decided.

pub mod block;
pub mod columns;
pub mod plan_words;
pub mod progress;
pub mod quote;
pub mod text;
pub mod unwritten;
