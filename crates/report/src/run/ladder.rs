//! Costs taken apart: what a cell takes more than the one below it.
