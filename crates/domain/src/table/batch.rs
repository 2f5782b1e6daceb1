//! Entity group transactions: which sets of operations may go together.

use super::{EntityKey, TableRefusal};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use zaffre_base::limits::TABLE_BATCH_OPERATIONS;

/// The operation that breaks a rule of the batch, by its position, and the rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// Which operation.
    pub index: usize,
    /// Which rule.
    pub refusal: TableRefusal,
}

/// Checks the operations of a batch, each given as its table (folded) and key, in their order.
pub fn check<'a>(operations: impl Iterator<Item = (&'a str, &'a EntityKey)>) -> Result<(), Misfit> {
    let misfit = |index, refusal| Err(Misfit { index, refusal });
    let mut rows = Rows::default();
    let mut first: Option<(&str, &str)> = None;
    for (index, (table, key)) in operations.enumerate() {
        if index == TABLE_BATCH_OPERATIONS {
            return misfit(index - 1, TableRefusal::TooManyOperations);
        }
        let group = (table, key.partition());
        if *first.get_or_insert(group) != group {
            return misfit(index, TableRefusal::DifferentPartitions);
        }
        if !rows.insert(key.row()) {
            return misfit(index, TableRefusal::DuplicateRow);
        }
    }
    Ok(())
}

/// The rows so far. Most batches have theirs in order, and then no row can be there twice.
#[derive(Default)]
struct Rows<'a> {
    rising: Vec<&'a str>,
    /// All of them, once there was one out of order.
    all: BTreeSet<&'a str>,
}

impl<'a> Rows<'a> {
    /// Adds a row; false if it is there.
    fn insert(&mut self, row: &'a str) -> bool {
        if self.all.is_empty() && self.rising.last().is_none_or(|last| *last < row) {
            self.rising.push(row);
            return true;
        }
        self.all.extend(self.rising.drain(..));
        self.all.insert(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn rules() {
        let key = |p: &str, r: &str| EntityKey::new(p, r).expect("legal");
        let many = |n: usize| (0..n).map(|i| ("t", key("p", &format!("{i}")))).collect::<Vec<_>>();
        for (operations, want) in [
            (Vec::new(), None),
            (many(100), None),
            (many(101), Some((99, TableRefusal::TooManyOperations))),
            (
                Vec::from([("t", key("p", "1")), ("t", key("p", "2")), ("t", key("q", "3"))]),
                Some((2, TableRefusal::DifferentPartitions)),
            ),
            (
                Vec::from([("t", key("p", "1")), ("u", key("p", "2"))]),
                Some((1, TableRefusal::DifferentPartitions)),
            ),
            (
                Vec::from([("t", key("p", "1")), ("t", key("p", "2")), ("t", key("p", "1"))]),
                Some((2, TableRefusal::DuplicateRow)),
            ),
            (
                Vec::from([("t", key("p", "1")), ("t", key("p", "1"))]),
                Some((1, TableRefusal::DuplicateRow)),
            ),
            (Vec::from([("t", key("p", "2")), ("t", key("p", "1")), ("t", key("p", "3"))]), None),
            (
                Vec::from(["2", "3", "1", "4", "3"].map(|row| ("t", key("p", row)))),
                Some((4, TableRefusal::DuplicateRow)),
            ),
        ] {
            let got = check(operations.iter().map(|(t, k)| (*t, k))).err();
            assert_eq!(got.map(|m| (m.index, m.refusal)), want, "{operations:?}");
        }
    }
}
