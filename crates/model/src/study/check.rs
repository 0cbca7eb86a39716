//! What can be wrong with a study whose file has the shape of one: a rule a line, each said of its place in
//! the file.

use super::matrix::EXTERNAL;
use super::{
    Across, CellSpec, ClaimSpec, ComparisonSpec, FigureSpec, MOST_ROUNDS, MatrixSpec, Measure,
    PublishedMatrix, PublishedRow, Study, TestSpec,
};
use crate::{CellId, SizeDistribution, suggestion};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;

/// Tells of a mistake under some keys, with its place in words.
type Tell<'s> = dyn Fn(&[String], &str, &str) -> String + 's;

/// The mistakes of a study. Of names that are `lost`, nothing is known.
pub(super) fn all(study: &Study, lost: &[String], tell: &Tell<'_>) -> Vec<String> {
    let check = Check {
        study,
        lost,
        tell,
        found: RefCell::default(),
    };
    check.names();
    check.datasets();
    check.comparisons();
    check.scales();
    check.matrices();
    if lost.is_empty() {
        check.figures();
        check.ladders();
        check.claims();
    }
    check.found.into_inner()
}

/// Rules, each with the place that it is about and what is said there where it does not hold.
macro_rules! rules {
    ($($at:expr, $holds:expr => $said:literal;)+) => {
        $($at.rule($holds, format_args!($said));)+
    };
}

struct Check<'s> {
    study: &'s Study,
    lost: &'s [String],
    tell: &'s Tell<'s>,
    found: RefCell<Vec<String>>,
}

/// A place in the file, for rules about what stands there.
#[derive(Clone)]
struct At<'c> {
    check: &'c Check<'c>,
    keys: Vec<String>,
    words: String,
}

impl At<'_> {
    /// What stands there under a key.
    fn on(&self, key: &str) -> Self {
        let mut at = self.clone();
        at.keys.push(key.to_owned());
        at
    }

    /// What stands there under a key, which is named in what is told of it.
    fn key(&self, key: &str) -> Self {
        self.on(key).called(format!("{}, {key}", self.words))
    }

    /// The place in other words.
    fn called(&self, words: String) -> Self {
        Self {
            words,
            ..self.clone()
        }
    }

    fn wrong(&self, message: impl Display) {
        let Check { tell, found, .. } = self.check;
        let told = tell(&self.keys, &self.words, &message.to_string());
        found.borrow_mut().push(told);
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

    /// An id is plain, and none of those that were seen.
    fn id<'i>(&self, id: &'i String, seen: &mut BTreeSet<&'i String>) {
        self.plain(id);
        self.rule(seen.insert(id), "this id is used twice");
    }

    /// A name is one of those that are known, or may be.
    fn refers<'k>(&self, what: &str, name: &str, known: impl IntoIterator<Item = &'k String>) {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let is_lost = self.check.lost.iter().any(|lost| lost == name);
        if is_lost || known.contains(&name) {
            return;
        }
        let near = suggestion(name, known);
        self.wrong(format_args!(
            "unknown {what} '{}'{near}",
            name.escape_debug()
        ));
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
            let shown = cell.escape_debug();
            self.wrong(format_args!("unknown cell '{shown}'{near}{whole}"));
        }
    }

    /// Rounds that are none: a scale, or the command line, must not hide them.
    fn rounds(&self, cap: Option<u32>) {
        let cap = cap.unwrap_or(MOST_ROUNDS);
        rules! {
            self.on("max_rounds"), (1..=MOST_ROUNDS).contains(&cap)
                => "max_rounds must be from 1 to {MOST_ROUNDS}, not {cap}";
        }
    }

    /// Without a baseline there is nothing to compare with.
    fn baseline(&self, cell: &CellSpec) {
        rules! {
            self.on("optional"), !cell.optional
                => "a baseline cannot be optional: every other cell is compared with it";
        }
    }

    /// At least one number, each larger than the one before.
    fn rising(&self, numbers: &[u64]) {
        let pair = numbers.windows(2).find(|pair| pair[0] >= pair[1]);
        if let Some([before, after]) = pair {
            self.wrong(format_args!(
                "give each once, by rising number: {before} stands before {after}"
            ));
        }
        rules! { self, !numbers.is_empty() => "give at least one"; }
    }

    fn seconds(&self, of: &str, seconds: impl IntoIterator<Item = f64>) {
        for seconds in seconds {
            rules! { self, seconds >= 0.0 => "{of}{seconds} is no number of seconds"; }
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
        let comparisons = self.study.comparisons.iter();
        comparisons.map(|comparison| &comparison.id)
    }

    fn comparison(&self, id: &str) -> Option<&ComparisonSpec> {
        self.study.comparisons.iter().find(|known| known.id == id)
    }

    fn names(&'s self) {
        let study = self.study;
        let datasets = study.datasets.keys();
        let datasets = datasets.map(|name| ("dataset", "datasets", name));
        let drivers = study.drivers.keys().map(|name| ("driver", "drivers", name));
        let scales = study.scales.keys().map(|name| ("scale", "scales", name));
        for (what, table, name) in datasets.chain(drivers).chain(scales) {
            let words = format!("{what} '{}'", name.escape_debug());
            self.at(&[table, name], words).plain(name);
        }
        let words = format!("study '{}'", study.name.escape_debug());
        self.at(&["name"], &words).plain(&study.name);
        let nothing = study.comparisons.is_empty() && study.matrices.is_empty();
        rules! {
            self.at(&[], words), !nothing || !self.lost.is_empty()
                => "it compares nothing: give it a [[comparison]] or a [[matrix]]";
        }
    }

    fn datasets(&'s self) {
        let is_lost = |key: &str| self.lost.iter().any(|name| name == key);
        for (name, dataset) in &self.study.datasets {
            let at = self.at(&["datasets", name], format_args!("datasets.{name}"));
            if let Err(why) = dataset.size.check() {
                at.on("size").wrong(why);
            }
            let (found, size) = (dataset.from.is_some(), &dataset.size);
            rules! {
                at.on("size"), found || *size != SizeDistribution::AsFound || is_lost("size")
                    => "it needs sizes: size = {{ distribution = … }}, size = {{ like = \"DIR\" }}, or values: from = \"DIR\"";
                at.on("count"), found || dataset.count > 0 || is_lost("count") => "count must be at least 1";
            }
        }
    }

    fn comparisons(&'s self) {
        let mut seen = BTreeSet::new();
        for (at, comparison) in self.each("comparison", &self.study.comparisons, |c| &c.id) {
            let (id, baseline) = (&comparison.id, &comparison.baseline);
            let cells = &comparison.cells;
            at.on("id").id(id, &mut seen);
            at.on("dataset")
                .refers("dataset", &comparison.dataset, self.study.datasets.keys());
            at.on("baseline").refers("cell", baseline, cells.keys());
            at.rounds(comparison.max_rounds);
            for (key, cell) in cells {
                let called = |words| at.on("cells").on(key).called(words);
                called(format!("cell '{}'", key.escape_debug())).plain(key);
                if key == baseline {
                    let of = id.escape_debug();
                    called(format!("comparison '{of}', cell '{key}'")).baseline(cell);
                }
                let at = called(format!("cell '{id}/{key}', published_seconds"));
                let (seconds, error) = (cell.published_seconds, cell.published_error_seconds);
                rules! { at, error.is_none() || seconds.is_some() => "it needs published_seconds"; }
                at.seconds("", seconds.into_iter().chain(error));
            }
        }
    }

    fn scales(&'s self) {
        let study = self.study;
        let cells = study.comparisons.iter().flat_map(|comparison| {
            let others = |key: &&String| **key != comparison.baseline;
            let keys = comparison.cells.keys().filter(others);
            keys.map(|key| comparison.cell_name(key))
        });
        let others: Vec<String> = cells.collect();
        let matrices = || study.matrices.iter().map(|matrix| &matrix.id);
        for (name, scale) in &study.scales {
            let words = format!("scales.{}", name.escape_debug());
            let at = self.at(&["scales", name], words);
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
            let words = format!("row_setting '{}'", matrix.row_setting.escape_debug());
            at.on("row_setting")
                .called(words)
                .plain(&matrix.row_setting);
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

    fn figures(&'s self) {
        let known = self.names_of_cells();
        let mut seen = BTreeSet::new();
        for (at, figure) in self.each("figure", &self.study.figures, |figure| &figure.id) {
            at.key("id").id(&figure.id, &mut seen);
            self.drawn(&at, figure);
            if let Some(x) = &figure.x {
                self.across(&at.key("x"), &figure.comparisons, x);
            }
            for system in figure.published_ratios.keys() {
                let at = at.on("published_ratios").on(system);
                at.refers("system", system, self.study.systems.keys());
            }
            for row in &figure.published {
                row.check(&at.key("published"), figure, &known);
            }
        }
    }

    fn drawn(&'s self, at: &At<'_>, figure: &FigureSpec) {
        let FigureSpec {
            comparisons, cells, ..
        } = figure;
        let of = at.key("comparisons");
        for (index, id) in comparisons.iter().enumerate() {
            of.refers("comparison", id, self.ids());
            rules! { of, !comparisons[..index].contains(id) => "'{id}' stands here twice"; }
        }
        let (of_table, to) = (comparisons.is_empty(), figure.to.iter());
        rules! {
            of, !of_table || !figure.published.is_empty()
                => "give at least one, or what was published";
            at.key("to"), figure.to.is_none() || (comparisons.len() == 1 && !cells.is_empty())
                => "ratios are of the 'cells' of one comparison";
            at.key("to"), figure.to.is_none() || figure.x.is_none() => "lines over 'x' are of times, not of ratios";
            at.key("measure"), figure.to.is_none() || figure.measure == Measure::Time
                => "ratios 'to' a cell are of times";
            at.key("measure"), !of_table || matches!(figure.measure, Measure::Time | Measure::Footprint)
                => "a table of what was published is of times, or of disk space: \"footprint\"";
            at.key("published_ratios"), figure.published_ratios.is_empty() || figure.to.is_some()
                => "they stand beside ratios: give 'to'";
            at.key("published"), figure.published.is_empty() || (figure.x.is_none() && figure.to.is_none())
                => "they stand beside bars or in a table, not where there is 'to' or 'x'";
        }
        let known: Vec<&String> = self.cells_of(comparisons).map(|(name, _)| name).collect();
        for cell in to.chain(cells).filter(|cell| !known.contains(cell)) {
            let near = suggestion(cell, known.iter().map(|name| name.as_str()));
            let cells = at.key("cells");
            cells.wrong(format_args!(
                "unknown cell '{cell}' in its comparisons{near}"
            ));
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
        let cells = || self.cells_of(comparisons);
        let given = || cells().flat_map(|(_, cell)| &cell.store.settings);
        let values = given().filter(|(name, _)| *name == setting);
        let values: Vec<&String> = values.map(|(_, value)| value).collect();
        let words = ["operations", "per_transaction", "threads"];
        let known = given().map(|(name, _)| name.as_str()).chain(words);
        let near = suggestion(setting, known);
        rules! {
            at, !values.is_empty()
                => "'{setting}' is neither operations, per_transaction nor threads, and no cell of \
                    its comparisons gives a setting of that name{near}";
        }
        let is_no_number = |value: &&&String| crate::parse_size(value).is_err();
        if let Some(value) = values.iter().find(is_no_number) {
            at.wrong(format_args!(
                "'{setting}' has no numbers to draw: a cell gives '{value}'"
            ));
        }
    }

    fn ladders(&'s self) {
        let mut seen = BTreeSet::new();
        for (at, ladder) in self.each("ladder", &self.study.ladders, |ladder| &ladder.id) {
            at.on("id").id(&ladder.id, &mut seen);
            rules! { at.on("rungs"), ladder.rungs.len() >= 2 => "give at least two, from the bottom up"; }
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
            at.on("id").id(&claim.id, &mut seen);
            rules! { at.on("quote"), !claim.quote.trim().is_empty() => "give the words of the source"; }
            self.claim(&at, claim, &known);
        }
    }

    fn claim(&self, at: &At<'_>, claim: &ClaimSpec, known: &BTreeSet<String>) {
        let orders = !claim.order.is_empty();
        rules! {
            at.on("id"), orders == claim.test.is_empty() => "say what decides it: 'test' or 'order'";
            at.on("order"), !orders || claim.order.len() > 1 => "an order has two cells at least";
        }
        at.on("order").refers_to_cells(&claim.order, known);
        let at = at.on("test");
        claim.test.iter().for_each(|test| test.check(&at, known));
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
            rules! { at.key(key), !cell.floor => "a side of a matrix cannot be the floor; put the floor beside it"; }
        }
        for name in self.beside.keys() {
            let at = at.key("beside");
            let words = format!("{}: '{}'", at.words, name.escape_debug());
            at.called(words).plain(name);
            rules! {
                at, name != EXTERNAL && !name.chars().all(|c| c.is_ascii_digit())
                    => "'{name}' is the name of a cell of the matrix itself; choose another";
            }
        }
        if let Some(published) = &self.published {
            published.check(&at.key("published"), self);
        }
    }

    /// What a scale can change.
    fn check_grid(&self, at: &At<'_>) {
        let (spread, bytes, sizes) = (self.spread_percent, self.bytes, at.key("sizes"));
        let largest = self.sizes.last().copied().unwrap_or_default();
        let before = at.check.found.borrow().len();
        sizes.rising(&self.sizes);
        rules! {
            sizes, self.sizes.first() != Some(&0) => "a value must have at least 1 byte";
            at.key("bytes"), bytes >= largest => "{bytes} bytes hold no value of {largest}";
        }
        let sound = at.check.found.borrow().len() == before;
        at.key("rows").rising(&self.rows);
        rules! { at.key("spread_percent"), spread <= 90 => "must be from 0 to 90, not {spread}"; }
        let Some(block) = self.block_bytes.filter(|_| sound) else {
            return;
        };
        let operations = self.workload.operations;
        let fixed = operations.unwrap_or_default();
        rules! {
            at.key("block_bytes"), (largest..=bytes).contains(&block)
                => "{block} bytes make no block: give from {largest}, the largest value, to {bytes}, \
                    all values of a column";
            at.key("block_bytes"), operations.is_none()
                => "the workload fixes the block already, at {fixed} operations";
        }
    }
}

impl PublishedMatrix {
    fn check(&self, at: &At<'_>, matrix: &MatrixSpec) {
        at.rising(&self.sizes);
        let rows: Vec<String> = matrix.rows.iter().map(u64::to_string).collect();
        for (row, ratios) in &self.ratios {
            let near = suggestion(row, rows.iter().map(String::as_str));
            let (found, sizes) = (ratios.len(), self.sizes.len());
            rules! {
                at, rows.contains(row) => "there is no row '{row}'{near}";
                at, found == sizes => "row {row} has {found} ratios for {sizes} sizes";
            }
            for ratio in ratios {
                rules! { at, *ratio > 0.0 => "row {row}: {ratio} is no ratio"; }
            }
        }
    }
}

impl TestSpec {
    fn check(&self, at: &At<'_>, known: &BTreeSet<String>) {
        let alone = self.to.is_empty();
        let (least, most) = (self.at_least, self.at_most);
        rules! {
            at, !self.of.is_empty() => "'of' needs a cell";
            at, !alone || self.measure.stands_alone() => "give 'to', the cells that it is compared with";
            at, !alone || self.or_to.is_empty() => "'or_to' stands in the place of 'to', which is missing";
            at, !alone || self.of.len() <= 1 => "without 'to' it is of one cell";
            at, least.into_iter().chain(most).all(|bound| bound >= 0.0) => "a bound is a number, 0 or more";
            at, least.is_some() || most.is_some() => "give 'at_least', 'at_most' or both";
            at, least.zip(most).is_none_or(|(least, most)| least <= most) => "'at_least' is above 'at_most'";
        }
        at.refers_to_cells(self.cells(), known);
    }
}

impl PublishedRow {
    fn check(&self, at: &At<'_>, figure: &FigureSpec, known: &BTreeSet<String>) {
        let measure = figure.measure.name();
        let label = self.label.as_deref().unwrap_or_default();
        let of_times = figure.comparisons.is_empty() && !figure.is_of_space();
        let seconds = [self.seconds, self.error_seconds, self.before_commit_seconds];
        at.seconds(&format!("'{label}': "), seconds.into_iter().flatten());
        at.refers_to_cells(&self.cell, known);
        rules! {
            at, self.label.is_some() || (of_times && self.cell.is_some()) => "give its 'label': what it is of";
        }
        if figure.is_of_space() {
            return;
        }
        rules! { at, self.seconds.is_some() => "'{label}': give its 'seconds'"; }
        if of_times {
            rules! { at, self.operations.is_some_and(|all| all > 0) => "a time is of 1 operation at least"; }
            return;
        }
        let id = self.comparison.as_deref().unwrap_or_default();
        let near = suggestion(id, figure.comparisons.iter().map(String::as_str));
        rules! {
            at, figure.measure == Measure::BlockTime
                => "published figures are seconds of a block, which measure = \"block-time\" shows, \
                    and this one is \"{measure}\"";
            at, figure.comparisons.iter().any(|known| known == id)
                => "'{id}' is none of its comparisons{near}";
        }
    }
}
