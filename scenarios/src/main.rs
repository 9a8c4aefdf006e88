//! The command `groundhog`.

mod catalogue;
mod command;
mod names;
mod scenario_file;
mod target;

fn main() -> std::process::ExitCode {
    command::main()
}
