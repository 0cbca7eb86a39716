//! A connection to the server, and the operations.

use crate::STORE;
use crate::options::Options;
use redis::{Cmd, Connection, FromRedisValue, Pipeline, RedisError, cmd};
use std::time::Duration;
use stowplan_model::{Capabilities, Operation, Settings};
use stowplan_stores::options::Value;
use stowplan_stores::remote::{self, Remote};
use stowplan_stores::{Access, Buffer, Found, Key, Result, Session, StoreError};

/// What Cargo.toml asks for, exactly.
const CLIENT_VERSION: &str = "1.8.1";

/// A hash of what was made, by its name: whose it is.
const MADE: &str = "stowplan:made";

/// Keys of a reply of SCAN, about.
const AT_ONCE: usize = 1_000;

pub(crate) struct Server {
    connection: Connection,
    options: Options,
    name: String,
    effective: Settings,
}

/// What the server said about an action, in one line.
#[cold]
fn failed(action: &str, error: &RedisError, options: Options) -> StoreError {
    if error.is_timeout() {
        let why = format!("the server did not answer within {} s", options.timeout);
        return StoreError::engine(STORE, action, why);
    }
    StoreError::engine(STORE, action, error.to_string())
}

impl Server {
    fn ask<T: FromRedisValue>(&mut self, action: &str, command: &Cmd) -> Result<T> {
        let answer = command.query(&mut self.connection);
        answer.map_err(|error| failed(action, &error, self.options))
    }

    fn key(&self, key: Key) -> Vec<u8> {
        [self.name.as_bytes(), b":", &key.0.to_be_bytes()].concat()
    }

    fn config(&mut self, name: &str) -> Result<String> {
        let asked = cmd("CONFIG").arg("GET").arg(name).to_owned();
        let answer: Vec<String> = self.ask("read its settings (CONFIG GET)", &asked)?;
        Ok(answer.into_iter().nth(1).unwrap_or_default())
    }

    /// That the server syncs as the settings say.
    fn configure(&mut self) -> Result<()> {
        for (name, wanted) in self.options.wanted() {
            let is = self.config(name)?;
            match wanted {
                Some(wanted) if is != wanted && self.options.configure => {
                    let set = cmd("CONFIG").arg("SET").arg(name).arg(wanted).to_owned();
                    self.ask::<()>("set it up (CONFIG SET)", &set)?;
                }
                Some(wanted) if is != wanted => {
                    let why = format!(
                        "it has {name}={is}, not {wanted}; say what it has, or configure=on to have it set"
                    );
                    return Err(StoreError::engine(STORE, "use the server", why));
                }
                _ => {}
            }
        }
        // What a user calls the policy, as it is now.
        let policy = match self.config("appendonly")?.as_str() {
            "no" => "none".to_owned(),
            _ => self.config("appendfsync")?,
        };
        self.effective.set("appendfsync", Value::Word(policy));
        let about: String = self.ask("ask for its version", cmd("INFO").arg("server"))?;
        let version = about
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"));
        let version = version.unwrap_or_default().trim().to_owned();
        self.effective.set("server_version", Value::Word(version));
        Ok(())
    }

    /// Shows the keys of a store, some at a time.
    fn keys(
        &mut self,
        name: &str,
        mut show: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = 0_u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{name}:*"));
            scan.arg("COUNT").arg(AT_ONCE);
            let (next, keys): (u64, Vec<Vec<u8>>) = self.ask("list keys", &scan)?;
            if !keys.is_empty() {
                show(self, keys)?;
            }
            if next == 0 {
                return Ok(());
            }
            cursor = next;
        }
    }
}

impl Remote for Server {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "keys of a Redis database, by a connection for each thread";
    type Options = Options;
    type Session<'c> = RedisSession<'c>;

    fn client() -> (&'static str, String) {
        ("redis-rs", CLIENT_VERSION.to_owned())
    }

    /// Its keys have no order, and what MULTI queues is read only at its end.
    fn capabilities(options: &Options) -> Capabilities {
        use Operation::{Delete, Insert, Overwrite, Read};
        Capabilities {
            operations: vec![Read, Overwrite, Insert, Delete],
            durability: options.durability(),
            // proto-max-bulk-len, as it is by default.
            largest_value: Some(512 << 20),
            ..remote::capabilities()
        }
    }

    fn connect(options: &Options, name: &str) -> Result<Self> {
        let url = remote::secret(STORE, options.url)?;
        let limit = Duration::from_secs(options.timeout);
        // What it says of a text that is wrong could be a part of the password.
        let client = redis::Client::open(url).map_err(|_| {
            let why = format!("{} holds no URL of a Redis server", options.url);
            StoreError::engine(STORE, "find its server", why)
        })?;
        let refused = |error: RedisError| failed("connect to the server", &error, *options);
        let connection = client.get_connection_with_timeout(limit).map_err(refused)?;
        connection.set_read_timeout(Some(limit)).map_err(refused)?;
        connection.set_write_timeout(Some(limit)).map_err(refused)?;
        let mut server = Self {
            connection,
            options: *options,
            name: name.to_owned(),
            effective: Settings::default(),
        };
        server.configure()?;
        Ok(server)
    }

    fn make(&mut self, owner: &str) -> Result<()> {
        let note = cmd("HSET").arg(MADE).arg(&self.name).arg(owner).to_owned();
        self.ask("note the store", &note)
    }

    fn made(&mut self) -> Result<Vec<(String, String)>> {
        self.ask("list stores", cmd("HGETALL").arg(MADE))
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.keys(name, |server, keys| {
            server.ask("remove keys", cmd("UNLINK").arg(keys))
        })?;
        self.ask("forget the store", cmd("HDEL").arg(MADE).arg(name))
    }

    /// In the server's memory (MEMORY USAGE); its append-only file holds every change besides.
    fn bytes(&mut self) -> Result<u64> {
        let (name, mut bytes) = (self.name.clone(), 0);
        self.keys(&name, |server, keys| {
            let mut each = Pipeline::new();
            for key in keys {
                each.cmd("MEMORY").arg("USAGE").arg(key);
            }
            let told = each.query(&mut server.connection);
            let told: Vec<Option<u64>> =
                told.map_err(|error| failed("weigh keys", &error, server.options))?;
            bytes += told.into_iter().flatten().sum::<u64>();
            Ok(())
        })?;
        Ok(bytes)
    }

    fn effective_settings(&self) -> Settings {
        self.effective.clone()
    }

    fn session(&mut self) -> Result<RedisSession<'_>> {
        Ok(RedisSession(self))
    }
}

pub(crate) struct RedisSession<'c>(&'c mut Server);

impl RedisSession<'_> {
    fn show(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Self(server) = self;
        let get = cmd("GET").arg(server.key(key)).to_owned();
        let Some(value) = server.ask::<Option<Vec<u8>>>("read", &get)? else {
            return Ok(Found::Missing);
        };
        show(&value)?;
        Ok(Found::Bytes(value.len()))
    }

    /// SET where the key is there (XX) or is not (NX); whether it was so.
    fn set(&mut self, action: &str, key: Key, value: &[u8], when: &str) -> Result<bool> {
        let Self(server) = self;
        let set = cmd("SET")
            .arg(server.key(key))
            .arg(value)
            .arg(when)
            .to_owned();
        Ok(server.ask::<Option<String>>(action, &set)?.is_some())
    }
}

impl Session for RedisSession<'_> {
    fn begin(&mut self, _: Access) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        let why = "it has no transactions that could be undone";
        Err(StoreError::unsupported(STORE, "roll back", why))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.show(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.show(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.set("insert", key, value, "NX")? {
            true => Ok(()),
            false => Err(StoreError::key_exists(STORE, key)),
        }
    }

    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let Self(server) = self;
        let mut all = Pipeline::new();
        for (key, value) in rows {
            all.cmd("SET").arg(server.key(*key)).arg(*value).arg("NX");
        }
        let told = all.query(&mut server.connection);
        let told: Vec<Option<String>> =
            told.map_err(|error| failed("load", &error, server.options))?;
        match told.iter().zip(rows).find(|(set, _)| set.is_none()) {
            Some((_, (key, _))) => Err(StoreError::key_exists(STORE, *key)),
            None => Ok(()),
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        Ok(match self.set("overwrite", key, value, "XX")? {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let Self(server) = self;
        let delete = cmd("DEL").arg(server.key(key)).to_owned();
        Ok(server.ask::<u64>("delete", &delete)? > 0)
    }

    fn scan(&mut self, _: Key, _: usize, _: &mut dyn FnMut(Key, &[u8])) -> Result<usize> {
        Err(StoreError::unsupported(
            STORE,
            "scan",
            "its keys have no order",
        ))
    }
}
