//! Ctrl-C and termination: noticed between and during measurements, so that a run ends in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the run was asked to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that only [`Self::raise`] raises.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// One that SIGINT, SIGTERM and SIGHUP raise; a second such signal ends the program at once.
    ///
    /// # Errors
    /// The system refuses to install the handlers.
    pub fn on_signals() -> std::io::Result<Self> {
        let interrupt = Self::default();
        #[cfg(unix)]
        for signal in signal_hook::consts::TERM_SIGNALS
            .iter()
            .chain([&signal_hook::consts::SIGHUP])
        {
            // The order matters: the first signal finds the flag unset and only sets it.
            let flag = Arc::clone(&interrupt.0);
            signal_hook::flag::register_conditional_shutdown(*signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(*signal, flag)?;
        }
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
