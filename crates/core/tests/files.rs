//! Files and directories of a share, on both engines.

mod support;

use support::files::{Files, pairs};
use support::model::options;
use support::{World, body, broken, must, pattern, refused, strict, worlds};
use zaffre_base::Guid;
use zaffre_core::file::op::Kind;
use zaffre_domain::fs::{Attributes, FileRefusal};
use zaffre_domain::lease::LeaseCommand;
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::Store;

async fn each(test: impl AsyncFn(&Files)) {
    for world in worlds() {
        let files = Files { world };
        must(files.make_share().await);
        test(&files).await;
    }
}

fn file(refusal: FileRefusal) -> Refusal {
    Refusal::File(refusal)
}

#[tokio::test]
async fn a_tree_is_made_seen_and_taken_away() {
    each(async |files| {
        assert_eq!(files.names("", None).await.ok(), Some(vec![]));
        must(files.make_directory("Docs").await);
        must(files.make_directory("docs/Deep").await);
        let made = must(files.make_file("DOCS/deep/Read.me", 700).await);
        assert_eq!(must(files.names("docs", None).await), ["Deep"]);
        let seen = must(files.file("docs/DEEP/READ.ME", None).await);
        assert_eq!((seen.smb, seen.written, seen.length), (made.smb, made.written, 700));
        assert_eq!(seen.smb.attributes, Attributes::ARCHIVE);
        let parent = must(files.directory("docs/deep").await);
        assert_eq!(seen.smb.parent, parent.smb.id);
        assert_eq!(parent.smb.attributes, Attributes::DIRECTORY);
        for (result, want) in [
            (refused(files.make_directory("docs").await), FileRefusal::ResourceAlreadyExists),
            (refused(files.make_directory("no/x").await), FileRefusal::ParentNotFound),
            (refused(files.make_file("docs", 0).await), FileRefusal::ResourceTypeMismatch),
            (refused(files.file("docs", None).await), FileRefusal::ResourceTypeMismatch),
            (refused(files.file("docs/x", None).await), FileRefusal::ResourceNotFound),
            (refused(files.file("x/y", None).await), FileRefusal::ParentNotFound),
            (refused(files.delete_directory("docs").await), FileRefusal::DirectoryNotEmpty),
            (refused(files.delete_directory("").await), FileRefusal::CannotDelete),
        ] {
            assert_eq!(result, file(want));
        }
        must(files.delete_file("docs/deep/read.me").await);
        must(files.delete_directory("docs/deep").await);
        must(files.delete_directory("docs").await);
        files.world.sweep().await;
        // The state, the root, and the descriptors of files and of directories.
        assert!(files.share_rows().await <= 4, "{}", files.share_rows().await);
        let root = must(files.directory("").await);
        assert!(root.smb.times.last_write > root.smb.times.created, "entries came and went");
        assert_eq!(root.written.time(), root.smb.times.created, "and the ETag stayed");
    })
    .await;
}

#[tokio::test]
async fn bytes_are_written_cleared_and_cut_off() {
    each(async |files| {
        must(files.make_file("f", 3_000_000).await);
        let mut want = vec![0; 3_000_000];
        for (offset, length, seed) in
            [(0, 100, 1), (511, 2, 2), (1_048_000, 2_000, 3), (70_000, 1_500_000, 4)]
        {
            let bytes = pattern(length, seed);
            must(files.write("f", offset, &bytes).await);
            let from = usize::try_from(offset).unwrap_or(0);
            want[from..from + length].copy_from_slice(&bytes);
            assert!(must(files.content("f", None).await) == want, "{offset} {length}");
        }
        let ranges = must(files.ranges("f", None, None).await);
        assert_eq!(pairs(&ranges.ranges), [(0, 1_024, false), (69_632, 1_570_304, false)]);
        must(files.wipe("f", 768, 2_305).await);
        must(files.wipe("f", 100_000, 200_000).await);
        want[768..2_305].fill(0);
        want[100_000..200_000].fill(0);
        assert!(must(files.content("f", None).await) == want);
        let ranges = must(files.ranges("f", None, None).await);
        assert_eq!(
            pairs(&ranges.ranges),
            [(0, 1_024, false), (69_632, 100_352, false), (199_680, 1_570_304, false)]
        );
        must(files.resize("f", 90_000).await);
        must(files.resize("f", 120_000).await);
        want.truncate(90_000);
        want.resize(120_000, 0);
        assert!(must(files.content("f", None).await) == want);
        let beyond = refused(files.write("f", 119_999, &[1, 2]).await);
        assert_eq!(beyond, Refusal::InvalidRange { length: 120_000 });
        must(files.make_file("f", 10).await);
        assert_eq!(must(files.content("f", None).await), [0; 10]);
        must(files.delete_file("f").await);
        files.world.sweep().await;
        assert_eq!(files.world.live_extents().await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_whole_file_written_and_partly_cleared_shows_what_is_left() {
    each(async |files| {
        must(files.make_file("f", 65_536).await);
        must(files.write("f", 0, &pattern(65_536, 1)).await);
        must(files.wipe("f", 768, 2_305).await);
        let ranges = must(files.ranges("f", None, None).await);
        assert_eq!(pairs(&ranges.ranges), [(0, 1_024, false), (2_048, 65_536, false)]);
    })
    .await;
}

#[tokio::test]
async fn names_are_changed_in_one_step() {
    each(async |files| {
        for name in ["a", "a/b", "a/b/c", "d"] {
            must(files.make_directory(name).await);
        }
        must(files.make_file("a/b/c/f", 5).await);
        must(files.make_file("g", 6).await);
        let before = must(files.file("a/b/c/f", None).await);
        let moved = must(files.rename("a/b", "D/B2", Kind::Directory, false).await);
        assert_eq!(moved.smb.parent, must(files.directory("d").await).smb.id);
        let after = must(files.file("d/b2/c/f", None).await);
        assert_eq!((after.smb, after.written), (before.smb, before.written));
        assert_eq!(refused(files.file("a/b/c/f", None).await), file(FileRefusal::ParentNotFound));
        for (from, to, kind, replace, want) in [
            ("d", "d/b2/x", Kind::Directory, false, FileRefusal::MovedIntoItself),
            ("g", "d/b2/c/f", Kind::File, false, FileRefusal::ResourceAlreadyExists),
            ("g", "d", Kind::File, true, FileRefusal::ResourceTypeMismatch),
            ("a", "d", Kind::Directory, true, FileRefusal::ResourceAlreadyExists),
            ("a", "g", Kind::Directory, true, FileRefusal::ResourceAlreadyExists),
            ("x", "y", Kind::File, true, FileRefusal::ResourceNotFound),
            ("g", "x/y", Kind::File, true, FileRefusal::ParentNotFound),
            ("a", "z", Kind::File, true, FileRefusal::ResourceTypeMismatch),
        ] {
            let result = refused(files.rename(from, to, kind, replace).await);
            assert_eq!(result, file(want), "{from} {to}");
        }
        let replaced = must(files.rename("g", "d/b2/c/f", Kind::File, true).await);
        assert_eq!(must(files.file("d/b2/c/f", None).await).length, 6);
        assert_ne!(replaced.smb.id, before.smb.id);
        must(files.rename("d", "DD", Kind::Directory, false).await);
        must(files.rename("dd", "dD", Kind::Directory, false).await);
        assert_eq!(must(files.names("", None).await), ["a", "dD"]);
    })
    .await;
}

#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    each(async |files| {
        let mut want: Vec<String> = (0..20).map(|i| format!("n{:02}", (i * 7) % 20)).collect();
        for name in &want {
            must(files.make_file(name, 0).await);
        }
        want.sort();
        assert_eq!(must(files.names("", None).await), want);
        let page = must(files.list_entries("", None, None, 5).await);
        assert_eq!(page.entries.len(), 5);
        assert!(page.entries.iter().all(|entry| entry.length == Some(0)));
        let bad = files.list_entries("", None, Some("x".to_owned()), 5).await;
        assert_eq!(refused(bad), Refusal::InvalidMarker);
    })
    .await;
}

#[tokio::test]
async fn a_lease_keeps_others_from_writing() {
    each(async |files| {
        must(files.make_file("f", 5).await);
        let before = must(files.file("f", None).await);
        let id = Guid(7);
        let acquire =
            LeaseCommand::Acquire { seconds: None, proposed: Some(id), fallback: Guid(8) };
        assert_eq!(must(files.lease_file("f", acquire).await).id, Some(id));
        let missing = Refusal::LeaseIdMissing(LeaseOn::File);
        assert_eq!(refused(files.write("f", 0, b"x").await), missing);
        assert_eq!(refused(files.delete_file("f").await), missing);
        assert_eq!(refused(files.make_file("f", 1).await), missing);
        must(files.make_leased_file("f", 9, Some(id)).await);
        assert_eq!(refused(files.write("f", 0, b"x").await), missing);
        let reply = must(files.lease_file("f", LeaseCommand::Break { period: None }).await);
        assert_eq!(reply.break_seconds, Some(0));
        must(files.write("f", 0, b"x").await);
        let after = must(files.file("f", None).await);
        assert_eq!(after.smb.id, before.smb.id, "an overwritten file is the same file");
    })
    .await;
}

#[tokio::test]
async fn the_quota_is_a_limit_for_growth() {
    each(async |files| {
        let gib = 1024 * 1024 * 1024;
        must(files.make_file("a", gib).await);
        let full = file(FileRefusal::ShareSizeLimitReached);
        assert_eq!(refused(files.make_file("b", 1).await), full);
        must(files.make_file("b", 0).await);
        assert_eq!(refused(files.resize("b", 1).await), full);
        must(files.resize("a", gib - 1).await);
        must(files.resize("b", 1).await);
        must(files.delete_file("a").await);
        must(files.make_file("c", gib - 1).await);
    })
    .await;
}

#[tokio::test]
async fn a_copy_in_many_steps_is_there_whole_or_not_at_all() {
    for store in [Store::in_memory(), Store::strict(strict(9))] {
        let files = Files { world: World::with(must(store), options()) };
        must(files.make_share().await);
        let bytes = pattern(5_500_000, 3);
        let length = 5_500_000;
        let copied = must(files.copy_into("f", length, body(bytes.clone())).await);
        let seen = must(files.file("f", None).await);
        assert_eq!((seen.written, seen.length), (copied.written, length));
        assert_eq!(seen.copy.map(|copy| copy.length), Some(length));
        assert!(must(files.content("f", None).await) == bytes);
        files.world.sweep().await;
        let whole = files.world.live_extents().await;
        // Two steps are written before the stream breaks.
        let broken = files.copy_into("f", length, broken(bytes[..4_500_000].to_vec())).await;
        assert_eq!(refused(broken), Refusal::IncompleteBody);
        let short = files.copy_into("g", length, body(bytes[..4_500_000].to_vec())).await;
        assert_eq!(refused(short), Refusal::IncompleteBody);
        assert_eq!(refused(files.file("g", None).await), file(FileRefusal::ResourceNotFound));
        assert!(must(files.content("f", None).await) == bytes);
        files.world.sweep().await;
        assert_eq!(files.world.live_extents().await, whole, "what was begun is gone");
        must(files.copy_into("F", 3, body(b"abc".to_vec())).await);
        assert_eq!(must(files.content("f", None).await), b"abc");
        must(files.delete_file("f").await);
        files.world.sweep().await;
        assert_eq!(files.world.live_extents().await, 0);
    }
}
