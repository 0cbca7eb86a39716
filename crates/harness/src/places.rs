//! Where new directories lie on their file system (METHOD, "where a directory lies").
//!
//! ext4 does not hand out an inode again that was freed less than some minutes ago: it looks at every such
//! inode of the block group and passes over it (`recently_deleted` in fs/ext4/ialloc.c). Where a run has just removed
//! 10,000 files, creating one took 0.50 ms instead of 0.03. A directory is put into the block group of its
//! parent, so that what is built would pay for what was removed before it. Below a directory with the flag
//! `TOPDIR` (chattr(1)) it is put anywhere on the disk instead.

use crate::{HarnessError, platform};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Places that are looked at for a directory.
const PLACES: usize = 3;
/// Files created to learn how long it takes: the fastest counts.
const FILES: usize = 3;

/// Has the directories that are made in `parent` spread over the disk, where its file system knows how.
pub(crate) fn spread(parent: &File) {
    platform::spread_directories(parent);
}

/// Makes a directory, where its parent's are spread: in the one of several places in which
/// files are created the fastest.
///
/// # Errors
/// Something has that name, or the file system refuses.
pub(crate) fn make_directory(path: &Path) -> Result<(), HarnessError> {
    let failed = HarnessError::io("create directory", path);
    let parent = path.parent().unwrap_or(Path::new("."));
    let spread = File::open(parent).is_ok_and(|parent| platform::directories_are_spread(&parent));
    match spread {
        true => fastest_of_several(path).map_err(failed),
        false => fs::create_dir(path).map_err(failed),
    }
}

fn fastest_of_several(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut made: Vec<(Duration, PathBuf)> = Vec::new();
    let looked = (0..PLACES).try_for_each(|number| {
        let place = place(path, number);
        fs::create_dir(&place)?;
        made.push((Duration::MAX, place.clone()));
        let time = time_to_create(&place)?;
        made.last_mut().into_iter().for_each(|last| last.0 = time);
        Ok(())
    });
    made.sort();
    let mut places = made.into_iter().map(|(_, place)| place);
    // What is refused in one place may be so in all: the error is that of the last call.
    let chosen = match places.next() {
        Some(fastest) => fs::rename(&fastest, path).inspect_err(|_| {
            let _ = fs::remove_dir(&fastest);
        }),
        None => looked,
    };
    places.for_each(|other| {
        let _ = fs::remove_dir(other);
    });
    chosen
}

/// The name that a place has until it is chosen.
fn place(path: &Path, number: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!("-place{number}"));
    path.with_file_name(name)
}

/// What creating a file takes in a directory; nothing is left in it.
fn time_to_create(directory: &Path) -> io::Result<Duration> {
    let path = directory.join("new");
    let mut fastest = Duration::MAX;
    for _ in 0..FILES {
        let began = Instant::now();
        let file = File::create_new(&path)?;
        fastest = fastest.min(began.elapsed());
        drop(file);
        fs::remove_file(&path)?;
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_directory() -> tempfile::TempDir {
        let parent = tempfile::tempdir().unwrap();
        spread(&File::open(parent.path()).unwrap());
        parent
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn of_the_places_looked_at_one_is_left_and_nothing_is_in_it() {
        let parent = spread_directory();
        let path = parent.path().join("store");
        make_directory(&path).unwrap();
        assert_eq!(names(parent.path()), ["store"]);
        assert!(names(&path).is_empty());
    }

    #[test]
    fn a_directory_is_never_made_in_the_place_of_another() {
        let parent = spread_directory();
        let path = parent.path().join("store");
        fs::create_dir(&path).unwrap();
        let text = make_directory(&path).unwrap_err().to_string();
        assert!(text.contains("store"), "{text}");
        assert_eq!(names(parent.path()), ["store"]);
    }

    #[test]
    fn where_nothing_can_be_made_the_path_is_named() {
        let parent = spread_directory();
        let path = parent.path().join("missing/store");
        let text = make_directory(&path).unwrap_err().to_string();
        assert!(text.contains("missing/store"), "{text}");
    }

    /// The experiment of docs/method.md, "Where a directory lies".
    #[test]
    #[ignore = "an experiment: prints times"]
    fn creating_files_where_others_were_just_removed() {
        const FILES: u32 = 10_000;
        let fill = |directory: &Path| {
            let began = Instant::now();
            (0..FILES).for_each(|number| {
                fs::write(directory.join(number.to_string()), [0; 10_000]).unwrap();
            });
            let each = began.elapsed() / FILES;
            fs::remove_dir_all(directory).unwrap();
            each
        };
        let beside = tempfile::tempdir().unwrap();
        let apart = spread_directory();
        for round in 0..5 {
            let near = beside.path().join(round.to_string());
            fs::create_dir(&near).unwrap();
            let far = apart.path().join(round.to_string());
            make_directory(&far).unwrap();
            println!("beside {:?}, apart {:?}", fill(&near), fill(&far));
        }
    }
}
