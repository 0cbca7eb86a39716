//! The user's own data: what a place holds, and samples of it.
//!
//! A *place* is a directory of files or a column of a table in an SQLite database. Nothing here
//! changes a place, follows a link in it, or times anything.

pub mod place;
pub mod sample;
pub mod survey;
