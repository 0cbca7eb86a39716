//! What sweeps and rows of matrices say as a whole, in sentences. Each claims what its [`Order`]
//! claims and names only measured sizes; roots of interpolated ratios are no claims.

use super::order::{Open, Order, Stretch};
use crate::format;
use crate::wording::list;
use stowplan_analysis::{Crossover, Rule, Side, SizeRange};

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
        ends.map_or_else(String::new, |(from, to)| {
            let (from, to) = (*from, *to);
            self.anywhere(SizeRange { from, to })
        })
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

    /// That stretches leave something open: `above, up to 1 MiB, no order is shown`.
    fn left_open(&self, open: Open) -> String {
        let size = |size: u64| (self.unit)(size);
        match open {
            Open::Between(_) => "between, neither can be said".to_owned(),
            Open::Above(range) => format!("above, up to {}, no order is shown", size(range.to)),
            Open::Below(range) => {
                format!("below, down to {}, no order is shown", size(range.from))
            }
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
pub(crate) fn runs(sizes: &[u64], measured: &[u64]) -> Vec<SizeRange> {
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
    let ranges = runs(sizes, among).into_iter();
    let ranges: Vec<String> = ranges.map(|range| span(range, unit)).collect();
    (!ranges.is_empty()).then(|| list(&ranges))
}

/// What a sweep of two stores found, in a sentence or two. Names stand where they need no verb:
/// some are plural.
pub(crate) fn sentence(finding: &Crossover, context: &Context<'_>) -> String {
    let Context { a, b, zone, .. } = *context;
    let order = Order::of(finding);
    match &order {
        Order::Stretches { won, .. } => {
            let of = |stretch: &Stretch| {
                let sizes = context.everywhere(stretch.range);
                format!("{sizes}: {}", context.name(stretch.side))
            };
            let won: Vec<String> = won.iter().map(of).collect();
            let open = order.open().map(|open| context.left_open(open));
            let open =
                open.map_or_else(String::new, |open| format!(" {}.", format::capital(&open)));
            format!("Faster {}.{open}", won.join("; "))
        }
        Order::OneSided {
            side,
            range,
            wins,
            open,
        } => {
            let name = context.name(*side);
            if open.is_empty() {
                let (sizes, faster) = (context.anywhere(*range), context.faster_at(wins));
                return format!("Not slower by more than {zone} {sizes}: {name}; {faster}.");
            }
            format!(
                "Faster at the smallest and at the largest sizes measured from {}: {name}. This is \
                 not shown {}, and nowhere the opposite.",
                context.span(*range),
                context.at(open)
            )
        }
        Order::Even { range, open } if open.is_empty() => {
            let sizes = context.everywhere(*range);
            format!("{a} and {b} are equivalent within {zone} {sizes}.")
        }
        Order::Even { open, .. } => format!(
            "Between {a} and {b}, no difference above {zone} is shown {}; {}, equivalence is not \
             shown either.",
            context.at_no_size(),
            context.at(open)
        ),
        _ => no_order(&order, context),
    }
}

fn no_order(order: &Order, context: &Context<'_>) -> String {
    match order {
        _ if context.sizes.is_empty() => "No verdict: no size was measured.".to_owned(),
        _ if context.figures.is_empty() => "No verdict: no size has a figure.".to_owned(),
        Order::Unordered {
            range,
            changes_back,
        } => {
            let why = match changes_back {
                true => "which is faster changes with the size, and changes back",
                false => "neither end of the range is won",
            };
            let sizes = context.span(*range);
            format!("No order from small to large values ({sizes}): {why}.")
        }
        _ => {
            let range = context.at_no_size();
            format!("No verdict: nothing is decided {range}.")
        }
    }
}

/// The same in a few words, for a list of answers. Names come last: some must not begin with a
/// capital letter, as answers do.
pub(crate) fn in_short(finding: &Crossover, context: &Context<'_>) -> String {
    let order = Order::of(finding);
    match &order {
        Order::Stretches { range, won } => {
            let of = |stretch: &Stretch| {
                let sizes = reach(stretch.range, *range, context);
                format!("{sizes}: {}", context.name(stretch.side))
            };
            let won: Vec<String> = won.iter().map(of).collect();
            let open = match order.open() {
                Some(Open::Above(_)) => "; above, no order",
                Some(Open::Below(_)) => "; below, no order",
                Some(Open::Between(_)) | None => "",
            };
            format!("{}{open}", won.join("; "))
        }
        Order::OneSided { side, open, .. } => match (context.name(*side), open.is_empty()) {
            (name, true) => format!("never slower: {name}"),
            (name, false) => format!("at both ends: {name}; between, not shown"),
        },
        Order::Even { open, .. } if open.is_empty() => match context.same_durability {
            true => "choose by something else".to_owned(),
            false => "equivalent".to_owned(),
        },
        Order::Even { open, .. } => {
            let sizes = context.sizes.len();
            let equivalent = sizes.saturating_sub(open.len());
            format!("no difference shown; equivalent at {equivalent} of {sizes} sizes")
        }
        Order::Unordered { .. } => "no order by size".to_owned(),
        Order::Undecided => "no verdict".to_owned(),
    }
}

/// Where a stretch lies within what was measured: `up to 4 KiB`. One size is no "up to": nothing is
/// known of those beside it.
fn reach(stretch: SizeRange, range: SizeRange, context: &Context<'_>) -> String {
    let size = |size: u64| (context.unit)(size);
    if stretch.from == stretch.to {
        let only = match context.figures.len() {
            1 => " (the only size measured)",
            _ => "",
        };
        return format!("at {}{only}", size(stretch.from));
    }
    match (stretch.from == range.from, stretch.to == range.to) {
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

/// What to do by what one row found, or what was found where no choice may be advised.
fn advice(finding: &Crossover, context: &Context<'_>) -> String {
    let zone = context.zone;
    let order = Order::of(finding);
    match &order {
        Order::Stretches { won, .. } => keep(won, order.open(), context),
        Order::OneSided {
            side,
            range,
            wins,
            open,
        } => {
            let place = context.name(*side);
            if open.is_empty() {
                let (sizes, faster) = (context.anywhere(*range), context.faster_at(wins));
                return format!("{place} is not slower by more than {zone} {sizes}, and {faster}");
            }
            format!(
                "{place} is faster at the smallest and at the largest sizes of {}, and {} nowhere; \
                 {}, it is not shown to be faster",
                context.span(*range),
                context.name(side.other()),
                context.at(open)
            )
        }
        Order::Even { range, open } if open.is_empty() => {
            let sizes = context.span(*range);
            match context.same_durability {
                true => format!(
                    "it does not matter for values of {sizes}: inside and outside are equivalent \
                     within {zone}"
                ),
                false => {
                    format!("inside and outside are equivalent within {zone} for values of {sizes}")
                }
            }
        }
        Order::Even { open, .. } => format!(
            "neither inside nor outside is shown to be faster by more than {zone} {}; {}, \
             equivalence is not shown either",
            context.at_no_size(),
            context.at(open)
        ),
        Order::Unordered { .. } => {
            "there is no rule by size: neither place wins from an end of the range on".to_owned()
        }
        Order::Undecided => "nothing is decided at any size".to_owned(),
    }
}

/// `keep values of 1 KiB inside and those of 8 KiB outside; between, neither can be said`
fn keep(won: &[Stretch], open: Option<Open>, context: &Context<'_>) -> String {
    let advised = context.same_durability;
    let (keep, are) = if advised {
        ("keep ", "")
    } else {
        ("", "are faster ")
    };
    let place = |stretch: &Stretch| {
        let (sizes, place) = (context.span(stretch.range), context.name(stretch.side));
        (sizes, place.to_owned())
    };
    let Some((first, more)) = won.split_first() else {
        return String::new();
    };
    let (sizes, first_place) = place(first);
    let Some(open) = open else {
        let everywhere = context.everywhere(first.range);
        return match advised {
            true => format!("keep values {first_place}: that is faster {everywhere}"),
            false => format!("values are faster {first_place} {everywhere}"),
        };
    };
    let mut text = format!("{keep}values of {sizes} {are}{first_place}");
    for (sizes, place) in more.iter().map(place) {
        text.push_str(&format!(" and those of {sizes} {place}"));
    }
    format!("{text}; {}", context.left_open(open))
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
            unit: format::size,
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
