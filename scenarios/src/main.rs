//! The command `groundhog`.

mod campaign;
mod catalogue;
mod command;
mod conviction;
mod corpus;
mod exit;
mod fitness;
mod glossary;
mod names;
mod print;
mod recorded;
mod scenario_file;
mod shrinking;
mod simulate;
mod target;

fn main() -> std::process::ExitCode {
    command::main()
}
