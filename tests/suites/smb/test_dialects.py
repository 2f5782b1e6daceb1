"""A sample of smbtorture in every dialect, and encrypted where the dialect can: what depends on the
dialect are signatures, encryption, leases and what a handle survives.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from .conftest import Share
from .tap import Tap
from .test_torture import run

SAMPLE = [
    "smb2.read.eof",
    "smb2.rw.rw2",
    "smb2.lock.lock",
    "smb2.lock.rw-exclusive",
    "smb2.oplock.batch1",
    "smb2.oplock.exclusive1",
    "smb2.durable-open.open-oplock",
    "smb2.durable-open.reopen2",
    "smb2.compound_async.flush_close",
    "smb2.create.multi",
    "smb2.rename.simple",
    "smb2.notify.valid-req",
    "smb2.ioctl.copy_chunk_simple",
]
LEASES = ["smb2.lease.break", "smb2.lease.upgrade"]
DIALECTS = ("SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11")
# (dialect, encrypted)
WAYS = [(d, False) for d in DIALECTS] + [(d, True) for d in DIALECTS if d >= "SMB3"]


def names(dialect: str) -> list[str]:
    # The first dialect has no leases, and writes of 64 KiB are its largest.
    return [n for n in SAMPLE if n != "smb2.rw.rw2"] if dialect == "SMB2_02" else SAMPLE + LEASES


@pytest.fixture(scope="module")
def outcomes(server):
    def one(way: tuple[str, bool]):
        dialect, encrypted = way
        share = Share(server, f"{dialect.lower().replace('_', '-')}-{str(encrypted).lower()}")
        options = [f"--option=client{end}protocol={dialect}" for end in ("min", "max")]
        if encrypted:
            options.append("--client-protection=encrypt")
        return run(share, "", names(dialect), options)

    with ThreadPoolExecutor(len(WAYS)) as pool:
        return dict(zip(WAYS, pool.map(one, WAYS), strict=True))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0] + "-encrypted" * way[1])
def test_dialect(server, outcomes, way):
    passed, said = outcomes[way]
    failed = set(names(way[0])) - set(passed)
    assert not failed, f"{sorted(failed)}\n{said[-6000:]}"
    assert server.alive()


PLAIN, SEALED = b"\xfeSMB", b"\xfdSMB"
NEGOTIATE, SESSION_SETUP, BREAK = 0, 1, 0x12


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("name", ["smb2.oplock.batch1", "smb2.lease.break"])
def test_breaks_are_encrypted_where_the_session_is(server, share, name, encrypted):
    options = ["--client-protection=encrypt"] if encrypted else []
    with Tap(share.port) as tap:
        share.port = tap.port
        passed, said = run(share, "", [name], options)
    assert passed, said[-3000:]
    plain = [command for kind, command in tap.heard if kind == PLAIN]
    if encrypted:
        assert set(plain) == {NEGOTIATE, SESSION_SETUP}
        assert sum(kind == SEALED for kind, _ in tap.heard) > 10
    else:
        # The test does cause them; what it hears encrypted is these too.
        assert BREAK in plain
