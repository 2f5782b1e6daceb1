//! The encrypted disk against the in-memory one, operation by operation.

use super::*;
use crate::disk::MemDisk;
use zaffre_testkit::{Random, seeds};

fn key(byte: u8) -> DiskKey {
    Secret::new([byte; 32])
}

fn read(file: &dyn File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    file.read_at(offset, &mut bytes).map(|()| bytes)
}

/// Every operation at random places gives what a plain file gives.
#[test]
fn like_a_plain_file() {
    let seeds = seeds(2_000);
    println!("seeds {seeds:?}; replay one with ZAFFRE_SEED=n");
    for seed in seeds {
        let mut random = Random(seed);
        let plain = MemDisk::new().open("f", OpenMode::New).expect("in memory");
        let disk = EncryptedDisk::new(Arc::new(MemDisk::new()), key(1)).expect("empty");
        let mut sealed = disk.open("f", OpenMode::New).expect("in memory");
        for step in 0..60 {
            let offset = random.below(300);
            let len = 1 + random.below(200);
            match random.below(12) {
                0..6 => {
                    let data: Vec<u8> = (0..len)
                        .map(|_| u8::try_from(random.below(256)).expect("a byte"))
                        .collect();
                    plain.write_at(offset, &data).expect("in memory");
                    sealed.write_at(offset, &data).expect("in memory");
                }
                6 => {
                    plain.set_len(offset).expect("in memory");
                    sealed.set_len(offset).expect("in memory");
                }
                7 => {
                    plain.allocate(offset, len).expect("in memory");
                    sealed.allocate(offset, len).expect("in memory");
                }
                8 => {
                    let len = len.min(plain.len().expect("in memory").saturating_sub(offset));
                    plain.punch(offset, len).expect("in memory");
                    sealed.punch(offset, len).expect("in memory");
                }
                9 => sealed = disk.open("f", OpenMode::Existing).expect("there"),
                _ => {
                    let len = usize::try_from(len).expect("small");
                    let (a, b) = (read(&*plain, offset, len), read(&*sealed, offset, len));
                    assert_eq!(a.ok(), b.ok(), "seed {seed}, step {step}: {offset}+{len}");
                }
            }
            let length = plain.len().expect("in memory");
            assert_eq!(length, sealed.len().expect("in memory"), "seed {seed}, step {step}");
            let all = usize::try_from(length).expect("small");
            let (a, b) = (read(&*plain, 0, all), read(&*sealed, 0, all));
            assert_eq!(a.ok(), b.ok(), "seed {seed}, step {step}");
        }
    }
}

#[test]
fn nothing_plain_reaches_the_disk() {
    let below = Arc::new(MemDisk::new());
    let disk = EncryptedDisk::new(below.clone(), key(1)).expect("empty");
    let secret = b"nobody may read this in the file".repeat(40);
    for (name, offset) in [("a", 0), ("b", 5), ("c", 4096)] {
        let file = disk.open(name, OpenMode::New).expect("in memory");
        file.write_at(offset, &secret).expect("in memory");
        let raw = below.open(name, OpenMode::Existing).expect("there");
        let len = usize::try_from(raw.len().expect("in memory")).expect("small");
        let bytes = read(&*raw, 0, len).expect("in memory");
        assert!(!bytes.windows(8).any(|w| secret.windows(8).any(|s| s == w)), "{name}");
    }
    let raw = |name: &str| {
        let file = below.open(name, OpenMode::Existing).expect("there");
        read(&*file, HEADER, 64).expect("in memory")
    };
    let twin = disk.open("twin", OpenMode::New).expect("in memory");
    twin.write_at(0, &secret).expect("in memory");
    assert_ne!(raw("a"), raw("twin"), "equal files look different");
}

#[test]
fn keys_and_headers() {
    let below = Arc::new(MemDisk::new());
    let name = crate::directory::FORMAT;
    let disk = EncryptedDisk::new(below.clone(), key(1)).expect("empty");
    disk.open(name, OpenMode::New).expect("made").write_at(0, b"text").expect("in memory");
    assert!(EncryptedDisk::new(below.clone(), key(1)).is_ok());
    let wrong = EncryptedDisk::new(below.clone(), key(2)).map(|_| ());
    assert!(matches!(wrong, Err(OpenError::WrongKey)), "{wrong:?}");
    let other = EncryptedDisk { inner: below.clone(), key: key(2) };
    for mode in [OpenMode::Existing, OpenMode::Create] {
        let error = other.open(name, mode).expect_err("another key");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
    let file = below.open("cut", OpenMode::New).expect("in memory");
    file.write_at(0, &MAGIC[..9]).expect("in memory");
    disk.open("cut", OpenMode::Create).expect("a creation that was cut short is done again");
    let plain = Arc::new(MemDisk::new());
    plain.open(name, OpenMode::New).expect("made").write_at(0, b"text").expect("in memory");
    let error = EncryptedDisk::new(plain, key(1)).map(|_| ());
    assert!(matches!(error, Err(OpenError::NotEncrypted)), "{error:?}");
}
