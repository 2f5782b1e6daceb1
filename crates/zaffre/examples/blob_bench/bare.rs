//! A bare hyper server: what HTTP alone costs, without a service behind it.
//!
//! Must never look at the request: it reads the body to its end and answers with the same bytes.

use crate::report::Result;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::net::TcpListener;

/// Answers with `status` and `length` bytes on a free port, which it says, for ever.
pub(crate) async fn serve(status: u16, length: usize) -> Result<()> {
    let status = StatusCode::from_u16(status)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening at http://{}", listener.local_addr()?);
    let body = "x".repeat(length);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let body = body.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let mut answer = Response::new(body.clone());
                *answer.status_mut() = status;
                async move {
                    let mut sent = request.into_body();
                    while !sent.is_end_stream() && next(&mut sent).await.is_some() {}
                    Ok::<_, Infallible>(answer)
                }
            });
            // A client that goes away is the loader having finished.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn next(sent: &mut Incoming) -> Option<hyper::Result<Frame<Bytes>>> {
    poll_fn(|cx| Pin::new(&mut *sent).poll_frame(cx)).await
}
