//! What the machine must have besides Rust, and how it gets there.
//!
//! Must never install anything without being root, nor anything not named in this list.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Something that must answer, and the Debian package that brings it.
pub(crate) struct Need {
    /// A command that ends well if the need is met.
    pub(crate) probe: &'static [&'static str],
    pub(crate) package: &'static str,
    pub(crate) reason: &'static str,
}

const NEEDS: [Need; 7] = [
    Need { probe: &["cc", "--version"], package: "gcc", reason: "ring is partly C and assembly" },
    Need {
        probe: &["python3", "-c", "import ensurepip, venv"],
        package: "python3-venv",
        reason: "the Python client suites",
    },
    Need {
        probe: &["node", "--version"],
        package: "nodejs",
        reason: "the JavaScript client suites",
    },
    Need { probe: &["npm", "--version"], package: "npm", reason: "their packages" },
    Need { probe: &["buildah", "--version"], package: "buildah", reason: "the container image" },
    Need { probe: &["restic", "version"], package: "restic", reason: "a tool that many use" },
    Need { probe: &["rclone", "version"], package: "rclone", reason: "a tool that many use" },
];

/// The release whose package versions we test with.
const RELEASE: &str = "bookworm";

/// The network may be away for a moment.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_secs(15);

/// Sees to it that everything tests need is there, or says what to run.
pub(crate) fn ensure() -> Result<(), String> {
    components()?;
    ensure_these(&NEEDS)
}

/// Sees to it that these are there, or says what to run.
pub(crate) fn ensure_these(needs: &[Need]) -> Result<(), String> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !answers(need.probe)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        println!("missing: {} ({})", need.package, need.reason);
    }
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let install = format!("apt-get install -y --no-install-recommends {}", packages.join(" "));
    if !is_root() || !answers(&["apt-get", "--version"]) {
        return Err(format!("run this as root first:\n  apt-get update && {install}"));
    }
    if !release().contains(RELEASE) {
        println!("note: this is not Debian {RELEASE}; package versions may differ from ours");
    }
    for line in ["apt-get update", &install] {
        let mut tries = 1;
        while !apt(line) {
            if tries == TRIES {
                return Err(format!("`{line}` failed {TRIES} times"));
            }
            tries += 1;
            thread::sleep(PAUSE);
        }
    }
    match missing.iter().find(|need| !answers(need.probe)) {
        Some(need) => Err(format!("{} was installed but does not answer", need.package)),
        None => Ok(()),
    }
}

fn apt(line: &str) -> bool {
    println!("    $ {line}");
    let mut words = line.split(' ');
    let status = Command::new(words.next().unwrap_or_default())
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        // Installed to be run by us: a package must not start its service by itself.
        .env("RUNLEVEL", "1")
        .status();
    status.is_ok_and(|status| status.success())
}

fn components() -> Result<(), String> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !answers(&["cargo", tool, "--version"]) {
            return Err(format!("run this first:\n  rustup component add {component}"));
        }
    }
    Ok(())
}

/// Whether a command ends well.
pub(crate) fn answers(probe: &[&str]) -> bool {
    let Some((program, args)) = probe.split_first() else { return false };
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn release() -> String {
    fs::read_to_string("/etc/os-release").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::answers;

    #[test]
    fn probes() {
        let cases: [(&[&str], bool); 4] =
            [(&[], false), (&["true"], true), (&["false"], false), (&["no-such-program"], false)];
        for (probe, expected) in cases {
            assert_eq!(answers(probe), expected, "{probe:?}");
        }
    }
}
