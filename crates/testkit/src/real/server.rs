//! One process of the real binary: started, paused, killed.
//!
//! Must never guess that it is up: it says so, in the line that users' tools wait for.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The longest that it may take to say that it is up.
const START: Duration = Duration::from_mins(1);
/// Lines that it says when it is up: one for each service, and the console's.
const SERVICES: usize = 6;

/// Where its services are.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Ports {
    pub(crate) blob: u16,
    pub(crate) queue: u16,
    pub(crate) table: u16,
    pub(crate) file: u16,
    pub(crate) smb: u16,
    pub(crate) console: u16,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) ports: Ports,
}

/// The program under test: `ZAFFRE_BINARY`, or the release build.
pub(crate) fn binary() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/zaffre");
    std::env::var_os("ZAFFRE_BINARY").map_or(default, PathBuf::from)
}

impl Server {
    /// Starts one on this directory, and waits until it is up.
    pub(crate) fn start(location: &Path) -> Result<Self, String> {
        let program = binary();
        let mut command = Command::new(&program);
        for port in ["blob", "queue", "table", "file", "smb", "console"] {
            command.arg(format!("--{port}Port")).arg("0");
        }
        command.arg("--test-controls").arg("--location").arg(location);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let stdout = child.stdout.take().ok_or("a server without output")?;
        let (sender, lines) = mpsc::channel();
        // Reads to the end, so that the server never waits for somebody to listen.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut server = Self { child, ports: Ports::default() };
        let mut up = 0;
        while up < SERVICES {
            let line = lines.recv_timeout(START).map_err(|_| "the server did not come up")?;
            up += usize::from(server.read(&line));
        }
        Ok(server)
    }

    /// Takes a service's port from its line.
    fn read(&mut self, line: &str) -> bool {
        let Some((who, address)) = line.split_once(" is successfully listening at ") else {
            return false;
        };
        let port = address.trim_end_matches('/').rsplit(':').next().and_then(|p| p.parse().ok());
        let (Some(port), Some(service)) = (port, who.split(' ').nth(1)) else { return false };
        match service {
            "Blob" => self.ports.blob = port,
            "Queue" => self.ports.queue = port,
            "Table" => self.ports.table = port,
            "File" => self.ports.file = port,
            "SMB" => self.ports.smb = port,
            "console" => self.ports.console = port,
            _ => return false,
        }
        true
    }

    /// kill -9, and the process has ended.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        self.child.kill().map_err(|error| format!("cannot kill the server: {error}"))?;
        self.child.wait().map(drop).map_err(|error| format!("lost the server: {error}"))
    }

    /// Stops it, waits, and lets it go on.
    pub(crate) fn pause(&self, length: Duration) -> Result<(), String> {
        self.signal("-STOP")?;
        std::thread::sleep(length);
        self.signal("-CONT")
    }

    fn signal(&self, name: &str) -> Result<(), String> {
        let sent = Command::new("kill").arg(name).arg(self.child.id().to_string()).status();
        match sent {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("kill {name}: {other:?}")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory that goes with its value.
#[derive(Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    /// An empty one.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("zaffre-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
