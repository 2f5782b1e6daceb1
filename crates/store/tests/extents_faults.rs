//! Extents when things go wrong: flipped bytes, crashes, failing and full disks.

mod extents_support;

use bytes::Bytes;
use extents_support::{User, open, placement};
use std::sync::Arc;
use zaffre_store::StoreError;
use zaffre_store::disk::{
    CrashDisk, Disk, FailDisk, Fault, FaultPlan, File, MemDisk, OpenMode, Survival,
};
use zaffre_store::extents::{ExtentRef, Extents, Owner, Phase};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime")
}

fn owner(key: u8) -> Owner {
    Owner { placement: placement(0), key: vec![key] }
}

fn segment_files(disk: &dyn Disk) -> Vec<(String, Arc<dyn File>)> {
    let mut names = disk.list("segments").expect("works");
    names.sort();
    let open = |name: &String| disk.open(&format!("segments/{name}"), OpenMode::Existing);
    names.iter().map(|name| (name.clone(), open(name).expect("there"))).collect()
}

fn flip(file: &dyn File, offset: u64, mask: u8) {
    let mut byte = [0];
    file.read_at(offset, &mut byte).expect("inside");
    file.write_at(offset, &[byte[0] ^ mask]).expect("works");
}

/// Objects are read either right or not at all.
async fn never_wrong(user: &User) -> bool {
    let mut all_right = true;
    for (place, row) in user.rows().await {
        let runs = zaffre_store::extents::runs::decode(&row.value).expect("rows are fine");
        match extents_support::read_runs(&user.extents, &runs).await {
            Ok(body) => {
                let key = (place.name()[1], row.key[0]);
                assert!(user.model[&key] == body, "wrong bytes returned");
            }
            Err(StoreError::Corrupt { .. }) => all_right = false,
            Err(error) => panic!("{error}"),
        }
    }
    all_right
}

#[test]
fn every_flipped_byte_is_detected_and_never_returned() {
    runtime().block_on(async {
        let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let mut user = User::new(Arc::clone(&disk), 3);
        for (name, length) in [(0, 1), (1, 8), (2, 700), (3, 1_300), (4, 70)] {
            let body = extents_support::bytes(&mut user.random, length);
            user.put_at((0, name), body, 1 + usize::from(name) % 2).await.expect("works");
        }
        let mut user = user.reopen(None);
        user.extents.recover_unsealed().await.expect("works");
        assert!(user.scrub().await.is_clean());
        let mut flips = 0;
        for (name, file) in segment_files(&*disk) {
            for offset in 0..file.len().expect("works") {
                let mask = 1 << (offset % 8);
                flip(&*file, offset, mask);
                never_wrong(&user).await;
                let report = user.scrub().await;
                assert!(!report.is_clean(), "{name}: flip at {offset} not seen");
                flip(&*file, offset, mask);
                flips += 1;
            }
        }
        assert!(flips > 2_500, "only {flips} flips");
        user.verify().await;
        assert!(user.scrub().await.is_clean());
    });
}

/// A script that touches every kind of work; stops at the first error.
async fn script(user: &mut User, steps: u64) -> Result<(), StoreError> {
    for step in 0..steps {
        match step % 9 {
            3 => user.delete().await?,
            5 => user.abandon().await?,
            6 => {
                user.collect();
                user.extents.settle().await;
            }
            8 => {
                user.extents.count_segments(9).await?;
                user.upkeep.scan_orphans(50).await?;
                user.upkeep.compact(1).await?;
                user.upkeep.free().await?;
                user.extents.settle().await;
            }
            _ => user.put().await?,
        }
    }
    Ok(())
}

async fn after_restart(mut user: User) {
    user.verify().await;
    user.extents.recover_unsealed().await.expect("works");
    user.verify().await;
    user.extents.count_segments(99).await.expect("works");
    while !user.upkeep.scan_orphans(1_000).await.expect("works").finished {}
    user.upkeep.free().await.expect("works");
    user.upkeep.compact(99).await.expect("works");
    user.upkeep.free().await.expect("works");
    user.extents.settle().await;
    user.verify().await;
    let report = user.scrub().await;
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.unreferenced, 0, "orphans were all found");
    user.put().await.expect("works on");
}

#[test]
fn every_crash_point_keeps_what_was_acknowledged() {
    const STEPS: u64 = 36;
    runtime().block_on(async {
        let disk = CrashDisk::new();
        let mut user = User::new(Arc::new(disk.clone()), 7);
        user.longest = 9_000;
        script(&mut user, STEPS).await.expect("no crash");
        drop(user);
        let calls = disk.calls();
        assert!(calls > 100, "only {calls} calls");
        let mut crashes = 0;
        for call in 0..calls {
            for survival in Survival::ALL {
                let disk = CrashDisk::new();
                disk.power_off_at(call);
                let mut user = User::new(Arc::new(disk.clone()), 7);
                user.longest = 9_000;
                let ended = script(&mut user, STEPS).await;
                crashes += u64::from(ended.is_err());
                let rebooted = disk.reboot(survival, call);
                after_restart(user.reopen(Some(Arc::new(rebooted)))).await;
            }
        }
        assert!(crashes > 2 * calls, "{crashes} crashes over {calls} calls");
    });
}

#[test]
fn every_failing_call_leaves_what_was_acknowledged() {
    const STEPS: u64 = 27;
    runtime().block_on(async {
        let run = async |plan: Option<FaultPlan>| {
            let inner: Arc<dyn Disk> = Arc::new(MemDisk::new());
            let disk = Arc::new(FailDisk::new(Arc::clone(&inner)));
            disk.set_plan(plan);
            let mut user = User::new(Arc::<FailDisk>::clone(&disk), 11);
            user.longest = 9_000;
            let ended = script(&mut user, STEPS).await;
            (inner, disk, user, ended)
        };
        let (_, disk, user, ended) = run(None).await;
        ended.expect("nothing fails");
        drop(user);
        let calls = disk.calls();
        let mut hits = 0;
        for fault in [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync] {
            // The first call lists the folder.
            for from in 2..calls {
                let plan = FaultPlan { fault, from, count: 1 };
                let (inner, disk, mut user, ended) = run(Some(plan)).await;
                hits += disk.hits();
                disk.set_plan(None);
                if fault == Fault::Enospc && ended.is_err() {
                    user.put().await.expect("space is back, nothing was poisoned");
                }
                after_restart(user.reopen(Some(inner))).await;
            }
        }
        assert!(hits > calls, "{hits} faults over {calls} calls");
    });
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged() {
    runtime().block_on(async {
        let inner: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let disk = Arc::new(FailDisk::new(Arc::clone(&inner)));
        let extents = open(&(Arc::<FailDisk>::clone(&disk) as Arc<dyn Disk>));
        let first = extents.write(&owner(1), Bytes::from_static(b"first")).await.expect("works");
        disk.set_plan(Some(FaultPlan { fault: Fault::FailedSync, from: disk.calls(), count: 9 }));
        for _ in 0..3 {
            let refused = extents.write(&owner(2), Bytes::from_static(b"second")).await;
            assert!(matches!(refused, Err(StoreError::Poisoned)), "{refused:?}");
            disk.set_plan(None);
        }
        let read = extents.read(&first, 0..5).await.expect("reads go on");
        assert_eq!(read, &b"first"[..]);
        drop(extents);
        let extents = open(&inner);
        extents.write(&owner(2), Bytes::from_static(b"second")).await.expect("after a restart");
        assert_eq!(extents.read(&first, 0..5).await.expect("works"), &b"first"[..]);
    });
}

#[test]
fn a_full_disk_is_said_so_and_works_again() {
    runtime().block_on(async {
        let disk = Arc::new(FailDisk::new(Arc::new(MemDisk::new())));
        let extents = open(&(Arc::<FailDisk>::clone(&disk) as Arc<dyn Disk>));
        let body = Bytes::from(vec![7; 40_000]);
        extents.write(&owner(1), body.clone()).await.expect("works");
        disk.set_plan(Some(FaultPlan { fault: Fault::Enospc, from: 0, count: u64::MAX }));
        for _ in 0..3 {
            let refused = extents.write(&owner(2), body.clone()).await;
            assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
        }
        assert_eq!(disk.list("segments").expect("works").len(), 1, "nothing is left behind");
        disk.set_plan(None);
        let at = extents.write(&owner(2), body.clone()).await.expect("space is back");
        assert_eq!(extents.read(&at, 0..40_000).await.expect("works"), body);
    });
}

async fn three_records(disk: &CrashDisk) -> Vec<ExtentRef> {
    let extents = open(&(Arc::new(disk.clone()) as Arc<dyn Disk>));
    let mut refs = Vec::new();
    for key in 0..3 {
        refs.push(extents.write(&owner(key), vec![key; 1_000].into()).await.expect("works"));
    }
    disk.power_off();
    refs
}

async fn readable(extents: &Extents, at: &ExtentRef) -> bool {
    extents.read(at, 0..at.length).await.is_ok()
}

#[test]
fn recovery_keeps_records_behind_damage_and_cuts_only_zeros() {
    runtime().block_on(async {
        let disk = CrashDisk::new();
        let refs = three_records(&disk).await;
        let disk = disk.reboot(Survival::All, 1);
        let (_, file) = segment_files(&disk).remove(0);
        // The second header is gone, and something stands behind the last record.
        file.write_at(refs[1].offset, &[0; 32]).expect("works");
        file.write_at(refs[2].offset + 3_000, b"remains of a torn write").expect("works");
        let extents = open(&(Arc::new(disk) as Arc<dyn Disk>));
        let done = extents.recover_unsealed().await.expect("works");
        assert_eq!((done.recovered, done.records, done.damaged), (1, 2, 0));
        assert!(done.torn_bytes > 1_000, "{done:?}");
        let status = extents.segments()[0];
        assert_eq!(status.phase, Phase::Sealed);
        assert!(status.end >= refs[2].offset + 3_000 + 23, "{status:?}");
        assert!(file.len().expect("works") < extents_support::SEGMENT, "the reserved rest is cut");
        for (at, expected) in refs.iter().zip([true, false, true]) {
            assert_eq!(readable(&extents, at).await, expected, "{at:?}");
        }
    });
}

#[test]
fn a_damaged_segment_header_costs_no_record() {
    runtime().block_on(async {
        let disk = CrashDisk::new();
        let refs = three_records(&disk).await;
        let disk = disk.reboot(Survival::All, 1);
        let (name, _) = segment_files(&disk).remove(0);
        disk.flip(&format!("segments/{name}"), 20, 1);
        let extents = open(&(Arc::new(disk) as Arc<dyn Disk>));
        let done = extents.recover_unsealed().await.expect("works");
        assert_eq!((done.recovered, done.damaged), (0, 1));
        for at in &refs {
            assert!(readable(&extents, at).await, "{at:?}");
        }
    });
}

#[test]
fn an_unfinished_segment_is_removed_and_its_number_not_used_again() {
    runtime().block_on(async {
        let disk = MemDisk::new();
        let file = disk.open("segments/0000000009.seg", OpenMode::New).expect("works");
        file.allocate(0, 10_000).expect("works");
        let disk: Arc<dyn Disk> = Arc::new(disk);
        let extents = open(&disk);
        let at = extents.write(&owner(1), Bytes::from_static(b"x")).await.expect("works");
        assert_eq!(at.segment, 10);
        extents.recover_unsealed().await.expect("works");
        assert_eq!(extents.segments().len(), 1);
        // Empty, but the highest: it stays until there is a higher one.
        extents.release(&[at]);
        extents.settle().await;
        drop(extents);
        let extents = open(&disk);
        extents.recover_unsealed().await.expect("works");
        extents.count_segments(9).await.expect("works");
        let next = extents.write(&owner(1), Bytes::from_static(b"y")).await.expect("works");
        assert_eq!(next.segment, 11);
        assert!(!readable(&extents, &at).await, "released");
    });
}

#[test]
fn bad_requests_are_refused() {
    runtime().block_on(async {
        let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
        let extents = open(&disk);
        let refused = extents.write(&owner(1), Bytes::new()).await;
        assert!(matches!(refused, Err(StoreError::Limit(_))));
        let at = extents.write(&owner(1), Bytes::from_static(b"12345678")).await.expect("works");
        for (start, end) in [(0, 9), (9, 9), (5, 4)] {
            let refused = extents.read(&at, start..end).await;
            assert!(matches!(refused, Err(StoreError::Limit(_))), "{start}..{end}");
        }
        assert!(extents.read(&at, 3..3).await.expect("empty").is_empty());
        for wrong in [
            ExtentRef { offset: at.offset + 8, ..at },
            ExtentRef { offset: u64::MAX - 7, ..at },
            ExtentRef { length: 7, ..at },
            ExtentRef { length: 4 << 20, ..at },
            ExtentRef { segment: at.segment + 1, ..at },
        ] {
            let refused = extents.read(&wrong, 0..wrong.length.min(5)).await;
            assert!(matches!(refused, Err(StoreError::Corrupt { .. })), "{wrong:?}: {refused:?}");
        }
    });
}
