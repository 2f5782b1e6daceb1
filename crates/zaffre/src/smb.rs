//! The SMB server's endpoint: bound with the others, served beside them.
//!
//! Must never be reachable where the REST services with the same accounts would not be.

use crate::args::Args;
use crate::endpoints::Running;
use crate::failure::Failure;
use crate::terminal::say;
use std::net::IpAddr;
use std::sync::Arc;
use zaffre_base::ShareName;
use zaffre_http::AccountsHandle;
use zaffre_smb::{Descriptors, Listener, Options};

const NAME: &str = "SMB";

/// What a Windows file server does over SMB and Azure Files does not.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct SmbArgs {
    /// Let files and directories have named streams over SMB, which Azure Files does not have
    #[arg(long = "smbStreams")]
    streams: bool,

    /// Let SMB clients mark files as sparse, which Azure Files does not; others count as wholly
    /// allocated
    #[arg(long = "smbSparse")]
    sparse: bool,

    /// Let an SMB session use several connections (multichannel)
    #[arg(long = "smbMultichannel")]
    multichannel: bool,

    /// What security descriptors do to whoever holds the account's key
    #[arg(long = "smbDescriptors", value_name = "USE", default_value = "store")]
    descriptors: DescriptorUse,

    /// Shares whose listings over SMB leave out what may not be read, where descriptors are enforced
    #[arg(long = "smbHideUnreadable", value_name = "SHARE,...", value_delimiter = ',')]
    #[arg(value_parser = share_name)]
    hiding: Vec<ShareName>,
}

fn share_name(text: &str) -> Result<ShareName, String> {
    ShareName::parse(text).map_err(|_| "not the name of a share".to_owned())
}

/// What security descriptors do.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum DescriptorUse {
    /// Nothing: they are kept and shown, as Azure Files does
    Store,
    /// They decide what may be opened over SMB, and how
    Enforce,
}

impl SmbArgs {
    fn options(&self) -> Options {
        let descriptors = match self.descriptors {
            DescriptorUse::Store => Descriptors::Store,
            DescriptorUse::Enforce => Descriptors::Enforce,
        };
        let &Self { streams, sparse, multichannel, .. } = self;
        Options { streams, sparse, descriptors, multichannel }
    }
}

/// The SMB server's socket, bound and not yet serving.
pub(crate) struct SmbEndpoint(Listener, Options);

impl SmbEndpoint {
    /// Takes the address, unless SMB is not wanted.
    pub(crate) async fn bind(args: &Args) -> Result<Option<Self>, Failure> {
        if args.skip_smb {
            return Ok(None);
        }
        let address = format!("{}:{}", args.smb_host, args.smb_port);
        say(&format!("Azurite {NAME} service is starting at smb://{address}"));
        let bound = Listener::bind(&args.smb_host, args.smb_port).await;
        let failed = |error| Failure::Listen { address, flags: "smb", error };
        let hiding = args.smb.hiding.clone();
        bound
            .map(|listener| Some(Self(listener.hiding(hiding), args.smb.options())))
            .map_err(failed)
    }

    /// The address it is reached at.
    pub(crate) fn ip(&self) -> IpAddr {
        self.0.address().ip()
    }

    /// Serves until all are stopped.
    pub(crate) fn start(self, running: &mut Running, accounts: AccountsHandle) {
        let url = format!("smb://{}", self.0.address());
        let core = running.core().clone();
        let stop = running.stopping();
        let serving = self.0.serve(core, Arc::new(move || accounts.current()), self.1, stop);
        running.add(NAME, serving);
        say(&format!("Azurite {NAME} service is successfully listening at {url}"));
    }
}
