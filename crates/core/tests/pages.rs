//! Page blobs: sparse, written in any order, never torn, nothing left behind.

mod support;

use std::time::Duration;
use support::model::Random;
use support::pages::{PAGE, Pages, create, ranges, write};
use support::{World, acquire, get, if_match, must, pattern, refused, strict, worlds};
use zaffre_base::Guid;
use zaffre_core::blob::op::{ExpectedChecksum, GetPageRanges, PageWrite, PutPage};
use zaffre_core::blob::reply::OfKind;
use zaffre_core::blob::{self, ByteStream};
use zaffre_core::{CoreOptions, Error, Layout};
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::blob::pages::{SequenceAction, SequenceConditions};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::Store;

const MIB: u64 = 1024 * 1024;

/// Compares large bytes without printing them.
#[track_caller]
fn same(got: &[u8], want: &[u8]) {
    assert_eq!(got.len(), want.len());
    let differ = got.iter().zip(want).position(|(a, b)| a != b);
    assert_eq!(differ, None, "the first byte that differs");
}

#[tokio::test]
async fn pages_are_written_cleared_and_read_as_zeros() {
    for world in worlds() {
        must(world.create("disks").await);
        must(world.create_pages("disks/a", 5 * MIB).await);
        let mut model = Pages::new(5 * MIB);
        same(&must(world.get("disks/a").await), &model.bytes);
        for (offset, length, seed) in [
            (0, 512, 1),
            (MIB - 512, 1024, 2),
            (MIB + 4096, 8192, 3),
            (2 * MIB - 1024, 3 * MIB, 4),
            (0, 4 * MIB, 5),
            (512, 512, 6),
        ] {
            let bytes = pattern(usize::try_from(length).unwrap_or(0), seed);
            model.write(offset, &bytes);
            must(world.write_pages("disks/a", offset, bytes).await);
            same(&must(world.get("disks/a").await), &model.bytes);
            assert_eq!(must(world.ranges("disks/a").await), model.ranges());
        }
        for pages in [512..1024, MIB - 512..MIB + 512, 0..5 * MIB] {
            model.clear(&pages);
            must(world.clear_pages("disks/a", pages).await);
            same(&must(world.get("disks/a").await), &model.bytes);
            assert_eq!(must(world.ranges("disks/a").await), model.ranges());
        }
        world.sweep().await;
        assert_eq!(must(world.ranges("disks/a").await), model.ranges());
        assert_eq!(world.live_extents().await, 0, "all was cleared");
        must(world.delete("disks/a").await);
        world.sweep().await;
        assert!(world.rows("disks").await.is_empty(), "rows are left");
    }
}

#[tokio::test]
async fn sizes_and_sequence_numbers() {
    for world in worlds() {
        must(world.create("disks").await);
        must(world.create_pages("disks/a", 2048).await);
        must(world.write_pages("disks/a", 0, vec![7; 2048]).await);
        must(world.resize("disks/a", 1024).await);
        must(world.resize("disks/a", 20 * MIB).await);
        let (bytes, view) = must(world.get_with(get("disks/a")).await);
        assert_eq!(view.length, 20 * MIB);
        assert!(bytes[..1024] == [7; 1024] && bytes[1024..].iter().all(|byte| *byte == 0));
        must(world.write_pages("disks/a", 19 * MIB, vec![9; 70_000 / 512 * 512]).await);
        must(world.resize("disks/a", 1024).await);
        must(world.resize("disks/a", 20 * MIB).await);
        assert_eq!(must(world.ranges("disks/a").await), std::slice::from_ref(&(0..1024)));
        let set = |action| world.set_pages("disks/a", None, Some(action));
        for (action, want) in [
            (SequenceAction::Increment, 1),
            (SequenceAction::Max(7), 7),
            (SequenceAction::Max(3), 7),
            (SequenceAction::Update(5), 5),
            (SequenceAction::Update(u64::try_from(i64::MAX).unwrap_or(0)), i64::MAX.unsigned_abs()),
        ] {
            assert_eq!(must(set(action).await).sequence_number, Some(want));
        }
        let full = set(SequenceAction::Increment).await;
        assert_eq!(refused(full), Refusal::SequenceNumberIncrementTooLarge);
        must(set(SequenceAction::Update(7)).await);
        for (sequence, fits) in [
            (SequenceConditions { at_most: Some(7), ..SequenceConditions::default() }, true),
            (SequenceConditions { below: Some(7), ..SequenceConditions::default() }, false),
            (SequenceConditions { equal: Some(7), ..SequenceConditions::default() }, true),
            (SequenceConditions { equal: Some(8), ..SequenceConditions::default() }, false),
        ] {
            for length in [512, 65_536] {
                let op = PutPage { sequence, ..write("disks/a", 0..length) };
                let got = world.put_page(op, vec![1; usize::try_from(length).unwrap_or(0)]).await;
                match got {
                    Ok(reply) => assert!(fits && reply.sequence_number == 7),
                    Err(Error::Refused(Refusal::SequenceNumberConditionNotMet)) => assert!(!fits),
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
        let view = must(world.properties("disks/a").await);
        assert_eq!(view.of_kind, OfKind::Page { sequence_number: 7 });
    }
}

#[tokio::test]
async fn refusals_change_nothing() {
    for world in worlds() {
        must(world.create("disks").await);
        must(world.put("disks/block", "x").await);
        let first = must(world.create_pages("disks/a", 4 * MIB).await);
        must(world.write_pages("disks/a", 0, vec![7; 512]).await);
        let before = must(world.properties("disks/a").await).written;
        let wrong = ExpectedChecksum { md5: Some([1; 16]), crc64: None };
        for length in [512_u64, 65_536] {
            let bytes = vec![1; usize::try_from(length).unwrap_or(0)];
            for (op, want) in [
                (write("disks/a", 4 * MIB..4 * MIB + length), Refusal::InvalidPageRange),
                (write("disks/block", 0..length), Refusal::InvalidBlobType),
                (write("disks/none", 0..length), Refusal::BlobNotFound),
                (write("none/a", 0..length), Refusal::ContainerNotFound),
                (
                    PutPage { conditions: if_match(first), ..write("disks/a", 0..length) },
                    Refusal::ConditionNotMet,
                ),
                (
                    PutPage { lease: Some(Guid(3)), ..write("disks/a", 0..length) },
                    Refusal::LeaseNotPresent(LeaseOn::Blob),
                ),
                (write("disks/a", 0..length + 512), Refusal::IncompleteBody),
            ] {
                assert_eq!(refused(world.put_page(op, bytes.clone()).await), want);
            }
            let op = PutPage { write: PageWrite::Update(wrong), ..write("disks/a", 0..length) };
            let got = refused(world.put_page(op, bytes).await);
            assert!(matches!(got, Refusal::Md5Mismatch { .. }), "{got:?}");
        }
        must(world.lease("disks/a", acquire(None, 9)).await);
        let got = world.clear_pages("disks/a", 0..512).await;
        assert_eq!(refused(got), Refusal::LeaseIdMissing(LeaseOn::Blob));
        let wrong = Refusal::InvalidBlobType;
        assert_eq!(refused(world.ranges("disks/block").await), wrong);
        assert_eq!(refused(world.resize("disks/block", 512).await), wrong);
        assert_eq!(refused(world.stage("disks/a", "1", "x").await), wrong);
        assert_eq!(refused(world.commit("disks/a", &[(Latest, "1")]).await), wrong);
        assert_eq!(refused(world.put("disks/a", "x").await), wrong);
        let over = blob::create_blob(&world.core, world.ok(create("disks/block", 512))).await;
        assert_eq!(refused(over), wrong);
        let past = GetPageRanges { range: Some((4 * MIB, None)), ..ranges("disks/a") };
        let got = refused(world.ranges_with(past).await);
        assert_eq!(got, Refusal::InvalidRange { length: 4 * MIB });
        assert_eq!(must(world.properties("disks/a").await).written, before);
        assert_eq!(must(world.range("disks/a", 0, 1023).await), [[7; 512], [0; 512]].concat());
        world.sweep().await;
        assert_eq!(world.live_extents().await, 0, "what was refused is released");
    }
}

#[tokio::test]
async fn ranges_come_in_pages_and_windows() {
    for world in worlds() {
        must(world.create("disks").await);
        must(world.create_pages("disks/a", 3 * MIB).await);
        for page in [0, 2, 4, 5, 2046, 2047, 2048, 4000] {
            must(world.write_pages("disks/a", page * PAGE, vec![1; 512]).await);
        }
        let all = [0..512, 1024..1536, 2048..3072, MIB - 1024..MIB + 512, 2_048_000..2_048_512];
        for most in [1, 2, 3, 100] {
            let op = GetPageRanges { max_results: Some(most), ..ranges("disks/a") };
            let got = must(world.ranges_with(op).await);
            assert_eq!(got.into_iter().map(|(_, range)| range).collect::<Vec<_>>(), all);
        }
        for (range, want) in [
            ((1024, Some(2559)), vec![1024..1536, 2048..2560]),
            ((600, Some(700)), vec![]),
            ((MIB, None), vec![MIB..MIB + 512, 2_048_000..2_048_512]),
        ] {
            let op = GetPageRanges { range: Some(range), ..ranges("disks/a") };
            let got = must(world.ranges_with(op).await);
            assert_eq!(got.into_iter().map(|(_, range)| range).collect::<Vec<_>>(), want);
        }
    }
}

/// Random writes, clears, sizes and downloads of one blob, with folding in between.
async fn sequence(store: Store, seed: u64) {
    let options = CoreOptions {
        container_delete_delay: Duration::ZERO,
        layout: Layout { inline_bytes: 4096, ..Layout::default() },
        ..CoreOptions::default()
    };
    let world = World::with(store, options);
    let mut random = Random(seed);
    must(world.create("disks").await);
    must(world.create_pages("disks/a", 2 * MIB).await);
    let mut model = Pages::new(2 * MIB);
    let mut held: Vec<(ByteStream, Vec<u8>)> = Vec::new();
    for _ in 0..150 {
        match random.below(20) {
            0..=11 => {
                let most = random.pick(&[1, 1, 8, 8, 300]);
                if let Some(pages) = model.pick(&mut random, most) {
                    let seed = u8::try_from(random.below(256)).unwrap_or(0);
                    let length = usize::try_from(pages.end - pages.start).unwrap_or(0);
                    let bytes = pattern(length, seed);
                    model.write(pages.start, &bytes);
                    must(world.write_pages("disks/a", pages.start, bytes).await);
                }
            }
            12 | 13 => {
                let most = random.pick(&[8, 8, 20_000]);
                if let Some(pages) = model.pick(&mut random, most) {
                    model.clear(&pages);
                    must(world.clear_pages("disks/a", pages).await);
                }
            }
            14 => {
                let length = u64::try_from(random.below(16_384)).unwrap_or(0) * PAGE;
                model.resize(length);
                must(world.resize("disks/a", length).await);
            }
            15 if held.len() < 3 => {
                let reply = must(blob::get_blob(&world.core, world.ok(get("disks/a"))).await);
                held.push((reply.body, model.bytes.clone()));
            }
            16 => {
                if let Some((stream, want)) = held.pop() {
                    same(&must(support::read(stream).await), &want);
                }
            }
            17 => drop(must(world.core.run_background_once().await)),
            _ => {
                same(&must(world.get("disks/a").await), &model.bytes);
                assert_eq!(must(world.ranges("disks/a").await), model.ranges());
            }
        }
    }
    while let Some((stream, want)) = held.pop() {
        same(&must(support::read(stream).await), &want);
    }
    world.sweep().await;
    same(&must(world.get("disks/a").await), &model.bytes);
    assert_eq!(must(world.ranges("disks/a").await), model.ranges());
    if seed.is_multiple_of(2) {
        must(world.delete("disks/a").await);
    } else {
        must(world.delete_container("disks").await);
    }
    world.sweep().await;
    assert!(world.rows("disks").await.is_empty(), "rows are left");
    assert_eq!(world.live_extents().await, 0, "extents are left");
}

#[tokio::test]
async fn random_sequences() {
    for seed in zaffre_testkit::seeds(30) {
        println!("seed {seed}");
        sequence(must(Store::in_memory()), seed).await;
        sequence(must(Store::strict(strict(seed))), seed).await;
    }
}

#[tokio::test]
async fn many_small_writes_are_folded() {
    for world in worlds() {
        must(world.create("disks").await);
        must(world.create_pages("disks/a", 2 * MIB).await);
        let mut model = Pages::new(2 * MIB);
        let mut random = Random(11);
        for n in 0..600_usize {
            let Some(pages) = model.pick(&mut random, 1) else { continue };
            let bytes = pattern(512, u8::try_from(n % 250).unwrap_or(0));
            model.write(pages.start, &bytes);
            must(world.write_pages("disks/a", pages.start, bytes).await);
        }
        let before = world.rows("disks").await.len();
        world.sweep().await;
        let after = world.rows("disks").await.len();
        assert!(before > 500 && after < 10, "{before} rows became {after}");
        assert!(world.live_extents().await <= 4, "one extent for each chunk");
        same(&must(world.get("disks/a").await), &model.bytes);
        assert_eq!(must(world.ranges("disks/a").await), model.ranges());
    }
}
