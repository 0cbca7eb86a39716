//! Archives as a user meets them: packed, unpacked, changed, hostile.

#![expect(clippy::unwrap_used, reason = "what cannot be unwrapped ends the test")]

mod bench;
mod change;
mod checksums;
mod hostile;
mod round_trip;
