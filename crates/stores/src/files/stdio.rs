//! Streams of the C library.
//!
//! The article's figures for files are of kvtest, which reads and writes by them. A stream has a buffer
//! of one block of the file system (`st_blksize`): glibc writes whole blocks at once, and what is left
//! of them when the stream is closed.

#![expect(unsafe_code, reason = "the C library's functions take pointers")]

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, Result};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;

/// An open stream.
pub(super) struct Stream(NonNull<libc::FILE>);

impl Stream {
    /// By `fopen`, as kvtest does, so a link is followed; none if there is no such file.
    pub(super) fn open(path: &CStr) -> Result<Option<Self>> {
        // SAFETY: path and mode end in NUL.
        let stream = unsafe { libc::fopen(path.as_ptr(), c"rb".as_ptr()) };
        match NonNull::new(stream) {
            Some(stream) => Ok(Some(Self(stream))),
            None => match Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
                error => Err(error),
            },
        }
    }

    /// By `fdopen`, around a file that is open.
    pub(super) fn of(file: OwnedFd) -> Result<Self> {
        // SAFETY: the descriptor is open, and the mode ends in NUL.
        let stream = unsafe { libc::fdopen(file.as_raw_fd(), c"rb".as_ptr()) };
        let stream = NonNull::new(stream).ok_or_else(Error::last_os_error)?;
        // It is the stream's from here on.
        let _ = file.into_raw_fd();
        Ok(Self(stream))
    }

    /// By `fopen`, as kvtest does: the file is made if it is missing, and emptied.
    pub(super) fn to_write(path: &CStr) -> Result<Self> {
        // SAFETY: path and mode end in NUL.
        let stream = unsafe { libc::fopen(path.as_ptr(), c"wb".as_ptr()) };
        NonNull::new(stream)
            .map(Self)
            .ok_or_else(Error::last_os_error)
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: the stream is open, and its descriptor with it, for as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(libc::fileno(self.0.as_ptr())) }
    }

    /// Reads until `room` is full or the file ends; returns the bytes read.
    pub(super) fn read(&mut self, room: &mut [u8]) -> Result<usize> {
        // SAFETY: the room is as long as is said.
        unsafe { self.read_to(room.as_mut_ptr(), room.len()) }
    }

    /// Reads into memory that nothing was written to yet, up to its capacity.
    pub(super) fn read_new(&mut self, room: &mut Vec<u8>) -> Result<usize> {
        // SAFETY: the capacity is as long as is said, and as much of it as was read is written.
        unsafe {
            let read = self.read_to(room.as_mut_ptr(), room.capacity())?;
            room.set_len(read);
            Ok(read)
        }
    }

    /// # Safety
    /// There is room for `len` bytes, and nobody else uses it.
    unsafe fn read_to(&mut self, room: *mut u8, len: usize) -> Result<usize> {
        // SAFETY: the stream is open, and this thread alone uses it; the caller answers for the room.
        let (read, failed) = unsafe {
            let stream = self.0.as_ptr();
            let read = libc::fread(room.cast(), 1, len, stream);
            (read, read < len && libc::ferror(stream) != 0)
        };
        if failed {
            return Err(Error::last_os_error());
        }
        Ok(read)
    }

    /// Writes all of it, some of it perhaps into the stream's buffer only.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        // SAFETY: the stream is open, this thread alone uses it, and the bytes are as many as is said.
        let written =
            unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.0.as_ptr()) };
        if written < bytes.len() {
            return Err(Error::last_os_error());
        }
        Ok(())
    }

    /// Hands over what the buffer has.
    pub(super) fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open, and this thread alone uses it.
        if unsafe { libc::fflush(self.0.as_ptr()) } == 0 {
            return Ok(());
        }
        Err(Error::last_os_error())
    }

    /// The file below, which stays the stream's.
    pub(super) fn with_file<T>(&self, work: impl FnOnce(&File) -> T) -> T {
        // SAFETY: the descriptor is open for as long as the stream is, and is not closed here.
        let file = unsafe { ManuallyDrop::new(File::from_raw_fd(self.descriptor().as_raw_fd())) };
        work(&file)
    }

    pub(super) fn close(self) -> Result<()> {
        let stream = ManuallyDrop::new(self);
        // SAFETY: the stream is open, and not used again.
        if unsafe { libc::fclose(stream.0.as_ptr()) } == 0 {
            return Ok(());
        }
        Err(Error::last_os_error())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open, and not used again.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}
