//! What sweeps and rows of matrices say as a whole, in sentences. Each claims what its finding
//! claims and names only measured sizes; roots of interpolated ratios are no claims.

use crate::value;
use crate::wording::list;
use stowplan_analysis::{Crossover, Finding, Rule, Side, SizeRange, Standing};

/// How sizes are written: one way for all of a sweep or matrix.
pub(crate) type Unit = fn(u64) -> String;

/// What a sentence about a finding needs beside it.
pub(crate) struct Context<'a> {
    /// Side A, for people.
    pub(crate) a: &'a str,
    /// Side B, for people.
    pub(crate) b: &'a str,
    /// Every measured size, rising: sizes next to each other here are told as a range.
    pub(crate) sizes: &'a [u64],
    /// Those of them that have a figure.
    pub(crate) figures: &'a [u64],
    /// Whether every size that was planned is among them.
    pub(crate) complete: bool,
    /// Whether both promise the same for what they wrote. Otherwise no choice is advised.
    pub(crate) same_durability: bool,
    /// How they are written.
    pub(crate) unit: Unit,
    /// The equivalence zone as a percentage.
    pub(crate) zone: &'a str,
}

impl Context<'_> {
    fn name(&self, side: Side) -> &str {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }

    fn span(&self, range: SizeRange) -> String {
        span(range, self.unit)
    }

    /// `at 1 KiB to 4 KiB and at 64 KiB`, of the sizes of these findings.
    fn at_those(&self, findings: &[Finding]) -> String {
        self.at(&findings.iter().map(|f| f.size).collect::<Vec<_>>())
    }

    /// `at 1 KiB to 4 KiB and at 64 KiB`
    fn at(&self, sizes: &[u64]) -> String {
        let runs = runs(sizes, self.sizes).into_iter();
        let texts: Vec<String> = runs.map(|run| format!("at {}", self.span(run))).collect();
        list(&texts)
    }

    /// `at every size measured from 1 KiB to 16 KiB`
    fn everywhere(&self, range: SizeRange) -> String {
        if range.from == range.to {
            return format!("at {}", (self.unit)(range.from));
        }
        format!("at every size measured from {}", self.span(range))
    }

    /// `at any size measured from 1 KiB to 16 KiB`, where something is denied.
    fn anywhere(&self, range: SizeRange) -> String {
        self.everywhere(range).replacen("every", "any", 1)
    }

    /// The same of the sizes that have a figure.
    fn at_no_size(&self) -> String {
        let ends = self.figures.first().zip(self.figures.last());
        let range = ends.map(|(from, to)| SizeRange {
            from: *from,
            to: *to,
        });
        range.map_or_else(String::new, |range| self.anywhere(range))
    }

    /// `faster at 1 KiB to 4 KiB`
    fn faster_at(&self, wins: &[u64]) -> String {
        if wins.is_empty() {
            let zone = self.zone;
            return format!(
                "at some of them faster, though at none is that shown to exceed {zone}"
            );
        }
        format!("faster {}", self.at(wins))
    }

    /// What the stretches of a finding leave open: `above, up to 1 MiB, no order is shown`.
    fn left_open(&self, finding: &Crossover) -> Option<String> {
        let size = self.unit;
        match *finding {
            Crossover::Zone { .. } => Some("between, neither can be said".to_owned()),
            Crossover::WinsBelow { to, .. } => {
                Some(format!("above, up to {}, no order is shown", size(to)))
            }
            Crossover::WinsAbove { from, .. } => {
                Some(format!("below, down to {}, no order is shown", size(from)))
            }
            _ => None,
        }
    }

    /// What is shown all the same where they leave it open, as the chart has it:
    /// `, but of single sizes (at 16 KiB: files)`.
    fn alone(&self, finding: &Crossover) -> String {
        let (Crossover::Zone { between: open, .. }
        | Crossover::WinsBelow { above: open, .. }
        | Crossover::WinsAbove { below: open, .. }) = finding
        else {
            return String::new();
        };
        let won = [Side::A, Side::B].into_iter().filter_map(|side| {
            let won = open.iter().filter(|f| f.standing == Standing::Wins(side));
            let sizes: Vec<u64> = won.map(|f| f.size).collect();
            (!sizes.is_empty()).then(|| format!("{}: {}", self.at(&sizes), self.name(side)))
        });
        let won: Vec<String> = won.collect();
        match won.is_empty() {
            true => String::new(),
            false => format!(", but of single sizes ({})", won.join("; ")),
        }
    }
}

/// `10 kB to 20 kB`, or `10 kB` where both ends are the same.
pub(crate) fn span(range: SizeRange, unit: Unit) -> String {
    let SizeRange { from, to } = range;
    if from == to {
        return unit(from);
    }
    format!("{} to {}", unit(from), unit(to))
}

/// The sizes as ranges of neighbours among all that were measured.
fn runs(sizes: &[u64], measured: &[u64]) -> Vec<SizeRange> {
    SizeRange::of_neighbours(&sizes.iter().copied().collect(), measured)
}

/// That nothing is claimed at these sizes, if there are any; `measured` are all sizes.
pub(crate) fn unreliable(sizes: &[u64], measured: &[u64], unit: Unit) -> Option<String> {
    let ranges = spans(sizes, measured, unit)?;
    Some(format!(
        "Session unreliable at {ranges}: nothing is claimed there."
    ))
}

/// `1 KiB to 2 KiB and 64 KiB`; nothing of no sizes.
pub(crate) fn spans(sizes: &[u64], among: &[u64], unit: Unit) -> Option<String> {
    listed(&runs(sizes, among), unit)
}

fn listed(ranges: &[SizeRange], unit: Unit) -> Option<String> {
    let ranges: Vec<String> = ranges.iter().map(|range| span(*range, unit)).collect();
    (!ranges.is_empty()).then(|| list(&ranges))
}

/// What a sweep of two stores found, in a sentence or two. Names stand where they need no verb:
/// some are plural.
pub(crate) fn sentence(finding: &Crossover, context: &Context<'_>) -> String {
    let Context { a, b, zone, .. } = *context;
    let Some(range) = finding.range() else {
        return no_order(&[], context);
    };
    match finding {
        Crossover::NeverSlower { side, wins, .. } => format!(
            "Not slower by more than {zone} {}: {}; {}.",
            context.anywhere(range),
            context.name(*side),
            context.faster_at(wins)
        ),
        Crossover::BothEnds { winner, except, .. } => format!(
            "Faster at the smallest and at the largest sizes measured from {}: {}. This is not \
             shown {}, and nowhere the opposite.",
            context.span(range),
            context.name(*winner),
            context.at_those(except)
        ),
        Crossover::Equivalent { .. } => {
            let sizes = context.everywhere(range);
            format!("{a} and {b} are equivalent within {zone} {sizes}.")
        }
        Crossover::NobodyWins { except, .. } => format!(
            "Between {a} and {b}, no difference above {zone} is shown {}; {}, equivalence is not \
             shown either.",
            context.at_no_size(),
            context.at_those(except)
        ),
        Crossover::NoOrder { evidence } => no_order(evidence, context),
        stretches => {
            let of =
                |(side, range)| format!("{}: {}", context.everywhere(range), context.name(side));
            let won: Vec<String> = stretches.stretches().into_iter().map(of).collect();
            let open = context.left_open(stretches);
            let alone = context.alone(stretches);
            let open =
                open.map_or_else(String::new, |o| format!(" {}{alone}.", value::capital(&o)));
            format!("Faster {}.{open}", won.join("; "))
        }
    }
}

fn no_order(evidence: &[Finding], context: &Context<'_>) -> String {
    if context.sizes.is_empty() {
        return "No verdict: no size was measured.".to_owned();
    }
    if context.figures.is_empty() {
        return "No verdict: no size has a figure.".to_owned();
    }
    let is_won = |end: &Finding| matches!(end.standing, Standing::Wins(_));
    match evidence {
        [first, .., last] if is_decided(evidence) => {
            let why = match is_won(first) && is_won(last) {
                true => "which is faster changes with the size, and changes back",
                false => "neither end of the range is won",
            };
            let (from, to) = (first.size, last.size);
            let sizes = context.span(SizeRange { from, to });
            format!("No order from small to large values ({sizes}): {why}.")
        }
        _ => format!("No verdict: nothing is decided {}.", context.at_no_size()),
    }
}

/// Whether anything is known of any size.
fn is_decided(evidence: &[Finding]) -> bool {
    evidence.iter().any(|f| f.standing != Standing::Undecided)
}

/// The same in a few words, for a list of answers. Names come last: some must not begin with a
/// capital letter, as answers do.
pub(crate) fn in_short(finding: &Crossover, context: &Context<'_>) -> String {
    match finding {
        Crossover::NeverSlower { side, .. } => format!("never slower: {}", context.name(*side)),
        Crossover::BothEnds { winner, .. } => {
            let name = context.name(*winner);
            format!("at both ends: {name}; between, not shown")
        }
        Crossover::Equivalent { .. } if context.same_durability => {
            "choose by something else".to_owned()
        }
        Crossover::Equivalent { .. } => "equivalent".to_owned(),
        Crossover::NobodyWins { except, .. } => {
            let sizes = context.sizes.len();
            let equivalent = sizes.saturating_sub(except.len());
            format!("no difference shown; equivalent at {equivalent} of {sizes} sizes")
        }
        Crossover::NoOrder { evidence } if is_decided(evidence) => "no order by size".to_owned(),
        Crossover::NoOrder { .. } => "no verdict".to_owned(),
        stretches => {
            let of = |(side, range)| format!("{}: {}", reach(range, context), context.name(side));
            let won: Vec<String> = stretches.stretches().into_iter().map(of).collect();
            let open = match stretches {
                Crossover::WinsBelow { .. } => "; above, no order",
                Crossover::WinsAbove { .. } => "; below, no order",
                _ => "",
            };
            format!("{}{open}", won.join("; "))
        }
    }
}

/// Where a stretch lies within what was measured: `up to 4 KiB`. One size is no "up to": nothing is
/// known of those beside it.
fn reach(stretch: SizeRange, context: &Context<'_>) -> String {
    let size = context.unit;
    if stretch.from == stretch.to {
        let only = match context.figures.len() {
            1 => " (the only size measured)",
            _ => "",
        };
        return format!("at {}{only}", size(stretch.from));
    }
    let is_first = context.sizes.first() == Some(&stretch.from);
    let is_last = context.sizes.last() == Some(&stretch.to);
    match (is_first, is_last) {
        (true, true) if context.complete => "throughout".to_owned(),
        (true, false) => format!("up to {}", size(stretch.to)),
        (false, true) => format!("from {} on", size(stretch.from)),
        _ => context.span(stretch),
    }
}

/// What the rows of a matrix teach: `With pages of 8 KiB, keep …`, rows that teach the same
/// together; then which row gains most. Of the context, the sizes and the zone count.
pub(crate) fn rules(setting: &str, rules: &[Rule], context: &Context<'_>) -> Vec<String> {
    let said: Vec<(&str, String)> = rules
        .iter()
        .map(|rule| (rule.setting.as_str(), advice(&rule.crossover, context)))
        .collect();
    let advice = said.chunk_by(|a, b| a.1 == b.1).map(|alike| {
        let rows: Vec<&str> = alike.iter().map(|(row, _)| *row).collect();
        format!("With {}, {}.", self::setting(setting, &rows), alike[0].1)
    });
    let comparable = rules.iter().filter(|_| context.same_durability);
    let gains = comparable.flat_map(|rule| gains(setting, rule, context.unit));
    advice.chain(gains).collect()
}

/// Where a row gains most, and where it costs least. Not which row is fastest: ratios alone cannot
/// tell.
fn gains(setting: &str, rule: &Rule, unit: Unit) -> Vec<String> {
    let row = self::setting(setting, &[&rule.setting]);
    let gains = listed(&rule.gains_most, unit)
        .map(|sizes| format!("Being inside pays most with {row} for values of {sizes}."));
    let costs = listed(&rule.costs_least, unit)
        .map(|sizes| format!("If values of {sizes} must be inside, that costs least with {row}."));
    gains.into_iter().chain(costs).collect()
}

const UNDECIDED: &str = "nothing is decided at any size";

/// What to do by what one row found, or what was found where no choice may be advised.
fn advice(finding: &Crossover, context: &Context<'_>) -> String {
    let zone = context.zone;
    let Some(range) = finding.range() else {
        return UNDECIDED.to_owned();
    };
    match finding {
        Crossover::NeverSlower { side, wins, .. } => format!(
            "{} is not slower by more than {zone} {}, and {}",
            context.name(*side),
            context.anywhere(range),
            context.faster_at(wins)
        ),
        Crossover::BothEnds { winner, except, .. } => format!(
            "{} is faster at the smallest and at the largest sizes of {}, and {} nowhere; {}, it \
             is not shown to be faster",
            context.name(*winner),
            context.span(range),
            context.name(winner.other()),
            context.at_those(except)
        ),
        Crossover::Equivalent { .. } => {
            let are = format!("inside and outside are equivalent within {zone}");
            let sizes = context.span(range);
            match context.same_durability {
                true => format!("it does not matter for values of {sizes}: {are}"),
                false => format!("{are} for values of {sizes}"),
            }
        }
        Crossover::NobodyWins { except, .. } => format!(
            "neither inside nor outside is shown to be faster by more than {zone} {}; {}, \
             equivalence is not shown either",
            context.at_no_size(),
            context.at_those(except)
        ),
        Crossover::NoOrder { evidence } if is_decided(evidence) => {
            "there is no rule by size: neither place wins from an end of the range on".to_owned()
        }
        Crossover::NoOrder { .. } => UNDECIDED.to_owned(),
        stretches => keep(stretches, context),
    }
}

/// `keep values of 1 KiB inside and those of 8 KiB outside; between, neither can be said`
fn keep(stretches: &Crossover, context: &Context<'_>) -> String {
    let won = stretches.stretches().into_iter();
    let mut places = won.map(|(side, range)| (range, context.name(side)));
    let Some((sizes, first)) = places.next() else {
        return String::new();
    };
    let advised = context.same_durability;
    let Some(open) = context.left_open(stretches) else {
        let everywhere = context.everywhere(sizes);
        return match advised {
            true => format!("keep values {first}: that is faster {everywhere}"),
            false => format!("values are faster {first} {everywhere}"),
        };
    };
    let sizes = context.span(sizes);
    let more =
        places.map(|(sizes, place)| format!(" and those of {} {place}", context.span(sizes)));
    let more: String = more.collect();
    match advised {
        true => format!("keep values of {sizes} {first}{more}; {open}"),
        false => format!("values of {sizes} are faster {first}{more}; {open}"),
    }
}

/// Values of a setting in words: `pages of 8 KiB and 16 KiB`, `cache 4000`.
pub(crate) fn setting(name: &str, values: &[&str]) -> String {
    if name.replace('-', "_") == "page_size" {
        let sizes = values.iter().map(|value| page_size(value));
        return format!("pages of {}", list(&sizes.collect::<Vec<_>>()));
    }
    let values = values.iter().map(|value| (*value).to_owned());
    format!("{name} {}", list(&values.collect::<Vec<_>>()))
}

fn page_size(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), value::size)
}

/// What tells one sweep from another, in words: `page_size=4096` is `pages of 4 KiB`.
pub(crate) fn settings(text: &str) -> String {
    let settings = text.split(',').map(|part| match part.split_once('=') {
        Some((name, value)) => setting(name.trim(), &[value.trim()]),
        None => part.trim().to_owned(),
    });
    list(&settings.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::crossover::testing::points;
    use stowplan_analysis::crossover;

    /// What is said in short of a sweep with these points.
    fn short(letters: &str) -> String {
        let points = points(letters);
        let sizes: Vec<u64> = points.iter().map(|point| point.size).collect();
        let figures = points.iter().filter(|point| point.estimate.is_some());
        let context = Context {
            a: "files",
            b: "SQLite",
            sizes: &sizes,
            figures: &figures.map(|point| point.size).collect::<Vec<_>>(),
            complete: true,
            same_durability: true,
            unit: value::size,
            zone: "5%",
        };
        in_short(&crossover(&points), &context)
    }

    #[test]
    fn one_size_is_neither_a_range_nor_all_there_is() {
        let cases = [
            ("A", "at 1 KiB (the only size measured): files"),
            (
                "..B",
                "at 4 KiB (the only size measured): SQLite; below, no order",
            ),
            ("AB", "at 1 KiB: files; at 2 KiB: SQLite"),
            ("AA?BB", "up to 2 KiB: files; from 8 KiB on: SQLite"),
            ("AAA", "throughout: files"),
            ("?AA", "from 2 KiB on: files; below, no order"),
        ];
        for (letters, expected) in cases {
            assert_eq!(short(letters), expected, "{letters}");
        }
    }
}
