//! Lines of a width.

use super::LEAST_WIDTH;
use crate::page::verdict_word;

/// Columns of a label, its indent included.
const LABEL: usize = 13;

/// A text of lines that grows.
pub(super) struct Lines {
    text: String,
    width: usize,
    colour: bool,
}

/// A label and a command beside it, in lines of `width` columns that can be pasted as they stand.
#[must_use]
pub fn labelled_command(label: &str, command: &str, width: usize) -> String {
    let mut text = String::new();
    let mut start = format!("  {label:<width$}", width = LABEL - 2);
    let mut rest = pieces(command, width - LABEL - 2).into_iter().peekable();
    while let Some(piece) = rest.next() {
        let end = if rest.peek().is_some() { " \\" } else { "" };
        text.push_str(&format!("{start}{piece}{end}\n"));
        start = " ".repeat(LABEL);
    }
    text
}

impl Lines {
    /// No line yet.
    pub fn new(width: u16, colour: bool) -> Self {
        Self { text: String::with_capacity(4 * 1024), width: usize::from(width.max(LEAST_WIDTH)), colour }
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// One line, which must fit.
    pub fn line(&mut self, line: &str) {
        debug_assert!(line.chars().count() <= self.width, "a line of {} columns: {line}", self.width);
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// The verdict's word, coloured, and what it is about.
    pub fn verdict(&mut self, verdict: &str, words: &str) {
        let word = format!("{:<width$} ", verdict_word(verdict), width = LABEL - 1);
        let mut wrapped = wrap(words, self.width.saturating_sub(word.len()).max(1)).into_iter();
        let first = wrapped.next().unwrap_or_default();
        let code = match verdict {
            "held" => "32",
            "failed" | "differs" => "31",
            _ => "33",
        };
        if self.colour {
            self.text.push_str(&format!("\x1b[1;{code}m{word}\x1b[0m{first}\n"));
        } else {
            self.line(&format!("{word}{first}"));
        }
        for line in wrapped {
            self.line(&format!("{:LABEL$}{line}", ""));
        }
    }

    /// A label and text that is wrapped beside it.
    pub fn item(&mut self, label: &str, text: &str) {
        let indented = format!("  {label:<width$}", width = LABEL - 2);
        let mut wrapped = wrap(text, self.width - LABEL).into_iter();
        let first = wrapped.next().unwrap_or_default();
        self.line(&format!("{indented}{first}"));
        for line in wrapped {
            self.line(&format!("{:LABEL$}{line}", ""));
        }
    }

    /// Text on lines of its own.
    pub fn paragraph(&mut self, text: &str) {
        for line in wrap(text, self.width - 2) {
            self.line(&format!("  {line}"));
        }
    }

    /// A label and a command beside it, broken with backslashes where it must be.
    pub fn command(&mut self, label: &str, command: &str) {
        self.text.push_str(&labelled_command(label, command, self.width));
    }

    /// On a line of its own, whatever the width: tools look for it.
    pub fn fingerprint(&mut self, fingerprint: &str) {
        self.text.push_str("fingerprint ");
        self.text.push_str(fingerprint);
        self.text.push('\n');
    }

    /// Everything so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Columns of a line.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// Words of `text` in lines of at most `width` columns; a longer word is cut. Control characters become spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let mut lines = vec![String::new()];
    let mut column = 0;
    for word in clean.split(' ') {
        let length = word.chars().count();
        let space = usize::from(column > 0);
        if column > 0 && column + space + length > width {
            lines.push(String::new());
            column = 0;
        } else if column > 0 {
            lines.last_mut().expect("there is always a line").push(' ');
            column += 1;
        }
        for letter in word.chars() {
            if column == width {
                lines.push(String::new());
                column = 0;
            }
            lines.last_mut().expect("there is always a line").push(letter);
            column += 1;
        }
    }
    lines
}

/// A command in pieces of at most `width` columns, parted only at single spaces outside quotes.
fn pieces(command: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in words(command) {
        let piece = pieces.last_mut().expect("there is always a piece");
        if piece.is_empty() {
            piece.push_str(word);
        } else if piece.chars().count() + 1 + word.chars().count() <= width {
            piece.push(' ');
            piece.push_str(word);
        } else {
            pieces.push(word.to_owned());
        }
    }
    pieces
}

/// The words of a command as a shell takes them, quotes and backslashes kept.
fn words(command: &str) -> Vec<&str> {
    let (mut words, mut begin, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    for (place, letter) in command.char_indices() {
        match (letter, quote) {
            _ if escaped => escaped = false,
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            (' ', None) => {
                words.push(&command[begin..place]);
                begin = place + 1;
            }
            _ => {}
        }
    }
    words.push(&command[begin..]);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_words_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("a\nb\x1b[0m", 80), ["a b [0m"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn a_command_is_parted_outside_quotes_only() {
        assert_eq!(pieces("run a --set 'x y=1' -b", 12), ["run a --set", "'x y=1' -b"]);
        assert_eq!(pieces("run \"a \\\" b\" c", 6), ["run", "\"a \\\" b\"", "c"]);
        assert_eq!(pieces("averylongword x", 4), ["averylongword", "x"]);
    }
}
