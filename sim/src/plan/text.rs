//! A plan as text: one line for each thing, short enough to be read by a person and compared line by line.
//!
//! Promise: stable, and read back to an equal plan.

use super::Plan;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Containers this deep or less have a line for each of their entries; deeper ones stand on one line.
const DEPTH_OF_LINES: usize = 2;

/// The text of a plan.
///
/// # Panics
/// Never: every part of a plan has a form in JSON.
pub(super) fn of(plan: &Plan) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Lines::default());
    plan.serialize(&mut serializer).expect("a plan has a form in JSON");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[derive(Default)]
struct Lines {
    depth: usize,
    /// Whether the container that ends now had any entry.
    filled: bool,
}

impl Lines {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn entry<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.depth <= DEPTH_OF_LINES {
            writer.write_all(if first { b"\n" } else { b",\n" })?;
            return self.indent(writer);
        }
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let in_lines = self.depth <= DEPTH_OF_LINES && self.filled;
        self.depth -= 1;
        if in_lines {
            writer.write_all(b"\n")?;
            self.indent(writer)?;
        }
        writer.write_all(bracket)
    }

    fn indent<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.entry(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.entry(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Crypto, yardstick};

    #[test]
    fn a_plan_has_a_line_for_each_of_its_things_and_is_read_back() {
        let plan = yardstick::admissions(9, 1, Crypto::KeyedHash);
        let text = of(&plan);
        assert_eq!(Plan::from_json(&text).expect("its own text is a plan"), plan);
        let lines_with = |word: &str| text.lines().filter(|line| line.contains(word)).count();
        assert_eq!(lines_with("\"send\""), plan.actions.len());
        assert_eq!(lines_with("\"cores\""), plan.nodes.len());
        assert!(text.contains("\n  \"faults\": [],\n"), "{text}");
        assert!(text.starts_with("{\n  \"format\": 1,\n") && text.ends_with("\n}\n"), "{text}");
    }
}
