//! `stowplan pack`.

use super::PackOptions;
use super::words::{Watcher, kinds, left_out, threads};
use crate::error::{CliError, Exit};
use crate::screen;
use crate::screen::{counted, say_with_time};
use std::path::Path;
use std::time::Instant;
use stowplan_archive::{Loss, Lost, Pack, Packed, directory_of_outside};
use stowplan_model::format_bytes;
use stowplan_report::shell::quoted;

/// Packs a directory into an archive.
pub(crate) fn pack(options: &PackOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let watcher = Watcher::new(options.work.quiet, "entries", &options.archive)?;
    let pack = Pack {
        source: options.directory.clone(),
        archive: options.archive.clone(),
        page_size: options.page_size.and_then(|size| u32::try_from(size).ok()),
        inline_limit: options.inline_limit,
        store: options.no_deflate,
        force: options.force,
        threads: threads(options.work.threads),
    };
    let packed = match watcher.ended(pack.run(&watcher))? {
        Ok(packed) => packed,
        Err(exit) => return Ok(exit),
    };
    say_with_time(
        options.work.quiet,
        &summary(options, &packed),
        began.elapsed(),
    );
    if !options.work.quiet {
        for (loss, lost) in &packed.lost {
            screen::note(&in_words(options, *loss, lost));
        }
        if packed.refused.is_empty() && !lies_within(&options.archive, &options.directory) {
            let text = "every value was read back and compared; to remove what was packed:";
            screen::note_with_command(text, &command_to_remove(&options.directory));
        }
    }
    Ok(left_out("not packed", &packed.refused))
}

fn command_to_remove(directory: &Path) -> String {
    let directory = quoted(&directory.to_string_lossy());
    match directory.starts_with('-') {
        true => format!("rm -r ./{directory}"),
        false => format!("rm -r {directory}"),
    }
}

/// Whether removing the directory would remove the archive.
fn lies_within(archive: &Path, directory: &Path) -> bool {
    let [archive, directory] = [archive, directory].map(Path::canonicalize);
    !archive.is_ok_and(|archive| directory.is_ok_and(|directory| !archive.starts_with(directory)))
}

fn summary(options: &PackOptions, packed: &Packed) -> String {
    let what = kinds(packed.files, packed.directories, packed.links);
    let mut text = format!(
        "{}: {what}, {} in {}",
        options.archive.display(),
        format_bytes(packed.bytes),
        format_bytes(packed.archive_bytes)
    );
    if packed.outside > 0 {
        let beside = directory_of_outside(&options.archive);
        text = format!(
            "{text} and {} in {}",
            counted(packed.outside, "file", "files"),
            beside.display()
        );
    }
    text
}

/// What an archive cannot say of some entries.
fn in_words(options: &PackOptions, loss: Loss, lost: &Lost) -> String {
    let what = match loss {
        Loss::HardLinks => {
            "had other names as well (hard links): each name is a file of its own now"
        }
        Loss::Holes => "had holes, which are zeros now",
        Loss::Owner => {
            "had another owner or group than you: what is unpacked belongs to whoever unpacks it"
        }
        Loss::Attributes => "had extended attributes or access lists, which are not in the archive",
    };
    let noun = match loss {
        Loss::HardLinks | Loss::Holes => ("file", "files"),
        Loss::Owner | Loss::Attributes => ("entry", "entries"),
    };
    let entries = counted(lost.count, noun.0, noun.1);
    let example = match lost.example.as_str() {
        "" => String::new(),
        example => format!(", such as {},", quoted(example)),
    };
    format!(
        "{entries} of {}{example} {what}",
        options.directory.display()
    )
}
