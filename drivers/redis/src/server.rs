//! A connection to the server, and the operations.

use crate::STORE;
use crate::options::Options;
use redis::io::tcp::TcpSettings;
use redis::{
    Client, Cmd, Connection, FromRedisValue, IntoConnectionInfo, Pipeline, RedisError, cmd,
};
use std::time::Duration;
use stowplan_model::{Capabilities, Operation, Settings};
use stowplan_stores::kv::{Rows, Visit, shown};
use stowplan_stores::options::Value;
use stowplan_stores::remote::{self, Remote};
use stowplan_stores::{Found, Key, Result, StoreError};

/// A hash of what was made, by its name: whose it is.
const MADE: &str = "stowplan:made";

/// Keys of a reply of SCAN, about.
const AT_ONCE: usize = 1_000;

pub(crate) struct Server {
    connection: Connection,
    options: Options,
    name: String,
}

/// What the server said about an action, in one line.
#[cold]
fn failed(action: &str, error: &RedisError, options: Options) -> StoreError {
    match error.is_timeout() {
        true => remote::no_answer(action, options.timeout),
        // Not in the words of this machine's file system, which need not be the one that is full.
        false => {
            let said = error.to_string();
            let said = said.replace("No space left on device", "the server's disk is full");
            StoreError::engine(action, said)
        }
    }
}

impl Server {
    fn ask<T: FromRedisValue>(&mut self, action: &str, command: &Cmd) -> Result<T> {
        let answer = command.query(&mut self.connection);
        answer.map_err(|error| failed(action, &error, self.options))
    }

    fn ask_all<T: FromRedisValue>(&mut self, action: &str, commands: &Pipeline) -> Result<T> {
        let answer = commands.query(&mut self.connection);
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

    /// Refuses a server that does not sync as the settings say; notes what it has.
    fn compare(&mut self, effective: &mut Settings) -> Result<()> {
        let policy = match self.config("appendonly")?.as_str() {
            "no" => "none".to_owned(),
            _ => self.config("appendfsync")?,
        };
        let wanted = self.options.appendfsync.word();
        if policy != wanted {
            let why = format!(
                "it has appendfsync={policy}, not {wanted}: give the store that setting, or the server"
            );
            return Err(StoreError::engine("use the server", why));
        }
        if policy == "always" && self.config("no-appendfsync-on-rewrite")? == "yes" {
            let why = "it does not sync while it rewrites its file (no-appendfsync-on-rewrite=yes)";
            return Err(StoreError::engine("use the server", why));
        }
        effective.set("appendfsync", Value::Word(policy));
        let about: String = self.ask("ask for its version", cmd("INFO").arg("server"))?;
        let version = about
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"));
        let version = version.unwrap_or_default().trim().to_owned();
        effective.set("server_version", Value::Word(version));
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
    /// The version that Cargo.toml asks for, exactly.
    const CLIENT: (&'static str, &'static str) = ("redis-rs", "1.8.1");
    type Options = Options;

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

    fn connect(options: &Options, name: &str, effective: &mut Settings) -> Result<Self> {
        let info = |url: &str| url.into_connection_info().ok();
        let info = remote::address(options.url, "a Redis server without TLS", info)?;
        let limit = Duration::from_secs(options.timeout);
        let refused = |error: RedisError| failed("connect to the server", &error, *options);
        // A value of several segments would wait for the server's delayed acknowledgement.
        let at_once = TcpSettings::default().set_nodelay(true);
        let client = Client::open(info.set_tcp_settings(at_once)).map_err(refused)?;
        let connection = client.get_connection_with_timeout(limit).map_err(refused)?;
        connection.set_read_timeout(Some(limit)).map_err(refused)?;
        connection.set_write_timeout(Some(limit)).map_err(refused)?;
        let mut server = Self {
            connection,
            options: *options,
            name: name.to_owned(),
        };
        server.compare(effective)?;
        Ok(server)
    }

    fn make(&mut self, owner: &str) -> Result<()> {
        let note = cmd("HSET").arg(MADE).arg(&self.name).arg(owner).to_owned();
        self.ask("note the store", &note)
    }

    fn made(&mut self) -> Result<Vec<(String, String)>> {
        self.ask("list stores", cmd("HGETALL").arg(MADE))
    }

    fn remove_store(&mut self, name: &str) -> Result<()> {
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
            let told: Vec<Option<u64>> = server.ask_all("weigh keys", &each)?;
            bytes += told.into_iter().flatten().sum::<u64>();
            Ok(())
        })?;
        Ok(bytes)
    }

    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let mut all = Pipeline::new();
        for (key, value) in rows {
            all.cmd("SET").arg(self.key(*key)).arg(*value).arg("NX");
        }
        let told: Vec<Option<String>> = self.ask_all("load", &all)?;
        match told.iter().zip(rows).find(|(set, _)| set.is_none()) {
            Some((_, (key, _))) => Err(StoreError::key_exists(*key)),
            None => Ok(()),
        }
    }
}

impl Rows for Server {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let get = cmd("GET").arg(self.key(key)).to_owned();
        let value: Option<Vec<u8>> = self.ask("read", &get)?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, _: Key, _: usize, _: &mut Visit<'_>) -> Result<usize> {
        let why = "its keys have no order";
        Err(StoreError::unsupported("scan", why))
    }

    /// SET where the key is there (XX) or is not (NX).
    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let (action, when) = match there {
            true => ("overwrite", "XX"),
            false => ("insert", "NX"),
        };
        let mut set = cmd("SET");
        set.arg(self.key(key)).arg(value).arg(when);
        Ok(self.ask::<Option<String>>(action, &set)?.is_some())
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let delete = cmd("DEL").arg(self.key(key)).to_owned();
        Ok(self.ask::<u64>("delete", &delete)? > 0)
    }
}
