//! Tables: columns, and rows of cells with the number to sort by.

use super::{Sign, Text, Tone, Value, plain, toned};

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What is in it, for those who cannot see it.
    pub caption: String,
    /// Its columns; the first names the rows.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell per column.
    pub rows: Vec<Row>,
    /// Whether it is a heat map: cells have shades, all columns have the same width, and columns
    /// that do not fit follow below.
    pub is_heat_map: bool,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// What it means, for those who ask; may be empty.
    pub help: String,
    /// The unit of the numbers to sort by, such as `ns`; empty where they are counts or ratios.
    pub unit: &'static str,
    /// Where its cells stand.
    pub align: Align,
    /// How important it is: where a line is too narrow, columns with a smaller number are left out
    /// first. From [`Column::ESSENTIAL`] on, names wrap before it is left out; with 0 it is shown
    /// only where everything is asked for.
    pub weight: u8,
}

/// Where cells stand in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Text.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// A cell per column.
    pub cells: Vec<Cell>,
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What it shows.
    pub text: Text,
    /// The number to sort by.
    pub sort: Option<f64>,
    /// Who is ahead.
    pub sign: Option<Sign>,
    /// Of a heat map: its colour, 0 for none of both hues, see [`super::shade::shade`]; nothing where
    /// nothing is claimed.
    pub shade: Option<i8>,
    /// What else there is to know of it; may be empty.
    pub help: String,
}

impl Column {
    /// Columns of at least this weight are left out only when names have wrapped.
    pub const ESSENTIAL: u8 = 5;
}

impl Cell {
    /// Text.
    pub fn text(text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A number: what it shows, and what it is sorted by.
    #[must_use]
    pub fn number(value: f64, text: String) -> Self {
        Self {
            sort: value.is_finite().then_some(value),
            ..Self::text(plain(text))
        }
    }

    /// A value.
    #[must_use]
    pub fn value(value: Option<Value>) -> Self {
        value.map_or_else(Self::default, |value| {
            Self::number(value.number, value.text())
        })
    }

    /// What follows a value: its interval or its error; sorted by its width.
    #[must_use]
    pub fn spread(value: Option<Value>) -> Self {
        let ends = value.and_then(|value| Some((value.ends()?, value.spread())));
        ends.map_or_else(Self::default, |((low, high), spread)| {
            Self::number(high - low, spread)
        })
    }

    /// A number, if there is one.
    #[must_use]
    pub fn maybe(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(Self::default, |value| Self::number(value, text(value)))
    }

    /// The cell in this tone.
    #[must_use]
    pub fn in_tone(mut self, tone: Tone) -> Self {
        self.text = toned(self.text.text(), tone);
        self
    }
}

/// A column and how its cell is made from a thing that is one row.
pub struct TableBuilder<'a, T> {
    column: Column,
    cell: Box<dyn Fn(&T) -> Cell + 'a>,
}

/// A column of numbers, of weight 1.
pub fn number<'a, T>(
    title: impl Into<String>,
    help: impl Into<String>,
    cell: impl Fn(&T) -> Cell + 'a,
) -> TableBuilder<'a, T> {
    let mut builder = text_column(title, help, cell);
    builder.column.align = Align::Right;
    builder
}

/// A column of texts, of weight 1.
pub fn text_column<'a, T>(
    title: impl Into<String>,
    help: impl Into<String>,
    cell: impl Fn(&T) -> Cell + 'a,
) -> TableBuilder<'a, T> {
    let column = Column {
        title: title.into(),
        help: help.into(),
        weight: 1,
        ..Column::default()
    };
    TableBuilder::new(column, cell)
}

impl<'a, T> TableBuilder<'a, T> {
    /// A column whose cells are made by this.
    pub fn new(column: Column, cell: impl Fn(&T) -> Cell + 'a) -> Self {
        Self {
            column,
            cell: Box::new(cell),
        }
    }

    /// The column, in whose title and help this stands for a placeholder.
    #[must_use]
    pub fn naming(mut self, placeholder: &str, name: &str) -> Self {
        for text in [&mut self.column.title, &mut self.column.help] {
            *text = text.replace(placeholder, name);
        }
        self
    }

    /// The column, whose numbers have a unit.
    #[must_use]
    pub fn in_unit(mut self, unit: &'static str) -> Self {
        self.column.unit = unit;
        self
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.column.title
    }

    /// The column with this weight.
    #[must_use]
    pub fn weighing(mut self, weight: u8) -> Self {
        self.column.weight = weight;
        self
    }
}

impl Table {
    /// The table of `things`, without columns in which no row has anything to show.
    pub fn of<T>(
        caption: impl Into<String>,
        columns: Vec<TableBuilder<'_, T>>,
        things: &[T],
    ) -> Self {
        let mut table = Self {
            caption: caption.into(),
            ..Self::default()
        };
        table.rows.resize_with(things.len(), Row::default);
        for builder in columns {
            let cells: Vec<Cell> = things.iter().map(&builder.cell).collect();
            if cells.iter().all(|cell| cell.text.is_empty()) {
                continue;
            }
            table.columns.push(builder.column);
            for (row, cell) in table.rows.iter_mut().zip(cells) {
                row.cells.push(cell);
            }
        }
        table
    }
}
