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
    let place = |key: u64| [10 * key, 10].into_iter().flat_map(u64::to_le_bytes);
    let places: Vec<u8> = (0..5).flat_map(place).collect();
    let index = [&b"stowidx\x02"[..], &(1u64 << 40).to_le_bytes(), &places].concat();
    vec![
        index,
        b"000001".to_vec(),
        b"1234567".to_vec(),
        b"00/01/02".to_vec(),
    ]
}
