//! A request to end, for a command that has nothing to tell before it is done.
//!
//! Promise: it ends at once, with the block and the command that does the same again.

use super::CallError;
use super::run::{joined, print_failures, program};
use crate::campaign::signals;
use crate::print::block::{Failure, FailureKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Ends the process from now on when it is asked to end.
///
/// # Errors
/// When the system gives no thread or no signal handler.
pub fn end_at_once() -> Result<(), CallError> {
    let requests = Arc::new(AtomicU8::new(0));
    signals::count(Arc::clone(&requests)).map_err(CallError::Signals)?;
    let look = move || {
        while requests.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(LOOK_EVERY);
        }
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let json = arguments.iter().any(|argument| argument == "--json");
        let exit = print_failures(&[interrupted(arguments)], json);
        std::process::exit(i32::from(exit.code()));
    };
    std::thread::Builder::new().name("groundhog-end".to_owned()).spawn(look).map_err(CallError::Signals)?;
    Ok(())
}

fn interrupted(arguments: Vec<String>) -> Failure {
    let words: Vec<String> = std::iter::once(program()).chain(arguments).collect();
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: "before it was done, and nothing was written".to_owned(),
        shrunk: None,
        see: None,
        repeat: Some(joined(&words)),
    }
}
