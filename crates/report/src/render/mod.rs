//! The forms of a document. A renderer knows blocks and no findings.

pub mod html;
pub mod markdown;
pub mod terminal;
