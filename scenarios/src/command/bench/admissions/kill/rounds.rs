//! Starts the worker, reads what it tells, and kills it.
//!
//! Promise: every line that a worker wrote whole before its death is read, and the next worker starts once it is dead.

use super::judge::{Judge, Life};
use super::lines::{Line, hex};
use groundhog_engine::flaws::Flaw;
use groundhog_sim::draw::{Draws, Purpose};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest time that a worker is left alone before it is killed, in milliseconds.
const ROUND_MAX_MS: u64 = 280;

/// The most lines after which a worker is killed.
const LINES_MAX: u64 = 250;

/// How long the last worker, which is not killed, may take.
const LAST_MAX: Duration = Duration::from_secs(55);

/// Transactions of the life before that are handed in again, and how many drawn from all lives.
const AGAIN: (usize, usize) = (96, 32);

/// Transactions that the last worker is handed again at most: the latest.
const AGAIN_AT_THE_END: usize = 50_000;

/// New transactions of each stream in the last life.
const NEW_AT_THE_END: u64 = 4;

/// SIGKILL, as a process's end tells it.
const SIGKILL: i32 = 9;

/// When a worker is killed: once it has told so many lines, or after so long, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// After this many lines.
    pub lines: Option<u64>,
    /// After this time.
    pub time: Duration,
}

impl Kill {
    /// Drawn for one round.
    pub fn draw(draws: Draws, round: u32) -> Self {
        let draw = |which: u64| draws.draw(Purpose::Generate, [u64::from(round), which]);
        if draw(0).chance_per_mille(500) {
            let lines = Some(draw(1).between(1, LINES_MAX));
            Self { lines, time: Duration::from_millis(ROUND_MAX_MS) }
        } else {
            Self { lines: None, time: Duration::from_millis(draw(2).between(2, ROUND_MAX_MS)) }
        }
    }
}

/// One round, as it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// What was drawn.
    pub kill: Kill,
    /// What was seen of the life.
    pub life: Life,
}

/// Why a round did not go as it should.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// A file or a process cannot be had.
    #[error("the worker: {0}")]
    Io(#[from] io::Error),
    /// A worker ended though nobody killed it.
    #[error("a worker ended by itself in life {life} ({status}): {said}")]
    EndedByItself {
        /// Its life.
        life: u32,
        /// How.
        status: std::process::ExitStatus,
        /// What it said.
        said: String,
    },
    /// A worker told something that nobody understands.
    #[error("the worker said {line:?}, which is no line of its")]
    Line {
        /// The line, shortened.
        line: String,
    },
    /// The last worker did not come to its end.
    #[error("the last worker took longer than {} s", LAST_MAX.as_secs())]
    Endless,
}

/// All rounds over one store.
pub struct Rounds<'b> {
    /// The directory of the run.
    pub base: &'b Path,
    /// What kills are drawn from.
    pub draws: Draws,
    /// The known-bad behaviours of the workers.
    pub flaws: &'b [Flaw],
}

impl Rounds<'_> {
    /// One round: the worker is started over what the lives before left, and killed.
    pub fn round(&self, judge: &mut Judge, number: u32) -> Result<Round, RoundError> {
        let kill = Kill::draw(self.draws, number);
        let worker = self.start(number, &self.again(judge, number), u64::MAX)?;
        judge.born();
        let began = Instant::now();
        let mut told = 0;
        while kill.lines.is_none_or(|lines| told < lines) {
            match worker.lines.recv_timeout(kill.time.saturating_sub(began.elapsed())) {
                Ok(line) => judge.line(read(&line)?),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(worker.ended_by_itself(number)),
            }
            told += 1;
        }
        worker.kill(judge, number)?;
        Ok(Round { kill, life: judge.life() })
    }

    /// The last life, which nobody kills: everything is handed in once more. Gives it and how much that was.
    pub fn last(&self, judge: &mut Judge, number: u32) -> Result<(Life, u64), RoundError> {
        let skip = judge.seen().len().saturating_sub(AGAIN_AT_THE_END);
        let again: Vec<String> = judge.seen().skip(skip).map(|seen| hex(seen.payload.encoded())).collect();
        let mut worker = self.start(number, &again, NEW_AT_THE_END)?;
        judge.born();
        let began = Instant::now();
        let mut done = false;
        loop {
            match worker.lines.recv_timeout(LAST_MAX.saturating_sub(began.elapsed())) {
                Ok(line) => {
                    let line = read(&line)?;
                    done |= matches!(line, Line::Done);
                    judge.line(line);
                }
                Err(RecvTimeoutError::Timeout) => return Err(RoundError::Endless),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if !done || !worker.child.wait()?.success() {
            return Err(worker.ended_by_itself(number));
        }
        Ok((judge.life(), again.len() as u64))
    }

    /// What one worker is handed again: the latest of the lives before, whose admissions are the most at risk, and some
    /// of all.
    fn again(&self, judge: &Judge, number: u32) -> Vec<String> {
        let seen: Vec<_> = judge.seen().collect();
        let (latest, drawn) = AGAIN;
        let older = seen.len().saturating_sub(latest);
        let drawn = (0..drawn as u64).filter_map(|which| {
            let draw = self.draws.draw(Purpose::Payload, [u64::from(number), which]);
            (older > 0).then(|| usize::try_from(draw.below(older as u64)).unwrap_or_default())
        });
        drawn.chain(older..seen.len()).map(|place| hex(seen[place].payload.encoded())).collect()
    }

    fn start(&self, life: u32, again: &[String], new: u64) -> Result<Worker, RoundError> {
        let file: PathBuf = self.base.join("again");
        std::fs::write(&file, again.join("\n"))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench-worker", "--life", &life.to_string(), "--new", &new.to_string()]);
        command.arg("--dir").arg(self.base.join("disk")).arg("--again").arg(&file);
        for flaw in self.flaws {
            command.args(["--flaw", flaw.id()]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("the worker has no output"))?;
        let (sender, lines) = channel();
        let pass_on = move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            // A last line without its end was cut short by the kill: what it tells has not happened.
            while output.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
                line.pop();
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("groundhog-worker-lines".to_owned()).spawn(pass_on)?;
        Ok(Worker { child, lines })
    }
}

fn read(line: &str) -> Result<Line, RoundError> {
    Line::parse(line).ok_or_else(|| RoundError::Line { line: line.chars().take(80).collect() })
}

/// A worker; killed when dropped, so that none is left behind.
struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has ended already in every path but an error's.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// Sends SIGKILL, and reads what the worker had told before it died.
    fn kill(mut self, judge: &mut Judge, life: u32) -> Result<(), RoundError> {
        self.child.kill()?;
        while let Ok(line) = self.lines.recv() {
            judge.line(read(&line)?);
        }
        if self.child.wait()?.signal() == Some(SIGKILL) { Ok(()) } else { Err(self.ended_by_itself(life)) }
    }

    fn ended_by_itself(mut self, life: u32) -> RoundError {
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return error.into(),
        };
        let mut said = String::new();
        if let Some(errors) = self.child.stderr.as_mut() {
            let _ = errors.read_to_string(&mut said);
        }
        RoundError::EndedByItself { life, status, said: said.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_vary_with_the_round_and_are_drawn_from_the_seed_alone() {
        let drawn = |seed| (1..50).map(|round| Kill::draw(Draws::new(seed), round)).collect::<Vec<_>>();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let (by_lines, by_time): (Vec<_>, Vec<_>) =
            drawn(1).into_iter().partition(|kill| kill.lines.is_some());
        assert!(by_lines.len() > 10 && by_time.len() > 10);
        assert!(drawn(3).iter().all(|kill| kill.time <= Duration::from_millis(ROUND_MAX_MS)));
    }
}
