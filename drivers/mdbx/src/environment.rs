//! A safe layer over the part of libmdbx's C interface that the store uses.

#![expect(unsafe_code, reason = "the interface of a C library")]

use crate::DATA_FILE;
use crate::options::{Effective, Options, Sync};
use libc::c_int;
use mdbx_sys as ffi;
use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use stowplan_stores::Access;

type Result<T> = std::result::Result<T, Code>;

/// What a call of libmdbx returned instead of success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(c_int);

impl Code {
    /// Of a commit: libmdbx has aborted the transaction because an operation in it had failed.
    pub(crate) const UNDONE: Self = Self(ffi::MDBX_RESULT_TRUE);
    pub(crate) const BUSY: Self = Self(ffi::MDBX_BUSY);
    pub(crate) const KEY_EXISTS: Self = Self(ffi::MDBX_KEYEXIST);
    pub(crate) const MAP_FULL: Self = Self(ffi::MDBX_MAP_FULL);
    pub(crate) const NOT_FOUND: Self = Self(ffi::MDBX_NOTFOUND);

    fn check(code: c_int) -> Result<()> {
        // MDBX_RESULT_TRUE is a success with a remark, such as that there was nothing to do; but
        // not of a commit.
        if code == ffi::MDBX_SUCCESS || code == ffi::MDBX_RESULT_TRUE {
            Ok(())
        } else {
            Err(Self(code))
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 256];
        // SAFETY: the buffer is as long as is said; the result is a C string in it, or a constant.
        let text = unsafe { ffi::mdbx_strerror_r(self.0, buffer.as_mut_ptr(), buffer.len()) };
        if text.is_null() {
            return write!(f, "error {}", self.0);
        }
        // SAFETY: not null, so the string that was promised.
        let text = unsafe { CStr::from_ptr(text) };
        f.write_str(&text.to_string_lossy())
    }
}

/// `0.14.4`.
pub(crate) fn version() -> String {
    // SAFETY: a constant of the library.
    let version = unsafe { &ffi::mdbx_version };
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

/// The largest value in a database with pages of this size, in bytes.
pub(crate) fn largest_value(page_size: u32) -> Option<u64> {
    // SAFETY: computes with numbers.
    let bytes = unsafe {
        ffi::mdbx_limits_valsize_max(
            isize::try_from(page_size).unwrap_or(-1),
            ffi::MDBX_DB_DEFAULTS,
        )
    };
    u64::try_from(bytes).ok()
}

/// An opened database.
#[derive(Debug)]
pub(crate) struct Environment(*mut ffi::MDBX_env);

// SAFETY: an environment may be used by several threads at the same time (mdbx.h, "MDBX_env").
unsafe impl Send for Environment {}
// SAFETY: as above.
unsafe impl std::marker::Sync for Environment {}

/// A handle of a table, valid in every transaction of the environment that made it, until the table is
/// dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table(ffi::MDBX_dbi);

/// The order of the keys in a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// Numbers of the machine, of one size.
    Numbers,
    Bytes,
}

impl Order {
    fn flags(self) -> ffi::MDBX_db_flags_t {
        match self {
            Self::Numbers => ffi::MDBX_INTEGERKEY,
            Self::Bytes => ffi::MDBX_DB_DEFAULTS,
        }
    }
}

/// Tables that can be open at the same time, the unnamed one not counted.
const TABLES: u64 = 4;

/// As many transactions that read can be open at the same time, one for each thread.
const READERS: u64 = 2_048;

impl Environment {
    /// Opens the database in a directory, or makes it.
    pub(crate) fn new(directory: &Path, options: &Options) -> Result<Self> {
        let path =
            CString::new(directory.as_os_str().as_bytes()).map_err(|_| Code(libc::EINVAL))?;
        let mut env = ptr::null_mut();
        // SAFETY: writes a pointer to a new environment.
        Code::check(unsafe { ffi::mdbx_env_create(&raw mut env) })?;
        // From here on it is closed whatever happens.
        let environment = Self(env);
        environment.set_option(ffi::MDBX_opt_max_db, TABLES)?;
        environment.set_option(ffi::MDBX_opt_max_readers, READERS)?;
        // Commits are synced by system calls that can be counted, instead of by writing through.
        environment.set_option(ffi::MDBX_opt_writethrough_threshold, 0)?;
        // A new file is as small as can be; an old one stays as large as it is.
        let smallest = if directory.join(DATA_FILE).exists() {
            -1
        } else {
            0
        };
        let bytes = |number: u64| isize::try_from(number).unwrap_or(isize::MAX);
        // SAFETY: numbers only; -1 leaves a choice to libmdbx.
        Code::check(unsafe {
            ffi::mdbx_env_set_geometry(
                env,
                smallest,
                smallest,
                bytes(options.max_size),
                bytes(options.growth),
                -1,
                bytes(options.page_size.into()),
            )
        })?;
        // SAFETY: a C string; the flags go together.
        Code::check(unsafe { ffi::mdbx_env_open(env, path.as_ptr(), flags(options), 0o644) })?;
        Ok(environment)
    }

    fn set_option(&self, option: ffi::MDBX_option_t, value: u64) -> Result<()> {
        // SAFETY: a number.
        Code::check(unsafe { ffi::mdbx_env_set_option(self.0, option, value) })
    }

    /// Closes it after a last sync.
    pub(crate) fn end(self) -> Result<()> {
        let environment = ManuallyDrop::new(self);
        // SAFETY: transactions borrow the environment, so that none is left.
        Code::check(unsafe { ffi::mdbx_env_close_ex(environment.0, false) })
    }

    /// Begins a transaction. One that writes waits for that of another thread; [`Code::BUSY`] for one on this.
    pub(crate) fn begin(&self, access: Access) -> Result<Transaction<'_>> {
        let flags = match access {
            Access::Read => ffi::MDBX_TXN_RDONLY,
            Access::Write => ffi::MDBX_TXN_READWRITE,
        };
        let (mut txn, none) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: writes a pointer to a new transaction.
        Code::check(unsafe {
            ffi::mdbx_txn_begin_ex(self.0, none, flags, &raw mut txn, ptr::null_mut())
        })?;
        Ok(Transaction(txn, PhantomData))
    }

    pub(crate) fn info(&self) -> Result<Effective> {
        let mut flags = 0;
        // SAFETY: writes a number.
        Code::check(unsafe { ffi::mdbx_env_get_flags(self.0, &raw mut flags) })?;
        // SAFETY: a structure of numbers, for which zero is a value.
        let mut info: ffi::MDBX_envinfo = unsafe { mem::zeroed() };
        // SAFETY: writes at most as many bytes as are said.
        Code::check(unsafe {
            ffi::mdbx_env_info_ex(self.0, ptr::null(), &raw mut info, mem::size_of_val(&info))
        })?;
        let has = |flag: ffi::MDBX_env_flags_t| flags & flag == flag;
        Ok(Effective {
            sync: match () {
                // It contains the other one.
                () if has(ffi::MDBX_UTTERLY_NOSYNC) => Sync::Utterly,
                () if has(ffi::MDBX_SAFE_NOSYNC) => Sync::Safe,
                () if has(ffi::MDBX_NOMETASYNC) => Sync::NoMeta,
                () => Sync::Durable,
            },
            write_map: has(ffi::MDBX_WRITEMAP),
            read_ahead: !has(ffi::MDBX_NORDAHEAD),
            page_size: info.mi_dxb_pagesize.into(),
            growth: info.mi_geo.grow,
            max_size: info.mi_geo.upper,
        })
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // SAFETY: as for `close`; nobody is left to be told of a failure.
        unsafe { ffi::mdbx_env_close_ex(self.0, false) };
    }
}

/// Transactions that read are not tied to a thread, so that one thread may have several.
fn flags(options: &Options) -> ffi::MDBX_env_flags_t {
    let mut flags = ffi::MDBX_NOSTICKYTHREADS
        | match options.durability {
            Sync::Durable => ffi::MDBX_SYNC_DURABLE,
            Sync::NoMeta => ffi::MDBX_NOMETASYNC,
            Sync::Safe => ffi::MDBX_SAFE_NOSYNC,
            Sync::Utterly => ffi::MDBX_UTTERLY_NOSYNC,
        };
    if options.writemap {
        flags |= ffi::MDBX_WRITEMAP;
    }
    if !options.readahead {
        flags |= ffi::MDBX_NORDAHEAD;
    }
    flags
}

/// A transaction, which is aborted when it is dropped. One that reads can rest between two uses.
pub(crate) struct Transaction<'e>(*mut ffi::MDBX_txn, PhantomData<&'e Environment>);

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SAFETY: it has not ended otherwise, as `end` forgets it.
        unsafe { ffi::mdbx_txn_abort_ex(self.0, ptr::null_mut()) };
    }
}

fn lend(bytes: &[u8]) -> ffi::MDBX_val {
    ffi::MDBX_val {
        iov_base: bytes.as_ptr() as *mut c_void,
        iov_len: bytes.len(),
    }
}

const NOTHING: ffi::MDBX_val = ffi::MDBX_val {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};

/// # Safety
/// The bytes stay what they are for `'a`.
unsafe fn borrow<'a>(value: &ffi::MDBX_val) -> &'a [u8] {
    if value.iov_len == 0 {
        return &[];
    }
    // SAFETY: libmdbx points to so many bytes; they stay, as the caller says.
    unsafe { std::slice::from_raw_parts(value.iov_base.cast(), value.iov_len) }
}

impl Transaction<'_> {
    /// Commits one that writes; ends one that reads in such a way that the handles it opened stay.
    pub(crate) fn end(self) -> Result<()> {
        let transaction = ManuallyDrop::new(self);
        // SAFETY: a live transaction, which ends here also if this fails (all errors but that of
        // a foreign thread, which MDBX_NOSTICKYTHREADS and a session's one thread exclude).
        let code = unsafe { ffi::mdbx_txn_commit_ex(transaction.0, ptr::null_mut()) };
        match code {
            ffi::MDBX_SUCCESS => Ok(()),
            code => Err(Code(code)),
        }
    }

    /// Has one that reads let go of its state.
    pub(crate) fn rest(&mut self) -> Result<()> {
        // SAFETY: a live transaction; what it lent was borrowed from it. libmdbx refuses one that writes.
        Code::check(unsafe { ffi::mdbx_txn_reset(self.0) })
    }

    /// Has one that rests read from the state that is now the last.
    pub(crate) fn resume(&mut self) -> Result<()> {
        // SAFETY: a live transaction. libmdbx refuses one that does not rest.
        Code::check(unsafe { ffi::mdbx_txn_renew(self.0) })
    }

    /// The table, which is made if `flags` say so; [`Code::NOT_FOUND`] if there is none.
    pub(crate) fn table(&self, name: &str, order: Order, new: bool) -> Result<Table> {
        let name = CString::new(name).map_err(|_| Code(libc::EINVAL))?;
        let made = if new { ffi::MDBX_CREATE } else { 0 };
        let (flags, mut table) = (made | order.flags(), 0);
        // SAFETY: a live transaction, a C string; writes a number.
        Code::check(unsafe { ffi::mdbx_dbi_open(self.0, name.as_ptr(), flags, &raw mut table) })?;
        Ok(Table(table))
    }

    /// Handles of the table are no more when this is committed.
    pub(crate) fn drop_table(&mut self, table: Table) -> Result<()> {
        // SAFETY: a live transaction; one that reads is refused.
        Code::check(unsafe { ffi::mdbx_drop(self.0, table.0, true) })
    }

    /// Puts a value: [`Code::NOT_FOUND`] if it is to be there and is not, [`Code::KEY_EXISTS`] the other way
    /// round.
    pub(crate) fn put(
        &mut self,
        table: Table,
        key: &[u8],
        value: &[u8],
        there: bool,
    ) -> Result<()> {
        let (key, mut value) = (lend(key), lend(value));
        let flags = match there {
            true => ffi::MDBX_CURRENT,
            false => ffi::MDBX_NOOVERWRITE,
        };
        // SAFETY: a live transaction; key and value are only read.
        Code::check(unsafe {
            ffi::mdbx_put(self.0, table.0, &raw const key, &raw mut value, flags)
        })
    }

    /// Removes a value; [`Code::NOT_FOUND`] if it is not there.
    pub(crate) fn delete(&mut self, table: Table, key: &[u8]) -> Result<()> {
        let key = lend(key);
        // SAFETY: a live transaction; the key is only read.
        Code::check(unsafe { ffi::mdbx_del(self.0, table.0, &raw const key, ptr::null()) })
    }

    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let key = lend(key);
        let mut value = NOTHING;
        // SAFETY: a live transaction; the key is only read.
        let code = unsafe { ffi::mdbx_get(self.0, table.0, &raw const key, &raw mut value) };
        match Code::check(code) {
            // SAFETY: the value stays until the transaction writes or ends, which takes it by
            // `&mut` or by value.
            Ok(()) => Ok(Some(unsafe { borrow(&value) })),
            Err(Code::NOT_FOUND) => Ok(None),
            Err(code) => Err(code),
        }
    }

    /// Shows values with keys from `from` on, by rising key, for as long as `show` says so.
    pub(crate) fn scan(
        &self,
        table: Table,
        from: &[u8],
        show: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        let cursor = Cursor::open(self, table)?;
        let (mut key, mut value) = (lend(from), NOTHING);
        let mut step = ffi::MDBX_SET_RANGE;
        loop {
            // SAFETY: a live cursor, and values that it reads or replaces.
            let code =
                unsafe { ffi::mdbx_cursor_get(cursor.0, &raw mut key, &raw mut value, step) };
            match Code::check(code) {
                Ok(()) => {}
                Err(Code::NOT_FOUND) => return Ok(()),
                Err(code) => return Err(code),
            }
            // SAFETY: nothing is written before the next step.
            if !show(unsafe { borrow(&key) }, unsafe { borrow(&value) }) {
                return Ok(());
            }
            step = ffi::MDBX_NEXT;
        }
    }
}

struct Cursor<'t>(*mut ffi::MDBX_cursor, PhantomData<&'t ()>);

impl<'t> Cursor<'t> {
    fn open(transaction: &'t Transaction<'_>, table: Table) -> Result<Self> {
        let mut cursor = ptr::null_mut();
        // SAFETY: a live transaction; writes a pointer to a new cursor.
        Code::check(unsafe { ffi::mdbx_cursor_open(transaction.0, table.0, &raw mut cursor) })?;
        Ok(Self(cursor, PhantomData))
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: a live cursor; its transaction is borrowed, and so lives.
        unsafe { ffi::mdbx_cursor_close(self.0) };
    }
}
