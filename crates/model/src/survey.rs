//! What a survey of somebody's own data finds: numbers and sizes, and what is odd about it.

use crate::words::{data, words};
use crate::{Origin, SizeBin};

words! {
    /// What can be odd about a file or a row.
    #[derive(PartialOrd, Ord)]
    pub enum OddityKind {
        /// It cannot be read, or a directory not be listed.
        Unreadable = "unreadable",
        /// It went away while the survey ran.
        Vanished = "vanished",
        /// A socket.
        Socket = "socket",
        /// A named pipe.
        Fifo = "fifo",
        /// A device.
        Device = "device",
        /// A directory on which another file system is mounted; the survey does not go there.
        OtherFileSystem = "other-file-system",
        /// A value above SQLite's limit.
        TooLarge = "too-large",
        /// A name that is not UTF-8.
        NotUtf8 = "not-utf8",
        /// Names in one directory that differ in their case only.
        CaseOnly = "case-only",
        /// A symbolic link that leads out of the tree.
        LinkOutside = "link-outside",
        /// A file with more than one name.
        HardLink = "hard-link",
        /// A file with fewer blocks than bytes: with holes, or compressed by its file system.
        Holes = "holes",
        /// A row whose value is null or a number.
        NoBytes = "no-bytes",
    }
}

data! {
    /// What a survey found. Nothing here is a value, or a part of one; names occur as examples of what
    /// is odd only.
    #[derive(Default)]
    pub struct Survey {
        /// Where the values lie; of a database with the table and the columns that are meant.
        pub origin: Origin,
        /// Of a database, bytes of a page.
        pub page_size: Option<u64> = default,
        /// Of a database, whether it is in WAL mode.
        pub wal: bool = default,
        /// The type of the file system, where it is known.
        pub file_system: Option<String> = default,
        /// Values: regular files, or rows with a blob or a text.
        pub values: u64,
        /// Directories, the topmost not counted.
        pub directories: u64,
        /// Symbolic links, which are not followed.
        pub links: u64,
        /// Bytes of all values.
        pub bytes: u64,
        /// Bytes that they take on disk: blocks of files, or the pages of the whole database.
        pub allocated_bytes: u64,
        /// The smallest value, in bytes; 0 if there are none.
        pub smallest: u64,
        /// The largest value, in bytes; 0 if there are none.
        pub largest: u64,
        /// Half of the values have at most so many bytes; to about 2%.
        pub median: u64,
        /// 95% of the values have at most so many bytes; to about 2%.
        pub percentile_95: u64,
        /// Standard deviation of the natural logarithm of the sizes of values that are not empty.
        pub sigma: f64,
        /// Of a database, whether rows are found by an integer.
        pub integer_keys: bool = default,
        /// How many values are empty.
        pub empty: u64,
        /// How many directories the deepest file lies below the topmost.
        pub depth: u64,
        /// The most bytes of one name.
        pub longest_name: u64,
        /// The most bytes of a path from the topmost directory.
        pub longest_path: u64,
        /// How many values have which size, by rising size; four rows for each doubling.
        pub histogram: Vec<SizeBin>,
        /// What is odd, by kind.
        pub odd: Vec<Oddity>,
    }

    /// Something that an archive cannot hold, or that is lost in one.
    #[derive(Eq)]
    pub struct Oddity {
        /// What it is.
        pub kind: OddityKind,
        /// How many there are.
        pub count: u64,
        /// The first few, as paths from the topmost directory; what is not UTF-8 is replaced.
        pub examples: Vec<String>,
    }


    /// What work on all values takes: of some of them, tried several times, files and one database in turns.
    #[derive(Copy, Default)]
    pub struct WholeSet {
        /// Values it was tried with.
        pub values: u64,
        /// Bytes of them.
        pub bytes: u64,
        /// How often.
        pub tries: u32,
        /// Names and sizes listed.
        pub list: Took,
        /// All copied, not synced.
        pub copy: Took,
        /// All deleted: files one by one and not synced, rows by one durable transaction.
        pub delete: Took,
        /// `VACUUM` of the database after half of the rows were deleted.
        pub vacuum: Seconds,
        /// What `VACUUM` needs beside the database meanwhile, in bytes: at most.
        pub vacuum_bytes: u64,
    }

    /// What a read took a program in Python whose values were in memory, in nanoseconds: of each round the mean.
    #[derive(Default)]
    pub struct PythonReads {
        /// Of a file.
        pub files: Vec<f64>,
        /// Of a row.
        pub database: Vec<f64>,
        /// Of a row, many in one transaction.
        pub together: Vec<f64>,
        /// Of a small value in a row or a larger one in a file; empty where values were not to be split.
        pub split: Vec<f64>,
    }

    /// What the same took in files, and in one database.
    #[derive(Copy, Default)]
    pub struct Took {
        /// In files.
        pub files: Seconds,
        /// In the database.
        pub database: Seconds,
    }

    /// Times of several tries, in seconds.
    #[derive(Copy, Default)]
    pub struct Seconds {
        /// The least.
        pub least: f64,
        /// The one in the middle.
        pub median: f64,
        /// The most.
        pub most: f64,
    }
}

impl Survey {
    /// Bytes of a mean value, rounded down.
    pub fn mean(&self) -> u64 {
        self.bytes.checked_div(self.values).unwrap_or(0)
    }

    /// How many there are of a kind of oddity.
    pub fn count_of(&self, kind: OddityKind) -> u64 {
        let found = self.odd.iter().find(|odd| odd.kind == kind);
        found.map_or(0, |odd| odd.count)
    }
}

impl Seconds {
    /// Of these tries; zeros where there are none.
    pub fn of(mut tries: Vec<f64>) -> Self {
        tries.sort_by(f64::total_cmp);
        let at = |index: usize| tries.get(index).copied().unwrap_or_default();
        Self {
            least: at(0),
            median: at(tries.len() / 2),
            most: at(tries.len().saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_nothing_is_nothing() {
        let survey = Survey {
            values: 3,
            bytes: 11,
            ..Survey::default()
        };
        assert_eq!((survey.mean(), Survey::default().mean()), (3, 0));
    }
}
