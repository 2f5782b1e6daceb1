//! Create Queue.

use super::op::CreateQueue;
use super::records::Queue;
use super::reply::Created;
use crate::directory::keys::directory;
use crate::directory::{Family, claim_name, register};
use crate::records::Record;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Incarnation;
use zaffre_domain::Refusal;
use zaffre_domain::blob::Metadata;
use zaffre_store::{Abort, Tx};

/// Creates a queue, or finds that there is one just like it.
pub async fn create_queue(core: &Core, op: Authorized<CreateQueue>) -> Result<Created, Error> {
    let (CreateQueue { at, metadata }, _) = op.into_parts();
    register(core, &at.account).await?;
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let name = at.queue.as_str();
        let key = Family::Queues.row(name);
        match Queue::load(tx, &key)? {
            Some(queue) if is_same(&queue.metadata, &metadata) => return Ok(Created::Existing),
            Some(_) => return Err(Abort::Fail(Refusal::QueueAlreadyExists)),
            None => claim_name::<Queue>(tx, name)?,
        }
        let incarnation = Incarnation(tx.stamp().0);
        Queue { incarnation, metadata: metadata.clone(), policies: Vec::new() }.store(tx, &key)?;
        Ok(Created::New)
    };
    core.transact(&placement, body).await
}

/// The same names, whatever their case, with the same values.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    let same = |(name, value): (&String, &String)| {
        other.iter().any(|(n, v)| n.eq_ignore_ascii_case(name) && v == value)
    };
    one.len() == other.len() && one.iter().all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(pairs: &[(&str, &str)]) -> Metadata {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn sameness() {
        for (one, other, same) in [
            (&[][..], &[][..], true),
            (&[("a", "1")], &[("A", "1")], true),
            (&[("a", "1")], &[("a", "2")], false),
            (&[("a", "1")], &[], false),
            (&[], &[("a", "1")], false),
            (&[("a", "1"), ("b", "2")], &[("b", "2"), ("a", "1")], true),
        ] {
            assert_eq!(is_same(&metadata(one), &metadata(other)), same, "{one:?} {other:?}");
        }
    }
}
