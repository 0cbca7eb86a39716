//! A small log-structured store, once right and once with each of five classic mistakes: the right one
//! must never fail, and each mistake must be found.

use super::super::*;
use crate::log::{Kind, Place};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// One commit in five is acknowledged without a sync.
    SyncForgotten,
    /// The count of records is on the disk before the last of them.
    WrongOrder,
    /// The file is made longer first, and all of its length is believed.
    LengthBeforeData,
    /// A record is believed as it is.
    ChecksumMissing,
    /// A new segment's name is not synced.
    DirectoryNotSynced,
}

const COMMITS: u64 = 60;
/// Records of a segment.
const SEGMENT: u64 = 8;
/// Bytes of the file that counts.
const COUNT: Node = 2;

/// A record: its length, its checksum, and its payload: all bytes are those of the commit's number.
fn record(number: u64) -> Vec<u8> {
    let len = usize::try_from(300 + number * 97 % 2_000).unwrap();
    let payload = vec![u8::try_from(number).unwrap(); len];
    let mut bytes = u32::try_from(len).unwrap().to_le_bytes().to_vec();
    bytes.extend(checksum(&payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

fn checksum(payload: &[u8]) -> u32 {
    // FNV-1a.
    payload.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

struct Writer(Log);

impl Writer {
    fn note(&mut self, operation: Operation) {
        self.0.note(operation);
    }

    fn make(&mut self, node: Node, name: String) {
        let at = Place {
            parent: ROOT,
            name: name.into(),
        };
        self.note(Operation::Make {
            node,
            at,
            kind: Kind::File,
            attributes: OWNER,
        });
    }

    fn write(&mut self, node: Node, offset: u64, data: &[u8]) {
        self.0.write(node, offset, data);
    }

    fn sync(&mut self, node: Node) {
        self.note(Operation::Sync {
            node,
            data_only: false,
        });
    }
}

/// What the store does for its commits.
fn log_of(mistake: Mistake) -> Log {
    let mut to = Writer(Log::empty());
    to.make(COUNT, "count".to_owned());
    to.write(COUNT, 0, &0u64.to_le_bytes());
    to.sync(COUNT);
    to.sync(ROOT);
    to.note(Operation::Ack { number: 0 });
    let mut end = 0;
    for number in 1..=COMMITS {
        let segment = COUNT + 1 + (number - 1) / SEGMENT;
        if (number - 1) % SEGMENT == 0 {
            to.make(segment, format!("segment-{:02}", segment - COUNT));
            if mistake != Mistake::DirectoryNotSynced {
                to.sync(ROOT);
            }
            end = 0;
        }
        let count = |to: &mut Writer| {
            to.write(COUNT, 0, &number.to_le_bytes());
            to.sync(COUNT);
        };
        if mistake == Mistake::WrongOrder {
            count(&mut to);
        }
        let bytes = record(number);
        let len = bytes.len() as u64;
        if mistake == Mistake::LengthBeforeData {
            to.note(Operation::Resize {
                node: segment,
                len: end + len,
            });
        }
        to.write(segment, end, &bytes);
        end += len;
        if mistake != Mistake::SyncForgotten || number % 5 != 0 {
            to.sync(segment);
            if mistake != Mistake::WrongOrder {
                count(&mut to);
            }
        }
        to.note(Operation::Ack { number });
    }
    to.0
}

/// The records of a segment that are believed, and whether all of them are what was written.
fn read_segment(bytes: &[u8], next: &mut u64, mistake: Mistake) -> bool {
    let mut rest = bytes;
    loop {
        let Some((head, body)) = rest.split_at_checked(8) else {
            return mistake != Mistake::LengthBeforeData || rest.is_empty();
        };
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let (len, sum) = (number(&head[..4]), number(&head[4..]));
        let Some((payload, after)) = body.split_at_checked(len as usize) else {
            return mistake != Mistake::LengthBeforeData;
        };
        if len == 0 || (mistake != Mistake::ChecksumMissing && checksum(payload) != sum) {
            return mistake != Mistake::LengthBeforeData;
        }
        *next += 1;
        if record(*next) != rest[..8 + len as usize] {
            return false;
        }
        rest = after;
    }
}

/// Whether what is left is whole and holds what was acknowledged.
fn holds(tree: &Tree, acked: u64, mistake: Mistake) -> bool {
    let read = |name: &str| {
        let at = Place {
            parent: ROOT,
            name: name.into(),
        };
        let content = tree.find(&at).and_then(|node| tree.content(node));
        content.map(|content| content.read(0, 1 << 20))
    };
    let mut next = 0;
    for segment in 1..=COMMITS.div_ceil(SEGMENT) {
        let Some(bytes) = read(&format!("segment-{segment:02}")) else {
            break;
        };
        if !read_segment(&bytes, &mut next, mistake) {
            return false;
        }
    }
    let count = read("count").and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
    next >= acked && (acked == 0 || count.is_some_and(|count| count <= next))
}

/// The first of so many states that fails, under any model.
fn first_failure(mistake: Mistake, states: u64) -> Option<(CrashModel, u64)> {
    let log = log_of(mistake);
    let models = CrashModel::ALL.map(|model| States::new(&log, model, Syncs::Recorded));
    for number in 0..states {
        for states in &models {
            let cut = states.draw(States::seed(1, states.model, number));
            if !holds(&states.tree(&cut), states.acked(cut.at), mistake) {
                return Some((states.model, number));
            }
        }
    }
    None
}

#[test]
fn each_mistake_of_a_log_structured_store_is_found_and_the_right_one_never_fails() {
    for mistake in [
        Mistake::SyncForgotten,
        Mistake::WrongOrder,
        Mistake::LengthBeforeData,
        Mistake::ChecksumMissing,
        Mistake::DirectoryNotSynced,
    ] {
        let found = first_failure(mistake, 1_000);
        assert!(found.is_some(), "{mistake:?}");
    }
    assert_eq!(first_failure(Mistake::None, 1_000), None);
}

#[test]
fn a_mistake_is_shrunk_to_the_loss_that_matters() {
    let log = log_of(Mistake::DirectoryNotSynced);
    let states = States::new(&log, CrashModel::Strict, Syncs::Recorded);
    let fails = |cut: &Cut| {
        !holds(
            &states.tree(cut),
            states.acked(cut.at),
            Mistake::DirectoryNotSynced,
        )
    };
    let mut cuts = (0..1_000).map(|number| states.draw(number));
    let cut = cuts.find(|cut| cut.lost.len() > 1 && fails(cut)).unwrap();
    let smallest = crate::shrink::shrink(&states, &cut, &mut |cut| Ok(fails(cut))).unwrap();
    let words: Vec<String> = smallest
        .cut
        .lost
        .iter()
        .map(|piece| states.describe(piece.0))
        .collect();
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].starts_with("create segment-"), "{words:?}");
}
