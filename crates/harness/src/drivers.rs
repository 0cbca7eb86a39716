//! Drivers: the programs that host stores, and what they say of them.

mod found;
mod known;

pub use found::{Found, Search, find};
pub use known::{KNOWN, KnownDriver};

use crate::interrupt::Interrupt;
use crate::worker_process::{Environment, WorkerCommand, WorkerProcess};
use crate::{HarnessError, Result};
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::thread;
use std::time::Duration;
use stowplan_model::{
    Capabilities, Describe, Described, Operation, Plan, Rung, Settings, StoreSpec, Value, Workload,
    suggestion,
};

pub use stowplan_model::Kind;

/// How long a driver may take to greet, and to tell its kinds, where all are listed.
const LISTED_WITHIN: Duration = Duration::from_secs(10);

/// A store spec, checked and with nothing left open.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The kind of store.
    pub kind: Rc<Kind>,
    /// Every setting of the kind.
    pub settings: Settings,
    /// What the kind can do with these settings.
    pub capabilities: Capabilities,
}

/// The drivers of a run: the program itself, and those with a name. Each is asked by one process, which
/// is started when the first question comes.
pub struct Drivers {
    built_in: WorkerCommand,
    /// Answers in place of a worker for the stores that are built in: of plans that are never run.
    describes: Option<fn(&Describe) -> Described>,
    named: BTreeMap<String, WorkerCommand>,
    interrupt: Interrupt,
    /// The servers of a run, which all drivers are told of.
    environment: Environment,
    hosts: RefCell<BTreeMap<String, Host>>,
    /// Stores of which nothing is known, because their driver failed: why, by spec.
    failures: RefCell<BTreeMap<String, (String, String)>>,
}

impl fmt::Debug for Drivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.named).finish()
    }
}

/// A driver that was asked.
#[derive(Default)]
struct Host {
    process: Option<WorkerProcess>,
    /// What its greeting says of its program.
    tool: String,
    kinds: BTreeMap<String, Rc<Kind>>,
    /// Why it told nothing when all were asked.
    failure: Option<(String, String)>,
    /// What it said of stores, by spec.
    told: BTreeMap<String, Described>,
}

impl Drivers {
    /// The program's own stores, which a worker describes and serves.
    #[must_use]
    pub fn new(built_in: WorkerCommand, interrupt: Interrupt) -> Self {
        Self {
            built_in,
            describes: None,
            named: BTreeMap::new(),
            interrupt,
            environment: Environment::default(),
            hosts: RefCell::default(),
            failures: RefCell::default(),
        }
    }

    /// The program's own stores, which this process describes: for plans that are never run.
    #[must_use]
    pub fn described_by(describe: fn(&Describe) -> Described) -> Self {
        let nobody = WorkerCommand::new("", &[]);
        Self {
            describes: Some(describe),
            ..Self::new(nobody, Interrupt::never())
        }
    }

    /// Adds a driver under a name, in place of one that had it.
    pub fn add(&mut self, name: &str, mut command: WorkerCommand) {
        command.environment = self.environment.clone();
        name.clone_into(&mut command.driver);
        self.named.insert(name.to_owned(), command);
    }

    /// The servers that all drivers are told of.
    pub(crate) fn environment(&self) -> Environment {
        self.environment.clone()
    }

    /// How the workers of a store are started.
    ///
    /// # Errors
    /// There is no such driver.
    pub(crate) fn command(&self, spec: &StoreSpec) -> Result<&WorkerCommand> {
        self.command_of(self.host(spec))
    }

    /// How workers of a driver are started; the name is empty for the program itself.
    pub(crate) fn command_of(&self, driver: &str) -> Result<&WorkerCommand> {
        match driver {
            "" => Ok(&self.built_in),
            _ => self.named.get(driver).ok_or_else(|| self.unknown(driver)),
        }
    }

    /// The driver that hosts a store; empty: the program itself. Where a spec names none, and no such
    /// kind is built in, it is the driver of the kind's own name: `mine` is short for `mine/mine`.
    pub fn host<'s>(&self, spec: &'s StoreSpec) -> &'s str {
        let (driver, name) = (spec.driver(), spec.name());
        let is_short = driver.is_empty() && self.named.contains_key(name);
        // Of a program that does not tell what is built in, everything may be.
        match is_short && self.kinds("").is_ok_and(|kinds| !kinds.contains_key(name)) {
            true => name,
            false => driver,
        }
    }

    /// How specs name a kind of a driver, as shortly as they may.
    #[must_use]
    pub fn shortest(&self, driver: &str, kind: &str) -> String {
        let short = name_only(kind);
        match self.host(&short) == driver {
            true => short.kind,
            false => short.of_driver(driver).kind,
        }
    }

    fn unknown(&self, driver: &str) -> HarnessError {
        if let Some(known) = KnownDriver::find(driver) {
            return missing(known);
        }
        let known = || self.named.keys().map(String::as_str);
        HarnessError::invalid(format!(
            "there is no driver '{driver}'; give its command in the study ([drivers.{driver}] command = […]) \
             or by --driver {driver}=COMMAND, or put stowplan-driver-{driver} on PATH ('stowplan list drivers' \
             lists what is found){}",
            suggestion(driver, known())
        ))
    }

    /// The kind of store that a spec names.
    ///
    /// # Errors
    /// There is no such driver or kind, or the driver fails.
    pub fn kind(&self, spec: &StoreSpec) -> Result<Rc<Kind>> {
        let (driver, name) = (self.host(spec), spec.name());
        let kinds = self.kinds(driver)?;
        match (kinds.get(name), driver) {
            (Some(kind), _) => Ok(Rc::clone(kind)),
            (None, "") => Err(self.not_built_in(name)),
            (None, _) => {
                let known = || kinds.keys().map(String::as_str);
                let hint = suggestion(name, known());
                let known: Vec<String> = known().map(|kind| format!("{driver}/{kind}")).collect();
                Err(HarnessError::invalid(format!(
                    "driver '{driver}' has no store '{name}'; known: {}{hint}",
                    known.join(", ")
                )))
            }
        }
    }

    /// Why there is no store of this name, which names no driver.
    fn not_built_in(&self, name: &str) -> HarnessError {
        if let Some(known) = KnownDriver::find(name) {
            return missing(known);
        }
        let hosts: Vec<&KnownDriver> = KnownDriver::hosting(name).collect();
        if let [host, ..] = hosts[..] {
            return self.named_without(name, host);
        }
        // The program knows best which of its own was meant.
        let (store, workload) = (Some(name_only(name)), None);
        let refused = match self.ask("", &Describe { store, workload }) {
            Ok(described) => described.refused.unwrap_or_default(),
            Err(error) => return error,
        };
        let known = KNOWN
            .iter()
            .flat_map(|driver| driver.kinds.iter().chain([&driver.name]));
        let hint = match refused.ends_with('?') {
            true => String::new(),
            false => suggestion(
                name,
                self.named.keys().map(String::as_str).chain(known.copied()),
            ),
        };
        HarnessError::invalid(format!("{refused}{hint}"))
    }

    /// A kind of store was named without its driver, whose name is another.
    fn named_without(&self, kind: &str, driver: &KnownDriver) -> HarnessError {
        let name = driver.name;
        let wanted = format!("'{kind}' is a store of driver '{name}': write {name}/{kind}");
        HarnessError::invalid(match self.named.contains_key(name) {
            true => wanted,
            false => format!("{wanted}; {}", missing(driver)),
        })
    }

    /// Why a store is not to be had here: its driver was not found, or was installed without what it takes.
    /// Nothing where it is, or where no driver is known to host such a store.
    pub(crate) fn not_found(&self, spec: &StoreSpec) -> Option<String> {
        let (driver, kind) = (self.host(spec), spec.name());
        let host = if driver.is_empty() { kind } else { driver };
        let known = KnownDriver::find(host);
        if !driver.is_empty() && !self.named.contains_key(driver) {
            return Some(self.unknown(driver).to_string());
        }
        let known = known.filter(|known| known.kinds.contains(&kind))?;
        let is_hosted = self.kinds(driver).ok()?.contains_key(kind);
        (!is_hosted).then(|| match driver {
            "" => missing(known).to_string(),
            _ => format!(
                "driver '{driver}' was installed without '{kind}'; in a checkout of stowplan: {}",
                known.how_to_get()
            ),
        })
    }

    /// Why its driver has no such store here, in the driver's words.
    pub(crate) fn refusal(&self, spec: &StoreSpec) -> Option<String> {
        let kind = self.kind(spec).ok()?;
        let settings = Settings::resolve(&kind.settings, &spec.settings).ok()?;
        self.describe(spec, &settings, None).ok()?.refused
    }

    /// The kinds of stores that a driver hosts, by name.
    ///
    /// # Errors
    /// There is no such driver, or it fails.
    pub fn kinds(&self, driver: &str) -> Result<BTreeMap<String, Rc<Kind>>> {
        let host = self.host_of(driver);
        if let Some((message, stderr)) = &host.failure {
            return Err(HarnessError::worker(message, stderr));
        }
        if !host.kinds.is_empty() {
            return Ok(host.kinds.clone());
        }
        drop(host);
        let kinds = kinds_of(self.ask(driver, &Describe::default())?);
        self.host_of(driver).kinds.clone_from(&kinds);
        Ok(kinds)
    }

    /// Asks all drivers with a name for their kinds, side by side, as long as a list is waited for; one that
    /// tells none by then fails whenever it is asked for them.
    pub fn ask_all(&self) {
        let told = thread::scope(|scope| {
            let asked = self.named.iter().map(|(name, command)| {
                let (mut command, interrupt) = (command.clone(), self.interrupt.clone());
                command.patience.manners = LISTED_WITHIN;
                let ask = move || ask_for_kinds(&command, &interrupt);
                (name, thread::Builder::new().spawn_scoped(scope, ask))
            });
            let asked = Vec::from_iter(asked).into_iter();
            let told = asked.filter_map(|(name, asked)| Some((name, asked.ok()?.join().ok()?)));
            Vec::from_iter(told)
        });
        for (name, told) in told {
            let mut host = self.host_of(name);
            match told {
                Ok((tool, described)) => {
                    host.tool = tool;
                    host.kinds = kinds_of(described);
                }
                Err(error) => host.failure = Some(error.split()),
            }
        }
    }

    /// Checks a spec's settings, fills in what it leaves open (a `cache` gets the memory budget, in bytes, where there
    /// is one, as far as the setting allows; everything else its default), and asks what the store can do.
    ///
    /// # Errors
    /// An unknown driver, store or setting, a value that is not accepted, settings that exclude each
    /// other, or a driver that fails.
    pub fn resolve(&self, spec: &StoreSpec, memory_budget: Option<u64>) -> Result<Resolved> {
        let kind = self.kind(spec)?;
        let wrong = |why: String| HarnessError::invalid(format!("store spec '{spec}': {why}"));
        let settings = Settings::resolve_within(&kind.settings, &spec.settings, memory_budget);
        let settings = settings.map_err(|error| wrong(error.to_string()))?;
        let described = self.describe(spec, &settings, None)?;
        match described.refused {
            Some(why) => Err(wrong(why)),
            None => Ok(Resolved {
                kind,
                settings,
                capabilities: described.capabilities.unwrap_or_default(),
            }),
        }
    }

    /// As [`Self::resolve`]; but of a store whose driver fails nothing is known, and anything may be
    /// planned with it: its cell fails when it is to be measured.
    ///
    /// # Errors
    /// As [`Self::resolve`], but for a driver that fails.
    pub(crate) fn resolve_or_fail_later(
        &self,
        spec: &StoreSpec,
        memory_budget: u64,
    ) -> Result<Resolved> {
        match self.resolve(spec, Some(memory_budget)) {
            Err(error @ HarnessError::Worker { .. }) if !self.host(spec).is_empty() => {
                self.fails(spec, error.split());
                Ok(unknown_store(spec))
            }
            resolved => resolved,
        }
    }

    /// Has a store fail where it is to be built, for a reason: what was said, and the end of stderr.
    pub(crate) fn fails(&self, spec: &StoreSpec, why: (String, String)) {
        self.failures.borrow_mut().insert(spec.to_string(), why);
    }

    /// Why nothing is known of a store: its driver failed when it was asked, or its server did.
    pub(crate) fn failure(&self, spec: &StoreSpec) -> Option<HarnessError> {
        let failures = self.failures.borrow();
        let (message, stderr) = failures.get(&spec.to_string())?;
        Some(HarnessError::worker(message, stderr))
    }

    /// Whether a driver of some cell failed when it was asked, so that the cell will.
    #[must_use]
    pub fn fail_in(&self, plan: &Plan) -> bool {
        plan.cells().any(|cell| self.failure(&cell.store).is_some())
    }

    /// The cells that take a workload on a store apart, from the bottom up; none where its driver does
    /// not tell.
    pub(crate) fn ladder(
        &self,
        spec: &StoreSpec,
        settings: &Settings,
        workload: &Workload,
    ) -> Vec<Rung> {
        let described = self.describe(spec, settings, Some(workload));
        let rungs = described.map_or(Vec::new(), |described| described.ladder);
        let hosted = |rung: Rung| Rung {
            store: rung.store.of_driver(self.host(spec)),
            ..rung
        };
        rungs.into_iter().map(hosted).collect()
    }

    fn describe(
        &self,
        spec: &StoreSpec,
        settings: &Settings,
        workload: Option<&Workload>,
    ) -> Result<Described> {
        let store = StoreSpec::spelled_out(spec.name(), settings);
        let (text, driver) = (store.to_string(), self.host(spec));
        // What it says of a workload is asked once.
        let known = self.host_of(driver).told.get(&text).cloned();
        if let Some(known) = known.filter(|_| workload.is_none()) {
            return Ok(known);
        }
        let asked = Describe {
            store: Some(store),
            workload: workload.cloned(),
        };
        let told = self.ask(driver, &asked)?;
        if workload.is_none() {
            self.host_of(driver).told.insert(text, told.clone());
        }
        Ok(told)
    }

    fn host_of(&self, driver: &str) -> RefMut<'_, Host> {
        RefMut::map(self.hosts.borrow_mut(), |hosts| {
            hosts.entry(driver.to_owned()).or_default()
        })
    }

    /// Asks a driver, whose process is started for the first question.
    fn ask(&self, driver: &str, asked: &Describe) -> Result<Described> {
        if let Some(describe) = self.describes.filter(|_| driver.is_empty()) {
            return Ok(describe(asked));
        }
        let command = self.command_of(driver)?;
        let mut host = self.host_of(driver);
        let mut process = match host.process.take() {
            Some(process) => process,
            None => WorkerProcess::start(command, &self.interrupt)?,
        };
        let described = process.describe(asked)?;
        process.tool().clone_into(&mut host.tool);
        host.process = Some(process);
        Ok(described)
    }

    /// What the greeting of a driver says of its program.
    ///
    /// # Errors
    /// It cannot be started, or does not greet as it should.
    pub fn tool(&self, driver: &str) -> Result<String> {
        self.kinds(driver)?;
        Ok(self.host_of(driver).tool.clone())
    }

    /// Ends the processes that answer questions: nothing shall run beside a measurement. What they said
    /// is remembered; another question starts another one.
    pub(crate) fn hang_up(&self) {
        for host in self.hosts.borrow_mut().values_mut() {
            host.process = None;
        }
    }
}

#[cfg(test)]
impl Drivers {
    /// The stores that are built in, described by the driver of this process.
    pub(crate) fn built_in() -> Self {
        Self::described_by(stowplan_driver::describe)
    }
}

/// Asks a driver for its kinds; with what its greeting says of its program.
fn ask_for_kinds(command: &WorkerCommand, interrupt: &Interrupt) -> Result<(String, Described)> {
    let mut process = WorkerProcess::start(command, interrupt)?;
    let described = process.describe(&Describe::default())?;
    Ok((process.tool().to_owned(), described))
}

/// The kinds that a driver told of, by name.
fn kinds_of(described: Described) -> BTreeMap<String, Rc<Kind>> {
    let kinds = described.kinds.into_iter();
    let kinds = kinds.map(|kind| (kind.name.clone(), Rc::new(kind)));
    kinds.collect()
}

/// The driver that hosts what was asked for was not found.
fn missing(driver: &KnownDriver) -> HarnessError {
    let (name, how_to_get) = (driver.name, driver.how_to_get());
    HarnessError::invalid(format!(
        "driver '{name}' was not found; in a checkout of stowplan: {how_to_get}"
    ))
}

fn name_only(kind: &str) -> StoreSpec {
    StoreSpec {
        kind: kind.to_owned(),
        settings: BTreeMap::new(),
    }
}

/// A store of which nothing is known: it is thought to do anything.
fn unknown_store(spec: &StoreSpec) -> Resolved {
    let mut settings = Settings::default();
    for (name, value) in &spec.settings {
        settings.set(name, Value::Word(value.clone()));
    }
    Resolved {
        kind: Rc::new(Kind {
            name: spec.name().to_owned(),
            ..Kind::default()
        }),
        settings,
        capabilities: Capabilities {
            operations: Operation::SINGLE.to_vec(),
            threads: true,
            ..Capabilities::default()
        },
    }
}
