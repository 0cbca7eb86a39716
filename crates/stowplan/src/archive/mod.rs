//! The user's own files in one SQLite Archive: `pack`, `unpack`, `ls`, `cat`, `verify`, `add`, `rm` and
//! `mount`.

mod cat;
mod ls;
mod options;
mod pack;
mod unpack;
mod verify;
mod words;

pub(crate) use cat::cat;
pub(crate) use ls::ls;
pub(crate) use options::{CAT, LS, PACK, UNPACK, VERIFY};
pub(crate) use options::{CatOptions, LsOptions, PackOptions, UnpackOptions, VerifyOptions};
pub(crate) use pack::pack;
pub(crate) use unpack::unpack;
pub(crate) use verify::verify;
