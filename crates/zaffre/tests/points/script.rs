//! Scripts: the scenes of `scenes.txt`, several turns of each, mixed as a seed decides.
//!
//! Must never leave out an operation of a scene; `covers` compares them with the closed enums.

use crate::server::{Ask, Server, escaped};
use std::collections::BTreeMap;
use zaffre_testkit::Random;

const SCENES: &str = include_str!("scenes.txt");
/// Operations between two turns of the background.
const UNTIL_BACKGROUND: u64 = 12;
/// Where the closed enums are.
const OPERATIONS: [(&str, &str); 4] = [
    ("blob", include_str!("../../../blob/src/operation.rs")),
    ("queue", include_str!("../../../queue/src/operation.rs")),
    ("table", include_str!("../../../table/src/operation.rs")),
    ("file", include_str!("../../../file/src/operation.rs")),
];
/// What those who only read are called.
const READERS: [&str; 8] =
    ["Get", "List", "Query", "Find", "Peek", "Preflight", "SetBlobExpiry", "AbortCopyFile"];
/// Others that leave nothing on the disk: no handle is open.
const NOTHING: [(&str, &str); 1] = [("file", "ForceCloseHandles")];

/// What was learnt from answers, by name.
pub(crate) type Known = BTreeMap<String, String>;

/// One line of a scene.
#[derive(Clone, Debug)]
enum Line {
    Ask { kind: String, words: Words, learns: Vec<(String, String)>, glued: bool },
    Settle,
    Find { name: String, words: Words, element: String },
}

/// A request with names to be filled in.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    service: &'static str,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// One step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Operation {
        name: String,
        versions: bool,
        finds: Vec<Find>,
        words: Words,
        learns: Vec<(String, String)>,
    },
    /// A turn of the background that changes nothing one can see, or ends a copy.
    Background { settles: bool },
}

/// A name to be learnt from a listing.
#[derive(Clone, Debug)]
pub(crate) struct Find {
    pub(crate) name: String,
    pub(crate) words: Words,
    pub(crate) element: String,
}

/// What to do, and where to look.
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    pub(crate) sights: Vec<Words>,
}

struct Scene {
    versions: bool,
    lines: Vec<Line>,
}

impl Script {
    /// The script of a seed, with so many turns of each scene.
    pub(crate) fn of(seed: u64, turns: usize) -> Self {
        let mut sights: BTreeMap<String, Words> = BTreeMap::new();
        let mut scenes = Vec::new();
        for turn in 1..=turns {
            let turn = turn.to_string();
            scenes.extend(read(&SCENES.replace('#', &turn), &turn, &mut sights));
        }
        let steps = mixed(scenes, &mut Random(seed));
        Self { steps, sights: sights.into_values().collect() }
    }

    /// How many operations it has.
    pub(crate) fn operations(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Operation { .. })).count()
    }
}

fn service(word: &str) -> &'static str {
    OPERATIONS.iter().map(|(name, _)| *name).find(|name| *name == word).unwrap_or_else(|| {
        panic!("`{word}` is no service");
    })
}

fn read(text: &str, turn: &str, sights: &mut BTreeMap<String, Words>) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let glued = line.starts_with("+ ");
        let line = line.strip_prefix("+ ").unwrap_or(line);
        let (head, body) = line.split_once(" <").unwrap_or((line, ""));
        let words: Vec<&str> = head.split(' ').collect();
        match words[..] {
            ["scene", _] => scenes.push(Scene { versions: true, lines: Vec::new() }),
            ["scene", _, "plain"] => scenes.push(Scene { versions: false, lines: Vec::new() }),
            ["settle"] => last(&mut scenes).lines.push(Line::Settle),
            ["see", of, target, ..] => {
                let seen = Words::new(service(of), "GET", target, &words[3..], "");
                sights.insert(line.to_owned(), seen);
            }
            ["find", of, name, target, element] => {
                let words = Words::new(service(of), "GET", target, &[], "");
                let (name, element) = (name.to_owned() + turn, element.to_owned());
                last(&mut scenes).lines.push(Line::Find { name, words, element });
            }
            [of, kind, method, target, ..] => {
                let learns = words[4..].iter().filter_map(|word| word.strip_prefix('>'));
                let learns = learns.filter_map(|word| word.split_once('='));
                let learns = learns.map(|(name, from)| (name.to_owned() + turn, from.to_owned()));
                let learns = learns.collect();
                let asked = Words::new(service(of), method, target, &words[4..], body);
                let kind = kind.to_owned();
                last(&mut scenes).lines.push(Line::Ask { kind, words: asked, learns, glued });
            }
            _ => panic!("not a line of a scene: {line}"),
        }
    }
    scenes
}

fn last(scenes: &mut [Scene]) -> &mut Scene {
    scenes.last_mut().expect("a scene begins before its lines")
}

/// All lines, each scene's in order.
fn mixed(scenes: Vec<Scene>, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut open: Vec<_> = scenes
        .into_iter()
        .map(|scene| (scene.versions, scene.lines.into_iter().peekable()))
        .collect();
    while !open.is_empty() {
        let chosen = random.index(open.len());
        let (versions, lines) = &mut open[chosen];
        let mut finds = Vec::new();
        loop {
            match lines.next() {
                Some(Line::Find { name, words, element }) => {
                    finds.push(Find { name, words, element });
                    continue;
                }
                Some(Line::Settle) => steps.push(Step::Background { settles: true }),
                Some(Line::Ask { kind, words, learns, .. }) => {
                    let (name, finds) =
                        (format!("{} {kind}", words.service), std::mem::take(&mut finds));
                    let versions = *versions;
                    steps.push(Step::Operation { name, versions, finds, words, learns });
                }
                None => break,
            }
            if !matches!(lines.peek(), Some(Line::Settle | Line::Ask { glued: true, .. })) {
                break;
            }
        }
        if lines.peek().is_none() {
            drop(open.swap_remove(chosen));
        }
        if random.below(UNTIL_BACKGROUND) == 0 {
            steps.push(Step::Background { settles: false });
        }
    }
    steps
}

impl Words {
    fn new(service: &'static str, method: &str, target: &str, rest: &[&str], body: &str) -> Self {
        let headers = rest.iter().filter(|word| !word.starts_with('>'));
        let headers = headers.filter_map(|word| word.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.replace('_', " ")));
        let (method, target) = (method.to_owned(), target.to_owned());
        Self {
            service,
            method,
            target,
            headers: headers.collect(),
            body: body.replace("\\r\\n", "\r\n"),
        }
    }

    /// The request; `None` if a name in it is not known yet.
    pub(crate) fn ask(&self, known: &Known, seed: u64) -> Option<Ask> {
        let fill = |text: &str, escape: bool| {
            known.iter().fold(text.to_owned(), |text, (name, value)| {
                let value = if escape { escaped(value) } else { value.clone() };
                text.replace(&format!("{{{name}}}"), &value)
            })
        };
        let target = fill(&self.target, true);
        let headers: Vec<(String, String)> =
            self.headers.iter().map(|(name, value)| (name.clone(), fill(value, false))).collect();
        let whole = !target.contains('{') && headers.iter().all(|(_, value)| !value.contains('{'));
        let body = match self.body.strip_prefix('@') {
            Some(length) => bytes(length.parse().expect("a length"), seed),
            None => fill(&self.body, false).into_bytes(),
        };
        let (service, method) = (self.service, self.method.clone());
        whole.then_some(Ask { service, method, target, headers, body })
    }
}

fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..length).map(|_| b'a' + random.byte(26)).collect()
}

/// What is known from the start.
pub(crate) fn known(server: &Server) -> Known {
    let address = |port| format!("http://127.0.0.1:{port}/{}", crate::server::ACCOUNT);
    let all = [("blobs", address(10_000)), ("files", address(10_003)), ("token", server.token())];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Write operations of the closed enums without a line in a scene.
pub(crate) fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    for (service, code) in OPERATIONS {
        let listed =
            code.split("\npub enum Kind {\n").nth(1).or(code.split("\noperations! {\n").nth(1));
        let listed =
            listed.and_then(|rest| rest.split("\n}").next()).expect("a list of operations");
        let names = listed.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let names = names.map(|line| line.split(['(', ',']).next().unwrap_or_default());
        let writers: Vec<&str> = names
            .filter(|name| !name.is_empty())
            .filter(|name| *name == "GetMessages" || !READERS.iter().any(|r| name.starts_with(r)))
            .filter(|name| !NOTHING.contains(&(service, name)))
            .collect();
        assert!(writers.len() > 7, "{service}: cannot read the list of operations: {writers:?}");
        let absent =
            writers.into_iter().filter(|name| !SCENES.contains(&format!("{service} {name} ")));
        missing.extend(absent.map(|name| format!("{service} {name}")));
    }
    missing
}
