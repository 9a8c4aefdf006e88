//! `groundhog nightly`: everything that is worth trying before anybody gets up.
//!
//! Promise: it stops in time, ends with the worst exit code of all of its parts, and says what it had no time for.

mod arguments;
mod night;
mod report;
mod shrinks;

pub use arguments::Arguments;
use arguments::SEEDS_A_DAY;

use super::CallError;
use super::run::enough_seeds;
use crate::campaign::monitor::Monitor;
use crate::campaign::signals;
use crate::campaign::tally::Tally;
use crate::corpus;
use crate::exit::Exit;
use crate::target::{self, Target};
use night::Night;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let began = Instant::now();
    enough_seeds(arguments.first_seed(), SEEDS_A_DAY)?;
    let flaws = target::flaws(&arguments.flaw)?;
    let targets = target::swarmed(target::find("all", &[])?, true)?;
    if flaws.is_empty() && arguments.corpus != corpus::default_folder() {
        can_keep(&arguments.corpus)?;
    }
    let entries = corpus::read(&arguments.corpus)?;
    let _claim = groundhog_reports::claim(&arguments.out, groundhog_reports::FILES_OF_A_CAMPAIGN)
        .map_err(CallError::Out)?;
    let (stop, interrupts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
    signals::count(Arc::clone(&interrupts)).map_err(CallError::Signals)?;
    let tally = Mutex::new(Tally::new(targets.iter().map(Target::scenario), false));
    let night = Night {
        arguments,
        began,
        first_seed: arguments.first_seed(),
        flaws,
        targets,
        monitor: Monitor::new(arguments.bounds(), Arc::clone(&stop), Arc::clone(&interrupts)),
        interrupts,
        stop,
        tally,
        done: Mutex::default(),
    };
    night.run(&entries)
}

/// What fails tonight is kept there: that it cannot be is better known now than in the morning.
fn can_keep(folder: &Path) -> Result<(), CallError> {
    let is_new = !folder.exists();
    groundhog_reports::probe(folder).map_err(CallError::KeptIn)?;
    if is_new {
        // It is made anew where something is to be kept.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}
