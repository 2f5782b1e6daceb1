//! Old logs go, by the retention policy of the service they are about.
//!
//! Must never touch a blob that is not named like a log.

use super::write::LOGS;
use crate::blob::op::{BlobPath, DeleteBlob, DeleteSnapshots, Moment};
use crate::blob::{remove_blob, site};
use crate::directory::keys::{account_of, registered_accounts, registry};
use crate::service::blocking;
use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::Service;
use zaffre_base::{AccountName, BlobName, ContainerName, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::tier::TierConditions;
use zaffre_domain::conditions::Conditions;
use zaffre_store::{Placement, Row};

/// Rows looked at by one snapshot.
const BATCH: usize = 256;
/// Rows of one range looked at in one pass. Names sort by date, so that the oldest come first.
const LOOKED_AT: usize = 4096;
/// The services that write logs.
const SERVICES: [Service; 3] = [Service::Blob, Service::Queue, Service::Table];

/// Removes what is too old in all accounts; says how many blobs.
pub(super) async fn remove_old(core: &Core) -> Result<usize, Error> {
    let mut removed = 0;
    let accounts = registered_accounts();
    for row in rows(core, &registry(), accounts.start, accounts.end).await? {
        let Some(account) = account_of(&row.key) else { continue };
        for service in SERVICES {
            let properties = core.service_properties(&account, service).await?;
            if let Some(days) = properties.logging.retention.get() {
                removed += remove_of(core, &account, service, days).await?;
            }
        }
    }
    Ok(removed)
}

async fn remove_of(
    core: &Core,
    account: &AccountName,
    service: Service,
    days: u16,
) -> Result<usize, Error> {
    const DAY: Duration = Duration::from_hours(24);
    let Ok(container) = ContainerName::parse(LOGS) else { return Ok(0) };
    let found = match site::find(core, account, &container).await {
        Ok(found) => found,
        Err(Error::Refused(Refusal::ContainerNotFound)) => return Ok(0),
        Err(error) => return Err(error),
    };
    let kept = DAY * u32::from(days);
    let now = core.store().clock.now();
    let names = found.site.keys.blobs();
    let range = names.starting_with(&format!("{}/", service.name()));
    let mut removed = 0;
    for row in rows(core, &found.site.placement, range.start, range.end).await? {
        let Some(name) = names.name_of(&row.key) else { continue };
        let is_old = hour_of(&name).is_some_and(|hour| now.since(hour) > kept);
        let Some(blob) = BlobName::parse(&name).ok().filter(|_| is_old) else { continue };
        let (account, container) = (account.clone(), container.clone());
        let op = DeleteBlob {
            at: BlobPath { account, container, blob, moment: Moment::Current },
            snapshots: DeleteSnapshots::Include,
            permanent: false,
            lease: None,
            conditions: Conditions::default(),
            tier_conditions: TierConditions::default(),
        };
        match remove_blob(core, op).await {
            Ok(_) => removed += 1,
            // Somebody holds a lease on it, or was faster.
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// The end of the hour that `blob/2026/11/15/0900/000000.log` is about.
fn hour_of(name: &str) -> Option<Timestamp> {
    let mut parts = name.split('/').skip(1);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let hour = parts.next()?.get(..2)?;
    let start = Timestamp::parse_iso(&format!("{year}-{month}-{day}T{hour}:00:00Z"))?;
    Some(start.plus(Duration::from_hours(1)))
}

/// The first keys of a range, read in batches, each from a snapshot of its own.
async fn rows(
    core: &Core,
    placement: &Placement,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
) -> Result<Vec<Row>, Error> {
    let (mut all, mut start) = (Vec::new(), start);
    loop {
        let snapshot = core.store().meta.snapshot(placement).await?;
        let (from, to) = (start, end.clone());
        let rows = blocking(move || Ok(snapshot.scan(&from, to.as_deref(), BATCH)?)).await?;
        let whole = rows.len() == BATCH;
        all.extend(rows.into_iter().map(|row| Row { value: Vec::new(), ..row }));
        match all.last().filter(|_| whole && all.len() < LOOKED_AT) {
            Some(last) => start = [last.key.as_slice(), &[0]].concat(),
            None => return Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours() {
        for (name, want) in [
            ("blob/2026/11/15/0900/000000.log", Some("2026-11-15T10:00:00.0000000Z")),
            ("blob/2026/11/15/0900", Some("2026-11-15T10:00:00.0000000Z")),
            ("blob/2026/13/15/0900/0.log", None),
            ("blob/x", None),
            ("2026/11/15/0900/000000.log", None),
        ] {
            let found = hour_of(name).map(|hour| hour.iso7().to_string());
            assert_eq!(found.as_deref(), want, "{name}");
        }
    }
}
