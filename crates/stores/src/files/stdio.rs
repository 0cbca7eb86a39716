//! Reading a file as kvtest does: `stat`, `fopen`, `fread`, `fclose`, by its whole path.
//!
//! The article's figures for files are of this way. The C library's own functions are called, so
//! that what they cost (a second `fstat`, two reads instead of one, a buffer of theirs) is what
//! they cost here. Unlike kvtest it reads into the caller's buffer and allocates none.

use super::STORE;
use crate::{Buffer, Found, Key, Result, StoreError};
use std::ffi::CStr;
use std::io::Error;
use std::path::Path;

/// Reads the file at `path` into `buffer`.
pub(super) fn read(key: Key, path: &CStr, buffer: &mut Buffer) -> Result<Found> {
    let Some(announced) = size(path)? else {
        return Ok(Found::Missing);
    };
    let room = buffer.room(announced)?;
    let read = read_whole(path, room)?;
    if read == announced {
        return Ok(Found::Bytes(announced));
    }
    let detail = format!("only {read} of its {announced} bytes could be read");
    Err(StoreError::damaged(STORE, key, detail))
}

/// The size of a file in bytes; nothing if there is none.
#[expect(unsafe_code, reason = "the C library's functions take pointers")]
fn size(path: &CStr) -> Result<Option<usize>> {
    // SAFETY: `stat` is integers only, for which zero is valid; the path ends in NUL.
    let (failed, stat) = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::stat(path.as_ptr(), &raw mut stat), stat)
    };
    if failed != 0 {
        let error = Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENOENT) => Ok(None),
            _ => Err(fault("stat", path, error)),
        };
    }
    usize::try_from(stat.st_size)
        .map(Some)
        .map_err(|_| fault("stat", path, Error::from_raw_os_error(libc::EOVERFLOW)))
}

/// Reads until `room` is full or the file ends; returns the bytes read.
#[expect(unsafe_code, reason = "the C library's functions take pointers")]
fn read_whole(path: &CStr, room: &mut [u8]) -> Result<usize> {
    // SAFETY: path and mode end in NUL; the stream is checked before it is used, used by this
    // thread only, and closed once; `room` is as long as `fread` is told.
    let (read, failed) = unsafe {
        let stream = libc::fopen(path.as_ptr(), c"rb".as_ptr());
        if stream.is_null() {
            return Err(fault("open", path, Error::last_os_error()));
        }
        let read = libc::fread(room.as_mut_ptr().cast(), 1, room.len(), stream);
        let failed = libc::ferror(stream) != 0;
        (read, libc::fclose(stream) != 0 || failed)
    };
    if failed {
        return Err(fault("read", path, Error::last_os_error()));
    }
    Ok(read)
}

#[cold]
fn fault(action: &'static str, path: &CStr, error: Error) -> StoreError {
    let path = String::from_utf8_lossy(path.to_bytes()).into_owned();
    StoreError::io(action, Path::new(&path))(error)
}
