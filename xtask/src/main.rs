//! The project's own commands: `cargo xtask <command>`.
//!
//! Must never need a dependency or be part of the shipped binary.

mod bench;
mod excerpt;
mod fuzz;
mod lanes;
mod mutants;
mod needs;
mod proof;
mod report;
mod soak;
mod source;
mod step;
mod supply;
mod test;
mod tidy;
mod toml;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <command>

  test [step...]              everything that must hold before a change lands; what CI runs
  tidy                        the rules of STYLE.md and ARCHITECTURE.md that a machine can check
  bench [store|blob|queue|table|file|smb]
                              measure against peers in the same run, rewrite docs/benchmarks.md;
                              --quick does less and rewrites nothing
  fuzz [target] [--runs N]    fuzz one target, or all of them
  mutants [--all]             changes in domain and auth that tests must notice: of changed lines,
                              or all; with --all also --shard K/N, --only REGEX, --jobs N
  proof [figure...] [--seed N]
                              the figures of docs/reliability.md, in about a minute each
  soak --hours N [figure...]  their long forms with ever new seeds, for hours
";

/// What a command gives: `Ok(true)` if all went well, `Ok(false)` if it has already said what did
/// not, `Err` with a sentence for the user otherwise.
type Outcome = Result<bool, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["help" | "-h" | "--help"] => {
            print!("{HELP}");
            Ok(true)
        }
        ["test", steps @ ..] => test::run(steps),
        ["step", name] => test::run_apart(name),
        ["tidy"] => tidy::run(),
        ["bench", rest @ ..] => bench::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["mutants", rest @ ..] => mutants::run(rest),
        ["proof", rest @ ..] => proof::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        other => Err(format!("no such command: {}\n\n{HELP}", other.join(" "))),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace, wherever the command is run from.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The value after `flag`, if the flag is there; an error if the value is missing or no number.
fn number_after(words: &[&str], flag: &str) -> Result<Option<u64>, String> {
    let Some(at) = words.iter().position(|word| *word == flag) else { return Ok(None) };
    let value = words.get(at + 1).and_then(|word| word.parse().ok());
    value.map(Some).ok_or_else(|| format!("{flag} takes a whole number"))
}

#[cfg(test)]
mod tests {
    use super::number_after;

    type Case<'a> = (&'a [&'a str], Result<Option<u64>, ()>);

    #[test]
    fn flags_with_numbers() {
        let cases: [Case; 4] = [
            (&[], Ok(None)),
            (&["--runs", "7"], Ok(Some(7))),
            (&["--runs"], Err(())),
            (&["x", "--runs", "-1"], Err(())),
        ];
        for (words, expected) in cases {
            assert_eq!(number_after(words, "--runs").map_err(|_| ()), expected, "{words:?}");
        }
    }
}
