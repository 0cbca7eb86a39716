//! What this crate wrote, damaged.

use crate::{hostile, materialise, sequence};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::fs;
use std::sync::LazyLock;
use stowplan_model::{Content, DatasetSpec, SizeDistribution, Workload};

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

const FILES: [&str; 3] = ["dataset.toml", "index.bin", "values.bin"];

/// The files of a dataset of nine values.
static DATASET: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d");
    let spec = DatasetSpec {
        count: 9,
        size: SizeDistribution::Uniform { min: 0, max: 40 },
        content: Content::Random,
        seed: 3,
        from: None,
    };
    materialise(&spec, &path, &mut |_| ()).unwrap();
    FILES.map(|file| fs::read(path.join(file)).unwrap())
});

fn opened(files: &[Vec<u8>; 3]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in FILES.iter().zip(files) {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    hostile::dataset(directory.path())
}

#[test]
fn a_dataset_with_a_damaged_index_is_refused_or_all_there() {
    assert!(opened(&DATASET));
    for at in 0..DATASET[1].len() {
        let mut files = DATASET.clone();
        files[1][at] ^= 1 << (at % 8);
        opened(&files);
    }
}

#[test]
fn damage_of_any_figure_of_a_dataset_s_description_but_its_seed_is_found() {
    let text = String::from_utf8(DATASET[0].clone()).unwrap();
    for (at, digit) in text.match_indices(|c: char| c.is_ascii_digit()) {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        for other in ["0", "7"] {
            let mut files = DATASET.clone();
            files[0].splice(at..=at, other.bytes());
            // What is generated beside what is on disk follows from these.
            let harmless = ["seed", "min", "max"]
                .iter()
                .any(|name| line.starts_with(name));
            assert!(
                other == digit || harmless || !opened(&files),
                "{line}{other}"
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_dataset_with_a_damaged_description_is_refused_or_all_there(
        at: usize, length in 0usize..12,
        with in prop_oneof!["\\PC{0,4}", any::<u64>().prop_map(|n| n.to_string())]
    ) {
        let mut files = DATASET.clone();
        let from = at % (files[0].len() + 1);
        let to = (from + length).min(files[0].len());
        files[0].splice(from..to, with.bytes());
        opened(&files);
    }

    #[test]
    fn a_damaged_sequence_is_refused_or_another_one(
        steps in 1u64..20, at: usize, length in 0usize..20,
        with in prop::collection::vec(any::<u8>(), 0..20)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        sequence::write_steps(&path, steps, &Workload::default(), steps, 1, |_| 3).unwrap();
        prop_assert!(hostile::sequence(&path));
        let mut bytes = fs::read(&path).unwrap();
        let from = at % (bytes.len() + 1);
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, with);
        fs::write(&path, bytes).unwrap();
        hostile::sequence(&path);
    }
}

#[test]
fn a_header_that_announces_more_than_there_is_takes_no_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    for count in [0, 2, 1 << 28, 1 << 60, u64::MAX / 16, u64::MAX] {
        let header = [&b"STOWSEQ1"[..], &count.to_le_bytes(), &[0; 16]].concat();
        fs::write(&path, header).unwrap();
        assert!(!hostile::sequence(&path), "{count}");
    }
    let text = String::from_utf8(DATASET[0].clone()).unwrap();
    for count in [0, 8, 1 << 60, (1 << 61) - 1, i64::MAX as u64] {
        let mut files = DATASET.clone();
        files[0] = text
            .replace("count = 9", &format!("count = {count}"))
            .into_bytes();
        assert!(!opened(&files), "{count}");
    }
}
