//! What was written by a store, damaged.

use crate::files::name::{Layout, Name};
use crate::{Key, hostile};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::fs;
use std::path::Path;

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

/// Bytes of which a few are replaced, at places of the file's beginning as often as at any.
fn damage() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let place = prop_oneof![0usize..160, any::<usize>()];
    prop::collection::vec((place, any::<u8>()), 1..8)
}

fn damaged(whole: &[u8], damage: &[(usize, u8)], length: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for (at, byte) in damage {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    bytes.truncate(length.max(1));
    bytes
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_damaged_index_of_the_flat_store_is_refused_or_names_values_within_its_file(
        places in prop::collection::vec((0u64..900, 0u64..100), 0..20),
        damage in damage(), length in prop_oneof![3 => Just(usize::MAX), 1 => 1usize..600]
    ) {
        let places = places.into_iter().flat_map(|(offset, len)| [offset, len]);
        let places = places.flat_map(u64::to_le_bytes);
        let whole: Vec<u8> = b"stowidx\x02".iter().copied().chain(1000u64.to_le_bytes()).chain(places).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.bin");
        fs::write(&path, damaged(&whole, &damage, length)).unwrap();
        hostile::flat_index(&path);
    }

    #[test]
    fn what_no_layout_writes_is_no_name_of_a_file(
        text in prop_oneof!["[0-9/.]{0,24}", "[0-9]{2,4}/[0-9]{2}/[0-9]{2}", "\\PC{0,12}"],
        bytes in prop::collection::vec(any::<u8>(), 0..16)
    ) {
        hostile::name(text.as_bytes());
        hostile::name(&bytes);
    }

    #[test]
    fn a_name_with_a_byte_replaced_is_another_key_s_or_none(
        key: u64, tree: bool, at: usize, with: u8
    ) {
        let layout = if tree { Layout::Tree } else { Layout::Dir };
        let name = Name::of(layout, Key(key));
        hostile::name(name.as_str().as_bytes());
        let mut text = name.as_str().as_bytes().to_vec();
        let at = at % text.len();
        text[at] = with;
        hostile::name(&text);
    }
}

#[test]
fn names_that_lead_out_of_a_directory_are_no_names() {
    for text in [
        "../000001",
        "/000001",
        "000001/",
        "00/../01",
        "00/00/01/",
        "",
        ".",
        "000001\0",
        "000001\n",
    ] {
        assert_eq!(Name::parse(Layout::Dir, text.as_bytes()), None, "{text:?}");
        assert_eq!(Name::parse(Layout::Tree, text.as_bytes()), None, "{text:?}");
    }
    assert!(
        Name::parse(Layout::Tree, b"00/00/01")
            .is_some_and(|name| name.as_path() == Path::new("00/00/01"))
    );
}
