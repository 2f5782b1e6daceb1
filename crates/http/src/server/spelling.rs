//! Header names with capital letters in replies.
//!
//! hyper writes names in lower case unless the message carries hyper's own record of how names
//! were spelled, and only hyper's parser makes such records. So the parser is shown a request
//! with the names we want, in memory. Done only for replies that have such names.

use hyper::body::Incoming;
use hyper::http::Extensions;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use zaffre_base::limits::REQUEST_HEADERS;

/// The extensions that make hyper spell `names` as given. Names must be legal header names.
pub(super) async fn extensions(names: &[String]) -> Extensions {
    let mut request = "GET / HTTP/1.1\r\n".to_owned();
    for name in names.iter().take(REQUEST_HEADERS) {
        request.push_str(name);
        request.push_str(":\r\n");
    }
    request.push_str("\r\n");
    let found = Mutex::new(Extensions::new());
    let keep = service_fn(|request: Request<Incoming>| {
        let extensions = request.into_parts().0.extensions;
        *found.lock().unwrap_or_else(PoisonError::into_inner) = extensions;
        std::future::ready(Ok::<_, Infallible>(Response::new(String::new())))
    });
    let memory = tokio::io::join(request.as_bytes(), tokio::io::sink());
    let parsed = http1::Builder::new()
        .preserve_header_case(true)
        .max_headers(REQUEST_HEADERS)
        .keep_alive(false)
        // The request ends before it is answered; that must not count as the client's leaving.
        .half_close(true)
        .serve_connection(TokioIo::new(memory), keep)
        .await;
    if let Err(error) = parsed {
        tracing::warn!(%error, "header names lose their case");
    }
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}
