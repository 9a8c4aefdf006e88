//! Everything that has a name: scenarios, laws, flaws, marks, limits.

/// The ids of known limits.
pub fn limit_ids() -> Vec<&'static str> {
    Vec::new()
}
