"""Running: TLS, graceful shutdown, logs without secrets, the development connection string."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from program import run

from harness import DEV_ACCOUNT, DEV_KEY, Client, Server, service_sas
from harness.certificate import certificate
from harness.server import ANY_PORTS
from harness.wire import parse_responses

ENVIRONMENT = Path(__file__).resolve().parents[3] / "target" / "test-env"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


def over_tls(server: Server, files) -> None:
    assert server.scheme == "https", "the readiness line says https"
    client = Client(f"https://127.0.0.1:{server.port}", ca_file=str(files["cert.pem"]))
    client.create_container("tls")
    client.put("/tls/b", b"x" * 3_000_000).expect(201)
    assert client.get("/tls/b").expect(200).body == b"x" * 3_000_000
    only = service_sas("tls", "b", protocol="https")
    assert client.get("/tls/b", query=only, auth="none").expect(200).body


def test_tls_with_pem(files):
    with Server("--cert", str(files["cert.pem"]), "--key", str(files["key.pem"])) as server:
        over_tls(server, files)


def test_tls_with_pfx(files):
    with Server("--cert", str(files["both.pfx"]), "--pwd", "open sesame") as server:
        over_tls(server, files)


def test_tls_through_the_sdk(files):
    from azure.storage.blob import BlobServiceClient

    with Server("--cert", str(files["cert.pem"]), "--key", str(files["key.pem"])) as server:
        service = BlobServiceClient(
            f"{server.url}/{DEV_ACCOUNT}",
            credential={"account_name": DEV_ACCOUNT, "account_key": DEV_KEY},
            connection_verify=str(files["cert.pem"]),
            retry_total=0,
        )
        box = service.create_container("sdk")
        box.upload_blob("b", b"over tls")
        assert box.download_blob("b").readall() == b"over tls"


def test_plain_request_to_a_tls_port(files):
    with Server("--cert", str(files["cert.pem"]), "--key", str(files["key.pem"])) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"HTTP/1.1 2" not in sock.recv(4096)
        over_tls(server, files)


@pytest.mark.parametrize(
    "flags",
    [
        ("--cert", "{cert.pem}"),
        ("--cert", "{missing}", "--key", "{key.pem}"),
        ("--cert", "{cert.pem}", "--key", "{missing}"),
        ("--cert", "{key.pem}", "--key", "{cert.pem}"),
        ("--cert", "{both.pfx}", "--pwd", "wrong password"),
        ("--cert", "{both.pfx}", "--key", "{key.pem}"),
    ],
    ids=["no key", "no such cert", "no such key", "swapped", "wrong password", "pfx as pem"],
)
def test_bad_certificates_are_explained(files, tmp_path, flags):
    names = {f"{{{name}}}": str(path) for name, path in files.items()}
    names["{missing}"] = str(tmp_path / "missing.pem")
    flags = [names.get(flag, flag) for flag in flags]
    done = run(*ANY_PORTS, "--location", str(tmp_path), *flags, cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "panicked" not in said
    assert "open sesame" not in said and "wrong password" not in said, "a password was shown"
    assert "cert" in said.lower() or "key" in said.lower(), said


def upload_head(client: Client, path: str, length: int) -> bytes:
    target = client.prefix + path
    headers = client.signed_headers(
        "PUT", target, "", {"x-ms-blob-type": "BlockBlob"}, length=length
    )
    lines = [f"PUT {target} HTTP/1.1", f"Host: {client.host}:{client.port}"]
    lines += [f"{n}: {v}" for n, v in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_shutdown_finishes_an_upload_in_flight(sign):
    with Server() as server:
        client = Client(server.url)
        client.create_container("flight")
        with socket.create_connection((server.host, server.port), timeout=15) as sock:
            sock.sendall(upload_head(client, "/flight/b", 200_000) + b"x" * 100_000)
            time.sleep(0.3)
            server.process.send_signal(sign)
            time.sleep(0.5)
            assert server.alive(), "it must wait for the upload"
            with pytest.raises(OSError):
                socket.create_connection((server.host, server.port), timeout=2).close()
            sock.sendall(b"y" * 100_000)
            answer = b""
            while not parse_responses(answer)[0]:
                chunk = sock.recv(65536)
                assert chunk, f"cut off: {answer!r}"
                answer += chunk
        assert parse_responses(answer)[0][0].status == 201
        assert server.process.wait(20) == 0
        server.start()
        got = Client(server.url).get("/flight/b").expect(200)
        assert got.body == b"x" * 100_000 + b"y" * 100_000


def test_shutdown_finishes_a_download_in_flight():
    size = 64 * 1024 * 1024
    with Server() as server:
        client = Client(server.url)
        client.create_container("flight")
        client.put("/flight/b", b"z" * size).expect(201)
        got = []

        def download() -> None:
            got.append(len(Client(server.url).get("/flight/b").body))

        thread = threading.Thread(target=download)
        thread.start()
        time.sleep(0.02)
        code = server.stop()
        thread.join()
        assert code == 0
        assert got == [size]


def test_idle_connections_do_not_delay_shutdown():
    with Server() as server:
        client = Client(server.url)
        client.get("/", query="comp=list").expect(200)
        idle = [socket.create_connection((server.host, server.port)) for _ in range(5)]
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 5
        for sock in idle:
            sock.close()


def test_a_stuck_client_does_not_hold_shutdown_for_ever():
    """A body that never comes is given up on after a while."""
    with Server() as server:
        client = Client(server.url)
        client.create_container("stuck")
        with socket.create_connection((server.host, server.port)) as sock:
            sock.sendall(upload_head(client, "/stuck/b", 100) + b"x")
            time.sleep(0.2)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(60)
            assert time.monotonic() - began < 60


def test_no_secret_in_the_logs(tmp_path):
    """Everything that could leak goes through the server; none of it is in any output."""
    log = tmp_path / "debug.log"
    secret_key = "c2VjcmV0IGtleSB0aGF0IG11c3Qgbm90IGJlIGxvZ2dlZCE="
    environment = {"AZURITE_ACCOUNTS": f"secrets:{secret_key}", "ZAFFRE_LOG": "trace"}
    signatures = []
    with Server("--debug", str(log), env=environment) as server:
        client = Client(server.url, "secrets", secret_key)
        client.create_container("abc")
        client.put("/abc/b", b"x").expect(201)
        sas = service_sas("abc", "b", account="secrets", key=secret_key)
        signatures.append(sas.split("sig=")[1])
        client.get("/abc/b", query=sas, auth="none").expect(200)
        client.get("/abc/b", query=sas + "x", auth="none").expect(403)
        client.get("/abc/c", query=sas, auth="none").expect(403)
        sent = client.signed_headers("GET", "/secrets/abc/b", "", {})
        signatures.append(sent["Authorization"].split(":", 1)[1])
        client.get("/abc/b", {**sent, "x-ms-meta-a": "tampered"}, auth="none").expect(403)
        wrong = Client(server.url, "secrets", "d3Jvbmcga2V5IG9mIHNvbWVib2R5IGVsc2U=")
        refused = wrong.get("/abc/b").expect(403, "AuthenticationFailed")
        assert secret_key.encode() not in refused.body
        client.send("GET", "/abc/b", "", {"Authorization": f"Basic {secret_key}"}, auth="none")
        server.stop()
        said = server.output()
    assert log.exists() and log.stat().st_size > 0, "--debug writes a log"
    text = log.read_text(errors="replace")
    assert "/abc/b" in text, "the log says what was asked"
    from urllib.parse import unquote

    for place, content in (("debug log", text), ("output", said)):
        # The start-up text may show the connection string; a configured key is not for show.
        assert secret_key not in content, f"the key is in the {place}"
        for signature in signatures:
            assert signature not in content, f"a signature is in the {place}"
            assert unquote(signature) not in content, f"a signature is in the {place}"
        assert "d3Jvbmcga2V5" not in content


def test_log_lines_cannot_be_forged(tmp_path):
    """A newline in a URL or header value does not start a line of its own."""
    log = tmp_path / "debug.log"
    with Server("--debug", str(log)) as server:
        client = Client(server.url)
        client.get("/abc/b%0AFORGED%20LINE", auth="none")
        client.get("/abc/b", {"User-Agent": "x\tFORGED"}, auth="none")
        server.stop()
    lines = log.read_text(errors="replace").splitlines()
    assert not [line for line in lines if line.startswith("FORGED")]


def node_with_client() -> tuple[str, Path]:
    runtime = ENVIRONMENT / "node-runtime" / "node_modules"
    own = sorted(runtime.glob("node-linux-*/bin/node")) if runtime.exists() else []
    return str(own[0]) if own else shutil.which("node") or "", ENVIRONMENT / "node"


def wait_for_default_port() -> None:
    deadline = time.monotonic() + 30
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", 10000)) != 0:
                return
        assert time.monotonic() < deadline, "port 10000 is taken on this machine"
        time.sleep(1)


def readme_example(language: str) -> str:
    """The example of that language in README.md, exactly as it is written there."""
    text = (Path(__file__).parents[3] / "README.md").read_text()
    found = re.findall(rf"```{language} run\n(.*?)```", text, re.DOTALL)
    assert len(found) == 1, f"README.md has {len(found)} examples in {language}"
    return found[0]


@pytest.mark.parametrize("language", ["python", "js"])
def test_readme_examples(tmp_path, language):
    """What a newcomer copies works on the default port; js also shows UseDevelopmentStorage."""
    wait_for_default_port()
    node, folder = node_with_client()
    program = {"python": [sys.executable, "-c"], "js": [node, "-e"]}[language]
    with Server(port=10000) as server:
        assert server.port == 10000
        done = subprocess.run(
            [*program, readme_example(language)], cwd=folder,
            capture_output=True, text=True, timeout=60,
            env={k: v for k, v in os.environ.items() if not k.startswith("AZURE")},
        )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "greeting.txt" in said and "Hello, world!" in said, said
