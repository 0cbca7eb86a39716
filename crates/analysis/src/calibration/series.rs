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
use crate::{ComparisonOutcome, RatioEstimate, Verdict, estimate::median};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions of cells whose ratio is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What was compared.
    pub label: String,
    /// The cost of the cell over that of the baseline, as both are known.
    pub truth: f64,
    /// Reliable sessions that claimed a difference. Of identical cells those whose interval excludes 1 are false
    /// claims; of others those whose interval lies above 1, where the truth does, are power.
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
    /// The estimate of a reliable session that was farthest from 1, as a ratio.
    pub farthest: Option<f64>,
    /// Rounds of all reliable sessions.
    pub rounds: usize,
    /// Of identical cells, whether claims are as rare as they must be. Of others, whether no more claims are
    /// reversed, and no fewer intervals hold the truth, than there may be. Power has no limit: it is what the
    /// machine's noise leaves of it.
    pub status: LimitStatus,
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
    /// Whether too many say nothing, for a tool that refuses to say anything makes no mistakes.
    fn are_too_many(self) -> bool {
        let unusable = f64::from(self.unreliable + self.lost);
        unusable > MOST_UNUSABLE * f64::from(self.planned)
    }
}

/// How many sessions ended with which verdict.
pub type VerdictCounts = BTreeMap<Verdict, u32>;

/// What a session found about one cell; nothing where it came to no verdict.
type Session = Option<(Verdict, RatioEstimate)>;

impl Series {
    /// Of sessions whose true ratio is known; those of identical cells err by claiming anything.
    fn of(label: String, truth: f64, are_identical: bool, sessions: &[Session]) -> Self {
        let measured: Vec<(Verdict, RatioEstimate)> = sessions.iter().copied().flatten().collect();
        let mut heard = measured.clone();
        heard.retain(|(verdict, _)| *verdict != Verdict::Unreliable);
        let share = |is_one: &dyn Fn(Verdict, &RatioEstimate) -> bool| {
            Proportion::of(heard.iter().map(|(verdict, found)| is_one(*verdict, found)))
        };
        let claimed = match are_identical {
            true => share(&|verdict, found| claims(verdict) || found.excludes_one()),
            false => share(&|_, found| found.low > 1.0),
        };
        let reversed = share(&|_, found| found.high < 1.0);
        let covered = share(&|_, found| (found.low..=found.high).contains(&truth));
        let mut verdicts = VerdictCounts::new();
        for (verdict, _) in &measured {
            *verdicts.entry(*verdict).or_default() += 1;
        }
        let number = |sessions: usize| u32::try_from(sessions).unwrap_or(u32::MAX);
        let unusable = UnusableSessions {
            unreliable: number(measured.len() - heard.len()),
            lost: number(sessions.len() - measured.len()),
            planned: number(sessions.len()),
        };
        let ratios: Vec<f64> = heard.iter().map(|(_, found)| found.ratio).collect();
        let off = |ratio: &f64| ratio.ln().abs();
        let farthest = ratios.iter().copied();
        let farthest = farthest.max_by(|a, b| off(a).total_cmp(&off(b)));
        Self {
            label,
            truth,
            claimed,
            reversed,
            covered,
            unusable,
            verdicts,
            intervals: measured.iter().map(|(_, found)| *found).collect(),
            median: median(ratios),
            farthest,
            rounds: heard.iter().map(|(_, found)| found.rounds).sum(),
            status: match are_identical {
                _ if unusable.are_too_many() => LimitStatus::Unknown,
                true => claimed.at_most(FALSE_CLAIMS),
                false => of_different(reversed, covered),
            },
        }
    }
}

/// Whether a verdict claims that two cells differ. An interval without 1 does too, though the whole of it
/// may be equivalent: known differences are claimed by the same rule.
fn claims(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Faster | Verdict::Slower | Verdict::SmallDifference
    )
}

/// A few sessions cannot show that something is rare, so their interval does not count here.
fn of_different(reversed: Proportion, covered: Proportion) -> LimitStatus {
    let status = reversed
        .at_most(FALSE_CLAIMS)
        .max(covered.at_least(COVERAGE));
    match status {
        LimitStatus::Unsure => LimitStatus::Met,
        other => other,
    }
}

/// The series whose cells are identical: all of it, and by what was compared with itself.
pub(super) fn identical(run: &Run<'_>) -> (Series, Vec<Series>) {
    let mut parts: BTreeMap<String, Vec<Session>> = BTreeMap::new();
    let mut sessions = Vec::new();
    for outcome in run.series("aa-") {
        let label = baseline(outcome).map_or_else(String::new, |cell| cell.cell.label.clone());
        let found = sessions_of(outcome).map(|(.., session)| session);
        let found: Vec<Session> = found.collect();
        sessions.extend(&found);
        parts.entry(label).or_default().extend(found);
    }
    let parts = parts.into_iter();
    let parts = parts.map(|(label, sessions)| Series::of(label, 1.0, true, &sessions));
    (
        Series::of(String::new(), 1.0, true, &sessions),
        parts.collect(),
    )
}

/// The series whose cells differ by a known share, by rising share.
pub(super) fn different(run: &Run<'_>) -> Vec<Series> {
    let mut keys: BTreeMap<&str, (&str, f64, Vec<Session>)> = BTreeMap::new();
    for outcome in run.series("ab-") {
        for (key, label, truth, session) in sessions_of(outcome) {
            let series = keys.entry(key).or_insert((label, truth, Vec::new()));
            series.2.push(session);
        }
    }
    let found = keys.into_values();
    let found =
        found.map(|(label, truth, sessions)| Series::of(label.to_owned(), truth, false, &sessions));
    let mut found: Vec<Series> = found.collect();
    found.sort_by(|a, b| a.truth.total_cmp(&b.truth));
    found
}

/// What a comparison found about each of its cells, with their names and what is true of them.
fn sessions_of(outcome: &ComparisonOutcome) -> impl Iterator<Item = (&str, &str, f64, Session)> {
    let base = baseline(outcome).map_or(f64::NAN, |cell| setting(&cell.cell, "base"));
    candidates(outcome).map(move |cell| {
        let mut contrasts = outcome.contrasts.iter();
        let contrast = contrasts.find(|contrast| contrast.cell == cell.cell.id);
        let verdict =
            |c: &crate::ContrastOutcome| (c.verdict != Verdict::NoData).then_some(c.verdict);
        let session = contrast.and_then(|contrast| Some((verdict(contrast)?, contrast.estimate?)));
        let truth = setting(&cell.cell, "base") / base;
        (
            cell.cell.key.as_str(),
            cell.cell.label.as_str(),
            truth,
            session,
        )
    })
}
