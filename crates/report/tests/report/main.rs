//! The reports of one invented run, as text and by structure.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod by_size;
mod calibration;
mod compare;
mod crash;
mod doctor;
mod drivers;
mod every;
mod export;
mod fixture;
mod fleet;
mod holds;
mod hostile;
mod html;
mod html_blocks;
mod inserts;
mod ledger;
mod markdown;
mod matrix;
mod measured;
mod measured_run;
mod new_kind;
mod other_work;
mod place;
mod render;
mod said;
mod support;
mod sweep;
mod terminal;
mod why;
mod why_run;
mod wording;
