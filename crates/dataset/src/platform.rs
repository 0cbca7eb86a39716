//! Calls of the system.

use std::fs::File;

/// Brings everything written on the file system of `file` to the disk.
pub(crate) fn sync_filesystem(file: &File) -> std::io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// File systems whose `syncfs` is known to bring what was written to the disk, by the number that statfs(2) has
/// of them: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, overlayfs, which hands it on, and tmpfs, which has none.
const SYNCED_AS_A_WHOLE: [u32; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x794c_7630,
    0x0102_1994,
];

/// Whether [`sync_filesystem`] brings everything to the disk. Of FUSE the kernel only hands on what was
/// written, and whoever serves it hears of no sync.
pub(crate) fn is_synced_as_a_whole(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| SYNCED_AS_A_WHOLE.contains(&(found.f_type as u32)))
}

/// Asks the disk to begin writing what of a file is not on it, without waiting, so that a later sync finds
/// little left to do. A refusal costs time only.
pub(crate) fn begin_writeback(file: &File) {
    use std::os::fd::AsRawFd;
    #[expect(unsafe_code, reason = "rustix has no sync_file_range")]
    // SAFETY: takes integers only; the descriptor is open.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE)
    };
}
