//! The whole procedure, from measurements to verdicts: on made-up runs whose answer is known, on
//! recorded noise, and on simulated drift.

#[cfg(test)]
mod advice;
#[cfg(test)]
mod builds;
#[cfg(test)]
mod calibration;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod crossover;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod driver_costs;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod identical_sessions;
#[cfg(test)]
mod ladder;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod quantities;
#[cfg(test)]
mod rebase;
#[cfg(test)]
mod recommendation;
#[cfg(test)]
mod recorded_noise;
#[cfg(test)]
mod recorded_sessions;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sessions_apart;
#[cfg(test)]
mod several_sessions;
#[cfg(test)]
mod simulated_drift;
#[cfg(test)]
mod slow_operations;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod support;
#[cfg(test)]
mod sweeps;
#[cfg(test)]
mod widths;
