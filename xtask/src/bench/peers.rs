//! The peers that come from a package registry: Azurite and a Node that can run it, pinned.
//!
//! Must never run scripts of a package, nor install anything outside of the build folder.

use crate::root;
use crate::step::Program;
use std::fs;
use std::path::PathBuf;

const AZURITE: &str = "azurite@3.37.0";
/// Azurite needs Node 22; the package `node` is a script that fetches one of these.
const NODE: &str = "22.23.3";

/// Where they are.
pub(super) fn folder() -> PathBuf {
    root().join("target/bench-env")
}

/// Sees to it that they are there.
pub(super) fn ensure() -> Result<(), String> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("no Node for {other} is known here")),
    };
    let pins = format!("{AZURITE} node-linux-{arch}@{NODE}");
    let stamp = folder().join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        return Ok(());
    }
    // A folder that was left half made, or made from other pins, is of no use.
    drop(fs::remove_dir_all(folder()));
    fs::create_dir_all(folder()).map_err(|error| format!("cannot make a folder: {error}"))?;
    let at = folder().display().to_string();
    let line = format!("npm install --no-audit --no-fund --ignore-scripts {pins} --prefix");
    let done = Program::new(&line).args(&[&at]).run()?;
    if done.failed > 0 {
        return Err("npm failed".to_owned());
    }
    link_node(arch)?;
    fs::write(&stamp, pins).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

/// One path for all machines.
fn link_node(arch: &str) -> Result<(), String> {
    let node = folder().join(format!("node_modules/node-linux-{arch}/bin/node"));
    std::os::unix::fs::symlink(&node, folder().join("node"))
        .map_err(|error| format!("cannot link {}: {error}", node.display()))
}
