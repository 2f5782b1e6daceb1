//! The console's flags and its place among the services.
//!
//! Must never let test controls be reached from other machines unless the operator said so twice.

mod ask;
mod commands;

pub(crate) use commands::{ClockCommand, FaultCommand, Remote, clock, fault, health};

use crate::endpoints::Running;
use crate::failure::Failure;
use crate::terminal::{say, warn};
use std::io;
use std::net::IpAddr;
use zaffre_console::{Console, Watched};
use zaffre_http::Listener;
use zaffre_http::faults::Faults;

/// The port unless another is asked for.
const PORT: u16 = 10_080;

/// The flags.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Console (metrics, health, test controls)")]
pub(crate) struct ConsoleArgs {
    /// Address the console listens on
    #[arg(long = "consoleHost", value_name = "HOST", default_value = "127.0.0.1")]
    host: String,

    /// Port of the console; 0 lets the system choose [default: 10080, or none if it is taken]
    #[arg(long = "consolePort", value_name = "PORT", env = "ZAFFRE_CONSOLE_PORT")]
    port: Option<u16>,

    /// Serve no console
    #[arg(long = "skipConsole", conflicts_with = "test_controls")]
    disabled: bool,

    /// Let tests turn the clock and make requests fail, by the console's port
    #[arg(long = "test-controls")]
    test_controls: bool,

    /// Allow --test-controls although other machines can reach this server
    #[arg(long = "test-controls-anywhere", requires = "test_controls")]
    anywhere: bool,
}

/// The console's socket, bound and not yet serving.
pub(crate) struct Door {
    listener: Option<Listener>,
    pub(crate) faults: Option<Faults>,
}

impl ConsoleArgs {
    /// Takes the address, unless there shall be no console: with `unasked` there is one although no
    /// flag asks for it. `others`: where the services listen.
    pub(crate) async fn bind(
        &self,
        unasked: bool,
        mut others: impl Iterator<Item = IpAddr>,
    ) -> Result<Door, Failure> {
        if self.disabled || !(unasked || self.port.is_some() || self.test_controls) {
            return Ok(Door { listener: None, faults: None });
        }
        let port = self.port.unwrap_or(PORT);
        let listener = match Listener::bind(&self.host, port, None).await {
            Ok(listener) => Some(listener),
            // Two servers beside one another are no reason to refuse a start, unless the port was
            // asked for.
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && self.port.is_none()
                    && !self.test_controls =>
            {
                warn(&format!("port {port} is taken: there is no console; see --consolePort"));
                None
            }
            Err(error) => {
                let address = format!("{}:{port}", self.host);
                return Err(Failure::Listen { address, flags: "console", error });
            }
        };
        let own = listener.as_ref().map(|listener| listener.address().ip());
        let far = others.find(far).or(own.filter(far));
        if let Some(ip) = far.filter(|_| self.test_controls && !self.anywhere) {
            return Err(Failure::OpenControls { host: ip.to_string() });
        }
        Ok(Door { listener, faults: self.test_controls.then(Faults::default) })
    }
}

fn far(ip: &IpAddr) -> bool {
    !ip.is_loopback()
}

impl Door {
    /// Serves the console beside the services.
    pub(crate) fn open(self, running: &mut Running, watched: Watched, silent: bool) {
        let Some(listener) = self.listener else { return };
        let address = listener.address();
        if self.faults.is_some() {
            warn("--test-controls lets anybody who reaches the console turn the clock");
        }
        running.attach(listener, Console::new(watched, self.faults));
        if !silent {
            say(&format!("Zaffre console is successfully listening at http://{address}"));
        }
    }
}
