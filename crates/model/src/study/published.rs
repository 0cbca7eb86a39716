//! Times that others published, beside which ours are shown as they are.

use crate::CellId;
use crate::words::data;

data! {
    /// A table of times that others published.
    #[derive(Default)]
    pub struct PublishedSpec {
        /// Name, unique among these tables of the study.
        pub id: String,
        /// What was measured, where and when.
        pub title: String,
        /// Where it stands in the source.
        pub place: Option<String> = default,
        /// Its rows.
        pub rows: Vec<PublishedRow>,
    }

    /// One published time.
    #[derive(Default)]
    pub struct PublishedRow {
        /// What it is of; nothing where the label of the cell says that.
        pub what: Option<String> = default,
        /// The cell of ours that does the same; nothing where none does.
        pub cell: Option<CellId> = default,
        /// How many operations it is of.
        pub operations: u64,
        /// Seconds of all operations, the last commit included.
        pub seconds: f64,
        /// Its standard error, in seconds.
        pub error_seconds: Option<f64> = default,
        /// Seconds before the last commit.
        pub before_commit_seconds: Option<f64> = default,
    }
}
