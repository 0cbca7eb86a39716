//! Numbers of a calibration: finer than those of other reports, because errors of a few nanoseconds
//! and of parts of a percent are what matters.

use crate::value::count;
use stowplan_analysis::Interval;

/// `23.5 ns [23.4, 23.7]`, always in nanoseconds: differences of a few are what matters.
pub(super) fn nanoseconds(found: &Interval) -> String {
    format!(
        "{} ns [{}, {}]",
        significant(found.estimate),
        significant(found.low),
        significant(found.high)
    )
}

/// One decimal below 1,000, none above.
pub(super) fn significant(nanoseconds: f64) -> String {
    if nanoseconds.abs() < 999.95 {
        return format!("{nanoseconds:.1}").replace('-', "−");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of a calibration"
    )]
    let whole = nanoseconds.abs().round() as u64;
    let minus = if nanoseconds < 0.0 { "−" } else { "" };
    format!("{minus}{}", count(whole))
}

pub(super) fn signed(nanoseconds: f64) -> String {
    format!("{}{}", sign(nanoseconds), significant(nanoseconds.abs()))
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "−" } else { "+" }
}

/// `+0.25%`
pub(super) fn signed_percent(share: f64) -> String {
    format!("{}{}", sign(share), fine_percent(share.abs()))
}

/// Two decimals below 1%, one above.
pub(super) fn fine_percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0%".to_owned(),
        p if p >= 99.995 => "100%".to_owned(),
        p if p < 0.995 => format!("{p:.2}%"),
        p => format!("{p:.1}%"),
    }
}
