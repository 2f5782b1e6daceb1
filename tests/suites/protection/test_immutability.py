"""Immutability policies and legal holds: what they refuse, what they allow, and how they end."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from email.utils import formatdate

import pytest
from azure.storage.blob import BlobServiceClient, ImmutabilityPolicy

from harness import Client, Server
from suites.sdk.conftest import connection_string

POLICY = "comp=immutabilityPolicies"
UNTIL = "x-ms-immutability-policy-until-date"
MODE = "x-ms-immutability-policy-mode"
HOLD = "x-ms-legal-hold"
BY_POLICY = (409, "BlobImmutableDueToPolicy")
BY_HOLD = (409, "BlobImmutableDueToLegalHold")
SUPPORT = "x-ms-immutable-storage-with-versioning-enabled"


def date(seconds: float) -> str:
    return formatdate(time.time() + seconds, usegmt=True)


def policy(seconds: float = 3600, mode: str | None = None) -> dict[str, str]:
    return {UNTIL: date(seconds), **({MODE: mode} if mode else {})}


@pytest.fixture
def box(immutable, name):
    immutable.create_container(name)
    return name


@pytest.fixture
def path(immutable, box):
    immutable.put(f"/{box}/b", b"kept").expect(201)
    return f"/{box}/b"


@pytest.fixture(scope="session")
def sdk(immutable):
    url = f"http://{immutable.host}:{immutable.port}"
    return BlobServiceClient.from_connection_string(connection_string(url), retry_total=0)


def test_the_sdk_sets_shows_and_takes_away(sdk, name, refused):
    box = sdk.create_container(name)
    blob = box.get_blob_client("b")
    made = blob.upload_blob(b"x")
    expiry = datetime.now(timezone.utc) + timedelta(hours=1)
    policy = ImmutabilityPolicy(expiry_time=expiry, policy_mode="Unlocked")
    answer = blob.set_immutability_policy(policy)
    assert answer["immutability_policy_mode"] == "unlocked"
    assert blob.set_legal_hold(True)["legal_hold"] is True
    shown = blob.get_blob_properties()
    assert shown.immutability_policy.expiry_time == expiry.replace(microsecond=0)
    assert shown.immutability_policy.policy_mode == "unlocked"
    assert shown.has_legal_hold is True
    assert (shown.etag, shown.last_modified) == (made["etag"], made["last_modified"])
    [listed] = list(box.list_blobs(include=["immutabilitypolicy", "legalhold"]))
    assert listed.immutability_policy.policy_mode == "unlocked" and listed.has_legal_hold is True
    [listed] = list(box.list_blobs())
    assert listed.immutability_policy.policy_mode is None and listed.has_legal_hold is None
    with refused(*BY_HOLD):
        blob.delete_blob()
    blob.set_legal_hold(False)
    with refused(*BY_POLICY):
        blob.delete_blob()
    blob.delete_immutability_policy()
    shown = blob.get_blob_properties()
    assert shown.immutability_policy.policy_mode is None and shown.has_legal_hold is False
    blob.delete_blob()


def test_given_with_the_blob(sdk, name, refused):
    box = sdk.create_container(name)
    expiry = datetime.now(timezone.utc) + timedelta(hours=1)
    policy = ImmutabilityPolicy(expiry_time=expiry, policy_mode="Locked")
    for kind in ("BlockBlob", "PageBlob", "AppendBlob"):
        blob = box.get_blob_client(kind)
        given = {"immutability_policy": policy, "legal_hold": True}
        if kind == "BlockBlob":
            blob.upload_blob(b"x", **given)
        elif kind == "PageBlob":
            blob.create_page_blob(512, **given)
        else:
            blob.create_append_blob(**given)
        shown = blob.get_blob_properties()
        assert shown.immutability_policy.policy_mode == "locked" and shown.has_legal_hold
        with refused(*BY_HOLD):
            blob.delete_blob()


CONTAINER_STATES = [("hold", BY_HOLD), ("policy", BY_POLICY)]
WRITES = [
    ("DeleteBlob", lambda c, p: c.delete(p), False),
    ("SetBlobMetadata", lambda c, p: c.send("PUT", p, "comp=metadata"), False),
    ("SetBlobProperties", lambda c, p: c.send("PUT", p, "comp=properties"), False),
    ("PutBlob", lambda c, p: c.put(p, b"new"), True),
    ("PutBlockList", lambda c, p: c.send("PUT", p, "comp=blocklist", {}, "<BlockList/>"), True),
    ("PutBlock", lambda c, p: c.put_block(p, "MQ==", b"y"), True),
    ("SnapshotBlob", lambda c, p: c.send("PUT", p, "comp=snapshot"), True),
    ("SetBlobTier", lambda c, p: c.send("PUT", p, "comp=tier", {"x-ms-access-tier": "Cool"}), True),
    ("LeaseBlob", lambda c, p: c.lease(p, "acquire", duration=15), True),
    ("GetBlob", lambda c, p: c.get(p), True),
]


@pytest.mark.parametrize("state", CONTAINER_STATES, ids=lambda state: state[0])
@pytest.mark.parametrize(("_name", "send", "allowed"), WRITES, ids=[row[0] for row in WRITES])
def test_what_is_refused(immutable, path, state, _name, send, allowed):
    how, refusal = state
    if how == "hold":
        immutable.send("PUT", path, "comp=legalhold", {HOLD: "true"}).expect(200)
    else:
        immutable.send("PUT", path, POLICY, policy()).expect(200)
    version = immutable.head(path).headers["x-ms-version-id"]
    answer = send(immutable, path)
    if allowed:
        assert answer.status in (200, 201), answer
    else:
        answer.expect(*refusal)
    kept = immutable.get(path, query={"versionid": version}).expect(200)
    assert kept.body == b"kept"


def test_a_former_version_stays(immutable, path):
    old = immutable.head(path).headers["x-ms-version-id"]
    immutable.put(path, b"new").expect(201)
    query = {"comp": "immutabilityPolicies", "versionid": old}
    immutable.send("PUT", path, query, policy(3600, "Locked")).expect(200)
    immutable.send("DELETE", path, {"versionid": old}).expect(*BY_POLICY)
    immutable.delete(path).expect(202)
    assert immutable.get(path, query={"versionid": old}).expect(200).body == b"kept"


def test_snapshots_stay(immutable, path):
    first = immutable.send("PUT", path, "comp=snapshot").expect(201).headers["x-ms-snapshot"]
    immutable.send("PUT", path, "comp=snapshot").expect(201)
    query = {"comp": "legalhold", "snapshot": first}
    immutable.send("PUT", path, query, {HOLD: "true"}).expect(200)
    immutable.send("DELETE", path, {"snapshot": first}).expect(*BY_HOLD)
    for how in ("include", "only"):
        immutable.delete(path, {"x-ms-delete-snapshots": how}).expect(*BY_HOLD)
    immutable.send("PUT", path, query, {HOLD: "false"}).expect(200)
    immutable.delete(path, {"x-ms-delete-snapshots": "include"}).expect(202)


LOCKING = [
    (policy(100), policy(50), 200, None),
    (policy(100), policy(200, "Locked"), 200, None),
    (policy(100, "Locked"), policy(200, "Locked"), 200, None),
    (policy(100, "Locked"), policy(50, "Locked"), *BY_POLICY),
    (policy(100, "Locked"), policy(200, "Unlocked"), *BY_POLICY),
]


@pytest.mark.parametrize(("first", "second", "status", "code"), LOCKING)
def test_policies_change(immutable, path, first, second, status, code):
    immutable.send("PUT", path, POLICY, first).expect(200)
    immutable.send("PUT", path, POLICY, second).expect(status, code)
    locked = "Locked" in (first.get(MODE), second.get(MODE))
    deleted = immutable.send("DELETE", path, POLICY)
    deleted.expect(*((409, "ImmutabilityPolicyDeleteOnLockedPolicy") if locked else (200,)))


def test_a_policy_ends(immutable, path):
    immutable.send("PUT", path, POLICY, policy(2, "Locked")).expect(200)
    immutable.delete(path).expect(*BY_POLICY)
    deadline = time.monotonic() + 20
    while immutable.delete(path).status == 409:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    immutable.get(path).expect(404, "BlobNotFound")


BAD = [
    ("PUT", POLICY, {}, 400, "MissingRequiredHeader"),
    ("PUT", POLICY, {UNTIL: "tomorrow"}, 400, "InvalidHeaderValue"),
    ("PUT", POLICY, policy(-60), 400, "InvalidHeaderValue"),
    ("PUT", POLICY, policy(60, "Firm"), 400, "InvalidHeaderValue"),
    ("PUT", POLICY, {**policy(), "If-Unmodified-Since": date(-3600)}, 412, "ConditionNotMet"),
    ("PUT", "comp=legalhold", {}, 400, "MissingRequiredHeader"),
    ("PUT", "comp=legalhold", {HOLD: "maybe"}, 400, "InvalidHeaderValue"),
]


@pytest.mark.parametrize(("method", "query", "headers", "status", "code"), BAD)
def test_refused_requests(immutable, path, method, query, headers, status, code):
    immutable.send(method, path, query, headers).expect(status, code)
    immutable.delete(path).expect(202)


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        (policy(-60), 400, "InvalidHeaderValue"),
        ({MODE: "Locked"}, 400, "MissingRequiredHeader"),
        ({HOLD: "maybe"}, 400, "InvalidHeaderValue"),
    ],
)
def test_refused_uploads(immutable, box, headers, status, code):
    immutable.put(f"/{box}/b", b"x", headers).expect(status, code)
    immutable.get(f"/{box}/b").expect(404, "BlobNotFound")


def test_missing_blobs(immutable, box):
    immutable.send("PUT", f"/{box}/none", POLICY, policy()).expect(404, "BlobNotFound")
    immutable.send("DELETE", f"/{box}/none", POLICY).expect(404, "BlobNotFound")
    hold = {HOLD: "true"}
    immutable.send("PUT", f"/{box}/none", "comp=legalhold", hold).expect(404, "BlobNotFound")


def test_accounts_without_it(client, container):
    path = f"/{container}/b"
    refusal = (409, "BlobOperationNotSupported")
    client.put(path, b"x", policy()).expect(*refusal)
    client.put(path, b"x").expect(201)
    client.send("PUT", path, POLICY, policy()).expect(*refusal)
    client.send("PUT", path, "comp=legalhold", {HOLD: "true"}).expect(*refusal)
    assert client.head(f"/{container}", query="restype=container").headers[SUPPORT] == "false"


def test_containers_go_when_they_are_empty(immutable, box, path):
    shown = immutable.head(f"/{box}", query="restype=container").headers
    assert (shown[SUPPORT], shown["x-ms-has-legal-hold"]) == ("true", "false")
    listing = immutable.get("/", query=f"comp=list&prefix={box}").body.decode()
    assert "<ImmutableStorageWithVersioningEnabled>true</" in listing
    refusal = (409, "ContainerImmutableStorageWithVersioningEnabled")
    version = immutable.head(path).headers["x-ms-version-id"]
    immutable.send("DELETE", f"/{box}", "restype=container").expect(*refusal)
    immutable.delete(path).expect(202)
    immutable.send("DELETE", f"/{box}", "restype=container").expect(*refusal)
    immutable.send("DELETE", path, {"versionid": version}).expect(202)
    immutable.send("DELETE", f"/{box}", "restype=container").expect(202)
    immutable.get(f"/{box}", query="restype=container").expect(404, "ContainerNotFound")


def test_a_lease_still_guards_an_empty_container(immutable, box):
    immutable.lease(f"/{box}", "acquire", container=True, duration=-1).expect(201)
    immutable.send("DELETE", f"/{box}", "restype=container").expect(412, "LeaseIdMissing")
    immutable.put(f"/{box}/b", b"still open").expect(201)


def test_what_was_promised_holds_without_the_setting():
    with Server("--setting", "version-immutability=true") as own:
        client = Client(own.url)
        client.create_container("con1")
        client.put("/con1/b", b"kept", policy(3600, "Locked")).expect(201)
        version = client.head("/con1/b").headers["x-ms-version-id"]
        own.stop()
        own.args = []
        own.start()
        client = Client(own.url)
        client.delete("/con1/b").expect(*BY_POLICY)
        client.send("DELETE", "/con1", "restype=container").expect(
            409, "ContainerImmutableStorageWithVersioningEnabled"
        )
        client.put("/con1/b", b"new").expect(201)
        client.put("/con1/b", b"newer").expect(201)
        kept = client.get("/con1/b", query={"versionid": version}).expect(200)
        assert kept.body == b"kept"
        client.send("DELETE", "/con1/b", {"versionid": version}).expect(*BY_POLICY)
