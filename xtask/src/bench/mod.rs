//! Speed, as a ratio to a peer measured in the same run: absolute figures differ by machine.
//!
//! Must never write down a figure that this run did not measure.

mod document;
mod line;
mod peers;

use crate::needs::{self, Need};
use crate::step::Program;
use crate::{Outcome, root};
use line::Line;
use std::time::Duration;

/// A group of comparisons and what it needs.
struct Bench {
    name: &'static str,
    peers: &'static str,
    package: &'static str,
    /// Its own name in each package: cargo puts all examples into one folder.
    example: &'static str,
    needs: &'static [Need],
    /// What must be there besides Debian's packages; gives the arguments behind the data folder.
    prepare: fn() -> Result<Vec<String>, String>,
}

const FIO: Need =
    Need { probe: &["fio", "--version"], package: "fio", reason: "the bare disk to compare with" };
const NGINX: Need = Need {
    probe: &["/usr/sbin/nginx", "-v"],
    package: "nginx-light",
    reason: "a fast file server to compare with",
};
const NPM: Need =
    Need { probe: &["npm", "--version"], package: "npm", reason: "brings Azurite and its Node" };

const SAMBA: Need = Need {
    probe: &["/usr/sbin/smbd", "--version"],
    package: "samba",
    reason: "the SMB server to compare with",
};

const BENCHES: [Bench; 6] = [
    Bench {
        name: "store",
        peers: "the bare disk",
        package: "zaffre-store",
        example: "store_bench",
        needs: &[FIO],
        prepare: || Ok(Vec::new()),
    },
    Bench {
        name: "blob",
        peers: "Azurite, nginx, a bare hyper server and the bare disk",
        package: "zaffre",
        example: "blob_bench",
        needs: &[FIO, NGINX, NPM],
        prepare: server_and_peers,
    },
    Bench {
        name: "queue",
        peers: "Azurite",
        package: "zaffre",
        example: "blob_bench",
        needs: &[NPM],
        prepare: || Ok([server_and_peers()?, vec!["queue".to_owned()]].concat()),
    },
    Bench {
        name: "table",
        peers: "Azurite",
        package: "zaffre",
        example: "blob_bench",
        needs: &[NPM],
        prepare: || Ok([server_and_peers()?, vec!["table".to_owned()]].concat()),
    },
    Bench {
        name: "file",
        peers: "blobs of the same server",
        package: "zaffre",
        example: "blob_bench",
        needs: &[NPM],
        prepare: || Ok([server_and_peers()?, vec!["file".to_owned()]].concat()),
    },
    Bench {
        name: "smb",
        peers: "Debian's smbd",
        package: "zaffre",
        example: "blob_bench",
        needs: &[SAMBA],
        prepare: || {
            let no_peers = peers::folder().display().to_string();
            Ok(vec![server()?, no_peers, "smb".to_owned()])
        },
    },
];

/// `bench [name] [--quick]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let quick = words.contains(&"--quick");
    let names: Vec<&str> = words.iter().filter(|word| **word != "--quick").copied().collect();
    let known = || BENCHES.map(|bench| bench.name).join(", ");
    let wanted = match names[..] {
        [] => None,
        [name] if BENCHES.iter().any(|bench| bench.name == name) => Some(name),
        _ => return Err(format!("no bench `{}`; there are: {}", names.join(" "), known())),
    };
    let mut clean = true;
    for bench in BENCHES.iter().filter(|bench| wanted.is_none_or(|name| name == bench.name)) {
        let lines = measure(bench, quick)?;
        let table = line::table(&lines);
        println!("\n{} against {}\n\n{table}", bench.name, bench.peers);
        if quick {
            println!("a quick run proves little: the document stays as it is");
        } else {
            document::write(bench.name, &table)?;
        }
        clean &= lines.iter().all(|line| line.passes() != Some(false));
    }
    Ok(clean)
}

/// Runs the example and reads its lines.
fn measure(bench: &Bench, quick: bool) -> Result<Vec<Line>, String> {
    needs::ensure_these(bench.needs)?;
    let args = (bench.prepare)()?;
    let Bench { package, example, .. } = bench;
    let build = format!("cargo build --locked --release -p {package} --example {example}");
    finished(Program::new(&build))?;
    let program = root().join("target/release/examples").join(example).display().to_string();
    let data = root().join("target/bench-data").display().to_string();
    let mut words: Vec<&str> = vec![&data];
    words.extend(args.iter().map(String::as_str));
    words.extend(quick.then_some("--quick"));
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    let run = Program::new(&program).args(&words).limit(Duration::from_hours(1));
    let done = run.run_with(|text| match Line::parse(text) {
        Ok(Line::Other) => println!("{text}"),
        Ok(line) => lines.push(line),
        Err(reason) => broken.push(reason),
    })?;
    let measured = lines.iter().any(|line| line.passes().is_some());
    if done.failed > 0 || !broken.is_empty() || !measured {
        return Err(format!("the bench {} did not finish with good lines {broken:?}", bench.name));
    }
    Ok(lines)
}

fn server_and_peers() -> Result<Vec<String>, String> {
    peers::ensure()?;
    Ok(vec![server()?, peers::folder().display().to_string()])
}

/// Where our server is, newly built.
fn server() -> Result<String, String> {
    finished(Program::new("cargo build --locked --release -p zaffre"))?;
    Ok(root().join("target/release/zaffre").display().to_string())
}

fn finished(program: Program) -> Result<(), String> {
    if program.run()?.failed > 0 { Err("see above".to_owned()) } else { Ok(()) }
}
