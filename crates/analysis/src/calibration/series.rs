//! The whole procedure, many times, on cells of which it is known how they differ.
//!
//! Each comparison of a series is a session of its own: its own baseline, control, noise floor, gate
//! and looks. Claims of one session share its baseline, so what is counted is sessions. One that is
//! unreliable or was lost can neither err nor be right: it is told beside the others, and where
//! there are too many of them nothing is known.

use super::{
    COVERAGE, FALSE_CLAIMS, LimitStatus, MOST_UNUSABLE, Proportion, Run, baseline, candidates,
    setting,
};
use crate::{ComparisonOutcome, ContrastOutcome, RatioEstimate, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions of two identical cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IdenticalSeries {
    /// Sessions that claimed a difference, of all that are reliable: their interval excludes 1.
    pub claims: Proportion,
    /// Sessions that say nothing.
    pub unusable: UnusableSessions,
    /// The same by what was compared with itself.
    pub parts: Vec<SeriesPart>,
    /// What the sessions ended with.
    pub verdicts: VerdictCounts,
    /// The estimate of a reliable session that was farthest from 1, as a ratio.
    pub farthest: Option<f64>,
    /// The interval of each session that has one, in their order.
    pub intervals: Vec<RatioEstimate>,
    /// Rounds of all reliable sessions.
    pub rounds: usize,
    /// Whether claims are as rare as they must be.
    pub status: LimitStatus,
}

/// Sessions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesPart {
    /// What was compared with itself.
    pub label: String,
    /// Sessions that claimed a difference, of those that are reliable.
    pub claims: Proportion,
}

/// Sessions that were planned and say nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UnusableSessions {
    /// Those whose control failed, so that they may claim nothing.
    pub unreliable: u32,
    /// Those that came to no verdict: too few rounds, or a cell failed.
    pub lost: u32,
    /// All that were planned, these and the others.
    pub planned: u32,
}

impl UnusableSessions {
    fn of(sessions: &[Option<Session>]) -> Self {
        let mut unusable = Self::default();
        for session in sessions {
            unusable.planned += 1;
            match session {
                None => unusable.lost += 1,
                Some(session) if !session.is_reliable() => unusable.unreliable += 1,
                Some(_) => {}
            }
        }
        unusable
    }

    /// How a figure of the others stands: unknown where too many say nothing, for a tool that
    /// refuses to say anything makes no mistakes.
    fn qualify(self, status: LimitStatus) -> LimitStatus {
        let unusable = f64::from(self.unreliable + self.lost);
        match unusable > MOST_UNUSABLE * f64::from(self.planned) {
            true => LimitStatus::Unknown,
            false => status,
        }
    }
}

/// Sessions with a cell that takes a known share more time than the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferentSeries {
    /// The name of the cell.
    pub label: String,
    /// Its cost over that of the baseline, as both are known.
    pub truth: f64,
    /// Reliable sessions that claimed that it takes more: their interval lies above 1. That is
    /// power.
    pub claimed: Proportion,
    /// Reliable sessions that claimed that it takes less.
    pub reversed: Proportion,
    /// Reliable sessions whose interval holds the truth.
    pub covered: Proportion,
    /// Sessions that say nothing.
    pub unusable: UnusableSessions,
    /// What the sessions ended with.
    pub verdicts: VerdictCounts,
    /// The interval of each session that has one, in their order.
    pub intervals: Vec<RatioEstimate>,
    /// The middle of all reliable estimates, as a ratio.
    pub median: Option<f64>,
    /// Whether no more claims are reversed, and no fewer intervals hold the truth, than there may
    /// be. Power has no limit: it is what the machine's noise leaves of it.
    pub status: LimitStatus,
}

/// How many sessions ended with which verdict.
pub type VerdictCounts = BTreeMap<Verdict, u32>;

/// A session: what it found about one cell.
#[derive(Clone, Copy)]
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

    /// Whether it claims that the two cells differ: by its verdict, or by an interval without 1,
    /// though the whole of it may be equivalent. Known differences are claimed by the same rule.
    fn claims(&self) -> bool {
        let verdict = matches!(
            self.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::SmallDifference
        );
        verdict || self.is_above() || self.is_below()
    }

    fn is_above(&self) -> bool {
        self.estimate.low > 1.0
    }

    fn is_below(&self) -> bool {
        self.estimate.high < 1.0
    }

    fn holds(&self, truth: f64) -> bool {
        (self.estimate.low..=self.estimate.high).contains(&truth)
    }

    /// Whether it may say anything at all.
    fn is_reliable(&self) -> bool {
        self.verdict != Verdict::Unreliable
    }
}

/// Those that may say something.
fn reliable(sessions: &[Option<Session>]) -> impl Iterator<Item = &Session> + Clone {
    let measured = sessions.iter().flatten();
    measured.filter(|session| session.is_reliable())
}

fn counts(sessions: &[Option<Session>]) -> VerdictCounts {
    let mut counts = VerdictCounts::new();
    for session in sessions.iter().flatten() {
        *counts.entry(session.verdict).or_default() += 1;
    }
    counts
}

fn intervals(sessions: &[Option<Session>]) -> Vec<RatioEstimate> {
    let measured = sessions.iter().flatten();
    measured.map(|session| session.estimate).collect()
}

fn claims(sessions: &[Option<Session>]) -> Proportion {
    Proportion::of(reliable(sessions).map(Session::claims))
}

/// The series whose cells are identical.
pub(super) fn identical(run: &Run<'_>) -> IdenticalSeries {
    let mut parts: BTreeMap<String, Vec<Option<Session>>> = BTreeMap::new();
    let mut sessions = Vec::new();
    for outcome in run.series("aa-") {
        let label = baseline(outcome).map_or_else(String::new, |cell| cell.cell.label.clone());
        let part = parts.entry(label).or_default();
        for (_, _, session) in sessions_of(outcome) {
            part.push(session);
            sessions.push(session);
        }
    }
    let logs = reliable(&sessions).map(|session| session.estimate.ratio.ln());
    let farthest = logs.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let unusable = UnusableSessions::of(&sessions);
    let all = claims(&sessions);
    IdenticalSeries {
        claims: all,
        unusable,
        parts: parts
            .into_iter()
            .map(|(label, sessions)| SeriesPart {
                label,
                claims: claims(&sessions),
            })
            .collect(),
        verdicts: counts(&sessions),
        farthest: farthest.map(f64::exp),
        intervals: intervals(&sessions),
        rounds: reliable(&sessions).map(|s| s.estimate.rounds).sum(),
        status: unusable.qualify(all.at_most(FALSE_CLAIMS)),
    }
}

/// The series whose cells differ by a known share, by rising share.
pub(super) fn different(run: &Run<'_>) -> Vec<DifferentSeries> {
    let mut keys: BTreeMap<&str, (f64, Vec<Option<Session>>)> = BTreeMap::new();
    for outcome in run.series("ab-") {
        for (key, truth, session) in sessions_of(outcome) {
            let series = keys.entry(key).or_insert((truth, Vec::new()));
            series.1.push(session);
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

fn series(label: String, truth: f64, sessions: &[Option<Session>]) -> DifferentSeries {
    let heard = reliable(sessions);
    let reversed = Proportion::of(heard.clone().map(Session::is_below));
    let covered = Proportion::of(heard.clone().map(|session| session.holds(truth)));
    let ratios = heard.clone().map(|session| session.estimate.ratio);
    let unusable = UnusableSessions::of(sessions);
    DifferentSeries {
        label,
        truth,
        claimed: Proportion::of(heard.map(Session::is_above)),
        reversed,
        covered,
        unusable,
        verdicts: counts(sessions),
        intervals: intervals(sessions),
        median: crate::estimate::median(ratios.collect()),
        status: unusable.qualify(status(reversed, covered)),
    }
}

/// A few sessions cannot show that something is rare, so their interval does not count here.
fn status(reversed: Proportion, covered: Proportion) -> LimitStatus {
    let status = reversed
        .at_most(FALSE_CLAIMS)
        .max(covered.at_least(COVERAGE));
    match status {
        LimitStatus::Unsure => LimitStatus::Met,
        other => other,
    }
}
