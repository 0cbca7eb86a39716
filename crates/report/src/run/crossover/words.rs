//! What sweeps and rows of matrices say as a whole, in sentences. Each claims what its finding
//! claims and names only measured sizes.

use crate::cells::grouped;
use crate::value;
use crate::wording::list;
use stowplan_analysis::{Crossover, Rule, Run, Side, SizeRange, Standing};

/// How sizes are written: one way for all of a sweep or matrix.
pub(crate) type Unit = fn(u64) -> String;

/// What is said of runs, and of which.
type Kind = (String, fn(&Run) -> bool);

/// What a sentence about a finding needs beside it.
pub(crate) struct Context<'a> {
    /// Side A, for people.
    pub(crate) a: &'a str,
    /// Side B, for people.
    pub(crate) b: &'a str,
    /// How many measured sizes have a figure.
    pub(crate) figures: usize,
    /// Whether every size that was planned is among those measured.
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

    /// A clause for each kind of run that there is, claims first:
    /// `faster at 1 KiB to 4 KiB: files; at 64 KiB: SQLite`. Names stand where they need no verb: some
    /// are plural.
    fn clauses(&self, finding: &Crossover) -> Vec<String> {
        let zone = self.zone;
        let kinds: [Kind; 5] = [
            ("faster".to_owned(), |run| run.claimed),
            (format!("faster, perhaps by less than {zone},"), |run| {
                matches!(run.standing, Standing::Leans(_))
            }),
            (format!("equivalent within {zone}"), |run| {
                run.standing == Standing::Equivalent
            }),
            ("of single sizes only, faster".to_owned(), |run| {
                is_won(run.standing) && !run.claimed
            }),
            ("not decided".to_owned(), |run| {
                run.standing == Standing::Undecided
            }),
        ];
        let clauses = kinds.into_iter().filter_map(|(what, is_meant)| {
            let runs = finding.runs.iter().filter(|run| is_meant(run));
            let places: Vec<String> = runs.map(|run| self.place(run)).collect();
            (!places.is_empty()).then(|| format!("{what} {}", places.join("; ")))
        });
        clauses.collect()
    }

    /// `at 1 KiB to 4 KiB: files`
    fn place(&self, run: &Run) -> String {
        let at = format!("at {}", span(run.sizes, self.unit));
        match run.standing {
            Standing::Wins(side) | Standing::Leans(side) => format!("{at}: {}", self.name(side)),
            Standing::Equivalent | Standing::Undecided => at,
        }
    }
}

fn is_won(standing: Standing) -> bool {
    matches!(standing, Standing::Wins(_))
}

/// `10 kB to 20 kB`, or `10 kB` where both ends are the same.
pub(crate) fn span(range: SizeRange, unit: Unit) -> String {
    let SizeRange { from, to } = range;
    if from == to {
        return unit(from);
    }
    format!("{} to {}", unit(from), unit(to))
}

/// That nothing is claimed at these sizes, if there are any; `measured` are all sizes.
pub(crate) fn unreliable(sizes: &[u64], measured: &[u64], unit: Unit) -> Option<String> {
    let ranges = spans(sizes, measured, unit)?;
    Some(format!(
        "Session unreliable at {ranges}: nothing is claimed there."
    ))
}

/// `1 KiB to 2 KiB and 64 KiB`: sizes as ranges of neighbours among others; nothing of no sizes.
pub(crate) fn spans(sizes: &[u64], among: &[u64], unit: Unit) -> Option<String> {
    let ranges = SizeRange::of_neighbours(&sizes.iter().copied().collect(), among);
    listed(&ranges, unit)
}

fn listed(ranges: &[SizeRange], unit: Unit) -> Option<String> {
    let ranges: Vec<String> = ranges.iter().map(|range| span(*range, unit)).collect();
    (!ranges.is_empty()).then(|| list(&ranges))
}

/// What a sweep of two stores found, in sentences.
pub(crate) fn sentence(finding: &Crossover, context: &Context<'_>) -> String {
    let clauses = context.clauses(finding);
    let nothing = match (finding.runs.is_empty(), context.figures) {
        (true, _) => "no size was measured",
        (false, 0) => "no size has a figure",
        _ if is_undecided(finding) => &clauses.join("; "),
        _ => {
            let sentences = clauses.iter().map(|clause| value::capital(clause) + ".");
            return sentences.collect::<Vec<_>>().join(" ");
        }
    };
    format!("No verdict: {nothing}.")
}

fn is_undecided(finding: &Crossover) -> bool {
    finding.all(|standing| standing == Standing::Undecided)
}

/// What is so of the sizes that no side is claimed to win, where some are.
fn otherwise(finding: &Crossover) -> &'static str {
    let rest = || finding.runs.iter().filter(|run| !run.claimed);
    let all = |accept: fn(Standing) -> bool| rest().all(|run| accept(run.standing));
    match () {
        () if rest().next().is_none() => "",
        () if all(|standing| standing == Standing::Equivalent) => "; else equivalent",
        () if all(|standing| matches!(standing, Standing::Equivalent | Standing::Leans(_))) => {
            "; else a small difference or none"
        }
        () => "; other sizes are open",
    }
}

/// Says in a few words what was found, for a list of answers. Names come last: some must not begin with a
/// capital letter, as answers do.
pub(crate) fn in_short(finding: &Crossover, context: &Context<'_>) -> String {
    let claims = finding.claims().map(|(side, sizes)| {
        let reach = reach(sizes, finding, context);
        format!("{reach}: {}", context.name(side))
    });
    let claims: Vec<String> = claims.collect();
    let is_equivalent = finding.all(|standing| standing == Standing::Equivalent);
    match () {
        () if !claims.is_empty() => format!("{}{}", claims.join("; "), otherwise(finding)),
        () if is_undecided(finding) => "no verdict".to_owned(),
        () if is_equivalent && context.same_durability => "choose by something else".to_owned(),
        () if is_equivalent => "equivalent".to_owned(),
        () if finding.runs.iter().any(|run| is_won(run.standing)) => "no order by size".to_owned(),
        () => format!("no difference above {} shown", context.zone),
    }
}

/// Where a claim lies within what was measured: `up to 4 KiB`. One size is no "up to": nothing is
/// known of those beside it.
fn reach(claim: SizeRange, finding: &Crossover, context: &Context<'_>) -> String {
    let size = context.unit;
    if claim.from == claim.to {
        let only = match context.figures {
            1 => " (the only size measured)",
            _ => "",
        };
        return format!("at {}{only}", size(claim.from));
    }
    let is_first = finding.runs.first().map(|run| run.sizes.from) == Some(claim.from);
    let is_last = finding.runs.last().map(|run| run.sizes.to) == Some(claim.to);
    match (is_first, is_last) {
        (true, true) if context.complete => "throughout".to_owned(),
        (true, false) => format!("up to {}", size(claim.to)),
        (false, true) => format!("from {} on", size(claim.from)),
        _ => span(claim, size),
    }
}

/// What the rows of a matrix teach: `With pages of 8 KiB, keep …`, rows that teach the same
/// together; then which row gains most.
pub(crate) fn rules(setting: &str, rules: &[Rule], context: &Context<'_>) -> Vec<String> {
    let said = rules.iter();
    let said = said.map(|rule| (advice(&rule.crossover, context), rule.setting.as_str()));
    let said: Vec<(String, &str)> = said.collect();
    let advice = said.chunk_by(|a, b| a.0 == b.0).map(|alike| {
        let rows: Vec<&str> = alike.iter().map(|(_, row)| *row).collect();
        format!("With {}, {}.", self::setting(setting, &rows), alike[0].0)
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

/// What to do by what one row found: `keep values of 1 KiB inside and those of 8 KiB outside; other
/// sizes are open`; or what was found where no choice may be advised.
fn advice(finding: &Crossover, context: &Context<'_>) -> String {
    let claims = finding.claims();
    let claims = grouped(claims.map(|(side, sizes)| (side, span(sizes, context.unit))));
    let places = claims.iter();
    let places = places.map(|(side, sizes)| format!("of {} {}", list(sizes), context.name(*side)));
    let places = places.collect::<Vec<_>>().join(" and those ");
    let rest = otherwise(finding);
    match (places.is_empty(), context.same_durability) {
        (true, _) if is_undecided(finding) => "nothing is decided at any size".to_owned(),
        (true, _) => context.clauses(finding).join("; "),
        (false, true) => format!("keep values {places}{rest}"),
        (false, false) => format!("faster are values {places}{rest}"),
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
        let figures = points.iter().filter(|point| point.estimate.is_some());
        let context = Context {
            a: "files",
            b: "SQLite",
            figures: figures.count(),
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
                "at 4 KiB (the only size measured): SQLite; other sizes are open",
            ),
            ("AB", "at 1 KiB: files; at 2 KiB: SQLite"),
            (
                "AA?BB",
                "up to 2 KiB: files; from 8 KiB on: SQLite; other sizes are open",
            ),
            ("AAA", "throughout: files"),
            ("?AA", "from 2 KiB on: files; other sizes are open"),
        ];
        for (letters, expected) in cases {
            assert_eq!(short(letters), expected, "{letters}");
        }
    }
}
