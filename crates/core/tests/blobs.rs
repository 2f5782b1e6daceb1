//! Block blobs: put, get, properties, metadata, leases, conditions, deletion.

mod support;

use support::{
    CONTEXT, acquire, body, broken, get, if_absent, if_match, list, must, pattern, put, refused,
    worlds,
};
use zaffre_base::checksum::{Crc64, Md5};
use zaffre_base::{ApiVersion, Guid};
use zaffre_core::blob::op::{Context, ExpectedChecksum, GetBlob, PutBlob, RangeChecksum};
use zaffre_core::blob::{get_blob, put_blob};
use zaffre_domain::blob::tier::AccessTier;
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::lease::{LeaseCommand, LeaseView};
use zaffre_domain::{LeaseOn, Refusal};

const SIZES: [usize; 9] =
    [0, 1, 8 * 1024, 8 * 1024 + 1, 300_000, 1 << 20, (1 << 20) + 1, 3 << 20, (5 << 20) + 12_345];

fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut md5 = Md5::default();
    md5.update(bytes);
    md5.finish()
}

fn crc64(bytes: &[u8]) -> [u8; 8] {
    let mut crc = Crc64::default();
    crc.update(bytes);
    crc.finish()
}

#[tokio::test]
async fn bytes_come_back_whole_and_in_ranges() {
    for world in worlds() {
        must(world.create("photos").await);
        for (seed, size) in (0..).zip(SIZES) {
            let bytes = pattern(size, seed);
            let reply =
                must(put_blob(&world.core, world.ok(put("photos/a")), body(bytes.clone())).await);
            assert_eq!(reply.md5, md5(&bytes));
            assert_eq!(reply.crc64, crc64(&bytes));
            assert_eq!(must(world.get("photos/a").await), bytes, "{size}");
            let mid = size / 2;
            for (first, last) in [
                (0, 0),
                (0, size),
                (mid, mid),
                (mid, mid + 600_000),
                (size.saturating_sub(1), size),
            ] {
                let (from, to) = (first as u64, last as u64);
                let got = world.range("photos/a", from, to).await;
                if first >= size {
                    let length = size as u64;
                    assert_eq!(refused(got), Refusal::InvalidRange { length });
                } else {
                    assert_eq!(must(got), bytes[first..(last + 1).min(size)], "{size} {first}");
                }
            }
        }
    }
}

#[tokio::test]
async fn range_checksums() {
    for world in worlds() {
        must(world.create("photos").await);
        let bytes = pattern(6 << 20, 3);
        must(world.put("photos/a", bytes.clone()).await);
        let ask = |last, sum| GetBlob {
            range: Some((5, Some(last))),
            range_checksum: Some(sum),
            ..get("photos/a")
        };
        let four = (4_u64 << 20) + 4;
        let reply = must(get_blob(&world.core, world.ok(ask(four, RangeChecksum::Md5))).await);
        assert_eq!(reply.range_md5, Some(md5(&bytes[5..(4 << 20) + 5])));
        let reply = must(get_blob(&world.core, world.ok(ask(99, RangeChecksum::Crc64))).await);
        assert_eq!(reply.range_crc64, Some(crc64(&bytes[5..=99])));
        assert_eq!(reply.range, Some((5, 99)));
        let refusal = refused(world.get_with(ask(four + 1, RangeChecksum::Md5)).await);
        assert!(matches!(refusal, Refusal::RangeTooLargeForChecksum { .. }));
    }
}

#[tokio::test]
async fn wrong_bodies_are_refused_and_leave_nothing() {
    for world in worlds() {
        must(world.create("photos").await);
        let bytes = pattern(2 << 20, 1);
        let expect = ExpectedChecksum { md5: Some([1; 16]), crc64: None };
        let op = PutBlob { expect, conditions: if_absent(), ..put("photos/a") };
        must(world.put("photos/a", "old").await);
        let refusal = refused(world.put_with(op, bytes.clone()).await);
        assert!(matches!(refusal, Refusal::Md5Mismatch { .. }), "before the condition");
        let expect = ExpectedChecksum { md5: None, crc64: Some([1; 8]) };
        let op = PutBlob { expect, ..put("photos/a") };
        assert!(matches!(
            refused(world.put_with(op, bytes.clone()).await),
            Refusal::Crc64Mismatch { .. }
        ));
        let op = PutBlob { length: Some(9), ..put("photos/a") };
        assert_eq!(refused(world.put_with(op, bytes.clone()).await), Refusal::IncompleteBody);
        let torn = put_blob(&world.core, world.ok(put("photos/a")), broken(bytes.clone())).await;
        assert_eq!(refused(torn), Refusal::IncompleteBody);
        let old = Context { version: ApiVersion::new(2015, 2, 21) };
        let op = PutBlob { length: Some(1 << 40), context: old, ..put("photos/a") };
        let limit = 64 << 20;
        assert_eq!(refused(world.put_with(op, "x").await), Refusal::RequestBodyTooLarge { limit });
        assert_eq!(must(world.get("photos/a").await), b"old");
        assert_eq!(world.live_extents().await, 0);
    }
}

#[tokio::test]
async fn properties_and_metadata_are_replaced_as_a_whole() {
    for world in worlds() {
        must(world.create("photos").await);
        let properties =
            HttpProperties { content_type: Some("text/plain".to_owned()), ..Default::default() };
        let metadata = Metadata::from([("a".to_owned(), "1".to_owned())]);
        let op = PutBlob {
            properties: properties.clone(),
            metadata: metadata.clone(),
            tier: Some(AccessTier::Cool),
            ..put("photos/a")
        };
        let first = must(world.put_with(op, "text").await);
        let seen = must(world.properties("photos/a").await);
        assert_eq!(seen.written, first);
        assert_eq!(seen.metadata, metadata);
        assert_eq!(seen.properties.content_type, properties.content_type);
        assert_eq!(seen.properties.content_md5, Some(md5(b"text")));
        assert_eq!(seen.tier.set.map(|set| set.0), Some(AccessTier::Cool));
        let second = must(world.set_metadata("photos/a", "b", "2", if_match(first)).await);
        assert!(second.stamp > first.stamp);
        let stale = world.set_metadata("photos/a", "c", "3", if_match(first)).await;
        assert_eq!(refused(stale), Refusal::ConditionNotMet);
        let seen = must(world.properties("photos/a").await);
        assert_eq!(seen.metadata, Metadata::from([("b".to_owned(), "2".to_owned())]));
        assert_eq!(seen.created, first.last_modified());
        must(world.put("photos/a", "again").await);
        let again = must(world.properties("photos/a").await);
        assert_eq!(again.created, first.last_modified(), "overwriting keeps the creation time");
        assert!(again.metadata.is_empty());
        assert_eq!(again.tier, seen.tier, "overwriting keeps the tier");
    }
}

#[tokio::test]
async fn missing_things() {
    for world in worlds() {
        assert_eq!(refused(world.put("nowhere/a", "x").await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.get("nowhere/a").await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.list(list("nowhere")).await), Refusal::ContainerNotFound);
        must(world.create("photos").await);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
        assert_eq!(refused(world.delete("photos/a").await), Refusal::BlobNotFound);
        assert_eq!(refused(world.blocks("photos/a").await), Refusal::BlobNotFound);
        let lease = world.lease("photos/a", acquire(None, 1)).await;
        assert_eq!(refused(lease), Refusal::BlobNotFound);
        let op = PutBlob { lease: Some(Guid(1)), ..put("photos/a") };
        let none = Refusal::LeaseNotPresent(LeaseOn::Blob);
        assert_eq!(refused(world.put_with(op, "x").await), none);
    }
}

#[tokio::test]
async fn leases_guard_writes_and_survive_them() {
    for world in worlds() {
        must(world.create("photos").await);
        let first = must(world.put("photos/a", "1").await);
        let taken = must(world.lease("photos/a", acquire(Some(15), 7)).await);
        assert_eq!((taken.id, taken.written), (Some(Guid(7)), first), "the ETag stays");
        let missing = Refusal::LeaseIdMissing(LeaseOn::Blob);
        let op = PutBlob { conditions: if_absent(), ..put("photos/a") };
        assert_eq!(refused(world.put_with(op, "2").await), missing, "before the condition");
        assert_eq!(refused(world.stage("photos/a", "b", "2").await), missing);
        assert_eq!(refused(world.delete("photos/a").await), missing);
        let op = PutBlob { lease: Some(Guid(7)), conditions: if_absent(), ..put("photos/a") };
        must(world.put_with(op, "2").await);
        let leased = LeaseView::Leased { infinite: false };
        assert_eq!(must(world.properties("photos/a").await).lease, leased);
        world.advance(16);
        assert_eq!(must(world.properties("photos/a").await).lease, LeaseView::Expired);
        must(world.put("photos/a", "3").await);
        assert_eq!(must(world.properties("photos/a").await).lease, LeaseView::Available);
        let renew = world.lease("photos/a", LeaseCommand::Renew { id: Guid(7) }).await;
        assert_eq!(refused(renew), Refusal::LeaseIdMismatchWithLeaseOperation(LeaseOn::Blob));
    }
}

#[tokio::test]
async fn creating_is_not_overwriting() {
    for world in worlds() {
        must(world.create("photos").await);
        let put_new = || put_blob(&world.core, world.create_only(put("photos/a")), body("x"));
        must(put_new().await);
        assert_eq!(refused(put_new().await.map(|_| ())), Refusal::UnauthorizedBlobOverwrite);
    }
}

#[tokio::test]
async fn listing_in_pages_and_by_delimiter() {
    for world in worlds() {
        must(world.create("photos").await);
        let names = [
            "B",
            "a",
            "a/",
            "a/1",
            "a/2/x",
            "a/2/y",
            "a0",
            "b/1",
            "b/2",
            "c",
            "é",
            "\u{10000}",
            "\u{FFFD}",
        ];
        for name in names {
            must(world.put(&format!("photos/{name}"), "x").await);
        }
        for size in [1, 2, 3, 5_000] {
            let flat = zaffre_core::blob::op::ListBlobs { max_results: size, ..list("photos") };
            assert_eq!(world.names(flat.clone()).await, names, "{size}");
            let tree = zaffre_core::blob::op::ListBlobs {
                delimiter: Some("/".to_owned()),
                ..flat.clone()
            };
            let top = ["B", "a", "[a/]", "a0", "[b/]", "c", "é", "\u{10000}", "\u{FFFD}"];
            assert_eq!(world.names(tree.clone()).await, top, "{size}");
            let below = zaffre_core::blob::op::ListBlobs { prefix: "a/".to_owned(), ..tree };
            assert_eq!(world.names(below).await, ["a/", "a/1", "[a/2/]"], "{size}");
            let from =
                zaffre_core::blob::op::ListBlobs { start_from: Some("a0".to_owned()), ..flat };
            assert_eq!(world.names(from).await, names[6..], "{size}");
        }
        let bad = zaffre_core::blob::op::ListBlobs {
            marker: Some("made up".to_owned()),
            ..list("photos")
        };
        assert_eq!(refused(world.list(bad).await), Refusal::InvalidMarker);
    }
}

#[tokio::test]
async fn empty_bodies_with_announced_length() {
    for world in worlds() {
        must(world.create("photos").await);
        let op = PutBlob { length: Some(0), context: CONTEXT, ..put("photos/a") };
        must(world.put_with(op, "").await);
        assert_eq!(must(world.get("photos/a").await), b"");
        let range = world.range("photos/a", 0, 10).await;
        assert_eq!(refused(range), Refusal::InvalidRange { length: 0 });
    }
}
