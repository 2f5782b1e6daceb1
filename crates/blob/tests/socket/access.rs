//! Who may do what: credentials, public access, the secondary endpoint, what is not served.

use crate::client::{Server, exchange};
use zaffre_auth::Accounts;

const C: &str = "/abc?restype=container";

async fn server(access: &str) -> Server {
    let server = Server::start().await;
    let create = server.ask(&format!("PUT {C}"));
    let create =
        if access.is_empty() { create } else { create.with("x-ms-blob-public-access", access) };
    assert_eq!(create.send().await.outcome(), "201");
    let put = server.ask("PUT /abc/b").with("x-ms-blob-type", "BlockBlob").body("public?");
    assert_eq!(put.send().await.outcome(), "201");
    server
}

#[tokio::test]
async fn public_access() {
    const CHALLENGED: &str = "401 NoAuthenticationInformation";
    for (access, blob, list, staged) in [
        ("", CHALLENGED, CHALLENGED, CHALLENGED),
        ("blob", "200", CHALLENGED, CHALLENGED),
        ("container", "200", "200", CHALLENGED),
    ] {
        let server = server(access).await;
        let outcome = async |line: &str| server.ask(line).unsigned().send().await.outcome();
        assert_eq!(outcome("GET /abc/b").await, blob, "{access}");
        assert_eq!(outcome("GET /abc/b?comp=blocklist").await, blob, "{access}");
        assert_eq!(outcome("GET /abc?restype=container&comp=list").await, list, "{access}");
        let all = "GET /abc/b?comp=blocklist&blocklisttype=all";
        assert_eq!(outcome(all).await, staged, "{access}");
        for line in [
            "PUT /abc/b?comp=metadata",
            "DELETE /abc/b",
            "DELETE /abc?restype=container",
            "PUT /abc/b?comp=lease",
            "PUT /abc/b?comp=tags",
            "GET /?comp=list",
            "GET /?restype=service&comp=properties",
            "GET /nope/b",
        ] {
            assert_eq!(outcome(line).await, CHALLENGED, "{access} {line}");
        }
    }
}

#[tokio::test]
async fn a_refused_caller_learns_nothing_from_bad_syntax() {
    let server = server("").await;
    let answer = server.ask("PUT /abc/b?comp=lease").unsigned();
    assert_eq!(answer.send().await.outcome(), "401 NoAuthenticationInformation");
    let list = server.ask("PUT /abc/b?comp=blocklist").by_sas("b", "r", &[]).body("nonsense");
    assert_eq!(list.send().await.outcome(), "403 AuthorizationPermissionMismatch");
}

#[tokio::test]
async fn shared_access_signatures() {
    let server = server("").await;
    for (line, resource, permissions, want) in [
        ("GET /abc/b", "b", "r", "200"),
        ("GET /abc/b", "c", "r", "200"),
        ("GET /abc/b", "b", "w", "403 AuthorizationPermissionMismatch"),
        ("GET /abc/other", "b", "r", "404 BlobNotFound"),
        ("GET /abc?restype=container&comp=list", "c", "l", "200"),
        ("GET /abc?restype=container&comp=list", "c", "r", "403 AuthorizationPermissionMismatch"),
        ("DELETE /abc/b", "b", "r", "403 AuthorizationPermissionMismatch"),
        ("GET /abc?restype=container", "c", "rl", "403 AuthorizationFailure"),
        ("GET /abc?restype=container&comp=acl", "c", "rwdl", "403 AuthorizationFailure"),
        ("GET /abc/b?restype=account&comp=properties", "b", "r", "200"),
    ] {
        let answer = server.ask(line).by_sas(resource, permissions, &[]).send().await;
        assert_eq!(answer.outcome(), want, "{line} {resource} {permissions}");
    }
    let put = |permissions| {
        let ask = server.ask("PUT /abc/b").with("x-ms-blob-type", "BlockBlob").body("new");
        ask.by_sas("b", permissions, &[]).send()
    };
    assert_eq!(put("c").await.outcome(), "403 UnauthorizedBlobOverwrite");
    assert_eq!(put("w").await.outcome(), "201");
}

#[tokio::test]
async fn a_sas_can_replace_headers() {
    let server = server("").await;
    let get = |more: &'static [(&'static str, &'static str)]| {
        server.ask("GET /abc/b").by_sas("b", "r", more).send()
    };
    let answer = get(&[("rsct", "text/html"), ("rscd", "attachment; filename=x")]).await;
    assert_eq!(answer.header("content-type"), "text/html");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=x");
}

#[tokio::test]
async fn the_secondary_endpoint_only_reads() {
    let server = server("").await;
    let secondary = "devstoreaccount1-secondary";
    let read = server.ask("GET /abc/b").of_account(secondary).send().await;
    assert_eq!(read.outcome(), "200");
    let list = server.ask("GET /?comp=list").of_account(secondary).send().await;
    assert!(list.text().contains("/devstoreaccount1-secondary/\""), "{}", list.text());
    let write = server.ask("PUT /abc/b?comp=metadata").of_account(secondary).send().await;
    assert_eq!(write.outcome(), "403 InsufficientAccountPermissions");
}

#[tokio::test]
async fn credentials() {
    let server = server("").await;
    let wrong = server.ask("GET /abc/b").unsigned().with("Authorization", "SharedKey x:y");
    assert_eq!(wrong.send().await.status, 403);
    let unknown = server.ask("GET /abc/b").of_account("nobody").unsigned().send().await;
    assert_eq!(unknown.outcome(), "404 ResourceNotFound");
    server.accounts.change(|_| Accounts::parse_env("other:a2V5").expect("an account"));
    let gone = server.ask("GET /abc/b").send().await;
    assert_eq!(gone.outcome(), "404 ResourceNotFound");
    let back = server.accounts.current();
    assert!(back.iter().all(|account| account.name().as_str() == "other"));
}

/// A credential that is not text is still a credential: never taken for none, nor for another.
#[tokio::test]
async fn credentials_that_are_no_text() {
    let server = server("blob").await;
    for (name, want) in [
        ("Authorization", "400 InvalidHeaderValue"),
        ("x-ms-date", "400 InvalidHeaderValue"),
        ("Range", "400 InvalidHeaderValue"),
        ("User-Agent", "200"),
    ] {
        let mut bytes = b"GET /devstoreaccount1/abc/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
            x-ms-version: 2024-08-04\r\n"
            .to_vec();
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": \xFF\r\n\r\n");
        assert_eq!(exchange(server.address, &bytes).await.outcome(), want, "{name}");
    }
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let server = server("").await;
    let scope = server.ask("PUT /abc/b").with("x-ms-blob-type", "BlockBlob");
    let answer = scope.with("x-ms-expiry-option", "NeverExpire").send().await;
    assert_eq!(answer.outcome(), "501 APINotImplemented");
    assert!(answer.text().contains("is not implemented yet"), "{}", answer.text());
    let expiry = server.ask("PUT /abc/b?comp=expiry").with("x-ms-expiry-option", "NeverExpire");
    assert_eq!(expiry.send().await.outcome(), "400 HierarchicalNamespaceNotEnabled");
    let info = server.ask("GET /?restype=account&comp=properties").send().await;
    assert_eq!((info.status, info.header("x-ms-account-kind")), (200, "StorageV2"));
}

#[tokio::test]
async fn requests_that_make_no_sense() {
    let server = server("").await;
    for (line, want) in [
        ("GET /abc/b?comp=nothing", "400 InvalidQueryParameterValue"),
        ("GET /", "400 InvalidQueryParameterValue"),
        ("POST /abc/b", "405 UnsupportedHttpVerb"),
        ("GET /abc/", "400 InvalidUri"),
        ("GET /ABC/b", "400 InvalidResourceName"),
        ("GET /ab?restype=container", "400 OutOfRangeInput"),
        ("PUT /abc/b", "400 MissingRequiredHeader"),
        ("GET /abc/b?comp=a&comp=b", "400 InvalidQueryParameterValue"),
    ] {
        assert_eq!(server.ask(line).send().await.outcome(), want, "{line}");
    }
    let cors = server.ask("OPTIONS /abc/b").unsigned().with("Origin", "http://a");
    let cors = cors.with("Access-Control-Request-Method", "PUT").send().await;
    assert_eq!(cors.outcome(), "403 CorsPreflightFailure");
    let chunked = "PUT /devstoreaccount1/abc/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
        x-ms-version: 2024-08-04\r\nx-ms-blob-type: BlockBlob\r\nTransfer-Encoding: chunked\r\n\r\n\
        0\r\n\r\n";
    let answer = exchange(server.address, chunked.as_bytes()).await;
    assert_eq!(answer.outcome(), "401 NoAuthenticationInformation");
}
