use super::*;
use crate::drivers::Drivers;
use crate::plan::{PlanOptions, plan};
use std::collections::BTreeSet;
use stowplan_model::Study;

const CELLS: &str = r#"
name = "t"
title = "t"
question = "?"
datasets.d = { count = 10, size = { distribution = "fixed", bytes = 100 } }
comparison = [{ id = "c", title = "c", dataset = "d", baseline = "a", cells = {
  a = { store = "files" }, b = { store = "files", on = "tmpfs" }, c = { store = "files", on = "mine" } } }]
"#;

/// Cells of which one is on a file system that can be made without an image, and one on a directory.
fn planned(mine: &Path) -> Plan {
    let options = PlanOptions {
        on: BTreeMap::from([("mine".to_owned(), mine.to_owned())]),
        ..PlanOptions::default()
    };
    let study = Study::parse(CELLS, "t.toml").unwrap();
    plan(study, &options, &Drivers::built_in()).unwrap()
}

#[test]
fn each_known_file_system_has_a_name_of_its_own_in_paths_and_nothing_else_has() {
    let names: BTreeSet<String> = KNOWN
        .iter()
        .filter_map(|known| in_paths(known.on))
        .collect();
    assert_eq!(names.len(), KNOWN.len());
    assert!(names.contains("btrfs+compress.zstd"), "{names:?}");
    assert_ne!(in_paths("nas:a=b"), in_paths("nas:a-b"));
    for wrong in [
        "",
        ":",
        "a:",
        ":b",
        "a/b",
        "..",
        "a b",
        "é",
        &"x".repeat(65),
    ] {
        assert_eq!(in_paths(wrong), None, "{wrong}");
    }
}

#[test]
fn what_cannot_be_made_is_told_with_how_to_have_it() {
    let why = objection("zfs", false).unwrap();
    assert!(
        why.contains("--on NAME=DIR") && why.contains("ext4, "),
        "{why}"
    );
    if let Some(why) = objection("xfs", false) {
        let helps = ["sudo", "apt-get install xfsprogs", "no xfs"];
        assert!(helps.iter().any(|words| why.contains(words)), "{why}");
    }
    if platform::may_mount_images() {
        assert!(objection("tmpfs", true).unwrap().contains("no cold state"));
        assert_eq!(objection("tmpfs", false), None);
    }
}

#[test]
fn an_image_has_room_for_twice_its_data_and_no_less_than_file_systems_take() {
    assert_eq!(image_bytes(0), LEAST_IMAGE_BYTES);
    assert!(image_bytes(1 << 30) >= 2 << 30);
    assert!(image_bytes(u64::MAX).is_multiple_of(PIECE_BYTES as u64));
}

#[test]
fn an_image_is_written_whole_unless_the_run_is_interrupted() {
    let work = tempfile::tempdir().unwrap();
    let image = work.path().join("image");
    let interrupt = Interrupt::never();
    let bytes = 3 * PIECE_BYTES as u64;
    let file = written(&image, bytes, &interrupt, &mut |_, _| ()).unwrap();
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().unwrap();
    assert!(
        found.len() == bytes && found.blocks() * 512 >= bytes,
        "{found:?}"
    );
    interrupt.raise();
    let other = work.path().join("other");
    let ended = written(&other, bytes, &interrupt, &mut |_, _| ()).unwrap_err();
    assert!(matches!(ended, HarnessError::Interrupted), "{ended}");
}

#[test]
fn cells_find_their_file_system_and_nothing_is_left_of_it_afterwards() {
    let work = tempfile::tempdir().unwrap();
    let mine = tempfile::tempdir().unwrap();
    let plan = planned(mine.path());
    let interrupt = Interrupt::never();
    let mut made = FileSystems::named(&plan);
    let root = made.root("mine").unwrap().to_owned();
    assert!(root.starts_with(mine.path()) && made.directories()["mine"] == root);
    assert!(made.root("tmpfs").is_err(), "the others come later");
    let how = made.make(&plan, work.path(), false, &interrupt, &mut |_, _| ());
    let how = how.unwrap();
    assert_eq!(made.root("mine").unwrap(), root);
    assert!(how["mine"].contains(" mounted "), "{how:?}");
    std::fs::write(root.join("data"), "x").unwrap();
    assert!(made.root("xfs").unwrap_err().is_of_a_store());
    let mounted = work.path().join("on-tmpfs");
    match platform::may_mount_images() {
        true => {
            assert_eq!(made.root("tmpfs").unwrap(), mounted);
            assert!(how.contains_key("tmpfs"), "{how:?}");
            std::fs::write(mounted.join("data"), "x").unwrap();
        }
        false => assert!(made.root("tmpfs").is_err()),
    }
    made.end(false).unwrap();
    assert_eq!(std::fs::read_dir(mine.path()).unwrap().count(), 0);
    assert!(!mounted.join("data").exists());
}
