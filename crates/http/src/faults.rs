//! Faults on purpose: rules that make chosen requests fail, so that clients' retries can be tested.
//!
//! Must never be reachable unless the operator asked for test controls: a listener without rules
//! does not even look. A fault changes nothing but the answer, or whether the operation is reached.

use crate::codes;
use crate::error::ApiError;
use crate::message::{Reply, RequestHead};
use crate::table_codes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Rules at one time.
pub const RULES: usize = 1_000;
/// The longest delay.
pub const LONGEST_DELAY: Duration = Duration::from_mins(10);

/// What happens to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// 503 ServerBusy
    Busy,
    /// 500 InternalError
    Internal,
    /// 412, as if somebody else had written meanwhile.
    Condition,
    /// The connection is reset without an answer.
    Reset,
    /// It is held up, then goes on.
    Delay(Duration),
}

/// When it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Moment {
    /// Instead of the operation.
    #[default]
    Before,
    /// The operation is performed; its answer is lost.
    After,
}

/// Which requests meet a fault, and which one. What is not given matches everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// `Blob`, `Queue`, …; case is ignored.
    pub service: Option<String>,
    /// The operation, such as `PutBlob`; case is ignored.
    pub operation: Option<String>,
    /// The container, queue or table: the first segment of the path after the account.
    pub container: Option<String>,
    /// The first matching request that is hit, from 1.
    pub nth: u64,
    /// How many are hit from there on; `None` = all.
    pub times: Option<u64>,
    /// What happens to them.
    pub action: Action,
    /// When.
    pub moment: Moment,
}

/// A rule and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Active {
    /// By which it is removed.
    pub id: u64,
    /// The rule.
    pub rule: Rule,
    /// Requests that matched.
    pub seen: u64,
    /// Requests that were hit.
    pub hit: u64,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Active>,
    last_id: u64,
}

/// The rules of a server; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    any: Arc<AtomicBool>,
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a rule; gives its id, or `None` when there are too many.
    pub fn add(&self, rule: Rule) -> Option<u64> {
        let mut state = self.state();
        if state.rules.len() >= RULES {
            return None;
        }
        state.last_id += 1;
        let id = state.last_id;
        state.rules.push(Active { id, rule, seen: 0, hit: 0 });
        self.any.store(true, Ordering::Relaxed);
        Some(id)
    }

    /// All rules, oldest first.
    pub fn list(&self) -> Vec<Active> {
        self.state().rules.clone()
    }

    /// Removes a rule; says whether it was there.
    pub fn remove(&self, id: u64) -> bool {
        let mut state = self.state();
        let before = state.rules.len();
        state.rules.retain(|active| active.id != id);
        self.any.store(!state.rules.is_empty(), Ordering::Relaxed);
        state.rules.len() < before
    }

    /// Removes all rules; says how many there were.
    pub fn clear(&self) -> usize {
        let mut state = self.state();
        self.any.store(false, Ordering::Relaxed);
        std::mem::take(&mut state.rules).len()
    }

    /// Counts a request with every rule it matches; the first rule that hits decides.
    fn strike(&self, service: &str, operation: &str, path: &str) -> Option<(Action, Moment)> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let container = path.trim_start_matches('/').split(['/', '(']).next().unwrap_or_default();
        let mut struck = None;
        for active in &mut self.state().rules {
            if struck.is_none() && active.rule.matches(service, operation, container) {
                active.seen += 1;
                if active.rule.hits(active.seen) {
                    active.hit += 1;
                    struck = Some((active.rule.action, active.rule.moment));
                }
            }
        }
        struck
    }

    /// What a request to `service` may meet.
    pub(crate) fn expect(&self, service: &'static str) -> Arc<Encounter> {
        Arc::new(Encounter { faults: self.clone(), service, struck: Mutex::default() })
    }
}

impl Rule {
    fn matches(&self, service: &str, operation: &str, container: &str) -> bool {
        let fits = |wanted: &Option<String>, is: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(is))
        };
        fits(&self.service, service)
            && fits(&self.operation, operation)
            && self.container.as_deref().is_none_or(|wanted| wanted == container)
    }

    fn hits(&self, seen: u64) -> bool {
        let from = self.nth.max(1);
        let in_time = self.times.is_none_or(|times| seen < from.saturating_add(times));
        seen >= from && in_time
    }
}

/// What one request meets.
#[derive(Debug)]
pub struct Encounter {
    faults: Faults,
    service: &'static str,
    /// What is still to be done when the operation has answered.
    struck: Mutex<Option<Action>>,
}

impl Encounter {
    fn struck(&self) -> MutexGuard<'_, Option<Action>> {
        self.struck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn meet(&self, operation: &'static str, path: &str) -> Result<(), ApiError> {
        match self.faults.strike(self.service, operation, path) {
            None => Ok(()),
            Some((Action::Delay(time), Moment::Before)) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
            Some((action, Moment::After)) => {
                *self.struck() = Some(action);
                Ok(())
            }
            Some((action, Moment::Before)) => {
                // The door makes a reset of it; others are answers already.
                *self.struck() = Some(action).filter(|action| *action == Action::Reset);
                Err(error(action, self.service))
            }
        }
    }

    /// Does what is left to do to an answer. `None`: there shall be none.
    pub(crate) async fn end(
        &self,
        answer: Result<Reply, ApiError>,
    ) -> Option<Result<Reply, ApiError>> {
        let struck = self.struck().take();
        match struck {
            None => Some(answer),
            Some(Action::Reset) => None,
            Some(Action::Delay(time)) => {
                tokio::time::sleep(time).await;
                Some(answer)
            }
            Some(action @ (Action::Busy | Action::Internal | Action::Condition)) => {
                let operation = match &answer {
                    Ok(reply) => reply.operation,
                    Err(error) => error.operation,
                };
                Some(Err(ApiError { operation, ..error(action, self.service) }))
            }
        }
    }
}

fn error(action: Action, service: &str) -> ApiError {
    match action {
        Action::Busy => ApiError::server_busy(),
        Action::Condition if service == "Table" => {
            table_codes::UPDATE_CONDITION_NOT_SATISFIED.into()
        }
        Action::Condition => codes::CONDITION_NOT_MET.into(),
        Action::Internal | Action::Reset | Action::Delay(_) => ApiError::internal_error(),
    }
}

impl RequestHead {
    /// To be called once, when it is known what is asked: lets a fault happen if one is due.
    /// `path` is the decoded path after the account.
    pub async fn meet(&self, operation: &'static str, path: &str) -> Result<(), ApiError> {
        match &self.encounter {
            None => Ok(()),
            Some(encounter) => encounter.meet(operation, path).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Rule {
        let (action, moment) = (Action::Busy, Moment::Before);
        Rule {
            service: None,
            operation: None,
            container: None,
            nth: 1,
            times: Some(1),
            action,
            moment,
        }
    }

    #[test]
    fn rules_hit_what_they_name() {
        let some = |text: &str| Some(text.to_owned());
        for (service, operation, container, hit) in [
            (None, None, None, true),
            (some("blob"), some("putblob"), some("c"), true),
            (some("Queue"), None, None, false),
            (None, some("GetBlob"), None, false),
            (None, None, some("C"), false),
            (None, None, some("other"), false),
        ] {
            let faults = Faults::default();
            faults.add(Rule { service, operation, container, ..rule() });
            assert_eq!(faults.strike("Blob", "PutBlob", "c/d/e").is_some(), hit);
        }
        let faults = Faults::default();
        faults.add(Rule { container: some("people"), ..rule() });
        assert!(faults.strike("Table", "MergeEntity", "/people(PartitionKey='a')").is_some());
    }

    #[test]
    fn rules_count() {
        for (nth, times, want) in [
            (1, Some(1), [true, false, false, false]),
            (2, Some(2), [false, true, true, false]),
            (3, None, [false, false, true, true]),
        ] {
            let faults = Faults::default();
            let id = faults.add(Rule { nth, times, ..rule() }).expect("room");
            let hits = want.map(|_| faults.strike("Blob", "PutBlob", "c").is_some());
            assert_eq!(hits, want);
            let hit = u64::try_from(want.iter().filter(|hit| **hit).count()).expect("few");
            assert_eq!((faults.list()[0].seen, faults.list()[0].hit), (4, hit));
            assert!(faults.remove(id) && !faults.remove(id));
            assert!(faults.strike("Blob", "PutBlob", "c").is_none());
        }
    }

    #[test]
    fn there_is_a_limit() {
        let faults = Faults::default();
        assert!((0..RULES).all(|_| faults.add(rule()).is_some()));
        assert_eq!(faults.add(rule()), None);
        assert_eq!((faults.clear(), faults.clear()), (RULES, 0));
    }
}
