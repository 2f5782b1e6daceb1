//! The URL that a copy names: one reading of it, and nobody passes for another host.

use zaffre_base::ApiVersion;
use zaffre_http::outbound::AllowedHosts;
use zaffre_http::source_url::SourceUrl;

/// The target: a line with the hosts that are allowed, and a line with the URL.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (hosts, url) = text.split_once('\n').unwrap_or(("files.example", text));
    for version in [ApiVersion::LATEST, ApiVersion::new(2011, 8, 18)] {
        let Some(source) = SourceUrl::parse(url, version) else { continue };
        if source.authority.is_empty() {
            assert!(url.starts_with('/'), "only a path has no host");
            continue;
        }
        assert!(!source.authority.contains(['@', '/', '?', '#', '\\']));
        assert!(source.path.starts_with('/'));
        assert!(!source.path.contains('?'));
        // What is asked for is what was read: the text made of the parts is read the same again.
        assert_eq!(SourceUrl::parse(&source.whole(), version).as_ref(), Some(&source));
        assert!(!source.host().is_empty());
        let (host, port) = (source.host(), source.port());
        assert!(!AllowedHosts::default().allows(host, port), "nobody is allowed by default");
        let mut allowed = AllowedHosts::default();
        if allowed.add(hosts) && allowed.allows(host, port) {
            let listed = hosts.to_ascii_lowercase();
            let below = listed.strip_prefix('*').and_then(|rest| rest.split(':').next());
            assert!(listed.contains(host) || below.is_some_and(|domain| host.ends_with(domain)));
        }
    }
}
