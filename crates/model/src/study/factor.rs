//! Factors: known ways in which what was published and what is measured here need not have come about
//! alike, each of which can be switched.

use super::{Fault, Study, is_plain};
use crate::{CellSpec, WorkloadSpec, suggestion};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The longest name of a factor: several of them are in one name of a cell.
const LONGEST_NAME: usize = 24;

/// Something that can be switched in a comparison to see whether it turns the order of two cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactorSpec {
    /// Name, unique among the factors of the study.
    pub id: String,
    /// What it does, in a sentence.
    pub title: String,
    /// The comparisons in which it is switched; every one unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<String>,
    /// The kinds of stores that get its settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<String>,
    /// Settings of such a store.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Keys of the workload, of both cells.
    #[serde(default)]
    pub workload: WorkloadSpec,
}

impl FactorSpec {
    /// Whether it is switched in a comparison.
    #[must_use]
    pub fn is_of(&self, comparison: &str) -> bool {
        self.comparisons.is_empty() || self.comparisons.iter().any(|id| id == comparison)
    }

    /// A cell with it.
    #[must_use]
    pub fn applied(&self, cell: &CellSpec) -> CellSpec {
        let mut cell = cell.clone();
        if self.stores.contains(&cell.store.kind) {
            cell.store.settings.extend(self.settings.clone());
        }
        cell.workload = self.workload.over(&cell.workload);
        cell
    }
}

/// A cell whose order against another one was published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedOrder {
    /// The least of the published ratios, time of the cell over that of the other: all of them are
    /// above 1, or all below.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// What they compare, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl PublishedOrder {
    /// Whether the cell takes longer by all of them; otherwise it does by none.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.least > 1.0
    }

    /// That of some ratios; nothing where they do not agree.
    fn of(ratios: &BTreeMap<String, f64>, label: Option<&String>) -> Option<Self> {
        let least = ratios.values().copied().reduce(f64::min)?;
        let most = ratios.values().copied().reduce(f64::max)?;
        (least > 1.0 || most < 1.0).then(|| Self {
            least,
            most,
            label: label.cloned(),
        })
    }
}

/// Two cells of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The comparison.
    pub comparison: String,
    /// The cell whose time is the numerator.
    pub cell: String,
    /// The other one.
    pub reference: String,
    /// The order of their times that was published, where one was.
    pub published: Option<PublishedOrder>,
}

impl Study {
    /// The pairs of stores whose order was published, as the charts have them. A floor is no store.
    #[must_use]
    pub fn published_pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        for chart in &self.charts {
            let label = chart.published_label.as_ref();
            let Some(published) = PublishedOrder::of(&chart.published, label) else {
                continue;
            };
            let mut specs = self.comparisons.iter();
            let Some(spec) = specs.find(|spec| spec.id == chart.comparison) else {
                continue;
            };
            let is_store = |key: &&String| {
                let cell = spec.cells.get(*key);
                cell.is_some_and(|cell| !cell.floor && !cell.part)
            };
            pairs.extend(chart.bars.iter().filter(is_store).map(|bar| Pair {
                comparison: spec.id.clone(),
                cell: bar.clone(),
                reference: chart.reference.clone(),
                published: Some(published.clone()),
            }));
        }
        pairs
    }

    pub(super) fn check_factors(&self) -> Vec<Fault> {
        let mut seen = BTreeSet::new();
        let factors = self.factors.iter().enumerate();
        factors
            .filter_map(|(index, factor)| {
                let (key, message) = self.mistake_of(factor, &mut seen)?;
                Some(Fault {
                    path: vec!["factor".to_owned(), index.to_string(), key.to_owned()],
                    place: format!("factor '{}'", factor.id.escape_debug()),
                    message,
                })
            })
            .collect()
    }

    fn mistake_of<'f>(
        &self,
        factor: &'f FactorSpec,
        seen: &mut BTreeSet<&'f str>,
    ) -> Option<(&'static str, String)> {
        let ids = || self.comparisons.iter().map(|c| c.id.as_str());
        let unknown = |id: &&String| ids().all(|known| known != id.as_str());
        let changes_nothing =
            factor.settings.is_empty() && factor.workload == WorkloadSpec::default();
        match () {
            () if !is_plain(&factor.id) || factor.id.len() > LONGEST_NAME => Some((
                "id",
                format!(
                    "a name must consist of letters, digits, '-' and '_', at most {LONGEST_NAME} of them"
                ),
            )),
            () if !seen.insert(&factor.id) => Some(("id", "this id is used twice".to_owned())),
            () if changes_nothing => Some((
                "id",
                "it switches nothing: give it settings of stores, or keys of the workload"
                    .to_owned(),
            )),
            () if factor.settings.is_empty() != factor.stores.is_empty() => Some((
                "id",
                "'settings' and 'stores' belong together: which stores get which settings"
                    .to_owned(),
            )),
            () if factor.workload.operation.is_some() || factor.workload.mix.is_some() => Some((
                "workload",
                "what is done cannot be switched, only how".to_owned(),
            )),
            () => {
                let id = factor.comparisons.iter().find(unknown)?;
                let near = suggestion(id, ids());
                Some(("comparisons", format!("unknown comparison '{id}'{near}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PerTransaction, StudyError};

    const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 10
size = { distribution = "fixed", bytes = 1 }
[systems]
then = "a machine"
now = "another"
[[comparison]]
id = "writes"
title = "writes"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
sql = { store = "sqlite" }
floor = { store = "flat", floor = true }
[[chart]]
id = "c"
title = "c"
comparison = "writes"
reference = "sql"
bars = ["dir", "floor"]
published = { then = 1.2, now = 3.0 }
[[factor]]
id = "truncation"
title = "files are emptied first"
stores = ["files"]
settings = { write = "truncate" }
workload = { per_transaction = 1 }
"#;

    fn mistakes(text: &str) -> String {
        let error: StudyError = Study::parse(text, "t.toml").unwrap_err();
        error.to_string()
    }

    #[test]
    fn a_factor_sets_settings_of_its_stores_and_the_workload_of_both_cells() {
        let study = Study::parse(STUDY, "t.toml").unwrap();
        let factor = &study.factors[0];
        let cells = &study.comparisons[0].cells;
        let (files, sqlite) = (factor.applied(&cells["dir"]), factor.applied(&cells["sql"]));
        assert_eq!(files.store.to_string(), "files:write=truncate");
        assert_eq!(sqlite.store.to_string(), "sqlite");
        let each = Some(PerTransaction::Operations(1));
        assert_eq!(
            (
                files.workload.per_transaction,
                sqlite.workload.per_transaction
            ),
            (each, each)
        );
        assert!(factor.is_of("writes") && factor.is_of("any other"));
    }

    #[test]
    fn a_published_order_is_one_that_all_systems_agree_on() {
        let pairs = |text: &str| Study::parse(text, "t.toml").unwrap().published_pairs();
        let found = pairs(STUDY);
        assert_eq!(found.len(), 1, "a floor is no store: {found:?}");
        assert_eq!(
            (found[0].cell.as_str(), found[0].reference.as_str()),
            ("dir", "sql")
        );
        assert!(found[0].published.as_ref().unwrap().is_slower());
        let below = pairs(&STUDY.replace("then = 1.2, now = 3.0", "then = 0.2, now = 0.9"));
        assert!(!below[0].published.as_ref().unwrap().is_slower());
        assert_eq!(pairs(&STUDY.replace("then = 1.2", "then = 0.9")), []);
    }

    #[test]
    fn what_is_no_factor_is_told_with_its_place() {
        for (right, wrong, told) in [
            ("id = \"truncation\"", "id = \"a/b\"", "letters, digits"),
            ("stores = [\"files\"]\n", "", "belong together"),
            ("per_transaction = 1", "operation = \"read\"", "only how"),
            (
                "title = \"files are",
                "comparisons = [\"write\"]\ntitle = \"files are",
                "did you mean 'writes'",
            ),
        ] {
            let text = STUDY.replace(right, wrong);
            let message = mistakes(&text);
            assert!(
                message.starts_with("t.toml:") && message.contains(told),
                "{message}"
            );
        }
        let nothing = STUDY.replace("stores = [\"files\"]\n", "").replace(
            "settings = { write = \"truncate\" }\nworkload = { per_transaction = 1 }\n",
            "",
        );
        assert!(mistakes(&nothing).contains("switches nothing"));
    }
}
