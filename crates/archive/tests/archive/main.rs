//! Archives as a user meets them: packed, unpacked, changed, hostile.

mod bench;
mod change;
mod hostile;
mod round_trip;
