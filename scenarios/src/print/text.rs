//! Text to a terminal: its width, whether it has colours, and lines that fit it.

use std::io::{IsTerminal, Write};

/// Columns where the terminal does not say how many it has.
const COLUMNS: u16 = 80;

/// How wide output may be.
pub fn width() -> u16 {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(COLUMNS).clamp(40, 200)
}

/// Whether output has colours: on a terminal, and not where `NO_COLOR` is set.
pub fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::io::stdout().is_terminal()
}

/// Writes to the output. Whoever no longer reads it has seen enough; an output that cannot be written otherwise, such as a
/// full disk, ends the command, for what it has to say would be lost in silence.
pub fn out(text: &str) {
    let mut output = std::io::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        eprintln!("error: the output cannot be written: {error}");
        std::process::exit(i32::from(crate::exit::Exit::Cut.code()));
    }
}

/// `text` in lines of at most `width` columns, each after the first indented by `indent`.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if column > 0 && column + 1 + letters > width.saturating_sub(indent) {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += letters;
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
}
