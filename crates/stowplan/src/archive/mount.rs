//! `stowplan mount`: for one command, or for all until somebody ends it.

use super::{MountOptions, left_out};
use crate::error::{CliError, Exit};
use crate::progress::watched;
use crate::screen;
use crate::screen::counted;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use stowplan_archive::mount::{self, Mounted};

/// How often it is looked whether it shall end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Mounts an archive.
pub(crate) fn mount(options: &MountOptions) -> Result<Exit, CliError> {
    let is_none =
        options.command.is_empty() && std::env::args_os().next_back() == Some("--".into());
    if is_none {
        let text = "mount: there is no command behind '--'; name one, or leave '--' out to mount it for all";
        return Err(CliError::Usage(text.to_owned()));
    }
    match options.command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            for_a_command(options, command)
        }
        None => for_all(options),
    }
}

fn for_a_command(options: &MountOptions, mut command: Command) -> Result<Exit, CliError> {
    // Before anything starts a thread.
    mount::for_this_process()?;
    let mounted = Mounted::mount(&options.archive, &options.directory)?;
    let interrupt = watched(&options.directory)?;
    let program = Path::new(command.get_program()).to_owned();
    let mut child = command.spawn().map_err(CliError::io("run", &program))?;
    let mut asked = false;
    let ended = loop {
        if let Some(ended) = child
            .try_wait()
            .map_err(CliError::io("wait for", &program))?
        {
            break ended;
        }
        if interrupt.raised() && !asked {
            let _ = kill_process(Pid::from_child(&child), Signal::TERM);
            asked = true;
        }
        sleep(LOOK_EVERY);
    };
    drop(mounted);
    Ok(Exit::of(stowplan_crashlab::exit_code(ended)))
}

fn for_all(options: &MountOptions) -> Result<Exit, CliError> {
    let mounted = Mounted::mount(&options.archive, &options.directory)?;
    let interrupt = watched(&options.directory)?;
    if !options.quiet {
        screen::say(&format!(
            "{}: {} in {}, until Ctrl-C or 'umount {}'",
            options.archive.display(),
            counted(mounted.entries, "entry", "entries"),
            options.directory.display(),
            options.directory.display()
        ));
    }
    let end = left_out("not shown", &mounted.refused);
    while !interrupt.raised() && !mounted.is_over() {
        sleep(LOOK_EVERY);
    }
    Ok(end)
}
