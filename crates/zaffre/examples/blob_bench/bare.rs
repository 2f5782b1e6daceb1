//! A bare hyper server: what HTTP alone costs, without a service behind it.
//!
//! Must never look at the request: it answers every one with the same bytes.

use crate::report::Result;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use tokio::net::TcpListener;

/// Serves `length` bytes on a free port, which it says, for ever.
pub(crate) async fn serve(length: usize) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening at http://{}", listener.local_addr()?);
    let body = "x".repeat(length);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let body = body.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |_: Request<hyper::body::Incoming>| {
                let answer = Response::new(body.clone());
                async move { Ok::<_, Infallible>(answer) }
            });
            // A client that goes away is the loader having finished.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
