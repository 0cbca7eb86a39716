//! Finding drivers, as git and cargo find their subcommands.

use crate::worker_process::WorkerCommand;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the names of driver programs begin.
const PREFIX: &str = "stowplan-driver-";

/// Where drivers are looked for, in this order; the first of a name counts.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Commands by name, which were given outright (`--driver`, or a study).
    pub given: BTreeMap<String, Vec<String>>,
    /// Directories that are looked through: beside the executable, `STOWPLAN_DRIVERS`, `PATH`, and where
    /// the drivers' own installers put them.
    pub directories: Vec<PathBuf>,
}

/// A driver that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// How its workers are started.
    pub command: WorkerCommand,
}

impl Search {
    /// The directories of this process: beside its executable, those of `STOWPLAN_DRIVERS`, those of
    /// `PATH`, and `stowplan/drivers` where the user's data lies.
    #[must_use]
    pub fn of_this_process() -> Self {
        let beside = std::env::current_exe().ok();
        let beside = beside.as_deref().and_then(Path::parent).map(Path::to_owned);
        let listed = ["STOWPLAN_DRIVERS", "PATH"].map(std::env::var_os);
        let listed = listed.iter().flatten().flat_map(std::env::split_paths);
        let [data, home] =
            ["XDG_DATA_HOME", "HOME"].map(|name| std::env::var_os(name).map(PathBuf::from));
        Self {
            given: BTreeMap::new(),
            directories: beside
                .into_iter()
                .chain(listed)
                .chain(installed_below(data, home))
                .collect(),
        }
    }
}

/// Where installers put drivers, by `XDG_DATA_HOME` (which counts only if it is absolute, as its
/// specification says) and `HOME`.
fn installed_below(data: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let set = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let data = set(data).or_else(|| Some(set(home)?.join(".local/share")))?;
    Some(data.join("stowplan/drivers"))
}

/// The drivers that are there, by name.
#[must_use]
pub fn find(search: &Search) -> Vec<Found> {
    let mut found: BTreeMap<String, WorkerCommand> = BTreeMap::new();
    for (name, command) in &search.given {
        if let Some((program, arguments)) = command.split_first() {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            found.insert(name.clone(), WorkerCommand::new(program, &arguments));
        }
    }
    for directory in &search.directories {
        let Ok(entries) = std::fs::read_dir(directory) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if let Some(name) = name_of(&path) {
                let command = || WorkerCommand::new(&path, &[]);
                found.entry(name).or_insert_with(command);
            }
        }
    }
    let found = found.into_iter();
    found
        .map(|(name, command)| Found { name, command })
        .collect()
}

/// The driver's name, if this is the program of one.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    let runs = path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    (runs && is_name(name)).then(|| name.to_owned())
}

/// Whether a text may be a driver's name: it stands before the slash of a store spec.
#[must_use]
pub(crate) fn is_name(name: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn installed_drivers_lie_where_the_data_of_the_user_does() {
        let below = |data: Option<&str>, home: Option<&str>| {
            installed_below(data.map(PathBuf::from), home.map(PathBuf::from))
        };
        let of_home = Some(PathBuf::from("/home/me/.local/share/stowplan/drivers"));
        assert_eq!(below(None, Some("/home/me")), of_home);
        assert_eq!(below(Some(""), Some("/home/me")), of_home);
        assert_eq!(below(Some("relative"), Some("/home/me")), of_home);
        let of_data = Some(PathBuf::from("/data/stowplan/drivers"));
        assert_eq!(below(Some("/data"), Some("/home/me")), of_data);
        assert_eq!(below(None, None), None);
    }

    #[test]
    fn the_first_program_of_a_name_that_may_run_is_found_and_what_was_given_comes_before_all() {
        let [one, two] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let program = |directory: &Path, name: &str, mode| {
            let path = directory.join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        program(one.path(), "stowplan-driver-a", 0o755);
        program(two.path(), "stowplan-driver-a", 0o755);
        program(two.path(), "stowplan-driver-b", 0o755);
        program(two.path(), "stowplan-driver-c", 0o755);
        program(two.path(), "stowplan-driver-text", 0o644);
        program(two.path(), "stowplan-driver-", 0o755);
        program(two.path(), "other", 0o755);
        let given = vec!["python3".to_owned(), "b.py".to_owned()];
        let found = find(&Search {
            given: BTreeMap::from([("b".to_owned(), given)]),
            directories: vec![one.path().into(), "/nowhere".into(), two.path().into()],
        });
        let programs: Vec<_> = found
            .iter()
            .map(|found| (found.name.as_str(), found.command.program.clone()))
            .collect();
        let expected = [
            ("a", one.path().join("stowplan-driver-a")),
            ("b", "python3".into()),
            ("c", two.path().join("stowplan-driver-c")),
        ];
        assert_eq!(programs, expected);
        assert_eq!(found[1].command.arguments, ["b.py"]);
    }
}
