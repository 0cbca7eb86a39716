//! Runs a program on the recording file system, and writes the log.

use super::cage::{end_with_parent, enter, start, waited};
use super::file_system::{DIRECTORY, Recording, STDOUT};
use crate::run_error;
use fuser::{Config, MountOption, Session, SessionACL};
use rustix::process::{getgid, getuid};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use stowplan_harness::HarnessError;

/// Mounts the file system on `mount`, an empty directory, runs the program in a directory on it, and
/// writes what it did to `log`, `most` bytes of data at most. The code with which the program ended stands in it.
///
/// # Errors
/// Nothing can be mounted, the program cannot be started, or the log cannot be written.
pub fn record(
    parent: u32,
    mount: &Path,
    log: &Path,
    most: u64,
    command: &[OsString],
) -> Result<(), HarnessError> {
    end_with_parent(parent)?;
    enter()?;
    let file = File::create(log).map_err(HarnessError::io("create", log))?;
    let recording = Recording::new(getuid().as_raw(), getgid().as_raw(), file, most)
        .map_err(HarnessError::io("write", log))?;
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("stowplan-crash".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::Exec,
    ];
    // A program may become another user, as servers do.
    config.acl = SessionACL::All;
    let session = Session::new(recording.clone(), mount, &config)
        .and_then(Session::spawn)
        .map_err(|error| run_error(format!("cannot mount a file system of its own: {error}")))?;
    let status = run(mount, command);
    // What is still in memory of mapped files comes now.
    let unmounted = session.umount_and_join();
    let status = status?;
    // All data have been written when the connection ends; the release of a file may be on its way still, and
    // is what the kernel then takes back.
    unmounted
        .or_else(|error| match error.kind() {
            ErrorKind::ConnectionAborted => Ok(()),
            _ => Err(error),
        })
        .map_err(|error| run_error(format!("cannot take the file system away: {error}")))?;
    recording
        .finish(status)
        .map_err(HarnessError::io("write", log))
}

fn run(mount: &Path, command: &[OsString]) -> Result<i32, HarnessError> {
    let directory = mount.join(DIRECTORY);
    let told = mount.join(STDOUT);
    let stdout = OpenOptions::new().append(true).open(&told);
    let stdout = stdout.map_err(HarnessError::io("open", &told))?;
    let mut child = start(command, true, |process| {
        process
            .stdout(stdout)
            .env("STOWPLAN_DIR", &directory)
            .current_dir(&directory);
    })?;
    waited(&mut child)
}
