//! One suite for every metadata engine: what `Meta` promises, checked against a model.
//!
//! An engine joins by one line at the end of this file.

use super::{Abort, Meta, Placement, Row, TransactError, limits};
use crate::error::StoreError;
use std::collections::BTreeMap;
use std::future::Future;
use zaffre_base::Stamp;
use zaffre_testkit::Random;

type Model = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

fn any_key(random: &mut Random) -> Vec<u8> {
    let len = random.below(4);
    (0..len).map(|_| random.byte(3) * 127).collect()
}

fn any_value(random: &mut Random) -> Vec<u8> {
    let len = if random.below(20) == 0 { 5_000 } else { random.index(40) };
    vec![random.byte(255); len]
}

fn place(number: u8) -> Placement {
    // One name is a prefix of another on purpose.
    let names: [&[u8]; 3] = [b"a", b"ab", b""];
    Placement::new(names[usize::from(number)])
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
}

fn expected(model: &Model, at: u8, start: &[u8], end: Option<&[u8]>, limit: usize) -> Vec<Row> {
    model
        .iter()
        .filter(|((place, key), _)| {
            *place == at && &key[..] >= start && end.is_none_or(|end| &key[..] < end)
        })
        .take(limit)
        .map(|((_, key), value)| Row { key: key.clone(), value: value.clone() })
        .collect()
}

fn random_range(random: &mut Random) -> (Vec<u8>, Option<Vec<u8>>, usize) {
    let start = any_key(random);
    let end = (random.below(2) == 0).then(|| any_key(random));
    (start, end, usize::try_from(random.below(8)).unwrap_or(0))
}

/// Random transactions, some refused at the end, against the model; old snapshots keep their state.
async fn model(meta: Meta, seed: u64) {
    let mut random = Random(seed);
    let mut model = Model::new();
    let mut held = Vec::new();
    let mut last = Stamp(0);
    for _ in 0..300 {
        let at = random.byte(3);
        let steps: Vec<Step> = (0..random.below(5))
            .map(|_| match random.below(3) {
                0 => Step::Delete(any_key(&mut random)),
                _ => Step::Put(any_key(&mut random), any_value(&mut random)),
            })
            .collect();
        let refuse = random.below(4) == 0;
        let range = random_range(&mut random);
        let mut next = model.clone();
        for step in &steps {
            match step {
                Step::Put(key, value) => drop(next.insert((at, key.clone()), value.clone())),
                Step::Delete(key) => drop(next.remove(&(at, key.clone()))),
            }
        }
        let want = expected(&next, at, &range.0, range.1.as_deref(), range.2);
        let script = steps.clone();
        let outcome = meta
            .transact(&place(at), move |tx| {
                for step in &script {
                    match step {
                        Step::Put(key, value) => {
                            tx.put(key, value)?;
                            assert_eq!(
                                tx.get(key)?.as_deref(),
                                Some(&value[..]),
                                "reads its own write"
                            );
                        }
                        Step::Delete(key) => tx.delete(key)?,
                    }
                }
                let found = tx.scan(&range.0, range.1.as_deref(), range.2)?;
                assert_eq!(found, want, "scan inside the transaction");
                if refuse { Err(Abort::Fail("refused")) } else { Ok(tx.stamp()) }
            })
            .await;
        match outcome {
            Ok(stamp) => {
                assert!(!refuse && stamp > last || steps.is_empty(), "stamps rise");
                last = last.max(stamp);
                model = next;
            }
            Err(TransactError::Body(reason)) => assert!(refuse, "{reason}"),
            Err(TransactError::Store(error)) => panic!("{error}"),
        }
        if random.below(10) == 0 {
            let snapshot = meta.snapshot(&place(at)).await.expect("snapshot");
            held.push((snapshot, at, model.clone()));
            held.truncate(8);
        }
        check_held(&held, &mut random);
    }
}

fn check_held(held: &[(super::Snapshot, u8, Model)], random: &mut Random) {
    for (snapshot, at, model) in held {
        let (start, end, limit) = random_range(random);
        let rows = snapshot.scan(&start, end.as_deref(), limit).expect("scan");
        assert_eq!(rows, expected(model, *at, &start, end.as_deref(), limit));
        let key = any_key(random);
        let value = snapshot.get(&key).expect("get");
        assert_eq!(value.as_deref(), model.get(&(*at, key)).map(Vec::as_slice));
    }
}

/// A scan continued by the key after the last one sees every row once.
async fn pages(meta: Meta) {
    let at = place(0);
    for block in 0..4_u32 {
        meta.transact(&at, move |tx| {
            for number in block * 100..block * 100 + 100 {
                tx.put(&number.to_be_bytes(), b"x")?;
            }
            Ok::<_, Abort<()>>(())
        })
        .await
        .expect("written");
    }
    let snapshot = meta.snapshot(&at).await.expect("snapshot");
    let (mut seen, mut from) = (0, Vec::new());
    loop {
        let rows = snapshot.scan(&from, None, 7).expect("scan");
        let Some(last) = rows.last() else { break };
        seen += rows.len();
        from.clone_from(&last.key);
        from.push(0);
    }
    assert_eq!(seen, 400);
}

/// Each limit is an error, and nothing of such a transaction is kept.
async fn limits_hold(meta: Meta) {
    type Breaker = fn(&mut super::Tx<'_>) -> Result<(), Abort<()>>;
    let breakers: [(&str, Breaker); 5] = [
        ("key", |tx| Ok(tx.put(&[1; limits::KEY_BYTES + 1], b"")?)),
        ("value", |tx| Ok(tx.put(b"k", &vec![1; limits::VALUE_BYTES + 1])?)),
        ("writes", |tx| (0..=limits::WRITES).try_for_each(|i| Ok(tx.put(&i.to_be_bytes(), b"")?))),
        ("bytes", |tx| {
            let value = vec![1; limits::VALUE_BYTES];
            (0..=limits::WRITE_BYTES / limits::VALUE_BYTES)
                .try_for_each(|i| Ok(tx.put(&i.to_be_bytes(), &value)?))
        }),
        ("reads", |tx| {
            (0..=limits::READS).try_for_each(|_| tx.get(b"k").map(drop).map_err(Abort::from))
        }),
    ];
    let at = place(1);
    for (name, breaker) in breakers {
        let outcome = meta
            .transact(&at, move |tx| {
                tx.put(b"first", b"1")?;
                breaker(tx)
            })
            .await;
        assert!(matches!(outcome, Err(TransactError::Store(StoreError::Limit(_)))), "{name}");
    }
    let snapshot = meta.snapshot(&at).await.expect("snapshot");
    assert_eq!(snapshot.scan(&[], None, 10).expect("scan"), []);
    let full = (vec![1; limits::KEY_BYTES], vec![2; limits::VALUE_BYTES]);
    let put = full.clone();
    meta.transact(&at, move |tx| Ok::<_, Abort<()>>(tx.put(&put.0, &put.1)?)).await.expect("fits");
    let snapshot = meta.snapshot(&at).await.expect("snapshot");
    assert_eq!(snapshot.get(&full.0).expect("get").as_deref(), Some(&full.1[..]));
}

/// Sixteen tasks add to one counter; none of their additions is lost.
async fn hot_key(meta: Meta) {
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let meta = meta.clone();
        tasks.push(tokio::spawn(async move {
            let at = place(0);
            for _ in 0..50 {
                let added = meta.transact(&at, |tx| {
                    let old = tx
                        .get(b"n")?
                        .map_or(0, |v| u64::from_le_bytes(v[..].try_into().expect("eight bytes")));
                    Ok::<_, Abort<()>>(tx.put(b"n", &(old + 1).to_le_bytes())?)
                });
                added.await.expect("added");
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    let snapshot = meta.snapshot(&place(0)).await.expect("snapshot");
    let value = snapshot.get(b"n").expect("get").expect("there");
    assert_eq!(value[..], 800_u64.to_le_bytes());
}

/// Writers move amounts between rows; every snapshot sees the same sum.
async fn isolation(meta: Meta) {
    fn number(value: &[u8]) -> i64 {
        i64::from_le_bytes(value.try_into().expect("eight bytes"))
    }
    let at = place(0);
    meta.transact(&at, |tx| {
        (0..10_u8).try_for_each(|row| tx.put(&[row], &100_i64.to_le_bytes()))?;
        Ok::<_, Abort<()>>(())
    })
    .await
    .expect("written");
    let mut tasks = Vec::new();
    for seed in 0..4 {
        let meta = meta.clone();
        tasks.push(tokio::spawn(async move {
            let (mut random, at) = (Random(seed), place(0));
            for _ in 0..100 {
                let (from, to) = (random.byte(10), random.byte(10));
                let moved = meta.transact(&at, move |tx| {
                    if from != to {
                        let a = number(&tx.get(&[from])?.expect("there"));
                        let b = number(&tx.get(&[to])?.expect("there"));
                        tx.put(&[from], &(a - 7).to_le_bytes())?;
                        tx.put(&[to], &(b + 7).to_le_bytes())?;
                    }
                    Ok::<_, Abort<()>>(())
                });
                moved.await.expect("moved");
            }
        }));
    }
    for _ in 0..200 {
        let rows = meta.snapshot(&at).await.expect("snapshot").scan(&[], None, 20).expect("scan");
        assert_eq!(rows.iter().map(|row| number(&row.value)).sum::<i64>(), 1_000);
        tokio::task::yield_now().await;
    }
    for task in tasks {
        task.await.expect("no panic");
    }
}

fn block_on<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    runtime.expect("runtime").block_on(test);
}

macro_rules! conformance {
    ($engine:ident, $make:expr) => {
        mod $engine {
            use super::*;

            #[test]
            fn model() {
                for seed in 0..20 {
                    let make = $make;
                    block_on(super::model(make(seed), seed));
                }
            }

            #[test]
            fn pages() {
                block_on(super::pages($make(1)));
            }

            #[test]
            fn limits_hold() {
                block_on(super::limits_hold($make(2)));
            }

            #[test]
            fn hot_key() {
                block_on(super::hot_key($make(3)));
            }

            #[test]
            fn isolation() {
                block_on(super::isolation($make(4)));
            }
        }
    };
}

conformance!(embedded, crate::meta::embedded::testing::in_memory);
conformance!(strict, crate::meta::strict::testing::hostile);
