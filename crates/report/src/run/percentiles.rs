//! Latency percentiles of single operations.
