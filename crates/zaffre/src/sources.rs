//! The servers that copies may come from, as the operator named them.

use crate::args::Args;
use crate::oauth::authorities;
use crate::terminal::warn;
use zaffre_blob::copy::elsewhere::Elsewhere;
use zaffre_http::outbound::AllowedHosts;

/// Refuses what is no host.
pub(crate) fn host(text: &str) -> Result<String, String> {
    if AllowedHosts::default().add(text) {
        Ok(text.to_owned())
    } else {
        Err("a host is a name, *.domain or an address, with a port if it matters".to_owned())
    }
}

/// The way to the servers named on the command line, if there are any.
pub(crate) fn elsewhere(args: &Args) -> Option<Elsewhere> {
    let mut allowed = AllowedHosts::default();
    for host in &args.copy_source_hosts {
        allowed.add(host);
    }
    if allowed.is_empty() {
        return None;
    }
    let tls = authorities(None).inspect_err(|error| {
        warn(&format!("copies cannot come over HTTPS: {error}"));
    });
    Some(Elsewhere::new(allowed, tls.ok()))
}
