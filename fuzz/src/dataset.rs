//! Datasets on disk.

use crate::shared::in_directory;
use std::fs;

pub(crate) fn look(data: &[u8]) {
    let Some((entries, rest)) = data.split_first() else {
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
    let text = String::from_utf8_lossy(description).into_owned();
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
            "count = 3\nseed = 1\n[size]\n{size}[content]\nkind = \"compressible\"\nratio = 0.5\n"
        );
        let mut seed = vec![4, 0, 0, 0, 3, 0, 3, 1, 0];
        seed.extend(spec.into_bytes());
        seed
    };
    sizes.map(with).to_vec()
}
