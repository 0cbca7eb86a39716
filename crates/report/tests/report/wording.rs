//! The sentence for each verdict.

use crate::fixture;
use crate::holds::says;
use crate::other_work;
use crate::support::{VERBOSE, changed, findings, markdown, terminal, words};
use stowplan_analysis::{Analysis, CorrectedRatio, RatioEstimate, Verdict};
use stowplan_model::{Durability, RunOutcome};
use stowplan_report::wording;

#[test]
fn an_unreliable_session_claims_nothing() {
    let advice = findings(&fixture::analysis(), 2).advice;
    assert!(advice.starts_with("Claim nothing"), "{advice}");
    assert!(!advice.contains("use"), "{advice}");
}

#[test]
fn a_control_with_too_few_rounds_is_no_noisy_machine() {
    let analysis = changed(|run| run.comparisons[2].control = None);
    let advice = "Claim nothing from this comparison; its control has too few rounds: go on with it, \
                  or run it again.";
    assert_eq!(findings(&analysis, 2).advice, advice);
    let text = markdown(&analysis);
    says(&text, ["the control has too few rounds"]);
    assert!(!text.contains("differed by unknown"), "{text}");
}

/// What is chosen in the reads, as the table of answers has it.
fn answer(analysis: &Analysis) -> String {
    let text = markdown(analysis);
    let row = text.lines().find(|line| line.starts_with("| Reading"));
    row.unwrap().replace("**", "")
}

/// The run, were every ratio of the reads to be this one.
fn where_all_are(verdict: Verdict, estimate: Option<RatioEstimate>) -> Analysis {
    changed(|run| {
        run.comparisons[0].fastest = None;
        for contrast in &mut run.comparisons[0].contrasts {
            (contrast.verdict, contrast.estimate) = (verdict, estimate);
        }
    })
}

#[test]
fn a_baseline_that_wins_is_kept_and_is_ahead_of_the_next() {
    let analysis = changed(|run| {
        let reads = &mut run.comparisons[0];
        reads.fastest = Some(reads.cells[0].cell.id.clone());
        reads.contrasts[0].verdict = Verdict::Slower;
    });
    says(&findings(&analysis, 0).advice, ["stay with separate files"]);
    says(&answer(&analysis), ["1.01× \\[0.992, 1.04\\]"]);
}

/// What the baseline beats says nothing of a rival that it does not beat.
#[test]
fn a_baseline_that_stays_beside_unresolved_rivals_has_no_factor_and_is_not_called_the_one_to_use() {
    let analysis = changed(|run| {
        let reads = &mut run.comparisons[0];
        reads.fastest = None;
        let contrasts = reads.contrasts.iter_mut();
        let faster = contrasts.filter(|found| found.verdict == Verdict::Faster);
        faster.for_each(|found| found.verdict = Verdict::Unresolved);
    });
    let answer = answer(&analysis);
    says(&answer, ["separate files, so far"]);
    assert!(!answer.contains('×'), "no factor: {answer}");
}

#[test]
fn every_verdict_without_a_winner_has_an_answer_and_advice_that_claim_no_more() {
    use Verdict::{Equivalent, Faster, NoData, Slower, SmallDifference, Unresolved};
    let stay = "speed is no reason to leave";
    let open = "nothing was decided: measure again";
    // An interval that allows a gain that matters does not rule speed out as a reason.
    let so_far = "nothing measured so far is a reason to leave separate files";
    for (verdict, ratio, chosen, advice) in [
        (Faster, 0.5, "| prefer ", "prefer"),
        (Equivalent, 1.0, "| any: equivalent |", stay),
        (Slower, 2.0, "| separate files |", stay),
        (SmallDifference, 1.04, "| separate files", stay),
        (SmallDifference, 0.96, "| separate files", so_far),
        (Unresolved, 1.0, "| not decided |", open),
        (NoData, 1.0, "| not decided |", open),
    ] {
        let analysis = where_all_are(verdict, Some(fixture::estimate(ratio, 0.06)));
        says(&answer(&analysis), [chosen]);
        let said = findings(&analysis, 0).advice;
        says(&said, [advice]);
        assert_eq!(said.contains("no reason"), advice == stay, "{said}");
    }
}

#[test]
fn what_the_most_rounds_did_not_decide_has_a_bound_instead_of_more_rounds() {
    let bounded = |rounds| {
        let mut estimate = fixture::estimate(1.0, 0.24);
        estimate.rounds = 40;
        let mut analysis = where_all_are(Verdict::Unresolved, Some(estimate));
        let first = &mut analysis.comparisons[0].contrasts[0];
        first.estimate.as_mut().unwrap().rounds = rounds;
        let analysis = fixture::decided(analysis);
        let (advice, page) = (findings(&analysis, 0).advice, markdown(&analysis));
        let answered = page.contains("no difference above 33% |");
        let bound = "no difference above 33% was found; smaller ones take a quieter machine";
        assert_eq!(answered, advice.contains(bound), "{advice}\n{page}");
        answered
    };
    assert!(bounded(40));
    assert!(!bounded(20), "more rounds may decide it");
}

#[test]
fn what_measuring_the_same_thing_twice_showed_is_said_as_a_factor_where_it_doubles() {
    let analysis = changed(|run| {
        let control = run.comparisons[0].control.as_mut().unwrap();
        (control.estimate.low, control.estimate.high) = (0.9, 15.48);
    });
    says(&markdown(&analysis), [", and may by up to 15.5×"]);
}

#[test]
fn what_wall_and_corrected_time_do_not_agree_on_is_said_with_both_factors() {
    let analysis = changed(|run| {
        run.comparisons[0].sleeps = true;
        for (contrast, agrees) in run.comparisons[0].contrasts.iter_mut().zip([false, true]) {
            contrast.corrected = Some(CorrectedRatio {
                estimate: fixture::estimate(0.8, 0.02),
                agrees,
            });
            if !agrees {
                contrast.verdict = Verdict::Unresolved;
                contrast.estimate = Some(fixture::estimate(1.3, 0.02));
            }
        }
    });
    let disagree = "because wall and corrected time do not agree: 1.30 [";
    let said = [disagree, "by wall time, 0.800 [", "by corrected time"];
    says(&findings(&analysis, 0).listed[0], said);
}

#[test]
fn too_few_rounds_are_said_with_how_many_there_are() {
    let mut analysis = where_all_are(Verdict::NoData, None);
    analysis.comparisons[0].control = None;
    for cell in &mut analysis.comparisons[0].cells {
        cell.rounds = 2;
        cell.series.truncate(2);
    }
    let analysis = fixture::decided(analysis);
    let said = "nothing was decided: too few rounds (2 of 10) to compare; go on with it";
    says(&findings(&analysis, 0).advice, [said]);
    let text = markdown(&analysis);
    says(&text, ["not decided: 2 of 10 rounds"]);
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

#[test]
fn what_keeps_the_promises_of_the_baseline_comes_first_and_otherwise_the_condition_is_said() {
    let durable = Durability::Durable;
    let off = "“SQLite, no journal, synchronous=OFF”";
    let second = format!("; where weaker durability (none) is enough, {off} (5.61× [5.49, 5.74]).");
    let first = format!("prefer {off} to");
    let provided = ", provided that its weaker durability (none) is enough";
    for (promises, said) in [
        (&[("dir", durable), ("wal", durable)][..], &[&*second][..]),
        (&[("dir", durable)], &[&*first, provided]),
    ] {
        let analysis = other_work::analysis(promises, |_| {});
        let advice = words(&findings(&analysis, 1).advice);
        says(&advice, said.iter().copied());
    }
}

#[test]
fn a_harness_above_its_budget_says_so() {
    for (ratio_ns, latency_ns, above) in [
        (15.0, 50.0, ""),
        (16.0, 50.0, "15 ns in ratio blocks"),
        (6.0, 51.0, "50 ns in latency blocks"),
        (
            16.0,
            51.0,
            "15 ns in ratio blocks and 50 ns in latency blocks",
        ),
    ] {
        let mut analysis = fixture::analysis();
        let cost = analysis.harness_cost.as_mut().unwrap();
        (cost.ratio_ns, cost.latency_ns) = (ratio_ns, latency_ns);
        let said = match above {
            "" => format!("{latency_ns:.1} ns in latency blocks."),
            above => format!("above the budget of {above}: short"),
        };
        says(&terminal(&analysis, &VERBOSE), [&*said]);
    }
}
