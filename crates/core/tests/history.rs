//! Snapshots, versions and what is kept after a deletion, on both engines.

mod support;

use support::{
    World, delete, get, if_match, list, must, pattern, refused, snapshot, snapshot_of, version_of,
    worlds,
};
use zaffre_base::{AccountName, Guid, Stamp, Timestamp};
use zaffre_core::blob;
use zaffre_core::blob::op::{
    BlobPath, DeleteBlob, DeleteSnapshots, GetBlob, IncludeHistory, ListBlobs, ListContainers,
    RestoreContainer, SnapshotBlob,
};
use zaffre_core::blob::reply::{ListEntry, MomentView};
use zaffre_core::settings::AccountSettings;
use zaffre_domain::blob::BlockSource::{Latest, Uncommitted};
use zaffre_domain::blob::Metadata;
use zaffre_domain::conditions::Conditions;
use zaffre_domain::{LeaseOn, Refusal};

const DAY: u64 = 24 * 60 * 60;

fn versioning() -> AccountSettings {
    AccountSettings { versioning: true, ..AccountSettings::default() }
}

fn keeping(days: u32) -> AccountSettings {
    AccountSettings { blob_retention_days: Some(days), ..AccountSettings::default() }
}

async fn read(world: &World, at: BlobPath) -> Result<Vec<u8>, zaffre_core::Error> {
    world.get_with(GetBlob { at, ..get("photos/a") }).await.map(|(bytes, _)| bytes)
}

/// Everything a listing shows, in short: name, what it is, and whether it is deleted.
async fn shown(world: &World, history: IncludeHistory, size: u32) -> Vec<String> {
    let mut all = Vec::new();
    let mut marker = None;
    loop {
        let op = ListBlobs { marker, history, max_results: size, ..list("photos") };
        let page = must(world.list(op).await);
        assert!(page.entries.len() <= usize::try_from(size).unwrap_or(0));
        all.extend(page.entries.into_iter().map(|entry| match entry {
            ListEntry::Prefix(prefix) => format!("[{prefix}]"),
            ListEntry::Blob(view) => {
                let what = match view.moment {
                    MomentView::Current { .. } => "",
                    MomentView::Snapshot { .. } => "@snapshot",
                    MomentView::Version { .. } => "@version",
                    MomentView::Deleted(_) => "@blob",
                    MomentView::VersionsOnly => "@only",
                };
                let deleted = if view.moment.deleted().is_some() { "-deleted" } else { "" };
                format!("{}{what}{deleted}", view.name)
            }
        }));
        marker = page.next;
        if marker.is_none() {
            return all;
        }
    }
}

const EVERYTHING: IncludeHistory =
    IncludeHistory { snapshots: true, versions: true, deleted: true, deleted_with_versions: true };

/// Nothing may be left once everything is deleted.
async fn end(world: &World) {
    world.sweep().await;
    assert!(world.rows("photos").await.is_empty(), "rows are left");
    assert_eq!(world.live_extents().await, 0, "extents are left");
}

#[tokio::test]
async fn snapshots_are_whole_and_stay_as_they_are() {
    for world in worlds() {
        must(world.create("photos").await);
        // Inline, in extents, and as a list of blocks.
        for (round, size) in [100, 3_000_000, 0].into_iter().enumerate() {
            let seed = u8::try_from(round).unwrap_or(0) * 3;
            let first = pattern(size, seed);
            if size == 0 {
                must(world.stage("photos/a", "b1", first.clone()).await);
                must(world.stage("photos/a", "b2", pattern(50_000, 9)).await);
                must(world.commit("photos/a", &[(Uncommitted, "b1"), (Uncommitted, "b2")]).await);
            } else {
                must(world.put("photos/a", first.clone()).await);
            }
            let whole = must(world.get("photos/a").await);
            let one = must(world.snapshot("photos/a").await);
            let two = must(world.snapshot("photos/a").await);
            assert!(one < two);
            if size == 0 {
                must(world.stage("photos/a", "b3", pattern(10, 1)).await);
                must(world.commit("photos/a", &[(Latest, "b2"), (Latest, "b3")]).await);
            } else {
                must(world.put("photos/a", "other").await);
            }
            world.sweep().await;
            assert_eq!(must(read(&world, snapshot_of("photos/a", one)).await), whole);
            let gone = DeleteBlob { at: snapshot_of("photos/a", one), ..delete("photos/a") };
            assert!(must(world.remove(gone.clone()).await).permanent);
            assert_eq!(refused(world.remove(gone).await), Refusal::BlobNotFound);
            world.sweep().await;
            assert_eq!(must(read(&world, snapshot_of("photos/a", two)).await), whole);
            assert_eq!(refused(world.delete("photos/a").await), Refusal::SnapshotsPresent);
            let now = must(world.get("photos/a").await);
            let only = DeleteBlob { snapshots: DeleteSnapshots::Only, ..delete("photos/a") };
            must(world.remove(only).await);
            world.sweep().await;
            assert_eq!(must(world.get("photos/a").await), now);
            let missing = read(&world, snapshot_of("photos/a", two)).await;
            assert_eq!(refused(missing), Refusal::BlobNotFound);
        }
        must(world.snapshot("photos/a").await);
        let all = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete("photos/a") };
        must(world.remove(all).await);
        end(&world).await;
    }
}

#[tokio::test]
async fn a_snapshot_obeys_conditions_and_only_a_named_lease() {
    for world in worlds() {
        must(world.create("photos").await);
        assert_eq!(refused(world.snapshot("photos/a").await), Refusal::BlobNotFound);
        let first = must(world.put("photos/a", "one").await);
        let second = must(world.put("photos/a", "two").await);
        let stale = SnapshotBlob { conditions: if_match(first), ..snapshot("photos/a") };
        assert_eq!(refused(world.snapshot_with(stale).await), Refusal::ConditionNotMet);
        let plain = SnapshotBlob { conditions: if_match(second), ..snapshot("photos/a") };
        let plain = must(world.snapshot_with(plain).await);
        assert_eq!(plain.written, second, "the same state");
        let metadata = Metadata::from([("k".to_owned(), "v".to_owned())]);
        let other = SnapshotBlob { metadata: metadata.clone(), ..snapshot("photos/a") };
        let other = must(world.snapshot_with(other).await);
        assert_eq!(other.written.last_modified(), other.snapshot, "another state");
        assert_eq!(must(world.properties("photos/a").await).written, second);
        let at = snapshot_of("photos/a", other.snapshot);
        let (_, view) = must(world.get_with(GetBlob { at, ..get("photos/a") }).await);
        assert_eq!((view.metadata, view.written), (metadata, other.written));
        let named = SnapshotBlob { lease: Some(Guid(7)), ..snapshot("photos/a") };
        let refusal = refused(world.snapshot_with(named.clone()).await);
        assert_eq!(refusal, Refusal::LeaseNotPresent(LeaseOn::Blob));
        must(world.lease("photos/a", support::acquire(None, 7)).await);
        must(world.snapshot("photos/a").await);
        must(world.snapshot_with(named).await);
        let wrong = SnapshotBlob { lease: Some(Guid(8)), ..snapshot("photos/a") };
        let refusal = refused(world.snapshot_with(wrong).await);
        assert_eq!(refusal, Refusal::LeaseIdMismatch(LeaseOn::Blob));
    }
}

#[tokio::test]
async fn a_download_of_a_snapshot_outlives_it_and_its_blob() {
    for world in worlds() {
        must(world.create("photos").await);
        let whole = pattern(3_000_000, 5);
        must(world.stage("photos/a", "b1", whole.clone()).await);
        must(world.commit("photos/a", &[(Latest, "b1")]).await);
        let taken = must(world.snapshot("photos/a").await);
        must(world.stage("photos/a", "b2", pattern(10, 5)).await);
        must(world.commit("photos/a", &[(Latest, "b1"), (Latest, "b2")]).await);
        let op = GetBlob { at: snapshot_of("photos/a", taken), ..get("photos/a") };
        let reply = must(zaffre_core::blob::get_blob(&world.core, world.ok(op)).await);
        // The current list goes first and shares a block with the one that is being read.
        must(world.put("photos/a", "other").await);
        let all = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete("photos/a") };
        must(world.remove(all).await);
        for _ in 0..3 {
            must(world.core.run_background_once().await);
        }
        assert_eq!(must(support::read(reply.body).await), whole);
        end(&world).await;
    }
}

#[tokio::test]
async fn versions() {
    for world in worlds() {
        must(world.create("photos").await);
        let before = must(world.put("photos/a", "unversioned").await);
        assert_eq!(before.version, None);
        world.settle_on(versioning());
        let one = must(world.put("photos/a", "one").await);
        let two = must(world.set_metadata("photos/a", "k", "v", Conditions::default()).await);
        let (one, two) = (one.version.expect("an id"), two.version.expect("an id"));
        let view = must(world.properties("photos/a").await);
        assert_eq!(view.moment, MomentView::Current { version: Some(two) });
        assert_eq!(view.created, two, "every version has its own");
        let oldest = version_of("photos/a", before.stamp.time());
        for (at, want) in [
            (oldest.clone(), "unversioned"),
            (version_of("photos/a", one), "one"),
            (version_of("photos/a", two), "one"),
        ] {
            assert_eq!(must(read(&world, at).await), want.as_bytes());
        }
        let current = DeleteBlob { at: version_of("photos/a", two), ..delete("photos/a") };
        assert_eq!(refused(world.remove(current).await), Refusal::OperationNotAllowedOnRootBlob);
        assert!(!must(world.remove(delete("photos/a")).await).permanent);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        assert_eq!(must(read(&world, version_of("photos/a", two)).await), b"one");
        let versions = ["a@version", "a@version", "a@version", "a@only"];
        for size in [1, 2, 3, 4, 5_000] {
            assert_eq!(shown(&world, EVERYTHING, size).await, versions, "{size}");
        }
        for at in [oldest, version_of("photos/a", one), version_of("photos/a", two)] {
            assert!(must(world.remove(DeleteBlob { at, ..delete("photos/a") }).await).permanent);
        }
        end(&world).await;
    }
}

#[tokio::test]
async fn without_versioning_versions_stay_and_no_new_ones_come() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(versioning());
        let one = must(world.put("photos/a", "one").await).version.expect("an id");
        world.settle_on(AccountSettings::default());
        assert_eq!(must(world.put("photos/a", "two").await).version, None);
        assert_eq!(must(world.put("photos/a", "three").await).version, None);
        world.settle_on(versioning());
        must(world.put("photos/a", "four").await);
        let shown = shown(&world, EVERYTHING, 1).await;
        assert_eq!(shown, ["a@version", "a@version", "a"], "one, three, and four");
        assert_eq!(must(read(&world, version_of("photos/a", one)).await), b"one");
    }
}

#[tokio::test]
async fn a_snapshot_where_versions_are_kept_makes_one() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(versioning());
        let one = must(world.put("photos/a", "one").await);
        let taken = must(world.snapshot_with(snapshot("photos/a")).await);
        assert!(taken.written.version > one.version);
        let all = shown(&world, EVERYTHING, 2).await;
        assert_eq!(all, ["a@version", "a@snapshot", "a"]);
        assert_eq!(refused(world.delete("photos/a").await), Refusal::SnapshotsPresent);
        let only = DeleteBlob { snapshots: DeleteSnapshots::Only, ..delete("photos/a") };
        must(world.remove(only).await);
        must(world.delete("photos/a").await);
        assert_eq!(shown(&world, EVERYTHING, 2).await, ["a@version", "a@version", "a@only"]);
    }
}

#[tokio::test]
async fn what_is_deleted_is_kept_and_comes_back() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(keeping(2));
        assert_eq!(refused(world.undelete("photos/a").await), Refusal::BlobNotFound);
        must(world.put("photos/a", "one").await);
        must(world.undelete("photos/a").await);
        let second = must(world.put("photos/a", "two").await);
        let taken = must(world.snapshot("photos/a").await);
        let all = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete("photos/a") };
        assert!(!must(world.remove(all.clone()).await).permanent);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        let at = snapshot_of("photos/a", taken);
        assert_eq!(refused(read(&world, at.clone()).await), Refusal::BlobNotFound);
        let deleted = ["a@snapshot-deleted", "a@snapshot-deleted", "a@blob-deleted"];
        for size in [1, 2, 5_000] {
            assert_eq!(shown(&world, EVERYTHING, size).await, deleted, "{size}");
        }
        let just = IncludeHistory { deleted: true, ..IncludeHistory::default() };
        assert_eq!(shown(&world, just, 1).await, ["a@blob-deleted"]);
        must(world.undelete("photos/a").await);
        assert_eq!(must(world.get("photos/a").await), b"two");
        assert_eq!(must(world.properties("photos/a").await).written.stamp, second.stamp);
        assert_eq!(must(read(&world, at).await), b"two");
        assert_eq!(shown(&world, EVERYTHING, 1).await, ["a@snapshot", "a@snapshot", "a"]);
        must(world.remove(all).await);
        world.advance(2 * DAY + 1);
        assert_eq!(shown(&world, EVERYTHING, 1).await, Vec::<String>::new());
        end(&world).await;
    }
}

#[tokio::test]
async fn a_new_blob_turns_a_deleted_one_into_a_snapshot() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(keeping(1));
        must(world.put("photos/a", "one").await);
        must(world.delete("photos/a").await);
        must(world.stage("photos/a", "b1", "block").await);
        assert_eq!(shown(&world, EVERYTHING, 9).await, ["a@snapshot-deleted"]);
        must(world.commit("photos/a", &[(Latest, "b1")]).await);
        must(world.delete("photos/a").await);
        must(world.put("photos/a", "three").await);
        let two = ["a@snapshot-deleted", "a@snapshot-deleted", "a"];
        assert_eq!(shown(&world, EVERYTHING, 9).await, two);
        must(world.undelete("photos/a").await);
        assert_eq!(must(world.get("photos/a").await), b"three");
        assert_eq!(shown(&world, EVERYTHING, 9).await, ["a@snapshot", "a@snapshot", "a"]);
    }
}

#[tokio::test]
async fn only_what_is_deleted_can_be_deleted_for_good() {
    for world in worlds() {
        must(world.create("photos").await);
        let mut settings = keeping(5);
        world.settle_on(settings.clone());
        must(world.put("photos/a", "one").await);
        let taken = must(world.snapshot("photos/a").await);
        let at = snapshot_of("photos/a", taken);
        let plain = DeleteBlob { at: at.clone(), ..delete("photos/a") };
        let for_good = DeleteBlob { permanent: true, ..plain.clone() };
        assert_eq!(refused(world.remove(for_good.clone()).await), Refusal::PermanentDeleteIsOff);
        settings.permanent_delete = true;
        world.settle_on(settings);
        assert_eq!(refused(world.remove(for_good.clone()).await), Refusal::BlobNotDeleted);
        assert!(!must(world.remove(plain).await).permanent);
        assert!(must(world.remove(for_good.clone()).await).permanent);
        assert_eq!(refused(world.remove(for_good).await), Refusal::BlobNotFound);
        must(world.undelete("photos/a").await);
        assert_eq!(refused(read(&world, at).await), Refusal::BlobNotFound);
    }
}

#[tokio::test]
async fn thousands_of_snapshots_go_and_come_back_at_once() {
    const MANY: usize = 1_205;
    let world = worlds().remove(1);
    must(world.create("photos").await);
    world.settle_on(keeping(3));
    must(world.put("photos/a", pattern(100, 1)).await);
    must(world.put("photos/b", "beside").await);
    let mut taken = Vec::<Timestamp>::new();
    for _ in 0..MANY {
        taken.push(must(world.snapshot("photos/a").await));
    }
    let all = DeleteBlob { snapshots: DeleteSnapshots::Include, ..delete("photos/a") };
    must(world.remove(all.clone()).await);
    let live = IncludeHistory { snapshots: true, ..IncludeHistory::default() };
    assert_eq!(shown(&world, live, 500).await, ["b"], "before anything ran in the background");
    for at in [taken[0], taken[MANY / 2], taken[MANY - 1]] {
        let missing = read(&world, snapshot_of("photos/a", at)).await;
        assert_eq!(refused(missing), Refusal::BlobNotFound);
    }
    must(world.undelete("photos/a").await);
    assert_eq!(shown(&world, live, 500).await.len(), MANY + 2);
    assert_eq!(must(read(&world, snapshot_of("photos/a", taken[MANY - 1])).await).len(), 100);
    assert_eq!(refused(world.delete("photos/a").await), Refusal::SnapshotsPresent);
    world.settle_on(AccountSettings::default());
    must(world.remove(all).await);
    assert_eq!(shown(&world, live, 500).await, ["b"]);
    must(world.delete("photos/b").await);
    end(&world).await;
}

#[tokio::test]
async fn a_delimiter_seeks_past_history_too() {
    for world in worlds() {
        must(world.create("photos").await);
        world.settle_on(versioning());
        for name in ["a", "d/1", "d/2", "e"] {
            for _ in 0..3 {
                must(world.put(&format!("photos/{name}"), name).await);
            }
        }
        must(world.delete("photos/d/1").await);
        must(world.delete("photos/d/2").await);
        let versions = IncludeHistory { versions: true, ..IncludeHistory::default() };
        let op = ListBlobs { delimiter: Some("/".to_owned()), max_results: 2, ..list("photos") };
        let plain = world.names(op.clone()).await;
        assert_eq!(plain, ["a", "e"], "nothing current is below the prefix");
        let all = world.names(ListBlobs { history: versions, ..op }).await;
        assert_eq!(all, ["a", "a", "a", "[d/]", "e", "e", "e"]);
    }
}

async fn deleted_containers(world: &World, size: u32) -> Vec<(String, Option<Stamp>)> {
    let (mut all, mut marker) = (Vec::new(), None);
    loop {
        let op = ListContainers {
            account: must(AccountName::parse(support::ACCOUNT)),
            prefix: String::new(),
            marker,
            max_results: size,
            include_metadata: false,
            include_system: false,
            include_deleted: true,
        };
        let page = must(blob::list_containers(&world.core, world.ok(op)).await);
        let shown = page.containers.into_iter();
        all.extend(shown.map(|c| (c.name.to_string(), c.deleted.map(|(_, version)| version))));
        marker = page.next;
        if marker.is_none() {
            return all;
        }
    }
}

async fn restore(world: &World, name: &str, version: Stamp) -> Result<(), zaffre_core::Error> {
    let op = RestoreContainer { at: support::container(name), version: Some(version) };
    blob::restore_container(&world.core, world.ok(op)).await.map(|_| ())
}

#[tokio::test]
async fn a_deleted_container_is_kept_and_comes_back() {
    for world in worlds() {
        let settings =
            AccountSettings { container_retention_days: Some(7), ..AccountSettings::default() };
        world.settle_on(settings);
        must(world.create("photos").await);
        must(world.put("photos/a", pattern(3_000_000, 1)).await);
        must(world.delete_container("photos").await);
        assert_eq!(refused(world.get("photos/a").await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.create("photos").await), Refusal::ContainerBeingDeleted);
        world.sweep().await;
        world.advance(31);
        must(world.create("photos").await);
        must(world.put("photos/b", "new").await);
        for size in [1, 2, 500] {
            let all = deleted_containers(&world, size).await;
            let names: Vec<_> =
                all.iter().map(|(name, at)| (name.as_str(), at.is_some())).collect();
            assert_eq!(names, [("photos", true), ("photos", false)], "{size}");
        }
        let version = deleted_containers(&world, 1).await[0].1.expect("deleted");
        assert_eq!(
            refused(restore(&world, "photos", version).await),
            Refusal::ContainerAlreadyExists
        );
        assert_eq!(refused(restore(&world, "photos", Stamp(1)).await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        must(world.delete_container("photos").await);
        must(restore(&world, "photos", version).await);
        assert_eq!(must(world.get("photos/a").await).len(), 3_000_000);
        must(world.put("photos/a", "still writable").await);
        assert_eq!(refused(world.get("photos/b").await), Refusal::BlobNotFound);
        must(world.delete_container("photos").await);
        world.advance(7 * DAY + 1);
        assert_eq!(deleted_containers(&world, 9).await, []);
        assert_eq!(refused(restore(&world, "photos", version).await), Refusal::ContainerNotFound);
        end(&world).await;
    }
}
