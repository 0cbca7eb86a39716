//! Stores whose data lies with a server: one adapter for all of them.
//!
//! What belongs here: under which name the data lies on the server, who removes it, secrets, and what a
//! store is made of. What does not: anything of one server. A server's driver implements [`Remote`], a
//! connection to it, by which operations run as in a transaction of [`kv`](crate::kv).
//!
//! In its place a store has but a file with its name on the server. With the data, the server keeps for
//! which place of which machine it was made, so that what a killed run left can be told and removed.

use crate::kv::{Rows, replaced};
use crate::options::{Described, StoreOptions, number};
use crate::store::Kind;
use crate::{Access, Buffer, Found, Key, Result, Session, Store, StoreError, Visit};
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Footprint, Settings};

/// The file in a store's place that holds its name on the server.
const NAME_FILE: &str = "name-on-server";

/// The setting `timeout` of every such store.
pub const TIMEOUT: Described<u64> = number(
    1,
    3_600,
    "30",
    "seconds until a request fails that the server does not answer",
);

/// A connection to a server, on which a store's data lies under a name of its own. Outside
/// [`Self::begin`] … [`Self::end`] each operation is a transaction of its own.
pub trait Remote: Rows + Sized + 'static {
    /// The name of the store, in specs and messages.
    const STORE: &'static str;

    /// What it is, in a sentence.
    const ABOUT: &'static str;

    /// The client library, and its version; the server tells its own among the effective settings.
    const CLIENT: (&'static str, &'static str);

    /// The settings, typed.
    type Options: StoreOptions;

    /// What it can do with these settings: [`capabilities`], and what is said of this one.
    fn capabilities(options: &Self::Options) -> Capabilities;

    /// Connects to the server, and notes the settings that it has, and what else of it decides what a
    /// figure means.
    ///
    /// # Errors
    /// It does not answer in time, refuses, or does not have what the settings ask for.
    fn connect(options: &Self::Options, name: &str, effective: &mut Settings) -> Result<Self>;

    /// Makes an empty store under the connection's name, and notes whose it is.
    ///
    /// # Errors
    /// The server refuses.
    fn make(&mut self, owner: &str) -> Result<()>;

    /// Names and owners of all that was so made on the server, by whomever.
    ///
    /// # Errors
    /// The server refuses.
    fn made(&mut self) -> Result<Vec<(String, String)>>;

    /// Removes a store with everything in it; one that is not there is none.
    ///
    /// # Errors
    /// The server refuses.
    fn remove_store(&mut self, name: &str) -> Result<()>;

    /// Bytes of the store, by the server's word.
    ///
    /// # Errors
    /// The server refuses.
    fn bytes(&mut self) -> Result<u64>;

    /// Prepares what a session asks again and again.
    ///
    /// # Errors
    /// The server refuses, or there is no such store.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Begins a transaction; nothing where the server has none.
    ///
    /// # Errors
    /// The server refuses.
    fn begin(&mut self, access: Access) -> Result<()> {
        let _ = access;
        Ok(())
    }

    /// Ends the transaction: its changes are kept, or undone.
    ///
    /// # Errors
    /// The server refuses, or cannot undo.
    fn end(&mut self, kept: bool) -> Result<()> {
        let why = "it has no transactions that could be undone";
        kept.then_some(())
            .ok_or_else(|| StoreError::unsupported("roll back", why))
    }

    /// Adds a value that is new, as [`Session::insert`].
    ///
    /// # Errors
    /// The key exists, or the server refuses.
    fn add(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.put(key, value, false)? {
            true => Ok(()),
            false => Err(StoreError::key_exists(key)),
        }
    }

    /// Adds several values, as [`Session::insert_many`].
    ///
    /// # Errors
    /// As [`Self::add`].
    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        rows.iter()
            .try_for_each(|(key, value)| self.add(*key, value))
    }

    /// Adds the values of a dataset, as fast as the server can load.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.insert_many(rows)
    }
}

/// What every such store is like: its data can neither be evicted nor looked at from here.
#[must_use]
pub fn capabilities() -> Capabilities {
    Capabilities {
        threads: true,
        parallel_writers: true,
        evictable: false,
        ..Capabilities::default()
    }
}

/// What is read from the URL in the environment variable that a secret setting names.
///
/// # Errors
/// There is no such variable, or what it holds is not the URL of `what`. Nothing of it is told: that could
/// be a part of the password.
pub fn address<T>(setting: &str, what: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
    let name = setting.strip_prefix('$').unwrap_or(setting);
    let failed = |why: String| StoreError::engine("find its server", why);
    let url = std::env::var(name).map_err(|_| {
        failed(format!(
            "the environment variable {name} is not set; it holds the server's URL (docs/servers.md)"
        ))
    })?;
    read(&url).ok_or_else(|| failed(format!("${name} holds no URL of {what}")))
}

/// A server that has not answered within the setting `timeout`.
#[cold]
#[must_use]
pub fn no_answer(action: &str, timeout: u64) -> StoreError {
    let why = format!("the server did not answer within {timeout} s");
    StoreError::engine(action, why)
}

impl Kind {
    /// Makes the kind of store that lies with a server: what a driver hosts.
    #[must_use]
    pub const fn of_server<R: Remote>() -> Self {
        Self {
            engine: Some(|| (R::CLIENT.0, R::CLIENT.1.to_owned())),
            remove_below: Some(remove_below::<R>),
            ..Self::new(
                (R::STORE, R::ABOUT, R::Options::SETTINGS),
                &|settings| R::Options::from_settings(settings).map(|o| R::capabilities(&o)),
                &|directory, settings, new| {
                    let options = R::Options::from_settings(settings)?;
                    let name = match new {
                        true => create::<R>(directory, &options)?,
                        false => {
                            let file = directory.join(NAME_FILE);
                            fs::read_to_string(&file).map_err(StoreError::io("read", &file))?
                        }
                    };
                    Ok(Box::new(RemoteStore::<R> { options, name }))
                },
            )
        }
    }
}

/// Makes a store for this place, and writes its name on the server there.
fn create<R: Remote>(directory: &Path, options: &R::Options) -> Result<String> {
    let name = format!("stowplan_{:016x}", RandomState::new().hash_one(directory));
    let mut server = connected::<R>(options, &name)?;
    let directory = &absolute(directory)?;
    // One that may not be removed is in nobody's way. What cannot be looked at is another user's.
    let gone = |place: &Path| matches!(place.try_exists(), Ok(false));
    let _ = remove_of(&mut server, |place| place == directory || gone(place));
    fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
    server.make(&format!("{}{}", here(), directory.display()))?;
    let file = directory.join(NAME_FILE);
    fs::write(&file, &name).map_err(StoreError::io("write", &file))?;
    Ok(name)
}

fn remove_below<R: Remote>(directory: &Path, settings: &Settings) -> Result<()> {
    let options = R::Options::from_settings(settings)?;
    let directory = absolute(directory)?;
    let below = |place: &Path| place.starts_with(&directory);
    remove_of(&mut connected::<R>(&options, "")?, below)
}

fn connected<R: Remote>(options: &R::Options, name: &str) -> Result<R> {
    R::connect(options, name, &mut Settings::default())
}

/// Removes the stores that were made for places of this machine of which `which` says so.
fn remove_of<R: Remote>(server: &mut R, which: impl Fn(&Path) -> bool) -> Result<()> {
    let (here, mut done) = (here(), Ok(()));
    for (name, owner) in server.made()? {
        let place = owner.strip_prefix(&here).map(Path::new);
        if place.is_some_and(&which) {
            done = done.and(server.remove_store(&name));
        }
    }
    done
}

fn absolute(directory: &Path) -> Result<PathBuf> {
    std::path::absolute(directory).map_err(StoreError::io("find", directory))
}

/// This machine, or the container that sees a file tree of its own. What is made is owned by a place on it.
fn here() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (host, machine) = (read("/proc/sys/kernel/hostname"), read("/etc/machine-id"));
    let tree = fs::read_link("/proc/self/ns/mnt").unwrap_or_default();
    format!("{} {} {} ", host.trim(), machine.trim(), tree.display())
}

/// A store on a server. Checkpoints are the server's own affair: others may use it, too.
struct RemoteStore<R: Remote> {
    options: R::Options,
    name: String,
}

impl<R: Remote> Store for RemoteStore<R> {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        let mut effective = Settings::default();
        let mut server = R::connect(&self.options, &self.name, &mut effective)?;
        server.prepare()?;
        Ok(Box::new(RemoteSession(server, effective)))
    }

    fn footprint(&self) -> Result<Footprint> {
        let bytes = connected::<R>(&self.options, &self.name)?.bytes()?;
        Ok(Footprint {
            apparent_bytes: bytes,
            allocated_bytes: bytes,
            ..Footprint::default()
        })
    }
}

/// A connection, and the settings that the server has.
struct RemoteSession<R>(R, Settings);

impl<R: Remote> Session for RemoteSession<R> {
    fn effective_settings(&self) -> Result<Settings> {
        Ok(self.1.clone())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.0.begin(access)
    }

    fn commit(&mut self) -> Result<()> {
        self.0.end(true)
    }

    fn rollback(&mut self) -> Result<()> {
        self.0.end(false)
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.0.get(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.0.get(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.0.add(key, value)
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.0.insert_many(rows)
    }

    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        self.0.load(rows)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let was_there = self.0.put(key, value, true)?;
        Ok(replaced(was_there, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.0.remove(key)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        self.0.scan(from, limit, visit)
    }
}
