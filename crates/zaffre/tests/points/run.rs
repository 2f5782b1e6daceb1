//! A script played once without disturbance: what there was to see before and after each step, and
//! which calls of the disk it took.
//!
//! Must never go on after a step that failed or changed nothing: it would prove nothing.

use crate::recorder::{Recorder, Tape};
use crate::script::{Known, Script, Step, known};
use crate::server::{Answer, Ask, Server};
use std::sync::Arc;

/// What can be seen; `None` where a name was not known yet.
pub(crate) type View = Arc<[Option<String>]>;

/// One step that was made.
pub(crate) struct Made {
    pub(crate) name: String,
    /// `None`: the background's turn.
    pub(crate) ask: Option<Ask>,
    pub(crate) versions: bool,
    /// What is known once it is made.
    pub(crate) known: Known,
    /// Calls of the disk before it, and until its answer.
    pub(crate) from: usize,
    pub(crate) until: usize,
    pub(crate) before: View,
    pub(crate) after: View,
}

/// The whole script.
pub(crate) struct Run {
    pub(crate) script: Script,
    pub(crate) made: Vec<Made>,
    pub(crate) tape: Tape,
    /// Calls until the empty store was open.
    pub(crate) opened: usize,
}

impl Run {
    pub(crate) async fn of(seed: u64, turns: usize) -> Self {
        let script = Script::of(seed, turns);
        let recorder = Recorder::default();
        let server = Server::open(Arc::new(recorder.clone())).expect("an empty disk");
        let opened = recorder.calls();
        let mut known = known(&server);
        let mut made: Vec<Made> = Vec::new();
        let mut before = view(&server, &script, &known).await;
        for (index, step) in script.steps.iter().enumerate() {
            let number = seed.wrapping_mul(1_000).wrapping_add(index as u64);
            let begun = play(&server, &recorder, step, &mut known, number).await;
            let after = view(&server, &script, &known).await;
            let quiet = matches!(step, Step::Background { settles: false });
            assert!(
                (after == before) == quiet,
                "step {index}, {}, must change nothing: {quiet}\n{}",
                begun.name,
                differences(&after, &before)
            );
            let last = Made { before, after: after.clone(), known: known.clone(), ..begun };
            made.push(last);
            before = after;
        }
        drop(server);
        Self { script, made, tape: recorder.tape(), opened }
    }

    /// The step under way, or the last one answered, when so many calls were made.
    pub(crate) fn at(&self, calls: usize) -> Option<&Made> {
        let begun = self.made.partition_point(|made| made.from < calls);
        begun.checked_sub(1).map(|index| &self.made[index])
    }
}

async fn play(
    server: &Server,
    recorder: &Recorder,
    step: &Step,
    known: &mut Known,
    number: u64,
) -> Made {
    let nothing = || Arc::from(Vec::new());
    let (mut name, mut versions, mut asked) = ("background".to_owned(), true, None);
    let from;
    match step {
        Step::Background { .. } => {
            from = recorder.calls();
            background(server).await;
        }
        Step::Operation { name: called, versions: keeps, finds, words, learns } => {
            (name, versions) = (called.clone(), *keeps);
            for find in finds {
                let ask = find.words.ask(known, 0).expect("all names are known");
                let found = element(&server.send(&ask).await, &find.element);
                known.insert(find.name.clone(), found.expect("an element"));
            }
            let ask = words.ask(known, number).unwrap_or_else(|| panic!("{name}: {known:?}"));
            from = recorder.calls();
            let answer = perform(server, &ask, versions).await;
            assert!(answer.is_good(), "{name} {}: {}", ask.target, answer.line());
            for (learnt, from) in learns {
                let value = answer.header(from).map(str::to_owned);
                let value = value.or_else(|| element(&answer, from));
                known.insert(learnt.clone(), value.expect("something to learn"));
            }
            asked = Some(ask);
        }
    }
    let (until, known) = (recorder.calls(), Known::new());
    Made { name, ask: asked, versions, known, from, until, before: nothing(), after: nothing() }
}

/// One request, with the account's choices it is meant for.
pub(crate) async fn perform(server: &Server, ask: &Ask, versions: bool) -> Answer {
    server.keep_versions(versions);
    let answer = server.send(ask).await;
    server.keep_versions(true);
    answer
}

/// One turn of the background; errors are those of the disk.
pub(crate) async fn background(server: &Server) {
    let _ = server.core.run_background_once().await;
}

/// Whether a copy goes on, which the background would end.
pub(crate) fn is_copying(now: &View) -> bool {
    now.iter().flatten().any(|line| line.contains("pending"))
}

fn element(answer: &Answer, name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let rest = text.split_once(&format!("<{name}>"))?.1;
    rest.split_once("</").map(|(value, _)| value.to_owned())
}

/// Everything that can be seen.
pub(crate) async fn view(server: &Server, script: &Script, known: &Known) -> View {
    let mut lines = Vec::new();
    for sight in &script.sights {
        let line = match sight.ask(known, 0) {
            Some(ask) => Some(server.send(&ask).await.line()),
            None => None,
        };
        lines.push(line);
    }
    lines.into()
}

/// Whether what is seen now is what was seen then.
pub(crate) fn matches(now: &View, then: &View) -> bool {
    now.iter().zip(&**then).all(|(now, then)| then.is_none() || now == then)
}

/// Where two views differ.
pub(crate) fn differences(now: &View, then: &View) -> String {
    let pairs = now.iter().zip(&**then).filter(|(now, then)| then.is_some() && now != then);
    let short = |line: &Option<String>| -> String {
        line.as_deref().unwrap_or("nothing").chars().take(900).collect()
    };
    let pairs = pairs.map(|(now, then)| format!("now  {}\nthen {}\n", short(now), short(then)));
    pairs.collect::<Vec<_>>().concat()
}
