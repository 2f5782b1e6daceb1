"""The console: what Prometheus reads, and what orchestrators ask."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import urllib.error
import urllib.request

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ShareServiceClient
from smb import SmbFile

from harness import DEV_ACCOUNT, DEV_KEY, Server
from harness.server import ANY_PORTS, server_command

LINE = re.compile(r'^([a-z_]+)(\{([a-z_]+="(?:[^"\\]|\\.)*",?)+\})? [0-9.]+$')
FAMILIES = {
    "zaffre_build_info": "gauge",
    "zaffre_uptime_seconds": "gauge",
    "zaffre_ready": "gauge",
    "zaffre_connections": "gauge",
    "zaffre_file_handles": "gauge",
    "zaffre_leases_held": "gauge",
    "zaffre_panics_total": "counter",
    "zaffre_requests_total": "counter",
    "zaffre_request_duration_seconds": "histogram",
    "zaffre_errors_total": "counter",
    "zaffre_conflicts_total": "counter",
    "zaffre_retries_total": "counter",
    "zaffre_store_failed": "gauge",
    "zaffre_commit_batch_transactions": "histogram",
    "zaffre_sync_duration_seconds": "histogram",
    "zaffre_store_bytes": "gauge",
}


def get(server, path: str, method: str = "GET") -> tuple[int, str, object]:
    request = urllib.request.Request(server.console_url + path, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(), refused.headers


def metrics(server) -> dict[str, float]:
    lines = get(server, "/metrics")[1].splitlines()
    values = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in values}


def grown(server, act) -> dict[str, float]:
    before = metrics(server)
    act()
    after = metrics(server)
    return {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}


def test_the_page_is_what_prometheus_reads(server):
    status, text, headers = get(server, "/metrics")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    assert types == FAMILIES
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.match(line), line
    assert text.endswith("\n")


def test_requests_and_times_are_counted(server, blobs, name):
    container = blobs.get_container_client(name)

    def act():
        container.create_container()
        for _ in range(3):
            container.upload_blob("b", b"x", overwrite=True)
        with pytest.raises(HttpResponseError):
            container.get_blob_client("none").download_blob()

    more = grown(server, act)
    count = 'zaffre_requests_total{service="blob",operation="%s",status="%s"}'
    assert more[count % ("CreateContainer", 201)] == 1
    assert more[count % ("PutBlob", 201)] == 3
    assert more[count % ("GetBlob", 404)] == 1
    labels = '{service="blob",operation="PutBlob"}'
    assert more["zaffre_request_duration_seconds_count" + labels] == 3
    assert 0 < more["zaffre_request_duration_seconds_sum" + labels] < 60
    infinite = 'zaffre_request_duration_seconds_bucket{service="blob",operation="PutBlob",le="+Inf"}'
    assert more[infinite] == 3
    assert more['zaffre_errors_total{service="blob",code="BlobNotFound",status="404"}'] == 1
    assert more["zaffre_commit_batch_transactions_count"] >= 1
    assert more['zaffre_sync_duration_seconds_count{file="journal"}'] >= 1


def test_conflicts_are_counted_by_kind(server, blobs, queues, tables, name):
    container = blobs.get_container_client(name)
    container.create_container()
    blob = container.get_blob_client("b")
    blob.upload_blob(b"1")
    table = tables.create_table(f"t{name}")
    queues.create_queue(f"q{name}")

    def act():
        stale = {"etag": '"0x1"', "match_condition": MatchConditions.IfNotModified}
        with pytest.raises(HttpResponseError):
            blob.upload_blob(b"2", overwrite=True, **stale)
        lease = blob.acquire_lease(15)
        with pytest.raises(HttpResponseError):
            blob.upload_blob(b"3", overwrite=True)
        with pytest.raises(HttpResponseError):
            blob.acquire_lease(15)
        lease.release()
        with pytest.raises(HttpResponseError):
            container.create_container()
        entity = {"PartitionKey": "p", "RowKey": "r"}
        table.create_entity(entity)
        with pytest.raises(HttpResponseError):
            table.update_entity(entity, etag='W/"x"', match_condition=MatchConditions.IfNotModified)
        with pytest.raises(HttpResponseError):
            queues.create_queue(f"q{name}", metadata={"other": "than before"})

    more = grown(server, act)
    kinds = {k: v for k, v in more.items() if k.startswith("zaffre_conflicts_total")}
    conflict = 'zaffre_conflicts_total{service="%s",kind="%s"}'
    assert kinds == {
        conflict % ("blob", "condition_412"): 1,
        conflict % ("blob", "lease_412"): 1,
        conflict % ("blob", "lease_409"): 1,
        conflict % ("blob", "exists_409"): 1,
        conflict % ("table", "condition_412"): 1,
        conflict % ("queue", "exists_409"): 1,
    }


def test_leases_that_are_held(server, blobs, name):
    held = 'zaffre_leases_held{on="%s"}'
    before = metrics(server)
    container = blobs.get_container_client(name)
    container.create_container()
    first = container.upload_blob("a", b"1").acquire_lease(-1)
    container.upload_blob("b", b"2").acquire_lease(60)
    container.upload_blob("c", b"3").acquire_lease(60)
    whole = container.acquire_lease(-1)
    now = metrics(server)
    assert now[held % "blob"] - before[held % "blob"] == 3
    assert now[held % "container"] - before[held % "container"] == 1
    first.release()
    container.get_blob_client("b").get_blob_properties()
    assert metrics(server)[held % "blob"] - before[held % "blob"] == 2
    container.delete_container(lease=whole)
    now = metrics(server)
    assert (now[held % "blob"], now[held % "container"]) == (
        before[held % "blob"], before[held % "container"])  # fmt: skip


def test_files_that_are_open_and_leased(server, name):
    account = f"{server.file_url}/{DEV_ACCOUNT}"
    share = ShareServiceClient(account, credential=DEV_KEY).create_share(name)
    file = share.get_file_client("f")
    file.upload_file(b"1")
    before = metrics(server)
    smb = SmbFile("127.0.0.1", server.ports["SMB"], DEV_ACCOUNT, DEV_KEY, name, "f")
    smb.open(shared=False)
    assert metrics(server)["zaffre_file_handles"] - before["zaffre_file_handles"] == 1
    with pytest.raises(HttpResponseError):
        file.download_file()
    smb.end()
    conflict = 'zaffre_conflicts_total{service="file",kind="sharing_409"}'
    assert metrics(server)[conflict] - before.get(conflict, 0) == 1
    assert metrics(server)["zaffre_file_handles"] == before["zaffre_file_handles"]
    held = 'zaffre_leases_held{on="%s"}'
    lease = file.acquire_lease()
    renamed = file.rename_file("g", source_lease=lease)
    whole = share.acquire_lease()
    now = metrics(server)
    assert now[held % "file"] - before[held % "file"] == 1
    assert now[held % "share"] - before[held % "share"] == 1
    renamed.delete_file(lease=lease.id)
    share.delete_share(lease=whole)
    now = metrics(server)
    assert (now[held % "file"], now[held % "share"]) == (
        before[held % "file"], before[held % "share"])  # fmt: skip


def test_leases_run_out(server, blobs, controls, name):
    held = 'zaffre_leases_held{on="blob"}'
    container = blobs.create_container(name)
    container.upload_blob("b", b"1").acquire_lease(15)
    assert metrics(server)[held] >= 1
    controls.advance("61s")
    assert metrics(server)[held] == 0


def test_requests_that_are_sent_again_are_counted(server, client, name):
    """As the JavaScript client does it; the one for Python takes a new id each time."""

    def send(identity: str, path: str) -> None:
        headers = {"x-ms-client-request-id": identity}
        client.send("HEAD", path, query={"restype": "container"}, headers=headers).expect(404)

    def act():
        for identity, path in [("1", f"/{name}"), ("2", f"/{name}"), ("1", f"/{name}x")]:
            send(identity, path)
        send("2", f"/{name}")
        send("2", f"/{name}")

    more = grown(server, act)
    assert more['zaffre_retries_total{service="blob"}'] == 2


def test_what_never_became_an_operation_is_counted_too(server):
    def act():
        with socket.create_connection((server.host, server.port)) as tcp:
            tcp.sendall(b"GET /%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            while tcp.recv(4096):
                pass

    more = grown(server, act)
    assert more['zaffre_requests_total{service="blob",operation="Unknown",status="400"}'] == 1


def test_the_store_is_measured(server, blobs, name):
    container = blobs.get_container_client(name)
    container.create_container()
    container.upload_blob("large", bytes(8 << 20))
    values = metrics(server)
    assert values['zaffre_store_bytes{file="segment"}'] >= 8 << 20
    assert values['zaffre_store_bytes{file="metadata"}'] > 0
    assert values['zaffre_store_bytes{file="journal"}'] > 0
    assert values['zaffre_sync_duration_seconds_count{file="segment"}'] >= 1
    assert values["zaffre_ready"] == 1 and values["zaffre_store_failed"] == 0


def test_concurrent_clients_lose_no_count(server, blobs, name):
    container = blobs.get_container_client(name)
    container.create_container()

    def work(number: int):
        for turn in range(25):
            container.upload_blob(f"{number}-{turn}", b"x")

    def act():
        workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    more = grown(server, act)
    assert more['zaffre_requests_total{service="blob",operation="PutBlob",status="201"}'] == 200


def test_health(server):
    for path in ("/healthz", "/readyz"):
        assert get(server, path)[:2] == (200, "ok\n")
        assert get(server, path, "HEAD")[0] == 200
        assert get(server, path, "POST")[0] == 405
    assert "/metrics" in get(server, "/")[1]
    assert get(server, "/nothing")[0] == 404
    assert get(server, "/metrics")[2]["Server"] == "zaffre"


def test_a_console_can_be_refused_and_moved(tmp_path):
    with Server() as server:
        assert get(server, "/test/clock")[0] == 404, "test controls are off unless asked for"
        port = server.console_url.rsplit(":", 1)[1]
        command = [*server_command(), *ANY_PORTS[:6], "--consolePort", port, "-l", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert done.returncode == 1
        assert "another program uses this port" in done.stderr and "--consolePort" in done.stderr


@pytest.mark.parametrize("flags", [("--blobHost", "0.0.0.0"), ("--consoleHost", "0.0.0.0")])
def test_controls_stay_on_this_machine(tmp_path, flags):
    base = [*server_command(), *ANY_PORTS, "-l", str(tmp_path), "--developmentAccount", *flags]
    done = subprocess.run(
        [*base, "--test-controls"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 1
    assert "--test-controls-anywhere" in done.stderr
    with Server(
        "--developmentAccount", *flags, "--test-controls", "--test-controls-anywhere"
    ) as server:
        server.console_url = server.console_url.replace("0.0.0.0", "127.0.0.1")
        assert get(server, "/test/clock")[0] == 200
