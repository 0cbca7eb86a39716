//! Changes for a terminal: what it comes to, the cells in a table with the changed ones first, then
//! what to know about it.

use super::{Compared, Source, wording};
use crate::terminal::TerminalOptions;
use crate::terminal::canvas::{Canvas, Span, Tone, span};
use crate::terminal::table::{self, Column, Row};
use stowplan_analysis::compare::{CellChange, ChangeVerdict, Changes, Decides};

/// So many sentences or names are told before the rest is only counted.
const FEW: usize = 8;

/// Everything about every NEW, as text.
#[must_use]
pub fn render(compared: &Compared<'_>, options: &TerminalOptions) -> String {
    let mut page = Page::open(options);
    page.source("BASE", &compared.base);
    for (new, changes) in &compared.news {
        page.against(new, changes, options.verbose);
    }
    page.canvas.finish()
}

/// Only the verdicts: what each NEW comes to and what qualifies that, and a sentence for each cell that changed.
#[must_use]
pub fn brief(compared: &Compared<'_>, options: &TerminalOptions) -> String {
    let mut page = Page::open(options);
    for (new, changes) in &compared.news {
        if compared.news.len() > 1 {
            page.paragraph(new.name, Tone::Heading);
        }
        page.headline(changes);
        for reservation in wording::reservations(&compared.base, new, changes) {
            page.paragraph(&reservation, Tone::Warning);
        }
        page.changed(changes, true);
    }
    page.canvas.finish()
}

/// The text as far as it is written.
struct Page {
    canvas: Canvas,
    unicode: bool,
}

impl Page {
    fn open(options: &TerminalOptions) -> Self {
        Self {
            canvas: Canvas::new(options.width.max(40), options.colour, options.unicode),
            unicode: options.unicode,
        }
    }

    /// The text as this terminal can draw it; the canvas has no arrow of ASCII of the same width.
    fn drawable(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        text.replace('→', "->")
    }

    fn paragraph(&mut self, text: &str, tone: Tone) {
        let text = self.drawable(text);
        self.canvas.paragraph(&text, 0, tone);
    }

    fn bullet(&mut self, sign: &'static str, text: &str, tone: Tone) {
        let text = self.drawable(text);
        self.canvas
            .hanging(&[span(sign, tone)], 2, &text, Tone::Plain);
    }

    fn source(&mut self, side: &str, source: &Source<'_>) {
        let text = self.drawable(&wording::source(source));
        let prefix = [span(side, Tone::Strong)];
        self.canvas.hanging(&prefix, 5, &text, Tone::Plain);
        if let Some(ending) = crate::wording::ending(source.analysis) {
            self.canvas.paragraph(&ending, 5, Tone::Warning);
        }
    }

    /// Everything about one NEW.
    fn against(&mut self, new: &Source<'_>, changes: &Changes, verbose: bool) {
        self.source("NEW", new);
        self.canvas.blank();
        self.headline(changes);
        self.changed(changes, verbose);
        if !changes.cells.is_empty() {
            self.canvas.blank();
            self.table(changes, verbose);
        }
        if verbose {
            self.other_table(changes);
            self.resources(changes);
        }
        self.list("Other settings", &wording::other_settings(changes));
        self.list(
            "Disk space, writes and memory",
            &wording::resources(changes),
        );
        self.list("What changed around it", &wording::environment(changes));
        self.not_compared(changes, verbose);
        if changes.cells.is_empty() {
            return;
        }
        self.canvas.blank();
        for note in wording::method(changes) {
            self.paragraph(&note, Tone::Faint);
        }
    }

    fn headline(&mut self, changes: &Changes) {
        let tone = match changes.regressions().next() {
            Some(_) => Tone::Bad,
            None => Tone::Strong,
        };
        self.paragraph(&wording::headline(changes), tone);
    }

    /// A sentence for each cell that changed.
    fn changed(&mut self, changes: &Changes, all: bool) {
        let decides = changes.decides;
        let changed = changes.cells.iter();
        let changed: Vec<&CellChange> = changed
            .filter(|cell| wording::has_changed(cell, decides))
            .collect();
        let shown = if all { changed.len() } else { FEW };
        for cell in changed.iter().take(shown) {
            let text = wording::statement(cell, decides);
            self.bullet("•", &text, tone_of(cell, decides));
        }
        if changed.len() > shown {
            let more = changed.len() - shown;
            self.bullet("•", &format!("and {more} more, in the table"), Tone::Faint);
        }
    }

    /// One row per cell: both times, the change that decides, and in short the other one.
    fn table(&mut self, changes: &Changes, verbose: bool) {
        let by = changes.decides;
        let columns = columns(&[
            ("BASE", 5, true),
            ("NEW", 6, true),
            ("change", 9, true),
            ("interval", 8, false),
            ("verdict", 10, false),
            (wording::other(by).1, 4, true),
            ("rounds", 3, true),
        ]);
        let rows = changes.cells.iter().map(|cell| {
            let shown = wording::row(cell, by);
            let rounds = if verbose { shown.rounds } else { String::new() };
            let verdict = span(shown.verdict, tone_of(cell, by));
            let [base, new, change, interval, other, rounds] = [
                shown.base,
                shown.new,
                shown.change,
                shown.interval,
                shown.other,
                rounds,
            ]
            .map(|text| span(text, Tone::Plain));
            self.row(
                cell,
                vec![base, new, change, interval, verdict, other, rounds],
            )
        });
        let rows: Vec<Row> = rows.collect();
        table::draw(&mut self.canvas, "cell", &columns, &rows);
    }

    /// The change that does not decide, in full.
    fn other_table(&mut self, changes: &Changes) {
        let (by, title) = wording::other(changes.decides);
        let columns = columns(&[
            ("change", 9, true),
            ("interval", 8, false),
            ("verdict", 10, false),
        ]);
        let rows = changes.cells.iter().filter_map(|cell| {
            let (change, verdict) = cell.decisive(by)?;
            let fields = [
                wording::percent(&change),
                wording::interval(&change),
                wording::plain_verdict(verdict).to_owned(),
            ];
            let fields = fields.map(|text| span(text, Tone::Plain));
            Some(self.row(cell, fields.into()))
        });
        let rows: Vec<Row> = rows.collect();
        if !rows.is_empty() {
            self.canvas.blank();
            table::draw(&mut self.canvas, title, &columns, &rows);
        }
    }

    /// What each cell takes besides time in NEW, and by how much that changed.
    fn resources(&mut self, changes: &Changes) {
        let [disk, sent, memory] = wording::RESOURCES;
        let columns = columns(&[(disk, 7, true), (sent, 6, true), (memory, 5, true)]);
        let rows = changes.cells.iter().map(|cell| {
            let fields = wording::resource_fields(cell);
            self.row(cell, fields.map(|text| span(text, Tone::Plain)).into())
        });
        let rows: Vec<Row> = rows.collect();
        if rows
            .iter()
            .any(|row| row.fields.iter().any(|field| !field.text.is_empty()))
        {
            self.canvas.blank();
            table::draw(&mut self.canvas, "in NEW", &columns, &rows);
        }
    }

    fn row(&self, cell: &CellChange, fields: Vec<Span>) -> Row {
        Row {
            label: self.drawable(&wording::name(cell)),
            fields,
        }
    }

    fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.canvas.heading(title);
        for item in items {
            self.bullet("•", item, Tone::Faint);
        }
    }

    fn not_compared(&mut self, changes: &Changes, verbose: bool) {
        let groups = wording::not_compared(changes);
        if groups.is_empty() {
            return;
        }
        self.canvas.heading("Not compared");
        for (reason, cells) in groups {
            let shown = if verbose { cells.len() } else { FEW };
            let mut names: Vec<String> = cells.iter().take(shown).cloned().collect();
            if cells.len() > shown {
                names.push(format!("and {} more", cells.len() - shown));
            }
            let text = format!("{}: {reason}", names.join(", "));
            self.bullet("!", &text, Tone::Warning);
        }
    }
}

fn columns(all: &[(&'static str, u8, bool)]) -> Vec<Column> {
    let columns = all.iter().map(|(title, weight, right)| Column {
        title,
        weight: *weight,
        right: *right,
    });
    columns.collect()
}

fn tone_of(cell: &CellChange, decides: Decides) -> Tone {
    match cell.decisive(decides).map(|(_, verdict)| verdict) {
        _ if cell.regression => Tone::Bad,
        Some(ChangeVerdict::Slower) => Tone::Bad,
        Some(ChangeVerdict::Faster) => Tone::Good,
        Some(ChangeVerdict::Small | ChangeVerdict::WithinThreshold | ChangeVerdict::NoChange) => {
            Tone::Plain
        }
        Some(ChangeVerdict::Unresolved) => Tone::Warning,
        None => Tone::Faint,
    }
}
