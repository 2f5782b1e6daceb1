//! Query Blob Contents: what core does of it is to open the blob, as for a read of all of it.

use super::get_blob::read;
use super::op::{GetBlob, QueryBlob};
use super::reply::GetBlobReply;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_domain::blob::BlobKind;

/// Opens a block blob whose content is to be queried.
pub async fn query_blob(core: &Core, op: Authorized<QueryBlob>) -> Result<GetBlobReply, Error> {
    let (op, _) = op.into_parts();
    let QueryBlob { at, lease, conditions, context, encryption } = op;
    let (range, range_checksum) = (None, None);
    let whole = GetBlob { at, range, range_checksum, lease, conditions, context, encryption };
    read(core, whole, Some(BlobKind::Block)).await
}
