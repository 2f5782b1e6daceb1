"""Faults on purpose, and what the SDK's retries make of them."""

from __future__ import annotations

import subprocess
import time

import pytest
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.storage.blob import BlobServiceClient
from azure.storage.fileshare import ShareServiceClient
from azure.storage.queue import QueueServiceClient

from harness import DEV_ACCOUNT, DEV_KEY
from harness.server import server_command


@pytest.fixture
def container(blobs, name):
    container = blobs.get_container_client(name)
    container.create_container()
    return container


@pytest.fixture
def impatient(server, container):
    """The same container through a client that never tries again."""
    service = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=DEV_KEY, retry_total=0)
    return service.get_container_client(container.container_name)


@pytest.mark.parametrize("action", ["busy", "internal", "reset"])
def test_the_sdk_tries_again(controls, container, action):
    rule = {"service": "blob", "operation": "PutBlob", "container": container.container_name}
    controls.add_fault(action, times=2, **rule)
    container.upload_blob("b", b"kept", overwrite=True)
    assert container.download_blob("b").readall() == b"kept"
    (rule,) = controls.faults()
    assert (rule["seen"], rule["hit"]) == (3, 2)


def test_the_sdk_gives_up_at_last(controls, container):
    controls.add_fault("busy", operation="PutBlob", times=0)
    with pytest.raises(HttpResponseError) as refused:
        container.upload_blob("b", b"x", overwrite=True)
    assert (refused.value.status_code, refused.value.error_code) == (503, "ServerBusy")
    assert controls.faults()[0]["hit"] == 4, "one try and three more"
    controls.clear_faults()
    assert not container.get_blob_client("b").exists(), "a refused write changed nothing"


@pytest.mark.parametrize(
    ("action", "status", "code"),
    [("busy", 503, "ServerBusy"), ("internal", 500, "InternalError"),
     ("condition", 412, "ConditionNotMet")],
)  # fmt: skip
def test_what_a_client_sees(controls, impatient, action, status, code):
    with controls.fault(action, operation="PutBlob"):
        with pytest.raises(HttpResponseError) as refused:
            impatient.upload_blob("b", b"x", overwrite=True)
        assert (refused.value.status_code, refused.value.error_code) == (status, code)
        impatient.upload_blob("b", b"y", overwrite=True)


def test_a_412_as_if_somebody_else_had_written(controls, container):
    container.upload_blob("b", b"1")
    controls.add_fault("condition", operation="PutBlob")
    with pytest.raises(ResourceModifiedError):
        container.upload_blob("b", b"2", overwrite=True)
    assert container.download_blob("b").readall() == b"1"


def test_a_reset_reaches_the_client(controls, impatient):
    with controls.fault("reset", operation="PutBlob"):
        with pytest.raises((ServiceRequestError, ServiceResponseError)):
            impatient.upload_blob("b", b"x", overwrite=True)
    assert not impatient.get_blob_client("b").exists()
    with controls.fault("reset", operation="GetContainerProperties"):
        with pytest.raises((ServiceRequestError, ServiceResponseError)) as broken:
            impatient.get_container_properties()
        assert "reset" in str(broken.value).lower(), "not an orderly end"


def test_an_answer_that_is_lost_after_the_write(controls, container):
    """The retry of a create-only write finds the write of its own first try."""
    controls.add_fault("reset", operation="PutBlob", when="after")
    with pytest.raises(ResourceExistsError):
        container.upload_blob("b", b"once")
    assert container.download_blob("b").readall() == b"once"


def test_a_busy_answer_after_an_append_duplicates_without_a_position(controls, container):
    """Why appends should give their position: the retry would write a second time."""
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    controls.add_fault("busy", operation="AppendBlock", when="after")
    blob.append_block(b"line\n")
    assert blob.download_blob().readall() == b"line\nline\n"
    controls.clear_faults()
    controls.add_fault("busy", operation="AppendBlock", when="after")
    with pytest.raises(HttpResponseError) as refused:
        blob.append_block(b"more\n", appendpos_condition=10)
    assert refused.value.error_code == "AppendPositionConditionNotMet"
    assert blob.download_blob().readall() == b"line\nline\nmore\n"


def test_delays(controls, impatient):
    for when in ("before", "after"):
        with controls.fault("delay", delay_ms=300, operation="PutBlob", when=when):
            began = time.monotonic()
            impatient.upload_blob("b", b"x", overwrite=True)
            assert time.monotonic() - began >= 0.3


def test_the_nth_request_and_so_many_more(controls, impatient):
    controls.add_fault("busy", operation="PutBlob", nth=3, times=2)
    outcome = []
    for _ in range(6):
        try:
            impatient.upload_blob("b", b"x", overwrite=True)
            outcome.append(True)
        except HttpResponseError:
            outcome.append(False)
    assert outcome == [True, True, False, False, True, True]


def test_only_what_is_named_is_hit(controls, impatient, blobs, name):
    other = blobs.create_container(f"{name}-other")
    controls.add_fault("busy", container=impatient.container_name, times=0)
    other.upload_blob("b", b"x")
    with pytest.raises(HttpResponseError):
        impatient.upload_blob("b", b"x")
    controls.clear_faults()
    controls.add_fault("busy", service="queue", times=0)
    impatient.upload_blob("b", b"x")


def test_queues_and_tables(controls, server, tables, name):
    queues = QueueServiceClient(
        f"{server.queue_url}/{DEV_ACCOUNT}", credential=DEV_KEY, retry_total=0
    )
    queue = queues.create_queue(f"q{name}")
    table = tables.create_table(f"t{name}")
    controls.add_fault("busy", service="queue", operation="PutMessage", container=f"q{name}")
    with pytest.raises(HttpResponseError) as refused:
        queue.send_message("m")
    assert refused.value.status_code == 503
    queue.send_message("m")
    entity = {"PartitionKey": "p", "RowKey": "r"}
    controls.add_fault("condition", service="table", container=f"t{name}")
    with pytest.raises(HttpResponseError) as refused:
        table.create_entity(entity)
    assert refused.value.status_code == 412
    assert "UpdateConditionNotSatisfied" in str(refused.value)
    table.create_entity(entity)


def test_shares(controls, server, name):
    shares = ShareServiceClient(
        f"{server.file_url}/{DEV_ACCOUNT}", credential=DEV_KEY, retry_total=0
    )
    share = shares.create_share(f"s{name}")
    controls.add_fault("busy", service="file", operation="CreateDirectory", container=f"s{name}")
    with pytest.raises(HttpResponseError) as refused:
        share.create_directory("d")
    assert refused.value.status_code == 503
    share.create_directory("d")
    assert controls.faults()[0]["hit"] == 1


@pytest.mark.parametrize(
    "rule", [{"action": "nothing"}, {"action": "busy", "operatoin": "PutBlob"}, {}]
)
def test_nonsense_is_refused(controls, rule):
    with pytest.raises(RuntimeError, match="400"):
        controls._ask("POST", "/test/faults", rule)
    assert controls.faults() == []


def test_the_command_line_does_the_same(server, controls, impatient):
    def zaffre(*words: str, want: int = 0) -> str:
        line = [*server_command(), "fault", *words, "--console", server.console_url]
        done = subprocess.run(line, capture_output=True, text=True, timeout=30)
        assert done.returncode == want, done.stderr
        return done.stdout + done.stderr

    added = zaffre("add", "busy", "--service", "blob", "--operation", "PutBlob", "--nth", "2")
    (rule,) = controls.faults()
    assert f'"id":{rule["id"]}' in added and rule["nth"] == 2
    impatient.upload_blob("b", b"x")
    with pytest.raises(HttpResponseError):
        impatient.upload_blob("b", b"x", overwrite=True)
    assert '"hit":1' in zaffre("list")
    zaffre("remove", str(rule["id"]))
    assert "there is no fault" in zaffre("remove", str(rule["id"]), want=1)
    zaffre("add", "delay", "--delay-ms", "5", "--after", "--times", "0")
    assert '"removed":1' in zaffre("clear")
