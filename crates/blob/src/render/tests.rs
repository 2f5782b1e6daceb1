//! Golden answers: what core replied, and the bytes a client of each version sees.

use super::listing::Frame;
use super::testing::check;
use super::{append, blob, blocks, container, listing, upload};
use crate::body::Verified;
use crate::parse::listing::Echo;
use crate::parse::put::Framing;
use hyper::StatusCode;
use zaffre_auth::ResponseOverrides;
use zaffre_base::{ApiVersion, BlobName, ContainerName, Guid, Stamp, Timestamp};
use zaffre_core::blob::reply::{
    AppendReply, BlobPage, BlobView, BlockListReply, BlockView, ContainerPage, ContainerView,
    GetBlobReply, LeaseOutcome, ListEntry, MomentView, OfKind, PutBlobReply, PutBlockReply,
    Written,
};
use zaffre_core::settings::AccountSettings;
use zaffre_domain::blob::encryption::{Encrypted, ScopePolicy};
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::{AccessTier, Tier};
use zaffre_domain::blob::{AccessPolicy, HttpProperties, Metadata, PublicAccess};
use zaffre_domain::lease::{LeaseCommand, LeaseView};

const NOW: ApiVersion = ApiVersion::new(2024, 8, 4);
const V2009: ApiVersion = ApiVersion::new(2009, 9, 19);
const V2012: ApiVersion = ApiVersion::new(2012, 2, 12);

/// Sun, 15 Nov 2026 04:42:16 GMT and a bit.
fn commit() -> Written {
    let seconds = Timestamp::from_unix_seconds(1_794_717_736);
    Written::at(Stamp(seconds.0 + 1_234_567))
}

fn created() -> Timestamp {
    Timestamp::from_unix_seconds(1_794_717_700)
}

fn container_view() -> ContainerView {
    ContainerView {
        version_immutability: false,
        scopes: ScopePolicy::default(),
        name: ContainerName::parse("abc").expect("a name"),
        written: commit(),
        metadata: Metadata::from([("Color".to_owned(), "red & <blue>".to_owned())]),
        access: PublicAccess::Blob,
        policies: Vec::new(),
        lease: LeaseView::Leased { infinite: true },
        deleted: None,
    }
}

fn blob_view(name: &str) -> BlobView {
    BlobView {
        copy: None,
        incremental: None,
        name: BlobName::parse(name).expect("a name"),
        written: commit(),
        created: created(),
        length: 11,
        properties: HttpProperties {
            content_type: Some("text/plain".to_owned()),
            content_disposition: Some("inline".to_owned()),
            content_md5: Some([1; 16]),
            ..HttpProperties::default()
        },
        metadata: Metadata::from([("MyKey".to_owned(), "v".to_owned())]),
        tags: Tags::new(),
        lease: LeaseView::Available,
        tier: Tier::default(),
        protection: Protection::default(),
        encrypted: Encrypted::ByAccount,
        last_access: None,
        of_kind: OfKind::Block,
        committed: true,
        moment: MomentView::Current { version: None },
    }
}

#[test]
fn containers() {
    check(
        &container::properties(&container_view(), NOW),
        "200
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-public-access: blob
        x-ms-default-encryption-scope: $account-encryption-key
        x-ms-deny-encryption-scope-override: false
        x-ms-has-immutability-policy: false
        x-ms-has-legal-hold: false
        x-ms-immutable-storage-with-versioning-enabled: false
        x-ms-lease-duration: infinite
        x-ms-lease-state: leased
        x-ms-lease-status: locked
        x-ms-meta-Color: red & <blue>",
    );
    check(
        &container::properties(&container_view(), V2009),
        "200
        etag: 0x8DF42D2D30BDA87
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-lease-status: locked
        x-ms-meta-Color: red & <blue>",
    );
    check(
        &container::changed(StatusCode::CREATED, commit(), NOW),
        "201
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT",
    );
    check(&container::deleted(NOW), "202");
    check(
        &container::account(&AccountSettings::default(), NOW),
        "200
        x-ms-account-kind: StorageV2
        x-ms-is-hns-enabled: false
        x-ms-sku-name: Standard_RAGRS",
    );
}

#[test]
fn access_policies() {
    let mut view = container_view();
    check(
        &container::acl(&view, NOW),
        "200
        content-type: application/xml
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-public-access: blob

        <?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers />",
    );
    let policy = AccessPolicy {
        id: "a&b".to_owned(),
        start: Some(created()),
        expiry: None,
        permission: Some("rwd".to_owned()),
    };
    view.policies = vec![policy];
    view.access = PublicAccess::Private;
    check(
        &container::acl(&view, NOW),
        "200
        content-type: application/xml
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT

        <?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier>
        <Id>a&amp;b</Id><AccessPolicy><Start>2026-11-15T04:41:40.0000000Z</Start>
        <Permission>rwd</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>",
    );
}

#[test]
fn leases() {
    let id = Guid(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    let outcome = |id, break_seconds| LeaseOutcome { written: commit(), id, break_seconds };
    let validators = "etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT";
    let shown_id = "x-ms-lease-id: 00112233-4455-6677-8899-aabbccddeeff";
    let acquire = LeaseCommand::Acquire { seconds: None, proposed: None, fallback: id };
    for (command, id, seconds, want) in [
        (acquire, Some(id), None, format!("201\n{validators}\n{shown_id}")),
        (LeaseCommand::Renew { id }, Some(id), None, format!("200\n{validators}\n{shown_id}")),
        (LeaseCommand::Release { id }, None, None, format!("200\n{validators}")),
        (LeaseCommand::Break { period: None }, None, Some(20), {
            format!("202\n{validators}\nx-ms-lease-time: 20")
        }),
    ] {
        check(&container::leased(command, &outcome(id, seconds), NOW), &want);
    }
    let old = container::leased(acquire, &outcome(Some(id), None), V2012);
    check(&old, &format!("201\n{shown_id}"));
}

#[test]
fn blob_properties() {
    let plain = ResponseOverrides::default();
    check(
        &blob::properties(&blob_view("b"), &plain, NOW).expect("sendable"),
        "200
        accept-ranges: bytes
        content-disposition: inline
        content-length: 11
        content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        content-type: text/plain
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-access-tier-inferred: true
        x-ms-access-tier: Hot
        x-ms-blob-type: BlockBlob
        x-ms-creation-time: Sun, 15 Nov 2026 04:41:40 GMT
        x-ms-lease-state: available
        x-ms-lease-status: unlocked
        x-ms-meta-MyKey: v
        x-ms-server-encrypted: true",
    );
    check(
        &blob::properties(&blob_view("b"), &plain, V2009).expect("sendable"),
        "200
        content-length: 11
        content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        content-type: text/plain
        etag: 0x8DF42D2D30BDA87
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-type: BlockBlob
        x-ms-lease-status: unlocked
        x-ms-meta-MyKey: v",
    );
    let mut cool = blob_view("b");
    cool.tier = Tier::named(AccessTier::Cool, created());
    let reply = blob::properties(&cool, &plain, NOW).expect("sendable");
    let header = |name: &str| reply.headers.get(name).map(|v| v.to_str().expect("text").to_owned());
    assert_eq!(header("x-ms-access-tier").as_deref(), Some("Cool"));
    assert_eq!(header("x-ms-access-tier-inferred"), None);
    let changed = header("x-ms-access-tier-change-time");
    assert_eq!(changed.as_deref(), Some("Sun, 15 Nov 2026 04:41:40 GMT"));
}

#[test]
fn a_range_of_a_blob() {
    let reply = |range: Option<(u64, u64)>| GetBlobReply {
        blob: blob_view("b"),
        range,
        length: range.map_or(11, |(first, last)| last - first + 1),
        range_md5: range.map(|_| [2; 16]),
        range_crc64: None,
        body: Box::pin(futures_util::stream::empty()),
    };
    let overrides = ResponseOverrides {
        content_type: Some("text/html".to_owned()),
        content_disposition: Some("attachment; filename=\"ü\"".to_owned()),
        ..ResponseOverrides::default()
    };
    check(
        &blob::content(reply(Some((2, 5))), false, &overrides, NOW).expect("sendable"),
        "206
        accept-ranges: bytes
        content-disposition: attachment; filename=\"ü\"
        content-md5: AgICAgICAgICAgICAgICAg==
        content-range: bytes 2-5/11
        content-type: text/html
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        x-ms-blob-type: BlockBlob
        x-ms-creation-time: Sun, 15 Nov 2026 04:41:40 GMT
        x-ms-lease-state: available
        x-ms-lease-status: unlocked
        x-ms-meta-MyKey: v
        x-ms-server-encrypted: true

        (4 bytes)",
    );
    let whole =
        blob::content(reply(None), false, &ResponseOverrides::default(), NOW).expect("sendable");
    assert_eq!(whole.status, StatusCode::OK);
    assert_eq!(whole.headers["content-md5"], "AQEBAQEBAQEBAQEBAQEBAQ==");
    assert!(!whole.headers.contains_key("x-ms-access-tier"));
    let newest =
        blob::content(reply(None), false, &ResponseOverrides::default(), ApiVersion::LATEST);
    assert_eq!(newest.expect("sendable").headers["x-ms-access-tier"], "Hot");
    let evil = ResponseOverrides {
        content_type: Some("a\r\nx-evil: 1".to_owned()),
        ..ResponseOverrides::default()
    };
    let refused = blob::content(reply(None), false, &evil, NOW).map(|_| ()).map_err(|e| e.code);
    assert_eq!(refused, Err("InvalidQueryParameterValue"));
}

#[test]
fn uploads() {
    let put = PutBlobReply { written: commit(), md5: [1; 16], crc64: [2; 8] };
    check(
        &upload::blob(&put, Framing::Plain, NOW),
        "201
        content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-content-crc64: AgICAgICAgI=
        x-ms-request-server-encrypted: true",
    );
    check(
        &upload::blob(&put, Framing::Plain, V2012),
        "201
        content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT",
    );
    let framed = Framing::Structured { framed: 9, content: 1 };
    check(
        &upload::block(&PutBlockReply { md5: None, crc64: [2; 8] }, framed, NOW),
        "201
        x-ms-content-crc64: AgICAgICAgI=
        x-ms-request-server-encrypted: true
        x-ms-structured-body: XSM/1.0; properties=crc64",
    );
    check(
        &upload::block(&PutBlockReply { md5: Some([1; 16]), crc64: [2; 8] }, Framing::Plain, NOW),
        "201
        content-md5: AQEBAQEBAQEBAQEBAQEBAQ==
        x-ms-request-server-encrypted: true",
    );
    check(
        &upload::block_list(commit(), Verified::Crc64([2; 8]), NOW),
        "201
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-content-crc64: AgICAgICAgI=
        x-ms-request-server-encrypted: true",
    );
}

#[test]
fn block_lists() {
    let block = |id: &[u8], length| BlockView { id: id.to_vec(), length };
    let all = BlockListReply {
        committed_state: Some((commit(), 9)),
        committed: Some(vec![block(b"a", 4), block(b"b", 5)]),
        uncommitted: Some(Vec::new()),
    };
    check(
        &blocks::list(&all, NOW),
        "200
        content-type: application/xml
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-content-length: 9

        <?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList><CommittedBlocks>
        <Block><Name>YQ==</Name><Size>4</Size></Block>
        <Block><Name>Yg==</Name><Size>5</Size></Block>
        </CommittedBlocks><UncommittedBlocks /></BlockList>",
    );
    let staged =
        BlockListReply { committed_state: None, committed: None, uncommitted: Some(Vec::new()) };
    check(
        &blocks::list(&staged, NOW),
        "200
        content-type: application/xml

        <?xml version=\"1.0\" encoding=\"utf-8\"?>
        <BlockList><UncommittedBlocks /></BlockList>",
    );
}

#[test]
fn listed_containers() {
    let page = ContainerPage { containers: vec![container_view()], next: Some("m".to_owned()) };
    let echo = Echo { prefix: Some(String::new()), max_results: Some(1), ..Echo::default() };
    let frame = Frame {
        protection: super::protection::Asked::default(),
        endpoint: "http://h/a/",
        echo: &echo,
        metadata: true,
        versions: false,
        tags: true,
        copies: true,
        version: NOW,
    };
    check(
        &listing::containers(&page, &frame),
        "200
        content-type: application/xml

        <?xml version=\"1.0\" encoding=\"utf-8\"?>
        <EnumerationResults ServiceEndpoint=\"http://h/a/\"><Prefix /><MaxResults>1</MaxResults>
        <Containers><Container><Name>abc</Name><Properties>
        <Last-Modified>Sun, 15 Nov 2026 04:42:16 GMT</Last-Modified>
        <Etag>&quot;0x8DF42D2D30BDA87&quot;</Etag>
        <LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState>
        <LeaseDuration>infinite</LeaseDuration><PublicAccess>blob</PublicAccess>
        <DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>
        <DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride>
        <HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold>
        <ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled>
        </Properties><Metadata><Color>red &amp; &lt;blue&gt;</Color></Metadata></Container>
        </Containers><NextMarker>m</NextMarker></EnumerationResults>",
    );
}

#[test]
fn listed_blobs() {
    let mut staged = blob_view("s");
    staged.committed = false;
    staged.length = 0;
    staged.metadata.clear();
    let odd = BlobView { metadata: Metadata::new(), ..blob_view("a\u{FFFF} b") };
    let page = BlobPage {
        entries: vec![
            ListEntry::Blob(Box::new(odd)),
            ListEntry::Prefix("p/".to_owned()),
            ListEntry::Blob(Box::new(staged)),
        ],
        next: None,
    };
    let echo = Echo { delimiter: Some("/".to_owned()), ..Echo::default() };
    let frame = Frame {
        protection: super::protection::Asked::default(),
        endpoint: "http://h/a/",
        echo: &echo,
        metadata: false,
        versions: false,
        tags: true,
        copies: true,
        version: NOW,
    };
    check(
        &listing::blobs(&page, "abc", &frame),
        "200
        content-type: application/xml

        <?xml version=\"1.0\" encoding=\"utf-8\"?>
        <EnumerationResults ServiceEndpoint=\"http://h/a/\" ContainerName=\"abc\">
        <Delimiter>/</Delimiter><Blobs>
        <Blob><Name Encoded=\"true\">a%EF%BF%BF%20b</Name><Properties>
        <Creation-Time>Sun, 15 Nov 2026 04:41:40 GMT</Creation-Time>
        <Last-Modified>Sun, 15 Nov 2026 04:42:16 GMT</Last-Modified>
        <Etag>0x8DF42D2D30BDA87</Etag><Content-Length>11</Content-Length>
        <Content-Type>text/plain</Content-Type><Content-Encoding /><Content-Language />
        <Content-CRC64 /><Content-MD5>AQEBAQEBAQEBAQEBAQEBAQ==</Content-MD5><Cache-Control />
        <Content-Disposition>inline</Content-Disposition><BlobType>BlockBlob</BlobType>
        <AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>
        <LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>
        <ServerEncrypted>true</ServerEncrypted></Properties><OrMetadata /></Blob>
        <BlobPrefix><Name>p/</Name></BlobPrefix>
        <Blob><Name>s</Name><Properties><Content-Length>0</Content-Length>
        <BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>
        <AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked</LeaseStatus>
        <LeaseState>available</LeaseState><ServerEncrypted>true</ServerEncrypted></Properties>
        <OrMetadata /></Blob></Blobs><NextMarker /></EnumerationResults>",
    );
}

#[test]
fn listed_blobs_for_old_clients() {
    let page = BlobPage {
        entries: vec![ListEntry::Blob(Box::new(blob_view("d/é b")))],
        next: Some("m".to_owned()),
    };
    let echo = Echo::default();
    let frame = Frame {
        protection: super::protection::Asked::default(),
        endpoint: "http://h/a/",
        echo: &echo,
        metadata: true,
        versions: false,
        tags: true,
        copies: true,
        version: V2012,
    };
    check(
        &listing::blobs(&page, "abc", &frame),
        "200
        content-type: application/xml

        <?xml version=\"1.0\" encoding=\"utf-8\"?>
        <EnumerationResults ContainerName=\"http://h/a/abc\"><Blobs>
        <Blob><Name>d/é b</Name><Url>http://h/a/abc/d/%C3%A9%20b</Url><Properties>
        <Last-Modified>Sun, 15 Nov 2026 04:42:16 GMT</Last-Modified>
        <Etag>0x8DF42D2D30BDA87</Etag><Content-Length>11</Content-Length>
        <Content-Type>text/plain</Content-Type><Content-Encoding /><Content-Language />
        <Content-MD5>AQEBAQEBAQEBAQEBAQEBAQ==</Content-MD5><Cache-Control />
        <BlobType>BlockBlob</BlobType>
        <LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState></Properties>
        <Metadata><MyKey>v</MyKey></Metadata></Blob></Blobs>
        <NextMarker>m</NextMarker></EnumerationResults>",
    );
    let empty = BlobPage { entries: Vec::new(), next: None };
    let reply = listing::blobs(&empty, "abc", &frame);
    let zaffre_http::ReplyBody::Full(body) = reply.into_parts().body else {
        panic!("a listing has a body")
    };
    assert!(String::from_utf8_lossy(&body).contains("<Blobs /><NextMarker />"));
}

#[test]
fn appended_blocks() {
    let reply =
        AppendReply { written: commit(), offset: 7, blocks: 3, md5: None, crc64: *b"12345678" };
    let shown = append::appended(&reply, Framing::Plain, NOW);
    check(
        &shown,
        "201
        etag: \"0x8DF42D2D30BDA87\"
        last-modified: Sun, 15 Nov 2026 04:42:16 GMT
        x-ms-blob-append-offset: 7
        x-ms-blob-committed-block-count: 3
        x-ms-content-crc64: MTIzNDU2Nzg=
        x-ms-request-server-encrypted: true",
    );
}

#[test]
fn append_blobs() {
    let of_kind = OfKind::Append { blocks: 2, sealed: true };
    let view = BlobView { of_kind, ..blob_view("a") };
    let shown = blob::properties(&view, &ResponseOverrides::default(), NOW).expect("legal");
    let header = |name: &str| shown.headers.get(name).and_then(|v| v.to_str().ok());
    assert_eq!(header("x-ms-blob-type"), Some("AppendBlob"));
    assert_eq!(header("x-ms-blob-committed-block-count"), Some("2"));
    assert_eq!(header("x-ms-blob-sealed"), Some("true"));
    assert_eq!(header("x-ms-access-tier"), None);
    let sealed = append::sealed(commit(), NOW);
    let shown = sealed.headers.get("x-ms-blob-sealed").and_then(|v| v.to_str().ok());
    assert_eq!(shown, Some("true"));
}
