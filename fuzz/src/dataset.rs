//! Datasets on disk. The first byte says what of an input is made to fit: checksums are no wall that
//! a fuzzer gets over, but damage that comes with the right one must be harmless as well.

use crate::shared::in_directory;
use std::fs;

pub(crate) fn look(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let Some((entries, rest)) = rest.split_first() else {
        return;
    };
    let (index, description) = rest.split_at(rest.len().min(usize::from(*entries) * 2));
    // Two bytes of each offset are enough to rise, fall and go beyond.
    let offsets = index
        .chunks_exact(2)
        .map(|two| u64::from(two[0]) << 8 | u64::from(two[1]));
    let index: Vec<u8> = offsets.clone().flat_map(u64::to_le_bytes).collect();
    let total = offsets.clone().last().unwrap_or(0);
    let values = vec![7; total as usize];
    let mut text = String::from_utf8_lossy(description).into_owned();
    if kind & 1 == 0 {
        let largest = offsets
            .clone()
            .zip(offsets.skip(1))
            .map(|(a, b)| b.saturating_sub(a))
            .max();
        text = format!(
            "format = 1\ntotal_bytes = {total}\nlargest = {}\nvalues_crc32 = {}\nindex_crc32 = {}\n{text}",
            largest.unwrap_or(0),
            crc32fast::hash(&values),
            crc32fast::hash(&index),
        );
    }
    in_directory(|directory| {
        fs::write(directory.join("dataset.toml"), text).expect("written");
        fs::write(directory.join("index.bin"), &index).expect("written");
        fs::write(directory.join("values.bin"), &values).expect("written");
        stowplan_dataset::hostile::dataset(directory);
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let sizes = [
        "distribution = \"uniform\"\nmin = 0\nmax = 9\n",
        "distribution = \"fixed\"\nbytes = 3\n",
        "distribution = \"log-normal\"\nmedian = 3\nsigma = 1.5\nmax = 90\n",
        "distribution = \"kvtest\"\nsize = 5\nvariance = 2\n",
    ];
    let with = |size| {
        let spec = format!(
            "[spec]\ncount = 3\nseed = 1\n[spec.size]\n{size}[spec.content]\nkind = \"compressible\"\nratio = 0.5\n"
        );
        let mut seed = vec![0, 4, 0, 0, 0, 3, 0, 3, 1, 0];
        seed.extend(spec.into_bytes());
        seed
    };
    sizes.map(with).to_vec()
}
