//! PostgreSQL as a store: a table of a database, with values in its rows or as large objects.
//!
//! What belongs here: the settings, what they promise, and the statements. What does not: anything that
//! another server's store could use too (`stowplan_stores::remote`).

mod operations;
mod options;
mod server;
mod statements;

use server::Server;
use stowplan_stores::Kind;

const STORE: &str = "postgres";

static KIND: &Kind = &Kind::of_server::<Server>();

stowplan_driver::main!(KIND);
