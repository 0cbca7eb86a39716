//! SQLite Archives that somebody else made: bytes of a database, or rows, which get further.

use crate::shared::in_directory;
use std::path::Path;
use stowplan_archive::hostile::{self, ARCHIVE, BACK, Row};

const MODES: [i64; 8] = [
    0o100_644, 0o120_777, 0o040_755, 0o644, 0o104_755, 0o040_000, 0o060_644, -1,
];

pub(crate) fn look(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    in_directory(|directory| {
        for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
            match entry.file_type().expect("a type").is_dir() {
                true => std::fs::remove_dir_all(entry.path()).expect("removed"),
                false => std::fs::remove_file(entry.path()).expect("removed"),
            }
        }
        surround(directory, kind & 2 != 0);
        let path = directory.join(ARCHIVE);
        match kind & 1 {
            0 => std::fs::write(&path, rest).expect("written"),
            _ => hostile::write(&path, &rows(rest)).expect("written"),
        }
        let is_one = hostile::archive(directory);
        assert!(is_one || kind & 1 == 0, "rows make an archive");
    });
}

/// What may not change, with links that lead there from what is unpacked into.
fn surround(directory: &Path, is_there: bool) {
    let write = |name: &str| std::fs::write(directory.join(name), "precious").expect("written");
    let link = std::os::unix::fs::symlink;
    std::fs::create_dir_all(directory.join("outside")).expect("made");
    write("outside/precious");
    if is_there {
        std::fs::create_dir_all(directory.join(BACK).join("d")).expect("made");
        write("back/a");
        link("../outside", directory.join("back/l")).expect("linked");
        link("../../outside/precious", directory.join("back/d/f")).expect("linked");
    }
}

/// A row is five bytes (mode, claimed size, length of its name, length of its data), the name and the data.
fn rows(mut rest: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    while let [mode, size, shift, name, length, tail @ ..] = rest {
        let (name, tail) = tail.split_at(tail.len().min(usize::from(*name)));
        let (data, tail) = tail.split_at(tail.len().min(usize::from(*length)));
        let sz = match size {
            0 => data.len() as i64,
            1 => -1,
            size => i64::from(*size) << (shift & 63),
        };
        rows.push(Row {
            name: String::from_utf8_lossy(name).into_owned(),
            mode: MODES[usize::from(*mode) % MODES.len()],
            sz,
            data: data.to_vec(),
        });
        rest = tail;
    }
    rows
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let row = |mode: u8, size: u8, name: &str, data: &[u8]| {
        let head = [mode, size, 0, name.len() as u8, data.len() as u8];
        [&head[..], name.as_bytes(), data].concat()
    };
    // 64 zeros, as zlib has them.
    let zeros = b"x\x9cc` \x0f\x00\x00@\x00\x01";
    let described = [
        row(2, 0, ".", b""),
        row(0, 0, "a", b"value"),
        row(0, 64, "d/zeros", zeros),
        row(1, 1, "l", b"../outside"),
        row(0, 0, "l/x", b"x"),
        row(0, 0, "../outside/precious", b"x"),
        row(0, 0, "./a", b"x"),
        row(2, 0, "d/", b""),
    ]
    .concat();
    let database = in_directory(|directory| {
        let path = directory.join("seed.sqlar");
        hostile::write(&path, &rows(&described)).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        std::fs::remove_file(&path).expect("removed");
        bytes
    });
    vec![
        [&[0][..], &database].concat(),
        [&[2][..], &database].concat(),
        [&[1][..], &described].concat(),
        [&[3][..], &described].concat(),
    ]
}
