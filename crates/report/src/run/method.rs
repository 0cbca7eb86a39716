//! How it was measured, in notes.

use crate::document::{Block, Fold, Section, facts};
use crate::{value, wording};
use stowplan_analysis::{Analysis, Claims, ERROR_OF_A_RATIO};

/// One note: a heading and a paragraph.
type Note = (&'static str, String);

const SUMMARY: &str = "Rounds, time, ratios, intervals, verdicts and the words of this report, with \
                       formulas";

const ROUNDS: &str = "Every cell runs once per round, in fresh random order, in a process of its own; \
                      the baseline runs twice. Ratios are taken within a round, so that slow changes \
                      of the machine cancel. A block lasts about 25 ms after an untimed lead-in; ratio \
                      blocks read the clock only at their ends, latency blocks once per operation.";

const TIME: &str = "Corrected time C = W − D: wall time W minus the time D that the thread was ready \
                    but waited for a CPU. If other threads of the worker used 1% of the wall time or \
                    more, or D is unknown, wall time is used instead, and the comparison says so; so it \
                    is where blocks sleep for more than 5% of the time or sync, and there a claim has to \
                    hold by corrected time too. Warm \
                    blocks that read from storage are repeated; nothing is discarded for its time.";

const FLUSH: &str = "What a write leaves to be done when its block ends is timed apart: the final \
                     flush is checkpoint, close and syncfs. A time that includes it is that of the \
                     operation and its share of this together.";

const RATIO: &str = "In round r, d(r) = ln(time of the cell / time of the reference). The estimate is \
                     exp(θ), with θ the Hodges–Lehmann estimate: the median of (d(i) + d(j)) / 2 over \
                     all i ≤ j. Below 1 the cell is faster.";

const INTERVAL: &str = "Student's t around the estimate. The variance of a round is that of the ratio's own \
                        rounds, those far off drawn in, moderated by those of the other ratios of the comparison. \
                        It is multiplied by what the control shows against its own rounds, at least 1, and \
                        what builds of either store differ by is added. Looks at 10, 20 and 40 \
                        rounds, as far as the plan goes, share an error of 4%, little of it early; 1% is \
                        kept for rounds that are added to a plan.";

const CONTROL: &str = "The second copy of the baseline must show a ratio of 1. If its interval, \
                       widened by the base floor only, excludes 1, the session is unreliable and \
                       nothing is claimed.";

const FLOOR: &str = "The cheapest conceivable way to do the same work, such as reading from a flat \
                     file that is already open with the offsets in memory. No store can be expected \
                     below it.";

const DURABILITY: &str = "none (D0): killing the process can damage committed data. process-crash \
                          (D1): acknowledged writes survive kill -9; power loss may corrupt. \
                          consistent (D2): power loss leaves a consistent state; recent writes may \
                          vanish. durable (D3): acknowledged means it survives power loss. atomic: a \
                          crash leaves the old value or the new one. Ratios across classes compare \
                          different promises.";

const LATENCY: &str = "Percentiles are of single operations over all latency blocks, which are spread \
                       over the rounds, in wall time, \
                       with the clock's own cost in them. Waiting for a CPU shows in the highest \
                       percentiles. Where a transaction holds more than one operation, its commit is \
                       in none of them. None is shown beyond which fewer than ten operations lie. \
                       Intervals draw whole blocks again (95%).";

const BY_SIZE: &str = "A side wins at a size if the verdict there is faster or slower. A range of \
                       sizes is claimed for it only if it wins at every size measured in the range; \
                       what lies between two such ranges or beyond one stays open. A size whose \
                       session is unreliable or has no figure is won by nobody. Many sizes are many \
                       chances to err; that every one of a range must be won is the correction for \
                       it. The line between the points of a drawing, and where it crosses 1, are \
                       claims of nothing.";

const DRIVERS: &str = "What a driver does around each operation is part of every time of its cells, also \
                       of those that the program hosts itself. It is measured by a store of the driver \
                       that does nothing, with reads by one thread in one transaction; of other \
                       operations, several transactions and several threads it is a least cost. Its \
                       share is of corrected time where that of the cell is known, else of wall time, \
                       and is not told of several threads, which loop side by side. It is subtracted \
                       from nothing: a loop that hands out values need not cost what one costs that \
                       does nothing. Where a difference was shown between cells of two drivers, it is \
                       said what part of the difference of their headline times the difference of both \
                       costs is, if all are of one metric. A warning tells of costs that are a larger share of a cell’s time than \
                       the equivalence zone.";

const LADDER: &str = "Each rung is a cell that does one step more than the one below, in the same \
                      rounds. A step costs the Hodges–Lehmann estimate of the differences per round, \
                      in nanoseconds per operation, with the exact interval of their signed ranks; it \
                      is widened by exp(φ) − 1 of the larger of both times, because φ bounds the error \
                      of a ratio. Base and steps add up in each round, but their estimates need not: \
                      what is left of the whole is the remainder. What primitives take alone is measured \
                      in the same rounds; steps warm caches for each other, so both figures stand side \
                      by side. A claim holds if the difference of its differences is above 0.";

const SLOW: &str = "A comparison about a percentile of its operations, or the slowest, takes one figure of each \
                    block, in wall time, and ratios of rounds as any other: their median with the \
                    interval of the sign test, which asks nothing of the distribution. All its blocks \
                    hold equally many operations. It speaks of the block in the median round: not of \
                    the slowest operation that can occur, nor of a stall in one block of many.";

const NEIGHBOURS: &str = "What is busy beside a block is so from before its lead-in to its last operation. \
                          Waiting for a CPU is the larger part of what that costs, so such a comparison \
                          is of wall time. Nothing is recommended between cells that differ in their \
                          neighbours.";

const COLOURS: &str = "Okabe and Ito’s palette (Color Universal Design, 2008), which readers without \
                       full colour vision can tell apart; shapes, dashes, signs and words say the \
                       same without any colour.";

/// What was done and computed, with the formulas.
pub(crate) fn section(analysis: &Analysis) -> Block {
    let colours = facts([("Colours", COLOURS)]);
    let fold = Fold::new(SUMMARY, vec![facts(notes(analysis)), colours]);
    let section = Section::new("Method", vec![fold.into()]);
    let section = section.named("method").in_contents("Method");
    section.into()
}

fn notes(analysis: &Analysis) -> Vec<Note> {
    let mut notes = vec![
        ("Rounds", ROUNDS.to_owned()),
        ("Time", TIME.to_owned()),
        ("Final flush", FLUSH.to_owned()),
        ("Ratio", RATIO.to_owned()),
        ("Interval", INTERVAL.to_owned()),
        ("Verdict", verdict(analysis)),
        ("False claims", false_claims(analysis)),
        ("Control", CONTROL.to_owned()),
        ("Floor", FLOOR.to_owned()),
        ("Durability", DURABILITY.to_owned()),
        ("Latency", LATENCY.to_owned()),
    ];
    let cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
    let mut drivers = cells.map(|cell| cell.cell.driver.as_str());
    if drivers.any(|driver| !driver.is_empty()) {
        notes.push(("Driver cost", DRIVERS.to_owned()));
    }
    if analysis.comparisons.iter().any(|c| !c.measure.is_time()) {
        notes.push(("Slow operations", SLOW.to_owned()));
    }
    let mut cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
    if cells.any(|cell| cell.cell.workload.beside.is_some()) {
        notes.push(("Neighbours", NEIGHBOURS.to_owned()));
    }
    if !analysis.ladders.is_empty() {
        notes.push(("Ladder", LADDER.to_owned()));
    }
    if !(analysis.matrices.is_empty() && analysis.sweeps.is_empty()) {
        notes.push(("Order by size", BY_SIZE.to_owned()));
    }
    notes
}

/// How many ratios were judged, and how many claims may be false.
fn false_claims(analysis: &Analysis) -> String {
    let claims = Claims::of(analysis);
    let ratios = value::counted(claims.ratios, "ratio");
    format!(
        "Of {ratios} between stores, {} are claimed to differ and {} to be equivalent. Each errs in at \
         most {} of sessions, and no correction is made across them: if no store differed from \
         another, up to {} false claims of a difference were to be expected of so many. That noise \
         widens intervals keeps it far below in simulations of independent rounds (docs/method.md, \
         “How often it errs”).",
        value::count(claims.differences as u64),
        value::count(claims.equivalent as u64),
        value::percent(ERROR_OF_A_RATIO),
        value::ratio(claims.false_at_most),
    )
}

fn verdict(analysis: &Analysis) -> String {
    let zone = wording::zone(analysis);
    let factor = value::ratio(1.0 + analysis.run.equivalence);
    format!(
        "The equivalence zone reaches from 1/{factor} to {factor}. Faster or slower: the whole \
         interval lies outside it. Equivalent within {zone}: the whole interval lies inside. Small \
         difference: the interval excludes 1 but overlaps the zone. Otherwise unresolved. A cell is \
         fastest only if it beats each rival in a ratio of its own; rivals do the same work \
         and promise the same for what they write."
    )
}
