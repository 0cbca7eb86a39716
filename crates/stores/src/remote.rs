//! Stores whose data lies with a server: one adapter for all of them.
//!
//! What belongs here: under which name the data lies on the server, who removes it, secrets, and what a
//! store is made of. What does not: anything of one server. A server's driver implements [`Remote`], a
//! connection to it.
//!
//! In its place a store has but a file with its name on the server. With the data, the server keeps for
//! which place of which machine it was made, so that what a killed run left can be told and removed.

use crate::options::StoreOptions;
use crate::{Connection, Key, Result, Session, Store, StoreError, StoreKind};
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Footprint, Setting, Settings};

/// The file in a store's place that holds its name on the server.
const NAME_FILE: &str = "name-on-server";

/// A connection to a server, on which a store's data lies under a name of its own.
pub trait Remote: Sized + 'static {
    /// The name of the store, in specs and messages.
    const STORE: &'static str;

    /// What it is, in a sentence.
    const ABOUT: &'static str;

    /// The settings, typed.
    type Options: StoreOptions;

    /// What operations run through.
    type Session<'c>: Session
    where
        Self: 'c;

    /// The client library, and its version; the server tells its own among the effective settings.
    fn client() -> (&'static str, String);

    /// What it can do with these settings.
    fn capabilities(options: &Self::Options) -> Capabilities;

    /// Connects to the server.
    ///
    /// # Errors
    /// It does not answer in time, refuses, or does not have what the settings ask for.
    fn connect(options: &Self::Options, name: &str) -> Result<Self>;

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
    fn remove(&mut self, name: &str) -> Result<()>;

    /// Bytes of the store, by the server's word.
    ///
    /// # Errors
    /// The server refuses.
    fn bytes(&mut self) -> Result<u64>;

    /// Settings as the server has them, and what else of it decides what a figure means.
    fn effective_settings(&self) -> Settings;

    /// A session; it has what can be prepared.
    ///
    /// # Errors
    /// The server refuses, or there is no such store.
    fn session(&mut self) -> Result<Self::Session<'_>>;
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

/// The text of a secret setting: the value of the environment variable that it names.
///
/// # Errors
/// There is no such variable.
pub fn secret(store: &'static str, setting: &str) -> Result<String> {
    let name = setting.strip_prefix('$').unwrap_or(setting);
    std::env::var(name).map_err(|_| {
        let why = format!(
            "the environment variable {name} is not set; it holds the server's URL (docs/servers.md)"
        );
        StoreError::engine(store, "find its server", why)
    })
}

/// The kind of store that a server makes: what a driver lists.
pub struct RemoteKind<R>(PhantomData<fn() -> R>);

impl<R> RemoteKind<R> {
    /// The kind.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "for statics, which need a const"
    )]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R: Remote> StoreKind for RemoteKind<R> {
    fn name(&self) -> &'static str {
        R::STORE
    }

    fn about(&self) -> &'static str {
        R::ABOUT
    }

    fn settings(&self) -> &'static [Setting] {
        R::Options::SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(R::client())
    }

    fn lies_elsewhere(&self) -> bool {
        true
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        R::Options::from_settings(settings).map(|options| R::capabilities(&options))
    }

    /// Removes besides what an earlier run of this machine left: nobody's place any more.
    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = R::Options::from_settings(settings)?;
        let name = format!("stowplan_{:016x}", RandomState::new().hash_one(directory));
        let mut server = R::connect(&options, &name)?;
        // One that may not be removed is in nobody's way.
        let _ = remove_of(&mut server, |place| !place.exists());
        fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
        server.make(&owner(directory)?)?;
        let file = directory.join(NAME_FILE);
        fs::write(&file, &name).map_err(StoreError::io("write", &file))?;
        Ok(Box::new(RemoteStore::<R> { options, name }))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let file = directory.join(NAME_FILE);
        let name = fs::read_to_string(&file).map_err(StoreError::io("read", &file))?;
        let options = R::Options::from_settings(settings)?;
        Ok(Box::new(RemoteStore::<R> { options, name }))
    }

    fn remove_below(&self, directory: &Path, settings: &Settings) -> Result<()> {
        let options = R::Options::from_settings(settings)?;
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        let below = |place: &Path| place.starts_with(&directory);
        remove_of(&mut R::connect(&options, "")?, below)
    }
}

/// Removes the stores that were made for places of this machine of which `which` says so.
fn remove_of<R: Remote>(server: &mut R, which: impl Fn(&Path) -> bool) -> Result<()> {
    let here = here();
    for (name, owner) in server.made()? {
        let place = owner.strip_prefix(&here).map(Path::new);
        if place.is_some_and(&which) {
            server.remove(&name)?;
        }
    }
    Ok(())
}

/// Whose data it is: this machine, and a place on it.
fn owner(directory: &Path) -> Result<String> {
    let place = std::path::absolute(directory).map_err(StoreError::io("find", directory))?;
    Ok(format!("{}{}", here(), place.display()))
}

/// This machine, or the container that sees a file tree of its own.
fn here() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let tree = fs::read_link("/proc/self/ns/mnt").unwrap_or_default();
    format!("{} {} ", host.trim(), tree.display())
}

/// A store on a server.
struct RemoteStore<R: Remote> {
    options: R::Options,
    name: String,
}

impl<R: Remote> Store for RemoteStore<R> {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(RemoteConnection(R::connect(
            &self.options,
            &self.name,
        )?)))
    }

    fn footprint(&self) -> Result<Footprint> {
        let bytes = R::connect(&self.options, &self.name)?.bytes()?;
        Ok(Footprint {
            apparent_bytes: bytes,
            allocated_bytes: bytes,
            ..Footprint::default()
        })
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The server's own affair: others may use it, too.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct RemoteConnection<R>(R);

impl<R: Remote> Connection for RemoteConnection<R> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(self.0.session()?))
    }

    fn effective_settings(&self) -> Result<Settings> {
        Ok(self.0.effective_settings())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
