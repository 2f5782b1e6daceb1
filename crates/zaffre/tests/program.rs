//! The real program: what it prints, what it refuses, how it starts and ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const READY: &str = "Azurite Blob service is successfully listening at ";

fn zaffre(data: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zaffre"));
    command.env_remove("AZURITE_ACCOUNTS").env_remove("ZAFFRE_LOG").current_dir(data);
    command.args(line.split_whitespace());
    // Whoever lets the system choose one port wants it to choose all.
    if line.contains("--blobPort") && !line.contains("--queuePort") {
        command.args(["--queuePort", "0"]);
    }
    if line.contains("--blobPort") && !line.contains("--smbPort") {
        command.args(["--smbPort", "0"]);
    }
    if line.contains("--blobPort") && !line.contains("--filePort") {
        command.args(["--filePort", "0"]);
    }
    if line.contains("--blobPort") && !line.contains("--tablePort") {
        command.args(["--tablePort", "0"]);
    }
    if line.contains("--blobPort") && !line.contains("onsole") {
        command.args(["--consolePort", "0"]);
    }
    command
}

/// A running server, killed when dropped.
struct Server {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    seen: Vec<String>,
    address: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut seen = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                let mut errors = String::new();
                let _ = child.stderr.take().expect("piped").read_to_string(&mut errors);
                panic!("ended before it was ready: {seen:?} {errors}");
            };
            let ready = line.strip_prefix(READY).map(str::to_owned);
            seen.push(line);
            if let Some(url) = ready {
                break url.split_once("://").expect("a URL").1.to_owned();
            }
        };
        Self { child, lines, seen, address }
    }

    fn ask(&self, request: &str) -> String {
        let mut tcp = TcpStream::connect(&self.address).expect("a connection");
        tcp.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        tcp.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end; gives the exit code and everything printed.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        let mut seen = std::mem::take(&mut self.seen);
        while let Some(Ok(line)) = self.lines.next() {
            seen.push(line);
        }
        (self.child.wait().expect("it ends").code(), seen)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn refused(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the program runs");
    assert!(!status.success(), "it should not have started");
    String::from_utf8_lossy(&stderr).into_owned()
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
}

#[test]
fn starts_serves_and_ends() {
    for signal in ["-INT", "-TERM"] {
        let dir = tempfile::tempdir().expect("a directory");
        let server = Server::start(zaffre(dir.path(), "--blobPort 0"));
        assert_eq!(server.seen[0], "Azurite Blob service is starting at http://127.0.0.1:0");
        assert_eq!(server.seen[1], "Azurite Queue service is starting at http://127.0.0.1:0");
        assert_eq!(server.seen[2], "Azurite Table service is starting at http://127.0.0.1:0");
        assert_eq!(server.seen[3], "Azurite File service is starting at http://127.0.0.1:0");
        assert!(dir.path().join("zaffre-data").is_dir());
        let answer = server.ask(&get("/devstoreaccount1?comp=list"));
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
        server.signal(signal);
        let (code, lines) = server.end();
        assert_eq!(code, Some(0), "{lines:?}");
        let connection = "Connection string: DefaultEndpointsProtocol=";
        let connection = lines.iter().find(|line| line.starts_with(connection)).expect("shown");
        assert!(connection.contains(";BlobEndpoint=http://127.0.0.1:"), "{connection}");
        assert!(connection.contains(";QueueEndpoint=http://127.0.0.1:"), "{connection}");
        assert!(connection.contains(";TableEndpoint=http://127.0.0.1:"), "{connection}");
        assert!(connection.contains(";FileEndpoint=http://127.0.0.1:"), "{connection}");
        let last = [
            "Azurite Blob service is closing...".to_owned(),
            "Azurite Queue service is closing...".to_owned(),
            "Azurite Table service is closing...".to_owned(),
            "Azurite File service is closing...".to_owned(),
            "Azurite SMB service is closing...".to_owned(),
            "Azurite Blob service successfully closed".to_owned(),
            "Azurite Queue service successfully closed".to_owned(),
            "Azurite Table service successfully closed".to_owned(),
            "Azurite File service successfully closed".to_owned(),
            "Azurite SMB service successfully closed".to_owned(),
        ];
        assert!(lines.ends_with(&last), "{lines:?}");
    }
}

#[test]
fn silence_spares_the_lines_tools_wait_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start(zaffre(dir.path(), "--blobPort 0 --silent --inMemoryPersistence"));
    server.signal("-TERM");
    let (code, lines) = server.end();
    assert_eq!((code, lines.len()), (Some(0), 20), "{lines:?}");
    assert!(!dir.path().join("zaffre-data").exists());
}

#[test]
fn refusals_say_what_to_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = Server::start(zaffre(dir.path(), "--blobPort 0 -l data"));
    let port = server.address.rsplit_once(':').expect("a port").1;
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("written");
    for (line, words) in [
        (
            format!("--blobPort {port} -l other"),
            vec!["another program uses this port", "--blobPort"],
        ),
        (
            "--blobPort 0 -l data".to_owned(),
            vec!["already using this data directory", "--location"],
        ),
        ("--blobPort 0 -l file/data".to_owned(), vec!["cannot be made", "--location"]),
        ("--blobPort 0 -l .".to_owned(), vec!["not zaffre's", "--location"]),
        ("--blobHost 0.0.0.0 --blobPort 0".to_owned(), vec!["everybody", "--developmentAccount"]),
        ("--blobHost 192.0.2.1 --blobPort 0".to_owned(), vec!["does not have this address"]),
        (
            format!("--blobPort 0 --queuePort {port} -l other"),
            vec!["another program uses this port", "--queuePort"],
        ),
        ("--blobPort 0 --cert file".to_owned(), vec!["--key", "--pwd"]),
        ("--blobPort 0 --cert file --pwd x".to_owned(), vec!["certificate", "password"]),
        ("--blobPort 0 --config file".to_owned(), vec!["config file", "line 1"]),
        ("--blobPort 0 --config none".to_owned(), vec!["config file", "No such file"]),
        ("--blobPort 0 -d no/log".to_owned(), vec!["debug log"]),
    ] {
        let said = refused(&mut zaffre(dir.path(), &line));
        for word in words {
            assert!(said.contains(word), "{line}: {said}");
        }
    }
}

#[test]
fn named_accounts_replace_the_development_account() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("accounts"), "# ours\nmine = a2V5\n").expect("written");
    for (variable, line) in [
        (Some("mine:a2V5"), "--blobPort 0 --blobHost 0.0.0.0"),
        (None, "--blobPort 0 --blobHost 0.0.0.0 --config accounts"),
    ] {
        let mut command = zaffre(dir.path(), line);
        if let Some(text) = variable {
            command.env("AZURITE_ACCOUNTS", text);
        }
        let server = Server::start(command);
        server.signal("-TERM");
        let (_, lines) = server.end();
        let text = lines.join("\n");
        assert!(text.contains("AccountName=mine;AccountKey=<its key>;"), "{text}");
        assert!(!text.contains("devstoreaccount1") && !text.contains("a2V5"), "{text}");
    }
    let mut malformed = zaffre(dir.path(), "--blobPort 0 --blobHost 0.0.0.0");
    let said = refused(malformed.env("AZURITE_ACCOUNTS", "nonsense"));
    assert!(said.contains("entry 1") && said.contains("--developmentAccount"), "{said}");
}

#[test]
fn logs_never_hold_a_signature() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = zaffre(dir.path(), "--blobPort 0 -d log");
    command.env("ZAFFRE_LOG", "trace");
    let server = Server::start(command);
    let target = "/devstoreaccount1/c/b?sv=2020-02-10&sr=b&sp=r&sig=TopSecret%3D";
    assert!(server.ask(&get(target)).starts_with("HTTP/1.1 4"));
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    let log = std::fs::read_to_string(dir.path().join("log")).expect("a log");
    assert!(log.contains("sig=..."), "{log}");
    assert!(!log.contains("TopSecret"), "{log}");
    assert!(!log.contains("Eby8vdM02xNOcqFl"), "{log}");
}

#[test]
fn check_verifies_a_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let check = |data: &str| {
        let Output { status, stdout, stderr } =
            zaffre(dir.path(), &format!("check {data}")).output().expect("the program runs");
        let said = [stdout, stderr].concat();
        (status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    assert_eq!(check("none").0, Some(1));
    let server = Server::start(zaffre(dir.path(), "--blobPort 0 -l data"));
    let (code, said) = check("data");
    assert!(code == Some(1) && said.contains("already using"), "{said}");
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    let (code, said) = check("data");
    assert!(code == Some(0) && said.contains("problems: 0"), "{said}");
    std::fs::write(dir.path().join("data/FORMAT"), "nonsense").expect("written");
    assert_eq!(check("data").0, Some(1));
}

#[test]
fn https() {
    let dir = tempfile::tempdir().expect("a directory");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    std::fs::write(dir.path().join("cert"), made.cert.pem()).expect("written");
    std::fs::write(dir.path().join("key"), made.signing_key.serialize_pem()).expect("written");
    let server = Server::start(zaffre(dir.path(), "--blobPort 0 --cert cert --key key"));
    assert!(server.seen.iter().any(|line| line.starts_with(&format!("{READY}https://127.0.0.1:"))));
}

#[test]
fn a_start_takes_no_time() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(Server::start(zaffre(dir.path(), "--blobPort 0")));
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        drop(Server::start(zaffre(dir.path(), "--blobPort 0")));
        fastest = fastest.min(started.elapsed());
    }
    println!("fastest start and kill of five: {fastest:?}");
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}
