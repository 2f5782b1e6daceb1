//! Tags: what is stored, what conditions see, and an index that always shows what the heads say.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use support::{
    ACCOUNT, CONTEXT, World, commit, delete, get, list, must, path, put, refused, strict,
    version_of, worlds,
};
use zaffre_base::{AccountName, ContainerName, Guid};
use zaffre_core::Error;
use zaffre_core::blob::op::{
    DeleteBlob, FindBlobsByTags, GetBlob, GetBlobTags, ListBlobs, PutBlob, PutBlockList,
    SetBlobTags,
};
use zaffre_core::blob::reply::{FoundPage, ListEntry};
use zaffre_core::blob::{
    delete_blob, find_blobs_by_tags, get_blob_tags, put_block_list, set_blob_tags,
};
use zaffre_core::settings::AccountSettings;
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::blob::tags::{self, FindExpression, FindScope, Predicate, Tags};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::Store;
use zaffre_testkit::{Random, seeds};

fn of(pairs: &[(&str, &str)]) -> Tags {
    must(tags::collect(pairs.iter().copied()))
}

fn if_tags(text: &str) -> Conditions {
    Conditions { if_tags: Some(must(Predicate::parse(text))), ..Conditions::default() }
}

async fn set(world: &World, at: &str, tags: Tags, conditions: Conditions) -> Result<(), Error> {
    let op = SetBlobTags { at: path(at), tags, lease: None, conditions };
    set_blob_tags(&world.core, world.ok(op)).await
}

async fn tags_of(world: &World, at: &str) -> Result<Tags, Error> {
    let conditions = Conditions::default();
    let op = GetBlobTags { at: path(at), lease: None, conditions, context: CONTEXT };
    get_blob_tags(&world.core, world.ok(op)).await
}

async fn page(
    world: &World,
    container: Option<&str>,
    text: &str,
    size: u32,
    marker: Option<String>,
) -> Result<FoundPage, Error> {
    let scope = if container.is_some() { FindScope::Container } else { FindScope::Account };
    let op = FindBlobsByTags {
        account: must(AccountName::parse(ACCOUNT)),
        container: container.map(|name| must(ContainerName::parse(name))),
        expression: must(FindExpression::parse(text, scope)),
        include_versions: false,
        marker,
        max_results: size,
    };
    find_blobs_by_tags(&world.core, world.ok(op)).await
}

/// All pages, as `container/blob` in the order found.
async fn found(world: &World, container: Option<&str>, text: &str, size: u32) -> Vec<String> {
    let mut names = Vec::new();
    let mut marker = None;
    loop {
        let page = must(page(world, container, text, size, marker).await);
        assert!(page.blobs.len() <= usize::try_from(size).unwrap_or(0));
        names.extend(page.blobs.iter().map(|b| format!("{}/{}", b.container, b.name)));
        marker = page.next;
        if marker.is_none() {
            return names;
        }
    }
}

#[tokio::test]
async fn tags_come_back_and_change_nothing_else() {
    for world in worlds() {
        must(world.create("photos").await);
        let op = PutBlob { tags: of(&[("a", "1")]), ..put("photos/x") };
        let written = must(world.put_with(op, "hello").await);
        assert_eq!(must(tags_of(&world, "photos/x").await), of(&[("a", "1")]));
        must(set(&world, "photos/x", of(&[("b", "2"), ("c", "")]), Conditions::default()).await);
        let view = must(world.properties("photos/x").await);
        assert_eq!((view.written, view.tags.len()), (written, 2), "the ETag stays");
        // Setting metadata keeps the tags, writing the blob again does not.
        must(world.set_metadata("photos/x", "m", "1", Conditions::default()).await);
        assert_eq!(must(tags_of(&world, "photos/x").await).len(), 2);
        must(world.put("photos/x", "hello").await);
        assert_eq!(must(tags_of(&world, "photos/x").await), Tags::new());
        must(world.stage("photos/x", "1", "abc").await);
        let op = PutBlockList { tags: of(&[("d", "4")]), ..commit("photos/x", &[(Latest, "1")]) };
        must(put_block_list(&world.core, world.ok(op)).await);
        assert_eq!(must(tags_of(&world, "photos/x").await), of(&[("d", "4")]));
        let shown = must(world.list(ListBlobs { include_tags: true, ..list("photos") }).await);
        let Some(ListEntry::Blob(shown)) = shown.entries.first() else { panic!("one blob") };
        assert_eq!(shown.tags, of(&[("d", "4")]));
        assert_eq!(refused(tags_of(&world, "photos/none").await), Refusal::BlobNotFound);
        assert_eq!(refused(tags_of(&world, "none/x").await), Refusal::ContainerNotFound);
    }
}

#[tokio::test]
async fn conditions_see_the_tags() {
    for world in worlds() {
        must(world.create("photos").await);
        let tagged = |value| PutBlob { tags: of(&[("a", value)]), ..put("photos/x") };
        must(world.put_with(tagged("1"), "hello").await);
        for (text, holds) in [("a = '1'", true), ("a <> '1'", false), ("b = '1'", false)] {
            let read = GetBlob { conditions: if_tags(text), ..get("photos/x") };
            let write = PutBlob { conditions: if_tags(text), ..tagged("1") };
            let results = [
                world.get_with(read).await.map(|_| ()),
                world.put_with(write, "hello").await.map(|_| ()),
                world.set_metadata("photos/x", "m", "1", if_tags(text)).await.map(|_| ()),
                set(&world, "photos/x", of(&[("a", "1")]), if_tags(text)).await,
            ];
            for result in results {
                if holds {
                    must(result);
                } else {
                    assert_eq!(refused(result), Refusal::ConditionNotMet, "{text}");
                }
            }
        }
        let result = world.delete_with("photos/x", None, if_tags("a = '2'")).await;
        assert_eq!(refused(result), Refusal::ConditionNotMet);
        must(world.lease("photos/x", support::acquire(None, 1)).await);
        let result = set(&world, "photos/x", Tags::new(), Conditions::default()).await;
        assert_eq!(refused(result), Refusal::LeaseIdMissing(LeaseOn::Blob));
        let op = GetBlobTags {
            at: path("photos/x"),
            lease: Some(Guid(9)),
            conditions: Conditions::default(),
            context: CONTEXT,
        };
        let result = get_blob_tags(&world.core, world.ok(op)).await;
        assert_eq!(refused(result), Refusal::LeaseIdMismatch(LeaseOn::Blob));
    }
}

#[tokio::test]
async fn searches_span_containers_and_pages() {
    for world in worlds() {
        let mut all = Vec::new();
        for container in ["aaa", "bbb", "ccc", "empty", "zzz"] {
            must(world.create(container).await);
            if container == "empty" {
                continue;
            }
            for n in 0..7 {
                let at = format!("{container}/{n}");
                let pairs = [("kind", "photo"), ("n", &n.to_string())];
                must(world.put_with(PutBlob { tags: of(&pairs), ..put(&at) }, "x").await);
                all.push(at);
            }
            must(world.put(&format!("{container}/untagged"), "x").await);
        }
        for size in [1, 3, 5, 7, 28, 5000] {
            assert_eq!(found(&world, None, "kind = 'photo'", size).await, all, "{size}");
            let some = found(&world, None, "n >= '2' AND n < '4'", size).await;
            let want = ["aaa/2", "aaa/3", "bbb/2", "bbb/3", "ccc/2", "ccc/3", "zzz/2", "zzz/3"];
            assert_eq!(some, want, "{size}");
            let one = found(&world, None, "n > '5' AND @container = 'bbb'", size).await;
            assert_eq!(one, ["bbb/6"]);
            assert_eq!(found(&world, Some("ccc"), "n = '1'", size).await, ["ccc/1"]);
            let both = found(&world, Some("aaa"), "kind = 'photo' AND n <= '1'", size).await;
            assert_eq!(both, ["aaa/0", "aaa/1"]);
        }
        assert!(found(&world, None, "@container = 'none' AND n = '1'", 5).await.is_empty());
        assert!(found(&world, None, "kind = 'video'", 5).await.is_empty());
        let missing = page(&world, Some("none"), "n = '1'", 5, None).await;
        assert_eq!(refused(missing), Refusal::ContainerNotFound);
        let shown = must(page(&world, Some("aaa"), "n = '1'", 5, None).await);
        assert_eq!(shown.blobs[0].tags, of(&[("n", "1")]), "only what was asked about");
        let bad = page(&world, None, "n = '1'", 5, Some("nonsense".to_owned())).await;
        assert_eq!(refused(bad), Refusal::InvalidMarker);
        // A deleted container takes its tags along, and one of the same name starts without.
        must(world.delete_container("bbb").await);
        world.advance(31);
        must(world.create("bbb").await);
        assert!(found(&world, Some("bbb"), "kind = 'photo'", 5).await.is_empty());
        assert_eq!(found(&world, None, "n = '1'", 5).await, ["aaa/1", "ccc/1", "zzz/1"]);
    }
}

/// What the index says, row by row, and what the heads say.
async fn compare_index(world: &World, blobs: &BTreeMap<String, Tags>) {
    let rows = world.rows("photos").await;
    let rows: BTreeSet<Vec<u8>> =
        rows.into_iter().filter(|key| key.get(8) == Some(&b'T')).collect();
    let mut want = 0;
    for (name, tags) in blobs {
        for (tag, value) in tags {
            let text = format!("\"{tag}\" = '{value}'");
            let names = found(world, Some("photos"), &text, 3).await;
            assert!(names.contains(&format!("photos/{name}")), "{name} {text}");
            want += 1;
        }
    }
    assert_eq!(rows.len(), want, "no row too many");
}

#[test]
fn the_index_shows_what_the_heads_say() {
    for seed in seeds(6) {
        println!("seed {seed}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        must(runtime).block_on(async {
            let world = World::new(must(Store::strict(strict(seed))));
            must(world.create("photos").await);
            let mut random = Random(seed);
            let mut model: BTreeMap<String, Tags> = BTreeMap::new();
            for _ in 0..60 {
                let name = format!("b{}", random.below(5));
                let at = format!("photos/{name}");
                let mut tags = Tags::new();
                for _ in 0..random.below(4) {
                    tags.insert(format!("t{}", random.below(3)), format!("{}", random.below(3)));
                }
                match random.below(5) {
                    0 | 1 => {
                        let op = PutBlob { tags: tags.clone(), ..put(&at) };
                        must(world.put_with(op, "x").await);
                        model.insert(name, tags);
                    }
                    2 => {
                        must(world.stage(&at, "1", "abc").await);
                        let op =
                            PutBlockList { tags: tags.clone(), ..commit(&at, &[(Latest, "1")]) };
                        must(put_block_list(&world.core, world.ok(op)).await);
                        model.insert(name, tags);
                    }
                    3 => {
                        let result = set(&world, &at, tags.clone(), Conditions::default()).await;
                        match model.get_mut(&name) {
                            Some(slot) => {
                                must(result);
                                *slot = tags;
                            }
                            None => assert_eq!(refused(result), Refusal::BlobNotFound),
                        }
                    }
                    _ => assert_eq!(world.delete(&at).await.is_ok(), model.remove(&name).is_some()),
                }
            }
            compare_index(&world, &model).await;
            must(world.delete_container("photos").await);
            world.advance(31);
            world.sweep().await;
            assert!(world.rows("photos").await.is_empty(), "a purge leaves no index behind");
        });
    }
}

/// All pages of a search that includes versions, as blob and whether it is current.
async fn with_versions(world: &World, text: &str, size: u32) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    let mut marker = None;
    loop {
        let op = FindBlobsByTags {
            account: must(AccountName::parse(ACCOUNT)),
            container: None,
            expression: must(FindExpression::parse(text, FindScope::Account)),
            include_versions: true,
            marker,
            max_results: size,
        };
        let page = must(find_blobs_by_tags(&world.core, world.ok(op)).await);
        all.extend(page.blobs.into_iter().map(|b| (b.name.to_string(), b.current)));
        marker = page.next;
        if marker.is_none() {
            return all;
        }
    }
}

#[tokio::test]
async fn versions_keep_their_tags_and_are_found_when_asked_for() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(AccountSettings { versioning: true, ..AccountSettings::default() });
        let tagged = |value| PutBlob { tags: of(&[("a", value)]), ..put("photos/x") };
        let first = must(world.put_with(tagged("1"), "one").await);
        must(world.put_with(tagged("1"), "two").await);
        must(world.put_with(tagged("2"), "three").await);
        let old = version_of("photos/x", first.version.expect("an id"));
        for size in [1, 2, 5000] {
            assert!(found(&world, None, "a = '1'", size).await.is_empty(), "no current one");
            let versions = with_versions(&world, "a = '1'", size).await;
            assert_eq!(versions, [("x".to_owned(), false), ("x".to_owned(), false)]);
            let all = with_versions(&world, "a > '0'", size).await;
            assert_eq!(all.iter().filter(|(_, current)| *current).count(), 1);
            assert_eq!(all.len(), 3);
        }
        let conditions = Conditions::default();
        let op = GetBlobTags { at: old.clone(), lease: None, conditions, context: CONTEXT };
        assert_eq!(must(get_blob_tags(&world.core, world.ok(op)).await), of(&[("a", "1")]));
        let conditions = Conditions::default();
        let op = SetBlobTags { at: old.clone(), tags: of(&[("b", "9")]), lease: None, conditions };
        must(set_blob_tags(&world.core, world.ok(op)).await);
        assert_eq!(with_versions(&world, "b = '9'", 5).await, [("x".to_owned(), false)]);
        assert_eq!(with_versions(&world, "a = '1'", 5).await.len(), 1);
        must(world.delete("photos/x").await);
        assert!(found(&world, None, "a = '2'", 5).await.is_empty(), "it is a version now");
        assert_eq!(with_versions(&world, "a = '2'", 5).await, [("x".to_owned(), false)]);
        let gone = DeleteBlob { at: old, ..delete("photos/x") };
        must(delete_blob(&world.core, world.ok(gone)).await);
        assert!(with_versions(&world, "b = '9'", 5).await.is_empty(), "gone with its version");
    }
}

/// A state machine kept in a tag: each step must be taken by exactly one of many.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_moves_the_tag_on() {
    for world in worlds() {
        must(world.create("photos").await);
        let op = PutBlob { tags: of(&[("step", "0")]), ..put("photos/x") };
        must(world.put_with(op, "x").await);
        for step in 0..20 {
            let (from, to) = (format!("step = '{step}'"), (step + 1).to_string());
            let tasks: Vec<_> = (0..16)
                .map(|n| {
                    let (world, from, to) = (world.clone(), from.clone(), to.clone());
                    tokio::spawn(async move {
                        let tags = of(&[("step", &to), ("by", &n.to_string())]);
                        set(&world, "photos/x", tags, if_tags(&from)).await
                    })
                })
                .collect();
            let mut winners = 0;
            for task in tasks {
                match must(task.await) {
                    Ok(()) => winners += 1,
                    Err(Error::Refused(Refusal::ConditionNotMet)) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            assert_eq!(winners, 1, "step {step}");
            let text = format!("step = '{to}'");
            assert_eq!(found(&world, None, &text, 5).await, ["photos/x"]);
            assert!(found(&world, None, &from, 5).await.is_empty(), "the old tag is not found");
        }
    }
}
