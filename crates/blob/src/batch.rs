//! Blob Batch: many deletions, or many changes of tier, in one request.
//!
//! ```text
//!   body ─► parts ─► each: head ─► place, route ─► check, parse, dispatch ─► its own answer
//! ```
//! Must never let a part do what a request of its own could not: each has its own credential.

use crate::operation::Kind;
use crate::request::{Asked, Place};
use crate::route::route;
use crate::service::BlobService;
use crate::target::Target;
use futures_util::{StreamExt, stream};
use hyper::StatusCode;
use std::future::Future;
use std::pin::Pin;
use zaffre_auth::{Accounts, Action, Guarded, Scope};
use zaffre_base::{AccountName, ContainerName, Guid};
use zaffre_http::limits::BATCH_PARTS;
use zaffre_http::multipart::{Boundary, Part, Parts, ResponseWriter};
use zaffre_http::{ApiError, Reply, ReplyBody, RequestHead, header};

/// How many parts are under way at once: they share the syncs of the disk.
const AT_ONCE: usize = 16;
/// The Server header inside parts, as recorded.
const SERVER: &str = "Windows-Azure-Blob/1.0";

/// The outer request.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The account.
    pub account: AccountName,
    /// All parts must be inside it, if there is one.
    pub container: Option<ContainerName>,
    /// What stands between the parts.
    pub boundary: Boundary,
}

impl Guarded for Batch {
    fn action(&self) -> Action {
        Action::Batch
    }

    fn scope(&self) -> Scope<'_> {
        match &self.container {
            None => Scope::account(&self.account),
            Some(container) => Scope::container(&self.account, container.as_str()),
        }
    }
}

/// What is the same for all parts.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'a> {
    pub(crate) service: &'a BlobService,
    pub(crate) accounts: &'a Accounts,
    pub(crate) parent: &'a Asked<'a>,
}

/// The answer to one part, under way. Boxed, because a batch goes the way of its parts.
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send + 'a>>;

/// A part as a request: what to echo, its head, and where it goes or why it cannot.
struct Piece {
    content_id: Option<String>,
    head: Result<RequestHead, ApiError>,
}

impl Sender<'_> {
    /// Performs all parts of `body` and writes their answers.
    pub(crate) async fn send(self, op: &Batch, body: &[u8]) -> Result<Reply, ApiError> {
        let parts = Parts::read(body, &op.boundary, BATCH_PARTS)?;
        let pieces = self.pieces(&parts)?;
        self.check(op, &pieces)?;
        let waiting: Vec<Answering<'_>> = pieces.iter().map(|piece| self.answer(piece)).collect();
        let answers: Vec<_> = stream::iter(waiting).buffered(AT_ONCE).collect().await;
        let wall = self.service.wall();
        let mut out = ResponseWriter::new("batchresponse", self.parent.head.id, SERVER, wall);
        for (piece, answer) in pieces.iter().zip(answers) {
            let client_id = piece.head.as_ref().ok().and_then(client_request_id);
            out.part(piece.content_id.as_deref(), client_id, answer, self.parent.version);
        }
        let content_type = out.content_type();
        let mut reply = Reply::new(StatusCode::ACCEPTED, self.parent.version);
        reply = reply.with(header!("content-type"), content_type);
        reply.body = ReplyBody::Full(out.finish().into());
        Ok(reply)
    }

    fn pieces(self, parts: &Parts<'_>) -> Result<Vec<Piece>, ApiError> {
        let parent = self.parent.head;
        let piece = |(index, part): (usize, &Part<'_>)| {
            let request = part.request(None)?;
            if !part.is_request() || !request.body.is_empty() {
                return Err(refused("A part is not a request without a body."));
            }
            let head = request.head(parent).map(|head| RequestHead {
                id: Guid(parent.id.0.wrapping_add(u128::try_from(index + 1).unwrap_or_default())),
                ..head
            });
            Ok(Piece { content_id: part.content_id().map(str::to_owned), head })
        };
        parts.0.iter().enumerate().map(piece).collect()
    }

    /// Refuses the whole batch if any part is something else than the first, or lies elsewhere.
    fn check(self, op: &Batch, pieces: &[Piece]) -> Result<(), ApiError> {
        let mut first = None;
        for piece in pieces {
            // What cannot be routed is answered in its own part.
            let Some((kind, target, account)) = self.routed(piece) else { continue };
            if !matches!(kind, Kind::DeleteBlob | Kind::SetBlobTier) {
                return Err(refused("A batch can delete blobs or set their tiers."));
            }
            if *first.get_or_insert(kind) != kind {
                return Err(refused("All parts of a batch must be of one kind."));
            }
            let inside = match (&op.container, &target) {
                (None, _) => true,
                (Some(container), Target::Blob(other, _)) => container == other,
                (Some(_), Target::Service | Target::Container(_)) => false,
            };
            if account != op.account || !inside {
                return Err(refused("A part is outside of what the batch was sent to."));
            }
        }
        Ok(())
    }

    fn routed(self, piece: &Piece) -> Option<(Kind, Target, AccountName)> {
        let asked = self.asked(piece.head.as_ref().ok()?).ok()?;
        let kind = route(&asked.target, &asked.fields).ok()?;
        Some((kind, asked.target, asked.account))
    }

    /// The version of a part is that of the batch, whatever it says itself.
    fn asked<'h>(&self, head: &'h RequestHead) -> Result<Asked<'h>, ApiError> {
        let place = Place::read(head, self.service.always_path_style())?;
        Asked::read(head, Some(0), place, self.parent.version)
    }

    fn answer<'p>(self, piece: &'p Piece) -> Answering<'p>
    where
        Self: 'p,
    {
        Box::pin(async move {
            let head = piece.head.as_ref().map_err(Clone::clone)?;
            let asked = self.asked(head)?;
            let kind = route(&asked.target, &asked.fields)?;
            self.service.part(&asked, kind, self.accounts).await
        })
    }
}

fn client_request_id(head: &RequestHead) -> Option<&str> {
    head.headers.get("x-ms-client-request-id")?.to_str().ok()
}

fn refused(reason: &str) -> ApiError {
    ApiError::invalid_input().detail("Reason", reason)
}
