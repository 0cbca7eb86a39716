//! A document as one HTML file that needs no network.
//!
//! Drawings are SVG made here rather than by a plotting library: a library draws text and bars into
//! one picture of fixed size, whose labels shrink to nothing on a phone, cannot wrap, and cannot
//! follow the reader's font and colour scheme. Here each drawing stretches in one direction only,
//! and labels are ordinary text.

mod block;
mod element;
mod files;
mod key;
mod list;
mod plane;
mod rows;
mod table;

use crate::document::{Block, Content, Document, in_address};
use crate::{MARK, steers};
use block::{Place, Writer};
use element::text;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the page may load and run: nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// The document as a page; its blocks of every level of detail are there.
#[must_use]
pub fn render(document: &Document) -> String {
    let mut writer = Writer::default();
    let place = Place {
        level: 2,
        boxed: false,
    };
    let main = writer.blocks(&document.blocks, place);
    let page = html! {
        (DOCTYPE) "\n" (PreEscaped(MARK)) "\n"
        html lang="en" {
            (head(document)) "\n"
            body {
                a.skip href="#main" { "Skip to the content" }
                (header(document)) "\n"
                main #main tabindex="-1" {
                    (main)
                }
                "\n" script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    harmless(page.into_string())
}

fn head(document: &Document) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content="stowplan";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            link rel="icon" href="data:,";
            title { (document.title) " – " (document.kind) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn header(document: &Document) -> Markup {
    let contents: Vec<(String, &str)> = document.blocks.iter().filter_map(contents).collect();
    html! {
        header {
            p.tool { (document.kind) }
            h1 { (document.title) }
            @if !document.question.is_empty() { p.question { (text(&document.question)) } }
            @if !document.byline.is_empty() {
                p.byline { @for part in &document.byline { span { (text(part)) } } }
            }
            @if !contents.is_empty() {
                nav aria-label="Contents" {
                    ul.contents {
                        @for (id, title) in &contents { li { a href={ "#" (id) } { (title) } } }
                    }
                }
            }
        }
    }
}

/// The line of a block in the table of contents.
fn contents(block: &Block) -> Option<(String, &str)> {
    let Content::Section(section) = &block.content else {
        return None;
    };
    let title = section.in_contents.as_deref()?;
    let there = !section.blocks.is_empty() && !section.id.is_empty();
    there.then(|| (in_address(&section.id), title))
}

/// The page without what steers: control characters are no valid HTML, not even as references, and
/// marks of direction make a label read as another. Nothing but labels can hold any, so that
/// replacing them here forgets none.
fn harmless(page: String) -> String {
    let steers = |c: char| steers(c) && !matches!(c, '\n' | '\t');
    if page.contains(steers) {
        page.replace(steers, "\u{fffd}")
    } else {
        page
    }
}
