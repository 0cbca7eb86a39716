//! Ctrl-C and termination: noticed between and during measurements, so that a run ends in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A signal so soon after the first is the same one once more: `timeout` sends its signal to the
/// program and to the program's group.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// Whether the run was asked to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that only [`Self::raise`] raises.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// One that SIGINT, SIGTERM, SIGQUIT and SIGHUP raise; another such signal half a second later
    /// or more ends the program at once.
    ///
    /// # Errors
    /// The system refuses to install the handlers, or a thread that waits for signals.
    pub fn on_signals() -> std::io::Result<Self> {
        let interrupt = Self::default();
        let signals = signal_hook::consts::TERM_SIGNALS
            .iter()
            .chain([&signal_hook::consts::SIGHUP]);
        let mut signals = signal_hook::iterator::Signals::new(signals)?;
        let raised = interrupt.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let mut first = None;
                for _ in signals.forever() {
                    raised.raise();
                    if is_another(&mut first, Instant::now()) {
                        signal_hook::low_level::exit(130);
                    }
                }
            })?;
        Ok(interrupt)
    }

    /// Asks the run to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the run was asked to end.
    #[must_use]
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Whether a signal that comes now is another than the first.
fn is_another(first: &mut Option<Instant>, now: Instant) -> bool {
    now.duration_since(*first.get_or_insert(now)) >= ONE_SIGNAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_twice_at_once_is_one_and_a_later_one_is_another() {
        let (mut first, begin) = (None, Instant::now());
        let told = [0, 1, 499, 500, 9_000]
            .map(|after| is_another(&mut first, begin + Duration::from_millis(after)));
        assert_eq!(told, [false, false, false, true, true]);
    }
}
