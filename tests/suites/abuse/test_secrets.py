"""The search for secrets in logs finds them when they are there."""

from __future__ import annotations

import pytest

from harness import DEV_KEY, account_sas, service_sas
from harness.secrets import SECRETS, found_in
from harness.signing import shared_key

LEAKS = [
    DEV_KEY,
    f"GET /devstoreaccount1?{account_sas()}",
    service_sas("c", "b"),
    shared_key("GET", "/", "", {"x-ms-version": "2025-05-05"}, "devstoreaccount1", DEV_KEY),
    "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln",
    "x-ms-encryption-key: MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "<Value>MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=</Value>",
]
HARMLESS = ["sig=REDACTED", "sig=", "x-ms-encryption-key-sha256 AAAA", "SharedKey devstoreaccount1:", "design=abc"]


@pytest.mark.parametrize("line", LEAKS, ids=range(len(LEAKS)))
def test_leaks_are_found(tmp_path, line):
    (tmp_path / "one.log").write_text(f"TRACE something {line} more\n")
    files, _, found = found_in(tmp_path)
    assert files == 1 and found


def test_what_is_harmless_is_not(tmp_path):
    (tmp_path / "one.log").write_text("\n".join(HARMLESS))
    assert found_in(tmp_path)[2] == []
    assert len(SECRETS) >= 7
