//! Lines that wait to be written, bounded.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zaffre_auth::Service;
use zaffre_base::{AccountName, Timestamp};
use zaffre_domain::service::AnalyticsVersion;
use zaffre_domain::service::log::{Effect, LogEntry};

/// Bytes of lines that wait, of all accounts together.
const WAITING_BYTES: usize = 8 * 1024 * 1024;
/// Bytes from which on they are written without waiting for more.
const FULL_BYTES: usize = 1024 * 1024;

/// The lines of one account's service in one format, of one hour.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) service: Service,
    pub(super) version: AnalyticsVersion,
    pub(super) text: String,
    pub(super) lines: u64,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Whether it holds reads, writes and deletions.
    pub(super) holds: [bool; 3],
}

/// What tells batches apart: account, service, format, hour.
type Key = (AccountName, char, &'static str, u64);

#[derive(Default)]
struct State {
    waiting: BTreeMap<Key, Batch>,
    bytes: usize,
    lost: u64,
}

/// The next number of a blob in each account's folder of an hour.
type Numbers = BTreeMap<(AccountName, String), u32>;
/// Folders whose numbers are remembered; without one, the numbers are tried from the start.
const FOLDERS: usize = 1024;

/// All lines that wait.
#[derive(Default)]
pub(crate) struct Buffer {
    state: Mutex<State>,
    numbers: Mutex<Numbers>,
    full: Notify,
}

impl Buffer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(
        &self,
        account: &AccountName,
        service: Service,
        version: AnalyticsVersion,
        entry: &LogEntry,
        line: &str,
    ) {
        const HOUR_SECONDS: u64 = 3600;
        let mut state = self.state();
        if state.bytes + line.len() >= WAITING_BYTES {
            state.lost += 1;
            return;
        }
        let hour = entry.started.unix_seconds() / HOUR_SECONDS;
        let key = (account.clone(), service.letter(), version.text(), hour);
        let at = entry.started;
        let batch = state.waiting.entry(key).or_insert_with(|| Batch {
            service,
            version,
            text: String::new(),
            lines: 0,
            first: at,
            last: at,
            holds: [false; 3],
        });
        batch.text.push_str(line);
        batch.text.push('\n');
        batch.lines += 1;
        (batch.first, batch.last) = (batch.first.min(at), batch.last.max(at));
        let slot = match entry.effect {
            Effect::Read => 0,
            Effect::Write => 1,
            Effect::Delete => 2,
        };
        batch.holds[slot] = true;
        state.bytes += line.len() + 1;
        let full = state.bytes >= FULL_BYTES;
        drop(state);
        if full {
            self.full.notify_one();
        }
    }

    /// All that waits; the buffer is empty afterwards.
    pub(super) fn take(&self) -> Vec<(AccountName, Batch)> {
        let State { waiting, lost, .. } = std::mem::take(&mut *self.state());
        if lost > 0 {
            tracing::warn!(lost, "log lines were lost because they came too fast");
        }
        waiting.into_iter().map(|((account, ..), batch)| (account, batch)).collect()
    }

    /// The first number of a folder that may be free.
    pub(super) fn next_number(&self, account: &AccountName, folder: &str) -> u32 {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.get(&(account.clone(), folder.to_owned())).copied().unwrap_or_default()
    }

    /// `number` of a folder is taken.
    pub(super) fn took(&self, account: &AccountName, folder: &str, number: u32) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if numbers.len() >= FOLDERS {
            numbers.clear();
        }
        numbers.insert((account.clone(), folder.to_owned()), number + 1);
    }

    /// Ready when there is enough to be written at once.
    pub(super) async fn full(&self) {
        self.full.notified().await;
    }
}
