//! `--accessLog`: one line for each request, in a format that tools read.
//!
//! Must never hold a request up: lines wait in a bounded queue for a thread of their own, and when
//! the disk cannot keep up they are left out and counted.

use crate::failure::Failure;
use crate::terminal::warn;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::time::Duration;
use zaffre_http::server::{Access, AccessLog};

/// Lines that may wait.
const WAITING: usize = 16 * 1024;
/// How long the end of the program waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The flags.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Access log")]
pub(crate) struct AccessArgs {
    /// Write a line for each request to this file
    #[arg(long = "accessLog", value_name = "FILE")]
    access_log: Option<PathBuf>,

    /// How these lines look
    #[arg(long = "accessLogFormat", value_name = "FORMAT", default_value = "combined")]
    #[arg(requires = "access_log")]
    format: Format,
}

/// How a line looks.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// As web servers write it
    Combined,
    /// One JSON object a line
    Json,
}

impl AccessArgs {
    /// Opens the log, if one is wanted.
    pub(crate) fn open(&self) -> Result<Option<Log>, Failure> {
        let Some(path) = &self.access_log else { return Ok(None) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| Failure::file("access log", path, error))?;
        let (sender, lines) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let (format, path, missed) = (self.format, path.clone(), Arc::clone(&lost));
        let named = std::thread::Builder::new().name("zaffre-access".to_owned());
        let (ended, ending) = sync_channel(1);
        let started = named.spawn(move || {
            write(&lines, BufWriter::new(file), format, &path, &missed);
            // Nobody waits if the program goes on.
            let _ = ended.send(());
        });
        started.map_err(|error| Failure::System { doing: "starting a thread", error })?;
        let lines: AccessLog = Arc::new(move |line| {
            if let Err(TrySendError::Full(_)) = sender.try_send(line) {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Some(Log { lines, ending }))
    }
}

/// A log that is being written.
pub(crate) struct Log {
    lines: AccessLog,
    ending: Receiver<()>,
}

impl Log {
    /// Where lines go.
    pub(crate) fn lines(&self) -> AccessLog {
        Arc::clone(&self.lines)
    }

    /// Waits until the last lines are written, but not for ever.
    pub(crate) fn end(self) {
        drop(self.lines);
        let _ = self.ending.recv_timeout(LAST_LINES);
    }
}

fn write(
    lines: &Receiver<Access>,
    mut out: impl Write,
    format: Format,
    path: &Path,
    lost: &AtomicU64,
) {
    while let Ok(first) = lines.recv() {
        let mut text = format.line(&first);
        // What has gathered is written together.
        text.extend(lines.try_iter().take(WAITING).map(|line| format.line(&line)));
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            return warn(&format!("the access log {} ends: {error}", path.display()));
        }
        let missed = lost.swap(0, Ordering::Relaxed);
        if missed > 0 {
            warn(&format!("{missed} lines of the access log are missing: the disk is too slow"));
        }
    }
}

impl Format {
    fn line(self, access: &Access) -> String {
        match self {
            Self::Combined => combined(access),
            Self::Json => format!("{}\n", document(access)),
        }
    }
}

fn combined(access: &Access) -> String {
    let Access { peer, method, target, agent, status, bytes, .. } = access;
    let bytes = bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
    let agent = agent.as_deref().unwrap_or("-").replace('\\', "\\\\").replace('"', "\\\"");
    let target = target.replace('"', "%22");
    let time = clf_time(&access.time.iso7().to_string());
    let ip = peer.ip();
    format!("{ip} - - [{time}] \"{method} {target} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\"\n")
}

/// `15/Nov/2026:12:19:28 +0000` of `2026-11-15T12:19:28.0000000Z`.
fn clf_time(iso: &str) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let part = |range| iso.get(range).unwrap_or_default();
    let month: usize = part(5..7).parse().unwrap_or(1);
    let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"Jan");
    format!("{}/{month}/{}:{} +0000", part(8..10), part(0..4), part(11..19))
}

fn document(access: &Access) -> serde_json::Value {
    json!({
        "time": access.time.iso7().to_string(),
        "client": access.peer.to_string(),
        "request_id": access.id.to_string(),
        "service": access.service.to_ascii_lowercase(),
        "operation": access.operation,
        "method": access.method,
        "target": access.target,
        "status": access.status,
        "bytes": access.bytes,
        "duration_us": u64::try_from(access.took.as_micros()).unwrap_or(u64::MAX),
        "user_agent": access.agent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use zaffre_base::{Guid, Timestamp};

    fn access() -> Access {
        Access {
            time: Timestamp::from_unix_seconds(86_400 * 31 + 3_661),
            peer: SocketAddr::from(([127, 0, 0, 1], 5)),
            id: Guid(7),
            service: "Blob",
            operation: Some("PutBlob"),
            method: "PUT".to_owned(),
            target: "/a/c/b\"?sig=...".to_owned(),
            agent: Some("a \"b\"".to_owned()),
            trace: None,
            status: 201,
            bytes: None,
            took: Duration::from_micros(1_500),
        }
    }

    #[test]
    fn lines() {
        assert_eq!(
            Format::Combined.line(&access()),
            "127.0.0.1 - - [01/Feb/1970:01:01:01 +0000] \"PUT /a/c/b%22?sig=... HTTP/1.1\" 201 - \
             \"-\" \"a \\\"b\\\"\"\n"
        );
        let json: serde_json::Value =
            serde_json::from_str(&Format::Json.line(&access())).expect("JSON");
        assert_eq!(json["duration_us"], 1_500);
        assert_eq!((&json["service"], &json["operation"]), (&json!("blob"), &json!("PutBlob")));
        assert_eq!(json["bytes"], serde_json::Value::Null);
    }
}
