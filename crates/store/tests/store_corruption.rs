//! Flipped bytes anywhere in the data directory: noticed by a read or the scrub, never returned.

mod store_support;

use std::sync::Arc;
use store_support::{User, open, runtime};
use zaffre_store::check::check;
use zaffre_store::disk::{CrashDisk, Disk, OpenMode, Survival};
use zaffre_testkit::{Random, seeds};

/// Flips that must be noticed, and tries allowed to get there. A flip counts when it hit something:
/// a read fails, the store does not open, or the scrub says so. The others are in space that nothing
/// uses (free pages of the tree, journals already in the tree); after each of them, too, everything
/// is read and must be as it was written.
const FLIPS: u64 = 500;
const TRIES: u64 = 10 * FLIPS;

fn holds_runs(_: &zaffre_store::Placement, key: &[u8]) -> bool {
    key.first() == Some(&b'x')
}

/// A place in the data directory that holds something: the bytes around it are not all zero.
fn pick(disk: &CrashDisk, random: &mut Random) -> (String, u64) {
    loop {
        let files: Vec<_> =
            disk.files().into_iter().filter(|(name, len)| name != "LOCK" && *len > 0).collect();
        let (name, len) = files[random.index(files.len())].clone();
        let offset = random.below(len);
        let file = disk.open(&name, OpenMode::Existing).expect("there");
        let from = offset.saturating_sub(32);
        let mut around = vec![0; usize::try_from((len - from).min(64)).expect("small")];
        file.read_at(from, &mut around).expect("in the file");
        if around.iter().any(|b| *b != 0) {
            return (name, offset);
        }
    }
}

#[test]
fn flipped_bytes_are_detected_and_never_returned() {
    let seed = seeds(1).start;
    let mut random = Random(seed + 10);
    let disk = CrashDisk::new();
    let model = runtime().block_on(async {
        let mut user = User::new(open(Arc::new(disk.clone())).expect("opens"), 5);
        for _ in 0..150 {
            user.step().await.expect("works");
        }
        user.stop()
    });
    let (mut detected, mut unused) = (0, std::collections::BTreeMap::<String, u64>::new());
    let mut flips = 0;
    while detected < FLIPS && flips < TRIES {
        let flip = flips;
        flips += 1;
        let copy = disk.reboot(Survival::All, flip);
        let (name, offset) = pick(&copy, &mut random);
        let mask = 1 << random.below(8);
        copy.flip(&name, offset, mask);
        runtime().block_on(async {
            let noticed = match open(Arc::new(copy.clone())) {
                Err(_) => true,
                Ok(store) => model.never_wrong(&store).await,
            };
            let scrubbed = disk.reboot(Survival::All, flip);
            scrubbed.flip(&name, offset, mask);
            let report = check(Arc::new(scrubbed), holds_runs, |_| {}).await;
            let scrub_sees = report.map_or(true, |report| !report.is_clean());
            if noticed || scrub_sees {
                detected += 1;
            } else {
                *unused.entry(name.clone()).or_default() += 1;
                assert!(!name.starts_with("FORMAT"), "{name} at {offset} went unnoticed");
            }
        });
    }
    println!(
        "figure scrub: {detected} flips detected, seed {seed}, none returned, {} more in space \
         nothing uses: {unused:?}",
        flips - detected
    );
    // Free pages of the tree and journals already in the tree hold bytes nobody reads.
    assert_eq!(detected, FLIPS, "only {detected} of {flips} flips hit anything");
}

#[test]
fn a_sound_store_passes_the_scrub() {
    let disk = CrashDisk::new();
    runtime().block_on(async {
        let mut user = User::new(open(Arc::new(disk.clone())).expect("opens"), 9);
        for _ in 0..100 {
            user.step().await.expect("works");
        }
        drop(user);
        let before = disk.files();
        let report = check(Arc::new(disk.clone()), holds_runs, |_| {}).await.expect("checked");
        assert!(report.is_clean(), "{:?}", report.problems);
        assert!(report.rows > 10 && report.extents.bytes > 0, "{report:?}");
        assert_eq!(disk.files(), before, "a scrub changes nothing");
    });
}
