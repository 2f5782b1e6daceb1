//! What a write does to an entity: insert, update, merge, the two upserts, delete.
//!
//! Must never be asked outside the transaction that writes the result.

use super::{EntityKey, IfMatch, Properties, TableRefusal};
use alloc::borrow::Cow;
use zaffre_base::Stamp;

/// How an entity is to be written.
#[derive(Clone, PartialEq, Debug)]
pub enum Write {
    /// Insert Entity: there must be none.
    Insert(Properties),
    /// Update Entity: replaces all properties of one that is there.
    Update(Properties, IfMatch),
    /// Merge Entity: replaces some properties of one that is there.
    Merge(Properties, IfMatch),
    /// Insert Or Replace Entity: checks nothing.
    InsertOrReplace(Properties),
    /// Insert Or Merge Entity: checks nothing.
    InsertOrMerge(Properties),
    /// Delete Entity.
    Delete(IfMatch),
}

/// What is there before a write.
#[derive(Clone, Copy, Debug)]
pub struct Existing<'a> {
    /// The commit that made it.
    pub written: Stamp,
    /// Its properties; may be empty unless [`Write::needs_properties`].
    pub properties: &'a Properties,
}

impl Write {
    /// Whether the result depends on the properties that are there.
    pub fn needs_properties(&self) -> bool {
        matches!(self, Self::Merge(..) | Self::InsertOrMerge(_))
    }

    /// The properties that were sent, if any were.
    pub fn into_sent(self) -> Option<Properties> {
        match self {
            Self::Insert(sent)
            | Self::Update(sent, _)
            | Self::Merge(sent, _)
            | Self::InsertOrReplace(sent)
            | Self::InsertOrMerge(sent) => Some(sent),
            Self::Delete(_) => None,
        }
    }

    /// What the entity becomes; `None` means that it goes. Borrowed where it is what was sent.
    pub fn apply(
        &self,
        key: &EntityKey,
        existing: Option<Existing<'_>>,
    ) -> Result<Option<Cow<'_, Properties>>, TableRefusal> {
        let result = match self {
            Self::Insert(_) if existing.is_some() => {
                return Err(TableRefusal::EntityAlreadyExists);
            }
            Self::Insert(properties) => Cow::Borrowed(properties),
            Self::Update(properties, wanted) => {
                admitted(existing, *wanted)?;
                Cow::Owned(properties.clone().sorted())
            }
            Self::Merge(changes, wanted) => {
                Cow::Owned(admitted(existing, *wanted)?.properties.merged(changes))
            }
            Self::InsertOrReplace(properties) => Cow::Owned(properties.clone().sorted()),
            Self::InsertOrMerge(changes) => Cow::Owned(match existing {
                Some(existing) => existing.properties.merged(changes),
                None => changes.clone().sorted(),
            }),
            Self::Delete(wanted) => {
                admitted(existing, *wanted)?;
                return Ok(None);
            }
        };
        result.check_whole(key)?;
        Ok(Some(result))
    }
}

fn admitted(existing: Option<Existing<'_>>, wanted: IfMatch) -> Result<Existing<'_>, TableRefusal> {
    let existing = existing.ok_or(TableRefusal::EntityNotFound)?;
    if wanted.admits(existing.written) {
        Ok(existing)
    } else {
        Err(TableRefusal::UpdateConditionNotSatisfied)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use zaffre_base::Timestamp;

    fn of(pairs: &[(&str, i32)]) -> Properties {
        let pairs: Vec<_> =
            pairs.iter().map(|(n, v)| ((*n).to_string(), Value::Int32(*v))).collect();
        Properties::new(pairs).expect("legal")
    }

    /// The table of the service: which write does what, with and without an entity, by condition.
    #[test]
    fn rows() {
        let key = EntityKey::new("p", "r").expect("legal");
        let there = of(&[("a", 1), ("b", 2)]);
        let existing = Existing { written: Stamp(7), properties: &there };
        let new = || of(&[("b", 9)]);
        let (any, same) = (IfMatch::Any, IfMatch::At(Timestamp(7)));
        let (later, other) = (IfMatch::At(Timestamp(8)), IfMatch::Other);
        let replaced = Ok(Some(new()));
        let merged = Ok(Some(of(&[("a", 1), ("b", 9)])));
        let conflict = || Err(TableRefusal::UpdateConditionNotSatisfied);
        let missing = || Err(TableRefusal::EntityNotFound);
        for (write, with, without) in [
            (Write::Insert(new()), Err(TableRefusal::EntityAlreadyExists), replaced.clone()),
            (Write::Update(new(), any), replaced.clone(), missing()),
            (Write::Update(new(), same), replaced.clone(), missing()),
            (Write::Update(new(), later), conflict(), missing()),
            (Write::Update(new(), other), conflict(), missing()),
            (Write::Merge(new(), any), merged.clone(), missing()),
            (Write::Merge(new(), same), merged.clone(), missing()),
            (Write::Merge(new(), later), conflict(), missing()),
            (Write::InsertOrReplace(new()), replaced.clone(), replaced.clone()),
            (Write::InsertOrMerge(new()), merged, replaced),
            (Write::Delete(any), Ok(None), missing()),
            (Write::Delete(same), Ok(None), missing()),
            (Write::Delete(other), conflict(), missing()),
        ] {
            let applied =
                |existing| write.apply(&key, existing).map(|made| made.map(Cow::into_owned));
            assert_eq!(applied(Some(existing)), with, "{write:?}");
            assert_eq!(applied(None), without, "{write:?}");
        }
    }

    #[test]
    fn a_merge_may_not_grow_an_entity_beyond_its_limits() {
        let key = EntityKey::new("p", "r").expect("legal");
        let many = |from: i32, to: i32| {
            let names = (from..to).map(|i| (alloc::format!("p{i}"), Value::Int32(i)));
            Properties::new(names.collect()).expect("legal")
        };
        let there = many(0, 200);
        let existing = Existing { written: Stamp(7), properties: &there };
        let merge = |to| {
            let write = Write::InsertOrMerge(many(100, to));
            write.apply(&key, Some(existing)).map(|made| made.map(Cow::into_owned))
        };
        assert_eq!(merge(252).map(|p| p.map(|p| p.len())), Ok(Some(252)));
        assert_eq!(merge(253), Err(TableRefusal::TooManyProperties));
    }

    #[test]
    fn what_a_write_needs_and_sends() {
        let sent = of(&[("a", 1)]);
        let any = IfMatch::Any;
        for (write, needs, sends) in [
            (Write::Insert(sent.clone()), false, true),
            (Write::Update(sent.clone(), any), false, true),
            (Write::Merge(sent.clone(), any), true, true),
            (Write::InsertOrReplace(sent.clone()), false, true),
            (Write::InsertOrMerge(sent.clone()), true, true),
            (Write::Delete(any), false, false),
        ] {
            assert_eq!(write.needs_properties(), needs, "{write:?}");
            assert_eq!(write.into_sent(), sends.then(|| sent.clone()));
        }
    }
}
