//! Writing what was decided about all of a blob's history to every row of it, step by step.
//!
//! Must never change what anybody sees: readers apply the decision to the rows that do not say it.

use super::Past;
use crate::blob::site::Site;
use crate::{Core, Error};
use zaffre_base::BlobName;
use zaffre_store::Tx;

/// Goes on until every row says what was decided about it.
pub(crate) async fn settle(core: &Core, site: &Site, name: &BlobName) -> Result<(), Error> {
    loop {
        let (keys, name) = (site.keys, name.clone());
        let body = move |tx: &mut Tx<'_>| {
            let mut past = Past::load(tx, keys, &name)?;
            past.step(tx)?;
            let settled = past.is_settled();
            Ok((settled, past.finish(tx, None, None)?))
        };
        if core.commit(site, body).await? {
            return Ok(());
        }
    }
}
