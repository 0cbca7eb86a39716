//! The values as the file has them.

use super::Format;
use crate::hexadecimal::hexadecimal;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use std::collections::BTreeMap;

/// Every value under its key.
pub(crate) type Rows = BTreeMap<u64, Held>;

/// The first bytes of a binary document: what it is, and the version of its form.
const MAGIC: &[u8; 8] = b"STOWDOC1";

/// A value in memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub(crate) enum Held {
    /// Of a document of text, what is text.
    Text(String),
    Bytes(Vec<u8>),
}

/// A value as JSON has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Hexadecimal { hex: String },
}

impl Held {
    pub(super) fn of(format: Format, value: &[u8]) -> Self {
        let text = match format {
            Format::Json => std::str::from_utf8(value).ok(),
            Format::Binary => None,
        };
        text.map_or_else(
            || Self::Bytes(value.to_vec()),
            |text| Self::Text(text.to_owned()),
        )
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("hex", &hexadecimal(bytes))?;
                map.end()
            }
        }
    }
}

impl TryFrom<Written> for Held {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Text(text) => Ok(Self::Text(text)),
            Written::Hexadecimal { hex } => from_hexadecimal(&hex)
                .map(Self::Bytes)
                .ok_or("a value in hexadecimal has something else in it"),
        }
    }
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let half = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let pairs = pairs.iter();
    pairs
        .map(|[high, low]| Some(half(*high)? << 4 | half(*low)?))
        .collect()
}

/// Writes the document into `out`, which is emptied before.
///
/// # Errors
/// Never in practice: memory takes whatever is written to it.
pub(super) fn write(format: Format, rows: &Rows, out: &mut Vec<u8>) -> serde_json::Result<()> {
    out.clear();
    match format {
        Format::Json => serde_json::to_writer(out, rows),
        Format::Binary => {
            write_binary(rows, out);
            Ok(())
        }
    }
}

/// The number of rows, then of each the distance of its key from the one before, the length of its value
/// and the value; numbers in as many groups of seven bits as they need (LEB128).
fn write_binary(rows: &Rows, out: &mut Vec<u8>) {
    out.extend(MAGIC);
    number(rows.len() as u64, out);
    let mut before = 0;
    for (key, value) in rows {
        number(key - before, out);
        number(value.bytes().len() as u64, out);
        out.extend(value.bytes());
        before = *key;
    }
}

fn number(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Reads a document.
///
/// # Errors
/// Why it is none.
pub(super) fn read(format: Format, bytes: &[u8]) -> Result<Rows, String> {
    match format {
        Format::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Format::Binary => {
            let mut rest = bytes
                .strip_prefix(MAGIC)
                .ok_or("it does not begin as a binary document does")?;
            let rows = read_binary(&mut rest).ok_or("it is cut short, or damaged")?;
            match rest {
                [] => Ok(rows),
                _ => Err("something follows its last value".to_owned()),
            }
        }
    }
}

fn read_binary(rest: &mut &[u8]) -> Option<Rows> {
    let count = read_number(rest)?;
    let mut rows = Rows::new();
    let mut key = 0_u64;
    for _ in 0..count {
        key = key.checked_add(read_number(rest)?)?;
        let length = usize::try_from(read_number(rest)?).ok()?;
        let (value, behind) = rest.split_at_checked(length)?;
        *rest = behind;
        let twice = rows.insert(key, Held::Bytes(value.to_vec()));
        twice.is_none().then_some(())?;
    }
    Some(rows)
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        let group = u64::from(byte & 127);
        // The tenth group has a single bit.
        (shift < 63 || group < 2).then_some(())?;
        number |= group << shift;
        if byte & 128 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(format: Format) -> Rows {
        let values: [(u64, &[u8]); 5] = [
            (0, b""),
            (1, b"a \"quoted\" \\ line\n"),
            (2, &[0, 255, 128]),
            (300, &[b'x'; 300]),
            (u64::MAX, "ä".as_bytes()),
        ];
        let held = |(key, value): &(u64, &[u8])| (*key, Held::of(format, value));
        values.iter().map(held).collect()
    }

    #[test]
    fn what_is_written_is_read_again_in_each_format() {
        for format in [Format::Json, Format::Binary] {
            for rows in [rows(format), Rows::new()] {
                let mut out = b"left over".to_vec();
                write(format, &rows, &mut out).unwrap();
                assert_eq!(read(format, &out).unwrap(), rows);
            }
        }
    }

    #[test]
    fn a_document_of_text_is_one_that_anybody_can_read() {
        let mut out = Vec::new();
        let rows = [(1, "a"), (2, "ä\"")].map(|(key, text)| (key, Held::Text(text.to_owned())));
        write(Format::Json, &rows.into(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"1":"a","2":"ä\""}"#);
    }

    #[test]
    fn a_row_of_a_guid_takes_two_bytes_beside_it() {
        let mut out = Vec::new();
        let rows: Rows = (1..=100)
            .map(|key| (key, Held::Bytes(vec![b'g'; 36])))
            .collect();
        write(Format::Binary, &rows, &mut out).unwrap();
        assert_eq!(out.len(), 8 + 1 + 100 * 38);
    }

    #[test]
    fn a_document_that_is_cut_short_or_goes_on_is_refused_and_never_read_in_part() {
        for format in [Format::Json, Format::Binary] {
            let mut out = Vec::new();
            write(format, &rows(format), &mut out).unwrap();
            for length in 0..out.len() {
                assert!(read(format, &out[..length]).is_err(), "{length}");
            }
            out.push(b'1');
            assert!(read(format, &out).is_err());
        }
    }

    #[test]
    fn hexadecimal_that_is_none_is_refused() {
        for wrong in ["a", "0g", "+1", "ä"] {
            assert_eq!(from_hexadecimal(wrong), None, "{wrong}");
        }
    }
}
