//! The whole procedure, many times, on cells of which it is known how they differ.
//!
//! Each comparison of a series is a session of its own: its own baseline, control, noise floor, gate
//! and looks. Claims of one session share its baseline, so what is counted is sessions.

use super::{COVERAGE, FALSE_CLAIMS, Proportion, Run, Standing, baseline, candidates, setting};
use crate::{ComparisonOutcome, ContrastOutcome, RatioEstimate, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions of two identical cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IdenticalSeries {
    /// Sessions that claimed a difference, of all that came to a verdict.
    pub claims: Proportion,
    /// The same by what was compared with itself.
    pub parts: Vec<SeriesPart>,
    /// What the sessions ended with.
    pub verdicts: VerdictCounts,
    /// The estimate that was farthest from 1, as a ratio.
    pub farthest: Option<f64>,
    /// The interval of each session, in their order.
    pub intervals: Vec<RatioEstimate>,
    /// Rounds of all sessions.
    pub rounds: usize,
    /// Whether claims are as rare as they must be.
    pub standing: Standing,
}

/// Sessions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesPart {
    /// What was compared with itself.
    pub label: String,
    /// Sessions that claimed a difference.
    pub claims: Proportion,
}

/// Sessions with a cell that takes a known share more time than the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferentSeries {
    /// The name of the cell.
    pub label: String,
    /// Its cost over that of the baseline, as both are known.
    pub truth: f64,
    /// Sessions that claimed that it takes more: their interval lies above 1. That is power.
    pub claimed: Proportion,
    /// Sessions that claimed that it takes less.
    pub reversed: Proportion,
    /// Sessions whose interval holds the truth.
    pub covered: Proportion,
    /// What the sessions ended with.
    pub verdicts: VerdictCounts,
    /// The interval of each session, in their order.
    pub intervals: Vec<RatioEstimate>,
    /// The middle of all estimates, as a ratio.
    pub median: Option<f64>,
    /// Whether no more claims are reversed, and no fewer intervals hold the truth, than there may
    /// be. Power has no limit: it is what the machine's noise leaves of it.
    pub standing: Standing,
}

/// How many sessions ended with which verdict.
pub type VerdictCounts = BTreeMap<Verdict, u32>;

/// A session: what it found about one cell.
struct Session {
    verdict: Verdict,
    estimate: RatioEstimate,
}

impl Session {
    /// Nothing where it came to no verdict.
    fn of(contrast: &ContrastOutcome) -> Option<Self> {
        let estimate = contrast.estimate?;
        (contrast.verdict != Verdict::NoData).then_some(Self {
            verdict: contrast.verdict,
            estimate,
        })
    }

    /// Whether it claims that the two cells differ.
    fn claims(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::SmallDifference
        )
    }

    /// Whether it may say anything at all.
    fn is_reliable(&self) -> bool {
        self.verdict != Verdict::Unreliable
    }
}

fn counts(sessions: &[Session]) -> VerdictCounts {
    let mut counts = VerdictCounts::new();
    for session in sessions {
        *counts.entry(session.verdict).or_default() += 1;
    }
    counts
}

/// The series whose cells are identical.
pub(super) fn identical(run: &Run<'_>) -> IdenticalSeries {
    let mut parts: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    let mut sessions = Vec::new();
    let mut rounds = 0;
    for outcome in run.series("aa-") {
        let label = baseline(outcome).map_or_else(String::new, |cell| cell.cell.label.clone());
        for session in outcome.contrasts.iter().filter_map(Session::of) {
            rounds += session.estimate.rounds;
            parts
                .entry(label.clone())
                .or_default()
                .push(session.claims());
            sessions.push(session);
        }
    }
    let claims = Proportion::of(sessions.iter().map(Session::claims));
    let logs = sessions.iter().map(|session| session.estimate.ratio.ln());
    let farthest = logs.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    IdenticalSeries {
        claims,
        parts: parts
            .into_iter()
            .map(|(label, claims)| SeriesPart {
                label,
                claims: Proportion::of(claims.into_iter()),
            })
            .collect(),
        verdicts: counts(&sessions),
        farthest: farthest.map(f64::exp),
        intervals: sessions.iter().map(|session| session.estimate).collect(),
        rounds,
        standing: claims.at_most(FALSE_CLAIMS),
    }
}

/// The series whose cells differ by a known share, by rising share.
pub(super) fn different(run: &Run<'_>) -> Vec<DifferentSeries> {
    let mut keys: BTreeMap<&str, (f64, Vec<Session>)> = BTreeMap::new();
    for outcome in run.series("ab-") {
        for (key, truth, session) in sessions_of(outcome) {
            let series = keys.entry(key).or_insert((truth, Vec::new()));
            series.1.extend(session);
        }
    }
    let mut found: Vec<DifferentSeries> = keys
        .into_iter()
        .map(|(key, (truth, sessions))| series(label(run, key), truth, &sessions))
        .collect();
    found.sort_by(|a, b| a.truth.total_cmp(&b.truth));
    found
}

/// What a comparison found about each of its cells, with their names and what is true of them.
fn sessions_of(outcome: &ComparisonOutcome) -> impl Iterator<Item = (&str, f64, Option<Session>)> {
    let base = baseline(outcome).map_or(f64::NAN, |cell| setting(&cell.cell, "base"));
    candidates(outcome).map(move |cell| {
        let mut contrasts = outcome.contrasts.iter();
        let contrast = contrasts.find(|contrast| contrast.cell == cell.cell.id);
        let truth = setting(&cell.cell, "base") / base;
        (
            cell.cell.key.as_str(),
            truth,
            contrast.and_then(Session::of),
        )
    })
}

fn label(run: &Run<'_>, key: &str) -> String {
    let mut cells = run.series("ab-").flat_map(|outcome| &outcome.cells);
    let cell = cells.find(|cell| cell.cell.key == key);
    cell.map_or_else(|| key.to_owned(), |cell| cell.cell.label.clone())
}

fn series(label: String, truth: f64, sessions: &[Session]) -> DifferentSeries {
    let share =
        |of: fn(&Session, f64) -> bool| Proportion::of(sessions.iter().map(|s| of(s, truth)));
    let claimed = share(|session, _| session.is_reliable() && session.estimate.low > 1.0);
    let reversed = share(|session, _| session.is_reliable() && session.estimate.high < 1.0);
    let covered =
        share(|session, truth| (session.estimate.low..=session.estimate.high).contains(&truth));
    let ratios = sessions.iter().map(|session| session.estimate.ratio);
    DifferentSeries {
        label,
        truth,
        claimed,
        reversed,
        covered,
        verdicts: counts(sessions),
        intervals: sessions.iter().map(|session| session.estimate).collect(),
        median: crate::estimate::median(ratios.collect()),
        standing: standing(reversed, covered),
    }
}

/// A few sessions cannot show that something is rare, so their interval does not count here.
fn standing(reversed: Proportion, covered: Proportion) -> Standing {
    let standing = reversed
        .at_most(FALSE_CLAIMS)
        .max(covered.at_least(COVERAGE));
    match standing {
        Standing::Unsure => Standing::Met,
        other => other,
    }
}
