//! Where the system's files are.

use std::path::{Path, PathBuf};

/// The directory below which `/proc`, `/sys`, `/etc` and `/dev` are: `/`, or a made-up tree in
/// tests.
#[derive(Debug, Clone)]
pub(super) struct Root(PathBuf);

impl Root {
    /// This system's own.
    pub(super) fn system() -> Self {
        Self(PathBuf::from("/"))
    }

    /// A made-up tree.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn at(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    /// Where a file of the system is.
    pub(super) fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let path = absolute.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a small file; nothing if it cannot be read.
    pub(super) fn text(&self, absolute: impl AsRef<Path>) -> Option<String> {
        let bytes = std::fs::read(self.path(absolute)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line of a small file, trimmed; nothing if it is empty or cannot be read.
    pub(super) fn line(&self, absolute: impl AsRef<Path>) -> Option<String> {
        let text = self.text(absolute)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// The entries of a directory, as absolute paths of the system, in order; none if it cannot
    /// be read.
    pub(super) fn entries(&self, absolute: &str) -> Vec<PathBuf> {
        let names = std::fs::read_dir(self.path(absolute)).into_iter().flatten();
        let mut entries: Vec<PathBuf> = names
            .flatten()
            .map(|entry| Path::new(absolute).join(entry.file_name()))
            .collect();
        entries.sort();
        entries
    }

    /// Whether there is such a file or directory.
    pub(super) fn has(&self, absolute: impl AsRef<Path>) -> bool {
        self.path(absolute).exists()
    }
}

/// A made-up tree of system files.
#[cfg(test)]
pub(super) struct MadeUp {
    directory: tempfile::TempDir,
}

#[cfg(test)]
impl MadeUp {
    /// A tree that holds these files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let made = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        files.iter().for_each(|(path, text)| made.write(path, text));
        made
    }

    /// Adds a file, or replaces it.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.root().path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn root(&self) -> Root {
        Root::at(self.directory.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_no_number_is_unknown() {
        let tree = MadeUp::of(&[
            ("/proc/a", " 12 \n3\n"),
            ("/proc/b", "x"),
            ("/proc/c", "\n"),
        ]);
        let root = tree.root();
        assert_eq!(root.line("/proc/a"), Some("12".to_owned()));
        assert_eq!(root.line("/proc/c"), None);
        assert_eq!(root.text("/proc/d"), None);
        assert_eq!(root.entries("/proc").len(), 3);
        assert!(root.entries("/proc")[0].starts_with("/proc"));
        assert!(root.entries("/sys").is_empty() && !root.has("/sys"));
    }
}
