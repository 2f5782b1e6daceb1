//! Programs of others that steps use: built once per machine, pinned.
//!
//! Must never use a version other than the one that is asked for.

use crate::step::Program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The program `name` in this version, built from source unless this machine has it.
pub(crate) fn ensure(name: &str, version: &str) -> Result<PathBuf, String> {
    let folder = shelf().join(format!("{name}-{version}"));
    let tool = folder.join("bin").join(name);
    if has_version(&tool, name, version) {
        return Ok(tool);
    }
    // Run for seconds, so not optimised: that takes a fifth of the time to build.
    let line = format!(
        "env CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 cargo install --debug --locked --force \
         {name} --version {version} --root"
    );
    let program = Program::new(&line).args(&[&folder.to_string_lossy()]);
    let done = program.limit(Duration::from_mins(30)).run()?;
    if done.failed == 0 { Ok(tool) } else { Err(format!("{name} was not installed")) }
}

/// Where they are kept: outside of the tree, so that the next clone finds them.
fn shelf() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    match cache.filter(|path| path.is_absolute()).or_else(home) {
        Some(cache) => cache.join("zaffre/tools"),
        None => crate::root().join("target/tools"),
    }
}

fn has_version(tool: &Path, name: &str, version: &str) -> bool {
    // A tool of cargo's takes its own name as its first word.
    let word = name.strip_prefix("cargo-").unwrap_or(name);
    [&["--version"][..], &[word, "--version"]].iter().any(|args| {
        let output = Command::new(tool).args(*args).output();
        output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).trim().ends_with(version))
    })
}
