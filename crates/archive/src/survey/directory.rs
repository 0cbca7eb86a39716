//! The survey of a directory.

use super::sizes::Sizes;
use super::{MOST_BYTES, Odd};
use crate::ArchiveError;
use crate::walk::{Entry, Met, look};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use stowplan_model::{OddityKind, Origin, Survey};

/// What `st_blocks` counts, in bytes.
const BLOCK: u64 = 512;
/// A file may end within a block of its file system: fewer blocks than this below its bytes are no
/// holes.
const NO_HOLE: u64 = 4096;

/// Counts what a directory holds; `other` is told of the same.
pub(crate) fn survey(place: &Path, other: &mut dyn FnMut(Met<'_>)) -> Result<Survey, ArchiveError> {
    let mut counted = Counted::default();
    look(place, &mut |met| {
        counted.meet(met);
        other(met);
    })?;
    Ok(Survey {
        origin: Origin {
            place: place.to_owned(),
            ..Origin::default()
        },
        directories: counted.directories,
        links: counted.links,
        allocated_bytes: counted.allocated,
        depth: counted.depth,
        longest_name: counted.longest_name,
        longest_path: counted.longest_path,
        odd: counted.odd.into_list(),
        ..counted.sizes.survey()
    })
}

#[derive(Default)]
struct Counted {
    sizes: Sizes,
    odd: Odd,
    directories: u64,
    links: u64,
    allocated: u64,
    depth: u64,
    longest_name: u64,
    longest_path: u64,
    /// Names in lower case, hashed, of the directories from the topmost one to the present one.
    names: Vec<HashSet<u64>>,
    /// Files with several names that were met, so that their blocks count once.
    linked: HashSet<(u64, u64)>,
}

impl Counted {
    fn meet(&mut self, met: Met<'_>) {
        match met {
            Met::Entry(entry) => self.entry(&entry),
            Met::OtherFileSystem(path) => self.odd.note(OddityKind::OtherFileSystem, path),
            Met::Refused(path, Errno::NOENT) => self.odd.note(OddityKind::Vanished, path),
            Met::Refused(path, _) => self.odd.note(OddityKind::Unreadable, path),
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let depth = entry.path.iter().filter(|byte| **byte == b'/').count();
        // Those of a directory that was left are forgotten.
        self.names.resize_with(depth + 1, HashSet::new);
        self.name(entry, depth);
        match entry.kind {
            FileType::RegularFile => self.file(entry, depth),
            FileType::Directory => self.directories += 1,
            FileType::Symlink => self.link(entry),
            FileType::Socket => self.odd.note(OddityKind::Socket, entry.path),
            FileType::Fifo => self.odd.note(OddityKind::Fifo, entry.path),
            _ => self.odd.note(OddityKind::Device, entry.path),
        }
    }

    fn name(&mut self, entry: &Entry<'_>, depth: usize) {
        let name = entry.name.to_bytes();
        self.longest_name = self.longest_name.max(name.len() as u64);
        self.longest_path = self.longest_path.max(entry.path.len() as u64);
        let mut hasher = DefaultHasher::new();
        match str::from_utf8(name) {
            Ok(text) if !text.is_ascii() => text.to_lowercase().hash(&mut hasher),
            Ok(text) => text.to_ascii_lowercase().hash(&mut hasher),
            Err(_) => {
                self.odd.note(OddityKind::NotUtf8, entry.path);
                return;
            }
        }
        if !self.names[depth].insert(hasher.finish()) {
            self.odd.note(OddityKind::CaseOnly, entry.path);
        }
    }

    fn file(&mut self, entry: &Entry<'_>, depth: usize) {
        let stat = entry.stat;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0) * BLOCK;
        self.sizes.add(size);
        self.depth = self.depth.max(depth as u64);
        if stat.st_nlink > 1 {
            self.odd.note(OddityKind::HardLink, entry.path);
        }
        if stat.st_nlink == 1 || self.linked.insert((stat.st_dev, stat.st_ino)) {
            self.allocated += blocks;
        }
        if blocks > 0 && blocks + NO_HOLE <= size {
            self.odd.note(OddityKind::Holes, entry.path);
        }
        if size > MOST_BYTES {
            self.odd.note(OddityKind::TooLarge, entry.path);
        }
        if !entry.is_readable() {
            self.odd.note(OddityKind::Unreadable, entry.path);
        }
    }

    fn link(&mut self, entry: &Entry<'_>) {
        self.links += 1;
        let target = rustix::fs::readlinkat(entry.directory, entry.name, Vec::new());
        match target {
            Ok(target) if leads_out(entry.path, target.to_bytes()) => {
                self.odd.note(OddityKind::LinkOutside, entry.path);
            }
            Ok(_) => {}
            Err(why) => self.meet(Met::Refused(entry.path, why)),
        }
    }
}

/// Whether a link at a path from the topmost directory leads out of it, by its words alone.
fn leads_out(path: &[u8], target: &[u8]) -> bool {
    if target.first() == Some(&b'/') {
        return true;
    }
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileExt, symlink};
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_tree_is_counted_without_following_links() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("top"), "12345").unwrap();
        fs::write(at("a/one"), "").unwrap();
        fs::write(at("a/b/a-long-name"), vec![7; 1_000]).unwrap();
        symlink("..", at("a/b/up")).unwrap();
        symlink("a", at("around")).unwrap();
        let survey = survey(directory.path(), &mut |_| ()).unwrap();
        assert_eq!((survey.values, survey.bytes, survey.empty), (3, 1_005, 1));
        assert_eq!((survey.directories, survey.links), (2, 2));
        assert_eq!((survey.depth, survey.longest_name), (2, 11));
        assert_eq!(survey.longest_path, 15);
        assert_eq!((survey.smallest, survey.largest), (0, 1_000));
        assert_eq!(survey.odd, []);
        let values: u64 = survey.histogram.iter().map(|bin| bin.values).sum();
        assert_eq!(values, 3);
    }

    #[test]
    fn everything_odd_is_listed_with_examples() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/Readme"), "1").unwrap();
        fs::write(at("d/README"), "2").unwrap();
        fs::write(at("d/README2"), "2").unwrap();
        fs::write(directory.path().join(OsStr::from_bytes(b"\xff")), "3").unwrap();
        fs::hard_link(at("d/README2"), at("twice")).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), FileType::Fifo, mode, 0).unwrap();
        let sparse = File::create(at("sparse")).unwrap();
        sparse.set_len(1 << 20).unwrap();
        sparse.write_all_at(b"x", 0).unwrap();
        symlink("/etc/passwd", at("absolute")).unwrap();
        symlink("../../x", at("d/above")).unwrap();
        symlink("../twice", at("d/inside")).unwrap();
        let survey = survey(directory.path(), &mut |_| ()).unwrap();
        let found: Vec<_> = survey.odd.iter().map(|odd| (odd.kind, odd.count)).collect();
        use OddityKind::{CaseOnly, Fifo, HardLink, Holes, LinkOutside, NotUtf8, Socket};
        let expected = [
            (Socket, 1),
            (Fifo, 1),
            (NotUtf8, 1),
            (CaseOnly, 1),
            (LinkOutside, 2),
            (HardLink, 2),
            (Holes, 1),
        ];
        assert_eq!(found, expected);
        let outside = survey
            .odd
            .iter()
            .find(|odd| odd.kind == LinkOutside)
            .unwrap();
        let mut examples = outside.examples.clone();
        examples.sort();
        assert_eq!(examples, ["absolute", "d/above"]);
    }

    #[test]
    fn a_link_leads_out_when_its_words_do() {
        for (path, target, out) in [
            ("l", "x", false),
            ("l", "../x", true),
            ("a/l", "../x", false),
            ("a/l", "../../x", true),
            ("a/l", "b/../../x/./y", false),
            ("a/l", "b/../../../x", true),
            ("a/l", "/x", true),
        ] {
            assert_eq!(
                leads_out(path.as_bytes(), target.as_bytes()),
                out,
                "{path} {target}"
            );
        }
    }
}
