//! What can be used here, by this user.

use super::{Context, Finding, Root, Row, disk, row};
use crate::counting;
use rustix::fs::Access;
use stowplan_model::WarningKind;

/// Engines keep dozens of files open, and each worker some more.
const FEW_FILES: u64 = 256;

/// What is looked at here.
pub(super) const ROWS: &[Row] = &[
    row(
        "evicting files",
        "Cold blocks begin with no page of their data in the cache: posix_fadvise, for each file, without root.",
        eviction,
    ),
    row(
        "seeing the cache",
        "Without it neither a cold block nor a warm one can be proved to be one.",
        residency,
    ),
    row(
        "drop_caches",
        "It empties memory of all files, names too, as after a reboot; data alone Stowplan evicts without it.",
        drop_caches,
    ),
    row(
        "open files",
        "Engines of many tables keep many files open, and fail where they may not.",
        open_files,
    ),
    row(
        "strace",
        "It shows which system calls an operation makes; a traced call takes 83 µs, so never while timing.",
        strace,
    ),
    row(
        "FUSE",
        "A file system in a process can lose what was not synced: how losing power is tried without losing power.",
        fuse,
    ),
];

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Of those that there are: whether this user may write to it.
    drop_caches: Option<bool>,
    fuse: Option<bool>,
    strace: Option<String>,
    open_files: Option<u64>,
}

impl Facts {
    pub(super) fn gather(root: &Root) -> Self {
        Self {
            strace: counting::on_path("strace").map(|file| file.display().to_string()),
            open_files: rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
            ..Self::read(root)
        }
    }

    pub(super) fn read(root: &Root) -> Self {
        let writable = |path: &str| {
            let path = root.path(path);
            let exists = path.symlink_metadata().is_ok();
            exists.then(|| rustix::fs::access(&path, Access::WRITE_OK).is_ok())
        };
        Self {
            drop_caches: writable("/proc/sys/vm/drop_caches"),
            fuse: writable("/dev/fuse"),
            ..Self::default()
        }
    }
}

fn eviction(context: &Context<'_>) -> Finding {
    let probe = context.facts.disk.probe.as_ref();
    let probe = probe.and_then(|probe| probe.as_ref().ok());
    let Some(left) = probe.and_then(|probe| probe.evicted) else {
        return Finding::unavailable("not tried, or not to be seen");
    };
    if disk::in_memory(context) {
        return Finding::unavailable("memory is all there is here");
    }
    Finding::judged(
        format!(
            "{} of {} pages stayed",
            left.resident_pages, left.checked_pages
        ),
        left.resident_pages > 0,
        "Rely on warm comparisons only, or measure on another file system.",
    )
}

fn residency(context: &Context<'_>) -> Finding {
    match context.environment.residency_check.as_deref() {
        Some("mincore") => Finding::ok("by mincore; cachestat, which is faster, needs Linux 6.5"),
        Some(how) => Finding::ok(format!("by {how}")),
        None => Finding::warning(
            "neither cachestat nor mincore works",
            "Rely on warm comparisons only, or run on Linux.",
        )
        .of(WarningKind::NoResidencyCheck),
    }
}

fn drop_caches(context: &Context<'_>) -> Finding {
    device_file(
        context.facts.features.drop_caches,
        "Only root may, and not in every container; only 'all-cold' needs it.",
    )
}

fn fuse(context: &Context<'_>) -> Finding {
    device_file(
        context.facts.features.fuse,
        "Allow /dev/fuse to this user (docker run --device /dev/fuse --cap-add SYS_ADMIN).",
    )
}

/// Something behind a file that must be writable.
fn device_file(writable: Option<bool>, mend: &str) -> Finding {
    match writable {
        None => Finding::feature(false, "there is none", mend),
        Some(true) => Finding::ok("yes"),
        Some(false) => Finding::feature(false, "not for this user", mend),
    }
}

fn open_files(context: &Context<'_>) -> Finding {
    let Some(files) = context.facts.features.open_files else {
        return Finding::ok("no limit");
    };
    Finding::judged(
        format!("{files} at once"),
        files < FEW_FILES,
        "ulimit -n 1024, before starting a run.",
    )
}

fn strace(context: &Context<'_>) -> Finding {
    match &context.facts.features.strace {
        Some(path) => Finding::ok(path),
        None => Finding::feature(
            false,
            "not found",
            "apt install strace, or your system's way.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;

    #[test]
    fn what_is_there_and_may_be_written_is_told_from_what_is_not_there() {
        let tree = MadeUp::of(&[("/proc/sys/vm/drop_caches", "0\n")]);
        let facts = Facts::read(&tree.root());
        assert_eq!((facts.drop_caches, facts.fuse), (Some(true), None));
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let sh = counting::on_path("sh");
        assert!(sh.is_some_and(|path| path.ends_with("sh")));
        assert_eq!(counting::on_path("no-such-program-anywhere"), None);
    }
}
