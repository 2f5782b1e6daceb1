"""The search for secrets in logs finds them when they are there."""

from __future__ import annotations

import base64

import pytest

from harness import DEV_KEY, account_sas, service_sas
from harness.secrets import NT_HASH, SECRETS, found_in, md4
from harness.signing import shared_key

LEAKS = [
    DEV_KEY,
    f"GET /devstoreaccount1?{account_sas()}",
    service_sas("c", "b"),
    shared_key("GET", "/", "", {"x-ms-version": "2025-05-05"}, "devstoreaccount1", DEV_KEY),
    "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln",
    "x-ms-encryption-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    f"hash {NT_HASH.hex()}",
    f"Hash({list(NT_HASH)})",
    f"nt_hash: {NT_HASH.hex(' ').upper()}",
    f"Key({list(base64.b64decode(DEV_KEY))})",
    "signing_key: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]",
    "session_key=0123456789abcdef0123456789ABCDEF",
    "<Value>MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=</Value>",
]
HARMLESS = ["sig=REDACTED", "sig=", "x-ms-encryption-key-sha256 AAAA", "SharedKey devstoreaccount1:", "design=abc", "session_key: Secret(..)", "signing key: yes"]


@pytest.mark.parametrize("line", LEAKS, ids=range(len(LEAKS)))
def test_leaks_are_found(tmp_path, line):
    (tmp_path / "one.log").write_text(f"TRACE something {line} more\n")
    files, _, found = found_in(tmp_path)
    assert files == 1 and found


def test_what_is_harmless_is_not(tmp_path):
    (tmp_path / "one.log").write_text("\n".join(HARMLESS))
    assert found_in(tmp_path)[2] == []
    assert len(SECRETS) >= 10


def test_md4_is_the_one_of_the_standard():
    assert md4(b"").hex() == "31d6cfe0d16ae931b73c59d7e0c089c0"
    assert md4(b"abcdefghijklmnopqrstuvwxyz").hex() == "d79e1c308aa5bbcdeea8ed63df412da9"
    assert md4("password".encode("utf-16-le")).hex() == "8846f7eaee8fb117ad06bdd830b7586c"
