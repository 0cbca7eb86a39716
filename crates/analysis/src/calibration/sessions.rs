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
use crate::{RatioEstimate, Verdict, estimate::median};

/// What a session found about one cell.
#[derive(Clone)]
struct Session {
    /// What was compared.
    label: String,
    /// The cost of the cell over that of the baseline, as both are known.
    truth: f64,
    /// Whether it claims that two cells differ, and the ratio; nothing of a session that says nothing: its
    /// control failed, it has too few rounds, or a cell failed.
    found: Option<(bool, RatioEstimate)>,
}

/// In how many of the sessions that say something it is so, given whether they claim a difference, the ratio,
/// and what that is known to be.
fn share_of(
    sessions: &[Session],
    name: impl Into<String>,
    is_so: fn(bool, RatioEstimate, f64) -> bool,
) -> Figure {
    let heard = sessions.iter().filter_map(|session| {
        let (claims, ratio) = session.found?;
        Some(is_so(claims, ratio, session.truth))
    });
    let heard: Vec<bool> = heard.collect();
    let (count, of) = (heard.iter().filter(|so| **so).count(), heard.len() as u64);
    let found = share(count as u64, of);
    Figure::new(name, FigureUnit::ShareOfSessions, found).of(Some(of))
}

/// The sessions that say nothing, if any do. Too many of them leave unknown what the others show, for a
/// tool that refuses to say anything makes no mistakes.
fn left_out(sessions: &[Session], name: impl Into<String>) -> Option<Figure> {
    let unusable = sessions.iter().filter(|session| session.found.is_none());
    let (unusable, planned) = (unusable.count() as u64, sessions.len() as u64);
    let found = share(unusable, planned);
    let figure = Figure::new(name, FigureUnit::ShareOfSessions, found).of(Some(planned));
    let mut figure = by_estimate(figure).at_most(MOST_UNUSABLE);
    if figure.status == Some(LimitStatus::Missed) {
        figure.status = Some(LimitStatus::Unknown);
    }
    (unusable > 0).then_some(figure)
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

fn ratios(sessions: &[Session]) -> impl Iterator<Item = f64> {
    let heard = sessions.iter().filter_map(|session| session.found);
    heard.map(|(_, ratio)| ratio.ratio)
}

/// Cells that are identical: all sessions, and by what was compared with itself.
pub(super) fn identical(run: &Run<'_>) -> Group {
    let all = sessions(run, "aa-");
    let claims = |claims, _, _| claims;
    let mut figures = vec![share_of(&all, "false claims", claims).at_most(FALSE_CLAIMS)];
    let parts = by_label(&all).into_iter();
    figures.extend(parts.map(|part| share_of(&part, &part[0].label, claims)));
    figures.extend(left_out(&all, LEFT_OUT));
    let farthest = ratios(&all).max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
    figures.push(off("farthest from 1", farthest));
    Group::of(Subject::Identical, "Identical cells", figures)
}

/// Cells that differ by a known share, by rising share. Power has no limit: it is what the machine's noise
/// leaves of it.
pub(super) fn different(run: &Run<'_>) -> Group {
    let figures = by_label(&sessions(run, "ab-"))
        .into_iter()
        .flat_map(|part| {
            let name = |what: &str| format!("{}, {what}", part[0].label);
            let share = |what, is_so| share_of(&part, name(what), is_so);
            let held = share("truth held", |_, ratio, truth| {
                (ratio.low..=ratio.high).contains(&truth)
            });
            let reversed = share("other way round", |_, ratio, _| ratio.high < 1.0);
            let found = [
                share("claimed", |_, ratio, _| ratio.low > 1.0),
                off(name("found as"), median(ratios(&part).collect())),
                by_estimate(held).at_least(COVERAGE),
                by_estimate(reversed).at_most(FALSE_CLAIMS),
            ];
            found.into_iter().chain(left_out(&part, name(LEFT_OUT)))
        });
    Group::of(Subject::Different, "Known differences", figures.collect())
}

/// The sessions of comparisons that are called like this, by rising truth.
fn sessions(run: &Run<'_>, pattern: &'static str) -> Vec<Session> {
    let sessions = run.series(pattern).flat_map(|outcome| {
        let base = outcome.baseline();
        let base = base.map_or(f64::NAN, |cell| setting(&cell.cell, "base"));
        candidates(outcome).map(move |cell| {
            let found = outcome.to_baseline(cell).and_then(|contrast| {
                let by_verdict = match contrast.verdict {
                    Verdict::Unreliable | Verdict::NoData => return None,
                    Verdict::Equivalent | Verdict::Unresolved => false,
                    Verdict::Faster | Verdict::Slower | Verdict::SmallDifference => true,
                };
                // An interval without 1 claims a difference too, though the whole of it may be equivalent:
                // known differences are claimed by the same rule.
                let ratio = contrast.estimate?;
                Some((by_verdict || ratio.excludes_one(), ratio))
            });
            Session {
                label: cell.cell.label.clone(),
                truth: setting(&cell.cell, "base") / base,
                found,
            }
        })
    });
    let mut sessions: Vec<Session> = sessions.collect();
    sessions.sort_by(|a, b| a.truth.total_cmp(&b.truth));
    sessions
}

/// Sessions of what was compared with the same, at least one of each.
fn by_label(sessions: &[Session]) -> Vec<Vec<Session>> {
    let mut found: Vec<Vec<Session>> = Vec::new();
    for session in sessions {
        let mut parts = found.iter_mut();
        match parts.find(|part| part[0].label == session.label) {
            Some(part) => part.push(session.clone()),
            None => found.push(vec![session.clone()]),
        }
    }
    found
}
