//! Blobs: written whole and in blocks, read whole and in ranges, under conditions and leases.

use crate::client::{Answer, Ask, Server, encoded};
use zaffre_base::base64;
use zaffre_base::checksum::{Crc64, Md5};

async fn server() -> Server {
    let server = Server::start().await;
    assert_eq!(server.ask("PUT /abc?restype=container").send().await.outcome(), "201");
    server
}

fn put<'a>(server: &'a Server, path: &str, content: &str) -> Ask<'a> {
    server.ask(&format!("PUT {path}")).with("x-ms-blob-type", "BlockBlob").body(content)
}

async fn get(server: &Server, path: &str) -> Answer {
    server.ask(&format!("GET {path}")).send().await
}

fn md5(content: &[u8]) -> String {
    let mut md5 = Md5::default();
    md5.update(content);
    base64::encode(&md5.finish())
}

fn crc64(content: &[u8]) -> [u8; 8] {
    let mut crc = Crc64::default();
    crc.update(content);
    crc.finish()
}

#[tokio::test]
async fn a_blob_comes_back_as_it_was_sent() {
    let server = server().await;
    let stored = put(&server, "/abc/dir/b%20%C3%A9", "hello world")
        .with("x-ms-blob-content-type", "text/plain")
        .with("x-ms-meta-MyKey", "v")
        .with("x-ms-client-request-id", "mine")
        .send()
        .await;
    assert_eq!(stored.outcome(), "201");
    assert_eq!(stored.header("content-md5"), "XrY7u+Ae7tCTyyK7j1rNww==");
    assert_eq!(stored.header("x-ms-content-crc64"), "vo7q9sPVKY0=");
    assert_eq!(stored.header("x-ms-request-server-encrypted"), "true");
    assert_eq!(stored.header("x-ms-client-request-id"), "mine");

    let read = get(&server, "/abc/dir/b%20%C3%A9").await;
    assert_eq!((read.outcome().as_str(), read.text().as_str()), ("200", "hello world"));
    assert_eq!(read.header("content-type"), "text/plain");
    assert_eq!(read.header("content-length"), "11");
    assert_eq!(read.header("etag"), stored.header("etag"));
    assert_eq!(read.header("x-ms-blob-type"), "BlockBlob");
    assert_eq!(read.header("x-ms-meta-mykey"), "v");

    let head = server.ask("HEAD /abc/dir/b%20%C3%A9").send().await;
    assert_eq!((head.outcome().as_str(), head.text().as_str()), ("200", ""));
    assert_eq!(head.header("content-length"), "11");
    assert_eq!(head.header("x-ms-access-tier"), "Hot");

    assert_eq!(server.ask("DELETE /abc/dir/b%20%C3%A9").send().await.outcome(), "202");
    assert_eq!(get(&server, "/abc/dir/b%20%C3%A9").await.outcome(), "404 BlobNotFound");
    let head = server.ask("HEAD /abc/dir/b%20%C3%A9").send().await;
    assert_eq!((head.outcome().as_str(), head.text().as_str()), ("404 BlobNotFound", ""));
    assert_eq!(get(&server, "/nope/b").await.outcome(), "404 ContainerNotFound");
}

#[tokio::test]
async fn checksums_of_uploads_are_verified() {
    let server = server().await;
    let content = "hello world";
    for (name, value, want) in [
        ("content-md5", md5(content.as_bytes()), "201"),
        ("content-md5", md5(b"other"), "400 Md5Mismatch"),
        ("content-md5", "x".to_owned(), "400 InvalidMd5"),
        ("x-ms-content-crc64", base64::encode(&crc64(content.as_bytes())), "201"),
        ("x-ms-content-crc64", base64::encode(&crc64(b"other")), "400 Crc64Mismatch"),
        ("x-ms-blob-content-md5", md5(b"other"), "400 Md5Mismatch"),
    ] {
        let answer = put(&server, "/abc/b", content).with(name, &value).send().await;
        assert_eq!(answer.outcome(), want, "{name} {value}");
    }
}

#[tokio::test]
async fn ranges() {
    let server = server().await;
    put(&server, "/abc/b", "0123456789").send().await;
    put(&server, "/abc/empty", "").send().await;
    for (path, range, want, body, content_range) in [
        ("/abc/b", "bytes=2-4", "206", "234", "bytes 2-4/10"),
        ("/abc/b", "bytes=8-", "206", "89", "bytes 8-9/10"),
        ("/abc/b", "bytes=0-99", "206", "0123456789", "bytes 0-9/10"),
        ("/abc/b", "bytes=-3", "200", "0123456789", ""),
        ("/abc/b", "bytes=0-1,4-5", "200", "0123456789", ""),
    ] {
        let answer = server.ask(&format!("GET {path}")).with("range", range).send().await;
        let got = (answer.outcome(), answer.text(), answer.header("content-range").to_owned());
        assert_eq!(got, (want.to_owned(), body.to_owned(), content_range.to_owned()), "{range}");
    }
    for (path, total) in [("/abc/b", 10), ("/abc/empty", 0)] {
        let answer =
            server.ask(&format!("GET {path}")).with("x-ms-range", "bytes=10-").send().await;
        assert_eq!(answer.outcome(), "416 InvalidRange");
        assert_eq!(answer.header("content-range"), format!("bytes */{total}"));
    }
    let part = server.ask("GET /abc/b").with("range", "bytes=2-4");
    let part = part.with("x-ms-range-get-content-md5", "true").send().await;
    assert_eq!(part.header("content-md5"), md5(b"234"));
    assert_eq!(part.header("x-ms-blob-content-md5"), md5(b"0123456789"));
}

#[tokio::test]
async fn blocks() {
    let server = server().await;
    let id = |name: &str| encoded(&base64::encode(name.as_bytes()));
    for (name, content) in [("a1", "hello "), ("a2", "world")] {
        let line = format!("PUT /abc/b?comp=block&blockid={}", id(name));
        let staged = server.ask(&line).body(content).send().await;
        assert_eq!(staged.outcome(), "201");
        let crc = base64::encode(&crc64(content.as_bytes()));
        assert_eq!(staged.header("x-ms-content-crc64"), crc);
    }
    assert_eq!(get(&server, "/abc/b").await.outcome(), "404 BlobNotFound");
    let staged = get(&server, "/abc/b?comp=blocklist&blocklisttype=all").await;
    let want = "<BlockList><CommittedBlocks /><UncommittedBlocks>\
        <Block><Name>YTE=</Name><Size>6</Size></Block><Block><Name>YTI=</Name><Size>5</Size>\
        </Block></UncommittedBlocks></BlockList>";
    assert!(staged.text().ends_with(want), "{}", staged.text());
    assert_eq!(staged.header("etag"), "");
    let listed = get(&server, "/abc?restype=container&comp=list&include=uncommittedblobs").await;
    assert!(listed.text().contains("<Name>b</Name><Properties><Content-Length>0<"));

    let list = "<BlockList><Latest>YTE=</Latest><Uncommitted>YTI=</Uncommitted></BlockList>";
    let commit = |body: &str| server.ask("PUT /abc/b?comp=blocklist").body(body);
    let wrong = commit(list).with("content-md5", &md5(b"x")).send().await;
    assert_eq!(wrong.outcome(), "400 Md5Mismatch");
    let unknown = commit("<BlockList><Latest>bm8=</Latest></BlockList>").send().await;
    assert_eq!(unknown.outcome(), "400 InvalidBlockList");
    assert_eq!(commit("<BlockList>").send().await.outcome(), "400 InvalidXmlDocument");
    let committed = commit(list).with("content-md5", &md5(list.as_bytes())).send().await;
    assert_eq!(committed.outcome(), "201");
    assert_eq!(committed.header("content-md5"), md5(list.as_bytes()));

    let read = get(&server, "/abc/b").await;
    assert_eq!(read.text(), "hello world");
    assert_eq!(read.header("content-md5"), "");
    assert_eq!(read.header("content-type"), "application/octet-stream");
    let list = get(&server, "/abc/b?comp=blocklist").await;
    assert_eq!(list.header("x-ms-blob-content-length"), "11");
    assert!(list.text().contains("<CommittedBlocks><Block><Name>YTE=</Name><Size>6</Size>"));
    assert!(!list.text().contains("UncommittedBlocks"), "{}", list.text());
    let mixed = format!("PUT /abc/b?comp=block&blockid={}", id("longer"));
    server.ask(&mixed).body("x").send().await;
    let other = format!("PUT /abc/b?comp=block&blockid={}", id("short"));
    let other = server.ask(&other).body("x").send().await;
    assert_eq!(other.outcome(), "400 InvalidBlobOrBlock");
}

#[tokio::test]
async fn framed_uploads_are_checked_and_unframed() {
    let server = server().await;
    let content = b"hello world";
    let mut framed = vec![1];
    framed.extend_from_slice(&50_u64.to_le_bytes());
    framed.extend_from_slice(&[1, 0, 1, 0, 1, 0]);
    framed.extend_from_slice(&11_u64.to_le_bytes());
    framed.extend_from_slice(content);
    framed.extend_from_slice(&crc64(content));
    framed.extend_from_slice(&crc64(content));
    let send = |body: Vec<u8>| {
        let ask = server.ask("PUT /abc/b").with("x-ms-blob-type", "BlockBlob");
        ask.with("x-ms-structured-body", "XSM/1.0; properties=crc64")
            .with("x-ms-structured-content-length", "11")
            .body(body)
            .send()
    };
    let stored = send(framed.clone()).await;
    assert_eq!(stored.outcome(), "201", "{}", stored.text());
    assert_eq!(stored.header("x-ms-structured-body"), "XSM/1.0; properties=crc64");
    assert_eq!(get(&server, "/abc/b").await.text(), "hello world");
    let asked = server.ask("GET /abc/b").with("x-ms-structured-body", "XSM/1.0; properties=crc64");
    let read = asked.send().await;
    assert_eq!(read.body, framed, "a download is framed like an upload");
    assert_eq!(read.header("x-ms-structured-content-length"), "11");
    assert_eq!(read.header("content-length"), "50");
    let mut broken = framed.clone();
    broken[25] ^= 1;
    assert_eq!(send(broken).await.outcome(), "400 Crc64Mismatch");
    framed[0] = 2;
    assert_eq!(send(framed).await.outcome(), "400 InvalidInput");
}

#[tokio::test]
async fn conditions_and_leases() {
    let server = server().await;
    let first = put(&server, "/abc/b", "one").send().await;
    let etag = first.header("etag").to_owned();
    let exists = put(&server, "/abc/b", "two").with("if-none-match", "*").send().await;
    assert_eq!(exists.outcome(), "409 BlobAlreadyExists");
    let same = server.ask("GET /abc/b").with("if-none-match", &etag).send().await;
    assert_eq!((same.outcome().as_str(), same.text().as_str()), ("304 ConditionNotMet", ""));
    let other = server.ask("GET /abc/b").with("if-match", "\"0x1\"").send().await;
    assert_eq!(other.outcome(), "412 ConditionNotMet");
    let both = put(&server, "/abc/b", "two").with("if-match", &etag).with("if-none-match", "*");
    assert_eq!(both.send().await.outcome(), "400 MultipleConditionHeadersNotSupported");
    assert_eq!(put(&server, "/abc/b", "two").with("if-match", &etag).send().await.outcome(), "201");

    let lease = server.ask("PUT /abc/b?comp=lease").with("x-ms-lease-action", "acquire");
    let leased = lease.with("x-ms-lease-duration", "15").send().await;
    assert_eq!(leased.outcome(), "201");
    let id = leased.header("x-ms-lease-id").to_owned();
    assert_eq!(put(&server, "/abc/b", "three").send().await.outcome(), "412 LeaseIdMissing");
    let star = put(&server, "/abc/b", "three").with("if-none-match", "*").send().await;
    assert_eq!(star.outcome(), "412 LeaseIdMissing", "the lease is checked first");
    let held = put(&server, "/abc/b", "three").with("x-ms-lease-id", &id).send().await;
    assert_eq!(held.outcome(), "201");
    let shown = server.ask("HEAD /abc/b").send().await;
    assert_eq!(shown.header("x-ms-lease-duration"), "fixed");
    server.core.store().clock.freeze();
    server.core.store().clock.advance(std::time::Duration::from_secs(16));
    let late = server.ask("PUT /abc/b?comp=metadata").with("x-ms-lease-id", &id).send().await;
    assert_eq!(late.outcome(), "412 LeaseLost");
}

#[tokio::test]
async fn listings() {
    let server = server().await;
    for name in ["a", "d/x", "d/y", "z"] {
        put(&server, &format!("/abc/{name}"), name).with("x-ms-meta-n", "1").send().await;
    }
    let list = "/abc?restype=container&comp=list";
    let all = get(&server, list).await.text();
    let names = |text: &str| {
        let parts = text.split("<Name>").skip(1).filter_map(|part| part.split('<').next());
        parts.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&all), "a d/x d/y z");
    let endpoint = format!("ServiceEndpoint=\"http://{}/devstoreaccount1/\"", server.address);
    assert!(all.contains(&endpoint) && all.contains("ContainerName=\"abc\""), "{all}");
    assert!(!all.contains("<Metadata>"));
    let grouped = get(&server, &format!("{list}&delimiter=%2F&include=metadata")).await.text();
    assert_eq!(names(&grouped), "a d/ z");
    assert!(grouped.contains("<Metadata><n>1</n></Metadata><OrMetadata /></Blob>"), "{grouped}");
    let inside = get(&server, &format!("{list}&delimiter=%2F&prefix=d%2F")).await.text();
    assert_eq!(names(&inside), "d/x d/y");
    let page = get(&server, &format!("{list}&maxresults=3")).await.text();
    assert_eq!(names(&page), "a d/x d/y");
    let marker = page.split("<NextMarker>").nth(1).and_then(|rest| rest.split('<').next());
    let marker = encoded(marker.expect("more to come"));
    let rest = get(&server, &format!("{list}&marker={marker}")).await.text();
    assert_eq!(names(&rest), "z");
}

#[tokio::test]
async fn pages_of_large_entries_end_early() {
    let server = server().await;
    let large = format!("text/{}", "x".repeat(50_000));
    for number in 100..200 {
        let put = put(&server, &format!("/abc/{number}"), "");
        assert_eq!(put.with("x-ms-blob-content-type", &large).send().await.outcome(), "201");
    }
    let list = "/abc?restype=container&comp=list";
    let first = get(&server, list).await.text();
    assert!(first.len() < 5_000_000, "{}", first.len());
    let marker = first.split("<NextMarker>").nth(1).and_then(|rest| rest.split('<').next());
    let marker = encoded(marker.expect("more to come"));
    let rest = get(&server, &format!("{list}&marker={marker}")).await.text();
    assert!(rest.contains("<NextMarker />"));
    assert_eq!(first.matches("<Blob>").count() + rest.matches("<Blob>").count(), 100);
}

#[tokio::test]
async fn properties_and_metadata_are_replaced() {
    let server = server().await;
    put(&server, "/abc/b", "x").with("cache-control", "no-store").send().await;
    let set = server.ask("PUT /abc/b?comp=properties");
    let set = set.with("x-ms-blob-content-language", "en").send().await;
    assert_eq!(set.outcome(), "200");
    let head = server.ask("HEAD /abc/b").send().await;
    assert_eq!(head.header("content-language"), "en");
    assert_eq!((head.header("cache-control"), head.header("content-type")), ("", ""));
    let set = server.ask("PUT /abc/b?comp=metadata").with("x-ms-meta-A", "1").send().await;
    assert_eq!(set.outcome(), "200");
    assert_ne!(set.header("etag"), head.header("etag"));
    let shown = get(&server, "/abc/b?comp=metadata").await;
    assert_eq!((shown.header("x-ms-meta-a"), shown.text().as_str()), ("1", ""));
    let bad = server.ask("PUT /abc/b?comp=metadata").with("x-ms-meta-1", "1").send().await;
    assert_eq!(bad.outcome(), "400 InvalidMetadata");
}
