//! Tests of the network.
