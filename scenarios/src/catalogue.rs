//! The scenarios that come with the command.

/// One scenario file of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The scenario's name.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
}

macro_rules! catalogue {
    ($($name:literal)*) => {
        /// Every scenario, in the order in which `all` runs them.
        pub const CATALOGUE: &[Entry] = &[$(Entry {
            name: $name,
            text: include_str!(concat!("../catalogue/", $name, ".toml")),
        },)*];
    };
}

catalogue! { "crash-mid-batch" "lane-interleaving" "skewed-clocks" }
