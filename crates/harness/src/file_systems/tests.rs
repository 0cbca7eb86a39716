use super::*;
use std::collections::BTreeSet;

#[test]
fn each_known_file_system_has_a_name_of_its_own_in_paths_and_nothing_else_has() {
    let names: BTreeSet<String> = KNOWN.iter().filter_map(|known| in_paths(known)).collect();
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
    if objection("tmpfs", false).is_none() {
        assert!(objection("tmpfs", true).unwrap().contains("no cold state"));
    }
}

#[test]
fn an_image_has_room_for_twice_its_data_and_no_less_than_file_systems_take() {
    assert_eq!(image_bytes(0), LEAST_IMAGE_BYTES);
    assert!(image_bytes(1 << 30) >= 2 << 30);
    assert!(image_bytes(u64::MAX).is_multiple_of(PIECE_BYTES));
}

#[test]
fn a_file_system_in_an_image_is_made_whole_and_what_is_interrupted_leaves_none() {
    if objection("ext4", true).is_some() {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::never();
    let mut made = FileSystems::default();
    let mut told = (0, 0);
    let wanted = [("ext4", 1_000), ("ext4:encrypt", 1_000)];
    // The namespace is that of a thread of its own.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let progress = &mut |done, all| told = (done, all);
            let how = made
                .make(&wanted, work.path(), &interrupt, progress)
                .unwrap();
            assert!(how["ext4"].contains("(mkfs.ext4 -q "), "{how:?}");
            let image = work.path().join("image-ext4").metadata().unwrap();
            use std::os::unix::fs::MetadataExt;
            assert!(image.len() == LEAST_IMAGE_BYTES && image.blocks() * 512 >= image.len());
            for (on, _) in wanted {
                std::fs::write(made.root(on).unwrap().join("data"), "x").unwrap();
            }
            made.end(false).unwrap();
        });
    });
    assert_eq!(told.0 + 1, told.1);
    interrupt.raise();
    let ended = made.make(
        &[("ext4:encrypt", 1)],
        &work.path().join("no"),
        &interrupt,
        &mut |_, _| (),
    );
    assert!(matches!(ended, Err(HarnessError::Interrupted)), "{ended:?}");
}

#[test]
fn cells_find_their_file_system_and_nothing_is_left_of_it_afterwards() {
    let work = tempfile::tempdir().unwrap();
    let mine = tempfile::tempdir().unwrap();
    let directory = mine.path().to_owned();
    let interrupt = Interrupt::never();
    let mut made = FileSystems::named([("mine", &directory)].into_iter());
    let root = made.root("mine").unwrap().to_owned();
    assert!(root.starts_with(mine.path()) && made.directories()["mine"] == root);
    assert!(made.root("tmpfs").is_err(), "the others come later");
    let wanted = [("mine", 1_000), ("tmpfs", 1_000)];
    let how = made.make(&wanted, work.path(), &interrupt, &mut |_, _| ());
    let how = how.unwrap();
    assert_eq!(made.root("mine").unwrap(), root);
    assert!(how["mine"].contains(" mounted "), "{how:?}");
    std::fs::write(root.join("data"), "x").unwrap();
    assert!(made.root("xfs").unwrap_err().is_of_a_store());
    let mounted = work.path().join("on-tmpfs");
    match objection("tmpfs", false).is_none() {
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
