//! The parent's end of a worker: start it, speak the protocol, never wait for ever, leave no
//! process behind.
//!
//! A worker may be anyone's program. Whatever it does, it fails its own cell: it can neither hang
//! the run nor fill the memory of this program nor leave processes behind.

mod group;
mod server;
mod streams;

pub(crate) use group::{Group, Program};
pub(crate) use server::{Environment, Server, Servers, asked};

use crate::interrupt::Interrupt;
use crate::{HarnessError, Progress, Result, platform};
use group::cause;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command};
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};
use stowplan_model::{
    Describe, Described, FromDriver, PROTOCOL_NAME, PROTOCOL_VERSION, ToDriver, decode, encode,
};

/// How often the wait for a worker looks for Ctrl-C, and whether the worker still lives.
const TICK: Duration = Duration::from_millis(50);
/// How long a worker may take to end after it has closed its stdout, or after Ctrl-C.
const LAST_MOMENTS: Duration = Duration::from_secs(1);
/// The longest message about a worker, characters.
const LONGEST_FAILURE: usize = 1_000;

/// How to start a worker.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The name of the driver that it is; empty for the program itself.
    pub driver: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How long it may take.
    pub patience: Patience,
    /// A directory that is to be a mount of its own to it, which takes root.
    pub mount: Option<PathBuf>,
    /// The servers that it is told of.
    pub(crate) environment: Environment,
}

impl WorkerCommand {
    /// A program, given as much time as any.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Self {
            driver: String::new(),
            program: program.into(),
            arguments: arguments.iter().copied().map(str::to_owned).collect(),
            patience: Patience::default(),
            mount: None,
            environment: Environment::default(),
        }
    }

    /// For `map_err`: that it cannot be started, by its name where it has one.
    fn not_started<E: Into<std::io::Error>>(&self) -> impl FnOnce(E) -> HarnessError {
        let (driver, program) = (self.driver.clone(), self.program.clone());
        move |error| match &*driver {
            "" => HarnessError::io("start worker", &program)(error),
            name => HarnessError::invalid(format!(
                "driver '{name}': cannot start {}: {}",
                program.display(),
                error.into()
            )),
        }
    }

    /// This executable's hidden verb `worker`.
    ///
    /// # Errors
    /// The system does not tell where this executable lies.
    pub fn this_executable() -> Result<Self> {
        let program = platform::own_program().map_err(|error| {
            HarnessError::invalid(format!(
                "cannot find this program's own file, which is started again as worker: {error}"
            ))
        })?;
        Ok(Self::new(program, &["worker"]))
    }
}

/// How long a worker may take until it is thought to hang, and is ended. Generous: a slow machine
/// must not fail a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// To greet, to take a message, and to end after it was told to.
    pub manners: Duration,
    /// To be ready: it may load a store in memory.
    pub preparing: Duration,
    /// Between two signs of progress: the last step of a task, which brings everything to the disk,
    /// has none.
    pub silence: Duration,
    /// For an operation, on average. A task that tells how far it is may take that for each, and
    /// `silence` in all.
    pub operation: Duration,
    /// For all operations of a task that says nothing meanwhile, however many they are.
    pub operations: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            manners: Duration::from_secs(20),
            preparing: Duration::from_secs(600),
            silence: Duration::from_secs(300),
            operation: Duration::from_millis(200),
            operations: Duration::from_secs(600),
        }
    }
}

/// How long one task may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Between two signs of progress.
    pub(crate) silence: Duration,
    /// In all.
    pub(crate) most: Duration,
}

impl Patience {
    /// For a task that tells how far it is, of so many operations.
    pub(crate) fn telling(&self, operations: u64) -> Limits {
        Limits {
            silence: self.silence,
            most: self.in_all(operations),
        }
    }

    /// For one that may be silent as a whole.
    pub(crate) fn silent(&self, operations: u64) -> Limits {
        let most = self.in_all(operations);
        Limits {
            silence: most.min(self.silence.saturating_add(self.operations)),
            most,
        }
    }

    /// To be ready.
    pub(crate) fn ready(&self) -> Limits {
        Limits {
            silence: self.preparing,
            most: self.preparing,
        }
    }

    /// To answer at once.
    pub(crate) fn polite(&self) -> Limits {
        Limits {
            silence: self.manners,
            most: self.manners,
        }
    }

    fn in_all(&self, operations: u64) -> Duration {
        let operations = u32::try_from(operations).unwrap_or(u32::MAX);
        let working = self.operation.saturating_mul(operations);
        self.silence.saturating_add(working)
    }
}

/// A worker that was started and has greeted.
pub(crate) struct WorkerProcess {
    program: Program,
    pub(crate) patience: Patience,
    interrupt: Interrupt,
    tool: String,
    /// Who it is in messages.
    who: String,
    /// The task that it was given last; empty before any.
    task: String,
}

impl WorkerProcess {
    pub(crate) fn start(command: &WorkerCommand, interrupt: &Interrupt) -> Result<Self> {
        let refused = || command.not_started();
        let mut process = Command::new(&command.program);
        process.args(&command.arguments);
        if let Some(directory) = &command.mount {
            platform::mount_for_itself(&mut process, directory).map_err(refused())?;
        }
        command.environment.tell(&mut process);
        platform::ends_with_this(&mut process);
        let program = Program::start(&mut process).map_err(refused())?;
        let unblocked = program.stdin.as_ref().map_or(Ok(()), never_block);
        unblocked.map_err(refused())?;
        let mut worker = Self {
            program,
            patience: command.patience,
            interrupt: interrupt.clone(),
            tool: String::new(),
            who: match &*command.driver {
                "" => "the worker".to_owned(),
                name => format!("driver '{name}'"),
            },
            task: String::new(),
        };
        worker.greet()?;
        Ok(worker)
    }

    fn greet(&mut self) -> Result<()> {
        let greeting = self.hear(self.patience.manners)?;
        match greeting.ok_or_else(|| self.silent(self.patience.manners))? {
            FromDriver::Hello {
                protocol,
                version,
                tool,
            } => {
                if (&*protocol, version) == (PROTOCOL_NAME, PROTOCOL_VERSION) {
                    self.tool = one_line(&tool);
                    return Ok(());
                }
                Err(self.failed(&format!(
                    "{} speaks {protocol} version {version} (program {tool}), this program \
                     {PROTOCOL_NAME} version {PROTOCOL_VERSION}: use a driver of the same version",
                    self.who
                )))
            }
            other => Err(self.unexpected(&other)),
        }
    }

    /// The worker's process.
    pub(crate) fn id(&self) -> u32 {
        self.program.group.number()
    }

    /// What the greeting said of the program.
    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// Has the worker do a task, and returns its answer. One that says nothing new for the silence that
    /// is granted is ended, and so is one that does not answer in time, whatever it says.
    pub(crate) fn ask(&mut self, task: &ToDriver, limits: Limits) -> Result<FromDriver> {
        self.ask_telling(task, limits, &mut |_, _| ())
    }

    fn ask_telling(
        &mut self,
        task: &ToDriver,
        limits: Limits,
        progress: Progress<'_>,
    ) -> Result<FromDriver> {
        self.say(task)?;
        let end = Instant::now() + limits.most;
        let mut until = Instant::now() + limits.silence;
        let mut last = None;
        loop {
            let now = Instant::now();
            if now >= until {
                return Err(self.silent(limits.silence));
            }
            if now >= end {
                return Err(self.failed(&format!(
                    "{} was not done after {}{} and was ended",
                    self.who,
                    seconds(limits.most),
                    self.with_task()
                )));
            }
            match self.hear(until.min(end) - now)? {
                Some(FromDriver::Progress { done, total }) => {
                    // To say the same again is no progress.
                    if last.replace((done, total)) != Some((done, total)) {
                        until = Instant::now() + limits.silence;
                    }
                    progress(done, total);
                }
                Some(answer) => return Ok(answer),
                None => {}
            }
        }
    }

    /// Asks it what there is, or what a store can do.
    pub(crate) fn describe(&mut self, asked: &Describe) -> Result<Described> {
        let question = ToDriver::Describe(asked.clone());
        match self.ask(&question, self.patience.polite())? {
            FromDriver::Described(described) => Ok(described),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Has the worker do a task that has no answer but that it is done.
    pub(crate) fn done(
        &mut self,
        task: &ToDriver,
        limits: Limits,
        progress: Progress<'_>,
    ) -> Result<()> {
        match self.ask_telling(task, limits, progress)? {
            FromDriver::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn say(&mut self, message: &ToDriver) -> Result<()> {
        let mut line = encode(message);
        line.split('"')
            .nth(1)
            .unwrap_or_default()
            .clone_into(&mut self.task);
        line.push('\n');
        match self.send(line.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) if self.interrupt.raised() => Err(HarnessError::Interrupted),
            // A worker that died has closed its end; what it said last is the better message.
            Err(error) => match self.hear(LAST_MOMENTS) {
                Err(error) => Err(error),
                Ok(_) => Err(self.failed(&format!("{} takes no messages: {error}", self.who))),
            },
        }
    }

    /// Writes to the worker's stdin, which takes no more than a pipe does until the worker reads.
    fn send(&mut self, mut bytes: &[u8]) -> std::io::Result<()> {
        let Some(stdin) = self.program.stdin.as_mut() else {
            return Ok(());
        };
        let deadline = Instant::now() + self.patience.manners;
        while !bytes.is_empty() {
            match stdin.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.interrupt.raised() {
                        return Err(ErrorKind::Interrupted.into());
                    }
                    if Instant::now() >= deadline {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    thread::sleep(TICK);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message, if one comes within a time. A worker that reports a failure, dies, or says
    /// what is no message, is an error; so is Ctrl-C.
    fn hear(&mut self, within: Duration) -> Result<Option<FromDriver>> {
        let deadline = Instant::now() + within;
        loop {
            if self.interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.program.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => return self.understand(line).map(Some),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
                // Whoever it has started may hold its stdout open. What it said before it ended may
                // still be on its way.
                Err(RecvTimeoutError::Timeout) if self.has_ended() => {
                    let _ = self.program.group.end();
                    return match self.program.lines.recv_timeout(LAST_MOMENTS) {
                        Ok(line) => self.understand(line).map(Some),
                        Err(_) => Err(self.died()),
                    };
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn understand(&mut self, line: std::io::Result<String>) -> Result<FromDriver> {
        let line = line.map_err(|error| {
            self.failed(&format!("cannot take what {} says: {error}", self.who))
        })?;
        match decode(&line) {
            Ok(FromDriver::Failed { message }) => Err(self.failed(&message)),
            Ok(message) => Ok(message),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    /// Whether the worker itself has ended, whatever became of those that it started.
    fn has_ended(&self) -> bool {
        self.program.group.has_ended().unwrap_or(true)
    }

    /// Waits for the worker to end; whether it has within a time.
    fn ends_within(&self, most: Duration) -> bool {
        let deadline = Instant::now() + most;
        let mut interrupted = None;
        loop {
            if self.has_ended() {
                return true;
            }
            let now = Instant::now();
            if self.interrupt.raised() {
                interrupted.get_or_insert(now + LAST_MOMENTS);
            }
            if now >= deadline || interrupted.is_some_and(|until| now >= until) {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Tells the worker to end and waits until it has.
    pub(crate) fn end(mut self) -> Result<()> {
        // One that has ended before takes no messages, and need not.
        let _ = self.send(format!("{}\n", encode(&ToDriver::Bye)).as_bytes());
        drop(self.program.stdin.take());
        if !self.ends_within(self.patience.manners) {
            if self.interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
            return Err(self.failed(&format!(
                "{} did not end when told to, and was ended",
                self.who
            )));
        }
        match self.program.group.end() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                let how = format!("{} ended badly: {}", self.who, cause(status));
                Err(self.failed(&how))
            }
            Err(error) => Err(self.failed(&format!("cannot wait for {}: {error}", self.who))),
        }
    }

    /// What became of a worker that says nothing any more.
    fn died(&mut self) -> HarnessError {
        if !self.ends_within(LAST_MOMENTS) {
            let how = format!("{} closed its stdout and lived on, and was ended", self.who);
            return self.failed(&how);
        }
        let how = match self.program.group.end() {
            Ok(status) => format!("{} died{}: {}", self.who, self.with_task(), cause(status)),
            Err(error) => format!("cannot wait for {}: {error}", self.who),
        };
        self.failed(&how)
    }

    /// With which task something happened.
    fn with_task(&self) -> String {
        match &*self.task {
            "" => " before it greeted".to_owned(),
            task => format!(" with '{task}'"),
        }
    }

    fn silent(&mut self, time: Duration) -> HarnessError {
        self.failed(&format!(
            "{} said nothing new for {}{} and was ended",
            self.who,
            seconds(time),
            self.with_task()
        ))
    }

    pub(crate) fn unexpected(&mut self, message: &FromDriver) -> HarnessError {
        self.failed(&format!(
            "{} answered out of turn: {}",
            self.who,
            beginning(&encode(message), 120)
        ))
    }

    /// Ends the worker and makes the error, with the end of its stderr.
    pub(crate) fn failed(&mut self, message: &str) -> HarnessError {
        let _ = self.program.group.end();
        HarnessError::worker(&one_line(message), &self.program.stderr.last_part())
    }
}

/// A worker that takes no messages shall not stop this program.
fn never_block(stdin: &ChildStdin) -> std::io::Result<()> {
    Ok(fcntl_setfl(stdin, fcntl_getfl(stdin)? | OFlags::NONBLOCK)?)
}

/// `300 s`; of less than a second `0.2 s`.
fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 10.0).round() / 10.0)
}

fn beginning(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// What a worker says of a failure, as one line of bounded length that does nothing to a terminal.
pub(crate) fn one_line(message: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = message.trim().chars().map(shown).collect();
    match line.char_indices().nth(LONGEST_FAILURE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}

#[cfg(test)]
mod tests;
