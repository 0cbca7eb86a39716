//! Lists.

use super::element::{badge, text, tone_class};
use super::key::key;
use crate::document::{Item, List, ListStyle, Text, Tone};
use maud::{Markup, html};

/// The list; nothing without items.
pub(super) fn list(list: &List) -> Markup {
    let items = &list.items;
    if items.is_empty() {
        return html! {};
    }
    match list.style {
        ListStyle::Answers => html! { ol.answers { @for item in items { (answer(item)) } } "\n" },
        ListStyle::Figures => html! { ul.figures { @for item in items { (line(item)) } } "\n" },
        ListStyle::Steps => html! { ol.steps { @for item in items { (step(item)) } } "\n" },
        ListStyle::Bullets => {
            let has_badges = items.iter().any(|item| item.badge.is_some());
            html! {
                ul class=[has_badges.then_some("statements")] {
                    @for item in items { (bullet(item, has_badges)) }
                } "\n"
            }
        }
    }
}

fn answer(item: &Item) -> Markup {
    let class = item.badge.as_ref().map(|badge| tone_class(badge.tone));
    let is_strong = |span: &crate::document::Span| span.tone == Tone::Strong;
    let said = text(&item.text);
    html! {
        li class=[class] {
            p.asked { (text(&item.title)) }
            p.answer {
                @if let Some(word) = &item.badge { (badge(word)) " " }
                @if item.text.0.iter().any(is_strong) { (said) } @else { b { (said) } }
            }
            @if !item.note.is_empty() { p.reason { (text(&item.note)) } }
            @if !item.figure.is_empty() { p.factor { (figure(&item.figure)) } }
        }
    }
}

/// A figure set apart: its value, what follows it, and what is added faintly.
fn figure(figure: &Text) -> Markup {
    let mut said = figure.0.iter().filter(|span| !span.text.trim().is_empty());
    let mut value = said.clone().take(1).filter(|span| span.tone != Tone::Faint);
    let mut follows = None;
    if value.clone().next().is_some() {
        said.next();
        follows = said.next();
    }
    html! {
        @if let Some(span) = value.next() { b { (span.text.trim()) } }
        @if let Some(span) = follows { " " span { (span.text.trim()) } }
        @for span in said { " " small { (span.text.trim()) } }
    }
}

fn line(item: &Item) -> Markup {
    let said = html! {
        @if let Some(key) = &item.key { (key_of(*key)) }
        @if let Some(word) = &item.badge { (badge(word)) " " }
        (titled(item))
        @if !item.note.is_empty() { small { (text(&item.note)) } }
    };
    html! {
        @if item.figure.is_empty() {
            li.plain { (said) }
        } @else {
            li { span.figure { (figure(&item.figure)) } span { (said) } }
        }
    }
}

/// What it is about, and what is said of it.
fn titled(item: &Item) -> Markup {
    html! {
        @if !item.title.is_empty() {
            b { (text(&item.title)) }
            @if !item.text.is_empty() { ": " }
        }
        (text(&item.text))
    }
}

fn key_of(found: crate::document::Key) -> Markup {
    html! { (key(found)) " " }
}

fn step(item: &Item) -> Markup {
    html! {
        li {
            @if let Some(found) = item.key { (key(found)) } @else { i {} }
            span.cost { (cost(&item.figure)) }
            span.step {
                (titled(item))
                @if !item.note.is_empty() { small { (text(&item.note)) } }
            }
        }
    }
}

/// The cost of a step: its value, and its interval beside it.
fn cost(figure: &Text) -> Markup {
    let mut spans = figure.0.iter();
    html! {
        @if let Some(value) = spans.next() { b { (value.text) } }
        @for span in spans { (span.text) }
    }
}

fn bullet(item: &Item, has_badges: bool) -> Markup {
    let said = html! {
        @if let Some(found) = item.key { (key_of(found)) }
        (titled(item))
        @if !item.figure.is_empty() { " " (text(&item.figure)) }
        @if !item.note.is_empty() { small { (text(&item.note)) } }
    };
    html! {
        li {
            @if has_badges {
                @if let Some(word) = &item.badge { (badge(word)) } @else { span {} }
                span { (said) }
            } @else {
                (said)
            }
        }
    }
}
