//! Entity group transactions: `$batch` with one changeset, or with one query.
//!
//! ```text
//!   body ─► parts ─► changeset ─► each: target, entity ─► permit ─► one commit ─► one answer each
//! ```
//! Must never let a part do what the outer credential does not grant, nor commit a part alone.

use crate::dispatch::{Dispatch, done};
use crate::format::{Level, Prefer, negotiate};
use crate::operation::Kind;
use crate::parse::{self, Conditions};
use crate::render::batch::{Answer, Wish};
use crate::render::entity::Place;
use crate::route::{TUNNEL, resource, verb};
use crate::target::Target;
use hyper::Method;
use zaffre_auth::Authorized;
use zaffre_base::limits::TABLE_BATCH_OPERATIONS;
use zaffre_core::table as service;
use zaffre_core::table::op::{GetEntity, TablePath, WriteEntity};
use zaffre_core::table::reply::{Batch, Wrote};
use zaffre_domain::Refusal;
use zaffre_domain::table::{EntityKey, TableRefusal};
use zaffre_http::multipart::{self, Boundary, MultipartError, Part, PartRequest, Parts};
use zaffre_http::{ApiError, BodyStream, Destination, Reply};

/// One part of a changeset, before its operation is known to make sense.
struct Piece<'a> {
    request: PartRequest<'a>,
    /// Echoed only where it was among the headers of the inner request.
    content_id: Option<&'a str>,
    prefer: Prefer,
    level: Level,
    /// Whether it makes an entity and does not change one.
    inserts: bool,
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
    let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(parts.0.len());
    for part in &parts.0 {
        let piece = piece(part, pieces.last())?;
        pieces.push(piece);
    }
    execute(dispatch, &pieces).await
}

fn malformed() -> ApiError {
    ApiError::invalid_input()
}

fn piece<'a>(part: &Part<'a>, before: Option<&Piece<'a>>) -> Result<Piece<'a>, ApiError> {
    let request = part.request(before.map(|before| &before.request)).map_err(|_| malformed())?;
    if let Some(before) = before.filter(|before| request.asks_the_same(&before.request)) {
        return Ok(Piece { request, ..*before });
    }
    let content_id = request.headers.single("content-id")?;
    let prefer = Prefer::parse(request.headers.single("prefer")?);
    let level = negotiate(request.headers.single("accept")?)?;
    let inserts = request.method == Method::POST && !request.headers.contains(TUNNEL);
    Ok(Piece { request, content_id, prefer, level, inserts })
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

/// What a part asks for, but for its body.
struct Asks<'a> {
    request: &'a PartRequest<'a>,
    target: Target,
    kind: Kind,
    conditions: Conditions<'a>,
}

fn asks<'a>(dispatch: &Dispatch<'_>, request: &'a PartRequest<'a>) -> Result<Asks<'a>, ApiError> {
    let target = target(dispatch, request)?;
    let verb = verb(&request.method, request.headers.all(TUNNEL))?;
    if verb == Method::GET {
        return Err(ApiError::invalid_input());
    }
    let if_match = request.headers.single("if-match")?;
    let kind = resource(&target, verb.as_str(), if_match.is_some())?;
    let if_none_match = request.headers.single("if-none-match")?;
    Ok(Asks { request, target, kind, conditions: Conditions { if_match, if_none_match } })
}

/// Reads one operation; most parts of a batch ask for what the one before them did.
fn read<'a>(
    dispatch: &Dispatch<'_>,
    request: &'a PartRequest<'a>,
    before: &mut Option<Asks<'a>>,
) -> Result<WriteEntity, ApiError> {
    let asks = match before.take() {
        Some(before) if request.asks_the_same(before.request) => before,
        _ => asks(dispatch, request)?,
    };
    let asks = before.insert(asks);
    parse::write(asks.kind, &asks.target, asks.conditions, request.body)
}

/// Reads, permits and commits all operations; what it came to, as an answer.
async fn execute(dispatch: Dispatch<'_>, pieces: &[Piece<'_>]) -> Result<Reply, ApiError> {
    let mut ops = Vec::with_capacity(pieces.len());
    let mut before = None;
    for (index, piece) in pieces.iter().enumerate() {
        match read(&dispatch, &piece.request, &mut before) {
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
    let piece = piece(part, None)?;
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
    let mut answer = Answer::new(&dispatch, false, 1);
    match found {
        Ok(found) => answer.found(&found, place(&dispatch, &dispatch.base(), &at, piece.level)),
        Err(error) => answer.failed(piece.prefer, &error, Some(0)),
    }
    Ok(answer.finish())
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
    let mut answer = Answer::new(dispatch, true, pieces.len());
    match outcome {
        Ok((wrote, tables)) => {
            let base = dispatch.base();
            for ((piece, wrote), at) in pieces.iter().zip(&wrote).zip(&tables) {
                let Piece { content_id, prefer, level, inserts, .. } = *piece;
                let place = place(dispatch, &base, at, level);
                answer.wrote(Wish { content_id, prefer, inserts }, wrote, place);
            }
        }
        Err(Failed { index, error, early }) => {
            let prefer = pieces.get(index).map_or(Prefer::Unsaid, |piece| piece.prefer);
            let shown = (early || pieces.len() != 1).then_some(index);
            answer.failed(prefer, &error, shown);
        }
    }
    answer.finish()
}
