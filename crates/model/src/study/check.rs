//! What can be wrong with a study whose file has the shape of one: a rule a line, each said of its place in
//! the file.

use super::claim::Deciding;
use super::file::StudyFile;
use super::matrix::EXTERNAL;
use super::{
    Across, BarsSpec, BestSpec, CellSpec, ClaimSpec, ComparisonSpec, MOST_ROUNDS, MatrixSpec,
    Measure, PublishedMatrix, PublishedRow, Study, TestSpec,
};
use crate::{CellId, SizeDistribution, suggestion};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;

/// The mistakes of a study. Of names that are `lost`, nothing is known.
pub(super) fn all(study: &Study, lost: &[String], file: &StudyFile<'_>) -> Vec<String> {
    let check = Check {
        study,
        lost,
        file,
        found: RefCell::default(),
    };
    check.names();
    check.datasets();
    check.comparisons();
    check.charts();
    check.scales();
    check.matrices();
    if lost.is_empty() {
        check.bars_and_lines();
        check.ladders();
        check.claims();
        check.published();
    }
    check.found.into_inner()
}

struct Check<'s> {
    study: &'s Study,
    lost: &'s [String],
    file: &'s StudyFile<'s>,
    found: RefCell<Vec<String>>,
}

/// A place in the file, for rules about what stands there.
struct At<'c> {
    check: &'c Check<'c>,
    keys: Vec<String>,
    words: String,
}

impl<'c> At<'c> {
    /// What stands there under a key.
    fn on(&self, key: &str) -> Self {
        let mut at = self.called(self.words.clone());
        at.keys.push(key.to_owned());
        at
    }

    /// The same, and what is told of it names the key.
    fn key(&self, key: &str) -> Self {
        self.on(key).called(format!("{}, {key}", self.words))
    }

    /// The same place in other words.
    fn called(&self, words: String) -> Self {
        Self {
            check: self.check,
            keys: self.keys.clone(),
            words,
        }
    }

    fn wrong(&self, message: impl Display) {
        let told = self
            .check
            .file
            .mistake(&self.keys, &self.words, &message.to_string());
        self.check.found.borrow_mut().push(told);
    }

    fn rule(&self, holds: bool, message: impl Display) -> bool {
        if !holds {
            self.wrong(message);
        }
        holds
    }

    /// Names become parts of file names and of cell names.
    fn plain(&self, name: &str) -> bool {
        let message = "a name must consist of letters, digits, '-' and '_', at most 64 of them";
        self.rule(is_plain(name), message)
    }

    fn unique(&self, is_first: bool) -> bool {
        self.rule(is_first, "this id is used twice")
    }

    /// A name is one of those that are known, or may be.
    fn refers<'k>(
        &self,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'k String>,
    ) -> bool {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let is_lost = self.check.lost.iter().any(|lost| lost == name);
        self.rule(
            is_lost || known.contains(&name),
            format_args!(
                "unknown {what} '{}'{}",
                name.escape_debug(),
                suggestion(name, known.iter().copied())
            ),
        )
    }

    /// A name is that of a cell of the study.
    fn refers_to_cells<'k>(
        &self,
        cells: impl IntoIterator<Item = &'k CellId>,
        known: &BTreeSet<String>,
    ) {
        for CellId(cell) in cells.into_iter().filter(|cell| !known.contains(&cell.0)) {
            let near = suggestion(cell, known.iter().map(String::as_str));
            let whole = match cell.contains('/') {
                true => "",
                false => " (a cell is called COMPARISON/CELL)",
            };
            self.wrong(format_args!(
                "unknown cell '{}'{near}{whole}",
                cell.escape_debug()
            ));
        }
    }

    /// Rounds that are none: a scale, or the command line, must not hide them.
    fn rounds(&self, cap: Option<u32>) {
        let cap = cap.unwrap_or(MOST_ROUNDS);
        self.on("max_rounds").rule(
            (1..=MOST_ROUNDS).contains(&cap),
            format_args!("max_rounds must be from 1 to {MOST_ROUNDS}, not {cap}"),
        );
    }

    /// Without a baseline there is nothing to compare with.
    fn baseline(&self, cell: &CellSpec) {
        self.on("optional").rule(
            !cell.optional,
            "a baseline cannot be optional: every other cell is compared with it",
        );
    }

    /// At least one number, each larger than the one before.
    fn rising(&self, numbers: &[u64]) -> bool {
        let pair = numbers.windows(2).find(|pair| pair[0] >= pair[1]);
        if let Some([before, after]) = pair {
            self.wrong(format_args!(
                "give each once, by rising number: {before} stands before {after}"
            ));
        }
        self.rule(!numbers.is_empty(), "give at least one") && pair.is_none()
    }

    fn seconds(&self, of: &str, seconds: impl IntoIterator<Item = f64>) {
        for seconds in seconds {
            self.rule(
                seconds >= 0.0,
                format_args!("{of}{seconds} is no number of seconds"),
            );
        }
    }
}

/// Whether a name is fit for names of files and cells.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    // Names of files have an end.
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

impl<'s> Check<'s> {
    fn at(&'s self, keys: &[&str], words: impl Display) -> At<'s> {
        At {
            check: self,
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            words: words.to_string(),
        }
    }

    /// The entries of a list of the study, each with its place.
    fn each<'a, T>(
        &'s self,
        list: &'static str,
        entries: &'a [T],
        id: fn(&T) -> &String,
    ) -> impl Iterator<Item = (At<'s>, &'a T)> + use<'s, 'a, T> {
        entries.iter().enumerate().map(move |(index, entry)| {
            let words = format!("{list} '{}'", id(entry).escape_debug());
            (self.at(&[list, &index.to_string()], words), entry)
        })
    }

    fn ids(&self) -> impl Iterator<Item = &String> {
        self.study
            .comparisons
            .iter()
            .map(|comparison| &comparison.id)
    }

    fn comparison(&self, id: &str) -> Option<&ComparisonSpec> {
        self.study.comparisons.iter().find(|known| known.id == id)
    }

    fn names(&'s self) {
        let study = self.study;
        let named = |what: &str, name: &str, keys: &[&str]| {
            self.at(keys, format_args!("{what} '{}'", name.escape_debug()))
                .plain(name);
        };
        named("study", &study.name, &["name"]);
        let datasets = study
            .datasets
            .keys()
            .map(|name| ("dataset", "datasets", name));
        let drivers = study.drivers.keys().map(|name| ("driver", "drivers", name));
        let scales = study.scales.keys().map(|name| ("scale", "scales", name));
        for (what, table, name) in datasets.chain(drivers).chain(scales) {
            named(what, name, &[table, name]);
        }
        for (index, matrix) in study.matrices.iter().enumerate() {
            let keys = ["matrix", &index.to_string(), "row_setting"];
            named("row_setting", &matrix.row_setting, &keys);
        }
        let nothing = study.comparisons.is_empty() && study.matrices.is_empty();
        self.at(&[], format_args!("study '{}'", study.name.escape_debug()))
            .rule(
                !nothing || !self.lost.is_empty(),
                "it compares nothing: give it a [[comparison]] or a [[matrix]]",
            );
    }

    fn datasets(&'s self) {
        let is_lost = |key: &str| self.lost.iter().any(|name| name == key);
        for (name, dataset) in &self.study.datasets {
            let at = self.at(&["datasets", name], format_args!("datasets.{name}"));
            if let Err(why) = dataset.size.check() {
                at.on("size").wrong(why);
            }
            if dataset.from.is_some() {
                continue;
            }
            at.on("size").rule(
                dataset.size != SizeDistribution::AsFound || is_lost("size"),
                "it needs sizes: size = { distribution = … }, size = { like = \"DIR\" }, or values: from = \"DIR\"",
            );
            at.on("count").rule(
                dataset.count > 0 || is_lost("count"),
                "count must be at least 1",
            );
        }
    }

    fn comparisons(&'s self) {
        let mut seen = BTreeSet::new();
        for (at, comparison) in self.each("comparison", &self.study.comparisons, |c| &c.id) {
            let ComparisonSpec {
                id,
                cells,
                baseline,
                ..
            } = comparison;
            at.on("id").plain(id);
            at.on("id").unique(seen.insert(id));
            at.on("dataset")
                .refers("dataset", &comparison.dataset, self.study.datasets.keys());
            at.on("baseline").refers("cell", baseline, cells.keys());
            at.rounds(comparison.max_rounds);
            for (key, cell) in cells {
                let at = at.on("cells").on(key);
                let words = format!("cell '{}'", key.escape_debug());
                at.called(words).plain(key);
                if key == baseline {
                    let words = format!("comparison '{}', cell '{key}'", id.escape_debug());
                    at.called(words).baseline(cell);
                }
                let words = format!("cell '{id}/{key}', published_seconds");
                let at = at.called(words);
                let (seconds, error) = (cell.published_seconds, cell.published_error_seconds);
                at.rule(
                    error.is_none() || seconds.is_some(),
                    "it needs published_seconds",
                );
                at.seconds("", seconds.into_iter().chain(error));
            }
        }
    }

    fn charts(&'s self) {
        for (at, chart) in self.each("chart", &self.study.charts, |chart| &chart.id) {
            at.on("id").plain(&chart.id);
            at.on("comparison")
                .refers("comparison", &chart.comparison, self.ids());
            if let Some(comparison) = self.comparison(&chart.comparison) {
                at.on("reference")
                    .refers("cell", &chart.reference, comparison.cells.keys());
                for cell in &chart.bars {
                    at.on("bars").refers("cell", cell, comparison.cells.keys());
                }
            }
            for system in chart.published.keys() {
                let at = at.on("published").on(system);
                at.refers("system", system, self.study.systems.keys());
            }
        }
    }

    fn scales(&'s self) {
        let study = self.study;
        // Every cell of a comparison but its baseline.
        let others = study.comparisons.iter().flat_map(|comparison| {
            let others = comparison.cells.keys();
            let others = others.filter(|key| **key != comparison.baseline);
            others.map(|key| comparison.cell_name(key))
        });
        let others: Vec<String> = others.collect();
        let matrices = || study.matrices.iter().map(|matrix| &matrix.id);
        for (name, scale) in &study.scales {
            let at = self.at(
                &["scales", name],
                format_args!("scales.{}", name.escape_debug()),
            );
            at.rounds(scale.max_rounds);
            for dataset in scale.count.keys() {
                at.on("count")
                    .on(dataset)
                    .refers("dataset", dataset, study.datasets.keys());
            }
            for comparison in scale.operations.keys() {
                let at = at.on("operations").on(comparison);
                at.refers("comparison", comparison, self.ids());
            }
            for (index, skipped) in scale.skip.iter().enumerate() {
                let known = self.ids().chain(matrices()).chain(&others);
                let at = at.on("skip").on(&index.to_string());
                at.refers("comparison, matrix or cell", skipped, known);
            }
            for matrix in scale.matrix.keys() {
                at.on("matrix")
                    .on(matrix)
                    .refers("matrix", matrix, matrices());
            }
        }
    }

    /// Every matrix as it stands in the file and as each scale changes it, which can only be judged where
    /// they are right.
    fn matrices(&'s self) {
        let before = self.found.borrow().len();
        for (at, matrix) in self.each("matrix", &self.study.matrices, |matrix| &matrix.id) {
            at.rounds(matrix.max_rounds);
            at.key("external").baseline(&matrix.external);
            matrix.check(&at);
        }
        let matrices: Vec<MatrixSpec> = self.study.matrices.clone();
        if self.found.borrow().len() > before || !self.expansion(&matrices, "the matrices") {
            return;
        }
        for (name, scale) in &self.study.scales {
            let changed = matrices.iter().map(|matrix| {
                let Some(change) = scale.matrix.get(&matrix.id) else {
                    return matrix.clone();
                };
                let changed = matrix.clone().changed(change);
                let words = format!("scales.{name}.matrix.{}", matrix.id);
                changed.check_grid(&self.at(&["scales", name, "matrix", &matrix.id], words));
                changed
            });
            self.expansion(&changed.collect::<Vec<_>>(), &format!("scale '{name}'"));
        }
    }

    /// The names that matrices stand for must not be taken.
    fn expansion(&'s self, matrices: &[MatrixSpec], words: &str) -> bool {
        let mut taken: BTreeSet<String> = self.ids().cloned().collect();
        for (index, matrix) in matrices.iter().enumerate() {
            let at = self.at(&["matrix", &index.to_string()], words);
            let columns = matrix.sizes.iter().map(|size| matrix.comparison_id(*size));
            for id in columns.chain([matrix.id.clone()]) {
                let message = format!("two comparisons or matrices would be called '{id}'");
                if !at.rule(taken.insert(id), message) {
                    return false;
                }
            }
            let mut datasets = matrix.sizes.iter().map(|size| matrix.dataset_name(*size));
            if let Some(name) = datasets.find(|name| self.study.datasets.contains_key(name)) {
                at.wrong(format_args!(
                    "the matrix would make a dataset '{name}', which there is already"
                ));
                return false;
            }
        }
        true
    }

    fn bars_and_lines(&'s self) {
        let mut seen: BTreeSet<&String> = self.study.charts.iter().map(|chart| &chart.id).collect();
        for (at, bars) in self.each("bars", &self.study.bars, |bars| &bars.id) {
            at.key("id").unique(seen.insert(&bars.id));
            self.drawn(&at, &bars.id, &bars.comparisons, &bars.cells);
            bars.check_published(&at.key("published"));
        }
        for (at, lines) in self.each("lines", &self.study.lines, |lines| &lines.id) {
            at.key("id").unique(seen.insert(&lines.id));
            self.drawn(&at, &lines.id, &lines.comparisons, &lines.cells);
            self.across(&at.key("x"), &lines.comparisons, &lines.x);
        }
    }

    fn drawn(&'s self, at: &At<'_>, id: &str, comparisons: &[String], cells: &[String]) {
        at.key("id").plain(id);
        let of = at.key("comparisons");
        of.rule(!comparisons.is_empty(), "give at least one");
        for (index, id) in comparisons.iter().enumerate() {
            of.refers("comparison", id, self.ids());
            let is_first = !comparisons[..index].contains(id);
            of.rule(is_first, format_args!("'{id}' stands here twice"));
        }
        let known = self.cells_of(comparisons).map(|(name, _)| name.as_str());
        let known: Vec<&str> = known.collect();
        for cell in cells {
            let near = suggestion(cell, known.iter().copied());
            let message = format_args!("unknown cell '{cell}' in its comparisons{near}");
            at.key("cells")
                .rule(known.contains(&cell.as_str()), message);
        }
    }

    fn cells_of(&self, comparisons: &[String]) -> impl Iterator<Item = (&String, &CellSpec)> {
        let all = self.study.comparisons.iter();
        let shown = all.filter(|known| comparisons.contains(&known.id));
        shown.flat_map(|comparison| &comparison.cells)
    }

    /// What lies across must be a word of workloads, or a setting that some cell gives.
    fn across(&self, at: &At<'_>, comparisons: &[String], across: &Across) {
        let Across::Setting(setting) = across else {
            return;
        };
        let given = || {
            self.cells_of(comparisons)
                .flat_map(|(_, cell)| &cell.store.settings)
        };
        let values = given().filter(|(name, _)| *name == setting);
        let values: Vec<&String> = values.map(|(_, value)| value).collect();
        let words = ["operations", "per_transaction", "threads"];
        let known = given().map(|(name, _)| name.as_str()).chain(words);
        at.rule(
            !values.is_empty(),
            format_args!(
                "'{setting}' is neither operations, per_transaction nor threads, and no cell of \
                 its comparisons gives a setting of that name{}",
                suggestion(setting, known)
            ),
        );
        if let Some(value) = values
            .iter()
            .find(|value| crate::parse_size(value).is_err())
        {
            at.wrong(format_args!(
                "'{setting}' has no numbers to draw: a cell gives '{value}'"
            ));
        }
    }

    fn ladders(&'s self) {
        let mut seen = BTreeSet::new();
        for (at, ladder) in self.each("ladder", &self.study.ladders, |ladder| &ladder.id) {
            at.on("id").plain(&ladder.id);
            at.on("id").unique(seen.insert(&ladder.id));
            let rungs = at.on("rungs");
            rungs.rule(
                ladder.rungs.len() >= 2,
                "give at least two, from the bottom up",
            );
            let cells = ladder.rungs.iter();
            let cells = cells.flat_map(|rung| rung.isolated.keys().chain([&rung.cell]));
            self.of_comparison(&at, &ladder.comparison, cells);
        }
    }

    fn of_comparison<'a>(
        &self,
        at: &At<'_>,
        comparison: &str,
        cells: impl Iterator<Item = &'a String>,
    ) {
        let Some(known) = self.comparison(comparison) else {
            at.on("comparison")
                .refers("comparison", comparison, self.ids());
            return;
        };
        for cell in cells {
            at.on("id").refers("cell", cell, known.cells.keys());
        }
    }

    fn claims(&'s self) {
        let known = self.names_of_cells();
        let mut seen = BTreeSet::new();
        for (at, claim) in self.each("claim", &self.study.claims, |claim| &claim.id) {
            at.on("id").plain(&claim.id);
            at.on("id").unique(seen.insert(&claim.id));
            let quote = !claim.quote.trim().is_empty();
            at.on("quote").rule(quote, "give the words of the source");
            self.claim(&at, claim, &known);
        }
    }

    fn claim(&self, at: &At<'_>, claim: &ClaimSpec, known: &BTreeSet<String>) {
        match claim.deciding() {
            None => at.on("id").wrong(
                "say what decides it: one of 'test', 'order', 'best', and 'larger' with \
                 'smaller' and 'comparison'",
            ),
            Some(Deciding::Tests(tests)) => {
                tests
                    .iter()
                    .for_each(|test| test.check(&at.on("test"), known));
            }
            Some(Deciding::Order(cells)) => {
                at.on("order")
                    .rule(cells.len() > 1, "an order has two cells at least");
                at.on("order").refers_to_cells(cells, known);
            }
            Some(Deciding::Best(best)) => self.best(&at.on("best"), best),
            Some(Deciding::Larger(comparison, larger, smaller)) => {
                let cells = larger.cells().into_iter().chain(smaller.cells());
                self.of_comparison(at, comparison, cells.chain(&claim.of));
            }
        }
    }

    fn best(&self, at: &At<'_>, best: &BestSpec) {
        let mut matrices = self.study.matrices.iter();
        let Some(matrix) = matrices.find(|matrix| matrix.id == best.matrix) else {
            let ids = self.study.matrices.iter().map(|matrix| &matrix.id);
            at.refers("matrix", &best.matrix, ids);
            return;
        };
        let within = |numbers: &[u64], all: &[u64]| {
            !numbers.is_empty() && numbers.iter().all(|number| all.contains(number))
        };
        at.rule(
            within(&best.rows, &matrix.rows) && within(&best.among, &matrix.rows),
            "'rows' and 'among' must be rows of the matrix",
        );
        at.rule(
            !best.among.iter().all(|row| best.rows.contains(row)),
            "'among' must have rows that are not the best",
        );
        at.rule(
            within(&best.sizes, &matrix.sizes),
            "'sizes' must be sizes of the matrix",
        );
    }

    /// Published times are of cells that there are, and of something.
    fn published(&'s self) {
        let known = self.names_of_cells();
        let mut seen = BTreeSet::new();
        for (at, table) in self.each("published", &self.study.published, |table| &table.id) {
            at.on("id").plain(&table.id);
            at.on("id").unique(seen.insert(&table.id));
            table
                .rows
                .iter()
                .for_each(|row| row.check(&at.on("rows"), &known));
        }
    }

    /// The names of all cells, those of matrices among them.
    fn names_of_cells(&self) -> BTreeSet<String> {
        let compared = self.study.comparisons.iter().flat_map(|comparison| {
            let keys = comparison.cells.keys();
            keys.map(|key| comparison.cell_name(key))
        });
        let crossed = self.study.matrices.iter().flat_map(|matrix| {
            let columns = matrix.sizes.iter().map(|size| matrix.comparison(*size));
            columns.flat_map(|column| {
                let keys = column.cells.keys();
                keys.map(|key| column.cell_name(key)).collect::<Vec<_>>()
            })
        });
        compared.chain(crossed).collect()
    }
}

impl MatrixSpec {
    fn check(&self, at: &At<'_>) {
        at.key("id").plain(&self.id);
        self.check_grid(at);
        if let Some(given) = self.internal.store.settings.get(&self.setting()) {
            at.key("row_setting").wrong(format_args!(
                "the rows vary '{}', which the internal store fixes at {given}",
                self.row_setting
            ));
        }
        for (key, cell) in [("internal", &self.internal), ("external", &self.external)] {
            let message = "a side of a matrix cannot be the floor; put the floor beside it";
            at.key(key).rule(!cell.floor, message);
        }
        for name in self.beside.keys() {
            let at = at.key("beside");
            let words = format!("{}: '{}'", at.words, name.escape_debug());
            at.called(words).plain(name);
            at.rule(
                name != EXTERNAL && !name.chars().all(|c| c.is_ascii_digit()),
                format_args!("'{name}' is the name of a cell of the matrix itself; choose another"),
            );
        }
        if let Some(published) = &self.published {
            published.check(&at.key("published"), self);
        }
    }

    /// What a scale can change.
    fn check_grid(&self, at: &At<'_>) {
        at.key("spread_percent").rule(
            self.spread_percent <= 90,
            format_args!("must be from 0 to 90, not {}", self.spread_percent),
        );
        let rising = at.key("sizes").rising(&self.sizes);
        at.key("rows").rising(&self.rows);
        let some = at.key("sizes").rule(
            self.sizes.first() != Some(&0),
            "a value must have at least 1 byte",
        );
        let largest = self.sizes.last().copied().unwrap_or_default();
        let bytes = self.bytes;
        let holds = at.key("bytes").rule(
            bytes >= largest,
            format_args!("{bytes} bytes hold no value of {largest}"),
        );
        let Some(block) = self.block_bytes.filter(|_| rising && some && holds) else {
            return;
        };
        let at = at.key("block_bytes");
        at.rule(
            (largest..=bytes).contains(&block),
            format_args!(
                "{block} bytes make no block: give from {largest}, the largest value, to {bytes}, \
                 all values of a column"
            ),
        );
        if let Some(operations) = self.workload.operations {
            at.wrong(format_args!(
                "the workload fixes the block already, at {operations} operations"
            ));
        }
    }
}

impl PublishedMatrix {
    fn check(&self, at: &At<'_>, matrix: &MatrixSpec) {
        at.rising(&self.sizes);
        let rows: Vec<String> = matrix.rows.iter().map(u64::to_string).collect();
        for (row, ratios) in &self.ratios {
            let near = suggestion(row, rows.iter().map(String::as_str));
            at.rule(
                rows.contains(row),
                format_args!("there is no row '{row}'{near}"),
            );
            let (found, sizes) = (ratios.len(), self.sizes.len());
            let message = format_args!("row {row} has {found} ratios for {sizes} sizes");
            at.rule(found == sizes, message);
            for ratio in ratios.iter().filter(|ratio| **ratio <= 0.0) {
                at.wrong(format_args!("row {row}: {ratio} is no ratio"));
            }
        }
    }
}

impl BarsSpec {
    fn check_published(&self, at: &At<'_>) {
        at.rule(
            self.published.is_empty() || self.measure == Measure::BlockTime,
            format_args!(
                "published figures are seconds of a block, which measure = \"block-time\" shows, \
                 and this one is \"{}\"",
                self.measure.name()
            ),
        );
        for bar in &self.published {
            let id = &bar.comparison;
            let near = suggestion(id, self.comparisons.iter().map(String::as_str));
            let message = format_args!("'{id}' is none of its comparisons{near}");
            at.rule(self.comparisons.contains(id), message);
            let figures = [bar.seconds].into_iter().chain(bar.error_seconds);
            at.seconds(&format!("'{}': ", bar.label), figures);
        }
    }
}

impl TestSpec {
    fn check(&self, at: &At<'_>, known: &BTreeSet<String>) {
        at.rule(!self.of.is_empty(), "'of' needs a cell");
        let alone = self.to.is_empty();
        at.rule(
            !alone || self.measure.stands_alone(),
            "give 'to', the cells that it is compared with",
        );
        at.rule(
            !alone || self.of.len() <= 1,
            "without 'to' it is of one cell",
        );
        let (least, most) = (self.at_least, self.at_most);
        let mut bounds = least.into_iter().chain(most);
        at.rule(
            bounds.all(|bound| bound >= 0.0),
            "a bound is a number, 0 or more",
        );
        let bounded = least.is_some() || most.is_some();
        at.rule(bounded, "give 'at_least', 'at_most' or both");
        let ordered = least.zip(most).is_none_or(|(least, most)| least <= most);
        at.rule(ordered, "'at_least' is above 'at_most'");
        at.refers_to_cells(self.cells(), known);
    }
}

impl PublishedRow {
    fn check(&self, at: &At<'_>, known: &BTreeSet<String>) {
        let times = [
            Some(self.seconds),
            self.error_seconds,
            self.before_commit_seconds,
        ];
        at.rule(
            self.operations > 0 && times.iter().flatten().all(|time| *time >= 0.0),
            "a time is of 1 operation at least, and 0 seconds or more",
        );
        let of = self.cell.is_some() || self.what.is_some();
        at.rule(of, "give 'cell', or 'what' it is of");
        at.refers_to_cells(&self.cell, known);
    }
}
