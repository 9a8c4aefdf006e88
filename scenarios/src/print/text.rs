//! Text to a terminal: its width, whether it has colours, and lines that fit it.

use crate::exit::Exit;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns where neither the environment nor a terminal says how many there are.
const COLUMNS: u16 = 80;

/// How wide output may be: as `COLUMNS` says, else as wide as the terminal is.
pub fn width() -> u16 {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0);
    asked.or_else(terminal).unwrap_or(COLUMNS).clamp(40, 200)
}

/// Whether output has colours: on a terminal, and not where `NO_COLOR` is set.
pub fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::io::stdout().is_terminal()
}

/// Whether the output could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to the output. Whoever no longer reads it has seen enough; an output that cannot be written otherwise, such as a
/// full disk, is told once on the standard error, and [`ending`] gives it its exit code.
pub fn out(text: &str) {
    let mut output = std::io::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        // A terminal that is gone takes neither; the exit code is what is left.
        let _ = writeln!(std::io::stderr(), "error: the output cannot be written: {error}");
    }
}

/// Whether something that was to be read is lost.
pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// How the command ends: an output that was lost is no success, and hides no verdict.
pub fn ending(exit: Exit) -> Exit {
    if is_lost() { exit.worse(Exit::Cut) } else { exit }
}

/// `text` in lines of at most `width` columns, each after the first indented by `indent`. A word that fits no line is cut.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(1);
    let mut lines = String::new();
    let mut column = 0;
    let broken = |lines: &mut String| {
        lines.push('\n');
        lines.extend(std::iter::repeat_n(' ', indent));
    };
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if column > 0 && column + 1 + letters > room {
            broken(&mut lines);
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        for letter in word.chars() {
            if column == room {
                broken(&mut lines);
                column = 0;
            }
            lines.push(letter);
            column += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_no_word_is_lost() {
        let text = "one two three four five six seven eight nine ten";
        let wrapped = wrapped(text, 20, 4);
        assert!(wrapped.lines().all(|line| line.chars().count() <= 20), "{wrapped}");
        assert_eq!(
            wrapped.split_whitespace().collect::<Vec<_>>(),
            text.split_whitespace().collect::<Vec<_>>()
        );
        assert!(wrapped.lines().skip(1).all(|line| line.starts_with("    ")));
    }

    #[test]
    fn a_word_that_fits_no_line_is_cut() {
        assert_eq!(wrapped("a bcdefghijk l", 6, 1), "a\n bcdef\n ghijk\n l");
        assert_eq!(wrapped("\u{e9}\u{e9}\u{e9}", 2, 0), "\u{e9}\u{e9}\n\u{e9}");
        assert_eq!(wrapped("  ", 0, 9), "");
    }
}
