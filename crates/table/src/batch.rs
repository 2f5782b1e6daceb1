//! Entity group transactions: `$batch` with one changeset, or with one query.
//!
//! ```text
//!   body ─► parts ─► changeset ─► each: target, entity ─► permit ─► one commit ─► one answer each
//! ```
//! Must never let a part do what the outer credential does not grant, nor commit a part alone.

use crate::dispatch::{Dispatch, done};
use crate::format::{Level, Prefer, negotiate};
use crate::render::entity::{self, Place};
use crate::render::error;
use crate::route::{resource, verb};
use crate::target::Target;
use crate::{parse, render};
use hyper::header::HOST;
use hyper::{Method, StatusCode, Uri};
use std::fmt::Write as _;
use zaffre_auth::Authorized;
use zaffre_base::limits::TABLE_BATCH_OPERATIONS;
use zaffre_core::table as service;
use zaffre_core::table::op::{GetEntity, TablePath, WriteEntity};
use zaffre_core::table::reply::{Batch, Wrote};
use zaffre_domain::Refusal;
use zaffre_domain::table::etag::etag;
use zaffre_domain::table::{EntityKey, TableRefusal};
use zaffre_http::multipart::{self, Boundary, MultipartError, Part, PartRequest, Parts};
use zaffre_http::{ApiError, BodyStream, Destination, Reply, ReplyBody, headers};

/// Room for the answer to most operations.
const USUAL_ANSWER: usize = 640;

/// One part of a changeset, before its operation is known to make sense.
struct Piece<'a> {
    request: PartRequest<'a>,
    /// Echoed only where it was among the headers of the inner request.
    content_id: Option<String>,
    prefer: Prefer,
    level: Level,
}

/// How an operation failed, by its position; `early` if that was before anything was executed.
struct Failed {
    index: usize,
    error: ApiError,
    early: bool,
}

/// Performs a batch.
pub(crate) async fn perform(dispatch: Dispatch<'_>, body: BodyStream) -> Result<Reply, ApiError> {
    let content_type = dispatch.asked.header("content-type")?.unwrap_or_default();
    let boundary = Boundary::of_content_type(content_type).map_err(|_| malformed())?;
    let body = multipart::collect(body, dispatch.asked.content_length).await?;
    let outer = Parts::read(&body, &boundary, 2).map_err(|_| malformed())?;
    let [part] = outer.0.as_slice() else { return Err(malformed()) };
    let Some(inner) = part.nested() else { return query(dispatch, part).await };
    // One more than allowed is still read, so that the answer can say which one is too much.
    let limit = TABLE_BATCH_OPERATIONS + 1;
    let parts = match Parts::read(part.content, &inner, limit) {
        Ok(parts) => parts,
        // A rule of the service; anything else that is wrong with the parts is nonsense.
        Err(MultipartError::TooManyParts { .. }) => {
            let failed = Failed {
                index: TABLE_BATCH_OPERATIONS - 1,
                error: Refusal::from(TableRefusal::TooManyOperations).into(),
                early: true,
            };
            return Ok(answer(&dispatch, &[], Err(failed)));
        }
        Err(_) => return Err(malformed()),
    };
    if parts.0.is_empty() {
        return Err(malformed());
    }
    let pieces = parts.0.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
    let outcome = execute(dispatch, &pieces).await?;
    Ok(outcome)
}

fn malformed() -> ApiError {
    ApiError::invalid_input()
}

fn piece<'a>(part: &Part<'a>) -> Result<Piece<'a>, ApiError> {
    let request = part.request().map_err(|_| malformed())?;
    let content_id = headers::single(&request.headers, "content-id")?.map(str::to_owned);
    let prefer = Prefer::parse(headers::single(&request.headers, "prefer")?);
    let level = negotiate(headers::single(&request.headers, "accept")?)?;
    Ok(Piece { request, content_id, prefer, level })
}

/// What the URL of a part names, under the rules of the outer request. One that names no host may
/// leave out the account of the path too, as old clients do.
fn target(dispatch: &Dispatch<'_>, request: &PartRequest<'_>) -> Result<Target, ApiError> {
    let outer = &dispatch.asked.to;
    let mut head = request.head(dispatch.asked.head)?;
    let mut to = Destination::read(&head, outer.path_style);
    let elsewhere = to.as_ref().map_or(true, |to| to.account != outer.account);
    if elsewhere && outer.path_style && request.uri.authority().is_none() {
        head.raw_path = format!("/{}{}", outer.account, head.raw_path);
        to = Destination::read(&head, true);
    }
    let to = to?;
    if to.account != outer.account {
        return Err(ApiError::invalid_input());
    }
    Target::parse(&to.path, &to.account)
}

/// What the last part named, and by which URL.
type Before<'a> = Option<(&'a Uri, Target)>;

/// The same as [`target`]; most parts of a batch name what the one before them did.
fn target_after<'a>(
    dispatch: &Dispatch<'_>,
    request: &'a PartRequest<'_>,
    before: &mut Before<'a>,
) -> Result<Target, ApiError> {
    let named_by_url = !request.headers.contains_key(HOST);
    match before {
        Some((url, target)) if named_by_url && **url == request.uri => Ok(target.clone()),
        _ => {
            let target = target(dispatch, request)?;
            *before = named_by_url.then(|| (&request.uri, target.clone()));
            Ok(target)
        }
    }
}

fn read<'a>(
    dispatch: &Dispatch<'_>,
    piece: &'a Piece<'_>,
    before: &mut Before<'a>,
) -> Result<WriteEntity, ApiError> {
    let request = &piece.request;
    let target = target_after(dispatch, request, before)?;
    let verb = verb(&request.method, &request.headers)?;
    if verb == Method::GET.as_str() {
        return Err(ApiError::invalid_input());
    }
    let conditional = headers::single(&request.headers, "if-match")?.is_some();
    let kind = resource(&target, &verb, conditional)?;
    parse::write(kind, &target, &request.headers, request.body)
}

/// Reads, permits and commits all operations; what it came to, as an answer.
async fn execute(dispatch: Dispatch<'_>, pieces: &[Piece<'_>]) -> Result<Reply, ApiError> {
    let mut ops = Vec::with_capacity(pieces.len());
    let mut before = None;
    for (index, piece) in pieces.iter().enumerate() {
        match read(&dispatch, piece, &mut before) {
            Ok(op) => ops.push(op),
            Err(error) => {
                let failed = Failed { index, error, early: true };
                return Ok(answer(&dispatch, pieces, Err(failed)));
            }
        }
    }
    let tables: Vec<TablePath> = ops.iter().map(|op| op.at.clone()).collect();
    if let Some(first) = tables.first() {
        dispatch.caller.look_up(first, dispatch.core).await?;
    }
    let permitted: Result<Vec<Authorized<WriteEntity>>, ApiError> =
        ops.into_iter().map(|op| dispatch.permit_write(op)).collect();
    // Who may not do one of them learns nothing of the others.
    let outcome = match done(service::write_batch(dispatch.core, permitted?).await)? {
        Batch::Done(wrote) => Ok((wrote, tables)),
        Batch::Refused { index, refusal } => {
            let early = matches!(&refusal, Refusal::Table(TableRefusal::TableNotFound));
            Err(Failed { index, error: refusal.into(), early })
        }
    };
    Ok(answer(&dispatch, pieces, outcome))
}

/// A query on its own, directly in the batch.
async fn query(dispatch: Dispatch<'_>, part: &Part<'_>) -> Result<Reply, ApiError> {
    let piece = piece(part)?;
    if piece.request.method != Method::GET {
        return Err(malformed());
    }
    let Target::Entity { at, partition, row } = target(&dispatch, &piece.request)? else {
        return Err(malformed());
    };
    let key = EntityKey::new(&partition, &row).map_err(|e| ApiError::from(Refusal::from(e)))?;
    dispatch.caller.look_up(&at, dispatch.core).await?;
    let op = dispatch.caller.permit(GetEntity { at: at.clone(), key })?;
    let found = done(service::get_entity(dispatch.core, op).await);
    let mut out = String::new();
    match found {
        Ok(found) => {
            let base = dispatch.base();
            let place = place(&dispatch, &base, &at, piece.level);
            let body = entity::one(&found, place);
            status_line(&mut out, StatusCode::OK);
            line(&mut out, "ETag", &etag(found.written));
            with_body(&mut out, piece.level, &body);
        }
        Err(error) => failure(&mut out, &dispatch, piece.prefer, &error, Some(0)),
    }
    Ok(multipart_reply(&dispatch, &[out], false))
}

fn place<'b>(
    dispatch: &'b Dispatch<'_>,
    base: &'b str,
    at: &'b TablePath,
    level: Level,
) -> Place<'b> {
    let account = dispatch.asked.to.account.as_str();
    Place { base, account, table: &at.table, level, select: &[] }
}

/// The parts of the answer: one for each operation, or one for the one that failed.
fn answer(
    dispatch: &Dispatch<'_>,
    pieces: &[Piece<'_>],
    outcome: Result<(Vec<Wrote>, Vec<TablePath>), Failed>,
) -> Reply {
    let (wrote, tables) = match outcome {
        Ok(done) => done,
        Err(Failed { index, error, early }) => {
            let prefer = pieces.get(index).map_or(Prefer::Unsaid, |piece| piece.prefer);
            let shown = (early || pieces.len() != 1).then_some(index);
            let mut out = String::new();
            failure(&mut out, dispatch, prefer, &error, shown);
            return multipart_reply(dispatch, &[out], true);
        }
    };
    let base = dispatch.base();
    let mut parts = Vec::with_capacity(pieces.len());
    for ((piece, wrote), at) in pieces.iter().zip(&wrote).zip(&tables) {
        parts.push(success(dispatch, piece, wrote, at, &base));
    }
    multipart_reply(dispatch, &parts, true)
}

fn success(
    dispatch: &Dispatch<'_>,
    piece: &Piece<'_>,
    wrote: &Wrote,
    at: &TablePath,
    base: &str,
) -> String {
    let mut out = String::with_capacity(USUAL_ANSWER);
    let inserted = piece.request.method == Method::POST
        && !piece.request.headers.contains_key("x-http-method");
    match wrote {
        Wrote::Entity(made) if inserted => {
            let place = place(dispatch, base, at, piece.level);
            let location = format!("{base}/{}", place.link(&made.key));
            let whole = piece.prefer != Prefer::NoContent;
            status_line(&mut out, if whole { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
            common(&mut out, piece.content_id.as_deref(), piece.prefer, "3.0;");
            line(&mut out, "Location", &location);
            if !whole {
                line(&mut out, "DataServiceId", &location);
            }
            line(&mut out, "ETag", &etag(made.written));
            if whole {
                with_body(&mut out, piece.level, &entity::one(made, place));
            } else {
                out.push_str("\r\n\r\n");
            }
        }
        Wrote::Entity(made) => {
            status_line(&mut out, StatusCode::NO_CONTENT);
            common(&mut out, piece.content_id.as_deref(), Prefer::Unsaid, "1.0;");
            line(&mut out, "ETag", &etag(made.written));
            out.push_str("\r\n\r\n");
        }
        Wrote::Gone => {
            status_line(&mut out, StatusCode::NO_CONTENT);
            common(&mut out, piece.content_id.as_deref(), Prefer::Unsaid, "1.0;");
            out.push_str("\r\n\r\n");
        }
    }
    out
}

fn failure(
    out: &mut String,
    dispatch: &Dispatch<'_>,
    prefer: Prefer,
    failed: &ApiError,
    index: Option<usize>,
) {
    status_line(out, failed.status);
    common(out, None, prefer, "3.0;");
    let wall = dispatch.core.store().clock.wall();
    let body = error::json(failed, index, dispatch.asked.head.id, wall);
    with_body(out, Level::Minimal, &body);
}

fn status_line(out: &mut String, status: StatusCode) {
    let reason = status.canonical_reason().unwrap_or_default();
    let _ = write!(out, "HTTP/1.1 {} {reason}\r\n", status.as_u16());
}

fn line(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, "{name}: {value}\r\n");
}

fn common(out: &mut String, content_id: Option<&str>, prefer: Prefer, version: &str) {
    if let Some(id) = content_id {
        line(out, "Content-ID", id);
    }
    line(out, "X-Content-Type-Options", "nosniff");
    line(out, "Cache-Control", "no-cache");
    if let Some(applied) = prefer.applied() {
        line(out, "Preference-Applied", applied);
    }
    line(out, "DataServiceVersion", version);
}

fn with_body(out: &mut String, level: Level, body: &str) {
    line(out, "Content-Type", level.content_type());
    let _ = write!(out, "\r\n{body}\r\n");
}

/// Puts the parts between their boundaries: inside a changeset, or directly in the batch.
fn multipart_reply(dispatch: &Dispatch<'_>, parts: &[String], changeset: bool) -> Reply {
    let id = dispatch.asked.head.id;
    let (outer, inner) = (format!("batchresponse_{id}"), format!("changesetresponse_{id}"));
    // The lines before each part, and those before and after all of them.
    let (each, all) = (inner.len() + 96, 2 * (inner.len() + outer.len()) + 96);
    let room: usize = parts.iter().map(|part| part.len() + each).sum();
    let mut body = String::with_capacity(room + all);
    let _ = write!(body, "--{outer}\r\n");
    let boundary = if changeset { &inner } else { &outer };
    if changeset {
        let _ = write!(body, "Content-Type: multipart/mixed; boundary={inner}\r\n\r\n");
    }
    for (index, part) in parts.iter().enumerate() {
        if changeset || index > 0 {
            let _ = write!(body, "--{boundary}\r\n");
        }
        body.push_str(
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n",
        );
        body.push_str(part);
    }
    if changeset {
        let _ = write!(body, "--{inner}--\r\n");
    }
    let _ = write!(body, "--{outer}--\r\n");
    let content_type = format!("multipart/mixed; boundary={outer}");
    let reply = render::plain(StatusCode::ACCEPTED, dispatch.asked.version);
    let mut reply = reply.with("content-type", content_type);
    reply.body = ReplyBody::Full(body.into());
    reply
}
