//! From a filter to the runs of keys that can hold what it lets through.
//!
//! Must never leave out a key that could pass: what comes out is filtered again, row by row.

use super::Value;
use super::filter::{Expression, Operator};
use super::key::{PARTITION_KEY, ROW_KEY};
use alloc::vec;
use alloc::vec::Vec;
use zaffre_base::key::{push_name, successor};
use zaffre_base::limits::QUERY_RANGES;

/// A run of keys as [`super::EntityKey::bytes`] orders them: from `start` up to, and without, `end`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first key that may be in it.
    pub start: Vec<u8>,
    /// The first key after it; `None` = to the last key.
    pub end: Option<Vec<u8>>,
}

impl Range {
    /// Every key.
    pub const ALL: Self = Self { start: Vec::new(), end: None };

    fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The keys that are in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        Self { start: self.start.clone().max(other.start.clone()), end }
    }

    /// Whether a key lies in it.
    pub fn holds(&self, key: &[u8]) -> bool {
        *key >= *self.start && self.end.as_ref().is_none_or(|end| *key < **end)
    }

    /// Keys between two entities, both included; a bound may name a whole partition.
    pub fn between(
        first: Option<(&str, Option<&str>)>,
        last: Option<(&str, Option<&str>)>,
    ) -> Self {
        let bytes = |(partition, row): (&str, Option<&str>)| {
            let mut bytes = name(partition);
            if let Some(row) = row {
                push_name(&mut bytes, row);
            }
            bytes
        };
        let start = first.map(bytes).unwrap_or_default();
        Self { start, end: last.map(bytes).and_then(|last| successor(&last)) }
    }
}

fn name(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_name(&mut bytes, text);
    bytes
}

/// A set of entities by both keys: PartitionKey in one range and RowKey in another.
#[derive(Clone, Debug)]
struct Area {
    partition: Range,
    row: Range,
}

impl Area {
    const ALL: Self = Self { partition: Range::ALL, row: Range::ALL };

    fn and(&self, other: &Self) -> Self {
        Self { partition: self.partition.and(&other.partition), row: self.row.and(&other.row) }
    }

    fn is_empty(&self) -> bool {
        self.partition.is_empty() || self.row.is_empty()
    }

    /// The keys to read. A range of rows helps only inside one partition.
    fn keys(&self) -> Range {
        let partition = &self.partition;
        let single =
            partition.start.ends_with(&[0, 0]) && partition.end == successor(&partition.start);
        if !single {
            return partition.clone();
        }
        let join = |row: &Vec<u8>| [partition.start.as_slice(), row].concat();
        let end = self.row.end.as_ref().map(join).or_else(|| partition.end.clone());
        Range { start: join(&self.row.start), end }
    }
}

/// The runs of keys to read, in order and apart; none if nothing can pass.
pub fn ranges(filter: Option<&Expression>) -> Vec<Range> {
    let areas = filter.map_or_else(|| vec![Area::ALL], areas);
    let mut ranges: Vec<Range> = areas.iter().map(Area::keys).collect();
    ranges.sort_by(|a, b| a.start.cmp(&b.start));
    let mut apart: Vec<Range> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end >= range.start) => {
                let further = match (&last.end, &range.end) {
                    (Some(a), Some(b)) => Some(a.max(b).clone()),
                    _ => None,
                };
                last.end = further;
            }
            _ => apart.push(range),
        }
    }
    apart
}

/// Areas that together hold everything that can pass; at most [`QUERY_RANGES`].
fn areas(filter: &Expression) -> Vec<Area> {
    match filter {
        Expression::Or(all) => {
            let mut found: Vec<Area> = Vec::new();
            for one in all {
                found.extend(areas(one));
                if found.len() > QUERY_RANGES {
                    return vec![Area::ALL];
                }
            }
            found
        }
        Expression::And(all) => {
            let mut found = vec![Area::ALL];
            for one in all {
                let next = areas(one);
                if found.len() * next.len() > QUERY_RANGES {
                    continue; // Too many to combine: what was found so far holds more, and that is safe.
                }
                let both = found.iter().flat_map(|a| next.iter().map(|b| a.and(b)));
                found = both.filter(|area| !area.is_empty()).collect();
            }
            found
        }
        Expression::Compare { property, operator, value } => compare(property, *operator, value),
        Expression::Constant(false) => Vec::new(),
        Expression::Not(_) | Expression::Property(_) | Expression::Constant(true) => {
            vec![Area::ALL]
        }
    }
}

fn compare(property: &str, operator: Operator, value: &Value) -> Vec<Area> {
    let partition = property == PARTITION_KEY;
    if !partition && property != ROW_KEY {
        return vec![Area::ALL];
    }
    let Value::String(text) = value else {
        // A key is a text and sorts below every constant of another type.
        let below = matches!(operator, Operator::Ne | Operator::Lt | Operator::Le);
        return if below { vec![Area::ALL] } else { Vec::new() };
    };
    let Some(range) = key_range(operator, text) else { return Vec::new() };
    let (partition, row) = if partition { (range, Range::ALL) } else { (Range::ALL, range) };
    vec![Area { partition, row }]
}

/// The keys for which the comparison holds, as [`push_name`] writes one key.
fn key_range(operator: Operator, text: &str) -> Option<Range> {
    // No key holds U+0000, which ends it in bytes: cut there, the text lies right after what is left.
    let (text, cut) = match text.split_once('\0') {
        Some((before, _)) => (before, true),
        None => (text, false),
    };
    let from = name(text);
    let past = successor(&from);
    let above = |start| Range { start, end: None };
    let below = |end| Range { start: Vec::new(), end };
    Some(match (operator, cut) {
        (Operator::Ne, _) => Range::ALL,
        (Operator::Eq, true) => return None,
        (Operator::Eq, false) => Range { start: from, end: past },
        (Operator::Ge, false) => above(from),
        (Operator::Gt, _) | (Operator::Ge, true) => above(past?),
        (Operator::Lt, false) => below(Some(from)),
        (Operator::Le, _) | (Operator::Lt, true) => below(past),
    })
}

#[cfg(test)]
mod tests {
    use super::super::EntityKey;
    use super::super::filter::parse;
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn plan(text: &str) -> Vec<Range> {
        ranges(parse(text).expect("a filter").as_ref())
    }

    /// Which of nine entities lie in the plan.
    fn hits(text: &str) -> String {
        let plan = plan(text);
        let mut shown = Vec::new();
        for partition in ["a", "b", "c"] {
            for row in ["1", "2", "3"] {
                let key = EntityKey::new(partition, row).expect("legal").bytes();
                if plan.iter().any(|range| range.holds(&key)) {
                    shown.push(format!("{partition}{row}"));
                }
            }
        }
        shown.join(" ")
    }

    #[test]
    fn plans() {
        const EVERY: &str = "a1 a2 a3 b1 b2 b3 c1 c2 c3";
        for (text, want, runs) in [
            ("", EVERY, 1),
            ("x eq 1", EVERY, 1),
            ("PartitionKey eq 'b'", "b1 b2 b3", 1),
            ("PartitionKey eq 'b' and RowKey eq '2'", "b2", 1),
            ("RowKey eq '2' and x eq 1 and 'b' eq PartitionKey", "b2", 1),
            ("PartitionKey eq 'b' and RowKey gt '1' and RowKey le '3'", "b2 b3", 1),
            ("PartitionKey eq 'b' and RowKey ge '2'", "b2 b3", 1),
            ("PartitionKey eq 'b' and RowKey lt '2'", "b1", 1),
            ("PartitionKey gt 'a' and PartitionKey lt 'c'", "b1 b2 b3", 1),
            ("PartitionKey ge 'b'", "b1 b2 b3 c1 c2 c3", 1),
            ("PartitionKey le 'a' or PartitionKey eq 'c'", "a1 a2 a3 c1 c2 c3", 2),
            ("(PartitionKey eq 'a' or PartitionKey eq 'c') and RowKey eq '2'", "a2 c2", 2),
            ("PartitionKey eq 'a' and PartitionKey eq 'b'", "", 0),
            ("RowKey eq '2'", EVERY, 1),
            ("PartitionKey ne 'b'", EVERY, 1),
            ("not (PartitionKey eq 'b')", EVERY, 1),
            ("PartitionKey eq 5", "", 0),
            ("PartitionKey lt 5", EVERY, 1),
            ("PartitionKey eq 'a' and (RowKey eq '1' or x eq 1)", "a1 a2 a3", 1),
            ("false", "", 0),
            ("PartitionKey eq 'a' or x", EVERY, 1),
            ("PartitionKey eq 'a\0'", "", 0),
            ("PartitionKey gt 'a\0'", "b1 b2 b3 c1 c2 c3", 1),
            ("PartitionKey lt 'a\0z'", "a1 a2 a3", 1),
        ] {
            assert_eq!(hits(text), want, "{text}");
            assert_eq!(plan(text).len(), runs, "{text}");
        }
    }

    #[test]
    fn too_many_ranges_become_fewer() {
        let many = |n: usize| {
            let each: Vec<String> = (0..n).map(|i| format!("PartitionKey eq '{i:04}'")).collect();
            plan(&each.join(" or ")).len()
        };
        assert_eq!(many(128), 128);
        assert_eq!(many(129), 1);
        let of = |key: &str, n: usize| {
            let each: Vec<String> = (0..n).map(|i| format!("{key} eq '{i:04}'")).collect();
            format!("({})", each.join(" or "))
        };
        for (partitions, rows, want) in
            [(2, 3, 6), (16, 8, 128), (8, 16, 128), (43, 3, 43), (3, 43, 3), (128, 1, 128)]
        {
            let text = format!("{} and {}", of("PartitionKey", partitions), of("RowKey", rows));
            assert_eq!(plan(&text).len(), want, "{partitions} x {rows}");
        }
    }

    #[test]
    fn between_is_inclusive_and_lexicographic() {
        let range = Range::between(Some(("a", Some("2"))), Some(("b", Some("2"))));
        let of = |p: &str, r: &str| EntityKey::new(p, r).expect("legal").bytes();
        for (p, r, inside) in [
            ("a", "1", false),
            ("a", "2", true),
            ("a", "3", true),
            ("aa", "0", true),
            ("b", "2", true),
            ("b", "21", false),
            ("b", "3", false),
            ("c", "0", false),
        ] {
            assert_eq!(range.holds(&of(p, r)), inside, "{p} {r}");
        }
        let whole = Range::between(Some(("b", None)), Some(("b", None)));
        assert!(whole.holds(&of("b", "")) && whole.holds(&of("b", "\u{FFFF}")));
        assert!(!whole.holds(&of("ba", "")) && !whole.holds(&of("a", "z")));
    }
}
