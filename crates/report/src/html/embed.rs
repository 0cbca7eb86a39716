//! The raw result inside the page: compressed, so that a page stays small, and as base64, which
//! cannot contain the end of a script element.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// The element that holds the result, with the button that downloads it. Without the script, the
/// link offers the compressed file.
pub(super) fn raw_result(text: &str) -> String {
    let Ok(compressed) = gzip(text.as_bytes()) else {
        return "<p>The raw result could not be compressed; it lies beside this page as \
                result.jsonl.</p>"
            .to_owned();
    };
    let size = stowplan_model::format_bytes(text.len() as u64);
    let compressed_size = stowplan_model::format_bytes(compressed.len() as u64);
    let data = STANDARD.encode(compressed);
    format!(
        "<p>Every block that was timed, enough to redo the analysis: <code>stowplan report \
         result.jsonl</code>.</p>\
         <p><button type=\"button\" id=\"download\" hidden>Download result.jsonl ({size})</button> \
         <a id=\"raw-result\" download=\"result.jsonl.gz\" \
         href=\"data:application/gzip;base64,{data}\">result.jsonl.gz ({compressed_size})</a></p>"
    )
}

pub(super) fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
