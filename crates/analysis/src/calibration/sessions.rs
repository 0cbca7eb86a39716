//! The whole procedure, many times, on cells of which it is known how they differ.
//!
//! Each comparison of a series is a session of its own: its own control, noise floor, gate
//! and looks. Claims of one session share its baseline, so what is counted is sessions. One that is
//! unreliable or was lost can neither err nor be right: where there are too many of them nothing is
//! known.

use super::proportion::share;
use super::{
    COVERAGE, FALSE_CLAIMS, Figure, FigureUnit, Group, LEFT_OUT, LimitStatus, MOST_UNUSABLE, Run,
    Subject, candidates, exactly, setting,
};
use crate::{CellSummary, ComparisonOutcome, RatioEstimate, Verdict, estimate::median};

/// Sessions of cells whose ratio is known.
#[derive(Default)]
struct Series {
    /// What was compared.
    label: String,
    /// The cost of the cell over that of the baseline, as both are known.
    truth: f64,
    /// What each session found that came to a verdict, in their order.
    sessions: Vec<Session>,
    /// How many did not: too few rounds, or a cell failed.
    lost: usize,
}

/// What a session found about one cell.
#[derive(Clone, Copy)]
struct Session {
    /// How it ended.
    verdict: Verdict,
    /// The ratio with its interval.
    interval: RatioEstimate,
}

impl Session {
    /// Whether it claims that two cells differ. An interval without 1 does too, though the whole of it may
    /// be equivalent: known differences are claimed by the same rule.
    fn claims(&self) -> bool {
        let by_verdict = [Verdict::Faster, Verdict::Slower, Verdict::SmallDifference];
        by_verdict.contains(&self.verdict) || self.interval.excludes_one()
    }
}

impl Series {
    /// The sessions that say something: their control did not fail.
    fn heard(&self) -> impl Iterator<Item = &Session> {
        let sessions = self.sessions.iter();
        sessions.filter(|session| session.verdict != Verdict::Unreliable)
    }

    fn ratios(&self) -> impl Iterator<Item = f64> {
        self.heard().map(|session| session.interval.ratio)
    }

    /// In how many of the sessions that say something it is so.
    fn share(&self, name: impl Into<String>, is_so: impl Fn(&Session) -> bool) -> Figure {
        let (of, count) = (self.heard().count(), self.heard().filter(|s| is_so(s)));
        let found = share(count.count() as u64, of as u64);
        Figure::new(name, FigureUnit::ShareOfSessions, found).of(Some(of as u64))
    }

    /// The sessions that say nothing, if any do. Too many of them leave unknown what the others show, for a
    /// tool that refuses to say anything makes no mistakes.
    fn left_out(&self, name: impl Into<String>) -> Option<Figure> {
        let planned = self.sessions.len() + self.lost;
        let unusable = planned - self.heard().count();
        let found = share(unusable as u64, planned as u64);
        let figure = Figure::new(name, FigureUnit::ShareOfSessions, found).of(Some(planned as u64));
        let figure = by_estimate(figure).at_most(MOST_UNUSABLE);
        let status = figure.status.map(|status| match status {
            LimitStatus::Missed => LimitStatus::Unknown,
            other => other,
        });
        (unusable > 0).then_some(Figure { status, ..figure })
    }
}

/// A few sessions cannot show that something is rare, so the interval of its share does not count.
fn by_estimate(figure: Figure) -> Figure {
    Figure {
        found: figure.found.map(|found| exactly(found.estimate)),
        ..figure
    }
}

/// A ratio by how far it is off 1.
fn off(name: impl Into<String>, ratio: Option<f64>) -> Figure {
    let found = ratio.map(|ratio| exactly(ratio - 1.0));
    Figure::new(name, FigureUnit::ShareOff, found)
}

/// Cells that are identical: all sessions, and by what was compared with itself.
pub(super) fn identical(run: &Run<'_>) -> Group {
    let parts = series(run, "aa-");
    let all = Series {
        label: "Identical cells".to_owned(),
        truth: 1.0,
        sessions: parts
            .iter()
            .flat_map(|part| &part.sessions)
            .copied()
            .collect(),
        lost: parts.iter().map(|part| part.lost).sum(),
    };
    let mut figures = vec![
        all.share("false claims", Session::claims)
            .at_most(FALSE_CLAIMS),
    ];
    figures.extend(
        parts
            .iter()
            .map(|part| part.share(&part.label, Session::claims)),
    );
    figures.extend(all.left_out(LEFT_OUT));
    let farthest = all
        .ratios()
        .max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
    figures.push(off("farthest from 1", farthest));
    Group::of(Subject::Identical, "Identical cells", figures)
}

/// Cells that differ by a known share, by rising share. Power has no limit: it is what the machine's noise
/// leaves of it.
pub(super) fn different(run: &Run<'_>) -> Group {
    let series = series(run, "ab-");
    let figures = series.iter().flat_map(|series| {
        let name = |what: &str| format!("{}, {what}", series.label);
        let holds = |s: &Session| (s.interval.low..=s.interval.high).contains(&series.truth);
        let held = series.share(name("truth held"), holds);
        let reversed = series.share(name("other way round"), |s| s.interval.high < 1.0);
        let found = [
            series.share(name("claimed"), |s| s.interval.low > 1.0),
            off(name("found as"), median(series.ratios().collect())),
            by_estimate(held).at_least(COVERAGE),
            by_estimate(reversed).at_most(FALSE_CLAIMS),
        ];
        let left_out = series.left_out(name(LEFT_OUT));
        found.into_iter().chain(left_out)
    });
    Group::of(Subject::Different, "Known differences", figures.collect())
}

/// The cells that were compared many times, in comparisons that are called like this, by what they cost.
fn series(run: &Run<'_>, pattern: &str) -> Vec<Series> {
    let outcomes = &run.analysis.comparisons;
    let outcomes = outcomes
        .iter()
        .filter(|outcome| outcome.id.starts_with(pattern));
    let mut found: Vec<Series> = Vec::new();
    for (outcome, cell) in outcomes.flat_map(|o| candidates(o).map(move |cell| (o, cell))) {
        let label = &cell.cell.label;
        let at = found.iter().position(|series| series.label == *label);
        let at = at.unwrap_or_else(|| {
            found.push(Series {
                label: label.clone(),
                truth: known_ratio(outcome, cell),
                ..Series::default()
            });
            found.len() - 1
        });
        let contrast = outcome.to_baseline(cell);
        let contrast = contrast.filter(|contrast| contrast.verdict != Verdict::NoData);
        match contrast.and_then(|contrast| Some((contrast.verdict, contrast.estimate?))) {
            Some((verdict, interval)) => found[at].sessions.push(Session { verdict, interval }),
            None => found[at].lost += 1,
        }
    }
    found.sort_by(|a, b| a.truth.total_cmp(&b.truth));
    found
}

/// What a cell costs over what the baseline does, as both are known; NaN where they are not.
fn known_ratio(outcome: &ComparisonOutcome, cell: &CellSummary) -> f64 {
    let base = outcome
        .baseline()
        .map_or(f64::NAN, |cell| setting(&cell.cell, "base"));
    setting(&cell.cell, "base") / base
}
