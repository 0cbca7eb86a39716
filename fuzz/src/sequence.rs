//! Operation sequences on disk.

use crate::shared::in_directory;

pub(crate) fn look(data: &[u8]) {
    in_directory(|directory| {
        let path = directory.join("s");
        std::fs::write(&path, data).expect("written");
        stowplan_dataset::hostile::sequence(&path);
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let record = |key: u64| {
        [
            &key.to_le_bytes()[..],
            &[3, 0, 0, 0, (key % 6) as u8, 0, 1, 0],
        ]
        .concat()
    };
    let of = |count: u64| {
        [
            &b"STOWSEQ1"[..],
            &count.to_le_bytes(),
            &(1..=count).flat_map(record).collect::<Vec<u8>>(),
        ]
        .concat()
    };
    vec![of(1), of(4), of(40)]
}
