//! What a worker writes: messages on stdout, free text on stderr. However much it is, it takes
//! little of this program's memory.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest message that is taken, bytes. The largest that workers send holds a histogram of
/// latencies for each action of a mix, of at most some hundred kilobytes each.
const LONGEST_MESSAGE: u64 = 4 << 20;
/// Messages that wait to be heard; a worker that says more has to wait itself.
const UNHEARD: usize = 4;
/// How much of a worker's stderr is kept: its end.
const STDERR_KEPT: usize = 4096;
/// How long the end of stderr may take after the worker's own: someone else may hold it open.
const STDERR_ENDS: Duration = Duration::from_secs(1);

/// The lines of a stream, read by a thread of their own.
pub(super) fn lines(
    stream: impl Read + Send + 'static,
) -> std::io::Result<Receiver<std::io::Result<String>>> {
    let (sender, lines) = mpsc::sync_channel(UNHEARD);
    thread::Builder::new()
        .name("worker's stdout".to_owned())
        .spawn(move || send_lines(stream, &sender))?;
    Ok(lines)
}

/// Sends each line as it comes, until the stream or the interest in it ends. A last one without
/// its newline counts as well: what there is of it says more than nothing.
fn send_lines(stream: impl Read, sender: &SyncSender<std::io::Result<String>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = stream
            .by_ref()
            .take(LONGEST_MESSAGE)
            .read_until(b'\n', &mut line);
        let (line, last) = match read {
            Ok(0) => return,
            Ok(_) if line.len() as u64 == LONGEST_MESSAGE && !line.ends_with(b"\n") => {
                let start = String::from_utf8_lossy(line.get(..120).unwrap_or(&line));
                let text = format!("a line of more than {LONGEST_MESSAGE} bytes: {start}…");
                (Err(Error::new(ErrorKind::InvalidData, text)), true)
            }
            Ok(_) => (Ok(String::from_utf8_lossy(&line).into_owned()), false),
            Err(error) => (Err(error), true),
        };
        if sender.send(line).is_err() || last {
            return;
        }
    }
}

/// The end of what a worker wrote to stderr.
#[derive(Debug)]
pub(super) struct Stderr {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Nothing is ever sent: it closes when the stream has ended.
    ended: Receiver<()>,
}

impl Stderr {
    /// Reads a stream by a thread of its own: a worker whose stderr nobody reads would stop.
    pub(super) fn read(stream: impl Read + Send + 'static) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (ending, ended) = mpsc::channel();
        let shared = Arc::clone(&kept);
        thread::Builder::new()
            .name("worker's stderr".to_owned())
            .spawn(move || {
                keep_last_part(stream, &shared);
                drop::<mpsc::Sender<()>>(ending);
            })?;
        Ok(Self { kept, ended })
    }

    /// What there is of it, once the worker has ended. Control characters are replaced: they would
    /// do something to the terminal on which this is shown.
    pub(super) fn last_part(&self) -> String {
        let _ = self.ended.recv_timeout(STDERR_ENDS);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let start = kept.len().saturating_sub(STDERR_KEPT);
        let text = String::from_utf8_lossy(kept.get(start..).unwrap_or_default());
        let shown = |c: char| match c {
            '\n' | '\t' => c,
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        text.trim().chars().map(shown).collect()
    }
}

fn keep_last_part(mut stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 1024];
    loop {
        let read = match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(piece.get(..read).unwrap_or_default());
        if kept.len() > 2 * STDERR_KEPT {
            let superfluous = kept.len() - STDERR_KEPT;
            kept.drain(..superfluous);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream without an end that counts what is taken of it.
    struct Endless(Arc<Mutex<u64>>, &'static [u8]);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for (byte, pattern) in buffer.iter_mut().zip(self.1.iter().cycle()) {
                *byte = *pattern;
            }
            *self.0.lock().unwrap() += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn only_the_end_of_a_long_stderr_is_kept() {
        let text = "x".repeat(100_000) + "\u{1b}[31mthe\nend\r\n";
        let stderr = Stderr::read(std::io::Cursor::new(text)).unwrap();
        let kept = stderr.last_part();
        assert!(kept.len() <= STDERR_KEPT, "{}", kept.len());
        assert!(kept.ends_with("x\u{fffd}[31mthe\nend"), "{kept}");
    }

    #[test]
    fn an_endless_line_is_given_up_and_takes_no_more_than_a_message_may() {
        let taken = Arc::default();
        let lines = lines(Endless(Arc::clone(&taken), b"a")).unwrap();
        let error = lines.recv().unwrap().unwrap_err().to_string();
        assert!(error.contains("more than 4194304 bytes: aaa"), "{error}");
        assert!(error.len() < 300, "{}", error.len());
        assert!(lines.recv().is_err(), "nothing comes after it");
        assert!(*taken.lock().unwrap() <= LONGEST_MESSAGE + (1 << 20));
    }

    #[test]
    fn of_endless_lines_only_a_few_are_read_ahead() {
        let taken = Arc::default();
        let lines = lines(Endless(Arc::clone(&taken), b"\"go\"\n")).unwrap();
        assert_eq!(lines.recv().unwrap().unwrap(), "\"go\"\n");
        thread::sleep(Duration::from_millis(50));
        assert!(*taken.lock().unwrap() <= 1 << 20);
    }

    #[test]
    fn a_last_line_without_its_newline_and_bytes_that_are_no_text_are_lines() {
        let lines = lines(std::io::Cursor::new(b"a\n\xff\nhalf".to_vec())).unwrap();
        let all: Vec<String> = lines.iter().map(Result::unwrap).collect();
        assert_eq!(all, ["a\n", "\u{fffd}\n", "half"]);
    }
}
