//! A bucket behind the S3 protocol as a store: an object for each value.
//!
//! What belongs here: the settings, what they promise, and the requests. What does not: anything that
//! another server's store could use too (`stowplan_stores::remote`).

mod bucket;
mod options;

use bucket::Server;
use stowplan_stores::Kind;

const STORE: &str = "s3";

static KIND: &Kind = &Kind::of_server::<Server>();

stowplan_driver::main!(KIND);
