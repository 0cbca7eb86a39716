//! The report of one run: what each kind of finding shows, and in which order.

pub(crate) mod answers;
mod bars;
mod charts;
mod comparison;
mod crossover;
mod environment;
mod growth_by_rows;
mod ladder;
mod lines;
mod matrix;
mod method;
mod percentiles;
mod ratios;
mod sign_words;
mod space;
mod totals;
mod warnings;
