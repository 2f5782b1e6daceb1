//! A batch of lines as one block blob of `$logs`.
//!
//! Must never overwrite: each batch takes the next free number of its hour.

use super::buffer::Batch;
use crate::blob::op::{BlobPath, Context, Encryption, ExpectedChecksum, Moment, PutBlob};
use crate::blob::store_blob;
use crate::{Core, Error};
use bytes::Bytes;
use std::collections::BTreeMap;
use zaffre_auth::Grants;
use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::HttpProperties;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::conditions::{Conditions, TagCondition};

/// Where the logs of all services of an account are.
pub(super) const LOGS: &str = "$logs";
/// Blobs in one hour: one for each flush and many more.
const NUMBERS: u32 = 1_000_000;

/// Writes the lines; there is nothing to do when the container is gone.
pub(super) async fn write(core: &Core, account: &AccountName, batch: &Batch) -> Result<(), Error> {
    let Ok(container) = ContainerName::parse(LOGS) else { return Ok(()) };
    let prefix = folder(batch.service.name(), batch.first);
    let mut number = core.logs().next_number(account, &prefix);
    while number < NUMBERS {
        let Ok(blob) = BlobName::parse(&format!("{prefix}{number:06}.log")) else { return Ok(()) };
        let at = BlobPath {
            account: account.clone(),
            container: container.clone(),
            blob,
            moment: Moment::Current,
        };
        let text = Bytes::from(batch.text.clone());
        let body = Box::pin(futures_util::stream::once(async move { Ok(text) }));
        match store_blob(core, new_blob(at, batch), Grants::owner(), body).await {
            Ok(_) => {
                core.logs().took(account, &prefix, number);
                return Ok(());
            }
            Err(Error::Refused(Refusal::BlobAlreadyExists)) => number += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// `blob/2026/11/15/0900/`
fn folder(service: &str, at: Timestamp) -> String {
    let iso = at.iso7().to_string();
    let (date, time) = iso.split_once('T').unwrap_or_default();
    format!("{service}/{}/{}00/", date.replace('-', "/"), time.get(..2).unwrap_or_default())
}

fn new_blob(at: BlobPath, batch: &Batch) -> PutBlob {
    let kinds = ["read", "write", "delete"].iter().zip(batch.holds);
    let kinds: Vec<&str> = kinds.filter(|(_, held)| *held).map(|(kind, _)| *kind).collect();
    let second = |at: Timestamp| at.whole_seconds().iso7().to_string().replace(".0000000", "");
    let metadata = [
        ("LogType", kinds.join(",")),
        ("StartTime", second(batch.first)),
        ("EndTime", second(batch.last)),
        ("LogVersion", batch.version.text().to_owned()),
    ];
    let metadata = metadata.into_iter().map(|(name, value)| (name.to_owned(), value));
    let content_type = Some("text/plain".to_owned());
    PutBlob {
        at,
        length: u64::try_from(batch.text.len()).ok(),
        properties: HttpProperties { content_type, ..HttpProperties::default() },
        metadata: metadata.collect::<BTreeMap<_, _>>(),
        expect: ExpectedChecksum::default(),
        lease: None,
        conditions: Conditions { if_none_match: Some(TagCondition::Any), ..Conditions::default() },
        tier: None,
        protection: Protection::default(),
        encryption: Encryption::default(),
        tags: Tags::new(),
        context: Context { version: ApiVersion::LATEST },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders() {
        let at = Timestamp::parse_iso("2026-11-15T09:59:59Z").expect("a time");
        assert_eq!(folder("blob", at), "blob/2026/11/15/0900/");
    }
}
