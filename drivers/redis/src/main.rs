//! Redis as a store: a key of a database for each value.
//!
//! What belongs here: the settings, what they promise, and the commands. What does not: anything that
//! another server's store could use too (`stowplan_stores::remote`).

mod options;
mod server;

use server::Server;
use stowplan_stores::Kind;

const STORE: &str = "redis";

static KIND: &Kind = &Kind::of_server::<Server>();

stowplan_driver::main!(KIND);
