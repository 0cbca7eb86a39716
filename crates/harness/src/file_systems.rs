//! File systems that cells are on (`on = "xfs"`): made for a run in images on loop devices, in a mount
//! namespace of the run's own, or directories that the user names.
//!
//! An image is written whole before anything is made in it, and nothing is discarded in it: a sync must
//! not wait for the file system below to allot what the one within writes to.

use crate::counting::on_path;
use crate::disk::WorkDirectory;
use crate::environment::{cache_and_memory, image_below, mount_of};
use crate::interrupt::Interrupt;
use crate::plan::{bytes_on, file_systems_of, needs};
use crate::{HarnessError, page_cache, platform};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use stowplan_dataset::room;
use stowplan_model::{Plan, format_bytes};

/// Blocks of loop devices and of file systems on them, in bytes. XFS with sectors of 512 bytes is not mounted
/// on a device of 4096.
const BLOCK_BYTES: u32 = 4096;
/// XFS takes 300 MiB at least, and btrfs 109 MiB and some more for what it allots in large pieces.
const LEAST_IMAGE_BYTES: u64 = 384 << 20;
/// Bytes written to an image at once.
const PIECE_BYTES: usize = 1 << 20;

/// What a run makes by itself.
#[derive(Debug)]
struct Known {
    /// As cells have it.
    on: &'static str,
    /// Of the program that makes it; none where nothing is to be written.
    arguments: &'static str,
    /// It is mounted with.
    options: &'static str,
}

const fn making(on: &'static str, arguments: &'static str, options: &'static str) -> Known {
    Known {
        on,
        arguments,
        options,
    }
}

/// The tables of inodes are written at once, for the kernel would do so beside the first blocks; and there
/// are enough of them for small files.
const EXT4: &str = "-q -F -b 4096 -i 8192 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0";
const EXT4_ENCRYPT: &str =
    "-q -F -b 4096 -i 8192 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 -O encrypt";

const KNOWN: [Known; 6] = [
    making("ext4", EXT4, ""),
    making("ext4:encrypt", EXT4_ENCRYPT, ""),
    making("xfs", "-q -K -s size=4096", ""),
    making("btrfs", "-q -K", "nodiscard"),
    making("btrfs:compress=zstd", "-q -K", "nodiscard,compress=zstd"),
    making("tmpfs", "", ""),
];

impl Known {
    /// What the kernel calls it.
    fn kind(&self) -> &'static str {
        self.on.split(':').next().unwrap_or_default()
    }

    /// Whether it lies in an image, and not in memory.
    fn is_in_image(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Whether data lies in a directory that it encrypts.
    fn encrypts(&self) -> bool {
        self.on == "ext4:encrypt"
    }

    /// The program that makes it.
    fn program(&self) -> String {
        format!("mkfs.{}", self.kind())
    }

    /// The package that has the program.
    fn package(&self) -> &'static str {
        match self.kind() {
            "ext4" => "e2fsprogs",
            "xfs" => "xfsprogs",
            _ => "btrfs-progs",
        }
    }

    /// Where the program is, also where only root looks.
    fn found(&self) -> Option<PathBuf> {
        let program = self.program();
        let of_root = ["/usr/sbin", "/sbin"].map(|place| Path::new(place).join(&program));
        on_path(&program).or_else(|| of_root.into_iter().find(|program| program.is_file()))
    }

    /// Makes it in an image.
    fn make_in(&self, image: &Path) -> Result<(), HarnessError> {
        let program = self.found().unwrap_or_else(|| self.program().into());
        let mut command = Command::new(program);
        let ran = command.args(self.arguments.split(' ')).arg(image).output();
        let ran = ran.map_err(HarnessError::io("make a file system in", image))?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.trim_end().lines().next_back().unwrap_or_default();
        let (program, status) = (self.program(), ran.status);
        Err(HarnessError::invalid(format!(
            "{program} failed ({status}): {said}"
        )))
    }
}

fn known(on: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.on == on)
}

/// Whether a run that makes this file system keeps it in an image on the disk.
pub(crate) fn is_in_image(on: &str) -> bool {
    known(on).is_some_and(Known::is_in_image)
}

/// Bytes of the image of a file system that holds so many: blocks are found and used again without a search,
/// and a file system that copies on write has room for both.
pub(crate) fn image_bytes(data: u64) -> u64 {
    data.min(1 << 60)
        .saturating_mul(2)
        .saturating_add(64 << 20)
        .max(LEAST_IMAGE_BYTES)
        .next_multiple_of(PIECE_BYTES as u64)
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
    let why = match known(on) {
        None => {
            let names = KNOWN.each_ref().map(|known| known.on).join(", ");
            format!("stowplan makes none of that name (but {names})")
        }
        Some(_) if !platform::may_mount_images() => {
            "only root may attach loop devices: run it with sudo".to_owned()
        }
        Some(known) if !platform::may_know_file_system(known.kind()) => {
            format!("not available here: this kernel has no {}", known.kind())
        }
        Some(known) if known.encrypts() && !platform::may_encrypt() => {
            "not available here: this kernel's ext4 cannot encrypt (CONFIG_FS_ENCRYPTION)"
                .to_owned()
        }
        Some(known) if known.is_in_image() && known.found().is_none() => {
            let (program, package) = (known.program(), known.package());
            format!("{program} is missing: install {package} (Debian: apt-get install {package})")
        }
        Some(known) => {
            let nowhere = "tmpfs has no cold state: its data is nowhere but in memory";
            return (cold && !known.is_in_image()).then(|| nowhere.to_owned());
        }
    };
    let or = "or name a directory on one that is mounted: --on NAME=DIR";
    Some(format!("{why}, {or}"))
}

/// Where the data of cells is that are on a file system of their own.
#[derive(Debug)]
enum Place {
    /// Mounted by the run.
    Made { mounted: PathBuf, root: PathBuf },
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
    pub(crate) fn named(plan: &Plan) -> Self {
        let mut made = Self::default();
        for on in file_systems_of(plan) {
            if let Some(directory) = plan.on.get(on) {
                made.note(on, WorkDirectory::create_below(directory).map(Place::Named));
            }
        }
        made
    }

    /// Makes the others that cells of the plan are on; how each of all was made and is mounted, by name. One
    /// that cannot be made fails its cells only.
    ///
    /// # Errors
    /// The run was interrupted.
    pub(crate) fn make(
        &mut self,
        plan: &Plan,
        work: &Path,
        keep: bool,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BTreeMap<String, String>, HarnessError> {
        let mut all = file_systems_of(plan);
        all.retain(|on| !self.places.contains_key(*on));
        let apart = all.first().map_or(Ok(()), |_| platform::own_mounts());
        let apart = apart.map_err(HarnessError::io(
            "make a mount namespace for a run in",
            work,
        ));
        let apart = apart.map_err(|error| error.to_string());
        let has_room =
            room::free_bytes(work).is_ok_and(|free| needs(plan, keep).disk_bytes <= free);
        let builds = if has_room { 2 } else { 1 };
        for on in all {
            let bytes = image_bytes(bytes_on(plan, keep, builds, on));
            let place = match &apart {
                Ok(()) => make(on, work, bytes, interrupt, progress),
                Err(why) => Err(HarnessError::invalid(why)),
            };
            // From here on it is left in any case.
            self.note(on, place);
            if interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
        }
        let made = self.places.iter();
        let made =
            made.filter_map(|(on, place)| Some((on.clone(), described(on, place.as_ref().ok()?))));
        Ok(made.collect())
    }

    fn note(&mut self, on: &str, place: Result<Place, HarnessError>) {
        let place = place.map_err(|error| format!("on {on}: {error}"));
        self.places.insert(on.to_owned(), place);
    }

    /// The directory below which cells on a file system have their data.
    ///
    /// # Errors
    /// It could not be made.
    pub(crate) fn root(&self, on: &str) -> Result<&Path, HarnessError> {
        match self.places.get(on) {
            Some(Ok(place)) => Ok(place.root()),
            Some(Err(why)) => Err(HarnessError::worker(why, "")),
            None => {
                let why = format!("on {on}: the run has made none");
                Err(HarnessError::worker(&why, ""))
            }
        }
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
    pub(crate) fn end(&mut self, keep: bool) -> Result<(), HarnessError> {
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
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Place, HarnessError> {
    let (Some(known), Some(name)) = (known(on), in_paths(on)) else {
        return Err(HarnessError::invalid("stowplan does not make it"));
    };
    let mounted = work.join(format!("on-{name}"));
    fs::create_dir(&mounted).map_err(HarnessError::io("create", &mounted))?;
    if !known.is_in_image() {
        mount_in_memory(known, &mounted, bytes)?;
        let root = mounted.clone();
        return Ok(Place::Made { mounted, root });
    }
    let image = work.join(format!("image-{name}"));
    let root = written(&image, bytes, interrupt, progress)
        .and_then(|file| mount_image(known, &mounted, &image, &file));
    if root.is_err() {
        // The others need its room.
        let _ = fs::remove_file(&image);
    }
    root.map(|root| Place::Made { mounted, root })
}

fn mount_in_memory(known: &Known, mounted: &Path, bytes: u64) -> Result<(), HarnessError> {
    let (_, free) = cache_and_memory();
    if bytes > free {
        return Err(HarnessError::invalid(format!(
            "it may take {} of memory, and {} are free: measure fewer values",
            format_bytes(bytes),
            format_bytes(free)
        )));
    }
    let (kind, options) = (known.kind(), format!("size={bytes},mode=700"));
    let mount = platform::mount(Path::new(kind), mounted, kind, &options);
    mount.map_err(HarnessError::io("mount", mounted))
}

/// Makes a file system in an image, and mounts it; the directory for data on it.
fn mount_image(
    known: &Known,
    mounted: &Path,
    image: &Path,
    file: &File,
) -> Result<PathBuf, HarnessError> {
    known.make_in(image)?;
    // What was just written must not be found in memory.
    page_cache::evict(&[image])?;
    let attached = platform::attach(file, BLOCK_BYTES);
    // Open until it is mounted: nobody else holds it.
    let (_device, path) = attached.map_err(HarnessError::io("attach to a loop device", image))?;
    platform::mount(&path, mounted, known.kind(), known.options)
        .map_err(HarnessError::io("mount", mounted))?;
    ready(known, mounted, image).inspect_err(|_| {
        let _ = platform::unmount(mounted);
    })
}

/// An image that was written whole.
fn written(
    image: &Path,
    bytes: u64,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<File, HarnessError> {
    let refused = || HarnessError::io("write", image);
    let mut file = File::create_new(image).map_err(HarnessError::io("create", image))?;
    let zeros = vec![0; PIECE_BYTES];
    let pieces = bytes / PIECE_BYTES as u64;
    for piece in 0..pieces {
        if interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        progress(piece, pieces);
        file.write_all(&zeros).map_err(refused())?;
    }
    file.sync_all().map_err(refused())?;
    Ok(file)
}

/// The directory for data on what was mounted, once it is sure that the image is read directly.
fn ready(known: &Known, mounted: &Path, image: &Path) -> Result<PathBuf, HarnessError> {
    if !image_below(mounted).is_some_and(|below| below.direct) {
        return Err(HarnessError::invalid(format!(
            "the loop device reads {} through memory, so that nothing is cold on it: the file system below \
             has no direct I/O; choose another with --work",
            image.display()
        )));
    }
    if !known.encrypts() {
        return Ok(mounted.to_owned());
    }
    let root = mounted.join("encrypted");
    fs::create_dir(&root).map_err(HarnessError::io("create", &root))?;
    platform::encrypt(&root).map_err(HarnessError::io("encrypt", &root))?;
    Ok(root)
}

/// How a file system was made and is mounted.
fn described(on: &str, place: &Place) -> String {
    let Some(mount) = mount_of(place.root()) else {
        return String::new();
    };
    let mut told = format!("{} mounted {}", mount.kind, mount.options);
    if let Some(image) = image_below(place.root()) {
        let bytes = format_bytes(image.file.metadata().map_or(0, |found| found.len()));
        let how = match image.direct {
            true => "with direct I/O",
            false => "through memory",
        };
        told += &format!(", on a loop device {how} in an image of {bytes}");
    }
    if let (Place::Made { .. }, Some(known)) = (place, known(on))
        && known.is_in_image()
    {
        told += &format!(" ({} {})", known.program(), known.arguments);
    }
    told
}

#[cfg(test)]
mod tests;
