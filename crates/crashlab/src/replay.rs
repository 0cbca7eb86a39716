//! A state that was found, written again for whoever wants to look into it.

use crate::log::Log;
use crate::run_error;
use crate::states::{Cut, States, Syncs};
use std::fs;
use std::path::Path;
use stowplan_harness::HarnessError;
use stowplan_model::{CrashFinding, CrashModel};

/// Writes two states into a directory that exists and is empty: `state`, as it was found, and `shrunk`,
/// with the fewest losses that do the same; and `lost`, what is missing in the second, line by line.
///
/// # Errors
/// The file system refuses.
pub fn replay(
    log: &Log,
    model: CrashModel,
    finding: &CrashFinding,
    directory: &Path,
) -> Result<(), HarnessError> {
    let states = States::new(log, model, Syncs::Recorded);
    write(
        &states,
        &states.draw(finding.seed),
        &directory.join("state"),
    )?;
    let shrunk = &finding.shrunk;
    if shrunk.cut == 0 {
        return Ok(());
    }
    let number = |wide: u64| {
        usize::try_from(wide).map_err(|_| run_error("the finding is not one of this log"))
    };
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
        let piece = match *piece {
            u32::MAX => "its length".to_owned(),
            piece => format!("piece {piece}"),
        };
        format!(
            "operation {operation}, {piece}: {}\n",
            states.describe(*operation)
        )
    });
    let lost = directory.join("lost");
    fs::write(&lost, lines.collect::<String>()).map_err(HarnessError::io("write", &lost))
}

fn write(states: &States<'_>, cut: &Cut, directory: &Path) -> Result<(), HarnessError> {
    fs::create_dir(directory).map_err(HarnessError::io("create directory", directory))?;
    let tree = states.tree(cut);
    tree.write_to(directory)
        .map_err(HarnessError::io("write a state to", directory))
}
