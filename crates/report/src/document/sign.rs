//! Who is ahead, as a sign that needs no colour: it points to where the ratio lies from 1.

use super::{Key, LegendEntry};
use stowplan_analysis::{RatioEstimate, Verdict};

/// Where a ratio lies from 1, as far as its verdict claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Above, by more counts than as equivalent.
    Above,
    /// Below, likewise.
    Below,
    /// Above, perhaps by too little to matter.
    JustAbove,
    /// Below, likewise.
    JustBelow,
    /// No difference that matters.
    Even,
    /// Unresolved.
    Open,
    /// The session is unreliable.
    Unreliable,
    /// Not measured.
    Nothing,
}

impl Sign {
    /// Every sign, in the order in which a legend explains them.
    pub const ALL: [Self; 8] = [
        Self::Above,
        Self::Below,
        Self::JustAbove,
        Self::JustBelow,
        Self::Even,
        Self::Open,
        Self::Unreliable,
        Self::Nothing,
    ];

    /// The sign of a ratio with this verdict.
    pub fn of(verdict: Verdict, estimate: Option<&RatioEstimate>) -> Self {
        let Some(estimate) = estimate else {
            return Self::Nothing;
        };
        match verdict {
            Verdict::Slower => Self::Above,
            Verdict::Faster => Self::Below,
            Verdict::SmallDifference if estimate.ratio > 1.0 => Self::JustAbove,
            Verdict::SmallDifference => Self::JustBelow,
            Verdict::Equivalent => Self::Even,
            Verdict::Unresolved => Self::Open,
            Verdict::Unreliable => Self::Unreliable,
            Verdict::NoData => Self::Nothing,
        }
    }

    /// The sign.
    pub fn glyph(self) -> char {
        match self {
            Self::Above => '▲',
            Self::Below => '▼',
            Self::JustAbove => '△',
            Self::JustBelow => '▽',
            Self::Even => '≈',
            Self::Open => '?',
            Self::Unreliable => '!',
            Self::Nothing => '·',
        }
    }

    /// What it says, where `above` is faster above 1 and `below` is below.
    pub fn words(self, above: &str, below: &str, zone: &str) -> String {
        let perhaps = |who: &str| format!("{who} faster, perhaps by less than {zone}");
        match self {
            Self::Above => format!("{above} faster"),
            Self::Below => format!("{below} faster"),
            Self::JustAbove => perhaps(above),
            Self::JustBelow => perhaps(below),
            Self::Even => format!("equivalent within {zone}"),
            Self::Open => "unresolved".to_owned(),
            Self::Unreliable => "session unreliable, nothing claimed".to_owned(),
            Self::Nothing => "no data".to_owned(),
        }
    }

    /// Whether it claims that one side is ahead, by whatever it may be.
    pub fn claims_a_side(self) -> bool {
        let sides = [Self::Above, Self::Below, Self::JustAbove, Self::JustBelow];
        sides.contains(&self)
    }
}

/// The signs that occur, each with what it says.
pub fn legend(found: &[Sign], above: &str, below: &str, zone: &str) -> Vec<LegendEntry> {
    let signs = Sign::ALL.into_iter().filter(|sign| found.contains(sign));
    signs
        .map(|sign| LegendEntry::new(Key::Sign(sign), sign.words(above, below, zone)))
        .collect()
}
