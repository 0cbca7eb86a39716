//! One comparison: what was found, its numbers, and the settings of its cells.
