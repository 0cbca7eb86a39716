//! Sweeps over the size of values: where the winner changes.
