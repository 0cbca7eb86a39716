//! Servers that a run starts for its stores, and ends.
//!
//! A store finds its server by a secret setting that names a variable of the environment. Where that is
//! `STOWPLAN_NAME`, and nobody has set it, server NAME is started before the first store is built: by a
//! command of the study, or by the script that is built in (`drivers/servers/serve`). It gets an empty
//! directory, says `ready URL` on its stdout, and ends when its stdin closes, whatever became of us.

use super::group::{Group, Program, cause};
use crate::interrupt::Interrupt;
use crate::{HarnessError, Result, place};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::Path;
use std::process::{ChildStdin, Command};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stowplan_model::{DriverSpec, Settings, StoreSpec, Value, server_variable};

/// Starts each of [`BUILT_IN`]: `serve NAME DIRECTORY`.
const SCRIPT: &str = include_str!("../../servers/serve");
/// The servers that the script knows.
const BUILT_IN: [&str; 7] = [
    "minio",
    "minio-cluster",
    "postgres",
    "redis",
    "redis-everysec",
    "redis-no",
    "redis-none",
];
/// How long a server may take until it is ready.
const STARTING: Duration = Duration::from_secs(120);
/// How long it may take to end.
const ENDING: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

/// The servers of a run by their variables: what workers are told, and which process it is that each is
/// served by. Shared by all who start workers.
#[derive(Clone, Default)]
pub(crate) struct Environment(Arc<Mutex<Told>>);

type Told = BTreeMap<String, (String, u32)>;

impl std::fmt::Debug for Environment {
    /// Without the values, which are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.told().keys()).finish()
    }
}

impl Environment {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a command of the servers.
    pub(super) fn tell(&self, command: &mut Command) {
        let told = self.told();
        command.envs(told.iter().map(|(variable, (url, _))| (variable, url)));
    }

    /// The process that a store's server was started by; nothing where a run started none for it.
    pub(crate) fn process_of(&self, store: &StoreSpec) -> Option<u32> {
        let words = store.settings.values();
        let mut named = words.filter_map(|value| value.strip_prefix('$'));
        let told = self.told();
        named.find_map(|variable| told.get(variable).map(|(_, process)| *process))
    }
}

/// Servers that run; they end when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    running: Vec<Server>,
    environment: Environment,
}

/// A program that was started, and says when it is ready. It leads a process group.
#[derive(Debug)]
pub(crate) struct Server {
    group: Group,
    stdin: Option<ChildStdin>,
}

/// The servers by their variables that settings ask for and nobody has named.
pub(crate) fn asked<'s>(settings: impl Iterator<Item = &'s Settings>) -> BTreeSet<String> {
    let words = settings
        .flat_map(Settings::iter)
        .filter_map(|(_, value)| match value {
            Value::Word(word) => word.strip_prefix('$'),
            Value::Flag(_) | Value::Number(_) => None,
        });
    let nothing = server_variable("");
    let ours = words.filter(|name| name.starts_with(&nothing) && std::env::var_os(name).is_none());
    ours.map(str::to_owned).collect()
}

/// The name of a server, by its variable.
fn name_of(variable: &str) -> String {
    let name = variable.strip_prefix(&server_variable(""));
    name.unwrap_or(variable).to_lowercase().replace('_', "-")
}

impl Servers {
    pub(crate) fn of(environment: Environment) -> Self {
        Self {
            running: Vec::new(),
            environment,
        }
    }

    /// Starts the server of a variable in a directory of its own below `work`.
    ///
    /// # Errors
    /// There is no such server, it does not come up, or Ctrl-C; nothing of it is left then.
    pub(crate) fn start(
        &mut self,
        variable: &str,
        given: &BTreeMap<String, DriverSpec>,
        work: &Path,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let name = name_of(variable);
        let directory = work.join(format!("server-{name}"));
        let mut command = command(&name, given, variable)?;
        place::make_directory(work, &directory)?;
        command.arg(&directory);
        let url = &mut |line: &str| match line.strip_prefix("ready ") {
            Some(url) => Break(url.to_owned()),
            None => Continue(false),
        };
        let (server, url) = Server::start(command, &format!("server '{name}'"), interrupt, url)?;
        let process = server.id();
        let told = (variable.to_owned(), (url, process));
        self.environment.told().extend([told]);
        self.running.push(server);
        Ok(())
    }
}

/// How a server is started; the directory is still to be added.
fn command(name: &str, given: &BTreeMap<String, DriverSpec>, variable: &str) -> Result<Command> {
    let given = given
        .iter()
        .find(|(name, _)| server_variable(name) == variable);
    if let Some((program, arguments)) = given.and_then(|(_, spec)| spec.command.split_first()) {
        let mut command = Command::new(program);
        command.args(arguments);
        return Ok(command);
    }
    if !BUILT_IN.contains(&name) {
        let known = BUILT_IN.join(", ");
        let why = format!(
            "there is no server '{name}' (known: {known}); give its command in the study ([servers.{name}] command = \
             […]), or its URL in the environment ({variable})"
        );
        return Err(HarnessError::worker(&why, ""));
    }
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, name]);
    Ok(command)
}

impl Server {
    /// Starts it, and waits until it has said what ends the wait, by what it says as long as that is progress.
    pub(crate) fn start<T>(
        mut command: Command,
        what: &str,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(&str) -> ControlFlow<T, bool>,
    ) -> Result<(Self, T)> {
        let failed =
            |why: String, stderr: &str| HarnessError::worker(&format!("{what} {why}"), stderr);
        let program = command.get_program().display().to_string();
        let refused =
            |error: std::io::Error| failed(format!("cannot be started: {program}: {error}"), "");
        let Program {
            group,
            stdin,
            lines,
            stderr,
        } = Program::start(&mut command).map_err(refused)?;
        let mut server = Self { group, stdin };
        let mut deadline = Instant::now() + STARTING;
        while Instant::now() < deadline {
            match lines.recv_timeout(TICK) {
                _ if interrupt.raised() => return Err(HarnessError::Interrupted),
                Ok(Ok(line)) => match hear(line.trim()) {
                    Break(said) => return Ok((server, said)),
                    Continue(true) => deadline = Instant::now() + STARTING,
                    Continue(false) => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                    let why = format!("did not come up: {}", server.end());
                    return Err(failed(why, &stderr.last_part()));
                }
            }
        }
        let _ = server.end();
        let why = format!("was not ready after {} s", STARTING.as_secs());
        Err(failed(why, &stderr.last_part()))
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.group.number()
    }

    /// Whether it still runs.
    pub(crate) fn runs(&self) -> bool {
        !self.group.has_ended().unwrap_or(true)
    }

    /// Has it end, and says how it did.
    fn end(&mut self) -> String {
        drop(self.stdin.take());
        let deadline = Instant::now() + ENDING;
        while self.runs() && Instant::now() < deadline {
            std::thread::sleep(TICK);
        }
        self.group
            .end()
            .map_or_else(|error| error.to_string(), cause)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.environment.told().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(script: &str) -> (tempfile::TempDir, Servers, Result<()>) {
        let work = tempfile::tempdir().unwrap();
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let given = BTreeMap::from([("of_Mine".to_owned(), DriverSpec { command })]);
        let mut servers = Servers::of(Environment::default());
        let never = Interrupt::never();
        let result = servers.start("STOWPLAN_OF_MINE", &given, work.path(), &never);
        (work, servers, result)
    }

    #[test]
    fn a_server_is_told_to_workers_until_it_ends_with_the_run() {
        let script = "touch $0/up; echo ready pg://me:secret@here; cat; rm $0/up";
        let (work, servers, result) = started(script);
        result.unwrap();
        let up = work.path().join("server-of-mine/up");
        assert!(up.exists());
        let store = "kv:url=$STOWPLAN_OF_MINE".parse().unwrap();
        assert!(servers.environment.process_of(&store).is_some());
        let mut worker = Command::new("sh");
        worker.args(["-c", "echo $STOWPLAN_OF_MINE"]);
        servers.environment.tell(&mut worker);
        assert_eq!(worker.output().unwrap().stdout, b"pg://me:secret@here\n");
        assert!(!format!("{servers:?}").contains("secret"));
        drop(servers);
        assert!(!up.exists());
    }

    #[test]
    fn a_server_that_does_not_come_up_says_why() {
        let (_work, _servers, result) = started("echo no port >&2; exit 3");
        let (message, stderr) = result.unwrap_err().split();
        assert!(message.contains("'of-mine' did not come up"), "{message}");
        assert_eq!(stderr, "no port");
    }

    #[test]
    fn only_variables_of_ours_that_nobody_has_set_ask_for_a_server() {
        let mut settings = Settings::default();
        for (name, word) in [
            ("a", "$STOWPLAN_NO_SUCH"),
            ("b", "$HOME"),
            ("c", "$PW"),
            ("d", "x"),
        ] {
            settings.set(name, Value::Word(word.to_owned()));
        }
        let asked = asked([&settings].into_iter());
        assert_eq!(asked, BTreeSet::from(["STOWPLAN_NO_SUCH".to_owned()]));
        let refused = command("no-such", &BTreeMap::new(), "STOWPLAN_NO_SUCH").unwrap_err();
        assert!(
            refused.to_string().contains("[servers.no-such]"),
            "{refused}"
        );
    }
}
