//! Who is ahead, as a sign: which sign a verdict has, and what the sign says of the two sides.

use crate::document::{Key, LegendEntry, Sign};
use stowplan_analysis::{RatioEstimate, Verdict};

/// The sign of a ratio with this verdict.
pub(crate) fn sign(verdict: Verdict, estimate: Option<&RatioEstimate>) -> Sign {
    let Some(estimate) = estimate else {
        return Sign::Nothing;
    };
    match verdict {
        Verdict::Slower => Sign::Above,
        Verdict::Faster => Sign::Below,
        Verdict::SmallDifference if estimate.ratio > 1.0 => Sign::JustAbove,
        Verdict::SmallDifference => Sign::JustBelow,
        Verdict::Equivalent => Sign::Even,
        Verdict::Unresolved => Sign::Open,
        Verdict::Unreliable => Sign::Unreliable,
        Verdict::NoData => Sign::Nothing,
    }
}

/// What the two sides of 1 are called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'a> {
    /// Who is faster above 1.
    pub(crate) above: &'a str,
    /// Who is faster below 1.
    pub(crate) below: &'a str,
    /// The equivalence zone as a percentage.
    pub(crate) zone: &'a str,
}

impl Sides<'_> {
    /// What a sign says.
    pub(crate) fn words(&self, sign: Sign) -> String {
        let Self { above, below, zone } = self;
        let perhaps = |who: &str| format!("{who} faster, perhaps by less than {zone}");
        match sign {
            Sign::Above => format!("{above} faster"),
            Sign::Below => format!("{below} faster"),
            Sign::JustAbove => perhaps(above),
            Sign::JustBelow => perhaps(below),
            Sign::Even => format!("equivalent within {zone}"),
            Sign::Open => "unresolved".to_owned(),
            Sign::Unreliable => "session unreliable, nothing claimed".to_owned(),
            Sign::Nothing => "no data".to_owned(),
        }
    }

    /// The signs that occur, each with what it says.
    pub(crate) fn legend(&self, found: &[Sign], key: fn(Sign) -> Key) -> Vec<LegendEntry> {
        let signs = Sign::ALL.into_iter().filter(|sign| found.contains(sign));
        signs
            .map(|sign| LegendEntry::new(key(sign), self.words(sign)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_explains_each_sign_that_occurs_once() {
        let sides = Sides {
            above: "inside",
            below: "outside",
            zone: "5%",
        };
        let found = [Sign::Open, Sign::Below, Sign::JustAbove, Sign::Below];
        let legend = sides.legend(&found, Key::Sign);
        let said: Vec<(Key, &str)> = legend.iter().map(|e| (e.key, e.text.as_str())).collect();
        let expected = [
            (Key::Sign(Sign::Below), "outside faster"),
            (
                Key::Sign(Sign::JustAbove),
                "inside faster, perhaps by less than 5%",
            ),
            (Key::Sign(Sign::Open), "unresolved"),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_verdict_without_a_figure_points_to_no_side() {
        assert_eq!(sign(Verdict::Slower, None), Sign::Nothing);
    }
}
