//! What spoils or qualifies a run: warnings and failed cells.
