//! What the directory itself can do: one durable record after the other, with nothing of the engine in between.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What the renames meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// A free name each time.
    Free,
    /// The same name each time.
    Same,
}

/// Records written one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// How many.
    pub records: u64,
    /// In how long.
    pub elapsed: Duration,
}

impl Raw {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self { records: self.records + other.records, elapsed: self.elapsed + other.elapsed }
    }
}

/// For `time`, and at least once: a file of `bytes` bytes is created, written, flushed and renamed in the fresh
/// `directory`, and that is flushed. The files stay, for removing them may take longer than writing them.
pub fn measure(directory: &Path, bytes: usize, onto: Onto, time: Duration) -> io::Result<Raw> {
    fs::create_dir(directory)?;
    let content = vec![0x5a; bytes];
    let began = Instant::now();
    let mut raw = Raw::default();
    while raw.records == 0 || raw.elapsed < time {
        let name = match onto {
            Onto::Free => format!("{:040x}", raw.records),
            Onto::Same => format!("{:040x}", 0),
        };
        durably(directory, &name, &content)?;
        raw = Raw { records: raw.records + 1, elapsed: began.elapsed() };
    }
    Ok(raw)
}

fn durably(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let temporary = directory.join(format!("{name}.tmp"));
    let mut file = File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, directory.join(name))?;
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_at_least_once_and_whole_files_under_the_names_asked_for() {
        let base = tempfile::tempdir().expect("a directory");
        for (name, onto) in [("free", Onto::Free), ("same", Onto::Same)] {
            let directory = base.path().join(name);
            let raw = measure(&directory, 300, onto, Duration::from_millis(30)).expect("it can be written");
            assert!(raw.records >= 1 && raw.elapsed >= Duration::from_millis(30));
            let lengths: Vec<_> = fs::read_dir(&directory)
                .expect("it is there")
                .map(|entry| entry.and_then(|entry| entry.metadata()).expect("it is there").len())
                .collect();
            assert!(lengths.iter().all(|length| *length == 300));
            assert_eq!(lengths.len() as u64, if onto == Onto::Free { raw.records } else { 1 });
        }
    }
}
