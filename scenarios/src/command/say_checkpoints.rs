//! The other process of `run --check`.

use crate::campaign::check;
use crate::exit::Exit;
use groundhog_sim::plan::Plan;
use std::io::BufRead;

pub use check::Arguments;

/// Runs the plan on the standard input and says what the other side compares.
pub fn main(arguments: &Arguments) -> Exit {
    match said(arguments) {
        Ok(()) => Exit::Held,
        Err(error) => {
            eprintln!("{error}");
            Exit::Wrong
        }
    }
}

fn said(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut plan = String::new();
    std::io::stdin().lock().read_line(&mut plan)?;
    let plan = Plan::from_json(&plan)?;
    end_with_whoever_asked()?;
    Ok(check::say(&plan, arguments, std::io::stdout())?)
}

/// The input is held open by whoever asked: once it closes nobody listens, and a run that hangs must not outlive them.
fn end_with_whoever_asked() -> std::io::Result<()> {
    let listen = || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(i32::from(Exit::Cut.code()));
    };
    std::thread::Builder::new().name("groundhog-asked".to_owned()).spawn(listen)?;
    Ok(())
}
