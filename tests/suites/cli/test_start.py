"""Starting: readiness lines, help, directories, ports, accounts; clear words when it cannot."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import time
from urllib.parse import urlsplit

import pytest
from program import run

from harness import (
    DEV_ACCOUNT,
    DEV_KEY,
    Client,
    Server,
    SpawnFailed,
    server_command,
    temp_dir,
)
from harness.server import ANY_PORTS, READY

KEY_1 = "a2V5IG51bWJlciBvbmUgb2YgdGhlIGZpcnN0IGFjY291bnQ="
KEY_2 = "a2V5IG51bWJlciB0d28gb2YgdGhlIGZpcnN0IGFjY291bnQ="


def refused(*args: str, cwd, env=None, user=None) -> str:
    """The program ends with a failure and says why; returns what it said."""
    done = run(*args, cwd=cwd, env=env, user=user)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert said.strip(), "ended without a word"
    assert "panicked" not in said, said
    assert "successfully listening" not in said
    return said


def test_readiness_line_is_exact():
    with Server() as server:
        line = f"Azurite Blob service is successfully listening at http://127.0.0.1:{server.port}"
        assert line in server.stdout, "on stdout, alone on its line"
        port = server.ports["Queue"]
        line = f"Azurite Queue service is successfully listening at http://127.0.0.1:{port}"
        assert line in server.stdout, "on stdout, alone on its line"
        # It is printed when requests are answered, not before.
        Client(server.url).get("/", query="comp=list").expect(200)


def test_silent_keeps_the_readiness_line():
    with Server("--silent") as server:
        assert any("successfully listening" in line for line in server.stdout)
    with Server("-s") as server:
        assert any("successfully listening" in line for line in server.stdout)


def test_start_shows_a_connection_string_that_works():
    with Server() as server:
        time.sleep(0.2)
        match = re.search(r"DefaultEndpointsProtocol=\S+", server.output())
        assert match, server.output()
        parts = dict(p.split("=", 1) for p in match[0].split(";") if p)
        endpoint = urlsplit(parts["BlobEndpoint"])
        assert endpoint.path == f"/{parts['AccountName']}"
        shown = Client(
            f"{endpoint.scheme}://{endpoint.netloc}", parts["AccountName"], parts["AccountKey"]
        )
        shown.get("/", query="comp=list").expect(200)


def test_shutdown_lines():
    server = Server().start()
    assert server.stop() == 0
    assert "Azurite Blob service is closing..." in server.stdout
    assert "Azurite Blob service successfully closed" in server.stdout
    server.close()


def test_help(tmp_path):
    for flag in ("--help", "-h"):
        done = run(flag, cwd=tmp_path)
        assert done.returncode == 0
        for option in (
            "--blobHost", "--blobPort", "--blobKeepAliveTimeout", "--location", "--silent",
            "--debug", "--loose", "--cert", "--key", "--pwd", "--oauth", "--skipApiVersionCheck",
            "--disableProductStyleUrl", "--inMemoryPersistence", "--extentMemoryLimit",
            "--disableTelemetry", "--queuePort", "--tablePort", "--filePort", "--smbPort",
            "--consolePort", "--containerDeleteDelay", "AZURITE_ACCOUNTS",
        ):  # fmt: skip
            assert option in done.stdout, option
        assert max(map(len, done.stdout.splitlines())) <= 100
    assert not list(tmp_path.iterdir()), "asking for help leaves nothing behind"


def test_version(tmp_path):
    for flag in ("--version", "-v"):
        done = run(flag, cwd=tmp_path)
        assert done.returncode == 0
        assert re.search(r"\d+\.\d+\.\d+", done.stdout)


def test_unknown_flag(tmp_path):
    assert "--nonsense" in refused("--nonsense", cwd=tmp_path)


@pytest.mark.parametrize("port", ["-1", "65536", "abc"])
def test_bad_port(tmp_path, port):
    refused(f"--blobPort={port}", cwd=tmp_path)


def test_all_of_azurites_flags_are_taken():
    with Server(
        "--loose", "--skipApiVersionCheck", "--disableTelemetry", "--blobKeepAliveTimeout", "7",
        "--blobHost", "127.0.0.1", "--queueHost", "127.0.0.1",
        "--tableHost", "127.0.0.1", "--queueKeepAliveTimeout", "5",
        "--tableKeepAliveTimeout", "5", "--disableProductStyleUrl",
    ) as server:  # fmt: skip
        answer = Client(server.url).get("/", query="comp=list").expect(200)
        assert "timeout=7" in answer.headers.get("keep-alive", "timeout=7")


@contextlib.contextmanager
def spawned(*args: str, cwd):
    """The program with exactly these flags and port 0; yields its address."""
    command = [*server_command(), *ANY_PORTS, *args]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
    try:
        found = next((m for m in map(READY.search, process.stdout) if m), None)
        assert found, "ended before it was ready"
        yield f"{found[2]}://{found[3]}:{found[4]}"
    finally:
        process.terminate()
        code = process.wait(20)
        process.stdout.close()
    assert code == 0


def test_default_directory(tmp_path):
    with spawned(cwd=tmp_path):
        assert (tmp_path / "zaffre-data").is_dir()


def test_missing_directory_is_made(tmp_path):
    deep = tmp_path / "a" / "b"
    with spawned("--location", str(deep), cwd=tmp_path) as url:
        assert deep.is_dir()
        Client(url).get("/", query="comp=list").expect(200)


def test_second_instance_on_the_same_directory(tmp_path):
    with Server(location=str(tmp_path)) as first:
        Client(first.url).create_container("kept")
        said = refused(*ANY_PORTS, "--location", str(tmp_path), cwd=tmp_path)
        assert str(tmp_path) in said
        assert re.search(r"(another|already|in use|locked)", said), said
        Client(first.url).head("/kept", query="restype=container").expect(200)
    # When the first is gone the directory is free, killed or not.
    with Server(location=str(tmp_path)) as again:
        Client(again.url).head("/kept", query="restype=container").expect(200)


def test_port_in_use(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("--blobPort", str(port), *ANY_PORTS[2:], "--location", str(tmp_path), cwd=tmp_path)
    assert str(port) in said
    assert "--blobPort" in said, "says what to do"


def test_location_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    said = refused(*ANY_PORTS, "--location", str(tmp_path / "file"), cwd=tmp_path)
    assert str(tmp_path / "file") in said


def test_read_only_directory(tmp_path):
    """As somebody who may not write there; root may write everywhere, so it steps down."""
    with temp_dir() as folder:
        os.chmod(folder, 0o555)
        user = 65534 if os.geteuid() == 0 else None
        said = refused(*ANY_PORTS, "--location", folder, cwd="/", user=user)
        assert folder in said
        os.chmod(folder, 0o755)


def test_foreign_data_directory(tmp_path):
    """A directory with something else in it is not silently taken over or damaged."""
    (tmp_path / "important.txt").write_text("do not touch")
    try:
        with Server(location=str(tmp_path)) as server:
            Client(server.url).create_container("abc")
    except SpawnFailed:
        pass
    assert (tmp_path / "important.txt").read_text() == "do not touch"


def test_in_memory():
    with temp_dir() as folder:
        refused(*ANY_PORTS, "--inMemoryPersistence", "--location", folder, cwd=folder)
        refused(*ANY_PORTS, "--extentMemoryLimit", "10", cwd=folder)


def test_in_memory_leaves_nothing(tmp_path):
    with spawned("--inMemoryPersistence", cwd=tmp_path) as url:
        client = Client(url)
        client.create_container("abc")
        client.put("/abc/b", b"x" * 100_000).expect(201)
        assert len(client.get("/abc/b").body) == 100_000
    assert list(tmp_path.iterdir()) == []


def test_in_memory_limit(tmp_path):
    """Data beyond the limit is refused; what is there stays readable."""
    arguments = ("--inMemoryPersistence", "--extentMemoryLimit", "8")
    with spawned(*arguments, cwd=tmp_path) as url:
        client = Client(url)
        client.create_container("abc")
        client.put("/abc/small", b"x" * 1_000_000).expect(201)
        big = client.put("/abc/big", b"x" * 20_000_000)
        big.expect(409, "MemoryExtentStoreAtSizeLimit")
        assert len(client.get("/abc/small").expect(200).body) == 1_000_000


def test_accounts_from_the_environment():
    accounts = f"first:{KEY_1}:{KEY_2};second:{KEY_2}"
    with Server(env={"AZURITE_ACCOUNTS": accounts}) as server:
        for account, key in (("first", KEY_1), ("first", KEY_2), ("second", KEY_2)):
            Client(server.url, account, key).get("/", query="comp=list").expect(200)
        Client(server.url, "second", KEY_1).get("/", query="comp=list").expect(
            403, "AuthenticationFailed"
        )
        # The development account is off when accounts are given.
        gone = Client(server.url).get("/", query="comp=list")
        assert gone.status in (403, 404), gone
        # Accounts do not see each other.
        Client(server.url, "first", KEY_1).create_container("mine")
        other = Client(server.url, "second", KEY_2)
        other.head("/mine", query="restype=container").expect(404)
        other.create_container("mine")


@pytest.mark.parametrize(
    "text",
    ["nonsense", ":", ";", "a:", f":{KEY_1}", "acc:not base64!", "a:b:c:d:e", f"UPPER:{KEY_1}"],
)
def test_malformed_accounts_fall_back_to_the_default(text):
    with Server(env={"AZURITE_ACCOUNTS": text}) as server:
        Client(server.url).get("/", query="comp=list").expect(200)


def test_accounts_from_a_config_file(tmp_path):
    config = tmp_path / "accounts"
    config.write_text(f"# two keys\nfirst = {KEY_1}, {KEY_2}\n\nsecond = {KEY_2}\n")
    config.chmod(0o600)
    with Server("--config", str(config)) as server:
        for account, key in (("first", KEY_1), ("first", KEY_2), ("second", KEY_2)):
            Client(server.url, account, key).get("/", query="comp=list").expect(200)


def test_missing_config_file(tmp_path):
    said = refused(*ANY_PORTS, "--config", str(tmp_path / "none"), cwd=tmp_path)
    assert str(tmp_path / "none") in said


def test_development_account_stays_on_loopback(tmp_path):
    said = refused(*ANY_PORTS, "--blobHost", "0.0.0.0", "--location", str(tmp_path),
                   cwd=tmp_path)  # fmt: skip
    assert DEV_KEY not in said


def test_disable_product_style_url():
    """The account comes from the path whatever the host is called."""
    with Server("--disableProductStyleUrl") as server:
        client = Client(server.url, host_header="storage.example.com")
        client.prefix = f"/{DEV_ACCOUNT}"
        client.get("/", query="comp=list").expect(200)


def test_container_delete_delay():
    with Server("--containerDeleteDelay", "2") as server:
        client = Client(server.url)
        client.create_container("waiting")
        client.put("/waiting/b", b"x").expect(201)
        client.send("DELETE", "/waiting", "restype=container").expect(202)
        again = client.send("PUT", "/waiting", "restype=container")
        again.expect(409, "ContainerBeingDeleted")
        client.head("/waiting", query="restype=container").expect(404, "ContainerNotFound")
        client.put("/waiting/b", b"x").expect(404, "ContainerNotFound")
        time.sleep(2.2)
        client.create_container("waiting")
        client.head("/waiting/b").expect(404, "BlobNotFound")


def test_fixed_port_is_used(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Server(port=port) as server:
        assert server.port == port
        server.stop()
        server.start()
        assert server.port == port, "free again at once"
