//! What tests of the command share: it is called as a process, and what it printed is read as a person or a machine would.
#![allow(dead_code, reason = "each file of tests is a crate of its own and uses its share")]

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output};

/// The command with these arguments, for whoever wants to change something before it runs.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.args(arguments);
    command
}

/// What the command gives.
pub fn groundhog(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command runs")
}

/// What it gives in this folder, where it writes what it writes.
pub fn groundhog_in(folder: &Path, arguments: &[&str]) -> Output {
    command(arguments).current_dir(folder).env_remove("COLUMNS").output().expect("the command runs")
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one document that it printed.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", out(output), err(output)))
}

/// What it says that everything which happened comes to.
pub fn fingerprint(output: &Output) -> String {
    let text = out(output);
    let line = text.lines().find_map(|line| line.strip_prefix("fingerprint "));
    let line = line.unwrap_or_else(|| panic!("no fingerprint: {text}{}", err(output)));
    assert!(line.len() == 64 && line.bytes().all(|digit| digit.is_ascii_hexdigit()), "{line}");
    line.to_owned()
}

/// The last block on the screen.
pub fn block(text: &str) -> Vec<&str> {
    let mut block: Vec<&str> = text.lines().rev().take_while(|line| !line.is_empty()).collect();
    block.reverse();
    block
}

/// What stands behind a label of a block.
pub fn labelled<'t>(block: &[&'t str], label: &str) -> &'t str {
    let start = format!("  {label:<9}");
    let found = block.iter().find_map(|line| line.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("no {label} in {block:#?}"))
}

/// The last command that is there to be pasted.
pub fn repeat(text: &str) -> &str {
    let last = text.lines().rev().find_map(|line| line.strip_prefix("  repeat   "));
    last.unwrap_or_else(|| panic!("no command to repeat it in {text}"))
}

/// What a shell makes of a line that was pasted.
pub fn pasted(line: &str) -> Output {
    Command::new("sh").args(["-c", line]).output().expect("there is a shell")
}

/// What a shell makes of it in this folder.
pub fn pasted_in(folder: &Path, line: &str) -> Output {
    Command::new("sh").args(["-c", line]).current_dir(folder).output().expect("there is a shell")
}

/// Signals by their numbers.
pub const HANG_UP: u32 = 1;
pub const INTERRUPT: u32 = 2;
pub const TERMINATE: u32 = 15;

/// Whether the line `mask` of a process's status holds a signal.
fn has_signal(process: &str, mask: &str, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let found = status.lines().find_map(|line| line.strip_prefix(mask));
    let found = found.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    found.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Whether whoever started these tests wants nobody to hear of a signal, as `nohup` does.
pub fn is_ignored(signal: u32) -> bool {
    has_signal("self", "SigIgn:", signal)
}

/// Waits until a process would rather hear of a signal than end by it.
pub fn wait_until_it_listens(process: &mut Child, signal: u32) {
    while !has_signal(&process.id().to_string(), "SigCgt:", signal) {
        assert!(process.try_wait().expect("it can be asked").is_none(), "it ended before it was told to");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Sends a signal.
pub fn send(process: &Child, signal: u32) {
    let sent = Command::new("kill").args([format!("-{signal}"), process.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}
