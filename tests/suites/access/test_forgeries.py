"""Signed requests with one signed thing changed on their way, over real connections: none gets in.

The same at a hundred thousand and without connections: crates/auth/tests/auth/mutations.rs.
"""

from __future__ import annotations

import itertools
import os
import random

import pytest

from harness import Client, Server
from harness.operations import CALLS, SETTINGS, Box, Call
from harness.state import seen
from harness.writers import TableClient

FORGERIES = 3_000
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
serial = itertools.count(1)


@pytest.fixture(scope="module")
def server():
    with Server(*(word for line in SETTINGS for word in ("--setting", line))) as own:
        yield own


class Changed:
    """A client whose headers are changed after they were signed."""

    def __init__(self, client: Client, choose: random.Random) -> None:
        base = TableClient if isinstance(client, TableClient) else Client
        changes = [self.signature, self.account, self.scheme, self.date]
        if base is Client:
            changes += [self.added, self.length]

        class Client_(base):
            def signed_headers(inner, *args, **kw):
                out = super().signed_headers(*args, **kw)
                choose.choice(changes)(out, choose)
                return out

        self.client = Client_(f"http://{client.host}:{client.port}", version=client.version)

    @staticmethod
    def signature(headers: dict, choose: random.Random) -> None:
        start, _, text = headers["Authorization"].rpartition(":")
        # The last character before the padding has bits that mean nothing.
        at = choose.randrange(len(text) - 2)
        other = choose.choice([c for c in BASE64 if c != text[at]])
        headers["Authorization"] = f"{start}:{text[:at]}{other}{text[at + 1 :]}"

    @staticmethod
    def account(headers: dict, choose: random.Random) -> None:
        headers["Authorization"] = headers["Authorization"].replace("devstoreaccount1", "devstoreaccount2")

    @staticmethod
    def scheme(headers: dict, choose: random.Random) -> None:
        scheme, _, rest = headers["Authorization"].partition(" ")
        other = "SharedKey" if scheme == "SharedKeyLite" else "SharedKeyLite"
        headers["Authorization"] = f"{other} {rest}"

    @staticmethod
    def date(headers: dict, choose: random.Random) -> None:
        text = headers["x-ms-date"]
        second = int(text[-6:-4])
        headers["x-ms-date"] = f"{text[:-6]}{(second + choose.randrange(1, 59)) % 60:02d}{text[-4:]}"

    @staticmethod
    def added(headers: dict, choose: random.Random) -> None:
        headers[choose.choice(["x-ms-meta-forged", "x-ms-lease-id", "If-Match", "Range"])] = "forged"

    @staticmethod
    def length(headers: dict, choose: random.Random) -> None:
        headers["Content-Language"] = "forged"


def send(box: Box, call: Call, client: Client, extra: str = ""):
    query = "&".join(part for part in (box.fill(call.query), extra) if part)
    headers = {name: box.fill(value) for name, value in call.headers.items()}
    return client.send(call.method, box.fill(call.path), query, headers, box.fill(call.body))


def test_changed_requests_do_not_get_in(server):
    choose = random.Random(SEED)
    done = 0
    for call in itertools.cycle(choose.sample(CALLS, len(CALLS))):
        box = Box(server, call.service, f"forged{next(serial):05d}")
        box.prepare(call)
        before = seen(box)
        for _ in range(12):
            answer = send(box, call, Changed(box.client, choose).client)
            assert answer.status in (400, 401, 403), f"{call}: {answer.status} {answer.code}"
            done += 1
        assert seen(box) == before, f"{call}: something changed"
        if done >= FORGERIES:
            break
    print(f"-- figure forgeries-http: {done} changed requests refused, seed {SEED}, 0 got in")
