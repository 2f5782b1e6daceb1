//! An illegal history for people: only what is needed to see that it cannot be.
//!
//! Must never leave out what changed something: without a write, every read of it looks wrong.

use super::history::line;
use super::{Effect, Entry, Model, Verdict, check};
use std::fmt::Write as _;

/// The last lines that are shown; the rest is in the file.
const SHOWN: usize = 40;

/// Says why a history that `check` finds illegal is so.
pub(crate) fn explain<M: Model>(history: &[Entry<M>], work: usize) -> String {
    let Verdict::Illegal(at) = check(history, work) else {
        return "not illegal".to_owned();
    };
    let wrong = history[at].clone();
    let small = minimal(history, &wrong, work);
    let mut text =
        String::from("no order explains the last answer (client, call and end in ns):\n");
    if small.len() > SHOWN {
        let _ = writeln!(text, "  … {} earlier operations", small.len() - SHOWN);
    }
    for entry in &small[small.len().saturating_sub(SHOWN)..] {
        let _ = writeln!(text, "  {}", line(entry));
    }
    text
}

/// What was called before the wrong answer, without the reads and refusals that it is wrong
/// without. The wrong one is last.
fn minimal<M: Model>(history: &[Entry<M>], wrong: &Entry<M>, work: usize) -> Vec<Entry<M>> {
    let until = wrong.end.unwrap_or(u64::MAX);
    let same = |entry: &Entry<M>| entry.call == wrong.call && entry.client == wrong.client;
    let mut kept: Vec<Entry<M>> =
        history.iter().filter(|e| e.call <= until && !same(e)).cloned().collect();
    kept.sort_by_key(|entry| entry.call);
    kept.push(wrong.clone());
    let mut index = kept.len() - 1;
    while index > 0 {
        index -= 1;
        let entry = &kept[index];
        let quiet =
            entry.answer.as_ref().is_some_and(|a| M::effect(&entry.op, a) != Effect::Changed);
        if quiet {
            let removed = kept.remove(index);
            if !matches!(check(&kept, work), Verdict::Illegal(_)) {
                kept.insert(index, removed);
            }
        }
    }
    kept
}
