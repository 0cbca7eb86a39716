//! How it was measured, in notes.
