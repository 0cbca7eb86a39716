//! What lies at a place whose values have numbers for keys, as those of SQLite's kvtest.

use serde::Serialize;

/// The keys of a place, and which of them are visited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KeySurvey {
    /// Values there are.
    pub values: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// The largest key.
    pub largest_key: u64,
    /// The largest key that is visited.
    pub max_id: u64,
    /// Values up to `max_id` that can be visited: none of them is empty.
    pub visited: u64,
    /// Keys from 1 to `max_id` without a value.
    pub missing: u64,
    /// The first of them.
    pub first_missing: Option<u64>,
    /// Values up to `max_id` without a byte, which are not visited.
    pub empty: u64,
    /// The key of the first of them.
    pub first_empty: Option<u64>,
}
