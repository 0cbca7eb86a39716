//! Lists.

use super::element::{badge, text, tone_class};
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
    html! {
        li class=[class] {
            p.asked { (text(&item.title)) }
            p.answer {
                @if let Some(word) = &item.badge { (badge(word)) " " }
                b { (item.text.text()) }
            }
            @if !item.note.is_empty() { p.reason { (text(&item.note)) } }
            @if !item.figure.is_empty() { p.factor { (figure(&item.figure)) } }
        }
    }
}

/// A figure set apart: its value, and what is added to it faintly.
fn figure(figure: &Text) -> Markup {
    html! {
        @for span in &figure.0 {
            @if span.tone == Tone::Strong { b { (span.text) } } @else { " " span { (span.text.trim()) } }
        }
    }
}

fn bullet(item: &Item, has_badges: bool) -> Markup {
    html! {
        li {
            @if has_badges {
                @if let Some(word) = &item.badge { (badge(word)) } @else { span {} }
                span { (said(item)) }
            } @else {
                (said(item))
            }
        }
    }
}

/// What it is about, what is said of it, and why.
fn said(item: &Item) -> Markup {
    html! {
        @if !item.title.is_empty() { b { (text(&item.title)) } ": " }
        (text(&item.text))
        @if !item.note.is_empty() { small { (text(&item.note)) } }
    }
}
