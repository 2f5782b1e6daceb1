//! The answer to a batch: one body, written from its first byte to its last.
//!
//! Must never begin a part without ending it: what is written is what the client reads.

use super::entity::{self, Place};
use super::error;
use crate::dispatch::Dispatch;
use crate::format::{Level, Prefer};
use hyper::StatusCode;
use std::fmt::Write as _;
use zaffre_base::Stamp;
use zaffre_core::table::reply::Wrote;
use zaffre_domain::table::Entity;
use zaffre_domain::table::etag::etag;
use zaffre_http::{ApiError, Reply, ReplyBody, header};

/// Room for the answer to most operations, with the lines before it.
const USUAL_ANSWER: usize = 768;

/// How one operation wants to be answered.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'a> {
    /// Echoed.
    pub(crate) content_id: Option<&'a str>,
    pub(crate) prefer: Prefer,
    /// It makes an entity and does not change one.
    pub(crate) inserts: bool,
}

/// The answer under way: parts inside a changeset, or directly in the batch.
pub(crate) struct Answer<'a, 'd> {
    dispatch: &'a Dispatch<'d>,
    outer: String,
    /// The changeset's boundary, if there is one.
    inner: Option<String>,
    out: String,
    /// The last ETag: all that one commit wrote has the same.
    tag: Option<(Stamp, String)>,
}

impl<'a, 'd> Answer<'a, 'd> {
    /// The answer to `parts` operations.
    pub(crate) fn new(dispatch: &'a Dispatch<'d>, changeset: bool, parts: usize) -> Self {
        let id = dispatch.asked.head.id;
        let outer = format!("batchresponse_{id}");
        let inner = changeset.then(|| format!("changesetresponse_{id}"));
        let mut out = String::with_capacity((parts + 1) * USUAL_ANSWER);
        push(&mut out, &["--", &outer, "\r\n"]);
        if let Some(inner) = &inner {
            push(&mut out, &["Content-Type: multipart/mixed; boundary=", inner, "\r\n\r\n"]);
        }
        Self { dispatch, outer, inner, out, tag: None }
    }

    /// Ends it.
    pub(crate) fn finish(mut self) -> Reply {
        if let Some(inner) = &self.inner {
            push(&mut self.out, &["--", inner, "--\r\n"]);
        }
        push(&mut self.out, &["--", &self.outer, "--\r\n"]);
        let content_type = format!("multipart/mixed; boundary={}", self.outer);
        let reply = super::plain(StatusCode::ACCEPTED, self.dispatch.asked.version);
        let mut reply = reply.with(header!("content-type"), content_type);
        reply.body = ReplyBody::Full(self.out.into());
        reply
    }

    /// Begins a part: all before the lines of its own.
    fn begin(&mut self, status: StatusCode) {
        if let Some(inner) = &self.inner {
            push(&mut self.out, &["--", inner, "\r\n"]);
        }
        self.out.push_str(
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ",
        );
        let reason = status.canonical_reason().unwrap_or_default();
        push(&mut self.out, &[status.as_str(), " ", reason, "\r\n"]);
    }

    /// What a write did.
    pub(crate) fn wrote(&mut self, wish: Wish<'_>, wrote: &Wrote, place: Place<'_>) {
        match wrote {
            Wrote::Entity(made) if wish.inserts => self.inserted(wish, made, place),
            Wrote::Entity(made) => {
                self.begin(StatusCode::NO_CONTENT);
                common(&mut self.out, wish.content_id, Prefer::Unsaid, "1.0;");
                self.etag(made.written);
                self.out.push_str("\r\n\r\n");
            }
            Wrote::Gone => {
                self.begin(StatusCode::NO_CONTENT);
                common(&mut self.out, wish.content_id, Prefer::Unsaid, "1.0;");
                self.out.push_str("\r\n\r\n");
            }
        }
    }

    fn inserted(&mut self, wish: Wish<'_>, made: &Entity, place: Place<'_>) {
        let whole = wish.prefer != Prefer::NoContent;
        self.begin(if whole { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
        common(&mut self.out, wish.content_id, wish.prefer, "3.0;");
        self.out.push_str("Location: ");
        let start = self.out.len();
        push(&mut self.out, &[place.base, "/"]);
        place.push_link(&mut self.out, &made.key);
        self.out.push_str("\r\n");
        if !whole {
            let location = start..self.out.len();
            self.out.push_str("DataServiceId: ");
            self.out.extend_from_within(location);
        }
        self.etag(made.written);
        if whole {
            with_body(&mut self.out, place.level, &entity::one(made, place));
        } else {
            self.out.push_str("\r\n\r\n");
        }
    }

    /// The entity that a query found.
    pub(crate) fn found(&mut self, found: &Entity, place: Place<'_>) {
        self.begin(StatusCode::OK);
        self.etag(found.written);
        with_body(&mut self.out, place.level, &entity::one(found, place));
    }

    /// Why an operation failed, and which one if that is told.
    pub(crate) fn failed(&mut self, prefer: Prefer, failed: &ApiError, index: Option<usize>) {
        self.begin(failed.status);
        common(&mut self.out, None, prefer, "3.0;");
        let wall = self.dispatch.core.store().clock.wall();
        let body = error::json(failed, index, self.dispatch.asked.head.id, wall);
        with_body(&mut self.out, Level::Minimal, &body);
    }

    fn etag(&mut self, written: Stamp) {
        let tag = match self.tag.take() {
            Some((stamp, tag)) if stamp == written => tag,
            _ => etag(written),
        };
        line(&mut self.out, "ETag", &tag);
        self.tag = Some((written, tag));
    }
}

/// Appends pieces of text.
fn push(out: &mut String, pieces: &[&str]) {
    for piece in pieces {
        out.push_str(piece);
    }
}

fn line(out: &mut String, name: &str, value: &str) {
    push(out, &[name, ": ", value, "\r\n"]);
}

fn common(out: &mut String, content_id: Option<&str>, prefer: Prefer, version: &str) {
    if let Some(id) = content_id {
        line(out, "Content-ID", id);
    }
    out.push_str("X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n");
    if let Some(applied) = prefer.applied() {
        line(out, "Preference-Applied", applied);
    }
    line(out, "DataServiceVersion", version);
}

fn with_body(out: &mut String, level: Level, body: &str) {
    line(out, "Content-Type", level.content_type());
    let _ = write!(out, "\r\n{body}\r\n");
}
