//! Serving: endpoints, accounts, store, services, and the orderly end.
//!
//! Must never say that it listens before every part is ready.

use crate::access_log::Log;
use crate::accounts::Source;
use crate::args::Args;
use crate::capped::CappedDisk;
use crate::endpoints::{Endpoint, Room, Running, Watching};
use crate::failure::Failure;
use crate::lanes::LaneThreads;
use crate::names::Chosen;
use crate::oauth::Tokens;
use crate::services::Services;
use crate::signals::Stops;
use crate::terminal::{say, warn};
use crate::{certificate, descriptors, log, sealed, traces};
use std::env;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime;
use zaffre_auth::Accounts;
use zaffre_auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use zaffre_base::limits::MIB;
use zaffre_core::{CopyOptions, Core, CoreOptions};
use zaffre_http::AccountsHandle;
use zaffre_http::server::{Access, AccessLog, Lanes};
use zaffre_store::disk::{Disk, MeasuredDisk, MemDisk, RealDisk};
use zaffre_store::{Clock, Store, StoreOptions};

/// Serves until a signal comes.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    log::start(args)?;
    tell_what_is_not_obeyed();
    let failed = |error| Failure::System { doing: "starting threads", error };
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    let lanes = LaneThreads::start().map_err(failed)?;
    runtime.block_on(serve(args, lanes.lanes()))
}

async fn serve(args: &Args, lanes: Arc<Lanes>) -> Result<(), Failure> {
    let mut stops = Stops::listen()?;
    let tls = certificate::load(args)?;
    let chosen = Chosen::by_name();
    let services = Services::bind(args, chosen, tls.as_ref()).await?;
    let (endpoints, smb_ip) = (services.endpoints(), services.smb_ip());
    let (source, known) = Source::open(args, &endpoints, smb_ip)?;
    let tokens = Tokens::open(&args.tokens, args.development_account, &endpoints).await?;

    let door =
        args.console.bind(chosen.ours, endpoints.iter().map(|e| e.ip()).chain(smb_ip)).await?;
    let (store, disk) = open_store(args)?;
    let core = Core::new(store, core_options(args));
    let background = core.spawn_background();
    known.tell(&core);
    let accounts = known.accounts.trusting(tokens.trust.clone());
    let text = introduction(args, &accounts, &endpoints, tls.is_some());
    let handle = AccountsHandle::new(accounts);
    let following = tokio::spawn(source.follow(handle.clone(), core.clone()));
    let renewing = tokio::spawn(tokens.follow(handle.clone()));
    let log = args.access.open()?;
    let (faults, access) =
        (door.faults.clone(), told(log.as_ref().map(Log::lines), traces::open()?));
    let room = Room::new(descriptors::connections(), args.requests_in_flight);
    let watching = Watching { faults, access, room, lanes, ..Watching::default() };
    let mut running = Running::new(core.clone(), watching.clone());
    let ready = Arc::new(AtomicBool::new(false));
    door.open(&mut running, watching.of(&core, disk, &ready), args.silent);
    services.start(&mut running, &handle, args);
    ready.store(true, Ordering::Relaxed);
    if !args.silent {
        say(&text);
    }

    let stop = async {
        stops.wait().await;
        ready.store(false, Ordering::Relaxed);
        stops.end_on_next();
    };
    let served = running.until(stop).await;
    following.abort();
    let _ = following.await;
    renewing.abort();
    drop(watching);
    log.into_iter().for_each(Log::end);
    core.flush_logs().await;
    background.stop().await;
    drop(core);
    for name in served? {
        say(&format!("Azurite {name} service successfully closed"));
    }
    Ok(())
}

/// Tells both, or the one that is there.
fn told(log: Option<AccessLog>, traces: Option<AccessLog>) -> Option<AccessLog> {
    match (log, traces) {
        (Some(log), Some(traces)) => Some(Arc::new(move |access: Access| {
            log(access.clone());
            traces(access);
        })),
        (log, traces) => log.or(traces),
    }
}

fn core_options(args: &Args) -> CoreOptions {
    let container_delete_delay = Duration::from_secs(args.container_delete_delay);
    let bytes_per_second = args.copy_bytes_per_second;
    let copies = CopyOptions { bytes_per_second, ..CopyOptions::default() };
    CoreOptions { container_delete_delay, copies, ..CoreOptions::default() }
}

fn open_store(args: &Args) -> Result<(Store, MeasuredDisk), Failure> {
    let failed = |reason: String| Failure::Data { path: args.location.clone(), reason };
    let key = sealed::key(args.encryption_key_file.as_deref())?;
    let disk: Arc<dyn Disk> = match args.extent_memory_limit {
        Some(megabytes) => Arc::new(CappedDisk::new(megabytes.saturating_mul(MIB))),
        None if args.in_memory => Arc::new(MemDisk::new()),
        None => {
            let made = RealDisk::create(&args.location);
            Arc::new(made.map_err(|error| failed(advice(&error)))?)
        }
    };
    let clock = Clock::default();
    let measured = MeasuredDisk::new(disk, clock.clone());
    let disk = sealed::cover(Arc::new(measured.clone()), key);
    let disk = disk.map_err(|error| failed(error.to_string()))?;
    let options = StoreOptions { clock: Some(clock), ..StoreOptions::default() };
    let store = Store::open(disk, &options).map_err(|error| failed(error.to_string()))?;
    Ok((store, measured))
}

fn advice(error: &io::Error) -> String {
    format!(
        "the data directory cannot be made ({error}); check its owner and permissions, or choose \
         another with --location"
    )
}

/// What a person wants to know at the start: where data is, and how to connect.
fn introduction(args: &Args, accounts: &Accounts, endpoints: &[&Endpoint], secure: bool) -> String {
    let data = if args.in_memory {
        "in memory, gone when this program ends".to_owned()
    } else {
        format!("in {}", args.location.display())
    };
    let mut text = format!("zaffre {}: data is {data}.", env!("CARGO_PKG_VERSION"));
    let scheme = if secure { "https" } else { "http" };
    for account in accounts.iter() {
        let name = account.name().as_str();
        let key = if name == DEVELOPMENT_ACCOUNT { DEVELOPMENT_KEY } else { "<its key>" };
        text.extend([
            format!("\nConnection string: DefaultEndpointsProtocol={scheme};AccountName={name};"),
            format!("AccountKey={key};"),
        ]);
        text.extend(endpoints.iter().map(|endpoint| endpoint.connection(name)));
    }
    text
}

/// Variables that other programs obey and we do not: said once, never ignored silently.
fn tell_what_is_not_obeyed() {
    if env::var_os("AZURITE_DB").is_some() {
        warn("AZURITE_DB has no effect: data is kept in --location");
    }
}
