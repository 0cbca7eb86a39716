//! Workers played by shell scripts, well and badly.

use super::*;
use std::path::Path;
use stowplan_model::{At, Measured, Run, Workload};

const HELLO: &str = r#"echo '{"hello":{"protocol":"stowplan-driver","version":4,"tool":"0"}}'"#;
const READY: &str = r#"read line; echo '{"ready":{"effective":{}}}'"#;
const MEASURED: &str = r#"read line; echo '{"measured":{"wall_ns":7}}'"#;
/// No test waits for it: whoever does hangs.
const FOR_EVER: &str = "sleep 1000";
/// Bounds the tests themselves: all that is tried here takes a small part of it.
const AT_ONCE: Duration = Duration::from_secs(15);

/// A worker played by a shell script, given seconds.
fn scripted(script: &str) -> WorkerCommand {
    let mut command = WorkerCommand::new("/bin/sh", &["-c", script]);
    let seconds = Duration::from_secs(8);
    command.patience = Patience {
        manners: seconds,
        preparing: seconds,
        silence: seconds,
        operation: seconds,
        operations: seconds,
    };
    command
}

/// What is said of one that is silent for too long, or busy for four times that.
fn error_after_silence(script: &str) -> String {
    let mut command = scripted(script);
    command.patience.silence = Duration::from_millis(300);
    ask(&command).unwrap_err().0
}

fn in_turn(steps: &[&str]) -> String {
    steps.join("; ")
}

fn run() -> ToDriver {
    ToDriver::Run(Run {
        at: At {
            store: "null".parse().unwrap(),
            place: "/nowhere".into(),
        },
        workload: Workload::default(),
        threads: Vec::new(),
        payloads: stowplan_model::PayloadSource::Prepared,
        largest: 0,
        counting: false,
    })
}

/// Lets a worker do a task; returns its answer, or what is said of its failure with its stderr.
fn ask(command: &WorkerCommand) -> Result<FromDriver, (String, String)> {
    ask_within(command, command.patience.silence * 4)
}

/// Like `ask`, of a task that may take `most`.
fn ask_within(command: &WorkerCommand, most: Duration) -> Result<FromDriver, (String, String)> {
    let interrupt = Interrupt::never();
    let began = Instant::now();
    let answer = WorkerProcess::start(command, &interrupt).and_then(|mut worker| {
        match worker.ask(&run(), command.patience.ready())? {
            FromDriver::Ready { .. } => {}
            other => return Err(worker.unexpected(&other)),
        }
        let limits = Limits {
            silence: command.patience.silence,
            most,
        };
        let answer = worker.ask(&ToDriver::Go, limits)?;
        worker.end().map(|()| answer)
    });
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    answer.map_err(|error| {
        assert!(error.is_of_a_store(), "it fails its cell: {error}");
        error.split()
    })
}

/// What is said of a worker's failure, with its stderr.
fn error_of(script: &str) -> String {
    let (message, stderr) = ask(&scripted(script)).unwrap_err();
    assert!(!message.contains('\n'), "one line: {message}");
    format!("{message}\n{stderr}")
}

#[test]
fn a_worker_that_does_its_work_is_heard() {
    let answer = ask(&scripted(&in_turn(&[HELLO, READY, MEASURED, "read line"])));
    let measured = FromDriver::Measured(Measured {
        wall_ns: 7,
        ..Measured::default()
    });
    assert_eq!(answer, Ok(measured));
}

#[test]
fn a_worker_that_dies_is_reported_with_its_stderr_wherever_it_dies() {
    let end = "echo 'no such engine' >&2; exit 3";
    for script in [
        in_turn(&[end]),
        in_turn(&[HELLO, end]),
        in_turn(&[HELLO, "read line", end]),
        in_turn(&[HELLO, READY, end]),
        in_turn(&[HELLO, READY, "read line", end]),
    ] {
        let message = error_of(&script);
        assert!(message.contains("the worker died "), "{message}");
        assert!(message.contains(": exit status: 3"), "{message}");
        assert!(message.ends_with("\nno such engine"), "{message}");
    }
    let message = error_of(&in_turn(&[HELLO, READY, MEASURED, "read line", end]));
    assert!(message.contains("ended badly: exit status: 3"), "{message}");
    assert!(message.ends_with("\nno such engine"), "{message}");
}

#[test]
fn a_worker_that_is_killed_is_reported_with_its_signal_and_what_that_means() {
    for (signal, meaning) in [
        ("KILL", "signal 9 (killed; if nobody did it, the system ran"),
        ("SEGV", "signal 11 (a fault in the engine"),
        ("ABRT", "signal 6 (it gave up itself"),
        ("BUS", "signal 7 (a mapped file"),
        ("XFSZ", "signal 25 (a file grew beyond the limit"),
        ("TERM", "signal 15\n"),
    ] {
        let message = error_of(&format!("ulimit -c 0; kill -{signal} $$"));
        assert!(message.contains(meaning), "{message}");
    }
}

#[test]
fn a_worker_that_hangs_is_ended_wherever_it_hangs() {
    let hangs = |steps: &[&str]| {
        let mut command = scripted(&in_turn(steps));
        let soon = Duration::from_millis(300);
        command.patience.manners = soon;
        command.patience.preparing = soon;
        command.patience.silence = soon;
        ask(&command).unwrap_err().0
    };
    let silent = |when| format!("the worker said nothing new for 0.3 s {when} and was ended");
    assert_eq!(hangs(&[FOR_EVER]), silent("before it greeted"));
    assert_eq!(hangs(&[HELLO, FOR_EVER]), silent("with 'run'"));
    assert_eq!(hangs(&[HELLO, READY, FOR_EVER]), silent("with 'go'"));
    let late = [HELLO, READY, "sleep 2", MEASURED];
    assert_eq!(hangs(&late), silent("with 'go'"), "too late is never");
    let mut command = scripted(&in_turn(&[HELLO, READY, MEASURED, FOR_EVER]));
    command.patience.manners = Duration::from_secs(3);
    assert_eq!(
        ask(&command).unwrap_err().0,
        "the worker did not end when told to, and was ended"
    );
}

#[test]
fn a_worker_that_takes_no_messages_does_not_stop_its_parent() {
    let command = scripted(&in_turn(&[HELLO, FOR_EVER]));
    let interrupt = Interrupt::never();
    let mut worker = WorkerProcess::start(&command, &interrupt).unwrap();
    // Only now: a shell may be slow to say hello.
    worker.patience.manners = Duration::from_millis(300);
    // More than a pipe takes.
    let large = ToDriver::Create(At {
        store: "null".parse().unwrap(),
        place: "x".repeat(1 << 20).into(),
    });
    let limits = command.patience.ready();
    let done = worker.done(&large, limits, &mut |_, _| ());
    let (message, _) = done.unwrap_err().split();
    assert_eq!(message, "the worker takes no messages: timed out");
}

#[test]
fn a_worker_that_prints_garbage_is_reported_with_the_line() {
    for (script, told) in [
        ("echo hello world", "hello world"),
        (r#"printf '{"hel\n'"#, r#"{"hel"#),
        (r"printf '\033[2J\377\n'", "not a message"),
        ("echo; echo", "not a message"),
    ] {
        let message = error_of(&in_turn(&[script, "read line"]));
        let both = error_of(&in_turn(&[HELLO, READY, script, "read line", "read line"]));
        for message in [message, both] {
            assert!(message.contains(told), "{message}");
            assert!(!message.contains('\u{1b}'), "{message}");
        }
    }
    let unasked = error_of(&in_turn(&[HELLO, MEASURED, FOR_EVER]));
    assert!(unasked.contains("out of turn: {\"measured\""), "{unasked}");
}

#[test]
fn a_worker_that_stops_in_the_middle_of_a_message_is_ended() {
    let half = r#"printf '{"measured":{"wal'"#;
    let message = error_after_silence(&in_turn(&[HELLO, READY, "read line", half, FOR_EVER]));
    assert!(message.contains("said nothing new for 0.3 s"), "{message}");
    let message = error_of(&in_turn(&[HELLO, READY, "read line", half]));
    assert!(message.contains(r#"{"measured":{"wal"#), "{message}");
}

#[test]
fn endless_output_is_cut_off() {
    let line = error_of(&in_turn(&[HELLO, READY, "exec cat /dev/zero"]));
    assert!(line.contains("a line of more than 4194304 bytes"), "{line}");
    assert!(line.len() < 600, "{}", line.len());
    let lines = error_of("exec yes");
    assert!(lines.contains("not a message"), "{lines}");
}

#[test]
fn a_flood_of_progress_does_not_keep_a_worker_alive() {
    let say = |done: &str| format!(r#"echo '{{"progress":{{"done":{done},"total":9}}}}'"#);
    let same = format!("while :; do {}; done", say("1"));
    let message = error_after_silence(&in_turn(&[HELLO, READY, "read line", &same]));
    assert!(message.contains("said nothing new for 0.3 s"), "{message}");
    let changing = format!("while :; do {}; {}; done", say("1"), say("2"));
    // On a busy machine the flood may pause, but not for as long as it may last.
    let mut command = scripted(&in_turn(&[HELLO, READY, "read line", &changing]));
    command.patience.silence = Duration::from_secs(2);
    let (message, _) = ask_within(&command, Duration::from_millis(1_200)).unwrap_err();
    assert!(message.contains("was not done after 1.2 s"), "{message}");
}

#[test]
fn progress_gives_more_time() {
    let steps: Vec<String> = (1..=3)
        .map(|n| format!(r#"sleep 0.8; echo '{{"progress":{{"done":{n},"total":9}}}}'"#))
        .collect();
    // It takes 2.4 s, of which no 2 s are silent.
    let measured = r#"echo '{"measured":{"wall_ns":7}}'"#;
    let slow = in_turn(&[HELLO, READY, "read line", &steps.join("; "), measured]);
    let mut command = scripted(&slow);
    command.patience.silence = Duration::from_secs(2);
    let answer = ask(&command);
    assert!(answer.is_ok(), "{answer:?}");
}

#[test]
fn what_a_worker_says_just_before_it_ends_is_heard() {
    let measured = r#"echo '{"measured":{"wall_ns":7}}'"#;
    // About when the parent looks whether it still lives.
    for pause in ["sleep 0.04", "sleep 0.045", "sleep 0.05", "true"].repeat(10) {
        let command = scripted(&in_turn(&[HELLO, READY, "read line", pause, measured]));
        let answer = ask(&command);
        assert!(answer.is_ok(), "{pause}: {answer:?}");
    }
}

#[test]
fn a_worker_that_closes_its_stdout_and_lives_on_is_ended() {
    let message = error_of(&in_turn(&[HELLO, "exec >&-", "echo why >&2", FOR_EVER]));
    assert!(
        message.contains("closed its stdout and lived on"),
        "{message}"
    );
    assert!(message.ends_with("\nwhy"), "{message}");
}

#[test]
fn a_worker_that_fills_its_stderr_is_read_and_its_last_words_are_kept() {
    let much = "yes chatter | head -c 1000000 >&2; echo last >&2";
    let answer = ask(&scripted(&in_turn(&[much, HELLO, READY, MEASURED])));
    assert!(answer.is_ok(), "{answer:?}");
    let message = error_of(&in_turn(&[much, "exit 1"]));
    assert!(message.contains("chatter\nlast"), "{message}");
    assert!(message.len() < 5_000, "{}", message.len());
}

#[test]
fn what_a_worker_says_of_its_failure_is_one_bounded_line() {
    let failed = r#"printf '%s\n' '{"failed":{"message":"a\nb\u001b[2J'$(yes x | tr -d '\n' | head -c 9000)'"}}'"#;
    let message = error_of(&in_turn(&[HELLO, failed]));
    assert!(message.starts_with("a b [2J"), "{message}");
    assert!(message.len() < 1_100, "{}", message.len());
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let hello = r#"{"hello":{"protocol":"stowplan-worker","version":99,"tool":"9.9"}}"#;
    let message = error_of(&format!("echo '{hello}'; {FOR_EVER}"));
    assert!(message.contains("version 99"), "{message}");
}

#[test]
fn an_interrupt_ends_every_wait() {
    let interrupt = Interrupt::never();
    interrupt.raise();
    let result = WorkerProcess::start(&scripted(FOR_EVER), &interrupt);
    assert!(matches!(result, Err(HarnessError::Interrupted)));
    for steps in [
        &[HELLO, READY, FOR_EVER][..],
        &[HELLO, READY, MEASURED, FOR_EVER],
    ] {
        let mut command = scripted(&in_turn(steps));
        command.patience = Patience::default();
        let interrupt = Interrupt::never();
        let mut worker = WorkerProcess::start(&command, &interrupt).unwrap();
        worker.ask(&run(), command.patience.ready()).unwrap();
        let later = interrupt.clone();
        let signal = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            later.raise();
        });
        let long = Duration::from_secs(1_000);
        let began = Instant::now();
        let limits = Limits {
            silence: long,
            most: long,
        };
        let answer = worker.ask(&ToDriver::Go, limits);
        let answer = answer.and_then(|_| worker.end());
        assert!(matches!(answer, Err(HarnessError::Interrupted)));
        assert!(began.elapsed() < AT_ONCE);
        signal.join().unwrap();
    }
}

/// Whether a process lives; one that nobody has reaped does not.
fn lives(process: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

#[test]
fn whoever_a_worker_has_started_ends_with_it_however_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    for (number, end) in [
        "exit 0",
        "exit 3",
        "kill -9 $$",
        "echo garbage; sleep 1000",
        r#"echo '{"measured":{"wall_ns":7}}'"#,
    ]
    .iter()
    .enumerate()
    {
        let file = directory.path().join(number.to_string());
        // It inherits stdout and stderr, and so holds them open.
        let child = format!("sleep 1000 & echo $! > {}", file.display());
        let _ = ask(&scripted(&in_turn(&[
            &child,
            HELLO,
            READY,
            "read line",
            end,
        ])));
        let process = std::fs::read_to_string(&file).unwrap();
        let deadline = Instant::now() + AT_ONCE;
        while lives(process.trim()) {
            assert!(Instant::now() < deadline, "'{end}' left {process}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn one_that_left_the_group_and_holds_the_streams_hangs_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("process");
    let child = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 1000' & while [ ! -s {0} ]; do sleep 0.01; done",
        file.display()
    );
    let message = error_of(&in_turn(&[&child, HELLO, READY, "echo why >&2", "exit 5"]));
    let process = std::fs::read_to_string(&file).unwrap();
    let killed = Command::new("kill").arg(process.trim()).status().unwrap();
    assert!(killed.success(), "it lived");
    assert!(
        message.contains("died with 'go': exit status: 5"),
        "{message}"
    );
    assert!(message.ends_with("\nwhy"), "{message}");
}

#[test]
fn a_task_may_take_longer_the_more_it_has_to_do_and_never_for_ever() {
    let patience = Patience::default();
    assert_eq!(patience.in_all(0), Duration::from_secs(300));
    assert_eq!(patience.in_all(1_000), Duration::from_secs(500));
    assert!(patience.in_all(u64::MAX) > Duration::from_secs(800_000_000));
}

#[test]
fn a_block_that_says_nothing_is_waited_for_by_minutes_however_many_operations_it_has() {
    let patience = Patience::default();
    let minutes = |operations| patience.silent(operations).silence.as_secs() / 60;
    assert_eq!([200, 100_000, u64::MAX].map(minutes), [5, 15, 15]);
    // Progress is heard as long as the operations may take.
    assert_eq!(patience.silent(100_000).most, patience.in_all(100_000));
}

#[test]
fn a_driver_with_a_name_is_called_by_it_with_the_task_that_it_had() {
    let mut command = scripted(&in_turn(&[HELLO, READY, "read line", "exit 3"]));
    command.driver = "perl".to_owned();
    let (message, _) = ask(&command).unwrap_err();
    assert_eq!(message, "driver 'perl' died with 'go': exit status: 3");
    command.arguments[1] = "exit 4".to_owned();
    let (message, _) = ask(&command).unwrap_err();
    assert_eq!(
        message,
        "driver 'perl' died before it greeted: exit status: 4"
    );
}
