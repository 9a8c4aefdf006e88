//! How far long work is: a bar on a terminal, and where there is none, as in the log of a night, a line a minute.

use groundhog_reports::count;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Between two lines.
const EVERY: Duration = Duration::from_secs(60);

/// Things of one kind that are done one after the other.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    began: Instant,
    said: Mutex<Instant>,
}

impl Progress {
    /// Nothing is done yet, of so many as are known to come.
    pub fn new(length: Option<u64>, what: &'static str) -> Self {
        let (bar, template) = match length {
            Some(length) => (
                ProgressBar::new(length),
                format!("{{elapsed_precise}} {{wide_bar}} {{pos}}/{{len}} {what}, {{per_sec}}"),
            ),
            None => (ProgressBar::no_length(), format!("{{elapsed_precise}} {{pos}} {what}, {{per_sec}}")),
        };
        let style = ProgressStyle::with_template(&template);
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let began = Instant::now();
        Self { bar, what, began, said: Mutex::new(began) }
    }

    /// One more is done. `failed` is asked now and then for how many of all failed.
    pub fn step(&self, failed: impl FnOnce() -> u64) {
        self.bar.inc(1);
        if self.bar.is_hidden() && self.is_time() {
            let line =
                line(self.began.elapsed(), self.bar.position(), self.bar.length(), self.what, failed());
            // Who reads no progress needs none.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    fn is_time(&self) -> bool {
        let mut said = self.said.lock().expect("nobody panics with it");
        let is_time = said.elapsed() >= EVERY;
        if is_time {
            *said = Instant::now();
        }
        is_time
    }

    /// The work is over: nothing of the bar stays.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// The work is given up: the bar stays as it is.
    pub fn abandon(&self) {
        self.bar.abandon();
    }
}

fn line(elapsed: Duration, done: u64, of: Option<u64>, what: &str, failed: u64) -> String {
    let minutes = elapsed.as_secs() / 60;
    let of = of.map_or_else(String::new, |of| format!(" of {}", count(of)));
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {} failed", count(failed)),
    };
    format!("progress     {minutes} min, {}{of} {what}{failed}", count(done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is_and_what_failed() {
        let hour = Duration::from_secs(3_600 + 59);
        assert_eq!(line(hour, 4_512, Some(22_100), "runs", 0), "progress     60 min, 4,512 of 22,100 runs");
        assert_eq!(line(EVERY, 12, None, "runs", 1), "progress     1 min, 12 runs, 1 failed");
    }

    #[test]
    fn nothing_is_said_before_a_minute_is_over_and_then_once() {
        let progress = Progress::new(Some(2), "runs");
        assert!(!progress.is_time());
        *progress.said.lock().expect("nobody panics with it") -= EVERY;
        assert!(progress.is_time());
        assert!(!progress.is_time());
    }
}
