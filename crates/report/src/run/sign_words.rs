//! What the sign of a ratio says of its two sides.

use crate::document::{Key, LegendEntry, Sign, legend};

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
        sign.words(self.above, self.below, self.zone)
    }

    /// The signs that occur, each with what it says.
    pub(crate) fn legend(&self, found: &[Sign], key: fn(Sign) -> Key) -> Vec<LegendEntry> {
        let mut entries = legend(found, self.above, self.below, self.zone);
        for entry in &mut entries {
            if let Key::Sign(sign) = entry.key {
                entry.key = key(sign);
            }
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_analysis::Verdict;

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
        assert_eq!(Sign::of(Verdict::Slower, None), Sign::Nothing);
    }
}
