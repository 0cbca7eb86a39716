//! Time per row against the number of rows.
