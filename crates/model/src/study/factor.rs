//! Factors: known ways in which what was published and what is measured here need not have come about
//! alike, each of which can be switched.

use super::{ChartSpec, Fault, Study, is_plain};
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
    /// The pairs of stores whose order was published, as the charts have them. A floor is no store, and where
    /// a chart sets several kinds of stores against its reference, what was published is not of a bar of the
    /// reference's own kind.
    #[must_use]
    pub fn published_pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for chart in &self.charts {
            let label = chart.published_label.as_ref();
            let Some(published) = PublishedOrder::of(&chart.published, label) else {
                continue;
            };
            pairs.extend(self.stores_of(chart).into_iter().map(|bar| Pair {
                comparison: chart.comparison.clone(),
                cell: bar.to_owned(),
                reference: chart.reference.clone(),
                published: Some(published.clone()),
            }));
        }
        pairs
    }

    /// The bars of a chart that are stores to be set against its reference: those of other kinds, where it has
    /// some.
    fn stores_of<'c>(&self, chart: &'c ChartSpec) -> Vec<&'c str> {
        let mut specs = self.comparisons.iter();
        let Some(spec) = specs.find(|spec| spec.id == chart.comparison) else {
            return Vec::new();
        };
        let own = spec.cells.get(&chart.reference);
        let own = own.map(|cell| cell.store.name());
        let stores = chart.bars.iter().filter_map(|key| {
            let cell = spec.cells.get(key)?;
            let is_store = !cell.floor && !cell.part && *key != chart.reference;
            is_store.then(|| (key.as_str(), Some(cell.store.name()) == own))
        });
        let mut stores: Vec<(&str, bool)> = stores.collect();
        if stores.iter().any(|(_, is_own)| !is_own) {
            stores.retain(|(_, is_own)| !is_own);
        }
        stores.into_iter().map(|(key, _)| key).collect()
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
            () => match factor.comparisons.iter().find(unknown) {
                Some(id) => {
                    let near = suggestion(id, ids());
                    Some(("comparisons", format!("unknown comparison '{id}'{near}")))
                }
                None => {
                    let kinds = self.kinds_of(factor);
                    let unknown = |kind: &&String| !kinds.contains(kind.as_str());
                    let kind = factor.stores.iter().find(unknown)?;
                    let near = suggestion(kind, kinds.iter().copied());
                    let kind = kind.escape_debug();
                    Some((
                        "stores",
                        format!("no cell of its comparisons has a store '{kind}'{near}"),
                    ))
                }
            },
        }
    }

    /// The kinds of stores in the comparisons of a factor; what matrices make is no comparison yet, and has
    /// no factors of its own.
    fn kinds_of(&self, factor: &FactorSpec) -> BTreeSet<&str> {
        let compared = self
            .comparisons
            .iter()
            .filter(|spec| factor.is_of(&spec.id));
        let compared = compared.flat_map(|spec| spec.cells.values());
        let crossed = self
            .matrices
            .iter()
            .filter(|_| factor.comparisons.is_empty());
        let crossed = crossed.flat_map(|matrix| {
            let beside = matrix.beside.values();
            beside.chain([&matrix.internal, &matrix.external])
        });
        compared
            .chain(crossed)
            .map(|cell| cell.store.kind.as_str())
            .collect()
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
    fn what_was_published_of_files_is_not_of_another_setting_of_the_reference() {
        let study = STUDY
            .replace(
                "sql = {",
                "wal = { store = \"sqlite:journal=wal\" }\nsql = {",
            )
            .replace(
                "[\"dir\", \"floor\"]",
                "[\"dir\", \"wal\", \"sql\", \"floor\"]",
            );
        let cells = |text: &str| {
            let pairs = Study::parse(text, "t.toml").unwrap().published_pairs();
            pairs.into_iter().map(|pair| pair.cell).collect::<Vec<_>>()
        };
        assert_eq!(cells(&study), ["dir"]);
        let of_settings = study.replace("[\"dir\", \"wal\"", "[\"wal\"");
        assert_eq!(cells(&of_settings), ["wal"], "all of it is of one kind");
    }

    #[test]
    fn what_is_no_factor_is_told_with_its_place() {
        for (right, wrong, told) in [
            ("id = \"truncation\"", "id = \"a/b\"", "letters, digits"),
            ("stores = [\"files\"]\n", "", "belong together"),
            ("per_transaction = 1", "operation = \"read\"", "only how"),
            (
                "stores = [\"files\"]",
                "stores = [\"flies\"]",
                "no cell of its comparisons has a store 'flies'; did you mean 'files'?",
            ),
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
