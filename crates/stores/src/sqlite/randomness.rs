//! SQLite's generator of randomness.

/// Fills a slice by SQLite's own generator, as `randomblob()` and kvtest do: about 0.4 GB/s.
pub fn randomness(bytes: &mut [u8]) {
    // SQLite counts in `int`.
    for piece in bytes.chunks_mut(1 << 30) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "at most 2^30"
        )]
        let length = piece.len() as i32;
        #[expect(unsafe_code, reason = "a function of the C library")]
        // SAFETY: SQLite writes exactly `length` bytes, all of them within the slice.
        unsafe {
            rusqlite::ffi::sqlite3_randomness(length, piece.as_mut_ptr().cast());
        }
    }
}
