//! The test controls: the clock and faults, as JSON over HTTP.
//!
//! Must never be reached from a web page: whatever a browser sends on behalf of one carries its
//! `Origin`, and is refused.

use crate::service::plain;
use crate::{clock, faults};
use futures_util::StreamExt;
use hyper::header::{CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use zaffre_core::Core;
use zaffre_http::faults::Faults;
use zaffre_http::{Reply, Request};

/// The largest body.
const BODY: usize = 64 * 1024;
/// The folder of the faults, each by its id.
const FAULTS: &str = "/test/faults";

/// What the controls turn.
#[derive(Debug)]
pub(crate) struct Controls {
    pub(crate) core: Core,
    pub(crate) faults: Faults,
}

/// A refusal: a status and a sentence.
pub(crate) type Refused = (StatusCode, String);

/// A request that makes no sense.
pub(crate) fn wrong(said: impl Into<String>) -> Refused {
    (StatusCode::BAD_REQUEST, said.into())
}

impl Controls {
    /// Answers a request below `/test/`.
    pub(crate) async fn answer(&self, mut request: Request) -> Reply {
        if request.head.headers.contains_key(ORIGIN) {
            return plain(StatusCode::FORBIDDEN, "Web pages may not turn the test controls.\n");
        }
        let done = match body(&mut request).await {
            Ok(asked) => self.perform(&request.head.method, &request.head.raw_path, &asked).await,
            Err(refused) => Err(refused),
        };
        match done {
            Ok(answer) => document(StatusCode::OK, &answer),
            Err((status, said)) => document(status, &json!({ "error": said })),
        }
    }

    async fn perform(&self, method: &Method, path: &str, asked: &Value) -> Result<Value, Refused> {
        let one = path.strip_prefix(FAULTS).and_then(|rest| rest.strip_prefix('/'));
        match (method, path) {
            (&Method::GET, "/test/clock") => Ok(clock::show(&self.core.store().clock)),
            (&Method::POST, "/test/clock") => clock::turn(&self.core, asked).await,
            (&Method::GET, FAULTS) => Ok(faults::list(&self.faults)),
            (&Method::POST, FAULTS) => faults::add(&self.faults, asked),
            (&Method::DELETE, FAULTS) => Ok(json!({ "removed": self.faults.clear() })),
            (&Method::DELETE, _) if one.is_some() => {
                faults::remove(&self.faults, one.unwrap_or_default())
            }
            (_, "/test/clock" | FAULTS) => {
                Err((StatusCode::METHOD_NOT_ALLOWED, "this method has no meaning here".to_owned()))
            }
            _ => Err((StatusCode::NOT_FOUND, "there is nothing here".to_owned())),
        }
    }
}

/// The body, `null` if there is none.
async fn body(request: &mut Request) -> Result<Value, Refused> {
    let mut text = Vec::new();
    while let Some(piece) = request.body.next().await {
        let piece = piece.map_err(|_| wrong("the body ended early"))?;
        if text.len() + piece.len() > BODY {
            return Err(wrong("the body is too large"));
        }
        text.extend_from_slice(&piece);
    }
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&text).map_err(|error| wrong(format!("the body is not JSON: {error}")))
}

fn document(status: StatusCode, value: &Value) -> Reply {
    let mut reply = plain(status, format!("{value}\n"));
    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
