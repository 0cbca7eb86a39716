//! The flat store's index, and names of files found in directories and databases.

use crate::shared::in_directory;
use stowplan_stores::hostile;

pub(crate) fn look(data: &[u8]) {
    hostile::name(data);
    in_directory(|directory| {
        let path = directory.join("index.bin");
        std::fs::write(&path, data).expect("written");
        hostile::flat_index(&path);
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let entry = |key: u64| [key, 10 * key, 10].into_iter().flat_map(u64::to_le_bytes);
    let entries: Vec<u8> = [1, 2, 5, 1 << 21].into_iter().flat_map(entry).collect();
    let index = [&b"stowidx\x01"[..], &(1u64 << 40).to_le_bytes(), &entries].concat();
    vec![
        index,
        b"000001".to_vec(),
        b"1234567".to_vec(),
        b"00/01/02".to_vec(),
    ]
}
