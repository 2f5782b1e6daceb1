//! The body of Set Container ACL: what is read can be written and read again as the same policies.

use zaffre_base::Timestamp;
use zaffre_base::limits::{ACCESS_POLICIES, ACCESS_POLICY_ID_CHARS};
use zaffre_domain::blob::AccessPolicy;
use zaffre_http::access_policies::parse;
use zaffre_http::xml::Writer;

/// The letters a policy can grant on a container.
const PERMISSIONS: &str = "racwdxyltfmeopi";

/// The target.
pub fn run(input: &[u8]) {
    let Ok(policies) = parse(input, PERMISSIONS) else { return };
    assert!(policies.len() <= ACCESS_POLICIES);
    for policy in &policies {
        let units = policy.id.encode_utf16().count();
        assert!((1..=ACCESS_POLICY_ID_CHARS).contains(&units), "{policy:?}");
    }
    assert_eq!(parse(&written(&policies), PERMISSIONS).ok(), Some(policies));
}

fn written(policies: &[AccessPolicy]) -> Vec<u8> {
    let mut xml = Writer::default();
    xml.open("SignedIdentifiers");
    for policy in policies {
        xml.open("SignedIdentifier").element("Id", &policy.id).open("AccessPolicy");
        xml.optional("Start", policy.start.map(Timestamp::iso7))
            .optional("Expiry", policy.expiry.map(Timestamp::iso7))
            .optional("Permission", policy.permission.as_ref());
        xml.close("AccessPolicy").close("SignedIdentifier");
    }
    xml.close("SignedIdentifiers");
    xml.finish()
}
