//! Who looks on while something long is done.

/// Hears how far it has come, and says when it shall end.
pub trait Watch: Sync {
    /// Hears how many entries are done, of how many as far as is known.
    fn progress(&self, done: u64, total: u64);

    /// Whether it shall end; nothing that was begun is left behind then.
    fn interrupted(&self) -> bool;
}

/// Nobody looks on.
impl Watch for () {
    fn progress(&self, _: u64, _: u64) {}

    fn interrupted(&self) -> bool {
        false
    }
}
