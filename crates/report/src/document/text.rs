//! Text with tones and links.

use stowplan_analysis::Verdict;

/// What a piece of text or a thing means. Colour only repeats what words, signs or shapes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// What matters most.
    Strong,
    /// What explains or qualifies, and may be skipped.
    Faint,
    /// A gain, or that something holds.
    Good,
    /// A loss, or that something does not hold.
    Bad,
    /// Undecided, or in doubt.
    Warning,
}

impl Tone {
    /// The tone of a verdict on who takes longer.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Self::Good,
            Verdict::Slower => Self::Bad,
            Verdict::Equivalent | Verdict::SmallDifference => Self::Plain,
            Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => Self::Warning,
        }
    }
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// The text.
    pub text: String,
    /// What it means.
    pub tone: Tone,
    /// Where it leads: the name of a section (`#read`), or an address that begins with `https://`.
    pub link: Option<String>,
}

/// Pieces of text in a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(pub Vec<Span>);

/// Text without a tone.
pub fn plain(text: impl Into<String>) -> Text {
    toned(text, Tone::Plain)
}

/// Text that matters most.
pub fn strong(text: impl Into<String>) -> Text {
    toned(text, Tone::Strong)
}

/// Text that may be skipped.
pub fn faint(text: impl Into<String>) -> Text {
    toned(text, Tone::Faint)
}

/// Text with a tone; none without characters.
pub fn toned(text: impl Into<String>, tone: Tone) -> Text {
    let text = text.into();
    if text.is_empty() {
        return Text::default();
    }
    Text(vec![Span {
        text,
        tone,
        link: None,
    }])
}

impl Text {
    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.text.is_empty())
    }

    /// The characters alone.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    /// This text and then that one.
    #[must_use]
    pub fn then(mut self, more: impl Into<Text>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// The text as a link, to the name of a section (`#read`) or to an address that begins with
    /// `https://`; other addresses are no links, because study files are written by anyone.
    #[must_use]
    pub fn linked(mut self, to: &str) -> Self {
        if to.starts_with('#') || to.starts_with("https://") {
            for span in &mut self.0 {
                span.link = Some(to.to_owned());
            }
        }
        self
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        plain(text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        plain(text)
    }
}
