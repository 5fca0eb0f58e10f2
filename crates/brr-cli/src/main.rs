//! The `brr` program. Standard output is data; everything else goes to
//! standard error.

#![deny(clippy::print_stderr)]

#[macro_use]
mod tell;

#[cfg(feature = "workstation")]
mod child;
mod commands;
mod failure;
#[cfg(feature = "workstation")]
mod families;
mod input;
mod losses;
mod messages;
mod model_source;
#[cfg(feature = "workstation")]
mod npy;
mod output;
mod privacy;
mod progress;
#[cfg(feature = "workstation")]
mod released;
mod usage;
mod word_lists;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;

/// Replaces the words of a text by randomly drawn ones, on this device, with a
/// metric differential privacy guarantee. Uses no network.
#[derive(Parser)]
#[command(name = "brr", version, max_term_width = 96, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Privatize(commands::privatize::Args),
    #[cfg(feature = "workstation")]
    #[command(flatten)]
    Workstation(commands::Workstation),
}

/// The command line. Options take a negative number for their value, so that it is the option that
/// refuses it and tells its range.
fn command() -> clap::Command {
    let mut command = Cli::command();
    let verbs: Vec<String> = command
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    for verb in verbs {
        command = command.mut_subcommand(verb, |verb| {
            verb.mut_args(|arg| {
                let option = arg.get_long().is_some() && arg.get_action().takes_values();
                arg.allow_negative_numbers(option)
            })
        });
    }
    command
}

fn main() -> ExitCode {
    failure::keep_panics_silent_about_text();
    let mut command = command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = parsed.inspect(|matches| usage::remember(&command, matches));
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error),
    };
    let result = match cli.command {
        Command::Privatize(args) => commands::privatize::run(args),
        #[cfg(feature = "workstation")]
        Command::Workstation(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has seen enough.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.to_string();
            #[cfg(feature = "workstation")]
            let message = input::with_names(message);
            tell!("error: {message}");
            failure.code()
        }
    }
}
