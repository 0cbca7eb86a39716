//! Lists.

use super::element::{badge, text};
use crate::document::Item;
use maud::{Markup, html};

/// The items; nothing where there are none.
pub(super) fn list(items: &[Item]) -> Markup {
    let has_badges = items.iter().any(|item| item.badge.is_some());
    html! {
        @if !items.is_empty() {
            ul class=[has_badges.then_some("statements")] {
                @for item in items { (bullet(item, has_badges)) }
            } "\n"
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
