//! File systems that cells are on (`on = "xfs"`): made for a run in images on loop devices, in a mount
//! namespace of the run's own, or directories that the user names.

use crate::disk::WorkDirectory;
use crate::environment::{cache_and_memory, mount_of};
use crate::interrupt::Interrupt;
use crate::worker_process::Server;
use crate::{HarnessError, Progress, Result, platform};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow::{Break, Continue};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use stowplan_model::format_bytes;

/// Makes each of [`KNOWN`].
const SCRIPT: &str = include_str!("file_systems/make");

/// The only one of [`KNOWN`] that lies in memory, and not in an image.
const IN_MEMORY: &str = "tmpfs";

/// What a run makes by itself, as cells have it.
const KNOWN: [&str; 6] = [
    "ext4",
    "ext4:encrypt",
    "xfs",
    "btrfs",
    "btrfs:compress=zstd",
    IN_MEMORY,
];

/// XFS takes 300 MiB at least, and btrfs 109 MiB and some more for what it allots in large pieces.
const LEAST_IMAGE_BYTES: u64 = 384 << 20;

/// Bytes written to an image at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Whether a run that makes this file system keeps it in an image on the disk.
pub(crate) fn is_in_image(on: &str) -> bool {
    KNOWN.contains(&on) && on != IN_MEMORY
}

/// Bytes of the image of a file system that holds so many: blocks are found and used again without a search,
/// and a file system that copies on write has room for both.
pub(crate) fn image_bytes(data: u64) -> u64 {
    data.min(1 << 60)
        .saturating_mul(2)
        .saturating_add(64 << 20)
        .max(LEAST_IMAGE_BYTES)
        .next_multiple_of(PIECE_BYTES)
}

/// The name of a file system, as parts of paths have it; `None` where it is none: a name, and options
/// behind a colon.
pub(crate) fn in_paths(on: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let (name, options) = on.split_once(':').unwrap_or((on, "-"));
    let whole = (1..=64).contains(&on.len()) && !name.is_empty() && !options.is_empty();
    let fit = whole && name.chars().all(plain);
    let fit = fit && options.chars().all(|c| plain(c) || matches!(c, '=' | ','));
    // No two names become one: neither sign is in any.
    fit.then(|| on.replace([':', ','], "+").replace('=', "."))
}

/// Why cells cannot be on a file system that the run should make, if they cannot, and what helps.
pub(crate) fn objection(on: &str, cold: bool) -> Option<String> {
    let why = match KNOWN.contains(&on) {
        true => lacking(on),
        false => {
            let names = KNOWN.join(", ");
            format!("stowplan makes none of that name (but {names})")
        }
    };
    if !why.is_empty() {
        return Some(format!(
            "{why}, or name a directory on one that is mounted: --on NAME=DIR"
        ));
    }
    let nowhere = "tmpfs has no cold state: its data is nowhere but in memory";
    (cold && on == IN_MEMORY).then(|| nowhere.to_owned())
}

/// What keeps the script from making a file system here, in its words; asked once for each.
fn lacking(on: &str) -> String {
    static ASKED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let ask = || {
        let mut command = Command::new("python3");
        match command.args(["-c", SCRIPT, on]).output() {
            Ok(said) if said.status.success() => {
                String::from_utf8_lossy(&said.stdout).trim().to_owned()
            }
            _ => "python3 is missing: install it (Debian: apt-get install python3)".to_owned(),
        }
    };
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    asked.entry(on.to_owned()).or_insert_with(ask).clone()
}

/// Where the data of cells is that are on a file system of their own.
#[derive(Debug)]
enum Place {
    /// Mounted by the run; made in this way.
    Made {
        mounted: PathBuf,
        root: PathBuf,
        by: String,
    },
    /// Below a directory that the user named.
    Named(WorkDirectory),
}

impl Place {
    fn root(&self) -> &Path {
        match self {
            Self::Made { root, .. } => root,
            Self::Named(directory) => directory.path(),
        }
    }
}

/// The file systems that the cells of a run are on. What the run mounted is unmounted with this, and the kernel
/// does so if the run is killed.
#[derive(Debug, Default)]
pub(crate) struct FileSystems {
    /// By the name that cells give; or why there is none.
    places: BTreeMap<String, Result<Place, String>>,
}

impl FileSystems {
    /// Makes a directory in each that the user named: at once, so that what tells of them can be written
    /// before anything that takes long. One that cannot be made fails its cells only.
    pub(crate) fn named<'o>(directories: impl Iterator<Item = (&'o str, &'o PathBuf)>) -> Self {
        let mut made = Self::default();
        for (on, directory) in directories {
            made.note(on, WorkDirectory::create_below(directory).map(Place::Named));
        }
        made
    }

    /// Makes the others of those that cells are on, for so many bytes each; how each of all was made and is
    /// mounted, by name. One that cannot be made fails its cells only.
    ///
    /// # Errors
    /// The run was interrupted.
    pub(crate) fn make(
        &mut self,
        wanted: &[(&str, u64)],
        work: &Path,
        interrupt: &Interrupt,
        progress: Progress<'_>,
    ) -> Result<BTreeMap<String, String>> {
        let others = wanted
            .iter()
            .filter(|(on, _)| !self.places.contains_key(*on));
        let others: Vec<_> = others.collect();
        let apart = others.first().map_or(Ok(()), |_| platform::own_mounts());
        let refused = HarnessError::io("make a mount namespace for a run in", work);
        let apart = apart.map_err(|error| refused(error).to_string());
        for (on, bytes) in others {
            let place = match &apart {
                Ok(()) => make(on, work, image_bytes(*bytes), interrupt, progress),
                Err(why) => Err(HarnessError::invalid(why)),
            };
            // From here on it is left in any case.
            self.note(on, place);
            if interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
        }
        let made = self.places.iter();
        let made = made.filter_map(|(on, place)| Some((on.clone(), place.as_ref().ok()?)));
        Ok(made.map(|(on, place)| (on, described(place))).collect())
    }

    fn note(&mut self, on: &str, place: Result<Place>) {
        let place = place.map_err(|error| format!("on {on}: {error}"));
        self.places.insert(on.to_owned(), place);
    }

    /// The directory below which cells on a file system have their data.
    ///
    /// # Errors
    /// It could not be made.
    pub(crate) fn root(&self, on: &str) -> Result<&Path> {
        let why = match self.places.get(on) {
            Some(Ok(place)) => return Ok(place.root()),
            Some(Err(why)) => why,
            None => &format!("on {on}: the run has made none"),
        };
        Err(HarnessError::worker(why, ""))
    }

    /// The directories that the run made on those that the user named.
    pub(crate) fn directories(&self) -> BTreeMap<String, PathBuf> {
        let places = self.places.iter();
        let named = places.filter_map(|(on, place)| match place {
            Ok(Place::Named(directory)) => Some((on.clone(), directory.path().to_owned())),
            _ => None,
        });
        named.collect()
    }

    /// Unmounts what was made; what lies in directories of the user's is removed, unless it is kept.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn end(&mut self, keep: bool) -> Result<()> {
        let ended = std::mem::take(&mut self.places)
            .into_values()
            .flatten()
            .map(|place| match place {
                Place::Made { mounted, .. } => {
                    platform::unmount(&mounted).map_err(HarnessError::io("unmount", &mounted))
                }
                Place::Named(directory) if keep => directory.keep(),
                Place::Named(directory) => directory.remove(),
            });
        // Each is ended, whatever becomes of the others.
        Vec::from_iter(ended).into_iter().collect()
    }
}

impl Drop for FileSystems {
    /// After an error, which says more than what may go wrong here.
    fn drop(&mut self) {
        let _ = self.end(false);
    }
}

/// Makes a file system that is known, below the directory in which the run works: only the run looks into
/// that.
fn make(
    on: &str,
    work: &Path,
    bytes: u64,
    interrupt: &Interrupt,
    progress: Progress<'_>,
) -> Result<Place> {
    let Some(name) = in_paths(on).filter(|_| KNOWN.contains(&on)) else {
        return Err(HarnessError::invalid("stowplan does not make it"));
    };
    let (_, free) = cache_and_memory();
    if on == IN_MEMORY && bytes > free {
        return Err(HarnessError::invalid(format!(
            "it may take {} of memory, and {} are free: measure fewer values",
            format_bytes(bytes),
            format_bytes(free)
        )));
    }
    let [mounted, image] = ["on", "image"].map(|what| work.join(format!("{what}-{name}")));
    fs::create_dir(&mounted).map_err(HarnessError::io("create", &mounted))?;
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, on]).args([&image, &mounted]);
    command.arg(bytes.to_string());
    let mut by = String::new();
    let mut hear = |line: &str| match line.split_once(' ') {
        Some(("ready", root)) => Break(Ok(PathBuf::from(root))),
        Some(("failed", why)) => Break(Err(HarnessError::invalid(why))),
        Some(("by", how)) => {
            how.clone_into(&mut by);
            Continue(true)
        }
        Some((done, all)) => {
            progress(done.parse().unwrap_or(0), all.parse().unwrap_or(0));
            Continue(true)
        }
        None => Continue(false),
    };
    let root = Server::start(command, "the script that makes it", interrupt, &mut hear);
    let root = root.and_then(|(_, root)| root);
    if root.is_err() {
        // Whoever interrupts may do so between the mount and the word of it; and the others need the room.
        let _ = platform::unmount(&mounted);
        let _ = fs::remove_file(&image);
    }
    root.map(|root| Place::Made { mounted, root, by })
}

/// How a file system was made and is mounted.
fn described(place: &Place) -> String {
    let by = match place {
        Place::Made { by, .. } => by,
        Place::Named(_) => "",
    };
    let mount = mount_of(place.root());
    mount.map_or(String::new(), |mount| {
        format!("{} mounted {}{by}", mount.kind, mount.options)
    })
}

#[cfg(test)]
mod tests;
