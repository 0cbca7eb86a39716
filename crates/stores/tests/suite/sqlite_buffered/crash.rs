//! Killed at any moment: what is left is a prefix of the committed transactions, and no more than
//! the window is missing.

use super::{Content, Random, on_disk, read, seed, store};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stowplan_stores::{Access, Found, Key, Session};

/// Kills in quick succession, with windows that end by rows and by time.
const KILLS: usize = 40;

/// Keys that the transactions of this test change; key 0 holds the number of the last one.
const KEYS: u64 = 100;

/// Changes of the largest transaction.
const LARGEST: u64 = 5;

/// What a carry-over may take on a busy machine, beyond what the window says.
const CARRY_OVER: Duration = Duration::from_secs(1);

/// In the process that is to be killed: directory and settings.
const DIRECTORY: &str = "STOWPLAN_CRASH_DIRECTORY";
const SETTINGS: &str = "STOWPLAN_CRASH_SETTINGS";
/// In microseconds, what that process waits after each transaction.
const PAUSE: &str = "STOWPLAN_CRASH_PAUSE";

/// The changes of a transaction: they follow from its number.
fn changes(number: u64) -> Vec<(u64, Option<Vec<u8>>)> {
    let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut changes = vec![(0, Some(number.to_le_bytes().to_vec()))];
    for _ in 1..=random.below(LARGEST) {
        let key = 1 + random.below(KEYS);
        let value = vec![number as u8; random.below(300) as usize];
        changes.push((key, (random.below(4) > 0).then_some(value)));
    }
    changes
}

/// Makes the changes of a transaction in a map, and returns how many there were: deleting what is
/// not there is none.
fn make_changes(content: &mut Content, number: u64) -> u64 {
    let change = |(key, value)| match value {
        Some(value) => {
            content.insert(key, value);
            true
        }
        None => content.remove(&key).is_some(),
    };
    let changed = changes(number).into_iter().map(change);
    changed.filter(|changed| *changed).count() as u64
}

/// The transaction that a database ends with.
fn last_in(content: &Content) -> u64 {
    content
        .get(&0)
        .map_or(0, |value| u64::from_le_bytes(value[..].try_into().unwrap()))
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Commits one transaction after the other, and says so, until it is killed.
fn commit_for_ever(directory: &Path) {
    let settings = std::env::var(SETTINGS).unwrap();
    let pause = Duration::from_micros(std::env::var(PAUSE).unwrap().parse().unwrap());
    let store = store(directory, &settings);
    let mut session = store.connect().unwrap();
    let first =
        read(&mut *session, 0).map_or(1, |value| u64::from_le_bytes(value.try_into().unwrap()) + 1);
    for number in first.. {
        session.begin(Access::Write).unwrap();
        for (key, value) in changes(number) {
            apply(&mut *session, key, value);
        }
        session.commit().unwrap();
        // Microseconds, since when a transaction was acknowledged is what its loss is held
        // against.
        let acknowledged = format!("\nack {number} {}\n", now().as_micros());
        std::io::stdout()
            .write_all(acknowledged.as_bytes())
            .unwrap();
        std::thread::sleep(pause);
    }
}

fn apply(session: &mut dyn Session, key: u64, value: Option<Vec<u8>>) {
    match value {
        None => drop(session.delete(Key(key)).unwrap()),
        Some(value) => {
            if session.overwrite(Key(key), &value).unwrap() == Found::Missing {
                session.insert(Key(key), &value).unwrap();
            }
        }
    }
}

/// A transaction, and when it was acknowledged.
type Acknowledged = (u64, Duration);

/// Starts a process that commits, kills it after some time, and returns what it acknowledged and
/// when it was killed.
fn kill_one(
    test: &str,
    directory: &Path,
    settings: &str,
    pause: Duration,
    life: Duration,
) -> (Vec<Acknowledged>, Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", test])
        .env(DIRECTORY, directory)
        .env(SETTINGS, settings)
        .env(PAUSE, pause.as_micros().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || acknowledged(BufReader::new(output)));
    std::thread::sleep(life);
    let killed = now();
    end(child);
    (reading.join().unwrap(), killed)
}

fn end(mut child: Child) {
    // SIGKILL, on every Unix.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "it ended by itself: {status}");
}

/// Everything that arrived whole: the kill may have cut the last line.
fn acknowledged(mut output: impl BufRead) -> Vec<Acknowledged> {
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        if let Some(numbers) = line.strip_prefix("ack ").and_then(|l| l.strip_suffix('\n')) {
            let (number, micros) = numbers.split_once(' ').unwrap();
            let at = Duration::from_micros(micros.parse().unwrap());
            acknowledged.push((number.parse().unwrap(), at));
        }
        line.clear();
    }
    acknowledged
}

/// What is known of a directory between two kills.
struct Survivor<'a> {
    directory: &'a Path,
    /// The last transaction that survived, and what the map holds after it.
    last: u64,
    model: Content,
    /// The most changes that one kill lost.
    most_lost: u64,
}

impl Survivor<'_> {
    /// Checks what is left after a kill, and goes on from there.
    fn check(&mut self, acknowledged: &[Acknowledged], window_rows: u64) {
        let verdict: String = super::disk(self.directory)
            .pragma_query_value(None, "integrity_check", |row| row.get(0))
            .unwrap();
        assert_eq!(verdict, "ok");
        let content = on_disk(self.directory);
        let last = last_in(&content);
        assert!(last >= self.last, "{last} after {}", self.last);
        for number in self.last + 1..=last {
            make_changes(&mut self.model, number);
        }
        // Nothing of a later transaction, and everything up to this one.
        assert!(content == self.model, "not as after transaction {last}");
        self.last = last;
        let Some((acknowledged, _)) = acknowledged.last() else {
            return;
        };
        assert!(last <= acknowledged + 1, "{last} of {acknowledged}");
        let mut lost_too = self.model.clone();
        let lost = (last + 1..=*acknowledged)
            .map(|number| make_changes(&mut lost_too, number))
            .sum();
        let bound = 2 * (window_rows - 1 + LARGEST);
        assert!(lost <= bound, "{lost} changes lost, at most {bound} may be");
        self.most_lost = self.most_lost.max(lost);
    }
}

#[test]
fn a_kill_leaves_a_prefix_of_the_transactions_and_loses_no_more_than_the_window() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return commit_for_ever(Path::new(&directory));
    }
    let test = "sqlite_buffered::crash::a_kill_leaves_a_prefix_of_the_transactions_and_loses_no_more_than_the_window";
    let seed = seed();
    println!("STOWPLAN_SEED={seed}");
    let mut random = Random(seed);
    let directory = crate::place::in_memory();
    drop(store(directory.path(), ""));
    let mut survivor = Survivor {
        directory: directory.path(),
        last: 0,
        model: Content::new(),
        most_lost: 0,
    };
    let mut committed = 0;
    for _ in 0..KILLS {
        let window_rows = [1, 20, 100, 1000][random.below(4) as usize];
        let window_ms = [1, 5, 50, 86_400_000][random.below(4) as usize];
        let settings = format!("window_rows={window_rows},window_ms={window_ms}");
        let life = Duration::from_micros(random.below(250_000));
        let (acknowledged, _) = kill_one(test, directory.path(), &settings, Duration::ZERO, life);
        println!(
            "{settings}: {} transactions in {life:?}",
            acknowledged.len()
        );
        committed += acknowledged.len();
        survivor.check(&acknowledged, window_rows);
    }
    println!(
        "{committed} transactions, {} changes lost at most",
        survivor.most_lost
    );
    // Otherwise no kill has met anything.
    assert!(committed > 1000 && survivor.last > 100 && survivor.most_lost > 0);
    drop(store(directory.path(), ""));
    assert_eq!(on_disk(directory.path()), survivor.model);
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged_longer_ago_than_the_window() {
    const WINDOW: Duration = Duration::from_millis(20);
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return commit_for_ever(Path::new(&directory));
    }
    let test = "sqlite_buffered::crash::a_kill_loses_nothing_that_was_acknowledged_longer_ago_than_the_window";
    for _ in 0..3 {
        let directory = crate::place::in_memory();
        let settings = format!("window_rows=1000000000,window_ms={}", WINDOW.as_millis());
        let pause = Duration::from_millis(1);
        let life = WINDOW + 2 * CARRY_OVER;
        let (acknowledged, killed) = kill_one(test, directory.path(), &settings, pause, life);
        let last = last_in(&on_disk(directory.path()));
        let oldest_lost = acknowledged.iter().find(|(number, _)| *number > last);
        let (first, begun) = acknowledged[0];
        assert!(
            killed - begun > WINDOW + CARRY_OVER,
            "{first} came too late"
        );
        if let Some((number, at)) = oldest_lost {
            let age = killed.saturating_sub(*at);
            assert!(age <= WINDOW + CARRY_OVER, "{number} was {age:?} old");
        }
    }
}
