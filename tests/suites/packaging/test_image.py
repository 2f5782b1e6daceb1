"""The container image: built from nothing but our own files, then run.

buildah builds it and a chroot runs it, because neither needs a daemon nor a network of its own; the binary
is the static one that image.sh makes, of the debug profile to save the time of a release build.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest
from azure.storage.blob import BlobServiceClient

from harness import DEV_ACCOUNT, DEV_KEY
from harness.server import ANY_PORTS, CONSOLE, READY

ROOT = Path(__file__).resolve().parents[3]
LAYOUT = ROOT / "target" / "image"
PARTS = ("azurite", "azurite-blob", "azurite-queue", "azurite-table", "zaffre")
BUILD_SECONDS = 600


def buildah(store: Path, *words: str) -> str:
    places = ["--storage-driver", "vfs", "--root", str(store / "root"), "--runroot", str(store / "run")]
    done = subprocess.run(
        ["buildah", *places, *words], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """(what the image says about itself, its root folder)"""
    environment = {**os.environ, "PROFILE": "dev"}
    done = subprocess.run(
        ["packaging/image.sh", "layout"], cwd=ROOT, env=environment, capture_output=True, text=True,
        timeout=BUILD_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    store = tmp_path_factory.mktemp("buildah")
    buildah(store, "bud", "--isolation", "chroot", "--format", "docker", "-t", "zaffre",
            "-f", "packaging/Containerfile", str(LAYOUT))  # fmt: skip
    said = json.loads(buildah(store, "inspect", "--type", "image", "zaffre"))
    container = buildah(store, "from", "--pull-never", "zaffre").strip()
    root = Path(buildah(store, "mount", container).strip())
    # What every container engine gives a container.
    for device in ("null", "random", "urandom"):
        (root / "dev").mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", f"/dev/{device}", root / "dev"], check=True)
    yield said["Docker"]["config"], root
    buildah(store, "umount", container)
    buildah(store, "rm", container)
    buildah(store, "rmi", "zaffre")


def inside(root: Path, config: dict, *words: str) -> list[str]:
    """A command as the image's user in the image's root, with the image's environment."""
    return ["env", "-i", *config["Env"], "/usr/sbin/chroot", "--userspec", config["User"], str(root), *words]


def test_it_is_static_and_alone(image):
    config, root = image
    programs = root / "usr" / "local" / "bin"
    assert sorted(path.name for path in programs.iterdir()) == sorted(PARTS)
    head = subprocess.run(["readelf", "-ld", str(programs / "zaffre")], capture_output=True, text=True)
    if head.returncode == 0:
        assert "INTERP" not in head.stdout and "NEEDED" not in head.stdout
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert {str(path.relative_to(root)) for path in files} == {
        "usr/local/bin/zaffre", "etc/passwd", "etc/group"}  # fmt: skip


def test_what_it_says(image):
    config, root = image
    assert config["User"] == "10000:10000" and config["WorkingDir"] == "/data"
    assert set(config["Volumes"]) == {"/data"}
    ports = {"10000/tcp", "10001/tcp", "10002/tcp", "10003/tcp", "10080/tcp", "10445/tcp"}
    assert set(config["ExposedPorts"]) == ports
    assert config["Healthcheck"]["Test"] == ["CMD", "zaffre", "health"]
    assert os.stat(root / "data").st_uid == 10_000


def test_it_serves_and_is_healthy(image):
    config, root = image
    assert "ZAFFRE_CONSOLE_PORT=10080" in config["Env"]
    command = inside(root, config, *config["Cmd"], *ANY_PORTS)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()
    try:
        deadline = time.monotonic() + 30
        while not any("Connection string" in line for line in lines):
            assert process.poll() is None and time.monotonic() < deadline, "".join(lines)
            time.sleep(0.02)
        ports = {found[1]: found[4] for line in lines if (found := READY.search(line))}
        assert set(ports) == {"Blob", "Queue", "Table", "File", "SMB"}
        console = next(found[1] for line in lines if (found := CONSOLE.search(line)))
        check = [*config["Healthcheck"]["Test"][1:], "--console", console]
        while True:
            asked = subprocess.run(inside(root, config, *check), capture_output=True, text=True)
            if asked.returncode == 0:
                break
            assert time.monotonic() < deadline, asked.stderr
        assert asked.stdout == "ok\n"
        url = f"http://127.0.0.1:{ports['Blob']}/{DEV_ACCOUNT}"
        container = BlobServiceClient(url, credential=DEV_KEY).create_container("inside")
        container.upload_blob("b", b"from a container")
        assert container.download_blob("b").readall() == b"from a container"
        assert (root / "data" / "FORMAT").exists()
    finally:
        process.terminate()
        assert process.wait(20) == 0
    asked = subprocess.run(inside(root, config, *check), capture_output=True, text=True, timeout=30)
    assert asked.returncode == 1


@pytest.mark.parametrize("name", PARTS)
def test_its_names(image, name):
    config, root = image
    done = subprocess.run(inside(root, config, name, "--version"), capture_output=True, text=True)
    assert re.match(r"zaffre \d+\.\d+\.\d+ ", done.stdout), done.stderr
