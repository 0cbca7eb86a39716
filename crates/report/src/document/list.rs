//! Lists, and what stands before their items.

use super::{Fill, MarkKind, Sign, Text, Tone};

/// One item. Only `text` must be there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    /// What was found, in a word.
    pub badge: Option<Badge>,
    /// What it is about.
    pub title: Text,
    /// What is said of it.
    pub text: Text,
    /// Why, or what else there is to know.
    pub note: Text,
}

/// What was found, in a word, as a small label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// The word.
    pub word: String,
    /// Its colour, which repeats the word.
    pub tone: Tone,
}

/// How something is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A bar or a piece of one.
    Fill(Fill),
    /// A line over the whole height or width.
    Mark(MarkKind),
    /// An interval.
    Interval,
    /// A point of a plane, shaped as its sign.
    Point(Sign),
    /// An area: a zone in which no difference matters.
    Band,
    /// An area in which nothing is claimed.
    Unclaimed,
    /// A sign.
    Sign(Sign),
    /// The scale of shades of a heat map, from below 1 to above.
    Shades,
}

/// What a key says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegendEntry {
    /// How it is drawn.
    pub key: Key,
    /// What that says.
    pub text: String,
}

impl Item {
    /// An item that is only a text.
    pub fn of(text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The item behind a badge.
    #[must_use]
    pub fn with_badge(mut self, word: impl Into<String>, tone: Tone) -> Self {
        self.badge = Some(Badge {
            word: word.into(),
            tone,
        });
        self
    }
}

impl LegendEntry {
    /// What a key says.
    pub fn new(key: Key, text: impl Into<String>) -> Self {
        Self {
            key,
            text: text.into(),
        }
    }
}
