//! What sweeps and rows of matrices say as a whole, in sentences. Each claims what its variant of
//! [`Crossover`] claims and names only measured sizes; roots of interpolated ratios are no claims.

use crate::format;
use crate::wording::list;
use stowplan_analysis::{Crossover, Finding, Rule, Side, SizeRange, Standing};

/// How sizes are written: one way for all of a sweep or matrix.
pub(crate) type Unit = fn(u64) -> String;

/// What a sentence about a finding needs beside it.
pub(crate) struct Context<'a> {
    /// Store A, for people.
    pub(crate) a: &'a str,
    /// Store B, for people.
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

    /// `at 1 KiB to 4 KiB and at 64 KiB`
    fn at(&self, sizes: &[u64]) -> String {
        let runs = runs(sizes, self.sizes);
        let texts = runs
            .iter()
            .map(|run| format!("at {}", span(*run, self.unit)));
        list(&texts.collect::<Vec<_>>())
    }

    /// `keep values of 1 KiB inside`, or what was found where no choice may be advised.
    fn keep(&self, from: u64, to: u64, side: Side) -> String {
        let (values, place) = (span(SizeRange { from, to }, self.unit), place(side));
        if self.same_durability {
            format!("keep values of {values} {place}")
        } else {
            format!("values of {values} are faster {place}")
        }
    }

    /// `at any size measured from 1 KiB to 16 KiB`, of the sizes that have a figure.
    fn at_no_size(&self) -> String {
        let ends = self.figures.first().zip(self.figures.last());
        ends.map_or_else(String::new, |(from, to)| anywhere(*from, *to, self.unit))
    }

    fn at_findings(&self, findings: &[Finding]) -> String {
        let sizes: Vec<u64> = findings.iter().map(|finding| finding.size).collect();
        self.at(&sizes)
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
pub(crate) fn runs(sizes: &[u64], measured: &[u64]) -> Vec<SizeRange> {
    let found: Vec<(u64, bool)> = measured
        .iter()
        .map(|size| (*size, sizes.contains(size)))
        .collect();
    found
        .chunk_by(|a, b| a.1 == b.1)
        .filter(|run| run[0].1)
        .map(|run| SizeRange {
            from: run[0].0,
            to: run[run.len() - 1].0,
        })
        .collect()
}

/// The sizes, ends included, within which the finding leaves the order open.
pub(crate) fn open_range(finding: &Crossover) -> Option<SizeRange> {
    let (from, to) = match *finding {
        Crossover::Zone { low, high, .. } => (low, high),
        Crossover::WinsBelow { low, to, .. } => (low, to),
        Crossover::WinsAbove { from, high, .. } => (from, high),
        _ => return None,
    };
    Some(SizeRange { from, to })
}

/// `at every size measured from 1 KiB to 16 KiB`
fn everywhere(from: u64, to: u64, unit: Unit) -> String {
    if from == to {
        return format!("at {}", unit(from));
    }
    let (from, to) = (unit(from), unit(to));
    format!("at every size measured from {from} to {to}")
}

/// `at any size measured from 1 KiB to 16 KiB`, where something is denied.
fn anywhere(from: u64, to: u64, unit: Unit) -> String {
    everywhere(from, to, unit).replacen("every", "any", 1)
}

/// Whether nothing at all was decided.
fn undecided(evidence: &[Finding]) -> bool {
    let mut evidence = evidence.iter();
    evidence.all(|finding| finding.standing == Standing::Undecided)
}

/// What a sweep of two stores found, in a sentence or two. Names stand where they need no verb:
/// some are plural.
pub(crate) fn sentence(finding: &Crossover, context: &Context<'_>) -> String {
    let name = |side: Side| context.name(side);
    let Context { a, b, zone, .. } = *context;
    let size = |bytes: &u64| (context.unit)(*bytes);
    let everywhere = |from: u64, to: u64| everywhere(from, to, context.unit);
    match finding {
        Crossover::Zone {
            smaller,
            from,
            low,
            high,
            to,
            ..
        } => format!(
            "Faster {}: {}; {}: {}. Between, neither can be said.",
            everywhere(*from, *low),
            name(*smaller),
            everywhere(*high, *to),
            name(smaller.other()),
        ),
        Crossover::Throughout { winner, from, to } => {
            format!("Faster {}: {}.", everywhere(*from, *to), name(*winner))
        }
        Crossover::NeverSlower {
            side,
            from,
            to,
            wins,
        } => format!(
            "Not slower by more than {zone} {}: {}; {}.",
            anywhere(*from, *to, context.unit),
            name(*side),
            faster_at(wins, context)
        ),
        Crossover::Equivalent { from, to } => {
            let sizes = everywhere(*from, *to);
            format!("{a} and {b} are equivalent within {zone} {sizes}.")
        }
        Crossover::NobodyWins { except, .. } => format!(
            "Between {a} and {b}, no difference above {zone} is shown {}; {}, equivalence is not \
             shown either.",
            context.at_no_size(),
            context.at_findings(except)
        ),
        Crossover::BothEnds {
            winner,
            from,
            to,
            except,
        } => format!(
            "Faster at the smallest and at the largest sizes measured from {} to {}: {}. This is \
             not shown {}, and nowhere the opposite.",
            size(from),
            size(to),
            name(*winner),
            context.at_findings(except),
        ),
        Crossover::WinsBelow {
            winner,
            from,
            low,
            to,
            ..
        } => format!(
            "Faster {}: {}. Above, up to {}, no order is shown.",
            everywhere(*from, *low),
            name(*winner),
            size(to)
        ),
        Crossover::WinsAbove {
            winner,
            from,
            high,
            to,
            ..
        } => format!(
            "Faster {}: {}. Below, down to {}, no order is shown.",
            everywhere(*high, *to),
            name(*winner),
            size(from)
        ),
        Crossover::NoOrder { evidence } => no_order(evidence, context),
    }
}

/// `faster at 1 KiB to 4 KiB`
fn faster_at(wins: &[u64], context: &Context<'_>) -> String {
    if wins.is_empty() {
        let zone = context.zone;
        return format!("at some of them faster, though at none is that shown to exceed {zone}");
    }
    format!("faster {}", context.at(wins))
}

fn no_order(evidence: &[Finding], context: &Context<'_>) -> String {
    let (Some(first), Some(last)) = (evidence.first(), evidence.last()) else {
        return "No verdict: no size was measured.".to_owned();
    };
    if context.figures.is_empty() {
        return "No verdict: no size has a figure.".to_owned();
    }
    if undecided(evidence) {
        let range = context.at_no_size();
        return format!("No verdict: nothing is decided {range}.");
    }
    let why = match (first.standing, last.standing) {
        (Standing::Wins(_), Standing::Wins(_)) => {
            "which is faster changes with the size, and changes back"
        }
        _ => "neither end of the range is won",
    };
    let (from, to) = (first.size, last.size);
    let sizes = span(SizeRange { from, to }, context.unit);
    format!("No order from small to large values ({sizes}): {why}.")
}

/// The same in a few words, for a list of answers. Names come last: some must not begin with a
/// capital letter, as answers do.
pub(crate) fn in_short(finding: &Crossover, context: &Context<'_>) -> String {
    let name = |side: Side| context.name(side);
    let size = |bytes: &u64| (context.unit)(*bytes);
    match finding {
        Crossover::Zone {
            smaller, low, high, ..
        } => format!(
            "up to {}: {}; from {} on: {}",
            size(low),
            name(*smaller),
            size(high),
            name(smaller.other())
        ),
        Crossover::Throughout { winner, from, to } if !context.complete => {
            let (from, to) = (*from, *to);
            format!(
                "{}: {}",
                span(SizeRange { from, to }, context.unit),
                name(*winner)
            )
        }
        Crossover::Throughout { winner, .. } => format!("throughout: {}", name(*winner)),
        Crossover::NeverSlower { side, .. } => format!("never slower: {}", name(*side)),
        Crossover::Equivalent { .. } if !context.same_durability => "equivalent".to_owned(),
        Crossover::Equivalent { .. } => "choose by something else".to_owned(),
        Crossover::NobodyWins { except, .. } => {
            let sizes = context.sizes.len();
            let equivalent = sizes.saturating_sub(except.len());
            format!("no difference shown; equivalent at {equivalent} of {sizes} sizes")
        }
        Crossover::BothEnds { winner, .. } => {
            format!("at both ends: {}; between, not shown", name(*winner))
        }
        Crossover::WinsBelow { winner, low, .. } => {
            format!("up to {}: {}; above, no order", size(low), name(*winner))
        }
        Crossover::WinsAbove { winner, high, .. } => {
            format!("from {} on: {}; below, no order", size(high), name(*winner))
        }
        Crossover::NoOrder { evidence } if undecided(evidence) => "no verdict".to_owned(),
        Crossover::NoOrder { .. } => "no order by size".to_owned(),
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
    advice
        .chain(
            rules
                .iter()
                .filter(|_| context.same_durability)
                .flat_map(|rule| gains(setting, rule, context.unit)),
        )
        .collect()
}

/// Where a row gains most, and where it costs least. Not which row is fastest: ratios alone cannot
/// tell.
fn gains(setting: &str, rule: &Rule, unit: Unit) -> Vec<String> {
    let row = self::setting(setting, &[&rule.setting]);
    let listed = |ranges: &[SizeRange]| {
        let ranges: Vec<String> = ranges.iter().map(|range| span(*range, unit)).collect();
        (!ranges.is_empty()).then(|| list(&ranges))
    };
    let gains = listed(&rule.gains_most)
        .map(|sizes| format!("Being inside pays most with {row} for values of {sizes}."));
    let costs = listed(&rule.costs_least)
        .map(|sizes| format!("If values of {sizes} must be inside, that costs least with {row}."));
    gains.into_iter().chain(costs).collect()
}

/// Where to keep a value that this side holds.
fn place(side: Side) -> &'static str {
    match side {
        Side::A => "inside",
        Side::B => "outside",
    }
}

fn advice(finding: &Crossover, context: &Context<'_>) -> String {
    let zone = context.zone;
    let unit = context.unit;
    let everywhere = |from: u64, to: u64| everywhere(from, to, unit);
    let sizes = |from: &u64, to: &u64| {
        let (from, to) = (*from, *to);
        span(SizeRange { from, to }, unit)
    };
    match finding {
        Crossover::Zone {
            smaller,
            from,
            low,
            high,
            to,
            ..
        } => format!(
            "{} and those of {} {}; between, neither can be said",
            context.keep(*from, *low, *smaller),
            sizes(high, to),
            place(smaller.other()),
        ),
        Crossover::Throughout { winner, from, to } if context.same_durability => format!(
            "keep values {}: that is faster {}",
            place(*winner),
            everywhere(*from, *to)
        ),
        Crossover::Throughout { winner, from, to } => format!(
            "values are faster {} {}",
            place(*winner),
            everywhere(*from, *to)
        ),
        Crossover::NeverSlower {
            side,
            from,
            to,
            wins,
        } => format!(
            "{} is not slower by more than {zone} {}, and {}",
            place(*side),
            anywhere(*from, *to, unit),
            faster_at(wins, context)
        ),
        Crossover::Equivalent { from, to } if !context.same_durability => format!(
            "inside and outside are equivalent within {zone} for values of {}",
            sizes(from, to)
        ),
        Crossover::Equivalent { from, to } => format!(
            "it does not matter for values of {}: inside and outside are equivalent within {zone}",
            sizes(from, to)
        ),
        Crossover::NobodyWins { except, .. } => format!(
            "neither inside nor outside is shown to be faster by more than {zone} {}; {}, \
             equivalence is not shown either",
            context.at_no_size(),
            context.at_findings(except)
        ),
        Crossover::BothEnds {
            winner,
            from,
            to,
            except,
        } => format!(
            "{} is faster at the smallest and at the largest sizes of {}, and {} nowhere; {}, it \
             is not shown to be faster",
            place(*winner),
            sizes(from, to),
            place(winner.other()),
            context.at_findings(except)
        ),
        Crossover::WinsBelow {
            winner,
            from,
            low,
            to,
            ..
        } => format!(
            "{}; above, up to {}, no order is shown",
            context.keep(*from, *low, *winner),
            unit(*to)
        ),
        Crossover::WinsAbove {
            winner,
            from,
            high,
            to,
            ..
        } => format!(
            "{}; below, down to {}, no order is shown",
            context.keep(*high, *to, *winner),
            unit(*from)
        ),
        Crossover::NoOrder { evidence } if undecided(evidence) => {
            "nothing is decided at any size".to_owned()
        }
        Crossover::NoOrder { .. } => {
            "there is no rule by size: neither place wins from an end of the range on".to_owned()
        }
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
    value
        .parse()
        .map_or_else(|_| value.to_owned(), format::size)
}

/// What tells one sweep from another, in words: `page_size=4096` is `pages of 4 KiB`.
pub(crate) fn settings(text: &str) -> String {
    let settings = text.split(',').map(|part| match part.split_once('=') {
        Some((name, value)) => setting(name.trim(), &[value.trim()]),
        None => part.trim().to_owned(),
    });
    list(&settings.collect::<Vec<_>>())
}
