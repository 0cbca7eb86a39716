//! A connection to the server, and what is made on it.

use crate::STORE;
use crate::options::{Form, Loading, Options, Prepare, Storage};
use crate::statements::Asked;
use std::error::Error as _;
use std::str::FromStr;
use std::time::Duration;
use stowplan_model::{Capabilities, Operation, Settings};
use stowplan_stores::options::Value;
use stowplan_stores::remote::{self, Remote};
use stowplan_stores::{Access, Key, Result, StoreError};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

/// The comment that marks a table of ours; whose it is follows.
const MARK: &str = "stowplan: ";

/// Large objects that a transaction removes: each takes a lock until its end.
const REMOVED_AT_ONCE: u32 = 1_000;

/// What a session shows of the server. The first is its version.
const SHOWN: [&str; 5] = [
    "server_version",
    "synchronous_commit",
    "fsync",
    "full_page_writes",
    "shared_buffers",
];

pub(crate) struct Server {
    runtime: Runtime,
    pub(crate) client: Client,
    options: Options,
    /// The table.
    pub(crate) name: String,
    /// Of [`Asked::ALL`].
    pub(crate) texts: [String; Asked::ALL.len()],
    /// None of them where each operation prepares its own.
    pub(crate) prepared: Vec<Statement>,
    /// Whether a transaction is open.
    open: bool,
}

/// What the server said about an action, in one line.
#[cold]
pub(crate) fn failed(action: &str, error: &Error) -> StoreError {
    let said = error.as_db_error().map(|said| said.message().to_owned());
    let said = said.or_else(|| Some(format!("{error}: {}", error.source()?)));
    let said = said.unwrap_or_else(|| error.to_string());
    match error.code() {
        Some(code) if *code == SqlState::UNDEFINED_TABLE => StoreError::no_table(action),
        Some(code)
            if *code == SqlState::T_R_SERIALIZATION_FAILURE
                || *code == SqlState::T_R_DEADLOCK_DETECTED =>
        {
            StoreError::conflict(action, said)
        }
        // Not in the words of this machine's file system, which need not be the one that is full.
        Some(code) if *code == SqlState::DISK_FULL => {
            StoreError::engine(action, "the server's disk is full")
        }
        _ => StoreError::engine(action, said),
    }
}

impl Server {
    /// Waits for the server, but not for ever.
    pub(crate) fn wait<T>(
        &self,
        action: &str,
        answer: impl Future<Output = std::result::Result<T, Error>>,
    ) -> Result<T> {
        within(&self.runtime, self.options, action, answer)
    }

    pub(crate) fn query(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.wait(sql, self.client.query(sql, with))
    }

    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        self.wait(sql, self.client.batch_execute(sql))
    }

    /// Whether values go by COPY, which makes no large objects.
    fn copies(&self) -> bool {
        (self.options.form, self.options.load) == (Form::Bytea, Loading::Copy)
    }
}

fn within<T>(
    runtime: &Runtime,
    options: Options,
    action: &str,
    answer: impl Future<Output = std::result::Result<T, Error>>,
) -> Result<T> {
    let limit = Duration::from_secs(options.timeout);
    match runtime.block_on(async { tokio::time::timeout(limit, answer).await }) {
        Ok(answer) => answer.map_err(|error| failed(action, &error)),
        Err(_) => Err(remote::no_answer(action, options.timeout)),
    }
}

impl Remote for Server {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = "a table of a PostgreSQL database, by a connection for each thread";
    /// The version that Cargo.toml asks for, exactly.
    const CLIENT: (&'static str, &'static str) = ("tokio-postgres", "0.7.18");
    type Options = Options;

    fn capabilities(options: &Options) -> Capabilities {
        use Operation::{Delete, Insert, Overwrite, Read, Scan};
        Capabilities {
            operations: vec![Read, Overwrite, Insert, Delete, Scan],
            transactions: true,
            durability: options.durability(),
            // A field of a row, and what goes through one message, end at 1 GB.
            largest_value: Some(1_000_000_000),
            ..remote::capabilities()
        }
    }

    fn connect(options: &Options, name: &str, effective: &mut Settings) -> Result<Self> {
        let config = |url: &str| Config::from_str(url).ok();
        let config = remote::address(options.url, "a PostgreSQL server", config)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| StoreError::engine("connect", e.to_string()))?;
        let client = within(&runtime, *options, "connect to the server", async {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            Ok(client)
        })?;
        let server = Self {
            runtime,
            client,
            options: *options,
            name: name.to_owned(),
            texts: Asked::ALL.map(|asked| asked.sql(options.form, name)),
            prepared: Vec::new(),
            open: false,
        };
        let commit = options.synchronous_commit.word();
        server.run(&format!("SET synchronous_commit = {commit}"))?;
        for shown in SHOWN {
            let row = server.query(&format!("SHOW {shown}"), &[])?;
            let value: String = row.first().map_or_else(String::new, |row| row.get(0));
            if ["fsync", "full_page_writes"].contains(&shown) && value == "off" {
                let why =
                    format!("it has {shown}=off: a power cut may damage all of it; set it on");
                return Err(StoreError::engine("use the server", why));
            }
            effective.set(shown, Value::Word(value));
        }
        Ok(server)
    }

    fn make(&mut self, owner: &str) -> Result<()> {
        let Self { name, options, .. } = &*self;
        let value = match options.form {
            Form::Bytea => "bytea",
            Form::LargeObject => "oid",
        };
        let mut sql = format!("CREATE TABLE {name} (k bigint PRIMARY KEY, v {value} NOT NULL)");
        if (options.form, options.storage) == (Form::Bytea, Storage::External) {
            sql += &format!("; ALTER TABLE {name} ALTER v SET STORAGE EXTERNAL");
        }
        let owner = owner.replace('\'', "''");
        self.run(&format!(
            "{sql}; COMMENT ON TABLE {name} IS '{MARK}{owner}'"
        ))
    }

    /// Tables of ours, and what their comments say.
    fn made(&mut self) -> Result<Vec<(String, String)>> {
        let rows = self.query(
            "SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class WHERE relkind = 'r' \
             AND relname LIKE 'stowplan\\_%' AND pg_table_is_visible(oid)",
            &[],
        )?;
        let marked = |row: &Row| {
            let comment: Option<String> = row.get(1);
            Some((row.get(0), comment?.strip_prefix(MARK)?.to_owned()))
        };
        Ok(rows.iter().filter_map(marked).collect())
    }

    /// First the large objects that the table names.
    fn remove_store(&mut self, name: &str) -> Result<()> {
        let is_oid = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1::text) \
                      AND attname = 'v' AND atttypid = 'oid'::regtype";
        while !self.query(is_oid, &[&name])?.is_empty() {
            let gone = self.query(
                &format!(
                    "WITH gone AS (DELETE FROM {name} WHERE k IN \
                     (SELECT k FROM {name} LIMIT {REMOVED_AT_ONCE}) RETURNING v) \
                     SELECT lo_unlink(v) FROM gone"
                ),
                &[],
            )?;
            if gone.is_empty() {
                break;
            }
        }
        self.run(&format!("DROP TABLE {name}"))
    }

    /// Large objects lie in one table for all: of these it is their bytes.
    fn bytes(&mut self) -> Result<u64> {
        let name = &self.name;
        let objects = match self.options.form {
            Form::Bytea => String::new(),
            Form::LargeObject => {
                format!(" + (SELECT coalesce(sum(octet_length(lo_get(v))), 0)::bigint FROM {name})")
            }
        };
        let sql = format!("SELECT pg_total_relation_size('{name}'::regclass){objects}");
        let bytes: i64 = self.query(&sql, &[])?.first().map_or(0, |row| row.get(0));
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    fn prepare(&mut self) -> Result<()> {
        // Also where each operation prepares its own: it tells whether there is a table.
        let prepare = |text: &String| self.wait("prepare a statement", self.client.prepare(text));
        let prepared = self.texts.iter().map(prepare).collect::<Result<_>>()?;
        if self.options.statement == Prepare::Once {
            self.prepared = prepared;
        }
        Ok(())
    }

    /// One that reads sees one state.
    fn begin(&mut self, access: Access) -> Result<()> {
        self.open = true;
        self.run(match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "BEGIN",
        })
    }

    fn end(&mut self, kept: bool) -> Result<()> {
        self.open = false;
        self.run(if kept { "COMMIT" } else { "ROLLBACK" })
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        if self.copies() || self.open {
            return self.load(rows);
        }
        self.begin(Access::Write)?;
        match self.load(rows) {
            Ok(()) => self.end(true),
            Err(error) => self.end(false).and(Err(error)),
        }
    }

    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        if self.copies() {
            return self.copy(rows);
        }
        rows.iter()
            .try_for_each(|(key, value)| self.add(*key, value))
    }
}
