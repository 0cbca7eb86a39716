//! A state that was found, written again for whoever wants to look into it.

use crate::log::Log;
use crate::run_error;
use crate::states::{Cut, States, Syncs};
use std::fs;
use std::path::Path;
use stowplan_harness::HarnessError;
use stowplan_model::{CrashFinding, CrashModel};

/// What a replayed state was judged by.
#[derive(Debug)]
pub struct Replayed {
    /// The last commit that was acknowledged before the cut.
    pub acked: u64,
    /// The last commit that was acknowledged before the state with the fewest losses, if there is one.
    pub acked_of_shrunk: Option<u64>,
}

/// Writes two states into a directory that exists and is empty: `state`, as it was found, and `shrunk`,
/// with the fewest losses that do the same; with `operations`, what the program did until then and what of it
/// the first one lacks, and `lost`, what the second one does, line by line.
///
/// # Errors
/// The finding is none of this log, or the file system refuses.
pub fn replay(
    log: &Log,
    model: CrashModel,
    finding: &CrashFinding,
    directory: &Path,
) -> Result<Replayed, HarnessError> {
    let states = States::new(log, model, Syncs::Recorded);
    let none = || run_error("the finding is not one of this log");
    let cut = states.cut_of(finding).ok_or_else(none)?;
    write(&states, &cut, &directory.join("state"))?;
    text(&directory.join("operations"), states.listed(&cut))?;
    let mut replayed = Replayed {
        acked: states.acked(cut.at),
        acked_of_shrunk: None,
    };
    let shrunk = &finding.shrunk;
    if shrunk.cut == 0 {
        return Ok(replayed);
    }
    let number = |wide: u64| usize::try_from(wide).map_err(|_| none());
    let mut cut = Cut {
        at: number(shrunk.cut)?,
        lost: std::collections::BTreeSet::new(),
    };
    for (operation, piece) in &shrunk.lost {
        let piece = u32::try_from(*piece).unwrap_or(u32::MAX);
        cut.lost.insert((number(*operation)?, piece));
    }
    write(&states, &cut, &directory.join("shrunk"))?;
    let lines = cut.lost.iter().map(|(operation, piece)| {
        let lost = states.describe_lost(*operation, &[*piece]);
        format!("operation {}: {lost}\n", operation + 1)
    });
    text(&directory.join("lost"), lines.collect())?;
    replayed.acked_of_shrunk = Some(states.acked(cut.at));
    Ok(replayed)
}

fn text(path: &Path, text: String) -> Result<(), HarnessError> {
    fs::write(path, text).map_err(HarnessError::io("write", path))
}

fn write(states: &States<'_>, cut: &Cut, directory: &Path) -> Result<(), HarnessError> {
    fs::create_dir(directory).map_err(HarnessError::io("create directory", directory))?;
    let tree = states.tree(cut);
    tree.write_to(directory)
        .map_err(HarnessError::io("write a state to", directory))
}
