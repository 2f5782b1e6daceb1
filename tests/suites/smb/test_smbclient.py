"""Debian's smbclient: every dialect, signed and encrypted, whole files and folders."""

from __future__ import annotations

import os
import subprocess

import pytest

DIALECTS = ("SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11")


def smbclient(share, command: str, *options: str, key: str | None = None, cwd=None):
    return subprocess.run(
        ["smbclient", share.unc, "-p", str(share.port), "-U", f"{share.account}%{key or share.key}",
         *options, "-c", command],
        capture_output=True, text=True, timeout=60, cwd=cwd,
    )  # fmt: skip


def ok(done) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(share, dialect, tmp_path):
    body = os.urandom(300_000)
    (tmp_path / "in").write_bytes(body)
    ok(smbclient(share, "mkdir d; put in d\\f; get d\\f out; ls d\\*", "-m", dialect, cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == body
    reply = share.rest.send("GET", f"/{share.name}/d/f")
    assert reply.body == body, "REST reads what SMB wrote"


@pytest.mark.parametrize("dialect", DIALECTS[2:])
def test_encrypted(share, dialect, tmp_path):
    body = os.urandom(3_000_000)
    (tmp_path / "in").write_bytes(body)
    options = ("-m", dialect, "--client-protection=encrypt")
    ok(smbclient(share, "put in f; get f out", *options, cwd=tmp_path))
    assert (tmp_path / "out").read_bytes() == body


def test_encryption_needs_the_third_version(share):
    done = smbclient(share, "ls", "-m", "SMB2_10", "--client-protection=encrypt")
    assert done.returncode != 0


def test_shares_are_listed(share):
    done = subprocess.run(
        ["smbclient", "-L", f"//{share.host}", "-p", str(share.port), "-U",
         f"{share.account}%{share.key}"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert share.name in done.stdout and "IPC$" in done.stdout


@pytest.mark.parametrize(
    ("user", "key"),
    [("devstoreaccount1", "wrong"), ("nobody1", None), ("", ""), ("guest", "")],
)
def test_strangers_stay_outside(share, user, key):
    secret = share.key if key is None else key
    done = subprocess.run(
        ["smbclient", share.unc, "-p", str(share.port), "-U", f"{user}%{secret}", "-c", "ls"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert "NT_STATUS_LOGON_FAILURE" in done.stdout + done.stderr


def test_no_such_share(share):
    share.name = "missing"
    done = smbclient(share, "ls")
    assert "NT_STATUS_BAD_NETWORK_NAME" in done.stdout + done.stderr


def test_a_tree_goes_there_and_back(share, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    target.mkdir()
    bodies = {}
    for folder in ("a", "a/b", "c"):
        (source / folder).mkdir(parents=True, exist_ok=True)
        for number in range(8):
            body = os.urandom(number * 7_000)
            (source / folder / f"Datei ä {number}").write_bytes(body)
            bodies[f"{folder}/Datei ä {number}"] = body
    options = ("prompt OFF; recurse ON",)
    ok(smbclient(share, f"{options[0]}; mput *", cwd=source))
    ok(smbclient(share, f"{options[0]}; mget *", cwd=target))
    found = {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()}
    assert found == bodies


def test_names_and_deletion(share, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    ok(smbclient(share, "put f One; rename One two; mkdir D; rename two D\\three", cwd=tmp_path))
    said = ok(smbclient(share, "ls d\\*"))
    assert "three" in said
    done = smbclient(share, "rmdir D")
    assert "NT_STATUS_DIRECTORY_NOT_EMPTY" in done.stdout + done.stderr
    ok(smbclient(share, "del D\\THREE; rmdir d"))
    share.rest.send("GET", f"/{share.name}/D", query={"restype": "directory"}).expect(404)


def test_snapshots_are_seen(share, tmp_path):
    for body in (b"before", b"after"):
        (tmp_path / "f").write_bytes(body)
        ok(smbclient(share, "put f", cwd=tmp_path))
        if body == b"before":
            query = {"restype": "share", "comp": "snapshot"}
            share.rest.send("PUT", f"/{share.name}", query=query).expect(201)
    said = ok(smbclient(share, "allinfo f"))
    tokens = [word for word in said.split() if word.startswith("@GMT-")]
    assert len(tokens) == 1, said
    ok(smbclient(share, f"get {tokens[0]}\\f old", cwd=tmp_path))
    assert (tmp_path / "old").read_bytes() == b"before"
