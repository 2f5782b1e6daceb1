"""Operations against permissions and against attacks: who may do what, cell by cell.

A denied request changes nothing, whatever it was denied for.
"""

from __future__ import annotations

import itertools

import pytest
from operations import CONTAINER, KINDS, LETTERS, OPERATIONS, Operation

from harness import Client, account_sas, service_sas
from harness.signing import http_date, iso_time

serial = itertools.count(1)
BARE = {"x-ms-date": None}
DONE = (200, 201, 202, 204)
OTHER_KEY = "c29tZWJvZHkgZWxzZSdzIGtleSwgb2YgdGhlIHNhbWUgbGVuZ3RoLCBidXQgbm90IG91cnM="


@pytest.fixture
def box(client) -> str:
    """A container with a blob of one committed block, on which a lease can be broken."""
    name = f"access{next(serial):05d}"
    client.create_container(name)
    client.put_block(f"/{name}/b", "MDAwMg==", b"secret").expect(201)
    client.put_block_list(f"/{name}/b", ["MDAwMg=="]).expect(201)
    return name


def prepared(client: Client, operation: Operation, box: str) -> None:
    if operation.name == "BreakLease":
        client.lease(f"/{box}/b", "acquire", duration=-1).expect(201)
    if operation.where in KINDS:
        client.send("PUT", operation.path(box), "", KINDS[operation.where]).expect(201)


def attempt(client: Client, operation: Operation, box: str, token: str = "", **kw):
    query = "&".join(part for part in (operation.query, token) if part)
    headers = {**dict(operation.headers), **kw.pop("headers", {})}
    return client.send(operation.method, operation.path(box), query, headers, operation.body, **kw)


def state(client: Client, box: str) -> tuple:
    """What an intruder could have changed."""
    container = client.get(f"/{box}", query=CONTAINER)
    blob = client.get(f"/{box}/b")
    blocks = client.get(f"/{box}/b", query="comp=blocklist&blocklisttype=all")
    return (
        container.status,
        container.etag,
        container.headers.get("x-ms-lease-state"),
        blob.status,
        blob.etag,
        blob.body,
        blob.headers.get("x-ms-lease-state"),
        blocks.body,
        client.head(f"/{box}/new").status,
        client.head(f"/{box}-new", query=CONTAINER).status,
    )


@pytest.mark.parametrize("operation", OPERATIONS, ids=[o.name for o in OPERATIONS])
@pytest.mark.parametrize("letter", LETTERS)
def test_account_sas_permission(client, box, operation, letter):
    prepared(client, operation, box)
    before = state(client, box)
    token = account_sas(letter, resource_types="sco")
    answer = attempt(client, operation, box, token, auth="none", headers=BARE)
    if letter in operation.account:
        answer.expect(DONE)
        return
    if operation.name == "PutBlobOver" and letter == "c":
        answer.expect(403, "UnauthorizedBlobOverwrite")
    elif not operation.account:
        answer.expect(403, "AuthorizationFailure")
    else:
        answer.expect(403, "AuthorizationPermissionMismatch")
    assert state(client, box) == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=[o.name for o in OPERATIONS])
@pytest.mark.parametrize("letter", LETTERS)
def test_container_sas_permission(client, box, operation, letter):
    prepared(client, operation, box)
    before = state(client, box)
    token = service_sas(box, permissions=letter)
    answer = attempt(client, operation, box, token, auth="none", headers=BARE)
    if letter in operation.service:
        answer.expect(DONE)
        return
    if operation.name == "PutBlobOver" and letter == "c":
        answer.expect(403, "UnauthorizedBlobOverwrite")
    else:
        answer.expect(403)
    assert state(client, box) == before


LEVELS = [(o, level) for o in OPERATIONS for level in "sco" if o.account]


@pytest.mark.parametrize(
    ("operation", "level"), LEVELS, ids=[f"{o.name}-{level}" for o, level in LEVELS]
)
def test_account_sas_level(client, box, operation, level):
    prepared(client, operation, box)
    before = state(client, box)
    token = account_sas("rwdlactf", resource_types=level)
    answer = attempt(client, operation, box, token, auth="none", headers=BARE)
    if level in operation.level:
        answer.expect(DONE)
    else:
        answer.expect(403, "AuthorizationResourceTypeMismatch")
        assert state(client, box) == before


ALL = "racwdltf"
ATTACKS = {
    "nothing": lambda c, o, b: attempt(c, o, b, auth="none", headers=BARE),
    "other key": lambda c, o, b: attempt(Client(url(c), key=OTHER_KEY), o, b),
    "other key lite": lambda c, o, b: attempt(Client(url(c), key=OTHER_KEY), o, b, auth="lite"),
    "unknown account's signature": lambda c, o, b: attempt(signed_as(c, "nobody"), o, b),
    "old date": lambda c, o, b: attempt(c, o, b, headers={"x-ms-date": http_date(-16 * 60)}),
    "basic": lambda c, o, b: attempt(
        c, o, b, auth="none", headers={"Authorization": "Basic ZGV2c3RvcmVhY2NvdW50MTp4"}
    ),
    "bearer": lambda c, o, b: attempt(
        c, o, b, auth="none", headers={"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."}
    ),
    "expired sas": lambda c, o, b: sas(c, o, b, account_sas(ALL, expiry=iso_time(-1))),
    "future sas": lambda c, o, b: sas(c, o, b, account_sas(ALL, start=iso_time(300))),
    "sas of another key": lambda c, o, b: sas(c, o, b, account_sas(ALL, key=OTHER_KEY)),
    "sas of a queue": lambda c, o, b: sas(c, o, b, account_sas(ALL, services="q")),
    "sas of another address": lambda c, o, b: sas(c, o, b, account_sas(ALL, ip="10.0.0.1")),
    "sas for https": lambda c, o, b: sas(c, o, b, account_sas(ALL, protocol="https")),
    "sas with raised permissions": lambda c, o, b: sas(
        c, o, b, account_sas("x").replace("sp=x", f"sp={ALL}")
    ),
    "sas with a moved end": lambda c, o, b: sas(
        c, o, b, account_sas(ALL, expiry=iso_time(-1)).replace("se=20", "se=21")
    ),
    "sas permissions given twice": lambda c, o, b: sas(c, o, b, account_sas("x") + f"&sp={ALL}"),
    "sas of another container": lambda c, o, b: sas(c, o, b, service_sas("other", permissions=ALL)),
    "sas of a policy that is not there": lambda c, o, b: sas(
        c, o, b, service_sas(b, permissions="", expiry="", identifier="none")
    ),
    "sas and a bad key together": lambda c, o, b: attempt(
        Client(url(c), key=OTHER_KEY), o, b, account_sas(ALL, expiry=iso_time(-1))
    ),
}


def url(client: Client) -> str:
    return f"{client.scheme}://{client.host}:{client.port}"


def signed_as(client: Client, account: str) -> Client:
    other = Client(url(client), account=account, key=OTHER_KEY)
    other.prefix = client.prefix
    return other


def sas(client: Client, operation: Operation, box: str, token: str):
    return attempt(client, operation, box, token, auth="none", headers=BARE)


CELLS = [(o, attack) for o in OPERATIONS for attack in ATTACKS]


@pytest.mark.parametrize(
    ("operation", "attack"), CELLS, ids=[f"{o.name}-{a.replace(' ', '_')}" for o, a in CELLS]
)
def test_attack(client, box, operation, attack):
    prepared(client, operation, box)
    before = state(client, box)
    answer = ATTACKS[attack](client, operation, box)
    assert answer.status in (400, 401, 403), answer
    assert b"secret" not in answer.body
    assert state(client, box) == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=[o.name for o in OPERATIONS])
def test_the_key_may_do_everything(client, box, operation):
    """The other side of the matrix: without an attack every one of these succeeds."""
    prepared(client, operation, box)
    attempt(client, operation, box).expect(DONE)


ANONYMOUS = {
    "": set(),
    "blob": {"GetBlob", "GetBlobProperties", "GetBlobMetadata", "GetBlockList", "GetPageRanges"},
    "container": {
        "GetBlob", "GetBlobProperties", "GetBlobMetadata", "GetBlockList", "GetPageRanges", "ListBlobs",
        "GetContainerProperties", "HeadContainerProperties", "GetContainerMetadata",
    },
}  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=[o.name for o in OPERATIONS])
@pytest.mark.parametrize("level", ANONYMOUS, ids=["private", "blob", "container"])
def test_anonymous(client, box, operation, level):
    headers = {"x-ms-blob-public-access": level} if level else {}
    client.send("PUT", f"/{box}", f"{CONTAINER}&comp=acl", headers).expect(200)
    prepared(client, operation, box)
    before = state(client, box)
    answer = attempt(client, operation, box, auth="none", headers=BARE)
    if operation.name in ANONYMOUS[level]:
        answer.expect(200)
    else:
        answer.expect(401, "NoAuthenticationInformation")
        assert state(client, box) == before


def test_anonymous_sees_committed_blocks_only(client, box):
    headers = {"x-ms-blob-public-access": "blob"}
    client.send("PUT", f"/{box}", f"{CONTAINER}&comp=acl", headers).expect(200)
    client.put_block(f"/{box}/b", "MDAwMw==", b"staged").expect(201)
    answer = client.get(f"/{box}/b", query="comp=blocklist&blocklisttype=all", auth="none")
    assert b"MDAwMw==" not in answer.body, answer
