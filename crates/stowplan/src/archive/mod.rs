//! The user's own files in one SQLite Archive: `pack`, `unpack`, `ls`, `cat`, `verify`, `add`, `rm` and
//! `mount`.

mod cat;
mod change;
mod ls;
mod mount;
mod options;
mod pack;
mod unpack;
mod verify;
mod words;

pub(crate) use cat::cat;
pub(crate) use change::{add, rm};
pub(crate) use ls::ls;
pub(crate) use mount::mount;
pub(crate) use options::{
    AddOptions, CatOptions, LsOptions, MountOptions, PackOptions, RmOptions, UnpackOptions,
    VerifyOptions,
};
pub(crate) use pack::pack;
pub(crate) use unpack::unpack;
pub(crate) use verify::verify;
