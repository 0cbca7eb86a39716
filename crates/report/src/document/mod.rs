//! What is shown, before anyone knows where: a [`Document`] is made of blocks, and each kind of
//! finding writes its blocks once. The renderers ([`crate::render::terminal`],
//! [`crate::render::html`], [`crate::render::markdown`]) know blocks and no findings.
//!
//! What belongs here: the shapes of what can be shown, and what makes them easy to write. What does
//! not: findings, and how anything is drawn.

mod chart;
mod list;
mod scale;
pub mod shade;
mod sign;
mod table;
mod text;

pub use crate::value::{Spread, Unit, Value};
pub use chart::{Across, Axis, ChartRow, Fill, Mark, MarkKind, RowGroup, Rows, Shape, headed};
pub use list::{Badge, Item, Key, LegendEntry};
pub use scale::Scale;
pub use sign::{Sign, legend};
pub use table::{Align, Cell, Column, Row, Table, TableBuilder, number, text_column};
pub use text::{Span, Text, Tone, faint, plain, strong, toned};

/// A whole report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// What kind of document it is: `Stowplan report`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// The question that it answers; empty if there is none. Text forms that are to be short leave
    /// it out.
    pub question: Text,
    /// Where it comes from: machine, file system, scale, time. Shown where there is room for it.
    pub byline: Vec<Text>,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// How much a reader must ask for to be shown a block. A form shows the blocks up to its own level:
/// a page shows all, and Markdown all but drawings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Detail {
    /// Shown even where only the outcome is wanted: on a terminal with `--quiet`.
    Answer,
    /// Shown on a terminal: one screen.
    #[default]
    Summary,
    /// Shown on a terminal with `--verbose`, and where there is room for everything.
    Full,
    /// Drawn on a page, and nothing for text.
    Page,
}

/// One block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What it is.
    pub content: Content,
    /// From which level of detail on it is shown.
    pub detail: Detail,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Blocks below a heading. Its level follows from how deep it lies in other sections.
    Section(Section),
    /// A paragraph.
    Paragraph(Text),
    /// What must not be overlooked.
    Notice(Text),
    /// Items, a bullet before each.
    List(Vec<Item>),
    /// Names and values.
    Facts(Vec<(String, Text)>),
    /// A table.
    Table(Table),
    /// A chart.
    Rows(Rows),
    /// What colours, signs and shapes say.
    Legend(Vec<LegendEntry>),
    /// Text as it is, line by line: commands, output of programs.
    Verbatim(String),
    /// Files that the page carries, to be saved from it.
    Files(Vec<File>),
}

/// How a section looks where that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// As part of the text around it.
    #[default]
    Plain,
    /// As a figure: its first paragraph is the caption, its other blocks are what is drawn.
    Figure,
    /// Its blocks, which are sections of the same kind, side by side where there is room.
    Columns,
    /// Shown when asked for, below a line; where nothing can be folded it is shown as it is.
    Fold,
    /// Shown when asked for, below its heading.
    Finding,
}

/// Blocks below a heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Its name within the page, by which links find it; empty if none does.
    pub id: String,
    /// Its heading; empty for none.
    pub title: Text,
    /// How it looks.
    pub look: Look,
    /// What was found in it, in a word.
    pub badge: Option<Badge>,
    /// What was found in it, in a line; shown beside the title where it is folded.
    pub found: Text,
    /// Whether the table of contents names it; only sections of the document itself are asked.
    pub in_contents: Option<String>,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A file that the page carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What it is of, such as the name of a machine; empty where there is only one.
    pub of: String,
    /// Its name when saved.
    pub name: String,
    /// Its content.
    pub content: String,
}

impl Document {
    /// What one screen has room for: lists, tables and drawings with so many rows at most, what is
    /// wrong first; with none, the answers alone.
    #[must_use]
    pub fn shortened(&self, rows: usize) -> Self {
        let mut short = self.clone();
        let mut is_cut = false;
        shorten(&mut short.blocks, rows, &mut is_cut);
        if is_cut {
            let more = remark("More: --verbose.");
            short.blocks.push(more.at(Detail::Answer));
        }
        short
    }
}

fn shorten(blocks: &mut Vec<Block>, rows: usize, is_cut: &mut bool) {
    const LEAST_OF_ANSWERS: usize = 6;
    /// With fewer rows nothing is explained.
    const EXPLAINED: usize = 3;
    let kept = |block: &Block| rows > 0 || block.detail == Detail::Answer;
    *is_cut |= blocks
        .iter()
        .any(|b| b.detail == Detail::Summary && !kept(b));
    blocks.retain(kept);
    for block in blocks {
        let most = match block.detail {
            Detail::Answer => rows.max(LEAST_OF_ANSWERS),
            _ => rows,
        };
        let is_wrong = |tone: Tone| matches!(tone, Tone::Bad | Tone::Warning);
        match &mut block.content {
            Content::Section(section) => shorten(&mut section.blocks, rows, is_cut),
            Content::List(items) => {
                truncate(items, most, is_cut, |item| {
                    let badge = item.badge.as_ref();
                    badge.is_some_and(|badge| is_wrong(badge.tone))
                });
                if most < EXPLAINED {
                    items
                        .iter_mut()
                        .for_each(|item| item.note = Text::default());
                    *is_cut = true;
                }
            }
            Content::Table(table) => truncate(&mut table.rows, most, is_cut, |row| {
                let mut spans = row.cells.iter().flat_map(|cell| &cell.text.0);
                spans.any(|span| is_wrong(span.tone))
            }),
            Content::Facts(facts) => truncate(facts, most, is_cut, |_| false),
            Content::Rows(chart) => {
                let drawn: usize = chart.groups.iter().map(|group| group.rows.len()).sum();
                if drawn > most {
                    *chart = chart.clone().first(most);
                    *is_cut = true;
                }
            }
            _ => {}
        }
    }
}

/// The first of them and all that matter, if there are more.
fn truncate<T>(things: &mut Vec<T>, most: usize, is_cut: &mut bool, matters: impl Fn(&T) -> bool) {
    if things.len() > most {
        things.sort_by_key(|thing| !matters(thing));
        let matter = things.iter().filter(|thing| matters(thing)).count();
        things.truncate(most.max(matter));
        *is_cut = true;
    }
}

impl Block {
    /// The block from this level of detail on.
    #[must_use]
    pub fn at(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }
}

impl From<Content> for Block {
    fn from(content: Content) -> Self {
        Self {
            content,
            detail: Detail::default(),
        }
    }
}

/// A conversion into the block that holds only this.
macro_rules! block_from {
    ($($content:ident($type:ty)),* $(,)?) => {
        $(impl From<$type> for Block {
            fn from(content: $type) -> Self {
                Content::$content(content).into()
            }
        })*
    };
}

block_from!(Section(Section), Table(Table), Rows(Rows),);

/// A paragraph.
pub fn paragraph(text: impl Into<Text>) -> Block {
    Content::Paragraph(text.into()).into()
}

/// A paragraph that explains or qualifies, and may be skipped.
pub fn remark(text: impl Into<String>) -> Block {
    paragraph(faint(text))
}

/// What must not be overlooked.
pub fn notice(text: impl Into<Text>) -> Block {
    Content::Notice(text.into()).into()
}

/// A list with a bullet before each item; nothing without items.
pub fn bullets<T: Into<Text>>(items: impl IntoIterator<Item = T>) -> Option<Block> {
    listed(items.into_iter().map(|text| Item::of(text)).collect())
}

/// These items, a bullet before each; nothing without items.
pub fn listed(items: Vec<Item>) -> Option<Block> {
    (!items.is_empty()).then(|| Content::List(items).into())
}

/// A block that shows when asked for, below a line.
pub fn folded(title: impl Into<Text>, block: impl Into<Block>) -> Block {
    Section::fold(title, vec![block.into()]).into()
}

/// A part of the document with a name that links find and a line in the table of contents; nothing
/// without blocks.
pub fn chapter(id: &str, title: impl Into<String>, blocks: Vec<Block>) -> Option<Block> {
    let title = title.into();
    let section = Section::new(&title, blocks).named(id).in_contents(title);
    (!section.blocks.is_empty()).then(|| section.into())
}

/// Names and values; those without a value are left out.
pub fn facts<N: Into<String>, V: Into<Text>>(facts: impl IntoIterator<Item = (N, V)>) -> Block {
    let facts = facts
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    Content::Facts(facts.filter(|(_, value)| !value.is_empty()).collect()).into()
}

/// The name of a section, for links to it: what kind it is, and its name in the study.
pub fn anchor(kind: &str, name: &str) -> String {
    format!("{kind}-{}", in_address(name))
}

/// Of a name, only what an address can hold.
pub(crate) fn in_address(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.replace(|c| !keep(c), "-")
}

impl Section {
    /// A section of the text.
    pub fn new(title: impl Into<Text>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            blocks,
            ..Self::default()
        }
    }

    /// A figure.
    pub fn figure(id: impl Into<String>, title: impl Into<Text>, blocks: Vec<Block>) -> Self {
        Self {
            id: id.into(),
            look: Look::Figure,
            ..Self::new(title, blocks)
        }
    }

    /// Blocks that show when asked for, below a line.
    pub fn fold(title: impl Into<Text>, blocks: Vec<Block>) -> Self {
        Self {
            look: Look::Fold,
            ..Self::new(title, blocks)
        }
    }

    /// Sections side by side.
    pub fn columns(sections: Vec<Self>) -> Self {
        Self {
            look: Look::Columns,
            ..Self::new("", sections.into_iter().map(Block::from).collect())
        }
    }

    /// The section with a name that links find.
    #[must_use]
    pub fn named(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// The section with a line in the table of contents.
    #[must_use]
    pub fn in_contents(mut self, title: impl Into<String>) -> Self {
        self.in_contents = Some(title.into());
        self
    }
}
