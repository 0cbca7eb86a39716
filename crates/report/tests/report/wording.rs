//! The sentence for each verdict.

use crate::support::{VERBOSE, findings, markdown, terminal, words};
use crate::{fixture, other_work};
use stowplan_analysis::{Analysis, CorrectedRatio, RatioEstimate, Verdict};
use stowplan_model::{Durability, RunOutcome};
use stowplan_report::wording;

#[test]
fn an_unreliable_session_claims_nothing() {
    let findings = findings(&fixture::analysis(), 2);
    assert!(findings.advice.starts_with("Claim nothing"));
    let text = words(&terminal(&fixture::analysis(), &VERBOSE));
    assert!(
        text.contains("differed by 4.2%, and may by up to 5.7%: too much for any claim"),
        "{text}"
    );
    assert!(!findings.advice.contains("use"), "{}", findings.advice);
}

#[test]
fn a_control_with_too_few_rounds_is_no_noisy_machine() {
    let mut analysis = fixture::analysis();
    analysis.comparisons[2].control = None;
    analysis.decide();
    let findings = findings(&analysis, 2);
    assert_eq!(
        findings.advice,
        "Claim nothing from this comparison; its control has too few rounds: go on with it, or run it again."
    );
    let text = markdown(&analysis);
    assert!(text.contains("the control has too few rounds"), "{text}");
    assert!(!text.contains("differed by unknown"), "{text}");
}

#[test]
fn a_failed_cell_is_named_with_its_failure() {
    let failed = findings(&fixture::analysis(), 3).listed;
    let because = "no verdict, because redb failed: redb: the database is locked";
    assert!(
        failed.iter().any(|text| text.contains(because)),
        "{failed:?}"
    );
}

#[test]
fn a_baseline_that_wins_is_kept() {
    let mut analysis = fixture::analysis();
    let baseline = analysis.comparisons[0].cells[0].cell.id.clone();
    analysis.comparisons[0].fastest = Some(baseline);
    analysis.decide();
    let findings = findings(&analysis, 0);
    assert!(
        findings.advice.contains("stay with separate files"),
        "{}",
        findings.advice
    );
}

#[test]
fn every_verdict_without_a_winner_has_advice_that_claims_no_more() {
    let cases = [
        (Verdict::Equivalent, 1.0, "speed is no reason to leave"),
        (Verdict::Slower, 2.0, "speed is no reason to leave"),
        (
            Verdict::SmallDifference,
            1.04,
            "speed is no reason to leave",
        ),
        (
            Verdict::Unresolved,
            1.0,
            "nothing was decided: measure again",
        ),
        (Verdict::NoData, 1.0, "nothing was decided: measure again"),
    ];
    for (verdict, ratio, expected) in cases {
        let advice = advice_where_all_are((verdict, ratio));
        assert!(advice.contains(expected), "{verdict:?}: {advice}");
    }
}

#[test]
fn what_the_most_rounds_did_not_decide_has_a_bound_instead_of_more_rounds() {
    let estimate = RatioEstimate {
        rounds: 40,
        ..fixture::estimate(1.0, 0.24)
    };
    let mut analysis = where_all_are(Verdict::Unresolved, Some(estimate));
    let bounded = |analysis: &mut Analysis| {
        analysis.decide();
        let (advice, page) = (findings(analysis, 0).advice, markdown(analysis));
        let answered = page.contains("no difference above 33% |");
        let advised = advice
            .contains("no difference above 33% was found; smaller ones take a quieter machine");
        assert_eq!(answered, advised, "{advice}\n{page}");
        advised
    };
    assert!(bounded(&mut analysis));
    let fewer = analysis.comparisons[0].contrasts[0].estimate.as_mut();
    fewer.unwrap().rounds = 20;
    assert!(!bounded(&mut analysis), "more rounds may decide it");
}

/// The run, were every ratio of the reads to be this one.
fn where_all_are(verdict: Verdict, estimate: Option<RatioEstimate>) -> Analysis {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    comparison.fastest = None;
    for contrast in &mut comparison.contrasts {
        (contrast.verdict, contrast.estimate) = (verdict, estimate);
    }
    analysis
}

/// The advice were every ratio to be this one, with this verdict and an interval of 6% either way.
fn advice_where_all_are((verdict, ratio): (Verdict, f64)) -> String {
    let mut analysis = where_all_are(verdict, Some(fixture::estimate(ratio, 0.06)));
    analysis.decide();
    findings(&analysis, 0).advice
}

#[test]
fn speed_is_a_reason_that_is_not_ruled_out_while_an_interval_allows_a_gain_that_matters() {
    let advice = advice_where_all_are((Verdict::SmallDifference, 0.96));
    assert!(!advice.contains("no reason"), "{advice}");
    assert!(
        advice.contains("nothing measured so far is a reason to leave separate files"),
        "{advice}"
    );
}

#[test]
fn what_measuring_the_same_thing_twice_showed_is_said_as_a_factor_where_it_doubles() {
    let estimate = fixture::estimate(1.2, 0.9);
    let mut analysis = where_all_are(Verdict::Unresolved, Some(estimate));
    let control = analysis.comparisons[0].control.as_mut().unwrap();
    (control.estimate.low, control.estimate.high) = (0.9, 15.48);
    analysis.decide();
    let text = markdown(&analysis);
    assert!(text.contains(", and may by up to 15.5×"), "{text}");
}

#[test]
fn what_wall_and_corrected_time_do_not_agree_on_is_said_with_both_factors() {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    comparison.sleeps = true;
    let contrast = &mut comparison.contrasts[0];
    contrast.verdict = Verdict::Unresolved;
    contrast.estimate = Some(fixture::estimate(1.3, 0.02));
    contrast.corrected = Some(CorrectedRatio {
        estimate: fixture::estimate(0.8, 0.02),
        agrees: false,
    });
    let other = &mut comparison.contrasts[1];
    other.corrected = Some(CorrectedRatio {
        estimate: other.estimate.unwrap(),
        agrees: true,
    });
    let findings = findings(&analysis, 0);
    let text = &findings.listed[0];
    assert!(
        text.contains("because wall and corrected time do not agree: 1.30 [")
            && text.contains("by wall time, 0.800 [")
            && text.contains("by corrected time"),
        "{text}"
    );
}

#[test]
fn too_few_rounds_are_said_with_how_many_there_are() {
    let mut analysis = where_all_are(Verdict::NoData, None);
    let comparison = &mut analysis.comparisons[0];
    comparison.control = None;
    for cell in &mut comparison.cells {
        cell.rounds = 2;
        cell.series.truncate(2);
    }
    analysis.decide();
    let advice = findings(&analysis, 0).advice;
    let said = "nothing was decided: too few rounds (2 of 10) to compare; go on with it";
    assert!(advice.contains(said), "{advice}");
    let text = markdown(&analysis);
    assert!(text.contains("not decided: 2 of 10 rounds"), "{text}");
    assert!(!text.contains("differed by unknown"), "{text}");
}

#[test]
fn the_ending_is_worded_unless_the_run_is_complete() {
    let mut analysis = fixture::analysis();
    assert_eq!(wording::ending(&analysis), None);
    for outcome in [RunOutcome::Budget, RunOutcome::Interrupted] {
        analysis.end.as_mut().unwrap().outcome = outcome;
        assert!(wording::ending(&analysis).unwrap().contains("3 min 7 s"));
    }
}

/// The advice on overwrites, were the cells to promise this, the baseline's first.
fn advice_where_promised(promises: &[(&str, Durability)]) -> String {
    findings(&other_work::analysis(promises, |_| {}), 1).advice
}

#[test]
fn what_keeps_the_promises_of_the_baseline_is_preferred_to_what_is_faster_still() {
    let durable = Durability::Durable;
    let advice = advice_where_promised(&[("dir", durable), ("wal", durable)]);
    assert!(
        words(&advice).ends_with(
            "; where weaker durability (none) is enough, “SQLite, no journal, synchronous=OFF” (5.61× [5.49, 5.74])."
        ),
        "{advice}"
    );
}

#[test]
fn what_is_preferred_says_why_it_is_not_called_the_fastest() {
    let advice = findings(&fixture::analysis(), 1).advice;
    let expected = "; another one promises something else, or was not shown to be slower";
    assert!(advice.contains(expected), "{advice}");
}

#[test]
fn where_nothing_keeps_the_promises_the_condition_is_said() {
    let advice = advice_where_promised(&[("dir", Durability::Durable)]);
    assert!(
        advice.contains("prefer “SQLite, no journal, synchronous=OFF” to")
            && advice.contains(", provided that its weaker durability (none) is enough"),
        "{advice}"
    );
}

#[test]
fn a_harness_above_its_budget_says_so() {
    for (ratio_ns, latency_ns, expected) in [
        (15.0, 50.0, "50.0 ns in latency blocks."),
        (
            16.0,
            50.0,
            "above the budget of 15 ns in ratio blocks: short",
        ),
        (
            6.0,
            51.0,
            "above the budget of 50 ns in latency blocks: short",
        ),
        (
            16.0,
            51.0,
            "above the budget of 15 ns in ratio blocks and 50 ns in latency blocks: short",
        ),
    ] {
        let mut analysis = fixture::analysis();
        let cost = analysis.harness_cost.as_mut().unwrap();
        (cost.ratio_ns, cost.latency_ns) = (ratio_ns, latency_ns);
        let text = words(&terminal(&analysis, &VERBOSE));
        assert!(text.contains(expected), "{text}");
    }
}
