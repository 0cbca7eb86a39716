//! What matrices and sweeps say as a whole, in sentences. Each claims what its finding claims and names only sizes
//! that were tried.

use super::Sizes;
use crate::cells::grouped;
use crate::value;
use crate::wording::list;
use stowplan_analysis::{Crossover, Run, Side, SizeRange, SizeRow, Standing};

/// What is said of runs, and of which.
type Kind = (String, fn(&Run) -> bool);

impl Sizes<'_> {
    /// What was found, a sentence for each row, rows of which the same is to be said together; then which row leads.
    pub(super) fn sentences(&self) -> Vec<String> {
        let Some(setting) = &self.found.row_setting else {
            return self
                .found
                .rows
                .iter()
                .map(|row| self.said(&row.finding))
                .collect();
        };
        let rows = self.found.rows.iter();
        let said = grouped(rows.map(|row| (self.row_in_short(&row.finding), &*row.setting)));
        let said = said
            .into_iter()
            .map(|(said, rows)| format!("With {}, {said}.", self::setting(setting, &rows)));
        let leading = self
            .found
            .rows
            .iter()
            .filter(|_| self.found.same_durability);
        let leads = leading.filter_map(|row| {
            let (sizes, a) = (self.listed(&row.leads)?, value::capital(&self.a));
            let row = self::setting(setting, &[&row.setting]);
            Some(format!("{a} does best with {row} for values of {sizes}."))
        });
        said.chain(leads).collect()
    }

    /// What a row found, as the end of a sentence.
    fn row_in_short(&self, finding: &Crossover) -> String {
        let of = |side| finding.claims().filter(move |claim| claim.0 == side);
        let of = |side| of(side).map(|(_, sizes)| sizes).collect::<Vec<_>>();
        match self.claims(&of(Side::A), &of(Side::B)) {
            claims if claims.is_empty() => self.clauses(finding).join("; "),
            claims => {
                let complete = finding.runs.iter().all(|run| run.claimed);
                format!("faster {claims}{}", otherwise(&finding.runs, complete))
            }
        }
    }

    /// What a sweep found, in sentences.
    pub(super) fn said(&self, finding: &Crossover) -> String {
        let clauses = self.clauses(finding);
        match finding.all(|standing| standing == Standing::Undecided) {
            true => format!("No verdict: {}.", clauses.join("; ")),
            false => {
                let sentences = clauses.iter().map(|clause| value::capital(clause) + ".");
                sentences.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// A clause for each kind of run that there is, claims first:
    /// `faster at 1 KiB to 4 KiB: files; at 64 KiB: SQLite`. Names stand where they need no verb: some
    /// are plural.
    fn clauses(&self, finding: &Crossover) -> Vec<String> {
        let zone = &self.zone;
        let is_won = |run: &Run| matches!(run.standing, Standing::Wins(_)) && !run.claimed;
        let kinds: [Kind; 5] = [
            ("faster".to_owned(), |run| run.claimed),
            (format!("faster, perhaps by less than {zone},"), |run| {
                matches!(run.standing, Standing::Leans(_))
            }),
            (format!("equivalent within {zone}"), |run| {
                run.standing == Standing::Equivalent
            }),
            ("of single sizes only, faster".to_owned(), is_won),
            ("not decided".to_owned(), |run| {
                run.standing == Standing::Undecided
            }),
        ];
        let clauses = kinds.into_iter().filter_map(|(what, is_meant)| {
            let runs = finding.runs.iter().filter(|run| is_meant(run));
            let places: Vec<String> = runs.map(|run| self.place(run)).collect();
            (!places.is_empty()).then(|| format!("{what} {}", places.join("; ")))
        });
        let clauses: Vec<String> = clauses.collect();
        match clauses.is_empty() {
            true => vec!["no size was measured".to_owned()],
            false => clauses,
        }
    }

    /// `at 1 KiB to 4 KiB: files`
    fn place(&self, run: &Run) -> String {
        let at = format!("at {}", self.span(run.sizes));
        match run.standing {
            Standing::Wins(Side::A) | Standing::Leans(Side::A) => format!("{at}: {}", self.a),
            Standing::Wins(Side::B) | Standing::Leans(Side::B) => format!("{at}: {}", self.b),
            Standing::Equivalent | Standing::Undecided => at,
        }
    }

    /// Which side is faster where, at every row, in a few words for a list of answers. Names come last: some must
    /// not begin with a capital letter, as answers do.
    pub(crate) fn answer(&self, a: &[SizeRange], b: &[SizeRange], complete: bool) -> String {
        let rest = match self.found.rows.as_slice() {
            [row] => otherwise(&row.finding.runs, complete).to_owned(),
            _ if complete => String::new(),
            _ => format!("; other sizes depend on the {} or are open", self.setting()),
        };
        let said = match self.claims(a, b) {
            claims if !claims.is_empty() => claims + &rest,
            _ if self.found.claims_anything() => {
                format!("it depends on the {}: see the details", self.setting())
            }
            _ if self.found.all(|standing| standing == Standing::Undecided) => {
                "no verdict".to_owned()
            }
            _ if self.found.all(|standing| standing == Standing::Equivalent) => {
                format!("equivalent within {}", self.zone)
            }
            _ if self
                .found
                .all(|standing| !matches!(standing, Standing::Wins(_))) =>
            {
                format!("no difference above {} shown", self.zone)
            }
            _ => "no order by size".to_owned(),
        };
        match self.found.same_durability {
            true => said,
            false => format!("no choice by time alone, which says: {said}"),
        }
    }

    /// `at 1 KiB to 4 KiB: files; at 64 KiB: SQLite`; nothing where no side is claimed to be faster.
    fn claims(&self, a: &[SizeRange], b: &[SizeRange]) -> String {
        let mut claims = [(a, &self.a), (b, &self.b)];
        claims.sort_by_key(|(sizes, _)| sizes.first().map(|range| range.from));
        let claims = claims.into_iter();
        let claims =
            claims.filter_map(|(at, side)| Some(format!("at {}: {side}", self.listed(at)?)));
        claims.collect::<Vec<_>>().join("; ")
    }

    /// `1 KiB to 2 KiB and 64 KiB`: sizes as ranges of neighbours among others; nothing of no sizes.
    pub(super) fn spans(&self, sizes: &[u64], among: &[u64]) -> Option<String> {
        self.listed(&SizeRange::of_neighbours(
            &sizes.iter().copied().collect(),
            among,
        ))
    }

    fn listed(&self, ranges: &[SizeRange]) -> Option<String> {
        let ranges: Vec<String> = ranges.iter().map(|range| self.span(*range)).collect();
        (!ranges.is_empty()).then(|| list(&ranges))
    }

    /// `10 kB to 20 kB`, or `10 kB` where both ends are the same.
    fn span(&self, SizeRange { from, to }: SizeRange) -> String {
        match from == to {
            true => self.size(from),
            false => format!("{} to {}", self.size(from), self.size(to)),
        }
    }

    /// The setting of the rows: `page size`.
    pub(super) fn setting(&self) -> String {
        let setting = self.found.row_setting.as_deref();
        setting.unwrap_or_default().replace(['-', '_'], " ")
    }

    /// The head of a row: `8 KiB`.
    pub(super) fn row_head(&self, row: &SizeRow) -> String {
        match self.setting() == PAGE_SIZE {
            true => page_size(&row.setting),
            false => row.setting.clone(),
        }
    }
}

/// What is so of the sizes that no side is claimed to win.
fn otherwise(runs: &[Run], complete: bool) -> &'static str {
    let mut rest = runs.iter().filter(|run| !run.claimed).peekable();
    match rest.peek().is_some() {
        _ if complete => "",
        true if rest.all(|run| run.standing == Standing::Equivalent) => "; else equivalent",
        _ => "; other sizes are open",
    }
}

const PAGE_SIZE: &str = "page size";

/// Values of a setting in words: `pages of 8 KiB and 16 KiB`, `cache 4000`.
fn setting(name: &str, values: &[&str]) -> String {
    let name = name.replace(['-', '_'], " ");
    match name == PAGE_SIZE {
        true => {
            let sizes = values.iter().map(|value| page_size(value));
            format!("pages of {}", list(&sizes.collect::<Vec<_>>()))
        }
        false => {
            let values = values.iter().map(|value| (*value).to_owned());
            format!("{name} {}", list(&values.collect::<Vec<_>>()))
        }
    }
}

fn page_size(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), value::size)
}
