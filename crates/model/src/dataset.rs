//! Datasets: keys and values, the same bytes for every store.

use crate::size::size_or_text;
use crate::words::data;
use std::fmt;
use std::path::PathBuf;

data! {
    /// A dataset, described completely: the same description always gives the same bytes.
    pub struct DatasetSpec {
        /// Number of values; their keys are 1 to `count`. Of values that somebody brought along, how many
        /// of them; 0 and left out: all.
        pub count: u64 | default,
        /// How sizes are distributed; of values that somebody brought along, how those are that were there.
        pub size: SizeDistribution | default,
        /// What the bytes are.
        pub content: Content | default,
        /// Seed of sizes and content.
        #[serde(default = "default_seed")]
        pub seed: u64,
        /// Where the values come from that somebody brought along; none: they are made up.
        pub from: Option<Origin> = default,
    }

    /// Where values come from that somebody brought along: a directory of files, or a column of a
    /// table in an SQLite database.
    #[derive(Eq, Default)]
    #[serde(
        deny_unknown_fields,
        expecting = "a directory, or { place = \"x.db\", table = \"t\", column = \"c\", key = \"k\" }"
    )]
    pub struct Origin {
        /// The directory, or the file of the database.
        pub place: PathBuf,
        /// Of a database, the table; guessed where only one can be meant.
        pub table: Option<String> = default,
        /// Of a database, the column of the values; guessed where only one can be meant.
        pub column: Option<String> = default,
        /// Of a database, the column of the keys; else the number of the row.
        pub key: Option<String> = default,
        /// Values of more bytes are left out.
        pub largest: Option<u64> = default,
    }

    /// How the sizes of values are distributed, in bytes.
    #[derive(Default)]
    #[serde(tag = "distribution")]
    pub enum SizeDistribution {
        /// Not known before the place was looked at that the values come from.
        #[default]
        AsFound,
        /// As the values of a place, which has to be looked at first.
        Like {
            /// A directory, or a database with one column that can be meant.
            like: PathBuf,
        },
        /// Each row as likely as it has values, and in it each size equally likely.
        Histogram {
            /// The rows, by rising size.
            bins: Vec<SizeBin>,
        },
        /// All of one size.
        Fixed {
            /// Size of each value, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            bytes: u64,
        },
        /// Each size from `min` to `max` equally likely.
        Uniform {
            /// Smallest size, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            min: u64,
            /// Largest size, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            max: u64,
        },
        /// Logarithm of the size normally distributed, cut at `max`.
        LogNormal {
            /// Median size, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            median: u64,
            /// Standard deviation of the natural logarithm of the size.
            sigma: f64,
            /// Sizes are cut to this, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            max: u64,
        },
        /// kvtest's rule, `size + random() % (variance + 1)` with a signed random number: `size`
        /// itself is twice as likely as any other size from `size - variance` to `size + variance`.
        Kvtest {
            /// The middle size, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            size: u64,
            /// The largest deviation, in bytes.
            #[serde(deserialize_with = "size_or_text")]
            variance: u64,
        },
    }

    /// A row of a histogram of sizes.
    #[derive(Copy, Eq)]
    pub struct SizeBin {
        /// The smallest size in it, in bytes.
        pub from: u64,
        /// The largest size in it, in bytes.
        pub to: u64,
        /// How many values have such a size.
        pub values: u64,
    }

    /// What the bytes of values are.
    #[derive(Copy, Default)]
    #[serde(tag = "kind")]
    pub enum Content {
        /// Random bytes, which no compressor makes smaller.
        #[default]
        Random,
        /// Random bytes followed by a constant, in pieces of 4 KiB, so that a good compressor brings
        /// a value down to about `ratio` of its size.
        Compressible {
            /// Compressed size over size, from 0 to 1.
            ratio: f64,
        },
        /// Text: random GUIDs of 36 characters, one after the other.
        Guid,
    }
}

fn default_seed() -> u64 {
    1
}

/// Of the enumerations that stand in tables of study files: the key that says which of its variants
/// it is, that variant, and the keys that this one has besides.
pub(crate) const TAGGED: &[(&str, &str, &[&str])] = &[
    ("distribution", "as-found", &[]),
    ("distribution", "like", &["like"]),
    ("distribution", "histogram", &["bins"]),
    ("distribution", "fixed", &["bytes"]),
    ("distribution", "uniform", &["min", "max"]),
    ("distribution", "log-normal", &["median", "sigma", "max"]),
    ("distribution", "kvtest", &["size", "variance"]),
    ("kind", "random", &[]),
    ("kind", "compressible", &["ratio"]),
    ("kind", "guid", &[]),
];

impl SizeDistribution {
    /// The largest size that can occur, in bytes.
    pub fn largest(&self) -> u64 {
        match *self {
            Self::AsFound | Self::Like { .. } => 0,
            Self::Histogram { ref bins } => bins.iter().map(|bin| bin.to).max().unwrap_or(0),
            Self::Fixed { bytes } => bytes,
            Self::Uniform { max, .. } | Self::LogNormal { max, .. } => max,
            Self::Kvtest { size, variance } => size.saturating_add(variance),
        }
    }

    /// The expected size, in bytes (for a log-normal one, before the cut).
    pub fn mean(&self) -> u64 {
        match *self {
            Self::AsFound | Self::Like { .. } => 0,
            Self::Histogram { ref bins } => mean_of(bins),
            Self::Fixed { bytes } => bytes,
            Self::Uniform { min, max } => min.midpoint(max),
            Self::LogNormal { median, sigma, max } => {
                ((median as f64 * (sigma * sigma / 2.0).exp()) as u64).min(max)
            }
            Self::Kvtest { size, .. } => size,
        }
    }

    /// What is wrong with its numbers, if anything is.
    ///
    /// # Errors
    /// An inverted range, a variance above the size, a negative or infinite sigma, a histogram without
    /// values or with rows that do not rise.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::Histogram { ref bins } => check_bins(bins),
            Self::AsFound | Self::Like { .. } | Self::Fixed { .. } => Ok(()),
            Self::Uniform { min, max } if min > max => Err(format!(
                "the smallest size {min} is above the largest {max}"
            )),
            Self::Uniform { .. } => Ok(()),
            Self::LogNormal { median, max, .. } if median > max || median == 0 => Err(format!(
                "the median size {median} must be from 1 to the largest size {max}"
            )),
            Self::LogNormal { sigma, .. }
                if !(sigma.is_finite() && (0.0..=10.0).contains(&sigma)) =>
            {
                Err(format!("sigma {sigma} must be from 0 to 10"))
            }
            Self::LogNormal { .. } => Ok(()),
            Self::Kvtest { size, variance } if variance > size => {
                Err(format!("the variance {variance} is above the size {size}"))
            }
            Self::Kvtest { .. } => Ok(()),
        }
    }
}

fn mean_of(bins: &[SizeBin]) -> u64 {
    let values: u128 = bins.iter().map(|bin| u128::from(bin.values)).sum();
    let weighed = |bin: &SizeBin| u128::from(bin.from.midpoint(bin.to)) * u128::from(bin.values);
    let bytes = bins.iter().map(weighed).fold(0u128, u128::saturating_add);
    u64::try_from(bytes.checked_div(values).unwrap_or(0)).unwrap_or(u64::MAX)
}

fn check_bins(bins: &[SizeBin]) -> Result<(), String> {
    let rise = bins.windows(2).all(|pair| pair[0].to < pair[1].from);
    if !rise || bins.iter().any(|bin| bin.from > bin.to) {
        return Err("the rows of a histogram must rise and not overlap".to_owned());
    }
    match bins
        .iter()
        .try_fold(0u64, |all, bin| all.checked_add(bin.values))
    {
        Some(1..) => Ok(()),
        _ => Err("a histogram needs values, fewer than 2^64".to_owned()),
    }
}

impl fmt::Display for SizeDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsFound => f.write_str("as found"),
            Self::Like { .. } => f.write_str("as in a place of the user's"),
            Self::Histogram { bins } => write!(
                f,
                "{} to {} bytes, by a histogram",
                bins.first().map_or(0, |bin| bin.from),
                bins.last().map_or(0, |bin| bin.to)
            ),
            Self::Fixed { bytes } => write!(f, "{bytes} bytes each"),
            Self::Uniform { min, max } => write!(f, "{min} to {max} bytes, uniform"),
            Self::LogNormal { median, sigma, max } => {
                write!(
                    f,
                    "log-normal, median {median} bytes, sigma {sigma}, at most {max}"
                )
            }
            Self::Kvtest { size, variance } => write!(f, "{size} ± {variance} bytes, as kvtest"),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.pad("random"),
            Self::Guid => f.pad("GUID text"),
            Self::Compressible { ratio } => {
                write!(f, "compressible to {:.0}%", ratio * 100.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use std::collections::BTreeSet;

    /// The tag of a value, its variant, and its other keys.
    fn keys(tag: &str, value: impl Serialize) -> (String, String, BTreeSet<String>) {
        let value = serde_json::to_value(value).unwrap();
        let mut table = value.as_object().unwrap().clone();
        let variant = table.remove(tag).unwrap().as_str().unwrap().to_owned();
        let keys = table.keys().cloned().collect();
        (tag.to_owned(), variant, keys)
    }

    #[test]
    fn the_keys_that_files_may_have_are_those_that_are_written() {
        use SizeDistribution as Size;
        let (bytes, min, max, size, variance) = (1, 1, 2, 2, 1);
        let (median, sigma) = (1, 1.0);
        let written = BTreeSet::from([
            keys("distribution", Size::AsFound),
            keys("distribution", Size::Like { like: "d".into() }),
            keys("distribution", Size::Histogram { bins: Vec::new() }),
            keys("distribution", Size::Fixed { bytes }),
            keys("distribution", Size::Uniform { min, max }),
            keys("distribution", Size::LogNormal { median, sigma, max }),
            keys("distribution", Size::Kvtest { size, variance }),
            keys("kind", Content::Random),
            keys("kind", Content::Compressible { ratio: 0.5 }),
            keys("kind", Content::Guid),
        ]);
        let listed = TAGGED.iter().map(|(tag, variant, keys)| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            ((*tag).to_owned(), (*variant).to_owned(), keys)
        });
        assert_eq!(listed.collect::<BTreeSet<_>>(), written);
    }
}
