//! What is to be reached on one core of an ordinary machine (design, How fast).

/// Messages a second through the network alone, by nodes.
pub const MESSAGES_PER_SECOND: [(u16, u64); 3] = [(10, 2_500_000), (100, 2_200_000), (1_000, 1_800_000)];

/// Times as fast as real time with one small message a node each 10 ms, by nodes.
pub const TIMES_REAL: [(u16, u64); 3] = [(10, 2_500), (100, 220), (1_000, 18)];

/// Durable admissions a second at ten nodes.
pub const ADMISSIONS_PER_SECOND: u64 = 100_000;

/// What they are never to be below.
pub const ADMISSIONS_PER_SECOND_AT_LEAST: u64 = 40_000;

/// What a thousand nodes are to reach of ten nodes' rate, in thousandths.
pub const MANY_NODES_PER_MILLE: u64 = 700;
