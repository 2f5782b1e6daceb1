//! The answer of Query Blob Contents: frames made while the blob is read.
//!
//! Must never hold more of the blob than the piece at hand.

use super::blob;
use crate::body::query::{Query, refusal};
use crate::body::stream;
use bytes::Bytes;
use futures_util::{StreamExt, stream as streams};
use std::future::poll_fn;
use std::task::Poll;
use zaffre_auth::ResponseOverrides;
use zaffre_base::time::UNIX_EPOCH_TICKS;
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_core::blob::reply::GetBlobReply;
use zaffre_http::{ApiError, BodyStream, Reply, ReplyBody};
use zaffre_query::{Engine, Frames};

/// Bytes looked through before others get their turn.
const SLICE: usize = 64 * 1024;

const AVRO: &str = "avro/binary";

/// Query Blob Contents. `sync` is what stands between frames.
pub fn answer(
    reply: GetBlobReply,
    query: Query,
    now: Timestamp,
    sync: [u8; 16],
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let frames = Frames::new(sync);
    let Query { select, input, output } = query;
    let micros = now.0.saturating_sub(UNIX_EPOCH_TICKS) / 10;
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    let engine = Engine::new(select, input, output, reply.length, micros, frames)
        .map_err(|fault| refusal(&fault))?;
    let overrides =
        ResponseOverrides { content_type: Some(AVRO.to_owned()), ..ResponseOverrides::default() };
    let mut out = blob::described(&reply.blob, &overrides, version)?;
    let running = Running {
        blob: stream::reply(reply.body),
        piece: Bytes::new(),
        engine,
        out: frames.header(),
        finished: false,
    };
    out.body = ReplyBody::Open { bytes: running.into_stream() };
    Ok(out)
}

/// A query never waits for long, so that it has to step aside by itself.
async fn let_others_run() {
    let mut stepped = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut stepped, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

struct Running {
    blob: BodyStream,
    /// What was read and not yet looked through.
    piece: Bytes,
    engine: Engine,
    out: Vec<u8>,
    finished: bool,
}

impl Running {
    fn into_stream(self) -> BodyStream {
        Box::pin(streams::unfold(self, |mut running| async move {
            loop {
                if !running.out.is_empty() {
                    let ready = Bytes::from(std::mem::take(&mut running.out));
                    return Some((Ok(ready), running));
                }
                if running.finished {
                    return None;
                }
                if running.piece.is_empty() && !running.engine.is_done() {
                    match running.blob.next().await {
                        Some(Ok(piece)) => running.piece = piece,
                        Some(Err(error)) => {
                            running.finished = true;
                            return Some((Err(error), running));
                        }
                        None => running.finish(),
                    }
                } else if running.engine.is_done() {
                    running.finish();
                }
                let slice = running.piece.split_to(running.piece.len().min(SLICE));
                running.engine.push(&slice, &mut running.out);
                let_others_run().await;
            }
        }))
    }

    fn finish(&mut self) {
        self.engine.finish(&mut self.out);
        self.piece = Bytes::new();
        self.finished = true;
    }
}
