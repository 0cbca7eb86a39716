//! A directory to try things in, and what a tree looks like.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use stowplan_archive::{ArchiveError, Pack, Packed, Refusals, Unpack, Unpacked, Verified, verify};
use tempfile::TempDir;

pub(crate) struct Bench(TempDir);

/// Mode, seconds of the last change, bytes or target.
type Looks = BTreeMap<String, (u32, i64, Vec<u8>)>;

impl Bench {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// A tree `from` with some of everything that an archive keeps.
    pub(crate) fn tree(&self) {
        self.write("from/a.txt", "text ".repeat(1_000));
        self.write("from/empty", "");
        self.write("from/one", "1");
        self.write("from/sub/deep/noise", noise(70_000));
        self.write("from/sub.txt", "sorts before what is in sub");
        self.write("from/with space/ü\n\u{1b}[2J", "a name");
        self.write("from/-rf", "a name");
        fs::create_dir(self.at("from/nothing in it")).unwrap();
        symlink("a.txt", self.at("from/link")).unwrap();
        symlink("/etc/passwd", self.at("from/outward")).unwrap();
        symlink("not there", self.at("from/sub/dangling")).unwrap();
        for (number, name) in (0..).zip(["from/one", "from/sub/deep", "from/nothing in it", "from"])
        {
            self.set_mode(name, [0o640, 0o750, 0o555, 0o711][number]);
        }
        for name in ["from/one", "from/sub/deep", "from/nothing in it", "from"] {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_007);
            let file = fs::File::open(self.at(name)).unwrap();
            file.set_modified(time).unwrap();
        }
    }

    pub(crate) fn packing(&self) -> Pack {
        Pack {
            source: self.at("from"),
            archive: self.at("x.sqlar"),
            page_size: None,
            inline_limit: None,
            store: false,
            force: false,
        }
    }

    /// With values from so many bytes on beside the archive.
    pub(crate) fn limited(&self, bytes: u64) -> Pack {
        let inline_limit = Some(bytes);
        Pack {
            inline_limit,
            ..self.packing()
        }
    }

    /// Also over an archive that is there.
    pub(crate) fn forced(&self) -> Pack {
        let force = true;
        Pack {
            force,
            ..self.packing()
        }
    }

    pub(crate) fn pack(&self) -> Packed {
        let packed = self.packing().run(&()).unwrap();
        assert_eq!(packed.refused, Refusals::default());
        packed
    }

    pub(crate) fn unpacking(&self) -> Unpack {
        Unpack {
            archive: self.at("x.sqlar"),
            directory: self.at("back"),
            setuid: false,
            sync: false,
        }
    }

    pub(crate) fn unpack(&self) -> Result<Unpacked, ArchiveError> {
        self.unpacking().run(&())
    }

    pub(crate) fn verify(&self) -> Verified {
        verify(&self.at("x.sqlar"), &()).unwrap()
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.at(name)).unwrap().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn pipe(&self, name: &str) {
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, self.at(name), mode).unwrap();
    }

    /// Names in the bench itself.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }

    pub(crate) fn looks(&self, name: &str) -> Looks {
        let mut looks = Looks::new();
        look(&self.at(name), "", &mut looks);
        looks
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

fn look(path: &Path, name: &str, looks: &mut Looks) {
    let found = path.symlink_metadata().unwrap();
    let bytes = if found.is_symlink() {
        fs::read_link(path)
            .unwrap()
            .into_os_string()
            .into_encoded_bytes()
    } else if found.is_file() {
        fs::read(path).unwrap()
    } else {
        Vec::new()
    };
    looks.insert(name.to_owned(), (found.mode(), found.mtime(), bytes));
    if found.is_dir() {
        for inner in names(path) {
            look(&path.join(&inner), &format!("{name}/{inner}"), looks);
        }
    }
}

/// Bytes that do not get smaller.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = Vec::with_capacity(length + 8);
    while noise.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.extend_from_slice(&state.to_le_bytes());
    }
    noise.truncate(length);
    noise
}
