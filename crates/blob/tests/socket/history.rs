//! Snapshots, versions and soft delete as a client sees them.

use crate::client::{ACCOUNT, Answer, Server};
use zaffre_base::AccountName;
use zaffre_core::settings::AccountSettings;

fn versioning() -> AccountSettings {
    AccountSettings {
        versioning: true,
        container_retention_days: Some(7),
        ..AccountSettings::default()
    }
}

fn keeping() -> AccountSettings {
    AccountSettings { versioning: false, blob_retention_days: Some(7), ..versioning() }
}

async fn server(settings: AccountSettings) -> Server {
    let server = Server::start().await;
    server.core.set_settings(&AccountName::parse(ACCOUNT).expect("a name"), settings);
    let made = server.ask("PUT /abc?restype=container").send().await;
    assert_eq!(made.status, 201);
    server
}

async fn put(server: &Server, text: &str) -> Answer {
    let answer =
        server.ask("PUT /abc/b").with("x-ms-blob-type", "BlockBlob").body(text).send().await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

async fn outcome(server: &Server, line: &str, headers: &[(&str, &str)]) -> String {
    let ask = headers.iter().fold(server.ask(line), |ask, (name, value)| ask.with(name, value));
    ask.send().await.outcome()
}

/// The text of each `element` in a document.
fn all(text: &str, element: &str) -> Vec<String> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let parts = text.split(&open).skip(1);
    parts.filter_map(|part| part.split_once(&close).map(|(inside, _)| inside.to_owned())).collect()
}

#[tokio::test]
async fn snapshots() {
    let server = server(AccountSettings::default()).await;
    let first = put(&server, "one").await;
    let taken = server.ask("PUT /abc/b?comp=snapshot").send().await;
    assert_eq!((taken.status, taken.header("x-ms-request-server-encrypted")), (201, "false"));
    assert_eq!(taken.header("etag"), first.header("etag"), "the same state");
    assert_eq!(taken.header("x-ms-version-id"), "");
    let id = taken.header("x-ms-snapshot").to_owned();
    put(&server, "two").await;
    let at = format!("/abc/b?snapshot={id}");
    let read = server.ask(&format!("GET {at}")).send().await;
    assert_eq!((read.status, read.text().as_str()), (200, "one"));
    assert_eq!(read.header("etag"), first.header("etag"));
    assert_eq!((read.header("x-ms-lease-state"), read.header("x-ms-lease-status")), ("", ""));
    for (line, headers, want) in [
        (format!("HEAD {at}"), &[][..], "200"),
        (format!("GET {at}&comp=metadata"), &[], "200"),
        (format!("GET {at}&comp=blocklist"), &[], "200"),
        (format!("GET {at}"), &[("If-Match", "\"0x8D0000000000000\"")], "412 ConditionNotMet"),
        (format!("GET {at}&versionid={id}"), &[], "400 MutuallyExclusiveQueryParameters"),
        ("GET /abc/b?snapshot=2020-01-01T00:00:00.0000000Z".to_owned(), &[], "404 BlobNotFound"),
        (format!("GET /abc/b?versionid={id}"), &[], "404 BlobNotFound"),
        (format!("PUT {at}&comp=metadata"), &[], "400 InvalidQueryParameterValue"),
        (format!("PUT {at}&comp=properties"), &[], "400 InvalidQueryParameterValue"),
        (format!("PUT {at}&comp=snapshot"), &[], "400 InvalidQueryParameterValue"),
        (
            format!("PUT {at}&comp=lease"),
            &[("x-ms-lease-action", "break")],
            "400 InvalidQueryParameterValue",
        ),
        (
            format!("DELETE {at}"),
            &[("x-ms-delete-snapshots", "include")],
            "400 InvalidQueryParameterValue",
        ),
        (format!("DELETE {at}&deletetype=permanent"), &[], "409 PermanentDeleteIsOff"),
        ("DELETE /abc/b".to_owned(), &[], "409 SnapshotsPresent"),
        ("PUT /abc/missing?comp=snapshot".to_owned(), &[], "404 BlobNotFound"),
        (
            "PUT /abc/b?comp=snapshot".to_owned(),
            &[("If-Match", "\"0x8D0000000000000\"")],
            "412 ConditionNotMet",
        ),
    ] {
        let got = outcome(&server, &line, headers).await;
        assert_eq!(got, want, "{line} {headers:?}");
    }
    let listed = server.ask("GET /abc?restype=container&comp=list&include=snapshots").send().await;
    assert_eq!(all(&listed.text(), "Snapshot"), std::slice::from_ref(&id));
    assert_eq!(all(&listed.text(), "Name").len(), 2);
    assert_eq!(all(&listed.text(), "LeaseState").len(), 1, "snapshots have no lease");
    let gone = server.ask(&format!("DELETE {at}")).send().await;
    assert_eq!((gone.status, gone.header("x-ms-delete-type-permanent")), (202, "true"));
    assert_eq!(outcome(&server, &format!("DELETE {at}"), &[]).await, "404 BlobNotFound");
}

#[tokio::test]
async fn a_sas_for_a_snapshot_or_a_version_opens_nothing_else() {
    let server = server(versioning()).await;
    let version = put(&server, "one").await.header("x-ms-version-id").to_owned();
    let snapshot = server.ask("PUT /abc/b?comp=snapshot").send().await;
    let snapshot = snapshot.header("x-ms-snapshot").to_owned();
    let (by_snapshot, by_version) =
        (format!("/abc/b?snapshot={snapshot}"), format!("/abc/b?versionid={version}"));
    // The token itself names the snapshot or the version.
    for (resource, name, id) in [("bs", "snapshot", &snapshot), ("bv", "versionid", &version)] {
        let read = server.ask("GET /abc/b").by_sas(resource, "r", &[(name, id)]).send().await;
        assert_eq!((read.status, read.text().as_str()), (200, "one"), "{resource}");
        let other = server.ask("GET /abc/b").by_sas(resource, "r", &[(name, id)]);
        let other = other.tampered(|target| *target = target.replace(name, "timeout=9&x"));
        assert_eq!(other.send().await.status, 403, "{resource} on the blob itself");
    }
    for (line, resource, permissions, want) in [
        (format!("GET {by_snapshot}"), "b", "r", "200"),
        (format!("DELETE {by_version}"), "b", "d", "403 AuthorizationPermissionMismatch"),
        (format!("DELETE {by_version}&deletetype=permanent"), "b", "x", {
            "403 AuthorizationPermissionMismatch"
        }),
        (format!("DELETE {by_version}&deletetype=permanent"), "b", "y", {
            "409 PermanentDeleteIsOff"
        }),
        ("PUT /abc/b?comp=snapshot".to_owned(), "b", "r", "403 AuthorizationPermissionMismatch"),
        ("PUT /abc/b?comp=undelete".to_owned(), "b", "c", "403 AuthorizationPermissionMismatch"),
        (format!("DELETE {by_version}"), "b", "x", "202"),
    ] {
        let answer = server.ask(&line).by_sas(resource, permissions, &[]).send().await;
        assert_eq!(answer.outcome(), want, "{line} {resource} {permissions}");
    }
}

#[tokio::test]
async fn versions() {
    let server = server(versioning()).await;
    let one = put(&server, "one").await.header("x-ms-version-id").to_owned();
    let set = server.ask("PUT /abc/b?comp=metadata").with("x-ms-meta-k", "v").send().await;
    let two = set.header("x-ms-version-id").to_owned();
    assert!(one < two, "{one} {two}");
    let props = server.ask("PUT /abc/b?comp=properties").send().await;
    assert_eq!(props.header("x-ms-version-id"), "", "properties make no version");
    let now = server.ask("HEAD /abc/b").send().await;
    assert_eq!(now.header("x-ms-version-id"), two);
    assert_eq!(now.header("x-ms-is-current-version"), "true");
    let then = server.ask(&format!("HEAD /abc/b?versionid={one}")).send().await;
    assert_eq!(then.header("x-ms-version-id"), one);
    assert_eq!(then.header("x-ms-is-current-version"), "");
    assert_eq!(then.header("x-ms-meta-k"), "");
    let old = server.ask("HEAD /abc/b").with("x-ms-version", "2019-07-07").send().await;
    assert_eq!(old.header("x-ms-version-id"), "", "before versions were known");
    let root = outcome(&server, &format!("DELETE /abc/b?versionid={two}"), &[]).await;
    assert_eq!(root, "403 OperationNotAllowedOnRootBlob");
    let gone = server.ask("DELETE /abc/b").send().await;
    assert_eq!((gone.status, gone.header("x-ms-delete-type-permanent")), (202, "false"));
    assert_eq!(outcome(&server, "GET /abc/b", &[]).await, "404 BlobNotFound");
    let include = "include=versions,deletedwithversions,metadata";
    let line = format!("GET /abc?restype=container&comp=list&{include}");
    let listed = server.ask(&line).send().await.text();
    assert_eq!(all(&listed, "VersionId"), [one.clone(), two.clone()]);
    assert_eq!(all(&listed, "HasVersionsOnly"), ["true"]);
    assert_eq!(all(&listed, "IsCurrentVersion"), Vec::<String>::new());
    let three = put(&server, "three").await.header("x-ms-version-id").to_owned();
    let listed = server.ask(&line).send().await.text();
    assert_eq!(all(&listed, "VersionId"), [one.clone(), two, three]);
    assert_eq!(all(&listed, "IsCurrentVersion"), ["true"]);
    let first = server.ask(&format!("DELETE /abc/b?versionid={one}")).send().await;
    assert_eq!((first.status, first.header("x-ms-delete-type-permanent")), (202, "true"));
    assert_eq!(outcome(&server, &format!("GET /abc/b?versionid={one}"), &[]).await, {
        "404 BlobNotFound"
    });
}

#[tokio::test]
async fn soft_delete() {
    let server = server(keeping()).await;
    let written = put(&server, "one").await;
    let gone = server.ask("DELETE /abc/b").send().await;
    assert_eq!((gone.status, gone.header("x-ms-delete-type-permanent")), (202, "false"));
    let line = "GET /abc?restype=container&comp=list&include=deleted,snapshots";
    let listed = server.ask(line).send().await.text();
    assert_eq!(all(&listed, "Deleted"), ["true"]);
    assert_eq!(all(&listed, "RemainingRetentionDays"), ["6"]);
    assert_eq!(all(&listed, "DeletedTime").len(), 1);
    assert_eq!(outcome(&server, "PUT /abc/b?comp=undelete", &[]).await, "200");
    assert_eq!(outcome(&server, "PUT /abc/b?comp=undelete", &[]).await, "200", "nothing to do");
    assert_eq!(outcome(&server, "PUT /abc/none?comp=undelete", &[]).await, "404 BlobNotFound");
    let back = server.ask("GET /abc/b").send().await;
    assert_eq!((back.text().as_str(), back.header("etag")), ("one", written.header("etag")));
    put(&server, "two").await;
    let listed = server.ask(line).send().await.text();
    let snapshots = all(&listed, "Snapshot");
    assert_eq!((snapshots.len(), all(&listed, "Deleted")), (1, vec!["true".to_owned()]));
    let at = format!("/abc/b?snapshot={}", snapshots[0]);
    assert_eq!(outcome(&server, &format!("GET {at}"), &[]).await, "404 BlobNotFound");
    let for_good = format!("DELETE {at}&deletetype=permanent");
    assert_eq!(outcome(&server, &for_good, &[]).await, "409 PermanentDeleteIsOff");
    let body = "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>\
        <Days>3</Days><AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>\
        </StorageServiceProperties>";
    let set = server.ask("PUT /?restype=service&comp=properties").body(body).send().await;
    assert_eq!(set.status, 202, "{}", set.text());
    let gone = server.ask(&for_good).send().await;
    assert_eq!((gone.status, gone.header("x-ms-delete-type-permanent")), (202, "true"));
    server.ask("DELETE /abc/b").send().await;
    let listed = server.ask(line).send().await.text();
    assert_eq!(all(&listed, "RemainingRetentionDays"), ["2"], "the owner's policy counts");
}

#[tokio::test]
async fn a_container_comes_back() {
    const NAME: &str = "x-ms-deleted-container-name";
    const VERSION: &str = "x-ms-deleted-container-version";
    let server = server(keeping()).await;
    put(&server, "one").await;
    assert_eq!(outcome(&server, "DELETE /abc?restype=container", &[]).await, "202");
    let listed = server.ask("GET /?comp=list&include=deleted").send().await.text();
    let version = all(&listed, "Version").remove(0);
    assert_eq!((version.len(), all(&listed, "Deleted")), (16, vec!["true".to_owned()]));
    assert_eq!(all(&listed, "LeaseState"), ["expired"]);
    assert_eq!(all(&listed, "RemainingRetentionDays"), ["6"]);
    let plain = server.ask("GET /?comp=list").send().await.text();
    assert_eq!(all(&plain, "Name"), Vec::<String>::new());
    let line = "PUT /abc?restype=container&comp=undelete";
    for (headers, want) in [
        (&[(NAME, "abc")][..], "400 MissingRequiredHeader"),
        (&[(VERSION, version.as_str())], "400 MissingRequiredHeader"),
        (&[(NAME, "abd"), (VERSION, version.as_str())], "400 InvalidHeaderValue"),
        (&[(NAME, "abc"), (VERSION, "0000000000000001")], "404 ContainerNotFound"),
        (&[(NAME, "abc"), (VERSION, "nonsense")], "404 ContainerNotFound"),
        (&[(NAME, "abc"), (VERSION, version.as_str())], "201"),
        (&[(NAME, "abc"), (VERSION, version.as_str())], "404 ContainerNotFound"),
    ] {
        assert_eq!(outcome(&server, line, headers).await, want, "{headers:?}");
    }
    assert_eq!(server.ask("GET /abc/b").send().await.text(), "one");
    assert_eq!(outcome(&server, "DELETE /abc?restype=container", &[]).await, "202");
    server.core.store().clock.advance(std::time::Duration::from_secs(31));
    assert_eq!(outcome(&server, "PUT /abc?restype=container", &[]).await, "201");
    let listed = server.ask("GET /?comp=list&include=deleted").send().await.text();
    let version = all(&listed, "Version").remove(0);
    let headers = [(NAME, "abc"), (VERSION, version.as_str())];
    assert_eq!(outcome(&server, line, &headers).await, "409 ContainerAlreadyExists");
}

/// Which operations change a blob's ETag and Last-Modified, and which its time of creation.
#[tokio::test]
async fn what_changes_an_etag() {
    for (settings, versions) in [(AccountSettings::default(), false), (versioning(), true)] {
        let server = server(settings).await;
        put(&server, "one").await;
        let lease = [("x-ms-lease-action", "acquire"), ("x-ms-lease-duration", "-1")];
        let tier = [("x-ms-blob-type", "BlockBlob")];
        // Line, headers, body, whether the ETag changes, whether it makes a version.
        for (line, headers, body, changes, makes) in [
            ("PUT /abc/b", &tier[..], "two", true, true),
            ("PUT /abc/b?comp=metadata", &[("x-ms-meta-a", "b")], "", true, true),
            ("PUT /abc/b?comp=properties", &[], "", true, false),
            ("PUT /abc/b?comp=block&blockid=YQ==", &[], "block", false, false),
            ("GET /abc/b", &[], "", false, false),
            ("GET /abc/b?comp=blocklist&blocklisttype=all", &[], "", false, false),
            (
                "PUT /abc/b?comp=blocklist",
                &[],
                "<BlockList><Latest>YQ==</Latest></BlockList>",
                true,
                true,
            ),
            ("PUT /abc/b?comp=snapshot", &[], "", false, true),
            ("PUT /abc/b?comp=snapshot", &[("x-ms-meta-x", "y")], "", false, true),
            ("PUT /abc/b?comp=undelete", &[], "", false, false),
            ("DELETE /abc/b", &[("x-ms-delete-snapshots", "only")], "", false, false),
            ("PUT /abc/b?comp=lease", &lease, "", false, false),
            ("PUT /abc/b?comp=lease", &[("x-ms-lease-action", "break")], "", false, false),
        ] {
            let before = server.ask("HEAD /abc/b").send().await;
            server.core.store().clock.advance(std::time::Duration::from_secs(1));
            let ask = headers.iter().fold(server.ask(line), |ask, (n, v)| ask.with(n, v));
            let answer = ask.body(body).send().await;
            assert!(answer.status < 300, "{line}: {answer:?}");
            let after = server.ask("HEAD /abc/b").send().await;
            for (header, expected) in [
                ("etag", changes),
                ("last-modified", changes),
                ("x-ms-version-id", versions && makes),
                ("x-ms-creation-time", versions && makes),
            ] {
                let changed = before.header(header) != after.header(header);
                assert_eq!(changed, expected, "{header} by {line}, versions {versions}");
            }
            if versions && makes {
                assert_eq!(answer.header("x-ms-version-id"), after.header("x-ms-version-id"));
            }
        }
    }
}
