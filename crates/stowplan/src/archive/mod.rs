//! The user's own files in one SQLite Archive: `pack`, `unpack`, `ls`, `cat`, `verify`, `add`, `rm` and
//! `mount`.

mod ls;
mod mount;
mod options;

pub(crate) use ls::ls;
pub(crate) use mount::mount;
pub(crate) use options::{
    AddOptions, CatOptions, LsOptions, MountOptions, PackOptions, RmOptions, UnpackOptions,
    VerifyOptions,
};

use crate::error::{CliError, Exit};
use crate::progress::Watcher;
use crate::screen::{self, counted, note, say_with_time, warn};
use std::io::{ErrorKind, Write, stdout};
use std::path::Path;
use std::time::Instant;
use stowplan_archive::{
    Add, Kind, Loss, Lost, Pack, Packed, Reader, Refusals, Remove, Unpack, directory_of_outside,
    find,
};
use stowplan_model::format_bytes;
use stowplan_report::shell::quoted;

/// Packs a directory into an archive.
pub(crate) fn pack(options: &PackOptions) -> Result<Exit, CliError> {
    let (began, quiet) = (Instant::now(), options.quiet);
    let (source, archive) = (&options.directory, &options.archive);
    let pack = Pack {
        source: source.clone(),
        archive: archive.clone(),
        page_size: options.page_size.and_then(|size| u32::try_from(size).ok()),
        inline_limit: options.inline_limit,
        store: options.no_deflate,
        force: options.force,
    };
    let packed = pack.run(&Watcher::new(quiet, "entries", archive)?)?;
    say_with_time(quiet, &summary(archive, &packed), began.elapsed());
    if !quiet {
        for (loss, lost) in &packed.lost {
            note(&in_words(source, *loss, lost));
        }
        if packed.refused.is_empty() && !lies_within(archive, source) {
            let text = "every value was read back and compared; to remove what was packed:";
            screen::note_with_command(text, &command_to_remove(source));
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

fn summary(archive: &Path, packed: &Packed) -> String {
    let text = format!(
        "{}: {}, {} in {}",
        archive.display(),
        kinds(packed.files, packed.directories, packed.links),
        format_bytes(packed.bytes),
        format_bytes(packed.archive_bytes)
    );
    if packed.outside == 0 {
        return text;
    }
    let (files, beside) = (
        counted(packed.outside, "file", "files"),
        directory_of_outside(archive),
    );
    format!("{text} and {files} in {}", beside.display())
}

/// What an archive cannot say of some entries.
fn in_words(directory: &Path, loss: Loss, lost: &Lost) -> String {
    let (one, many, what) = match loss {
        Loss::HardLinks => (
            "file",
            "files",
            "had other names as well (hard links): each name is a file of its own now",
        ),
        Loss::Holes => ("file", "files", "had holes, which are zeros now"),
        Loss::Owner => (
            "entry",
            "entries",
            "had another owner or group than you: what is unpacked belongs to whoever unpacks it",
        ),
        Loss::Attributes => (
            "entry",
            "entries",
            "had extended attributes or access lists, which are not in the archive",
        ),
    };
    let example = match lost.example.as_str() {
        "" => String::new(),
        example => format!(", such as {},", quoted(example)),
    };
    let entries = counted(lost.count, one, many);
    format!("{entries} of {}{example} {what}", directory.display())
}

/// Unpacks an archive into a directory.
pub(crate) fn unpack(options: &UnpackOptions) -> Result<Exit, CliError> {
    let (began, quiet) = (Instant::now(), options.quiet);
    let unpack = Unpack {
        archive: options.archive.clone(),
        directory: options.directory.clone(),
        setuid: options.setuid,
        sync: !options.nosync,
    };
    let unpacked = unpack.run(&Watcher::new(quiet, "entries", &options.directory)?)?;
    let summary = format!(
        "{}: {}, {}",
        options.directory.display(),
        kinds(unpacked.files, unpacked.directories, unpacked.links),
        format_bytes(unpacked.bytes)
    );
    say_with_time(quiet, &summary, began.elapsed());
    if unpacked.set_id_dropped > 0 && !quiet {
        note(&format!(
            "{} had setuid or setgid bits, which were not kept; --setuid keeps them",
            counted(unpacked.set_id_dropped, "file", "files")
        ));
    }
    Ok(left_out("not unpacked", &unpacked.refused))
}

/// Looks whether an archive is whole.
pub(crate) fn verify(options: &VerifyOptions) -> Result<Exit, CliError> {
    let (began, quiet) = (Instant::now(), options.quiet);
    let watcher = Watcher::new(quiet, "entries", &options.archive)?;
    let verified = stowplan_archive::verify(&options.archive, &watcher);
    drop(watcher);
    let (verified, place) = (verified?, options.archive.display());
    let whole = counted(verified.entries, "entry is", "entries are");
    let bytes = format_bytes(verified.bytes);
    say_with_time(
        quiet,
        &format!("{place}: {whole} whole, {bytes}"),
        began.elapsed(),
    );
    if verified.unchecked > 0 && !quiet {
        note(&format!(
            "{place}: {} no checksum, since another program stored them: in these a changed byte is not found",
            counted(verified.unchecked, "value has", "values have")
        ));
    }
    for line in &verified.database {
        warn(&format!("damaged: {place}: {line}"));
    }
    left_out("damaged", &verified.refused);
    Ok(Exit::done_if(verified.is_whole()))
}

/// Puts files into an archive.
pub(crate) fn add(options: &AddOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let add = Add {
        archive: options.archive.clone(),
        base: options.base.clone(),
        paths: options.paths.clone(),
        store: options.no_deflate,
    };
    let added = add.run(&Watcher::new(options.quiet, "entries", &options.archive)?)?;
    let summary = format!(
        "{}: {} added, {} replaced",
        options.archive.display(),
        counted(added.added, "entry", "entries"),
        stowplan_report::count(added.replaced)
    );
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(left_out("not added", &added.refused))
}

/// Takes files out of an archive.
pub(crate) fn rm(options: &RmOptions) -> Result<Exit, CliError> {
    let began = Instant::now();
    let remove = Remove {
        archive: options.archive.clone(),
        names: options.names.clone(),
        recursive: options.recursive,
    };
    let entries = counted(remove.run()?, "entry", "entries");
    let summary = format!("{}: {entries} removed", options.archive.display());
    say_with_time(options.quiet, &summary, began.elapsed());
    Ok(Exit::Done)
}

/// Writes files of an archive to stdout, as they are.
pub(crate) fn cat(options: &CatOptions) -> Result<Exit, CliError> {
    let mut reader = Reader::open(&options.archive)?;
    let mut found = Vec::new();
    for name in &options.names {
        let entry = find(reader.archive(), name)?;
        if entry.kind != Kind::File {
            return Err(CliError::Usage(format!(
                "{name} of {} is a {}, and no file",
                options.archive.display(),
                entry.kind.name()
            )));
        }
        found.push(entry);
    }
    let mut out = stdout().lock();
    for entry in &found {
        match reader.write_to(entry, &mut out) {
            // A reader that went away wants no more.
            Err(error) if error.is_broken_pipe() => return Ok(Exit::Done),
            written => written?,
        }
    }
    match out.flush() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::Usage(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}

/// Lists what was left out, a line each; the end is then a failure.
fn left_out(verb: &str, refused: &Refusals) -> Exit {
    for refusal in &refused.named {
        warn(&format!(
            "{verb}: {}: {}",
            quoted(&refusal.name),
            refusal.why
        ));
    }
    let more = refused.count - refused.named.len() as u64;
    if more > 0 {
        warn(&format!(
            "{verb}: and {} more",
            stowplan_report::count(more)
        ));
    }
    Exit::done_if(refused.is_empty())
}

/// Numbers files, directories and links, those kinds that there are.
fn kinds(files: u64, directories: u64, links: u64) -> String {
    let mut text = counted(files, "file", "files");
    for (number, one, many) in [
        (directories, "directory", "directories"),
        (links, "link", "links"),
    ] {
        if number > 0 {
            text = format!("{text}, {}", counted(number, one, many));
        }
    }
    text
}
