mod log_store;

use super::*;
use crate::log::{Kind, Place};
use proptest::prelude::*;

/// A log from a script: what is done to which of four names.
fn log_of(script: &[(u8, u8, u16, u16)]) -> Log {
    let mut tree = Tree::new(OWNER);
    let mut log = Log::empty();
    let mut next = ROOT + 1;
    let mut acks = 0;
    for (what, name, offset, len) in script {
        let at = in_root(["a", "b", "c", "d"][usize::from(name % 4)]);
        let to = in_root(["a", "b", "c", "d"][usize::from(name.wrapping_add(1) % 4)]);
        let (offset, len) = (u64::from(*offset), usize::from(*len));
        let operation = match (what % 9, tree.find(&at)) {
            (0, Some(node)) => Operation::Unlink { node, at },
            (1, Some(node)) => Operation::Rename { node, from: at, to },
            (2, Some(node)) => Operation::Resize { node, len: offset },
            (3, Some(node)) => Operation::Sync {
                node,
                data_only: offset % 2 == 0,
            },
            (4, _) => sync(ROOT),
            (5, _) => {
                acks += 1;
                Operation::Ack { number: acks }
            }
            (6, Some(node)) => chmod(node, 0o600 + u32::from(name / 4)),
            (_, Some(node)) => {
                let byte = u8::try_from(log.entries.len() % 250).unwrap() + 1;
                log.write(node, offset, &vec![byte; len.max(1)]);
                continue;
            }
            (_, None) => {
                next += 1;
                Operation::Make {
                    node: next - 1,
                    at,
                    kind: Kind::File,
                    attributes: OWNER,
                }
            }
        };
        tree.apply(&operation, &log);
        log.note(operation);
    }
    log
}

fn sync(node: Node) -> Operation {
    Operation::Sync {
        node,
        data_only: false,
    }
}

fn chmod(node: Node, mode: u32) -> Operation {
    Operation::Attributes {
        node,
        attributes: Attributes { mode, ..OWNER },
    }
}

fn in_root(name: &str) -> Place {
    Place {
        parent: ROOT,
        name: name.into(),
    }
}

/// One piece of three, by chance.
fn is_given_back(seed: u64, piece: Piece) -> bool {
    scatter_all(&[seed, piece.0 as u64, piece.1.into()]).is_multiple_of(3)
}

fn scripts() -> impl Strategy<Value = Vec<(u8, u8, u16, u16)>> {
    prop::collection::vec((any::<u8>(), any::<u8>(), 0u16..20_000, 0u16..9_000), 0..40)
}

fn models() -> impl Strategy<Value = CrashModel> {
    prop::sample::select(CrashModel::ALL.to_vec())
}

/// What is there after so many operations, all of them done.
fn whole(log: &Log, at: usize) -> u64 {
    let mut tree = Tree::new(OWNER);
    for entry in log.entries.iter().take(at) {
        tree.apply(&entry.operation, log);
    }
    tree.fingerprint()
}

proptest! {
    #[test]
    fn a_log_is_read_as_it_was_written(script in scripts()) {
        let mut log = log_of(&script);
        log.exit = Some(3);
        log.said = "so\n".to_owned();
        prop_assert_eq!(Log::decode(log.encode()), Some(log.clone()));
        let mut bytes = log.encode();
        bytes.pop();
        prop_assert_eq!(Log::decode(bytes), None);
    }

    #[test]
    fn a_cut_that_loses_nothing_leaves_everything(script in scripts(), model in models(), at in 0usize..40) {
        let log = log_of(&script);
        let states = States::new(&log, model, Syncs::Recorded);
        let at = at.min(log.entries.len());
        let cut = Cut { at, lost: BTreeSet::new() };
        prop_assert_eq!(states.tree(&cut).fingerprint(), whole(&log, at));
    }

    #[test]
    fn what_is_drawn_is_allowed_and_loses_nothing_that_was_synced(
        script in scripts(), model in models(), seed in any::<u64>()
    ) {
        let log = log_of(&script);
        let states = States::new(&log, model, Syncs::Recorded);
        let cut = states.draw(seed);
        prop_assert!(cut.at <= log.entries.len());
        prop_assert_eq!(&states.allowed(&cut), &cut, "seed {}", seed);
        for (number, _) in &cut.lost {
            prop_assert!(states.durable_at[*number] >= cut.at, "{}", states.describe(*number));
        }
    }

    #[test]
    fn a_file_that_was_synced_has_every_byte_under_every_model(
        script in scripts(), model in models(), seed in any::<u64>()
    ) {
        let mut log = log_of(&script);
        let node = 1_000;
        log.note(Operation::Make { node, at: in_root("kept"), kind: Kind::File, attributes: OWNER });
        log.write(node, 0, &[7; 10_000]);
        log.note(Operation::Sync { node, data_only: true });
        log.note(sync(ROOT));
        let from = log.entries.len();
        log.entries.extend(log_of(&script).entries.into_iter().filter(|entry| {
            // The same names again, but other files.
            matches!(entry.operation, Operation::Ack { .. } | Operation::Sync { node: ROOT, .. })
        }));
        let states = States::new(&log, model, Syncs::Recorded);
        let mut cut = states.draw(seed);
        cut.at = cut.at.max(from);
        cut = states.allowed(&cut);
        let tree = states.tree(&cut);
        let found = tree.find(&in_root("kept")).and_then(|node| tree.content(node));
        prop_assert_eq!(found.map(|content| content.read(0, 20_000)), Some(vec![7; 10_000]));
    }

    #[test]
    fn a_journal_loses_the_last_of_the_names_only(script in scripts(), seed in any::<u64>()) {
        let log = log_of(&script);
        let states = States::new(&log, CrashModel::Ordered, Syncs::Recorded);
        let cut = states.draw(seed);
        let metadata: Vec<usize> = (0..cut.at)
            .filter(|number| log.entries[*number].operation.is_metadata())
            .collect();
        let lost = |number: &usize| cut.lost.contains(&(*number, 0));
        let first = metadata.iter().position(lost).unwrap_or(metadata.len());
        prop_assert!(metadata[first..].iter().all(lost));
    }

    #[test]
    fn whoever_loses_a_write_to_a_page_loses_all_later_ones_to_it(
        script in scripts(), is_torn in any::<bool>(), seed in any::<u64>(), given_back in any::<u64>()
    ) {
        let log = log_of(&script);
        let model = if is_torn { CrashModel::Torn } else { CrashModel::Ordered };
        let states = States::new(&log, model, Syncs::Recorded);
        let mut cut = states.draw(seed);
        for _ in 0..2 {
            let (_, data) = states.pending(cut.at);
            // By page, the first write of which something there was lost.
            let mut stale = BTreeMap::new();
            for piece in data {
                let page = states.page(piece);
                let lost = cut.lost.contains(&piece);
                let first = stale.get(&page).is_none_or(|first| *first == piece.0);
                prop_assert!(lost || first, "{piece:?} of {:?}", cut.lost);
                if lost {
                    stale.entry(page).or_insert(piece.0);
                }
            }
            // What is tried next when a finding is shrunk.
            let all = cut.lost.clone();
            cut.lost.retain(|piece| !is_given_back(given_back, *piece));
            cut = states.allowed(&cut);
            prop_assert!(cut.lost.is_subset(&all));
        }
    }

    #[test]
    fn every_moment_that_is_looked_at_is_one_that_a_cut_may_leave(script in scripts(), model in models()) {
        let log = log_of(&script);
        let states = States::new(&log, model, Syncs::Recorded);
        for moment in states.systematic() {
            let cut = states.cut_at(moment);
            prop_assert_eq!(states.allowed(&cut), cut);
        }
    }

    #[test]
    fn at_most_one_write_is_torn(script in scripts(), seed in any::<u64>(), given_back in any::<u64>()) {
        let log = log_of(&script);
        let states = States::new(&log, CrashModel::Torn, Syncs::Recorded);
        let mut cut = states.draw(seed);
        if given_back % 2 == 0 {
            cut.lost.retain(|piece| !is_given_back(given_back, *piece));
            cut = states.allowed(&cut);
        }
        let torn = log.entries.iter().enumerate().take(cut.at).filter(|(number, entry)| {
            let Operation::Write { offset, data, .. } = &entry.operation else { return false };
            let lost = cut.lost.range((*number, 0)..=(*number, LENGTH)).count();
            lost > 0 && lost < states.pieces(*offset, data.len()) as usize
        });
        prop_assert!(torn.count() <= 1);
    }

    #[test]
    fn without_syncs_anything_can_go_and_with_all_of_them_nothing(script in scripts(), model in models(), seed in any::<u64>()) {
        let log = log_of(&script);
        let all = States::new(&log, model, Syncs::All);
        let cut = all.draw(seed);
        prop_assert_eq!(all.tree(&cut).fingerprint(), whole(&log, cut.at));
        let none = States::new(&log, model, Syncs::None);
        let (metadata, data) = none.pending(log.entries.len());
        let lost = metadata.into_iter().chain(data).collect();
        let cut = none.allowed(&Cut { at: log.entries.len(), lost });
        prop_assert_eq!(none.tree(&cut).fingerprint(), whole(&log, 0));
    }
}

/// A write to `f`, its sync, a rename to `g`, another write: the rename is lost alone or not at all.
fn renamed() -> Log {
    let node = 2;
    let mut log = Log::empty();
    log.note(Operation::Make {
        node,
        at: in_root("f"),
        kind: Kind::File,
        attributes: OWNER,
    });
    log.write(node, 0, &[1; 100]);
    log.note(sync(node));
    log.note(Operation::Rename {
        node,
        from: in_root("f"),
        to: in_root("g"),
    });
    log
}

#[test]
fn the_name_of_a_synced_file_is_kept_by_a_journal_and_by_posix_only_with_its_directory() {
    let log = renamed();
    let durable = |model| States::new(&log, model, Syncs::Recorded).durable_at;
    assert_eq!(durable(CrashModel::Ordered), [2, 2, NEVER, NEVER]);
    assert_eq!(durable(CrashModel::Strict), [NEVER, 2, NEVER, NEVER]);
    let mut log = log;
    log.note(sync(ROOT));
    let durable = |model| States::new(&log, model, Syncs::Recorded).durable_at;
    assert_eq!(durable(CrashModel::Ordered), [2, 2, NEVER, 4, NEVER]);
    assert_eq!(durable(CrashModel::Strict), [4, 2, NEVER, 4, NEVER]);
}

#[test]
fn the_sync_of_a_file_that_did_not_change_keeps_nothing_of_others() {
    let mut log = renamed();
    log.write(2, 50, &[2; 10]);
    log.note(Operation::Make {
        node: 3,
        at: in_root("h"),
        kind: Kind::File,
        attributes: OWNER,
    });
    log.note(sync(2));
    let states = States::new(&log, CrashModel::Ordered, Syncs::Recorded);
    // The rename and the write, not the name that came later.
    assert_eq!(states.durable_at[3..], [6, 6, NEVER, NEVER]);
}

#[test]
fn what_lay_there_long_before_is_never_lost() {
    let mut log = renamed();
    log.note(Operation::Base);
    for model in CrashModel::ALL {
        let states = States::new(&log, model, Syncs::None);
        for seed in 0..50 {
            assert_eq!(
                states.tree(&states.draw(seed)).fingerprint(),
                whole(&log, 4)
            );
        }
    }
}

#[test]
fn fdatasync_keeps_what_reading_needs_and_neither_a_mode_nor_by_a_journal_a_new_name() {
    let mut log = renamed();
    let operations = [
        chmod(2, 0o600),
        Operation::Resize { node: 2, len: 50 },
        chmod(2, 0o644),
        Operation::Sync {
            node: 2,
            data_only: true,
        },
        sync(2),
    ];
    operations.into_iter().for_each(|it| log.note(it));
    let durable = |log: &Log, model| States::new(log, model, Syncs::Recorded).durable_at;
    // Both modes stay open until the fsync; the rename is of the directory.
    let strict = durable(&log, CrashModel::Strict);
    assert_eq!(strict[3..7], [NEVER, 8, 7, 8]);
    // The journal up to the new length, and with it all that came before.
    let ordered = durable(&log, CrashModel::Ordered);
    assert_eq!(ordered[3..7], [7, 7, 7, 8]);
    // A rename alone is nothing that reading needs.
    log.entries.drain(4..7);
    assert_eq!(durable(&log, CrashModel::Ordered)[3], 5);
}

#[test]
fn a_long_write_is_torn_in_every_shape() {
    let mut log = renamed();
    log.entries.truncate(1);
    log.write(2, 0, &[1; 64 * 512]);
    let states = States::new(&log, CrashModel::Torn, Syncs::Recorded);
    let mut shapes = BTreeSet::new();
    for seed in 0..400 {
        let cut = states.draw(seed);
        let kept: String = (0..64)
            .map(|piece| {
                if cut.lost.contains(&(1, piece)) {
                    '0'
                } else {
                    '1'
                }
            })
            .collect();
        let runs = kept.as_bytes().chunk_by(|a, b| a == b).count();
        shapes.insert((runs.min(4), kept.starts_with('1')));
    }
    // Whole, not at all; beginning, end; a hole, an island; any.
    for shape in [
        (1, true),
        (1, false),
        (2, true),
        (2, false),
        (3, true),
        (3, false),
    ] {
        assert!(shapes.contains(&shape), "{shape:?} of {shapes:?}");
    }
    assert!(shapes.iter().any(|shape| shape.0 == 4), "{shapes:?}");
}

/// 400 commits to a log that is written anew from its beginning once, after a checkpoint: and so that the log is
/// synced before the database is.
#[test]
fn a_window_of_one_operation_in_a_thousand_is_looked_at_whatever_the_seed() {
    let (wal, database) = (ROOT + 1, ROOT + 2);
    let mut log = Log::empty();
    for (node, name) in [(wal, "wal"), (database, "database")] {
        log.note(Operation::Make {
            node,
            at: in_root(name),
            kind: Kind::File,
            attributes: OWNER,
        });
    }
    for operation in [sync(wal), sync(database), sync(ROOT), Operation::Base] {
        log.note(operation);
    }
    let mut reset = 0;
    for number in 1..=400 {
        if number == 137 {
            log.write(database, 0, &[1; 100]);
            reset = log.entries.len();
            log.write(wal, 0, &[2; 100]);
            log.note(sync(wal));
            log.note(sync(database));
        }
        log.write(wal, 100 * number, &[3; 100]);
        log.note(sync(wal));
        log.note(Operation::Ack { number });
    }
    for model in CrashModel::ALL {
        let states = States::new(&log, model, Syncs::Recorded);
        let cuts = states.systematic().into_iter();
        let seen = cuts.map(|moment| states.cut_at(moment)).any(|cut| {
            let lost = |operation| cut.lost.iter().any(|piece| piece.0 == operation);
            cut.at > reset && !lost(reset) && lost(reset - 1)
        });
        assert!(seen, "{model}");
    }
}

#[test]
fn a_state_has_the_modes_and_the_names_that_were_given() {
    use std::os::unix::fs::MetadataExt;
    let mut tree = Tree::new(OWNER);
    let make = |node, name, kind, mode| Operation::Make {
        node,
        at: in_root(name),
        kind,
        attributes: Attributes { mode, ..OWNER },
    };
    tree.apply(&make(2, "program", Kind::File, 0o4755), &Log::default());
    tree.apply(
        &make(3, "link", Kind::Link("program".into()), 0o777),
        &Log::default(),
    );
    let at = in_root("again");
    tree.apply(&Operation::Link { node: 3, at }, &Log::default());
    let directory = tempfile::tempdir().unwrap();
    tree.write_to(directory.path()).unwrap();
    let found = |name: &str| directory.path().join(name).symlink_metadata().unwrap();
    assert_eq!(found("program").mode() & 0o7777, 0o4755);
    assert_eq!(found("link").ino(), found("again").ino());
}
