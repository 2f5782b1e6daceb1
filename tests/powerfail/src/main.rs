//! `powerfail FOLDER`: mounts a file system in memory that can lose power and run out of space.
//!
//! Commands come by standard input, one a line, each answered by one line; the end of the input
//! unmounts it. Must never be part of what ships.

mod mount;
mod sparse;
mod volume;

use fuser::{Config, MountOption, spawn_mount};
use mount::Mounted;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use volume::Plan;

/// Does what a line says and answers it.
fn obey(mounted: &Mounted, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut volume = mounted.volume();
    match words[..] {
        ["cut", mode, seed] => match (mode.parse(), seed.parse()) {
            (Ok(survival), Ok(seed)) => {
                let loss = volume.cut(survival, seed);
                let ([kept, torn, dropped], [names, names_dropped]) = (loss.changes, loss.names);
                format!("off {kept} {torn} {dropped} {names} {names_dropped}")
            }
            _ => "wrong: cut none|all|prefix|random SEED".to_owned(),
        },
        ["plan", after, "cut", mode, seed] => match (after.parse(), mode.parse(), seed.parse()) {
            (Ok(after), Ok(survival), Ok(seed)) => {
                volume.plan(after, Plan::Cut(survival, seed));
                "planned".to_owned()
            }
            _ => "wrong: plan CALLS cut none|all|prefix|random SEED".to_owned(),
        },
        ["plan", after, "fail"] => match after.parse() {
            Ok(after) => {
                volume.plan(after, Plan::Fail);
                "planned".to_owned()
            }
            Err(_) => "wrong: plan CALLS fail".to_owned(),
        },
        ["calls"] => {
            let (calls, planned) = volume.calls();
            format!("calls {calls} {}", u8::from(planned))
        }
        ["on"] => {
            volume.power_on();
            "on".to_owned()
        }
        ["space", "none"] => {
            volume.limit(None);
            "space none".to_owned()
        }
        ["space", bytes] => match bytes.parse() {
            Ok(bytes) => {
                volume.limit(Some(bytes));
                format!("space {bytes}")
            }
            Err(_) => "wrong: space BYTES|none".to_owned(),
        },
        ["lie"] => {
            volume.lie();
            "lies".to_owned()
        }
        ["state"] => {
            let (_, used, syncs) = volume.state();
            format!("state {used} {syncs}")
        }
        _ => "wrong: cut, plan, calls, on, space, lie or state".to_owned(),
    }
}

fn run(folder: &str) -> io::Result<()> {
    let mounted = Mounted::default();
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("powerfail".to_owned())];
    let session = spawn_mount(mounted.clone(), folder, &config)?;
    println!("mounted");
    for line in io::stdin().lock().lines() {
        println!("{}", obey(&mounted, &line?));
        io::stdout().flush()?;
    }
    session.umount_and_join()
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("say where: powerfail FOLDER");
        return ExitCode::from(2);
    };
    match run(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
