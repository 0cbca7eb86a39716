//! The machine, the file system, the program and its engines.

use crate::document::{Block, Section, Text, bullets, facts, folded, plain, remark};
use crate::{facts as known, value};
use stowplan_analysis::Analysis;
use stowplan_analysis::calibration::{LATENCY_BUDGET_NS, RATIO_BUDGET_NS};
use stowplan_model::{HarnessCost, format_bytes};

const SUMMARY: &str = "The machine, the file system, the program and its engines";

/// Where and with what it was measured, and what was built for it.
pub(crate) fn section(analysis: &Analysis) -> Block {
    let mut list = known::environment(analysis);
    list.extend(analysis.harness_cost.map(|cost| {
        let text = format!(
            "measured with a store that does nothing, {} blocks of {} operations each",
            cost.blocks,
            value::count(cost.operations)
        );
        ("harness cost".to_owned(), text)
    }));
    let mut blocks = vec![folded(SUMMARY, facts(list))];
    blocks.extend(preparation(analysis));
    let section = Section::new("Environment", blocks);
    let section = section.named("environment").in_contents("Environment");
    section.into()
}

/// Where a run comes from: machine, system, file system, scale, time, and what it was published as.
pub(crate) fn byline(analysis: &Analysis) -> Vec<Text> {
    let run = &analysis.run;
    let machine = &run.environment;
    let cpu = machine.cpu.as_ref().unwrap_or(&machine.architecture);
    let parts = [
        machine.host.clone(),
        format!("{cpu}, {} CPUs", machine.cpus),
        machine.os.clone(),
        machine.file_system.kind.clone(),
        format!("scale {}", run.plan.scale),
        run.started.clone(),
    ];
    let mut byline: Vec<Text> = parts.into_iter().map(plain).collect();
    byline.extend(published(run.plan.study.source.as_deref()));
    byline.retain(|text| !text.is_empty());
    byline
}

/// Only an address that is visibly one becomes a link: study files are written by anyone.
pub(crate) fn published(source: Option<&str>) -> Option<Text> {
    let source = source.filter(|source| source.starts_with("https://"))?;
    Some(plain("the published study").linked(source))
}

fn preparation(analysis: &Analysis) -> Option<Block> {
    let items = analysis.preparation.iter().map(|record| {
        format!(
            "{}: {} values, {}, in {}",
            record.what,
            value::count(record.values),
            format_bytes(record.bytes),
            value::seconds(record.seconds)
        )
    });
    let title = "What was prepared, and how long it took";
    Some(folded(title, bullets(items)?))
}

/// What the harness itself costs, and whether that is too much for short operations.
pub(crate) fn harness_cost(analysis: &Analysis) -> Option<Block> {
    let cost = analysis.harness_cost?;
    let above = above_budget(&cost);
    let text = format!("Harness cost per operation: {}{above}.", in_blocks(&cost));
    Some(remark(text))
}

/// What the loops of drivers with a name cost.
pub(crate) fn driver_costs(analysis: &Analysis) -> impl Iterator<Item = Block> {
    let costs = analysis.driver_costs.iter().map(|found| {
        format!(
            "Driver {} ({}) costs per operation: {}.",
            found.driver,
            found.tool,
            in_blocks(&found.cost)
        )
    });
    costs.map(remark)
}

/// `6.20 ns in ratio blocks, 31.4 ns in latency blocks`
fn in_blocks(cost: &HarnessCost) -> String {
    format!(
        "{} in ratio blocks, {} in latency blocks",
        value::time(cost.ratio_ns),
        value::time(cost.latency_ns)
    )
}

/// `, above the budget of 15 ns in ratio blocks: short operations are overstated`; empty within the budget.
fn above_budget(cost: &HarnessCost) -> String {
    let budgets = [
        (cost.ratio_ns, RATIO_BUDGET_NS, "ratio"),
        (cost.latency_ns, LATENCY_BUDGET_NS, "latency"),
    ];
    let above = budgets
        .into_iter()
        .filter(|(cost, budget, _)| cost > budget);
    let above = above.map(|(_, budget, blocks)| format!("{budget} ns in {blocks} blocks"));
    let above: Vec<String> = above.collect();
    match above.is_empty() {
        true => String::new(),
        false => format!(
            ", above the budget of {}: short operations are overstated",
            above.join(" and ")
        ),
    }
}
