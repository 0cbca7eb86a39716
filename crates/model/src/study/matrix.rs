//! Matrices of a study: one store at several values of a setting, at several sizes of values,
//! against one other store. A matrix is a short way to write datasets and comparisons.

use super::{CellSpec, ComparisonSpec, Study};
use crate::size::{size_or_text, sizes_or_texts};
use crate::words::data;
use crate::{CellId, DatasetSpec, SizeDistribution, Statistic, WorkloadSpec};

use std::collections::{BTreeMap, BTreeSet};

/// The name of the baseline in each comparison of a matrix.
pub(super) const EXTERNAL: &str = "external";

data! {
    /// A matrix as a study file gives it: rows are values of a setting, columns are sizes of values.
    pub struct MatrixSpec {
        /// Name, unique among matrices and comparisons; its comparisons are `id-size`.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// The workload of every cell; cells may differ in single points.
        pub workload: WorkloadSpec | default,
        /// Columns: sizes of the values, bytes, rising.
        #[serde(deserialize_with = "sizes_or_texts")]
        pub sizes: Vec<u64>,
        /// Bytes of values in the dataset of each column; the number of values follows.
        #[serde(deserialize_with = "size_or_text")]
        pub bytes: u64,
        /// How far a value's size may lie from its column's, percent: each size within that is equally
        /// likely. 0 unless given: all of one size.
        pub spread_percent: u8 | default,
        /// What should stand below the matrix, a sentence or two.
        pub note: Option<String> | default,
        /// Bytes that one block reads or writes, as near as whole values allow; by default a block
        /// holds as many operations as last about 25 ms.
        pub block_bytes: Option<u64> | default,
        /// The store of the rows, without the setting that they vary.
        pub internal: CellSpec,
        /// The setting that the rows vary.
        pub row_setting: String,
        /// Rows: values of the setting, rising.
        pub rows: Vec<u64>,
        /// The store that every row is compared with.
        pub external: CellSpec,
        /// Further cells of every column, by name.
        pub beside: BTreeMap<String, CellSpec> | default,
        /// After how many rounds the stores of a column are built anew; never unless given.
        pub rebuild_every: Option<u32> | default,
        /// The most rounds of each column; 40 unless given.
        pub max_rounds: Option<u32> | default,
        /// Ratios that others measured.
        pub published: Option<PublishedMatrix> | default,
    }

    /// A published matrix: time of the external store over time of the internal one.
    pub struct PublishedMatrix {
        /// What was measured, when and where, in words.
        pub label: String,
        /// Its columns: sizes of the values, bytes.
        pub sizes: Vec<u64>,
        /// Its ratios by value of the row's setting, one per size. Above 1 the internal store is
        /// faster.
        pub ratios: BTreeMap<String, Vec<f64>>,
    }

    /// What a scale changes of a matrix.
    #[derive(Default)]
    pub struct MatrixScale {
        /// See [`MatrixSpec::sizes`].
        pub sizes: Option<Vec<u64>> | default,
        /// See [`MatrixSpec::rows`].
        pub rows: Option<Vec<u64>> | default,
        /// See [`MatrixSpec::bytes`].
        pub bytes: Option<u64> | default,
        /// See [`MatrixSpec::block_bytes`].
        pub block_bytes: Option<u64> | default,
    }
}

impl PublishedMatrix {
    /// The ratio published for a row and a size, if one was.
    pub fn ratio(&self, row: u64, size: u64) -> Option<f64> {
        let column = self.sizes.iter().position(|known| *known == size)?;
        self.ratios.get(&row.to_string())?.get(column).copied()
    }
}

impl MatrixSpec {
    /// The matrix with a scale's changes.
    #[must_use]
    pub fn changed(mut self, scale: &MatrixScale) -> Self {
        self.sizes = scale.sizes.clone().unwrap_or(self.sizes);
        self.rows = scale.rows.clone().unwrap_or(self.rows);
        self.bytes = scale.bytes.unwrap_or(self.bytes);
        self.block_bytes = scale.block_bytes.or(self.block_bytes);
        self
    }

    /// The name of a column's comparison.
    pub fn comparison_id(&self, size: u64) -> String {
        format!("{}-{}", self.id, short(size))
    }

    /// The name of the cell of the internal store in a row and column.
    pub fn cell_id(&self, row: u64, size: u64) -> CellId {
        CellId(format!("{}/{row}", self.comparison_id(size)))
    }

    /// The name of the cell of the external store in a column.
    pub fn external_id(&self, size: u64) -> CellId {
        CellId(format!("{}/{EXTERNAL}", self.comparison_id(size)))
    }

    /// The number of values in a column's dataset; at least 1.
    fn count(&self, size: u64) -> u64 {
        (self.bytes / size.max(1)).max(1)
    }

    /// The dataset of a column: its name tells the number and the size of its values, so that
    /// matrices which agree in both share it.
    pub(super) fn dataset_name(&self, size: u64) -> String {
        let name = format!("{}x{}", self.count(size), short(size));
        match self.spread_percent {
            0 => name,
            percent => format!("{name}-spread{percent}"),
        }
    }

    fn dataset(&self, size: u64) -> DatasetSpec {
        DatasetSpec {
            count: self.count(size),
            size: self.distribution(size),
            content: Default::default(),
            seed: 1,
            from: None,
        }
    }

    fn distribution(&self, size: u64) -> SizeDistribution {
        // 128 bits hold every product of the two.
        let spread = u128::from(size) * u128::from(self.spread_percent) / 100;
        match u64::try_from(spread).unwrap_or(size) {
            0 => SizeDistribution::Fixed { bytes: size },
            spread => SizeDistribution::Uniform {
                min: size - spread,
                max: size.saturating_add(spread),
            },
        }
    }

    pub(super) fn comparison(&self, size: u64) -> ComparisonSpec {
        let rows = self.rows.iter();
        let rows = rows.map(|row| (row.to_string(), self.row(*row)));
        let cells = rows
            .chain([(EXTERNAL.to_owned(), self.external.clone())])
            .chain(self.beside.clone());
        ComparisonSpec {
            id: self.comparison_id(size),
            title: format!("{}: values of {}", self.title, short(size)),
            dataset: self.dataset_name(size),
            workload: self.workload_of(size),
            baseline: EXTERNAL.to_owned(),
            max_rounds: self.max_rounds,
            rebuild_every: self.rebuild_every,
            measure: Statistic::Time,
            on: None,
            published_label: None,
            scanned: None,
            cells: cells.collect(),
        }
    }

    fn workload_of(&self, size: u64) -> WorkloadSpec {
        let operations = self.block_bytes.map(|bytes| {
            let whole = (bytes / size.max(1)).clamp(1, self.count(size));
            u32::try_from(whole).unwrap_or(u32::MAX)
        });
        WorkloadSpec {
            operations: operations.or(self.workload.operations),
            ..self.workload.clone()
        }
    }

    /// The internal store at one value of the setting.
    fn row(&self, value: u64) -> CellSpec {
        let mut row = self.internal.clone();
        row.store.settings.insert(self.setting(), value.to_string());
        if let Some(label) = &mut row.label {
            *label = format!("{label}, {} {value}", self.row_setting);
        }
        row
    }

    /// The name of the rows' setting as store specs have it.
    pub(super) fn setting(&self) -> String {
        self.row_setting.replace('-', "_")
    }
}

impl Study {
    /// Adds the datasets and comparisons that the matrices stand for, at the sizes and rows that
    /// they have now. The comparisons run size by size, by rising size, so that what one size
    /// needs can be removed before the next; those of one size run in the order of the file.
    #[must_use]
    pub fn expanded(mut self) -> Self {
        let sizes = self.matrices.iter().flat_map(|matrix| &matrix.sizes);
        for size in sizes.copied().collect::<BTreeSet<u64>>() {
            for matrix in self.matrices.iter().filter(|m| m.sizes.contains(&size)) {
                self.comparisons.push(matrix.comparison(size));
                let dataset = matrix.dataset(size);
                self.datasets.insert(matrix.dataset_name(size), dataset);
            }
        }
        self
    }

    /// Whether a comparison is one that a matrix stands for.
    pub fn is_of_matrix(&self, comparison: &ComparisonSpec) -> bool {
        self.matrices.iter().any(|matrix| {
            let mut sizes = matrix.sizes.iter();
            sizes.any(|size| matrix.comparison_id(*size) == comparison.id)
        })
    }
}

/// A size in bytes as part of a name: `10k`, `1m`, `64Ki`, `100`.
fn short(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        _ if bytes.is_multiple_of(1_000_000) => format!("{}m", bytes / 1_000_000),
        _ if bytes.is_multiple_of(1_000) => format!("{}k", bytes / 1_000),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}Mi", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}Ki", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
pub(super) mod tests;
