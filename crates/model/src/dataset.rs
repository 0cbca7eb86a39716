//! Datasets: keys and values, the same bytes for every store.

use crate::size::size_or_text;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A dataset, described completely: the same description always gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatasetSpec {
    /// Number of values; their keys are 1 to `count`.
    pub count: u64,
    /// How sizes are distributed.
    pub size: SizeDistribution,
    /// What the bytes are.
    #[serde(default)]
    pub content: Content,
    /// Seed of sizes and content.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

fn default_seed() -> u64 {
    1
}

/// How the sizes of values are distributed, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "distribution", rename_all = "kebab-case")]
pub enum SizeDistribution {
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

/// Of the enumerations that stand in tables of study files: the key that says which of its variants
/// it is, that variant, and the keys that this one has besides.
pub(crate) const TAGGED: &[(&str, &str, &[&str])] = &[
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
    #[must_use]
    pub fn largest(&self) -> u64 {
        match *self {
            Self::Fixed { bytes } => bytes,
            Self::Uniform { max, .. } | Self::LogNormal { max, .. } => max,
            Self::Kvtest { size, variance } => size.saturating_add(variance),
        }
    }

    /// The expected size, in bytes (for a log-normal one, before the cut).
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate for planning"
    )]
    pub fn mean(&self) -> u64 {
        match *self {
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
    /// An inverted range, a variance above the size, a negative or infinite sigma.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::Fixed { .. } => Ok(()),
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

impl fmt::Display for SizeDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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

/// What the bytes of values are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
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
