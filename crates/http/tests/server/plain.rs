//! Plain HTTP: framing, limits, time limits, stopping.

use crate::support::{self, PATIENCE, start, start_with};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = start().await;
    let mut client = server.connect().await;
    let first = client.get("/empty").await;
    assert_eq!(first.status(), "201");
    assert_eq!(first.header("content-length"), Some("0"));
    assert_eq!(first.header("connection"), Some("keep-alive"));
    assert_eq!(first.header("keep-alive"), Some("timeout=1"));
    assert_eq!(first.header("server"), Some("Windows-Azure-Toy/1.0 Microsoft-HTTPAPI/2.0"));
    assert_eq!(first.header("x-ms-version"), Some("2026-10-06"));
    assert!(first.header("date").is_some());
    let second = client.get("/stream").await;
    assert_eq!((second.status(), second.body.as_str()), ("200", "1234567890"));
    assert_ne!(first.header("x-ms-request-id"), second.header("x-ms-request-id"));
}

#[tokio::test]
async fn errors_are_xml_with_their_text_as_reason() {
    let server = start().await;
    let mut client = server.connect().await;
    client
        .send("PUT /refuse HTTP/1.1\r\nHost: x\r\nx-ms-client-request-id: me\r\nContent-Length: 3\r\n\r\nabc")
        .await;
    let answer = client.answer().await;
    assert!(answer.head.starts_with(
        "HTTP/1.1 400 The requested URI does not represent any resource on the server.\r\n"
    ));
    assert_eq!(answer.header("x-ms-error-code"), Some("InvalidUri"));
    assert_eq!(answer.header("x-ms-client-request-id"), Some("me"));
    assert!(answer.body.contains("<Code>InvalidUri</Code>"), "{}", answer.body);
    assert!(answer.body.contains("Time:1970-01-01T00:00:00.0000000Z"), "{}", answer.body);
    client
        .send("HEAD /refuse HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    assert_eq!(client.answer().await.status(), "400");
    assert_eq!(client.answer().await.status(), "200", "the connection is still in step");
}

#[tokio::test]
async fn bodies_by_length_and_in_chunks() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello").await;
    assert_eq!(client.answer().await.body, "hello");
    client
        .send("PUT /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        .await;
    assert_eq!(client.answer().await.body, "abcde");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = start().await;
    let mut client = server.connect().await;
    client
        .send(
            "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1\
             PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n2\
             GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
        )
        .await;
    assert_eq!(client.answer().await.body, "1");
    assert_eq!(client.answer().await.body, "2");
    assert_eq!(client.answer().await.status(), "201");
}

#[tokio::test]
async fn expect_continue_is_answered_only_when_the_body_is_wanted() {
    let server = start().await;
    let mut client = server.connect().await;
    let head = |path: &str| {
        format!(
            "PUT {path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        )
    };
    client.send(head("/echo")).await;
    assert_eq!(client.answer().await.status(), "100");
    client.send("hello").await;
    assert_eq!(client.answer().await.body, "hello");
    client.send(head("/refuse")).await;
    let refused = client.answer().await;
    assert_eq!((refused.status(), refused.header("connection")), ("400", Some("close")));
    assert_eq!(client.until_end().await, "");
}

#[tokio::test]
async fn ambiguous_lengths_are_refused() {
    let server = start().await;
    for lengths in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: 3, 3\r\n",
        "Content-Length: +3\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "X: a\r\n b\r\n",
    ] {
        let mut client = server.connect().await;
        client.try_send(format!("PUT /echo HTTP/1.1\r\nHost: x\r\n{lengths}\r\n0\r\n\r\n")).await;
        let got = client.until_end().await;
        assert!(got.starts_with("HTTP/1.1 400"), "{lengths}: {got}");
        assert_eq!(got.matches("HTTP/1.1").count(), 1, "{lengths}: {got}");
    }
}

/// hyper reads on to the next empty line here, so that a second reader who stops at the newline
/// would know about another request than the one that is answered.
#[tokio::test]
async fn a_trailer_that_hides_a_request_ends_the_connection() {
    let server = start().await;
    for hidden in ["0\r\n\n", "0\r\nA: b\n\n"] {
        let mut client = server.connect().await;
        client
            .send(format!(
                "PUT /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n{hidden}\
                 GET /empty HTTP/1.1\r\nHost: x\r\n\r\n\
                 PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\
                 Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ))
            .await;
        let got = client.until_end().await;
        assert_eq!(got.matches("HTTP/1.1 200").count(), 1, "{got}");
        assert!(got.contains("HTTP/1.1 400"), "{got}");
    }
}

#[tokio::test]
async fn bad_heads_are_refused() {
    let server = start().await;
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), "400"),
        ("GET /empty?a=%zz HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "400"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
        (format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(65_536)), "4"),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(300_000)), "431"),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(300)), "431"),
    ] {
        let mut client = server.connect().await;
        client.try_send(&request).await;
        let got = client.until_end().await;
        let start = format!("HTTP/1.1 {status}");
        assert!(got.starts_with(&start), "{}: {got}", &request[..30.min(request.len())]);
    }
}

#[tokio::test]
async fn a_slow_head_is_cut() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("GET / HTTP/1.1\r\nHost").await;
    let started = Instant::now();
    client.until_end().await;
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_time() {
    let server = start().await;
    // With and without a body, after one request and after several.
    for (path, requests) in [("/empty", 1), ("/slow", 1), ("/stream", 1), ("/slow", 3)] {
        let mut client = server.connect().await;
        for _ in 0..requests {
            assert!(client.get(path).await.status().starts_with("20"));
        }
        let started = Instant::now();
        assert_eq!(client.until_end().await, "", "{path}");
        let idle = support::short().idle;
        assert!((idle / 2..idle * 3).contains(&started.elapsed()), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_second_head_that_is_slow_is_cut() {
    let server = start().await;
    let mut client = server.connect().await;
    assert_eq!(client.get("/slow").await.status(), "200");
    let started = Instant::now();
    for _ in 0..300 {
        client.try_send("G").await;
        sleep(Duration::from_millis(20)).await;
        if started.elapsed() > support::short().idle + support::short().head {
            break;
        }
    }
    assert_eq!(client.until_end().await, "");
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_stalled_body_is_cut() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhello").await;
    let got = client.until_end().await;
    assert!(got.starts_with("HTTP/1.1 400"), "{got}");
}

#[tokio::test]
async fn a_dripping_body_is_cut() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n").await;
    let started = Instant::now();
    for _ in 0..30 {
        client.try_send("x").await;
        sleep(Duration::from_millis(50)).await;
    }
    let got = client.until_end().await;
    assert!(got.starts_with("HTTP/1.1 400"), "{got}");
    assert!(started.elapsed() < PATIENCE);
}

#[tokio::test]
async fn a_long_unwanted_body_does_not_hide_the_answer() {
    let server = start().await;
    let mut client = server.connect().await;
    let length = 4 << 20;
    client
        .send(format!("PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"))
        .await;
    client.try_send(vec![b'x'; length]).await;
    let answer = client.answer().await;
    assert_eq!((answer.status(), answer.header("connection")), ("400", Some("close")));
}

#[tokio::test]
async fn a_short_unwanted_body_keeps_the_connection() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("PUT /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n").await;
    assert_eq!(client.answer().await.status(), "400");
    client.send(vec![b'x'; 100_000]).await;
    assert_eq!(client.get("/empty").await.status(), "201");
}

#[tokio::test]
async fn a_reply_that_breaks_off_never_looks_whole() {
    let server = start().await;
    for path in ["/broken", "/short"] {
        let mut client = server.connect().await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        let got = client.until_end().await;
        let whole = got.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= 10);
        assert!(!whole, "{path}: {got}");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_and_an_alarm() {
    let server = start().await;
    let mut client = server.connect().await;
    let answer = client.get("/panic").await;
    assert_eq!((answer.status(), answer.header("x-ms-error-code")), ("500", Some("InternalError")));
    assert_eq!(client.get("/empty").await.status(), "201");
    assert_eq!(server.panics(), 1);
}

#[tokio::test]
async fn metadata_names_keep_their_case_both_ways() {
    let server = start().await;
    let mut client = server.connect().await;
    for _ in 0..2 {
        client
            .send("GET /metadata HTTP/1.1\r\nHost: x\r\nx-ms-meta-MyKey: 1\r\nX-MS-META-other: 2\r\n\r\n")
            .await;
        let answer = client.answer().await;
        assert!(answer.head.contains("\r\nx-ms-meta-MyKey: 1\r\n"), "{}", answer.head);
        assert!(answer.head.contains("\r\nx-ms-meta-other: 2\r\n"), "{}", answer.head);
    }
}

#[tokio::test]
async fn stopping_lets_requests_in_flight_finish() {
    let server = start().await;
    let mut busy = server.connect().await;
    let mut idle = server.connect().await;
    assert_eq!(idle.get("/empty").await.status(), "201");
    busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    sleep(Duration::from_millis(100)).await;
    let stopped = server.stop();
    assert_eq!(busy.answer().await.body, "slow");
    assert_eq!(busy.until_end().await, "");
    assert_eq!(idle.until_end().await, "");
    timeout(PATIENCE, stopped).await.expect("it stops").expect("no panic").expect("no error");
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let server = start().await;
    let mut client = server.connect().await;
    client.send("GET /never HTTP/1.1\r\nHost: x\r\n\r\n").await;
    sleep(Duration::from_millis(50)).await;
    let started = Instant::now();
    timeout(PATIENCE, server.stop()).await.expect("it stops").expect("no panic").expect("no error");
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(client.until_end().await, "");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let server = start_with(None, 1).await;
    let mut first = server.connect().await;
    assert_eq!(first.get("/empty").await.status(), "201");
    let mut second = server.connect().await;
    second.send("GET /empty HTTP/1.1\r\nHost: x\r\n\r\n").await;
    drop(first);
    assert_eq!(second.answer().await.status(), "201");
}

/// Our own reading of the bytes and hyper's must agree however the bytes are cut.
#[tokio::test]
async fn any_mix_of_framings_in_any_pieces_stays_in_step() {
    let server = start().await;
    let mut random = 0x5EED_u64;
    let mut below = move |n: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((random >> 33) % n).unwrap_or(0)
    };
    for round in 0..40 {
        let mut bytes = String::new();
        let bodies: Vec<String> =
            (0..6).map(|i| format!("{i}\r\n\r\n").repeat(below(40))).collect();
        for body in &bodies {
            bytes += &"\r\n".repeat(below(2));
            bytes += "PUT /echo HTTP/1.1\r\nhost: x\r\n";
            if below(2) == 0 {
                bytes.extend([format!("Content-Length: {}\r\n\r\n", body.len()), body.clone()]);
                continue;
            }
            bytes += "Transfer-Encoding: chunked\r\n\r\n";
            let mut rest = body.as_str();
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at(rest.len().min(1 + below(30)));
                bytes.extend([&format!("{:x}\r\n", chunk.len()), chunk, "\r\n"]);
                rest = after;
            }
            bytes += "0\r\n\r\n";
        }
        let mut client = server.connect().await;
        let mut rest = bytes.as_bytes();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + below(400)));
            client.send(piece).await;
            tokio::task::yield_now().await;
            rest = after;
        }
        for body in &bodies {
            let answer = client.answer().await;
            assert_eq!((answer.status(), &answer.body), ("200", body), "round {round}");
        }
    }
}
