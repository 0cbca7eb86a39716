//! Files inside the page: compressed, so that a page stays small, and as base64, which cannot contain
//! the end of a script element.

use crate::document::File;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use std::io::Write as _;
use stowplan_model::format_bytes;

/// Several files are embedded if they take at most this many bytes together, compressed: a page must
/// stay one that can be sent to somebody.
const EMBEDDED_AT_MOST: usize = 6 << 20;

/// The files, to be saved from the page.
pub(super) fn files(files: &[File]) -> Markup {
    let compressed: std::io::Result<Vec<_>> = files.iter().map(gzip).collect();
    let Ok(compressed) = compressed else {
        return html! { p { "They could not be compressed, so that they are not in this page." } };
    };
    let size = compressed.iter().map(Vec::len).sum::<usize>();
    let mut carried = files.iter().zip(&compressed);
    match (carried.next(), files.len()) {
        (Some((file, data)), 1) => single(file, data),
        (Some(_), _) if size > EMBEDDED_AT_MOST => html! {
            p {
                "They are not in this page: compressed, they take " (format_bytes(size as u64))
                " together. Keep the files themselves."
            }
        },
        _ => html! {
            ul {
                @for (file, data) in files.iter().zip(&compressed) {
                    li { (file.of) ": " (link(file, data, None)) }
                }
            }
        },
    }
}

/// The file as it is, by a button; without the script, a link offers it compressed.
fn single(file: &File, data: &[u8]) -> Markup {
    let size = format_bytes(file.content.len() as u64);
    html! {
        p {
            button type="button" id="download" hidden { "Download " (file.name) " (" (size) ")" }
            " " (link(file, data, Some("raw-result")))
        } "\n"
    }
}

fn link(file: &File, data: &[u8], id: Option<&str>) -> Markup {
    let name = format!("{}.gz", file.name);
    let address = format!("data:application/gzip;base64,{}", STANDARD.encode(data));
    let size = format_bytes(data.len() as u64);
    html! { a id=[id] download=(name) href=(address) { (name) " (" (size) ")" } }
}

fn gzip(file: &File) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(file.content.as_bytes())?;
    encoder.finish()
}
