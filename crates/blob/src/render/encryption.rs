//! How it is shown what a blob is encrypted with.

use super::since;
use crate::fields::Fields;
use zaffre_base::{ApiVersion, base64};
use zaffre_domain::blob::encryption::{ACCOUNT_SCOPE, Encrypted};
use zaffre_http::xml::Writer;
use zaffre_http::{ApiError, HeaderName, Reply};

const DIGEST: HeaderName = HeaderName::from_static("x-ms-encryption-key-sha256");
const SCOPE: HeaderName = HeaderName::from_static("x-ms-encryption-scope");

/// On reads of a blob.
pub(super) fn headers(reply: Reply, encrypted: &Encrypted, version: ApiVersion) -> Reply {
    if version < since::CUSTOMER_KEYS {
        return reply;
    }
    match encrypted {
        Encrypted::ByAccount => reply,
        Encrypted::ByCustomer(digest) => reply.with(DIGEST, base64::encode(digest)),
        Encrypted::ByScope(name) => reply.with(SCOPE, name),
    }
}

/// On writes: what the request said itself.
pub fn echo(reply: Reply, fields: &Fields<'_>) -> Result<Reply, ApiError> {
    let scope = fields.header(SCOPE.as_str())?.filter(|scope| *scope != ACCOUNT_SCOPE);
    Ok(reply.with_some(DIGEST, fields.header(DIGEST.as_str())?).with_some(SCOPE, scope))
}

/// In a listing.
pub(super) fn elements(xml: &mut Writer, encrypted: &Encrypted, version: ApiVersion) {
    if version < since::CUSTOMER_KEYS {
        return;
    }
    match encrypted {
        Encrypted::ByAccount => {}
        Encrypted::ByCustomer(digest) => {
            xml.element("CustomerProvidedKeySha256", base64::encode(digest));
        }
        Encrypted::ByScope(name) => {
            xml.element("EncryptionScope", name);
        }
    }
}
