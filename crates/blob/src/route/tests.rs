//! The routing table from the outside: one line of a request, the operation it means.

use super::route;
use crate::parse::testing::{Ask, Headers};
use crate::target::Target;

/// The operation's name, or the error's code.
fn routed(method: &str, url: &str, headers: &[(&str, &str)]) -> String {
    let ask = Ask::new(method, url).with(headers);
    let fields = ask.fields();
    let path = ask.head().raw_path.trim_start_matches('/').to_owned();
    let restype = fields.query("restype");
    let kind = Target::parse(&path, restype).and_then(|target| route(&target, &fields));
    kind.map_or_else(|error| error.code.to_owned(), |kind| kind.name().to_owned())
}

#[test]
fn service() {
    for (method, url, want) in [
        ("GET", "/?comp=list", "ListContainers"),
        ("GET", "/?COMP=List", "ListContainers"),
        ("PUT", "/?comp=list", "UnsupportedHttpVerb"),
        ("GET", "/?comp=blobs&where=x", "FindBlobsByTags"),
        ("POST", "/?comp=batch", "Batch"),
        ("POST", "/?restype=container&comp=batch", "Batch"),
        ("GET", "/?restype=service&comp=properties", "GetServiceProperties"),
        ("PUT", "/?restype=service&comp=properties", "SetServiceProperties"),
        ("GET", "/?restype=service&comp=stats", "GetServiceStats"),
        ("POST", "/?restype=service&comp=userdelegationkey", "GetUserDelegationKey"),
        ("GET", "/?restype=account&comp=properties", "GetAccountInfo"),
        ("HEAD", "/?restype=account&comp=properties", "GetAccountInfo"),
        ("PUT", "/?restype=account&comp=properties", "UnsupportedHttpVerb"),
        ("GET", "/?restype=service&comp=nothing", "InvalidQueryParameterValue"),
        ("GET", "/?restype=nothing&comp=list", "InvalidQueryParameterValue"),
        ("GET", "/?restype=container", "InvalidQueryParameterValue"),
        ("GET", "/", "InvalidQueryParameterValue"),
        ("OPTIONS", "/", "Preflight"),
    ] {
        assert_eq!(routed(method, url, &[]), want, "{method} {url}");
    }
}

#[test]
fn containers() {
    for (method, query, want) in [
        ("PUT", "", "CreateContainer"),
        ("GET", "", "GetContainerProperties"),
        ("HEAD", "", "GetContainerProperties"),
        ("DELETE", "", "DeleteContainer"),
        ("POST", "", "UnsupportedHttpVerb"),
        ("GET", "&comp=metadata", "GetContainerMetadata"),
        ("HEAD", "&comp=metadata", "GetContainerMetadata"),
        ("PUT", "&comp=metadata", "SetContainerMetadata"),
        ("DELETE", "&comp=metadata", "UnsupportedHttpVerb"),
        ("GET", "&comp=acl", "GetContainerAcl"),
        ("HEAD", "&comp=acl", "GetContainerAcl"),
        ("PUT", "&comp=acl", "SetContainerAcl"),
        ("PUT", "&comp=undelete", "RestoreContainer"),
        ("PUT", "&comp=lease", "LeaseContainer"),
        ("GET", "&comp=list", "ListBlobs"),
        ("GET", "&comp=blobs&where=x", "FindBlobsByTagsInContainer"),
        ("POST", "&comp=batch", "Batch"),
        ("PUT", "&comp=rename", "InvalidQueryParameterValue"),
        ("OPTIONS", "", "Preflight"),
    ] {
        for path in ["/abc", "/abc/", "/$root", "/$web"] {
            let url = format!("{path}?restype=container{query}");
            assert_eq!(routed(method, &url, &[]), want, "{method} {url}");
        }
    }
    assert_eq!(routed("GET", "/abc?restype=account&comp=properties", &[]), "GetAccountInfo");
    assert_eq!(routed("GET", "/abc/b?restype=container", &[]), "InvalidQueryParameterValue");
    assert_eq!(routed("GET", "/abc?comp=list", &[]), "InvalidQueryParameterValue");
    assert_eq!(routed("GET", "/ab_c?restype=container", &[]), "InvalidResourceName");
}

#[test]
fn blobs() {
    for (method, query, want) in [
        ("GET", "", "GetBlob"),
        ("HEAD", "", "GetBlobProperties"),
        ("DELETE", "", "DeleteBlob"),
        ("POST", "", "UnsupportedHttpVerb"),
        ("PATCH", "", "UnsupportedHttpVerb"),
        ("GET", "comp=metadata", "GetBlobMetadata"),
        ("HEAD", "comp=metadata", "GetBlobMetadata"),
        ("PUT", "comp=metadata", "SetBlobMetadata"),
        ("PUT", "comp=properties", "SetBlobProperties"),
        ("GET", "comp=properties", "UnsupportedHttpVerb"),
        ("PUT", "comp=lease", "LeaseBlob"),
        ("PUT", "comp=block&blockid=YQ==", "PutBlock"),
        ("PUT", "comp=blocklist", "PutBlockList"),
        ("GET", "comp=blocklist", "GetBlockList"),
        ("PUT", "comp=undelete", "UndeleteBlob"),
        ("PUT", "comp=snapshot", "SnapshotBlob"),
        ("PUT", "comp=copy&copyid=x", "AbortCopyBlob"),
        ("PUT", "comp=tier", "SetBlobTier"),
        ("GET", "comp=tags", "GetBlobTags"),
        ("PUT", "comp=tags", "SetBlobTags"),
        ("PUT", "comp=immutabilityPolicies", "SetBlobImmutabilityPolicy"),
        ("DELETE", "comp=immutabilityPolicies", "DeleteBlobImmutabilityPolicy"),
        ("PUT", "comp=legalhold", "SetBlobLegalHold"),
        ("PUT", "comp=expiry", "SetBlobExpiry"),
        ("POST", "comp=query", "QueryBlobContents"),
        ("PUT", "comp=appendblock", "AppendBlock"),
        ("PUT", "comp=seal", "SealBlob"),
        ("PUT", "comp=page", "PutPage"),
        ("GET", "comp=pagelist", "GetPageRanges"),
        ("PUT", "comp=incrementalcopy", "IncrementalCopyBlob"),
        ("GET", "comp=nothing", "InvalidQueryParameterValue"),
        ("GET", "comp=list", "InvalidQueryParameterValue"),
        ("GET", "restype=account&comp=properties", "GetAccountInfo"),
    ] {
        for path in ["/abc/b", "/abc/b/c d", "/$root/b", "/b"] {
            if path == "/b" && query.contains("restype") {
                continue;
            }
            let url = format!("{path}?{query}");
            assert_eq!(routed(method, &url, &[]), want, "{method} {url}");
        }
    }
}

#[test]
fn a_bare_put_is_told_apart_by_headers() {
    const TYPE: &str = "x-ms-blob-type";
    const SOURCE: (&str, &str) = ("x-ms-copy-source", "http://a/b/c");
    const SYNC: &str = "x-ms-requires-sync";
    let rows: [(Headers<'_>, &str); 10] = [
        (&[(TYPE, "BlockBlob")], "PutBlob"),
        (&[(TYPE, "blockblob")], "PutBlob"),
        (&[(TYPE, "PageBlob")], "PutPageBlob"),
        (&[(TYPE, "AppendBlob")], "PutAppendBlob"),
        (&[(TYPE, "Other")], "InvalidHeaderValue"),
        (&[], "MissingRequiredHeader"),
        (&[SOURCE], "CopyBlob"),
        (&[SOURCE, (SYNC, "True")], "CopyBlobFromURL"),
        (&[SOURCE, (SYNC, "false")], "CopyBlob"),
        (&[SOURCE, (TYPE, "BlockBlob")], "PutBlobFromURL"),
    ];
    for (headers, want) in rows {
        assert_eq!(routed("PUT", "/abc/b", headers), want, "{headers:?}");
    }
    for (comp, want) in [
        ("block", "PutBlockFromURL"),
        ("appendblock", "AppendBlockFromURL"),
        ("page", "PutPageFromURL"),
    ] {
        assert_eq!(routed("PUT", &format!("/abc/b?comp={comp}"), &[SOURCE]), want);
    }
}
