//! What turns the order of two cells: which factors, with the figures of every set that was tried.

use crate::advice::{ends, times_as_fast};
use crate::columns::Columns;
use crate::document::{Block, Cell, Detail, Table, bullets, chapter, paragraph, remark, strong};
use crate::wording::{list, quoted};
use crate::{format, quantity, wording};
use stowplan_analysis::{Analysis, RatioEstimate, TryOutcome, TurnAnswer, TurnOutcome};
use stowplan_model::{FactorSpec, PublishedOrder};

/// Every pair whose order was to be turned; nothing where none was.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let turning = analysis.run.plan.turning.as_ref()?;
    let mut blocks: Vec<Block> = analysis
        .turns
        .iter()
        .flat_map(|turn| blocks(analysis, turn))
        .collect();
    if blocks.is_empty() {
        let text = match (&turning.asked, turning.turns.is_empty()) {
            (_, false) => "Nothing that was tried has a figure.".to_owned(),
            (Some(asked), true) => format!(
                "Nothing of {asked} is shown to be in another order than was published, so there is \
                 nothing to turn; name a cell (COMPARISON/CELL) to turn it all the same."
            ),
            (None, true) => "Nothing is shown to be in another order than was published, so there is \
                             nothing to turn; name a cell (--turn COMPARISON/CELL) to turn it all the \
                             same."
                .to_owned(),
        };
        blocks.push(paragraph(text));
    }
    for block in &mut blocks {
        block.detail = block.detail.min(Detail::Normal);
    }
    let section = chapter("turns", "What turns the order here", blocks);
    section.map(|block| block.at(Detail::Brief))
}

fn blocks(analysis: &Analysis, turn: &TurnOutcome) -> Vec<Block> {
    let mut blocks = vec![
        paragraph(strong(headline(turn))).at(Detail::Brief),
        paragraph(before(turn)),
    ];
    blocks.extend(bullets(meanings(analysis, turn)));
    blocks.push(table(turn).into());
    blocks.extend(remarks(turn).map(remark));
    blocks
}

/// What turns it, in a sentence.
fn headline(turn: &TurnOutcome) -> String {
    let (cell, reference) = (quoted(&turn.cell), quoted(&turn.reference));
    match &turn.answer {
        TurnAnswer::Open => {
            format!("{cell} against {reference}: no verdict, so there is nothing to turn.")
        }
        TurnAnswer::Agrees => {
            format!("{cell} against {reference}: the order is the published one here, too.")
        }
        TurnAnswer::Turned { sets, .. } => {
            let sets: Vec<String> = sets.iter().map(|set| with_factors(turn, set)).collect();
            format!(
                "{cell} against {reference}: what turns the order is {}.",
                sets.join(", or ")
            )
        }
        TurnAnswer::NotTurned {
            tried,
            largest,
            undecided,
        } => {
            let known = turn.turn.factors.len();
            match tried {
                0 => format!(
                    "{cell} against {reference}: the study knows no factor that changes either."
                ),
                _ => format!(
                    "{cell} against {reference}: none of the {known} known factors is shown to turn the order, \
                     by itself{}{}.",
                    with_others(*largest),
                    undecided_of(*undecided, *tried)
                ),
            }
        }
    }
}

/// ` or with up to 2 others`
fn with_others(largest: usize) -> String {
    match largest {
        0 | 1 => String::new(),
        _ => format!(" or with up to {}", format::counted(largest - 1, "other")),
    }
}

/// `; of 2 of 7 sets nothing is decided`
fn undecided_of(undecided: usize, tried: usize) -> String {
    match undecided {
        0 => String::new(),
        _ => format!(
            "; of {undecided} of {} nothing is decided",
            format::counted(tried, "set")
        ),
    }
}

/// `truncation: then 2.99 times as long (2.80 to 3.20)`
fn with_factors(turn: &TurnOutcome, set: &[String]) -> String {
    let mut tries = turn.tries.iter();
    let tried = tries.find(|tried| tried.factors == set);
    let figure = tried.and_then(|tried| tried.contrast.estimate);
    let figure = figure.map_or_else(String::new, |figure| format!(" (then {})", factor(&figure)));
    format!("{}{figure}", list(set))
}

/// `2.10 times as fast (2.06 to 2.15)` or `1.25 times as long (…)`.
fn factor(ratio: &RatioEstimate) -> String {
    match ratio.ratio < 1.0 {
        true => format!("{} {}", times_as_fast(ratio), ends(&ratio.inverse())),
        false => format!(
            "{} times as long {}",
            format::ratio(ratio.ratio),
            ends(ratio)
        ),
    }
}

/// What was published, and what is measured without any factor.
fn before(turn: &TurnOutcome) -> String {
    let published = turn
        .turn
        .published
        .as_ref()
        .map_or_else(String::new, published);
    let mut tries = turn.tries.iter();
    let plain = tries.find(|tried| tried.factors.is_empty());
    let here = plain.and_then(|plain| Some((plain, plain.contrast.estimate?)));
    let here = here.map_or_else(
        || "Here there is no figure.".to_owned(),
        |(plain, ratio)| {
            let [cell, reference] = plain
                .times_ns
                .map(|time| format::time(time.unwrap_or(f64::NAN)));
            format!(
                "Here, with nothing switched, it is {}: {cell} against {reference}.",
                factor(&ratio)
            )
        },
    );
    format!("{published}{here}")
}

fn published(published: &PublishedOrder) -> String {
    let [least, most] = [published.least, published.most].map(format::ratio);
    let label = published.label.as_ref();
    let label = label.map_or_else(String::new, |label| format!(" ({label})"));
    let ratio = match least == most {
        true => least,
        false => format!("{least} to {most}"),
    };
    format!("Published: {ratio} times the time{label}. ")
}

/// What each factor means that is among the answer.
fn meanings(analysis: &Analysis, turn: &TurnOutcome) -> Vec<String> {
    let TurnAnswer::Turned { sets, .. } = &turn.answer else {
        return Vec::new();
    };
    let factors = analysis.run.plan.study.factors.iter();
    let named = factors.filter(|factor| sets.iter().flatten().any(|id| *id == factor.id));
    named
        .map(|FactorSpec { id, title, .. }| format!("{id}: {title}"))
        .collect()
}

fn table(turn: &TurnOutcome) -> Table {
    let make = Columns::<&TryOutcome>::new();
    let switched = |tried: &&TryOutcome| match &tried.factors[..] {
        [] => "nothing".to_owned(),
        factors => factors.join(" + "),
    };
    let interval = |tried: &&TryOutcome| {
        let interval = |e: RatioEstimate| Cell::number(e.low, format::interval(e.low, e.high));
        tried.contrast.estimate.map_or_else(Cell::default, interval)
    };
    let verdict = |tried: &&TryOutcome| match (tried.turned, tried.contrast.verdict) {
        (true, _) => "turns it".to_owned(),
        (false, verdict) if Some(verdict) == turn.wanted && !tried.factors.is_empty() => {
            "too close to claim".to_owned()
        }
        (false, verdict) => wording::verdict(verdict).to_owned(),
    };
    let promises = |tried: &&TryOutcome| {
        let class = |claim| quantity::short_class(&claim);
        let classes = tried
            .promises
            .map(|promises| promises.map(class).join(" / "));
        classes.unwrap_or_default()
    };
    let mut columns = vec![
        make.text("switched", switched)
            .help("which factors are switched in both cells")
            .weighing(10),
        make.time("cell", |tried| tried.times_ns[0])
            .help(format!("time of one operation of {}", turn.cell))
            .weighing(8),
        make.time("other", |tried| tried.times_ns[1])
            .help(format!("time of one operation of {}", turn.reference))
            .weighing(8),
        make.formatted(format::ratio, "ratio", |tried| {
            Some(tried.contrast.estimate?.ratio)
        })
        .help(format!(
            "time of {} over that of {}",
            turn.cell, turn.reference
        ))
        .weighing(9),
        make.number("interval", interval)
            .help("interval of the ratio, widened by the noise floor")
            .weighing(7),
        make.count("rounds", |tried| {
            Some(tried.contrast.estimate?.rounds as u64)
        })
        .help("rounds that the ratio rests on")
        .weighing(3),
        make.text("verdict", verdict).weighing(9),
    ];
    if turn.tries.iter().any(|tried| tried.promises.is_some()) {
        let promises = make.text("promises now", promises);
        columns.push(
            promises
                .help("what both promise with these factors, where that is something else")
                .weighing(6),
        );
    }
    let tries: Vec<&TryOutcome> = turn.tries.iter().collect();
    Table::of(
        format!("{} against {}", turn.cell, turn.reference),
        columns,
        &tries,
    )
}

/// What qualifies the answer.
fn remarks(turn: &TurnOutcome) -> impl Iterator<Item = String> {
    let open = match turn.answer {
        TurnAnswer::Turned { undecided, .. } if undecided > 0 => {
            let sets = format::counted(undecided, "other set");
            Some(format!(
                "Of {sets} nothing is decided: more rounds or a quieter machine would say more."
            ))
        }
        TurnAnswer::NotTurned { undecided, .. } if undecided > 0 => {
            Some("More rounds or a quieter machine would say more.".to_owned())
        }
        _ => None,
    };
    let unlike = turn
        .tries
        .iter()
        .filter(|t| t.turned && !t.contrast.same_durability);
    let unlike = (unlike.count() > 0).then(|| {
        "Both do not promise the same for what they write where the order is turned.".to_owned()
    });
    let left_out = turn.turn.left_out.iter();
    let left_out: Vec<String> = left_out.map(|(id, why)| format!("{id}: {why}")).collect();
    let left_out =
        (!left_out.is_empty()).then(|| format!("Not switched: {}.", left_out.join("; ")));
    open.into_iter().chain(unlike).chain(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_told_in_the_direction_in_which_it_is_above_one() {
        let ratio = RatioEstimate {
            ratio: 0.5,
            raw_low: 0.4,
            raw_high: 0.8,
            low: 0.4,
            high: 0.8,
            rounds: 10,
        };
        assert!(
            factor(&ratio).starts_with("2.00 times as fast (1.25"),
            "{}",
            factor(&ratio)
        );
        assert!(factor(&ratio.inverse()).starts_with("2.00 times as long"));
    }

    #[test]
    fn that_no_factor_turns_an_order_is_no_claim_and_what_is_open_is_counted() {
        let answer = |undecided| TurnOutcome {
            turn: stowplan_model::Turn {
                id: "turn-1".to_owned(),
                comparison: "read".to_owned(),
                cell: "a".to_owned(),
                reference: "b".to_owned(),
                published: None,
                factors: vec!["x".to_owned(), "y".to_owned()],
                left_out: std::collections::BTreeMap::new(),
            },
            cell: "a".to_owned(),
            reference: "b".to_owned(),
            wanted: None,
            tries: Vec::new(),
            answer: TurnAnswer::NotTurned {
                tried: 3,
                undecided,
                largest: 2,
            },
        };
        assert_eq!(
            headline(&answer(2)),
            "a against b: none of the 2 known factors is shown to turn the order, by itself or with up to \
             1 other; of 2 of 3 sets nothing is decided."
        );
        assert!(headline(&answer(0)).ends_with("up to 1 other."));
        assert_eq!(remarks(&answer(2)).count(), 1);
        assert_eq!(remarks(&answer(0)).count(), 0);
    }
}
