//! Debian's smbd with settings and state of its own.
//!
//! Must never touch what the machine has of Samba, nor leave a process running.

use super::client::Login;
use crate::process::Started;
use crate::report::Result;
use crate::servers::cpu_of_family;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SMBD: &str = "/usr/sbin/smbd";
const PASSWORD: &str = "of-the-bench-only";

/// What it says of itself.
pub(crate) fn version() -> Result<String> {
    let output = Command::new(SMBD).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().trim_start_matches("Version ").to_owned())
}

/// A running smbd.
pub(crate) struct Samba {
    process: Started,
    address: SocketAddr,
}

impl Samba {
    /// One whose answers to writes wait for the disk, or not.
    pub(crate) fn start(folder: &Path, sync_always: bool) -> Result<Self> {
        fs::create_dir_all(folder.join("files"))?;
        let root = fs::canonicalize(folder)?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let settings = root.join("smb.conf");
        fs::write(&settings, text(&root, address, sync_always)?)?;
        let mut password = Command::new("smbpasswd");
        password.arg("-c").arg(&settings).args(["-a", "-s", "root"]);
        let mut asked = password.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        let mut input = asked.stdin.take().ok_or("smbpasswd takes no input")?;
        write!(input, "{PASSWORD}\n{PASSWORD}\n")?;
        drop(input);
        if !asked.wait()?.success() {
            return Err("smbpasswd failed".into());
        }
        let mut command = Command::new(SMBD);
        command.args(["--foreground", "--no-process-group", "--configfile"]).arg(&settings);
        // When it ends it ends its whole group, which must not be ours.
        let process = Started::new(command.process_group(0))?;
        while TcpStream::connect(address).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { process, address })
    }

    pub(crate) fn login(&self) -> Login {
        let (user, password, share) = ("root".into(), PASSWORD.into(), "bench".into());
        Login { address: self.address, user, password, share }
    }

    /// CPU seconds that it and its children have used.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        cpu_of_family(self.process.id())
    }
}

impl Drop for Samba {
    fn drop(&mut self) {
        // Politely first: it ends its children itself. What remains is killed with `process`.
        let id = self.process.id().to_string();
        if Command::new("kill").args(["-TERM", &id]).status().is_ok_and(|done| done.success()) {
            self.process.wait_for_end(Duration::from_secs(10));
        }
    }
}

fn text(root: &Path, address: SocketAddr, sync_always: bool) -> Result<String> {
    let (at, port) = (root.display(), address.port());
    let mut text = format!(
        "[global]\nsmb ports = {port}\ninterfaces = lo\nbind interfaces only = yes\n\
         server role = standalone server\nserver signing = mandatory\ndisable netbios = yes\n\
         load printers = no\nprinting = bsd\nprintcap name = /dev/null\nlog level = 0\n\
         passdb backend = tdbsam:{at}/passdb.tdb\n"
    );
    for folder in ["private", "lock", "state", "cache", "pid", "ncalrpc"] {
        fs::create_dir_all(root.join(folder))?;
        let name = match folder {
            "private" => "private dir",
            "lock" => "lock directory",
            "state" => "state directory",
            "cache" => "cache directory",
            "pid" => "pid directory",
            _ => "ncalrpc dir",
        };
        writeln!(text, "{name} = {at}/{folder}")?;
    }
    writeln!(text, "log file = {at}/log.smbd")?;
    let sync = if sync_always { "yes" } else { "no" };
    write!(text, "[bench]\npath = {at}/files\nread only = no\nsync always = {sync}\n")?;
    Ok(text)
}
