//! The servers that are compared: how each is started, found and stopped.
//!
//! Must never leave one running.

use crate::process::{Started, resident_mib};
use crate::report::Result;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the kernel counts CPU time in.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server is at rest when it did nothing for so long. Azurite saves what it was given every five
/// seconds, for as long as that takes, whoever else is asked meanwhile.
const REST: Duration = Duration::from_millis(5_500);
/// CPU time, of that, which counts as nothing.
const NOTHING: f64 = 0.05;
/// How long that is waited for.
const UNREST: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_millis(100);

/// How long a server may take to end in order.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every service finds a port of its own.
const OUR_ARGUMENTS: [&str; 11] = [
    "--silent",
    "--skipSmb",
    "--skipConsole",
    "--blobPort",
    "0",
    "--queuePort",
    "0",
    "--tablePort",
    "0",
    "--filePort",
    "0",
];

/// Where programs and data are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) data: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) environment: PathBuf,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    process: Started,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Ours, on the data in `folder`.
    pub(crate) fn ours(places: &Places, folder: &Path) -> Result<Self> {
        let mut command = Command::new(&places.server);
        command.args(OUR_ARGUMENTS).arg("--location").arg(folder);
        Self::announced(command.env_remove("AZURITE_ACCOUNTS"))
    }

    pub(crate) fn azurite(places: &Places, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut command = Command::new(places.environment.join("node"));
        command.arg(places.environment.join("node_modules/azurite/dist/src/blob/main.js"));
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        command.args(["--blobPort", "0", "--location"]).arg(folder);
        Self::announced(command.env_remove("AZURITE_ACCOUNTS"))
    }

    /// Ours, of which the Queue service is asked.
    pub(crate) fn our_queues(places: &Places, folder: &Path) -> Result<Self> {
        Self::our_service(places, folder, "Queue service is successfully listen")
    }

    /// Ours, of which the Table service is asked.
    pub(crate) fn our_tables(places: &Places, folder: &Path) -> Result<Self> {
        Self::our_service(places, folder, "Table service is successfully listen")
    }

    /// Ours, of which the File service is asked.
    pub(crate) fn our_files(places: &Places, folder: &Path) -> Result<Self> {
        Self::our_service(places, folder, "File service is successfully listen")
    }

    fn our_service(places: &Places, folder: &Path, words: &str) -> Result<Self> {
        let mut command = Command::new(&places.server);
        command.args(OUR_ARGUMENTS).arg("--location").arg(folder);
        let process = Started::new(command.env_remove("AZURITE_ACCOUNTS"))?;
        Self::found_saying(process, words)
    }

    pub(crate) fn azurite_queues(places: &Places, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut command = Command::new(places.environment.join("node"));
        command.arg(places.environment.join("node_modules/azurite/dist/src/queue/main.js"));
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        command.args(["--queuePort", "0", "--location"]).arg(folder);
        Self::announced(command.env_remove("AZURITE_ACCOUNTS"))
    }

    pub(crate) fn azurite_tables(places: &Places, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut command = Command::new(places.environment.join("node"));
        command.arg(places.environment.join("node_modules/azurite/dist/src/table/main.js"));
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"]);
        // It never says which port it got, so it is given one.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        command.args(["--tablePort", &address.port().to_string(), "--location"]).arg(folder);
        let process = Started::new(command.env_remove("AZURITE_ACCOUNTS"))?;
        while std::net::TcpStream::connect(address).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { process, address })
    }

    /// This program as a bare hyper server.
    pub(crate) fn bare(status: u16, length: usize) -> Result<Self> {
        let process = Started::myself(&["child-bare", &status.to_string(), &length.to_string()])?;
        Self::found(process)
    }

    fn announced(command: &mut Command) -> Result<Self> {
        Self::found(Started::new(command)?)
    }

    /// Ours with SMB; the File service's address comes with it.
    pub(crate) fn our_smb(places: &Places, folder: &Path) -> Result<(Self, SocketAddr)> {
        let mut command = Command::new(&places.server);
        command.args(OUR_ARGUMENTS.iter().filter(|word| **word != "--skipSmb"));
        command.args(["--smbPort", "0"]).arg("--location").arg(folder);
        let mut process = Started::new(command.env_remove("AZURITE_ACCOUNTS"))?;
        let (mut file, mut smb) = (None, None);
        while let (None, _) | (_, None) = (file, smb) {
            let line = process.line()?;
            let said = |words: &str| line.contains(words).then(|| line.rsplit_once("//")).flatten();
            let address = |at: Option<(&str, &str)>| at.and_then(|(_, at)| at.trim().parse().ok());
            file = file.or(address(said("File service is successfully listen")));
            smb = smb.or(address(said("SMB service is successfully listen")));
        }
        let address = smb.ok_or("no address")?;
        Ok((Self { process, address }, file.ok_or("no address")?))
    }

    /// Waits for the line that says where it listens.
    fn found(process: Started) -> Result<Self> {
        // It "is listening" or "listens"; while it "is starting" the port is not known.
        Self::found_saying(process, "listen")
    }

    fn found_saying(mut process: Started, words: &str) -> Result<Self> {
        let address = process.wait_for(|line| {
            let (said, address) = line.split_once("http://")?;
            if said.contains(words) { address.trim().parse().ok() } else { None }
        })?;
        Ok(Self { process, address })
    }

    /// Nginx, serving the files in `folder`.
    pub(crate) fn nginx(folder: &Path) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let root = fs::canonicalize(folder)?;
        let settings = root.join("nginx.conf");
        fs::write(&settings, nginx_settings(&root, address))?;
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-p").arg(&root).arg("-e").arg(root.join("error.log"));
        let process = Started::new(command.arg("-c").arg(&settings))?;
        while std::net::TcpStream::connect(address).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { process, address })
    }

    pub(crate) fn resident_mib(&self) -> Result<f64> {
        resident_mib(self.process.id())
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// CPU seconds that it and its children have used.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        cpu_of_family(self.process.id())
    }

    /// Waits until it is done with what it was given: who is measured next has the machine alone.
    pub(crate) async fn rest(&self) -> Result<()> {
        let begin = Instant::now();
        let (mut since, mut used) = (begin, self.cpu_seconds()?);
        while since.elapsed() < REST {
            if begin.elapsed() > UNREST {
                return Err("a server does not come to rest".into());
            }
            tokio::time::sleep(GLANCE).await;
            let now = self.cpu_seconds()?;
            if now - used > NOTHING {
                (since, used) = (Instant::now(), now);
            }
        }
        Ok(())
    }

    /// As a power cut would.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.process.kill()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.process.is_running() {
            return;
        }
        // Politely first: nginx ends its workers itself. What remains is killed with `process`.
        let id = self.process.id().to_string();
        if Command::new("kill").args(["-TERM", &id]).status().is_ok_and(|done| done.success()) {
            self.process.wait_for_end(PATIENCE);
        }
    }
}

fn nginx_settings(root: &Path, address: SocketAddr) -> String {
    let root = root.display();
    format!(
        "user root; daemon off; worker_processes auto; pid {root}/nginx.pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;\n\
         server {{ listen {address}; root {root}; }} }}\n"
    )
}

/// CPU seconds that a process and its children have used, those that have ended included.
pub(crate) fn cpu_of_family(of: u32) -> Result<f64> {
    let mut ticks = 0.0;
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((id, parent, used)) = parse_stat(&stat)
            && (id == of || parent == of)
        {
            ticks += used;
        }
    }
    Ok(ticks / TICKS_PER_SECOND)
}

/// Id, parent and CPU ticks of a line of `/proc/*/stat`.
fn parse_stat(stat: &str) -> Option<(u32, u32, f64)> {
    let (id, _) = stat.split_once(' ')?;
    // The name may hold anything, so the fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // Its own, and of its children that have ended.
    let used = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    Some((id.parse().ok()?, fields.get(1)?.parse().ok()?, used))
}
