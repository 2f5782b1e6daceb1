//! Laws of ranges, listings, block lists and metadata.

use proptest::prelude::*;
use std::collections::BTreeSet;
use zaffre_base::ApiVersion;
use zaffre_base::key::push_name;
use zaffre_domain::Refusal;
use zaffre_domain::blob::block_list::{Found, resolve};
use zaffre_domain::blob::listing::{Listed, key_after, listed};
use zaffre_domain::blob::{BlockListEntry, BlockSource, metadata, range};

const NEW: ApiVersion = ApiVersion::LATEST;

fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    push_name(&mut key, name);
    key
}

/// A listing as core makes it: one scan in key order, seeking past every group.
fn scan(names: &BTreeSet<Vec<u8>>, prefix: &str, delimiter: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let mut from = Vec::new();
    while let Some(next) = names.range(from.clone()..).next() {
        let (name, _) = zaffre_base::key::split_name(next).expect("a name");
        match listed(prefix, Some(delimiter), &name) {
            None => from = [next.clone(), vec![0]].concat(),
            Some(Listed::Blob) => {
                shown.push(name.clone());
                from = [next.clone(), vec![0]].concat();
            }
            Some(Listed::Prefix(group)) => {
                shown.push(format!("group {group}"));
                match key_after(group) {
                    Some(after) => from = after,
                    None => break,
                }
            }
        }
    }
    shown
}

/// What a listing must show: every name cut behind its first delimiter, each cut once.
fn naive(names: &[String], prefix: &str, delimiter: &str) -> BTreeSet<String> {
    let cut = |name: &String| {
        let rest = name.strip_prefix(prefix)?;
        match rest.split_once(delimiter) {
            Some((head, _)) if !delimiter.is_empty() => {
                Some(format!("group {prefix}{head}{delimiter}"))
            }
            _ => Some(name.clone()),
        }
    };
    names.iter().filter_map(cut).collect()
}

fn entry() -> impl Strategy<Value = BlockListEntry> {
    let sources = [BlockSource::Committed, BlockSource::Uncommitted, BlockSource::Latest];
    (prop::sample::select(sources.to_vec()), 0_u8..6)
        .prop_map(|(source, id)| BlockListEntry { source, id: vec![id] })
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn any_text_is_a_range_or_is_ignored(text in ".{0,40}", length in any::<u64>()) {
        if let Some((first, last)) = range::parse(&text, NEW) {
            prop_assert!(last.is_none_or(|last| last >= first));
            let _ = range::clip((first, last), length, NEW);
        }
    }

    #[test]
    fn what_is_sent_lies_in_the_range_and_in_the_content(
        first in 0_u64..50,
        last in prop::option::of(0_u64..50),
        length in 0_u64..50,
    ) {
        let text = format!("bytes={first}-{}", last.map_or(String::new(), |l| l.to_string()));
        let asked = range::parse(&text, NEW);
        let forward = last.is_none_or(|last| last >= first);
        prop_assert_eq!(asked, forward.then_some((first, last)));
        if let Some(asked) = asked {
            let wanted: Vec<u64> =
                (0..length).filter(|at| *at >= first && last.is_none_or(|l| *at <= l)).collect();
            let got = match range::clip(asked, length, NEW) {
                Ok(Some(span)) => (span.offset..span.offset + span.length).collect(),
                Ok(None) => (0..length).collect(),
                Err(refusal) => {
                    prop_assert_eq!(refusal, Refusal::InvalidRange { length });
                    vec![]
                }
            };
            prop_assert_eq!(got, wanted);
        }
    }

    #[test]
    fn a_listing_with_seeks_shows_what_a_full_one_would(
        names in prop::collection::vec("[ab/\u{FFFF}\u{10000}]{1,5}", 0..20),
        prefix in "[ab/]{0,2}",
        delimiter in prop::sample::select(vec!["", "/", "a/", "\u{FFFF}"]),
    ) {
        let keys = names.iter().map(|name| key(name)).collect();
        let shown = scan(&keys, &prefix, delimiter);
        let unique: BTreeSet<String> = shown.iter().cloned().collect();
        prop_assert_eq!(unique.len(), shown.len(), "nothing twice");
        prop_assert_eq!(unique, naive(&names, &prefix, delimiter));
    }

    #[test]
    fn a_block_list_takes_every_block_from_where_it_says(
        entries in prop::collection::vec(entry(), 0..8),
        committed in prop::collection::btree_set(0_u8..6, 0..6),
        staged in prop::collection::btree_set(0_u8..6, 0..6),
    ) {
        let has = |set: &BTreeSet<u8>, id: &[u8]| set.contains(&id[0]).then_some(id[0]);
        let got = resolve(&entries, |id| has(&committed, id), |id| has(&staged, id));
        let mixed = entries.iter().any(|a| {
            entries.iter().any(|b| a.id == b.id && a.source != b.source)
        });
        let wanted: Option<Vec<(Found, u8)>> = entries
            .iter()
            .map(|entry| {
                let id = entry.id[0];
                let from_stage = staged.contains(&id) && entry.source != BlockSource::Committed;
                let from_blob = committed.contains(&id) && entry.source != BlockSource::Uncommitted;
                match (from_stage, from_blob) {
                    (true, _) => Some((Found::Staged, id)),
                    (false, true) => Some((Found::Committed, id)),
                    (false, false) => None,
                }
            })
            .collect();
        let wanted = wanted.filter(|_| !mixed).ok_or(Refusal::InvalidBlockList);
        let got = got.map(|list| list.into_iter().map(|r| (r.found, r.block)).collect::<Vec<_>>());
        prop_assert_eq!(got, wanted);
    }

    #[test]
    fn metadata_comes_back_as_sent_or_is_refused(
        pairs in prop::collection::vec(("[aAb_1-]{0,3}", "[ -~\u{7}é]{0,4}"), 0..5),
    ) {
        let sent = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        if let Ok(kept) = metadata::collect(sent) {
            prop_assert_eq!(kept.len(), pairs.len());
            for (name, value) in &pairs {
                prop_assert_eq!(kept.get(name), Some(value));
            }
        }
    }
}
