//! The services' sockets: which are bound, and what is served at each.
//!
//! Must never serve at one before all that were chosen are bound.

use crate::args::Args;
use crate::endpoints::{Endpoint, Running};
use crate::failure::Failure;
use crate::names::Chosen;
use crate::smb::SmbEndpoint;
use crate::sources;
use std::net::IpAddr;
use std::sync::Arc;
use zaffre_blob::{BlobOptions, BlobService};
use zaffre_file::{FileOptions, FileService, Ports};
use zaffre_http::AccountsHandle;
use zaffre_http::tls::ServerConfig;
use zaffre_queue::{QueueOptions, QueueService};
use zaffre_table::{TableOptions, TableService};

/// The sockets of the services that were chosen, bound and not yet serving.
pub(crate) struct Services {
    blob: Option<Endpoint>,
    queue: Option<Endpoint>,
    table: Option<Endpoint>,
    file: Option<Endpoint>,
    smb: Option<SmbEndpoint>,
}

impl Services {
    /// Takes the addresses.
    pub(crate) async fn bind(
        args: &Args,
        chosen: Chosen,
        tls: Option<&Arc<ServerConfig>>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            blob: Endpoint::bind_if(chosen.blob, args.blob(), tls).await?,
            queue: Endpoint::bind_if(chosen.queue, args.queue(), tls).await?,
            table: Endpoint::bind_if(chosen.table, args.table(), tls).await?,
            file: Endpoint::bind_if(chosen.ours, args.file(), tls).await?,
            smb: if chosen.ours { SmbEndpoint::bind(args).await? } else { None },
        })
    }

    /// Where REST is spoken.
    pub(crate) fn endpoints(&self) -> Vec<&Endpoint> {
        [&self.blob, &self.queue, &self.table, &self.file].into_iter().flatten().collect()
    }

    /// Where SMB is spoken.
    pub(crate) fn smb_ip(&self) -> Option<IpAddr> {
        self.smb.as_ref().map(SmbEndpoint::ip)
    }

    /// Serves at all of them.
    pub(crate) fn start(self, running: &mut Running, handle: &AccountsHandle, args: &Args) {
        let (core, always_path_style) = (running.core().clone(), args.disable_product_style_url);
        let port = |endpoint: &Option<Endpoint>| endpoint.as_ref().map_or(0, Endpoint::port);
        let ports = Ports { file: port(&self.file), blob: port(&self.blob) };
        let options = BlobOptions { always_path_style, port: ports.blob };
        let blobs = BlobService::new(core.clone(), handle.clone(), options)
            .reaching(sources::elsewhere(args));
        if let Some(endpoint) = self.blob {
            running.start(endpoint, blobs.clone());
        }
        if let Some(endpoint) = self.queue {
            let options = QueueOptions { always_path_style };
            running.start(endpoint, QueueService::new(core.clone(), handle.clone(), options));
        }
        if let Some(endpoint) = self.table {
            let options = TableOptions { always_path_style };
            running.start(endpoint, TableService::new(core.clone(), handle.clone(), options));
        }
        if let Some(endpoint) = self.file {
            let options = FileOptions { always_path_style, ports };
            let service = FileService::new(core, handle.clone(), options, Arc::new(blobs));
            running.start(endpoint, service);
        }
        if let Some(smb) = self.smb {
            smb.start(running, handle.clone());
        }
    }
}
