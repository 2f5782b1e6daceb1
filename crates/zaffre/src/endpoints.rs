//! The services' endpoints: bound together, served together, stopped together.
//!
//! Must never let one service serve while another could not start.

use crate::failure::Failure;
use crate::terminal::say;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use zaffre_console::Watched;
use zaffre_core::Core;
use zaffre_http::faults::Faults;
use zaffre_http::limits;
use zaffre_http::server::{AccessLog, Admission, Lanes};
use zaffre_http::tls::ServerConfig;
use zaffre_http::traffic::Traffic;
use zaffre_http::{Alarms, Listener, ServerOptions, Service};
use zaffre_store::disk::MeasuredDisk;

/// Where the command line wants a service.
pub(crate) struct Wanted<'a> {
    /// `Blob`, `Queue`, … as in the readiness line.
    pub(crate) name: &'static str,
    /// What its flags start with.
    pub(crate) flags: &'static str,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) keep_alive: u64,
}

/// A service's socket, bound and not yet serving.
pub(crate) struct Endpoint {
    name: &'static str,
    listener: Listener,
    scheme: &'static str,
    idle: Duration,
}

impl Endpoint {
    /// Takes the address; says what it is about to do.
    pub(crate) async fn bind(
        wanted: Wanted<'_>,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<Self, Failure> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let Wanted { name, flags, host, port, keep_alive } = wanted;
        let address = format!("{host}:{port}");
        say(&format!("Azurite {name} service is starting at {scheme}://{address}"));
        let listener = Listener::bind(host, port, tls).await.map_err(|error| Failure::Listen {
            address,
            flags,
            error,
        })?;
        Ok(Self { name, listener, scheme, idle: Duration::from_secs(keep_alive) })
    }

    /// Takes the address of a service, if it is one of those that start.
    pub(crate) async fn bind_if(
        chosen: bool,
        wanted: Wanted<'_>,
        tls: Option<&Arc<ServerConfig>>,
    ) -> Result<Option<Self>, Failure> {
        if !chosen {
            return Ok(None);
        }
        Self::bind(wanted, tls.cloned()).await.map(Some)
    }

    /// The address it is reached at.
    pub(crate) fn ip(&self) -> IpAddr {
        self.listener.address().ip()
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.listener.address().port()
    }

    fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.listener.address())
    }

    /// `BlobEndpoint=http://127.0.0.1:10000/account;` for a connection string.
    pub(crate) fn connection(&self, account: &str) -> String {
        let at = self.listener.address();
        // Clients cannot connect to "any address"; the loopback one is right for this machine.
        let host = if at.ip().is_unspecified() { "127.0.0.1".to_owned() } else { host(at) };
        let Self { name, scheme, .. } = self;
        format!("{name}Endpoint={scheme}://{host}:{}/{account};", at.port())
    }
}

fn host(at: SocketAddr) -> String {
    match at {
        SocketAddr::V4(at) => at.ip().to_string(),
        SocketAddr::V6(at) => format!("[{}]", at.ip()),
    }
}

/// Where services count what they do, what faults they meet, and where they run.
#[derive(Clone, Default)]
pub(crate) struct Watching {
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) alarms: Alarms,
    pub(crate) faults: Option<Faults>,
    pub(crate) access: Option<AccessLog>,
    pub(crate) room: Room,
    pub(crate) lanes: Arc<Lanes>,
}

/// How much all services together take on at once.
#[derive(Clone)]
pub(crate) struct Room {
    connections: Arc<Semaphore>,
    admission: Arc<Admission>,
}

impl Room {
    /// For so many connections and, unless the default is meant, so many requests.
    pub(crate) fn new(connections: usize, requests: Option<u32>) -> Self {
        let requests = requests.and_then(|requests| usize::try_from(requests).ok());
        let admission = requests.map_or_else(Admission::default, Admission::new);
        Self { connections: Arc::new(Semaphore::new(connections)), admission: admission.into() }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new(limits::CONNECTIONS, None)
    }
}

/// What the console says about the program.
const BUILD: &[(&str, &str)] = &[
    ("version", env!("CARGO_PKG_VERSION")),
    ("commit", env!("ZAFFRE_COMMIT")),
    ("target", env!("ZAFFRE_TARGET")),
];

impl Watching {
    /// What the console looks at.
    pub(crate) fn of(&self, core: &Core, disk: MeasuredDisk, ready: &Arc<AtomicBool>) -> Watched {
        let (traffic, alarms) = (self.traffic.clone(), self.alarms.clone());
        let (core, ready) = (core.clone(), ready.clone());
        Watched { core, disk, traffic, alarms, ready, build: BUILD }
    }
}

/// The services that run, and how they are told to stop.
pub(crate) struct Running {
    core: Core,
    watched: Watching,
    names: Vec<&'static str>,
    stop: watch::Sender<()>,
    tasks: JoinSet<io::Result<()>>,
}

impl Running {
    /// None yet; all will be on `core` and counted by `watched`.
    pub(crate) fn new(core: Core, watched: Watching) -> Self {
        let (names, stop, tasks) = (Vec::new(), watch::Sender::new(()), JoinSet::new());
        Self { core, watched, names, stop, tasks }
    }

    /// Serves `service` at `endpoint` until all are stopped.
    pub(crate) fn start<S: Service>(&mut self, endpoint: Endpoint, service: S) {
        let url = endpoint.url();
        let mut options = self.options();
        options.timeouts.idle = endpoint.idle;
        options.traffic = self.watched.traffic.clone();
        options.faults.clone_from(&self.watched.faults);
        options.access.clone_from(&self.watched.access);
        options.connections = self.watched.room.connections.clone();
        options.admission = self.watched.room.admission.clone();
        options.lanes = self.watched.lanes.clone();
        self.spawn(endpoint.listener, service, options);
        self.names.push(endpoint.name);
        say(&format!("Azurite {} service is successfully listening at {url}", endpoint.name));
    }

    /// Serves something beside the services, which is neither counted nor made to fail.
    pub(crate) fn attach<S: Service>(&mut self, listener: Listener, service: S) {
        self.spawn(listener, service, self.options());
    }

    fn options(&self) -> ServerOptions {
        let clock = self.core.store().clock.clone();
        ServerOptions::new(Arc::new(move || clock.wall()))
    }

    fn spawn<S: Service>(&mut self, listener: Listener, service: S, options: ServerOptions) {
        let stop = self.stopping();
        let alarms = self.watched.alarms.clone();
        self.tasks
            .spawn(async move { listener.serve(Arc::new(service), options, alarms, stop).await });
    }

    /// The core beneath all services.
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// Ready when all are to stop.
    pub(crate) fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.stop.subscribe();
        async move {
            // An error means that the sender is gone, which is the signal.
            let _ = stopping.changed().await;
        }
    }

    /// Lets a service that ends when all are to stop run with the others.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        serving: impl Future<Output = io::Result<()>> + Send + 'static,
    ) {
        self.tasks.spawn(serving);
        self.names.push(name);
    }

    /// Serves until `asked` is ready, then lets what is under way finish. Gives the services'
    /// names, to be called closed when the store is.
    pub(crate) async fn until(
        mut self,
        asked: impl Future<Output = ()>,
    ) -> Result<Vec<&'static str>, Failure> {
        let cause = |ended: Result<io::Result<()>, JoinError>| {
            ended.unwrap_or_else(|lost| Err(io::Error::other(lost))).err()
        };
        let mut failed = tokio::select! {
            () = asked => None,
            Some(ended) = self.tasks.join_next() => cause(ended),
        };
        for name in &self.names {
            say(&format!("Azurite {name} service is closing..."));
        }
        drop(self.stop);
        while let Some(ended) = self.tasks.join_next().await {
            failed = failed.or(cause(ended));
        }
        match failed {
            Some(error) => Err(Failure::System { doing: "serving", error }),
            None => Ok(self.names),
        }
    }
}
