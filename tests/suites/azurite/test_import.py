"""A folder that the real Azurite wrote, moved in and compared through the SDKs."""

from __future__ import annotations

import base64
import datetime
import math
import os
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from azure.core.exceptions import HttpResponseError
from azure.data.tables import EdmType, EntityProperty, TableServiceClient
from azure.storage.blob import (
    AccessPolicy,
    BlobBlock,
    BlobServiceClient,
    ContainerSasPermissions,
    ContentSettings,
    PublicAccess,
)
from azure.storage.queue import AccessPolicy as QueueAccessPolicy
from azure.storage.queue import QueueSasPermissions, QueueServiceClient

from harness import DEV_ACCOUNT, DEV_KEY, Server
from harness.server import server_command

AZURITE = Path(__file__).resolve().parents[3] / "target" / "test-env" / "azurite" / "node_modules"
START = datetime.datetime(2026, 1, 1)
LATER = START + datetime.timedelta(days=3650)
LEASE = str(uuid.UUID(int=5))


def connection(blob: str, queue: str, table: str) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"BlobEndpoint={blob}/{DEV_ACCOUNT};QueueEndpoint={queue}/{DEV_ACCOUNT};"
        f"TableEndpoint={table}/{DEV_ACCOUNT};"
    )


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Azurite:
    """The real one, on a folder."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports(3)
        node = next(AZURITE.glob("node-linux-*/bin/node"))
        flags = [f"--{name}Port={port}" for name, port in zip(("blob", "queue", "table"), ports)]
        command = [node, AZURITE / "azurite/dist/src/azurite.js", "-l", folder, *flags,
                   "--silent", "--skipApiVersionCheck", "--disableTelemetry"]  # fmt: skip
        self.process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, text=True, cwd=folder
        )
        listening = 0
        for line in self.process.stdout:
            listening += "successfully listen" in line
            if listening == 3:
                break
        assert listening == 3, "Azurite did not start"
        self.connection = connection(*(f"http://127.0.0.1:{port}" for port in ports))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)


def block_id(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def fill_blobs(text: str) -> None:
    service = BlobServiceClient.from_connection_string(text)
    container = service.create_container("first", metadata={"Owner": "me"})
    policy = AccessPolicy(ContainerSasPermissions(read=True, list=True), LATER, START)
    container.set_container_access_policy({"readers": policy}, public_access=PublicAccess.BLOB)
    settings = ContentSettings("text/plain", "identity", "de", "inline", "no-cache")
    container.upload_blob(
        "folder/small é +%.txt", b"hello", metadata={"Key": "Value", "other": "2"},
        content_settings=settings, tags={"a": "1", "b c": "2/+"},
    )  # fmt: skip
    container.upload_blob("nothing", b"")
    container.upload_blob("large", os.urandom(3 << 20))
    blob = container.get_blob_client("blocks.bin")
    for name, data in (("0", b"x" * 100_000), ("1", b"y" * 5), ("2", b"z" * 300_000)):
        blob.stage_block(block_id(name), data)
    order = [BlobBlock(block_id(name)) for name in ("2", "0", "1")]
    blob.commit_block_list(order, metadata={"made": "of blocks"})
    blob.set_standard_blob_tier("Cool")
    blob.stage_block(block_id("u"), b"not committed")
    container.get_blob_client("only-staged").stage_block(block_id("a"), b"AAA")
    pages = container.get_blob_client("pages")
    pages.create_page_blob(16 << 20, sequence_number=7, metadata={"p": "1"})
    pages.upload_page(b"p" * 1024, offset=512, length=1024)
    pages.upload_page(os.urandom(4 << 20), offset=1 << 20, length=4 << 20)
    pages.upload_page(b"q" * 512, offset=5 << 20, length=512)
    pages.clear_page(offset=512, length=512)
    append = container.get_blob_client("append")
    append.create_append_blob()
    append.append_block(b"one,")
    append.append_block(b"two")
    snapped = container.get_blob_client("snapped")
    snapped.upload_blob(b"oldest", metadata={"turn": "1"})
    snapped.create_snapshot()
    snapped.upload_blob(b"older", overwrite=True, metadata={"turn": "2"})
    snapped.create_snapshot()
    snapped.upload_blob(b"current", overwrite=True)
    leased = container.get_blob_client("leased")
    leased.upload_blob(b"l")
    leased.acquire_lease(-1, lease_id=LEASE)
    gone = container.get_blob_client("gone")
    gone.upload_blob(b"g")
    gone.delete_blob()
    service.create_container("empty")
    service.create_container("deleted").delete_container()


def fill_queues(text: str) -> None:
    service = QueueServiceClient.from_connection_string(text)
    queue = service.create_queue("jobs", metadata={"m": "v"})
    policy = QueueAccessPolicy(QueueSasPermissions(read=True), LATER, START)
    queue.set_queue_access_policy({"p": policy})
    for message in ("first", "<second> & é", ""):
        queue.send_message(message, time_to_live=86_400)
    queue.send_message("for ever", time_to_live=-1)
    queue.send_message("hidden", visibility_timeout=3600)
    queue.send_message("over", time_to_live=1)
    service.create_queue("no-messages")


def fill_tables(text: str) -> None:
    table = TableServiceClient.from_connection_string(text).create_table("people")
    table.create_entity({
        "PartitionKey": "p 1'é", "RowKey": "r-1", "S": "text é", "Empty": "", "I": -5,
        "L": EntityProperty(1 << 40, EdmType.INT64), "D": 1.5, "Whole": 2.0, "B": True,
        "G": uuid.UUID(int=9), "Bin": b"\x00\x01\xff", "Inf": float("inf"),
        "T": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.UTC),
    })  # fmt: skip
    for number in range(50):
        table.create_entity({"PartitionKey": "many", "RowKey": f"{number:03}", "N": number})


def joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges that touch as one: Azurite shows each write, we show what is written."""
    out: list[tuple[int, int]] = []
    for start, end in ranges:
        if out and out[-1][1] + 1 == start:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


class Expiry:
    """When a message expires: whole seconds are left to it when it is put anew, a moment later."""

    SHIFT_SECONDS = 15

    def __init__(self, when: datetime.datetime):
        self.seconds = math.inf if when.year == 9999 else when.timestamp()

    def __eq__(self, other):
        return self.seconds == other.seconds or (
            abs(self.seconds - other.seconds) <= self.SHIFT_SECONDS
        )

    def __repr__(self):
        return f"Expiry({self.seconds})"

    __hash__ = None


def described_blob(client, listed) -> dict:
    snapshot = client.get_blob_client(listed.name, snapshot=listed.snapshot)
    if listed.size is None or not (listed.snapshot or snapshot.exists()):
        staged = snapshot.get_block_list("uncommitted")[1]
        return {"staged": [(block.id, block.size) for block in staged]}
    got = snapshot.get_blob_properties()
    settings = got.content_settings
    said = {
        "content": snapshot.download_blob().readall(),
        "settings": (settings.content_type, settings.content_encoding, settings.content_language,
                     settings.content_disposition, settings.cache_control,
                     bytes(settings.content_md5 or b"")),
        "metadata": got.metadata,
        "kind": got.blob_type,
        "sequence": got.page_blob_sequence_number,
        "appended": got.append_blob_committed_block_count,
        "tier": (got.blob_tier, bool(got.blob_tier_inferred)) if got.blob_tier == "Cool" else None,
        "lease": (got.lease.state, got.lease.duration) if not listed.snapshot else None,
        "tags": snapshot.get_blob_tags() if not listed.snapshot else None,
    }  # fmt: skip
    if got.blob_type == "BlockBlob":
        lists = snapshot.get_block_list("all")
        said["blocks"] = [[(block.id, block.size) for block in each] for each in lists]
    if got.blob_type == "PageBlob":
        said["pages"] = joined([(r.start, r.end) for r in snapshot.list_page_ranges()])
    return said


def described(text: str) -> dict:
    """Everything that a client can see and that should be the same."""
    said: dict = {}
    blobs = BlobServiceClient.from_connection_string(text)
    for container in blobs.list_containers(include_metadata=True):
        client = blobs.get_container_client(container.name)
        policy = client.get_container_access_policy()
        policies = [(p.id, p.access_policy.permission, p.access_policy.start[:19],
                     p.access_policy.expiry[:19]) for p in policy["signed_identifiers"]]  # fmt: skip
        said[container.name] = (container.metadata or {}, policy["public_access"], policies)
        listing = client.list_blobs(include=["snapshots", "metadata", "uncommittedblobs"])
        for turn, listed in enumerate(listing):
            said[container.name, listed.name, turn] = described_blob(client, listed)
    queues = QueueServiceClient.from_connection_string(text)
    for queue in queues.list_queues(include_metadata=True):
        client = queues.get_queue_client(queue.name)
        messages = [(m.content, Expiry(m.expires_on)) for m in client.peek_messages(32)]
        said["queue", queue.name] = (
            queue.metadata or {},
            {k: (v.permission, v.start[:19]) for k, v in client.get_queue_access_policy().items()},
            messages,
        )
    tables = TableServiceClient.from_connection_string(text)
    for table in tables.list_tables():
        entities = tables.get_table_client(table.name).list_entities()
        said["table", table.name] = {(e["PartitionKey"], e["RowKey"]): dict(e) for e in entities}
    return said


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """(what Azurite showed, what we show, what the command said, the server)"""
    folder = tmp_path_factory.mktemp("azurite")
    data = tmp_path_factory.mktemp("zaffre") / "data"
    azurite = Azurite(folder)
    try:
        for fill in (fill_blobs, fill_queues, fill_tables):
            fill(azurite.connection)
        # One message is over by then.
        time.sleep(1.1)
        before = described(azurite.connection)
    finally:
        azurite.stop()
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    command = [*server_command(), "import", "azurite", str(folder), "--location", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert files == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with Server(location=str(data)) as server:
        after = described(connection(server.url, server.queue_url, server.table_url))
        yield before, after, done.stdout, server


def test_everything_is_there(moved):
    before, after, _, _ = moved
    assert list(before) == list(after)
    for key, want in before.items():
        assert after[key] == want, key
    assert len(before) >= 15


def test_the_command_says_what_it_moved(moved):
    said = moved[2]
    assert "containers: 2, " in said and "blobs: 9, " in said and "entities: 51, " in said
    assert "queues: 2, " in said and "messages: " in said and "problems: 0" in said


def test_a_lease_still_holds(moved):
    server = moved[3]
    service = BlobServiceClient.from_connection_string(
        connection(server.url, server.queue_url, server.table_url)
    )
    blob = service.get_blob_client("first", "leased")
    with pytest.raises(HttpResponseError):
        blob.upload_blob(b"x", overwrite=True)
    blob.upload_blob(b"x", overwrite=True, lease=LEASE)


def test_folders_that_are_not_azurites(tmp_path):
    done = subprocess.run(
        [*server_command(), "import", "azurite", str(tmp_path)], capture_output=True, text=True,
        cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1 and "there is no data of Azurite here" in done.stderr
    (tmp_path / "__azurite_db_blob__.json").write_text("{")
    done = subprocess.run(
        [*server_command(), "import", "azurite", str(tmp_path)], capture_output=True, text=True,
        cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1 and "is not what Azurite writes" in done.stderr
    assert not (tmp_path / "zaffre-data").exists()
