"""Every operation of every service against every attack: all refused, nothing changed.

The operations come from a table that is compared with the code's closed enums; the number of cells
has a floor, so that neither can shrink unnoticed.
"""

from __future__ import annotations

import itertools
import re

import pytest

from harness import DEV_ACCOUNT, DEV_KEY, Client, Server, account_sas
from harness.operations import CALLS, PUBLIC, SERVICES, SETTINGS, Box, Call, client_of, kinds_in_code
from harness.signing import http_date, iso_time
from harness.state import seen
from harness.tokens import service_token

LEAST_CELLS = 3_800
OTHER_KEY = "c29tZWJvZHkgZWxzZSdzIGtleSwgb2YgdGhlIHNhbWUgbGVuZ3RoLCBidXQgbm90IG91cnM="
NEW_KEY = "dGhlIGtleSB0aGF0IGNhbWUgYWZ0ZXIgdGhlIGZpcnN0IG9uZSB3YXMgdGFrZW4gb3V0IG9mIHVzZSE="
EVERYTHING = "rwdlacupxytfi"
BARE = {"x-ms-date": None}
serial = itertools.count(1)
cells: list[str] = []


@pytest.fixture(scope="module")
def server():
    with Server(*(word for line in SETTINGS for word in ("--setting", line))) as own:
        yield own


def letter(service: str) -> str:
    return service[0]


def box_for(server: Server, call: Call, client: Client | None = None) -> Box:
    box = Box(server, call.service, f"every{next(serial):05d}", client)
    box.prepare(call)
    return box


def ask(box: Box, call: Call, token: str = "", *, client: Client | None = None, headers=None, path=None, **kw):
    client = client or box.client
    query = "&".join(part for part in (box.fill(call.query), token) if part)
    given = {name: box.fill(value) for name, value in call.headers.items()}
    body = box.fill(call.body)
    return client.send(call.method, path or box.fill(call.path), query, {**given, **(headers or {})}, body, **kw)


def sas(box: Box, call: Call, token: str, **kw):
    return ask(box, call, token, client=Unsigned.of(box.client), headers=BARE, **kw)


class Unsigned(Client):
    """Signs nothing: what a client sends whose credential is in the query."""

    @classmethod
    def of(cls, client: Client) -> Unsigned:
        return cls(f"http://{client.host}:{client.port}", version=client.version)

    def signed_headers(self, *args, **kw):
        return Client.signed_headers(self, *args, **{**kw, "auth": "none"})


def token(box: Box, permissions: str = EVERYTHING, **kw) -> str:
    return account_sas(permissions, services=kw.pop("services", letter(box.service)), **kw)


def swapped(text: str) -> str:
    """The signature with the case of its letters exchanged."""
    return re.sub(r"sig=([^&]*)", lambda m: "sig=" + re.sub(r"%..|[a-zA-Z]", keep_escapes, m[1]), text)


def keep_escapes(match: re.Match) -> str:
    return match[0] if match[0].startswith("%") else match[0].swapcase()


def other_service(box: Box) -> str:
    return "".join(letter(name) for name in SERVICES if name != box.service)


def replayed_elsewhere(box: Box, call: Call):
    """Headers that were signed for another path."""
    class Elsewhere(type(box.client)):
        def signed_headers(self, method, path, query, headers, **kw):
            return super().signed_headers(method, f"/{DEV_ACCOUNT}/elsewhere", query, headers, **kw)

    return ask(box, call, client=clone(box, Elsewhere))


def replayed_verb(box: Box, call: Call):
    """Headers that were signed for another verb. Tables do not sign the verb in the short form."""
    class Verb(Client):
        def signed_headers(self, method, path, query, headers, **kw):
            other = "GET" if method != "GET" else "DELETE"
            return super().signed_headers(other, path, query, headers, **kw)

    if box.service == "table":
        return replayed_elsewhere(box, call)
    return ask(box, call, client=clone(box, Verb))


def clone(box: Box, kind: type[Client]) -> Client:
    return kind(f"http://{box.client.host}:{box.client.port}", version=box.client.version)


def with_key(box: Box, call: Call, key: str):
    return ask(box, call, client=client_of(box.server, box.service, key=key))


ATTACKS = {
    "nothing": lambda b, c: ask(b, c, client=Unsigned.of(b.client), headers=BARE),
    "wrong key": lambda b, c: with_key(b, c, OTHER_KEY),
    "an old date": lambda b, c: ask(b, c, headers={"x-ms-date": http_date(-16 * 60)}),
    "a date to come": lambda b, c: ask(b, c, headers={"x-ms-date": http_date(16 * 60)}),
    "signed for another path": replayed_elsewhere,
    "signed for another verb": replayed_verb,
    "basic": lambda b, c: ask(b, c, client=Unsigned.of(b.client), headers={"Authorization": "Basic eA=="}),
    "bearer without a signature": lambda b, c: ask(
        b, c, client=Unsigned.of(b.client), headers={"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."}
    ),
    "sas: expired": lambda b, c: sas(b, c, token(b, expiry=iso_time(-1))),
    "sas: not yet valid": lambda b, c: sas(b, c, token(b, start=iso_time(300))),
    "sas: wrong key": lambda b, c: sas(b, c, token(b, key=OTHER_KEY)),
    "sas: other services": lambda b, c: sas(b, c, token(b, services=other_service(b))),
    "sas: other address": lambda b, c: sas(b, c, token(b, ip="10.0.0.1")),
    "sas: other protocol": lambda b, c: sas(b, c, token(b, protocol="https")),
    "sas: raised permissions": lambda b, c: sas(b, c, token(b, "x").replace("sp=x", f"sp={EVERYTHING}")),
    "sas: raised types": lambda b, c: sas(b, c, token(b, resource_types="s").replace("srt=s", "srt=sco")),
    "sas: moved end": lambda b, c: sas(b, c, token(b, expiry=iso_time(-1)).replace("se=20", "se=21")),
    "sas: permissions twice": lambda b, c: sas(b, c, token(b, "x") + f"&sp={EVERYTHING}"),
    "sas: signature twice": lambda b, c: sas(b, c, token(b, key=OTHER_KEY) + "&" + token(b)[token(b).index("sig=") :]),
    "sas: double-encoded": lambda b, c: sas(b, c, token(b).replace("%", "%25")),
    "sas: wrong case": lambda b, c: sas(b, c, swapped(token(b))),
    "sas: no signature": lambda b, c: sas(b, c, re.sub(r"sig=[^&]*", "sig=", token(b))),
    "sas: of another box": lambda b, c: sas(b, c, service_token(b.service, "other", None, "rwdlau")),
    "sas: a box's, expired": lambda b, c: sas(
        b, c, service_token(b.service, b.name, None, "rwdlau", expiry=iso_time(-1))
    ),
    "sas: a box's, wrong key": lambda b, c: sas(b, c, service_token(b.service, b.name, None, "r", key=OTHER_KEY)),
}  # fmt: skip


def test_every_operation_in_the_code_has_a_row():
    rows = {(call.service, call.kind) for call in CALLS} | PUBLIC
    assert kinds_in_code() - rows == set(), "operations without a row in harness/operations.py"
    assert rows - kinds_in_code() == set(), "rows of operations that are not there"


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_attacks(server, call):
    box = box_for(server, call)
    before = seen(box)
    for attack, attempt in ATTACKS.items():
        answer = attempt(box, call)
        assert answer.status in (400, 401, 403), f"{attack}: {answer.status} {answer.code}"
        assert b"secret" not in answer.body, attack
        cells.append(f"{call} {attack}")
    assert seen(box) == before, "something changed"
    # Without an attack it does what it should: a request that is always refused proves nothing.
    got = ask(box, call)
    assert got.status in call.good, f"the key got {got.status} {got.code} {got.body[:300]!r}"


# What an account SAS needs for each operation is in test_matrix.py; here only that letters which
# never suffice do not.
NEVER_ENOUGH = {"blob": "i", "queue": "f", "table": "f", "file": "f"}


# Any permission at all is enough to ask what kind of account it is, or to send a batch, whose parts
# are asked for theirs.
WITH_NEEDS = [call for call in CALLS if call.kind != "GetAccountInfo" and str(call) != "blob-Batch"]


@pytest.mark.parametrize("call", WITH_NEEDS, ids=str)
def test_wrong_permissions(server, call):
    box = box_for(server, call)
    before = seen(box)
    wrong = [token(box, NEVER_ENOUGH[call.service])]
    if call.changes or call.service == "queue":
        wrong.append(token(box, "l", resource_types="o"))
    if call.kind in ("SetBlobImmutabilityPolicy", "DeleteBlobImmutabilityPolicy", "SetBlobLegalHold"):
        wrong[0] = token(box, "t")
    for text in wrong:
        answer = sas(box, call, text)
        assert answer.status in (400, 401, 403), f"{text}: {answer.status} {answer.code}"
        cells.append(f"{call} wrong permission")
    assert seen(box) == before, "something changed"


def test_signatures_of_a_key_that_was_replaced(tmp_path):
    """Everything signed while the old key was good is worth nothing after it was replaced."""
    keys = {"AZURITE_ACCOUNTS": f"{DEV_ACCOUNT}:{DEV_KEY}"}
    with Server(*settings(), env=keys, location=str(tmp_path)) as server:
        boxes = [(call, box_for(server, call)) for call in CALLS]
        before = [seen(box) for _, box in boxes]
        assert server.stop() == 0
        server.env = {"AZURITE_ACCOUNTS": f"{DEV_ACCOUNT}:{NEW_KEY}"}
        server.start()
        for (call, box), state in zip(boxes, before, strict=True):
            old = client_of(server, call.service)
            for answer in (ask(box, call, client=old),
                           ask(box, call, token(box), client=Unsigned.of(old), headers=BARE)):  # fmt: skip
                assert answer.status in (400, 401, 403), f"{call}: {answer.status} {answer.code}"
                cells.append(f"{call} replaced key")
            box.client = client_of(server, call.service, key=NEW_KEY)
            assert seen(box) == state, f"{call}: something changed"


def settings() -> tuple[str, ...]:
    return tuple(word for line in SETTINGS for word in ("--setting", line))


def test_the_floor_of_cells():
    print(f"-- figure matrix: {len(cells)} cells refused, seed none, {len(CALLS)} requests of "
          f"{len(kinds_in_code())} operations, {len(ATTACKS) + 2} attacks")  # fmt: skip
    assert len(cells) >= LEAST_CELLS, f"only {len(cells)} cells"
