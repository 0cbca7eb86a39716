//! The user's own data: what a place holds, samples of it, and SQLite Archives of it.
//!
//! A *place* is a directory of files or a column of a table in an SQLite database. Looking at one changes
//! nothing in it, and follows no link. What is timed (`whole`, `python`) is copies of a sample.
//!
//! An archive is a database with the table `sqlar` (<https://sqlite.org/sqlar.html>), as the
//! `sqlite3` shell's `-A` makes and reads it. What is made here is made under a temporary name, read
//! back and compared, brought to the disk, and only then given the name that was asked for. What
//! others made is read as if it were hostile: nothing outside the target is written, no value is
//! inflated beyond the size that its row states, and what is refused is listed.

mod change;
mod codec;
mod directories;
mod error;
pub mod foreign;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod list;
mod misplaced;
pub mod mount;
mod names;
mod outside;
mod pack;
pub mod python;
mod read;
mod rows;
pub mod sample;
mod source;
mod sqlar;
pub mod survey;
mod unpack;
mod verify;
mod walk;
mod watch;
pub mod whole;

pub use change::{Add, Added, Remove};
pub use error::{ArchiveError, Refusal, Refusals};
pub use list::{find, list};
pub use names::path_of;
pub use outside::{directory_of_outside, parent_of};
pub use pack::{DEFLATED_PAGE_SIZE, Lost, PAGE_SIZE, Pack, Packed, SMALL_PAGE_SIZE};
pub use read::Reader;
pub use source::Loss;
pub use sqlar::{Archive, CHECKSUM_TABLE, Entry, Kind, Location, OUTSIDE_TABLE, TABLE, VALUE_MAX};
pub use stowplan_dataset::in_words;
pub use unpack::{Unpack, Unpacked};
pub use verify::{Verified, verify};
pub use watch::Watch;
