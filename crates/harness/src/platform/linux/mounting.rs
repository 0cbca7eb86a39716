//! File systems that this process mounts for itself and those that it starts: in a mount namespace of its
//! own, images on loop devices that the kernel lets go of with the last mount. When the last of these
//! processes is gone, however it ended, nothing is left of either.

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount as mount_with, mount_change,
    unmount as unmount_with,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Lends loop devices (linux/loop.h).
const LOOP_CONTROL: &str = "/dev/loop-control";
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
/// Others may take a device between the question which one is free and its use.
const TRIES: u32 = 16;
/// `CAP_SYS_ADMIN` (linux/capability.h).
const CAP_SYS_ADMIN: u32 = 21;

/// `_IOR('f', 19, …)` and `_IOWR('f', 23, …)` (linux/fscrypt.h).
const SET_ENCRYPTION_POLICY: libc::Ioctl =
    rustix::ioctl::opcode::read::<[u8; 12]>(b'f', 19) as libc::Ioctl;
const ADD_ENCRYPTION_KEY: libc::Ioctl =
    rustix::ioctl::opcode::read_write::<[u8; 80]>(b'f', 23) as libc::Ioctl;
/// AES-256-XTS takes so many bytes of key.
const KEY_BYTES: usize = 64;

/// Whether this process may attach loop devices and mount what is on them. Root of a user namespace may
/// not: the devices are not its own.
pub(crate) fn may_mount_images() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    effective.is_some_and(|may| may & (1 << CAP_SYS_ADMIN) != 0)
        && OpenOptions::new()
            .read(true)
            .write(true)
            .open(LOOP_CONTROL)
            .is_ok()
}

/// Whether the kernel knows a type of file systems, or may find a module for it.
pub(crate) fn may_know_file_system(kind: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let release = rustix::system::uname();
    let modules = Path::new("/lib/modules").join(&*release.release().to_string_lossy());
    known.split_whitespace().any(|word| word == kind) || modules.is_dir()
}

/// Whether the kernel's ext4 can encrypt.
pub(crate) fn may_encrypt() -> bool {
    Path::new("/sys/fs/ext4/features/encryption").exists()
}

/// From here on the calling thread, and the threads and processes that it starts, see mounts of their own. It
/// only makes system calls, and may stand between fork and exec.
pub(crate) fn own_mounts() -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "rustix cannot rule out file descriptors for all flags"
    )]
    // SAFETY: this flag leaves file descriptors alone.
    unsafe {
        unshare_unsafe(UnshareFlags::NEWNS)?;
    }
    // What others unmount is not to stay mounted here, and nothing of this is to be seen by them.
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change(c"/", downstream)?)
}

/// Mounts `source` on a directory.
pub(crate) fn mount(source: &Path, place: &Path, kind: &str, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    Ok(mount_with(
        source,
        place,
        kind,
        MountFlags::empty(),
        options.as_c_str(),
    )?)
}

/// Unmounts, also what is in use: it goes when it is no longer.
pub(crate) fn unmount(place: &Path) -> io::Result<()> {
    Ok(unmount_with(place, UnmountFlags::DETACH)?)
}

/// `struct loop_info64` (linux/loop.h).
#[repr(C)]
struct LoopInfo {
    numbers: [u64; 5],
    number: u32,
    encryption: [u32; 2],
    flags: u32,
    names: [[u8; 64]; 2],
    key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` (linux/loop.h).
#[repr(C)]
struct LoopConfig {
    descriptor: u32,
    block_bytes: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// A loop device that shows an image in blocks of a size, reads and writes it directly, and is let go of by
/// the kernel once it is neither open nor mounted.
pub(crate) fn attach(image: &File, block_bytes: u32) -> io::Result<(File, PathBuf)> {
    let config = LoopConfig {
        descriptor: u32::try_from(image.as_raw_fd()).map_err(io::Error::other)?,
        block_bytes,
        info: LoopInfo {
            numbers: [0; 5],
            number: 0,
            encryption: [0; 2],
            flags: LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
            names: [[0; 64]; 2],
            key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    };
    let control = OpenOptions::new()
        .read(true)
        .write(true)
        .open(LOOP_CONTROL)?;
    for _ in 0..TRIES {
        let number = control_device(&control, LOOP_CTL_GET_FREE, std::ptr::null::<LoopConfig>())?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = OpenOptions::new().read(true).write(true).open(&path)?;
        match control_device(&device, LOOP_CONFIGURE, &raw const config) {
            Ok(_) => return Ok((device, path)),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// `struct fscrypt_add_key_arg` (linux/fscrypt.h) with its key.
#[repr(C)]
struct AddKey {
    kind: u32,
    reserved: u32,
    identifier: [u8; 32],
    key_bytes: u32,
    others: [u32; 9],
    key: [u8; KEY_BYTES],
}

/// Has the file system encrypt what will lie in an empty directory: contents by AES-256-XTS, names by
/// AES-256-CTS, with a key drawn anew that nobody keeps.
pub(crate) fn encrypt(directory: &Path) -> io::Result<()> {
    /// A key is known by an identifier that the kernel makes of it (`FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER`).
    const BY_IDENTIFIER: u32 = 2;
    let mut key = AddKey {
        kind: BY_IDENTIFIER,
        reserved: 0,
        identifier: [0; 32],
        key_bytes: KEY_BYTES as u32,
        others: [0; 9],
        key: [0; KEY_BYTES],
    };
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut key.key)?;
    let directory = File::open(directory)?;
    control_device(&directory, ADD_ENCRYPTION_KEY, &raw mut key)?;
    // `struct fscrypt_policy_v2`: version 2, contents by AES-256-XTS (1), names by AES-256-CTS (4), padded to
    // 32 bytes (3), then the key's identifier.
    let mut policy = [0u8; 24];
    policy[..4].copy_from_slice(&[2, 1, 4, 3]);
    policy[8..].copy_from_slice(&key.identifier[..16]);
    control_device(&directory, SET_ENCRYPTION_POLICY, &raw const policy)?;
    Ok(())
}

/// Asks a device or a file system for something of its own.
fn control_device<T>(file: &File, request: libc::Ioctl, about: *const T) -> io::Result<i32> {
    #[expect(unsafe_code, reason = "rustix has none of these requests")]
    // SAFETY: each request is called with a living structure of the layout that it expects, or takes no
    // pointer, and writes to none but that of a key, which is mutable; the descriptor is open.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), request, about) };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}
