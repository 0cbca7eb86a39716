//! File systems that this process mounts for itself and those that it starts: in a mount namespace of its
//! own, images on loop devices that the kernel lets go of with the last mount. When the last of these
//! processes is gone, however it ended, nothing is left of either.

use linux_raw_sys::general::{
    FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER, FSCRYPT_MAX_KEY_SIZE, FSCRYPT_MODE_AES_256_CTS,
    FSCRYPT_MODE_AES_256_XTS, FSCRYPT_POLICY_FLAGS_PAD_32, FSCRYPT_POLICY_V2, fscrypt_add_key_arg,
    fscrypt_policy_v2,
};
use linux_raw_sys::ioctl::{FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_SET_ENCRYPTION_POLICY};
use linux_raw_sys::loop_device::{
    LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, LOOP_CONFIGURE, LOOP_CTL_GET_FREE, loop_config,
};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount as mount_with, mount_change,
    unmount as unmount_with,
};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Lends loop devices.
const LOOP_CONTROL: &str = "/dev/loop-control";
/// Others may take a device between the question which one is free and its use.
const TRIES: u32 = 16;
/// AES-256-XTS takes so many bytes of key.
const KEY_BYTES: usize = FSCRYPT_MAX_KEY_SIZE as usize;

/// Whether this process may attach loop devices and mount what is on them. Root of a user namespace may
/// not: the devices are not its own.
pub(crate) fn may_mount_images() -> bool {
    let sets = capabilities(None);
    let may = sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    may && device(LOOP_CONTROL).is_ok()
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

/// A loop device that shows an image in blocks of a size, reads and writes it directly, and is let go of by
/// the kernel once it is neither open nor mounted.
pub(crate) fn attach(image: &File, block_bytes: u32) -> io::Result<(File, PathBuf)> {
    #[expect(unsafe_code, reason = "it has no default")]
    // SAFETY: it consists of numbers, each of which may be 0.
    let mut config: loop_config = unsafe { zeroed() };
    config.fd = u32::try_from(image.as_raw_fd()).map_err(io::Error::other)?;
    config.block_size = block_bytes;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR as u32 | LO_FLAGS_DIRECT_IO as u32;
    let control = device(LOOP_CONTROL)?;
    for _ in 0..TRIES {
        let number = control_device(&control, LOOP_CTL_GET_FREE, std::ptr::null_mut::<()>())?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = device(&path)?;
        match control_device(&device, LOOP_CONFIGURE, &raw mut config) {
            Ok(_) => return Ok((device, path)),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

fn device(path: impl AsRef<Path>) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// What names a key, and the key behind it.
#[repr(C)]
struct AddKey {
    about: fscrypt_add_key_arg,
    key: [u8; KEY_BYTES],
}

/// Has the file system encrypt what will lie in an empty directory: contents by AES-256-XTS, names by
/// AES-256-CTS, with a key drawn anew that nobody keeps.
pub(crate) fn encrypt(directory: &Path) -> io::Result<()> {
    #[expect(unsafe_code, reason = "it has no default")]
    // SAFETY: it consists of numbers, each of which may be 0.
    let mut add: AddKey = unsafe { zeroed() };
    // The kernel makes an identifier of the key.
    add.about.key_spec.type_ = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
    add.about.raw_size = FSCRYPT_MAX_KEY_SIZE;
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut add.key)?;
    let directory = File::open(directory)?;
    control_device(&directory, FS_IOC_ADD_ENCRYPTION_KEY, &raw mut add)?;
    let mut policy = fscrypt_policy_v2 {
        version: FSCRYPT_POLICY_V2 as u8,
        contents_encryption_mode: FSCRYPT_MODE_AES_256_XTS as u8,
        filenames_encryption_mode: FSCRYPT_MODE_AES_256_CTS as u8,
        flags: FSCRYPT_POLICY_FLAGS_PAD_32 as u8,
        log2_data_unit_size: 0,
        __reserved: [0; 3],
        #[expect(unsafe_code, reason = "a union")]
        // SAFETY: whichever of its fields was written, they are bytes.
        master_key_identifier: unsafe { add.about.key_spec.u.identifier },
    };
    control_device(&directory, FS_IOC_SET_ENCRYPTION_POLICY, &raw mut policy)?;
    Ok(())
}

/// Asks a device or a file system for something of its own.
fn control_device<T>(file: &File, request: u32, about: *mut T) -> io::Result<i32> {
    #[expect(unsafe_code, reason = "rustix has none of these requests")]
    // SAFETY: each request is called with a living structure of the layout that it expects, or takes no
    // pointer; the descriptor is open.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), request as libc::Ioctl, about) };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}
