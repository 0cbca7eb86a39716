//! The output directory: made anew for each run, never anyone else's.

use crate::error::CliError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where a run's results go.
#[derive(Debug)]
pub(crate) struct Output {
    directory: PathBuf,
}

impl Output {
    /// Makes the directory: the one asked for, which must not exist or be empty, or one below
    /// `stowplan-results` whose name says what, when and where.
    pub(crate) fn create(asked: Option<&Path>, study: &str) -> Result<Self, CliError> {
        match asked {
            Some(directory) => Self::at(directory),
            None => Self::by_name(study),
        }
    }

    fn at(directory: &Path) -> Result<Self, CliError> {
        match fs::create_dir_all(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(CliError::Usage(format!(
                    "--output {} is not a directory; choose another place",
                    directory.display()
                )));
            }
            Err(error) => return Err(CliError::io("create directory", directory)(error)),
        }
        let mut entries =
            fs::read_dir(directory).map_err(CliError::io("read directory", directory))?;
        if entries.next().is_some() {
            return Err(CliError::Usage(format!(
                "--output {} exists and is not empty; choose another directory, or remove it first",
                directory.display()
            )));
        }
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    fn by_name(study: &str) -> Result<Self, CliError> {
        let parent = Path::new("stowplan-results");
        fs::create_dir_all(parent).map_err(CliError::io("create directory", parent))?;
        let time = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
        let host = stowplan_harness::environment::host_name();
        let name: String = format!("{time}-{study}-{host}")
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let directory = parent.join(name);
        fs::create_dir(&directory).map_err(CliError::io("create directory", &directory))?;
        Ok(Self { directory })
    }

    /// The directory itself.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of raw records.
    pub(crate) fn result(&self) -> PathBuf {
        self.directory.join("result.jsonl")
    }
}

/// Writes a derived file whole: to a temporary beside it, then renamed.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), CliError> {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, text).map_err(CliError::io("write", &temporary))?;
    fs::rename(&temporary, path).map_err(CliError::io("rename to", path))
}
