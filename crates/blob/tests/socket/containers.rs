//! Containers from creation to deletion.

use crate::client::Server;

const C: &str = "/abc?restype=container";

#[tokio::test]
async fn a_container_lives() {
    let server = Server::start().await;
    let created = server.ask(&format!("PUT {C}")).with("x-ms-meta-Color", "red").send().await;
    assert_eq!(created.outcome(), "201");
    assert!(created.header("etag").starts_with("\"0x"), "{created:?}");
    assert!(created.header("x-ms-request-id").len() == 36);
    assert_eq!(created.header("x-ms-version"), "2024-08-04");

    let again = server.ask(&format!("PUT {C}")).send().await;
    assert_eq!(again.outcome(), "409 ContainerAlreadyExists");
    assert!(again.text().contains("<Code>ContainerAlreadyExists</Code>"), "{}", again.text());

    let shown = server.ask(&format!("GET {C}")).send().await;
    assert_eq!(shown.outcome(), "200");
    assert_eq!(shown.header("x-ms-meta-Color"), "red");
    assert!(shown.headers.iter().any(|(name, _)| name == "x-ms-meta-Color"), "the case is kept");
    assert_eq!(shown.header("etag"), created.header("etag"));
    assert_eq!(shown.header("x-ms-lease-state"), "available");

    let set = server.ask(&format!("PUT {C}&comp=metadata")).with("x-ms-meta-b", "2").send().await;
    assert_eq!(set.outcome(), "200");
    let shown = server.ask(&format!("HEAD {C}&comp=metadata")).send().await;
    assert_eq!((shown.header("x-ms-meta-b"), shown.header("x-ms-meta-color")), ("2", ""));

    let gone = server.ask(&format!("DELETE {C}")).send().await;
    assert_eq!(gone.outcome(), "202");
    assert_eq!(server.ask(&format!("GET {C}")).send().await.outcome(), "404 ContainerNotFound");
    let early = server.ask(&format!("PUT {C}")).send().await;
    assert_eq!(early.outcome(), "409 ContainerBeingDeleted");
}

#[tokio::test]
async fn access_policies_come_back_in_full_precision() {
    let server = Server::start().await;
    server.ask(&format!("PUT {C}")).send().await;
    let policies = "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>\
        <SignedIdentifier><Id>one</Id><AccessPolicy><Start>2026-01-01</Start>\
        <Expiry>2030-01-01T00:00:00Z</Expiry><Permission>rl</Permission></AccessPolicy>\
        </SignedIdentifier></SignedIdentifiers>";
    let set = server.ask(&format!("PUT {C}&comp=acl")).with("x-ms-blob-public-access", "blob");
    assert_eq!(set.body(policies).send().await.outcome(), "200");
    let shown = server.ask(&format!("GET {C}&comp=acl")).send().await;
    assert_eq!(shown.header("x-ms-blob-public-access"), "blob");
    let want = "<SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy>\
        <Start>2026-01-01T00:00:00.0000000Z</Start><Expiry>2030-01-01T00:00:00.0000000Z</Expiry>\
        <Permission>rl</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    assert!(shown.text().ends_with(want), "{}", shown.text());
    let broken = server.ask(&format!("PUT {C}&comp=acl")).body("<SignedIdentifiers>").send().await;
    assert_eq!(broken.outcome(), "400 InvalidXmlDocument");
    assert_eq!(server.ask(&format!("PUT {C}&comp=acl")).send().await.outcome(), "200");
    let cleared = server.ask(&format!("GET {C}&comp=acl")).send().await;
    assert!(cleared.text().ends_with("<SignedIdentifiers />"), "{}", cleared.text());
}

#[tokio::test]
async fn leases_guard_deletion() {
    let server = Server::start().await;
    server.ask(&format!("PUT {C}")).send().await;
    let lease =
        |action: &str| server.ask(&format!("PUT {C}&comp=lease")).with("x-ms-lease-action", action);
    let acquired = lease("acquire").with("x-ms-lease-duration", "-1").send().await;
    assert_eq!(acquired.outcome(), "201");
    let id = acquired.header("x-ms-lease-id").to_owned();
    assert_eq!(id.len(), 36);
    let missing = server.ask(&format!("DELETE {C}")).send().await;
    assert_eq!(missing.outcome(), "412 LeaseIdMissing");
    assert!(missing.text().contains("a lease on the container"), "{}", missing.text());
    let broken = lease("break").with("x-ms-lease-break-period", "0").send().await;
    assert_eq!((broken.outcome().as_str(), broken.header("x-ms-lease-time")), ("202", "0"));
    let lost = server.ask(&format!("DELETE {C}")).with("x-ms-lease-id", &id).send().await;
    assert_eq!(lost.outcome(), "412 LeaseLost");
    assert_eq!(lease("steal").send().await.outcome(), "400 InvalidHeaderValue");
    assert_eq!(server.ask(&format!("DELETE {C}")).send().await.outcome(), "202");
}

#[tokio::test]
async fn containers_are_listed_page_by_page() {
    let server = Server::start().await;
    for name in ["aaa", "bbb", "ccc"] {
        server.ask(&format!("PUT /{name}?restype=container")).send().await;
    }
    let first = server.ask("GET /?comp=list&maxresults=2").send().await;
    assert_eq!(first.outcome(), "200");
    let text = first.text();
    assert!(text.contains("<MaxResults>2</MaxResults><Containers><Container><Name>aaa</Name>"));
    assert!(text.contains("<Name>bbb</Name>") && !text.contains("<Name>ccc</Name>"), "{text}");
    let marker = text.split("<NextMarker>").nth(1).and_then(|rest| rest.split('<').next());
    let marker = crate::client::encoded(marker.expect("more to come"));
    let rest = server.ask(&format!("GET /?comp=list&marker={marker}")).send().await;
    assert!(rest.text().contains("<Name>ccc</Name>"), "{}", rest.text());
    assert!(rest.text().contains("<NextMarker />"), "{}", rest.text());
    let bad = server.ask("GET /?comp=list&marker=nonsense").send().await;
    assert_eq!(bad.status, 400, "{bad:?}");
    let some = server.ask("GET /?comp=list&prefix=b").send().await;
    assert!(some.text().contains("<Prefix>b</Prefix>") && !some.text().contains("<Name>aaa"));
}
