//! Filters against a naive model: random trees, written as text, read, planned and evaluated.

use proptest::prelude::*;
use std::cmp::Ordering;
use zaffre_base::{Guid, Stamp, Timestamp};
use zaffre_domain::table::filter::{matches, parse};
use zaffre_domain::table::plan::ranges;
use zaffre_domain::table::value::date_text;
use zaffre_domain::table::{Entity, EntityKey, Properties, Value as Edm};

/// A filter as the model has it.
#[derive(Clone, Debug)]
enum Tree {
    Or(Vec<Tree>),
    And(Vec<Tree>),
    Not(Box<Tree>),
    Compare(&'static str, &'static str, Edm, bool),
    Name(&'static str),
    Truth(bool),
}

const NAMES: [&str; 6] = ["PartitionKey", "RowKey", "a", "b", "c", "größe"];
const WORDS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];
const TEXTS: [&str; 7] = ["", "a", "b", "B", "it's", "\u{10000}", "\u{FFFD}"];

fn value() -> impl Strategy<Value = Edm> {
    prop_oneof![
        4 => prop::sample::select(&TEXTS[..]).prop_map(|t| Edm::String(t.to_owned())),
        2 => (-2_i32..3).prop_map(Edm::Int32),
        2 => prop_oneof![Just(1_i64 << 40), -2_i64..3].prop_map(Edm::Int64),
        2 => prop_oneof![Just(-1.5), Just(0.0), Just(1.0), Just(1e300), Just(-2.5e-7)]
            .prop_map(Edm::Double),
        2 => any::<bool>().prop_map(Edm::Boolean),
        1 => (0_u64..3).prop_map(|n| Edm::DateTime(Timestamp(630_000_000_000_000_000 + n))),
        1 => (0_u128..3).prop_map(|n| Edm::Guid(Guid(n << 100))),
        1 => prop::collection::vec(0_u8..2, 0..3).prop_map(Edm::Binary),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let text = prop::sample::select(&TEXTS[..]).prop_map(|t| Edm::String(t.to_owned()));
    let names = prop::sample::select(&NAMES[..]);
    let words = prop::sample::select(&WORDS[..]);
    let compare = (names, words.clone(), value(), any::<bool>());
    let keys = (prop::sample::select(&NAMES[..2]), words, text, any::<bool>());
    let leaf = prop_oneof![
        4 => compare.prop_map(|(n, w, v, flip)| Tree::Compare(n, w, v, flip)),
        4 => keys.prop_map(|(n, w, v, flip)| Tree::Compare(n, w, v, flip)),
        1 => prop::sample::select(&NAMES[2..]).prop_map(Tree::Name),
        1 => any::<bool>().prop_map(Tree::Truth),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::Or),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Tree::And),
            inner.prop_map(|one| Tree::Not(Box::new(one))),
        ]
    })
}

fn literal(value: &Edm) -> String {
    match value {
        Edm::String(text) => format!("'{}'", text.replace('\'', "''")),
        Edm::Int32(n) => n.to_string(),
        Edm::Int64(n) => format!("{n}L"),
        Edm::Double(n) => format!("{n:?}"),
        Edm::Boolean(b) => b.to_string(),
        Edm::DateTime(at) => format!("datetime'{}'", date_text(*at)),
        Edm::Guid(guid) => format!("guid'{guid}'"),
        Edm::Binary(bytes) => {
            let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("X'{}'", hex.concat())
        }
    }
}

fn text(tree: &Tree) -> String {
    let join = |all: &[Tree], word: &str| {
        let all: Vec<String> = all.iter().map(|one| format!("({})", text(one))).collect();
        all.join(word)
    };
    match tree {
        Tree::Or(all) => join(all, " or "),
        Tree::And(all) => join(all, " and "),
        Tree::Not(one) => format!("not ({})", text(one)),
        Tree::Compare(name, word, value, true) => {
            let mirrored = match *word {
                "gt" => "lt",
                "ge" => "le",
                "lt" => "gt",
                "le" => "ge",
                same => same,
            };
            format!("{} {mirrored} {name}", literal(value))
        }
        Tree::Compare(name, word, value, false) => format!("{name} {word} {}", literal(value)),
        Tree::Name(name) => (*name).to_owned(),
        Tree::Truth(value) => value.to_string(),
    }
}

/// The order of a property against a constant, by the documentation's table.
fn order(property: &Edm, constant: &Edm) -> Option<Ordering> {
    #[expect(clippy::cast_precision_loss, reason = "the model's numbers are small")]
    let number = |value: &Edm| match value {
        Edm::Int32(n) => Some(f64::from(*n)),
        Edm::Int64(n) => Some(*n as f64),
        Edm::Double(n) => Some(*n),
        _ => None,
    };
    let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    match (property, constant) {
        (Edm::String(a), Edm::String(b)) => Some(utf16(a).cmp(&utf16(b))),
        (Edm::Boolean(a), Edm::Boolean(b)) => Some(a.cmp(b)),
        (Edm::DateTime(a), Edm::DateTime(b)) => Some(a.cmp(b)),
        (Edm::Guid(a), Edm::Guid(b)) => Some(a.to_string().cmp(&b.to_string())),
        (Edm::Binary(a), Edm::Binary(b)) => Some(a.cmp(b)),
        (Edm::Int32(_), Edm::Int32(_))
        | (Edm::Int64(_), Edm::Int32(_) | Edm::Int64(_))
        | (Edm::Double(_), Edm::Int32(_) | Edm::Int64(_) | Edm::Double(_)) => {
            number(property)?.partial_cmp(&number(constant)?)
        }
        _ => None,
    }
}

fn model(tree: &Tree, entity: &Entity) -> bool {
    match tree {
        Tree::Or(all) => all.iter().any(|one| model(one, entity)),
        Tree::And(all) => all.iter().all(|one| model(one, entity)),
        Tree::Not(one) => !model(one, entity),
        Tree::Truth(value) => *value,
        Tree::Name(name) => entity.properties.get(name) == Some(&Edm::Boolean(true)),
        Tree::Compare(name, word, value, _) => {
            let property = match *name {
                "PartitionKey" => Some(Edm::String(entity.key.partition().to_owned())),
                "RowKey" => Some(Edm::String(entity.key.row().to_owned())),
                name => entity.properties.get(name).cloned(),
            };
            let Some(property) = property else { return false };
            match (order(&property, value), *word) {
                (None, "ne" | "lt" | "le") => true,
                (None, _) => false,
                (Some(order), "eq") => order == Ordering::Equal,
                (Some(order), "ne") => order != Ordering::Equal,
                (Some(order), "gt") => order == Ordering::Greater,
                (Some(order), "ge") => order != Ordering::Less,
                (Some(order), "lt") => order == Ordering::Less,
                (Some(order), _) => order != Ordering::Greater,
            }
        }
    }
}

fn entity() -> impl Strategy<Value = Entity> {
    let key = || prop::sample::select(&TEXTS[..]);
    let property = || prop::option::weighted(0.7, value());
    (key(), key(), [property(), property(), property(), property()]).prop_map(|(p, r, values)| {
        let pairs = NAMES[2..].iter().zip(values);
        let pairs = pairs.filter_map(|(n, v)| Some(((*n).to_owned(), v?))).collect();
        Entity {
            key: EntityKey::new(p, r).expect("legal"),
            written: Stamp(1),
            properties: Properties::new(pairs).expect("legal"),
        }
    })
}

proptest! {
    #![proptest_config(super::config())]

    /// The evaluator agrees with the model, and the plan holds every entity that passes.
    #[test]
    fn evaluator_and_planner_agree_with_the_model(
        tree in tree(),
        entities in prop::collection::vec(entity(), 8),
    ) {
        let text = text(&tree);
        let filter = parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e:?}")))?;
        let filter = filter.ok_or_else(|| TestCaseError::fail("empty"))?;
        let plan = ranges(Some(&filter));
        prop_assert!(plan.windows(2).all(|pair| {
            pair[0].end.as_ref().is_some_and(|end| *end < pair[1].start)
        }), "{text}: {plan:?}");
        for entity in &entities {
            let want = model(&tree, entity);
            prop_assert_eq!(matches(&filter, entity), want, "{} on {:?}", text, entity);
            let planned = plan.iter().any(|range| range.holds(&entity.key.bytes()));
            prop_assert!(planned || !want, "{text} leaves out {entity:?}");
        }
    }

    /// Whatever is sent is read or refused, and never in more time than it is long.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z'() 0-9.LeqX-]{0,60}|\\PC{0,40}") {
        if let Ok(Some(filter)) = parse(&text) {
            ranges(Some(&filter));
        }
    }
}
