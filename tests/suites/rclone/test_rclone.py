"""rclone with an azureblob remote: copy, sync, check, list, delete, of a tree and a large file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import DEV_ACCOUNT

MIB = 1024 * 1024


@pytest.fixture(scope="session")
def rclone(server, tmp_path_factory):
    config = tmp_path_factory.mktemp("rclone") / "rclone.conf"
    config.write_text(
        f"[z]\ntype = azureblob\nuse_emulator = true\nendpoint = {server.url}/{DEV_ACCOUNT}\n"
    )

    def run(*args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["rclone", "--config", str(config), "--retries", "1", *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def tree(tmp_path_factory) -> Path:
    """A nested tree with unusual names, an empty file and a 100 MiB file."""
    root = tmp_path_factory.mktemp("tree")
    for i in range(20):
        folder = root / f"dir {i % 3}" / f"sub{i % 4}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file-{i}.bin").write_bytes(os.urandom(i * 1000))
    (root / "empty").write_bytes(b"")
    (root / "ünï cødé + % & # '.txt").write_text("names")
    (root / "deep" / "a" / "b" / "c" / "d").mkdir(parents=True)
    (root / "deep" / "a" / "b" / "c" / "d" / "leaf.txt").write_text("leaf")
    with open(root / "large.bin", "wb") as file:
        for i in range(100):
            file.write(i.to_bytes(4, "little") + os.urandom(MIB - 4))
    return root


def files_of(root: Path) -> dict[str, str]:
    return {
        str(p.relative_to(root)): hashlib.md5(p.read_bytes()).hexdigest()
        for p in root.rglob("*")
        if p.is_file()
    }


@pytest.fixture(scope="session")
def copied(rclone, tree) -> str:
    rclone("mkdir", "z:tree")
    rclone("copy", str(tree), "z:tree/base", "--transfers", "4")
    return "z:tree/base"


def test_copy_and_check(rclone, tree, copied):
    rclone("check", str(tree), copied)
    rclone("check", str(tree), copied, "--download")


def test_listing(rclone, tree, copied):
    listed = json.loads(rclone("lsjson", "-R", "--files-only", "--hash", copied).stdout)
    want = files_of(tree)
    assert {entry["Path"] for entry in listed} == set(want)
    for entry in listed:
        found = entry.get("Hashes", {}).get("md5")
        assert found == want[entry["Path"]], entry["Path"]
    folders = rclone("lsf", "--dirs-only", copied).stdout.split("\n")
    assert {f for f in folders if f} == {"deep/", "dir 0/", "dir 1/", "dir 2/"}


def test_copy_back(rclone, tree, copied, tmp_path):
    rclone("copy", copied, str(tmp_path / "back"), "--transfers", "4")
    assert files_of(tmp_path / "back") == files_of(tree)
    shutil.rmtree(tmp_path / "back")


def test_sync_follows_changes(rclone, tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    for i in range(10):
        (source / f"{i}.txt").write_text(f"first {i}")
    rclone("sync", str(source), "z:synced/x")
    rclone("check", str(source), "z:synced/x")
    (source / "0.txt").unlink()
    (source / "1.txt").write_text("changed")
    (source / "new.txt").write_text("new")
    before = rclone("check", str(source), "z:synced/x", check=False)
    assert before.returncode != 0, "the check must see the difference"
    rclone("sync", str(source), "z:synced/x")
    rclone("check", str(source), "z:synced/x")
    names = sorted(rclone("lsf", "z:synced/x").stdout.split())
    assert names == sorted(p.name for p in source.iterdir())
    # A second sync has nothing to do.
    again = rclone("sync", str(source), "z:synced/x", "--stats-one-line", "-v")
    assert "Transferred:" not in again.stderr or "0 B / 0 B" in again.stderr


def test_modification_times_are_kept(rclone, tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("t")
    os.utime(file, (1_500_000_000, 1_500_000_000))
    rclone("copy", str(file), "z:times")
    (entry,) = json.loads(rclone("lsjson", "z:times").stdout)
    assert entry["ModTime"].startswith("2017-07-14T02:40:00")


def test_cat_and_rcat(rclone):
    rclone("mkdir", "z:streams")
    config = rclone("config", "file").stdout.strip().splitlines()[-1]
    done = subprocess.run(
        ["rclone", "--config", config, "rcat", "z:streams/in.txt"],
        input=b"from stdin", capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert rclone("cat", "z:streams/in.txt").stdout == "from stdin"
    assert rclone("cat", "z:streams/in.txt", "--offset", "5", "--count", "3").stdout == "std"


def test_delete_and_purge(rclone, tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    rclone("copy", str(tmp_path), "z:gone/p")
    rclone("deletefile", "z:gone/p/a")
    assert rclone("lsf", "z:gone/p").stdout.split() == ["b"]
    rclone("delete", "z:gone/p")
    assert rclone("lsf", "z:gone/p", check=False).stdout.split() == []
    rclone("rmdir", "z:gone")
    assert "gone/" not in rclone("lsf", "z:").stdout.split()
