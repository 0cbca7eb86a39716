//! A block whose system calls are counted, by `strace` around this process: it is told where the window of
//! the operations is.
//!
//! Counted are the calls between their first and their last: what an engine does before and after is not an
//! operation's cost.

use stowplan_model::{STRACE_MARK, STRACE_VARIABLE};

/// A block's window, for whoever counts. A window may come in parts.
#[derive(Debug)]
pub(crate) struct Window {
    marked: bool,
}

impl Window {
    /// Of a block that is counted, or else timed: nothing is marked then.
    pub(crate) fn of(counting: bool) -> Self {
        Self {
            marked: counting && std::env::var_os(STRACE_VARIABLE).is_some(),
        }
    }

    /// The operations begin.
    pub(crate) fn begin(&self) {
        self.mark(STRACE_MARK);
    }

    /// The operations have ended.
    pub(crate) fn end(&self) {
        self.mark(STRACE_MARK + 1);
    }

    /// A call that does nothing and that no program makes.
    fn mark(&self, who: i32) {
        if !self.marked {
            return;
        }
        #[expect(unsafe_code, reason = "rustix takes process ids that may exist only")]
        // SAFETY: it asks for a number and changes nothing.
        unsafe {
            libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, who);
        }
    }
}
