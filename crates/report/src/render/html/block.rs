//! Blocks, and how they lie within each other.

use super::element::{badge, heading, paragraph, text};
use super::{files, key, list, plane, rows, table};
use crate::document::{Block, Content, Look, Section, Text, in_address};
use maud::{Markup, PreEscaped, html};
use std::collections::HashSet;

/// Names that the page itself needs.
const TAKEN: [&str; 4] = ["main", "tip", "download", "raw-result"];

/// Where blocks lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The level of the next heading.
    pub(super) level: u8,
    /// Whether something around them has a border already.
    pub(super) boxed: bool,
}

impl Place {
    fn below(self, has_heading: bool) -> Self {
        Self {
            level: self.level + u8::from(has_heading),
            ..self
        }
    }

    fn in_box(self) -> Self {
        Self {
            boxed: true,
            ..self
        }
    }
}

/// The page as far as it is written.
#[derive(Default)]
pub(super) struct Writer {
    ids: HashSet<String>,
}

impl Writer {
    /// The blocks that the page shows.
    pub(super) fn blocks(&mut self, blocks: &[Block], place: Place) -> Markup {
        let blocks = blocks.iter();
        let page: String = blocks
            .map(|block| self.content(&block.content, place).0)
            .collect();
        PreEscaped(page)
    }

    fn content(&mut self, content: &Content, place: Place) -> Markup {
        match content {
            Content::Section(section) => self.section(section, place),
            Content::Paragraph(text) if text.is_empty() => html! {},
            Content::Paragraph(text) => paragraph(text),
            Content::Notice(notice) => html! { p.notice { (text(notice)) } "\n" },
            Content::List(found) => list::list(found),
            Content::Facts(facts) => fact_list(facts),
            Content::Table(found) => table::table(found),
            Content::Rows(found) => match &found.across {
                Some(across) => plane::plane(found, across, place.level),
                None => rows::rows(found, place.level),
            },
            Content::Legend(entries) => key::legend(entries),
            Content::Verbatim(text) => html! { pre { (text) } "\n" },
            Content::Files(found) => files::files(found),
        }
    }

    /// A name that no other element has; nothing for none.
    fn id(&mut self, name: &str) -> Option<String> {
        if name.is_empty() {
            return None;
        }
        let name = in_address(name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| !TAKEN.contains(&name.as_str()) && self.ids.insert(name.clone()))
    }

    fn section(&mut self, section: &Section, place: Place) -> Markup {
        match section.look {
            Look::Plain => self.plain(section, place),
            Look::Figure => self.figure(section, place),
            Look::Columns => html! { div.columns { (self.inner(section, place)) } "\n" },
            Look::Fold | Look::Finding => self.fold(section, place),
        }
    }

    /// A section of the text; nothing without content.
    fn plain(&mut self, section: &Section, place: Place) -> Markup {
        let id = self.id(&section.id);
        let inner = self.inner(section, place);
        if inner.0.is_empty() {
            return inner;
        }
        html! {
            section id=[id] { (title(section, place)) (inner) } "\n"
        }
    }

    fn inner(&mut self, section: &Section, place: Place) -> Markup {
        self.blocks(&section.blocks, place.below(!section.title.is_empty()))
    }

    /// A figure with a border of its own, unless something around it has one.
    fn figure(&mut self, section: &Section, place: Place) -> Markup {
        let id = self.id(&section.id);
        let class = if place.boxed { "inner" } else { "chart" };
        let (caption, drawn) = parted(section);
        let below = place.in_box().below(!section.title.is_empty());
        html! {
            figure id=[id] class=(class) {
                (self.caption(section, caption, place))
                (self.blocks(drawn, below))
            } "\n"
        }
    }

    fn caption(&mut self, section: &Section, blocks: &[Block], place: Place) -> Markup {
        html! {
            figcaption { (title(section, place)) (self.blocks(blocks, place)) }
        }
    }

    fn fold(&mut self, fold: &Section, place: Place) -> Markup {
        let is_finding = fold.look == Look::Finding;
        let id = self.id(&fold.id);
        // Directly in a section of the document it is a panel, unless it holds such itself.
        let is_panel = place.level <= 3 && !place.boxed && !has_headings(&fold.blocks);
        let (class, is_boxed) = match (is_finding, is_panel) {
            (true, _) => ("comparison", true),
            (false, true) => ("panel", true),
            (false, false) => ("folded", place.boxed),
        };
        let below = Place {
            boxed: is_boxed,
            ..place.below(is_finding)
        };
        let inner = self.blocks(&fold.blocks, below);
        let summary = summary(fold, place);
        if inner.0.is_empty() {
            return html! { div id=[id] class=(class) { (summary) } "\n" };
        }
        html! {
            details id=[id] class=(class) {
                summary { (summary) }
                (inner)
            } "\n"
        }
    }
}

/// What a fold shows while it is closed.
fn summary(fold: &Section, place: Place) -> Markup {
    let title = text(&fold.title);
    html! {
        @if fold.look == Look::Finding { (heading(place.level, &title)) } @else { (title) }
        @if let Some(word) = &fold.badge { " " (badge(word)) }
        @if !fold.found.is_empty() { " " span.found { (text(&fold.found)) } }
    }
}

fn title(section: &Section, place: Place) -> Markup {
    html! {
        @if !section.title.is_empty() { (heading(place.level, &text(&section.title))) }
    }
}

/// The caption of a figure, which is its first paragraph with the notices behind it; then what is
/// drawn.
fn parted(section: &Section) -> (&[Block], &[Block]) {
    let is_caption = |(index, block): &(usize, &Block)| match block.content {
        Content::Paragraph(_) => *index == 0,
        Content::Notice(_) => true,
        _ => false,
    };
    let blocks = section.blocks.iter().enumerate();
    section
        .blocks
        .split_at(blocks.take_while(is_caption).count())
}

/// Whether there are folds with headings, which have borders of their own.
fn has_headings(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match &block.content {
        Content::Section(section) => match section.look {
            Look::Plain => has_headings(&section.blocks),
            Look::Figure | Look::Finding => true,
            Look::Columns | Look::Fold => false,
        },
        _ => false,
    })
}

fn fact_list(facts: &[(String, Text)]) -> Markup {
    if facts.is_empty() {
        return html! {};
    }
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (text(value)) } }
            }
        } "\n"
    }
}
