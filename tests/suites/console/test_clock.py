"""The clock turned by tests: what takes seconds, days or years happens in milliseconds."""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from datetime import datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.blob import (
    BlobClient,
    BlobSasPermissions,
    RetentionPolicy,
    generate_blob_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY
from harness.server import server_command


def seconds(clock: dict) -> float:
    return datetime.fromisoformat(clock["now"][:26] + "+00:00").timestamp()


@pytest.fixture
def blob(blobs, name):
    container = blobs.get_container_client(name)
    container.create_container()
    blob = container.get_blob_client("b")
    blob.upload_blob(b"1")
    return blob


def test_it_stands_is_turned_and_goes_on(controls):
    with controls.frozen():
        first = controls.clock()
        assert first["frozen"] and controls.clock()["now"] == first["now"]
        later = controls.advance("15s")
        assert seconds(later) - seconds(first) == pytest.approx(15, abs=0.001)
        assert seconds(controls.advance(0.5)) - seconds(later) == pytest.approx(0.5, abs=0.001)
    running = controls.clock()
    assert not running["frozen"] and controls.clock()["now"] > running["now"]
    assert controls.clock()["ahead_seconds"] >= 15


@pytest.mark.parametrize(
    "body", [{}, {"action": "back"}, {"action": "advance"}, {"action": "advance", "by": "-1s"}]
)
def test_nonsense_is_refused(controls, body):
    before = controls.freeze()
    with pytest.raises(RuntimeError, match="400"):
        controls._ask("POST", "/test/clock", body)
    assert controls.clock()["now"] == before["now"]


def test_a_lease_expires(controls, blob):
    controls.freeze()
    blob.acquire_lease(15)
    controls.advance("14.9s")
    with pytest.raises(HttpResponseError) as refused:
        blob.upload_blob(b"2", overwrite=True)
    assert refused.value.error_code == "LeaseIdMissing"
    controls.advance("0.2s")
    blob.upload_blob(b"2", overwrite=True)


def test_a_message_comes_back(controls, queues, name):
    queue = queues.create_queue(f"q{name}")
    queue.send_message("once")
    controls.freeze()
    first = queue.receive_message(visibility_timeout=3600)
    assert queue.receive_message() is None
    controls.advance("1h")
    again = queue.receive_message()
    assert (again.id, again.dequeue_count) == (first.id, 2)
    with pytest.raises(HttpResponseError) as refused:
        queue.delete_message(first)
    assert refused.value.error_code == "MessageNotFound"


def test_a_message_dies(controls, queues, name):
    queue = queues.create_queue(f"q{name}")
    queue.send_message("brief", time_to_live=60)
    assert len(queue.peek_messages()) == 1
    controls.advance("61s")
    assert queue.peek_messages() == []
    assert queue.get_queue_properties().approximate_message_count == 0


def test_a_signature_runs_out(controls, blob):
    controls.freeze()
    now = datetime.fromisoformat(controls.clock()["now"][:26] + "+00:00")
    sas = generate_blob_sas(
        DEV_ACCOUNT, blob.container_name, blob.blob_name, account_key=DEV_KEY,
        permission=BlobSasPermissions(read=True), expiry=now + timedelta(hours=1),
    )  # fmt: skip
    signed = BlobClient.from_blob_url(f"{blob.url}?{sas}", retry_total=0)
    assert signed.download_blob().readall() == b"1"
    controls.advance("2h")
    with pytest.raises(HttpResponseError) as refused:
        signed.download_blob()
    assert refused.value.status_code == 403


def test_shared_key_dates_are_held_against_real_time(controls, blob):
    """Else nobody could sign a request after the clock was turned by a year."""
    controls.advance("366d")
    assert blob.download_blob().readall() == b"1"
    assert controls.clock()["ahead_seconds"] >= 366 * 86_400


def test_soft_deleted_blobs_leave_when_their_days_are_over(controls, blobs, blob):
    blobs.set_service_properties(delete_retention_policy=RetentionPolicy(True, 7))
    try:
        controls.freeze()
        blob.delete_blob()
        controls.advance("6d")
        blob.undelete_blob()
        blob.delete_blob()
        controls.advance("8d")
        with pytest.raises(ResourceNotFoundError):
            blob.undelete_blob()
    finally:
        blobs.set_service_properties(delete_retention_policy=RetentionPolicy(False))


def test_an_archived_blob_thaws(controls, blob):
    blob.set_standard_blob_tier("Archive")
    with pytest.raises(HttpResponseError) as refused:
        blob.download_blob()
    assert refused.value.error_code == "BlobArchived"
    blob.set_standard_blob_tier("Hot")
    controls.advance("24h")
    assert blob.download_blob().readall() == b"1"
    assert blob.get_blob_properties().blob_tier == "Hot"


def test_modified_times_follow_and_etags_never_repeat(controls, blob):
    controls.freeze()
    seen = {blob.get_blob_properties().etag}
    for _ in range(20):
        seen.add(blob.upload_blob(b"x", overwrite=True)["etag"])
    assert len(seen) == 21
    before = blob.get_blob_properties().last_modified
    controls.advance("1d")
    blob.upload_blob(b"y", overwrite=True)
    moved = blob.get_blob_properties().last_modified - before
    assert timedelta(days=1) <= moved <= timedelta(days=1, seconds=2)


def test_the_command_line_does_the_same(server, controls):
    def zaffre(*words: str, want: int = 0) -> str:
        line = [*server_command(), "clock", *words, "--console", server.console_url]
        done = subprocess.run(line, capture_output=True, text=True, timeout=30)
        assert done.returncode == want, done.stderr
        return done.stdout + done.stderr

    assert '"frozen":true' in zaffre("freeze")
    before = controls.clock()
    zaffre("advance", "15s")
    assert seconds(controls.clock()) - seconds(before) == pytest.approx(15, abs=0.001)
    assert '"frozen":true' in zaffre("show")
    assert '"frozen":false' in zaffre("resume")
    assert "must be a time such as" in zaffre("advance", "soon", want=1)


def test_a_web_page_cannot_turn_it(server):
    request = urllib.request.Request(
        server.console_url + "/test/clock", b'{"action":"freeze"}', {"Origin": "http://evil"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    assert refused.value.code == 403
