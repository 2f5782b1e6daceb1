"""azure-storage-queue through every public method, with the text and error codes users see."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.storage.queue import (
    AccessPolicy,
    AccountSasPermissions,
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    CorsRule,
    Metrics,
    QueueAnalyticsLogging,
    QueueClient,
    QueueSasPermissions,
    QueueServiceClient,
    ResourceTypes,
    RetentionPolicy,
    TextBase64DecodePolicy,
    TextBase64EncodePolicy,
    generate_account_sas,
    generate_queue_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY

SERVICE_METHODS = {
    "close", "create_queue", "delete_queue", "from_connection_string", "get_queue_client",
    "get_service_properties", "get_service_stats", "get_user_delegation_key", "list_queues",
    "set_service_properties",
}  # fmt: skip
QUEUE_METHODS = {
    "clear_messages", "close", "create_queue", "delete_message", "delete_queue",
    "from_connection_string", "from_queue_url", "get_queue_access_policy",
    "get_queue_properties", "peek_messages", "receive_message", "receive_messages",
    "send_message", "set_queue_access_policy", "set_queue_metadata", "update_message",
}  # fmt: skip
PROPERTIES = {
    "api_version", "location_mode", "primary_endpoint", "primary_hostname", "secondary_endpoint",
    "secondary_hostname", "url",
}  # fmt: skip


def code(caught) -> str:
    return caught.value.error_code


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def test_these_are_all_public_methods():
    """A new method of the client fails here until a test calls it."""
    for kind, methods in ((QueueServiceClient, SERVICE_METHODS), (QueueClient, QUEUE_METHODS)):
        public = {n for n in dir(kind) if not n.startswith("_")} - PROPERTIES
        assert public == methods, public ^ methods


# -- the service -----------------------------------------------------------------------------


def test_service_properties(service):
    before = service.get_service_properties()
    assert before["cors"] == []
    retention = RetentionPolicy(enabled=True, days=5)
    service.set_service_properties(
        analytics_logging=QueueAnalyticsLogging(
            delete=True, read=True, write=True, retention_policy=retention
        ),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=retention),
        minute_metrics=Metrics(enabled=True, include_apis=False, retention_policy=retention),
        cors=[CorsRule(["http://a.example"], ["GET", "PUT"], max_age_in_seconds=60)],
    )
    after = service.get_service_properties()
    logging = after["analytics_logging"]
    assert logging.delete and logging.retention_policy.days == 5
    assert after["hour_metrics"].include_apis and not after["minute_metrics"].include_apis
    assert after["cors"][0].allowed_origins == "http://a.example"
    service.set_service_properties(cors=[])
    kept = service.get_service_properties()
    assert kept["cors"] == [] and kept["hour_metrics"].enabled, "what is not named stays"
    with pytest.raises(HttpResponseError) as caught:
        service.set_service_properties(cors=[CorsRule(["a"], ["GET"])] * 6)
    assert code(caught) == "InvalidXmlDocument"


def test_service_stats(service):
    stats = service.get_service_stats()
    assert stats["geo_replication"]["status"] == "live"
    assert stats["geo_replication"]["last_sync_time"] is not None


def test_user_delegation_key_needs_a_token(service):
    with pytest.raises(HttpResponseError):
        service.get_user_delegation_key(expiry=soon(), start=datetime.now(UTC))


def test_clients_know_their_addresses(service, endpoint, connection):
    assert service.primary_endpoint.startswith(endpoint)
    assert service.secondary_endpoint.startswith(f"{endpoint}-secondary"), "as the string says"
    with QueueServiceClient(endpoint, credential=DEV_KEY) as other:
        assert other.url.startswith(endpoint)
    other = QueueServiceClient.from_connection_string(connection)
    list(other.list_queues(name_starts_with="nothing"))
    other.close()


def test_list_queues(service, name):
    for i in range(7):
        service.create_queue(f"{name}-{i}", metadata={"number": str(i)})
    found = list(service.list_queues(name_starts_with=name))
    assert [q.name for q in found] == [f"{name}-{i}" for i in range(7)]
    assert all(q.metadata is None for q in found)
    pages = list(service.list_queues(name_starts_with=name, results_per_page=3).by_page())
    assert [len(list(page)) for page in pages] == [3, 3, 1]
    found = list(service.list_queues(name_starts_with=name, include_metadata=True))
    assert [q.metadata for q in found] == [{"number": str(i)} for i in range(7)]
    pager = service.list_queues(name_starts_with=name, results_per_page=2).by_page()
    next(pager)
    rest = service.list_queues(name_starts_with=name, results_per_page=9)
    rest = list(next(rest.by_page(continuation_token=pager.continuation_token)))
    assert [q.name for q in rest] == [f"{name}-{i}" for i in range(2, 7)]
    with pytest.raises(HttpResponseError) as caught:
        list(service.list_queues().by_page(continuation_token="nonsense"))
    assert code(caught) == "InvalidMarker"


def test_queues_of_the_service(service, name):
    queue = service.create_queue(name, metadata={"a": "1"})
    assert service.get_queue_client(name).get_queue_properties().metadata == {"a": "1"}
    service.delete_queue(name)
    with pytest.raises(ResourceNotFoundError) as caught:
        queue.get_queue_properties()
    assert code(caught) == "QueueNotFound"
    with pytest.raises(ResourceNotFoundError):
        service.delete_queue(name)


# -- one queue -------------------------------------------------------------------------------


def test_create_and_delete(service, connection, endpoint, name):
    queue = QueueClient.from_connection_string(connection, name, retry_total=0)
    queue.create_queue(metadata={"Case": "Kept"})
    for again in ({"Case": "Kept"}, {}):
        # The client takes 204 for this error, too.
        with pytest.raises(ResourceExistsError) as caught:
            queue.create_queue(metadata=again)
        assert code(caught) == "QueueAlreadyExists"
    by_url = QueueClient.from_queue_url(f"{endpoint}/{name}", credential=DEV_KEY)
    assert by_url.get_queue_properties().metadata == {"Case": "Kept"}
    by_url.close()
    queue.send_message("gone with the queue")
    queue.delete_queue()
    queue.create_queue()
    assert queue.get_queue_properties().approximate_message_count == 0
    assert queue.receive_message() is None


@pytest.mark.parametrize(
    ("bad", "want"),
    [("Upper", "InvalidResourceName"), ("a--b", "InvalidResourceName"),
     ("a_b", "InvalidResourceName"), ("ab", "OutOfRangeInput"), ("a" * 64, "OutOfRangeInput")],
)  # fmt: skip
def test_bad_names(service, bad, want):
    with pytest.raises(HttpResponseError) as caught:
        service.create_queue(bad)
    assert code(caught) == want


def test_metadata_and_count(queue):
    queue.set_queue_metadata({"one": "1", "Two": "2"})
    for text in "abc":
        queue.send_message(text)
    found = queue.get_queue_properties()
    assert found.metadata == {"one": "1", "Two": "2"}
    assert found.approximate_message_count == 3
    queue.receive_message(visibility_timeout=60)
    assert queue.get_queue_properties().approximate_message_count == 3, "invisible ones count"
    queue.set_queue_metadata({})
    assert queue.get_queue_properties().metadata == {}


def test_access_policies(queue):
    assert queue.get_queue_access_policy() == {}
    start, expiry = datetime.now(UTC).replace(microsecond=0), soon().replace(microsecond=0)
    policies = {
        "full": AccessPolicy(QueueSasPermissions(True, True, True, True), expiry, start),
        "bare": AccessPolicy(),
    }
    queue.set_queue_access_policy(policies)
    found = queue.get_queue_access_policy()
    assert set(found) == {"full", "bare"}
    assert found["full"].permission == "raup"
    assert found["full"].start.startswith(start.strftime("%Y-%m-%dT%H:%M:%S"))
    queue.set_queue_access_policy({})
    assert queue.get_queue_access_policy() == {}
    with pytest.raises(HttpResponseError) as caught:
        queue.set_queue_access_policy({str(i): AccessPolicy() for i in range(6)})
    assert code(caught) == "InvalidXmlDocument"


# -- messages --------------------------------------------------------------------------------


def test_send_receive_delete(queue):
    sent = queue.send_message("first & <second> \"third\" \t\n é 漢 🙂 ")
    assert sent.id and sent.pop_receipt and sent.inserted_on <= sent.expires_on
    assert (sent.expires_on - sent.inserted_on).days == 7
    got = queue.receive_message()
    assert got.content == "first & <second> \"third\" \t\n é 漢 🙂 "
    assert (got.id, got.dequeue_count) == (sent.id, 1)
    assert got.pop_receipt != sent.pop_receipt
    assert queue.receive_message() is None, "it is invisible to others"
    queue.delete_message(got)
    with pytest.raises(ResourceNotFoundError) as caught:
        queue.delete_message(got)
    assert code(caught) == "MessageNotFound"


def test_delete_right_after_the_put(queue):
    sent = queue.send_message("x")
    queue.delete_message(sent.id, sent.pop_receipt)
    assert queue.receive_message() is None


def test_receive_messages(queue):
    for i in range(12):
        queue.send_message(f"{i:02d}")
    pages = queue.receive_messages(messages_per_page=5, visibility_timeout=60).by_page()
    batches = [[m.content for m in page] for page in pages]
    assert [len(batch) for batch in batches][:3] == [5, 5, 2]
    assert sum(batches, []) == [f"{i:02d}" for i in range(12)], "in the order they were put"
    for i in range(3):
        queue.send_message(str(i))
    assert len(list(queue.receive_messages(max_messages=2, visibility_timeout=60))) == 2


def test_peek(queue):
    for i in range(4):
        queue.send_message(str(i))
    assert [m.content for m in queue.peek_messages()] == ["0"]
    seen = queue.peek_messages(max_messages=32)
    assert [(m.content, m.dequeue_count) for m in seen] == [(str(i), 0) for i in range(4)]
    assert all(m.pop_receipt is None for m in seen)
    queue.receive_message(visibility_timeout=60)
    assert [m.content for m in queue.peek_messages(max_messages=32)] == ["1", "2", "3"]
    with pytest.raises(ValueError):
        queue.peek_messages(max_messages=33)


def test_update(queue):
    queue.send_message("old")
    got = queue.receive_message(visibility_timeout=60)
    first = got.pop_receipt
    updated = queue.update_message(got, visibility_timeout=0, content="new")
    assert updated.pop_receipt != first
    again = queue.receive_message(visibility_timeout=60)
    assert (again.content, again.dequeue_count, again.id) == ("new", 2, got.id)
    with pytest.raises(ResourceNotFoundError) as caught:
        queue.update_message(got.id, first, visibility_timeout=0, content="late")
    assert code(caught) == "MessageNotFound"
    kept = queue.update_message(again.id, again.pop_receipt, visibility_timeout=0)
    assert queue.peek_messages()[0].content == "new", "no text keeps the text"
    queue.delete_message(again.id, kept.pop_receipt)


def test_visibility_and_receipts(queue):
    queue.send_message("delayed", visibility_timeout=1)
    assert queue.receive_message() is None
    deadline = time.monotonic() + 10
    while (got := queue.receive_message(visibility_timeout=1)) is None:
        assert time.monotonic() < deadline, "it never became visible"
    # The timeout ends and nobody takes it: the receipt is still good.
    while not queue.peek_messages():
        assert time.monotonic() < deadline
    held = queue.update_message(got, visibility_timeout=1)
    while (other := queue.receive_message(visibility_timeout=60)) is None:
        assert time.monotonic() < deadline
    assert other.dequeue_count == 2
    with pytest.raises(ResourceNotFoundError):
        queue.delete_message(got.id, held.pop_receipt)
    queue.delete_message(other)


def test_expiry(queue):
    forever = queue.send_message("forever", time_to_live=-1)
    assert forever.expires_on.year == 9999
    short = queue.send_message("short", time_to_live=1)
    deadline = time.monotonic() + 10
    while len(queue.peek_messages(max_messages=5)) > 1:
        assert time.monotonic() < deadline, "it never expired"
    with pytest.raises(ResourceNotFoundError):
        queue.delete_message(short.id, short.pop_receipt)
    assert queue.get_queue_properties().approximate_message_count == 1
    with pytest.raises(HttpResponseError) as caught:
        queue.send_message("x", visibility_timeout=10, time_to_live=10)
    assert code(caught) == "InvalidQueryParameterValue"


def test_clear(queue):
    for i in range(40):
        queue.send_message(str(i))
    got = queue.receive_message(visibility_timeout=60)
    queue.clear_messages()
    assert queue.get_queue_properties().approximate_message_count == 0
    assert queue.peek_messages(max_messages=32) == []
    with pytest.raises(ResourceNotFoundError):
        queue.delete_message(got)
    queue.send_message("after")
    assert queue.receive_message().content == "after"


def test_sizes(queue):
    for size in (0, 1, 32 * 1024, 32 * 1024 + 1, 64 * 1024):
        queue.send_message("x" * size)
        got = queue.receive_message()
        assert len(got.content or "") == size
        queue.delete_message(got)
    with pytest.raises(HttpResponseError) as caught:
        queue.send_message("x" * (64 * 1024 + 1))
    assert (caught.value.status_code, code(caught)) == (413, "RequestBodyTooLarge")
    with pytest.raises(HttpResponseError) as caught:
        queue.send_message("x" * (2 * 1024 * 1024))
    assert (caught.value.status_code, code(caught)) == (413, "RequestBodyTooLarge")


@pytest.mark.parametrize(
    ("encode", "decode", "content"),
    [(TextBase64EncodePolicy, TextBase64DecodePolicy, "text é"),
     (BinaryBase64EncodePolicy, BinaryBase64DecodePolicy, b"\x00\x01\xff")],
)  # fmt: skip
def test_encodings(connection, queue, encode, decode, content):
    coded = QueueClient.from_connection_string(
        connection, queue.queue_name, message_encode_policy=encode(), message_decode_policy=decode()
    )
    coded.send_message(content)
    assert coded.peek_messages()[0].content == content
    assert coded.receive_message().content == content


# -- credentials -----------------------------------------------------------------------------


def sas_client(endpoint, name, token) -> QueueClient:
    return QueueClient.from_queue_url(f"{endpoint}/{name}?{token}", retry_total=0)


def test_account_sas(endpoint, queue):
    token = generate_account_sas(
        DEV_ACCOUNT, DEV_KEY, ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, write=True, delete=True, list=True, add=True,
                              create=True, update=True, process=True), soon(),
    )  # fmt: skip
    service = QueueServiceClient(endpoint, credential=token, retry_total=0)
    assert queue.queue_name in [q.name for q in service.list_queues()]
    client = service.get_queue_client(queue.queue_name)
    client.send_message("by account SAS")
    got = client.receive_message(visibility_timeout=60)
    client.update_message(got, visibility_timeout=0)
    client.clear_messages()
    with pytest.raises(HttpResponseError):
        client.get_queue_access_policy()
    service.get_service_properties()


def test_queue_sas(endpoint, queue):
    queue.send_message("x")
    name = queue.queue_name

    def token(**permission):
        return generate_queue_sas(
            DEV_ACCOUNT, name, DEV_KEY, permission=QueueSasPermissions(**permission), expiry=soon()
        )

    reader = sas_client(endpoint, name, token(read=True))
    assert reader.peek_messages()[0].content == "x"
    assert reader.get_queue_properties().approximate_message_count == 1
    with pytest.raises(HttpResponseError) as caught:
        reader.send_message("no")
    assert code(caught) == "AuthorizationPermissionMismatch"
    with pytest.raises(HttpResponseError):
        reader.receive_message()
    sas_client(endpoint, name, token(add=True)).send_message("y")
    worker = sas_client(endpoint, name, token(process=True, update=True))
    got = worker.receive_message(visibility_timeout=60)
    got = worker.update_message(got, visibility_timeout=60, content="z")
    worker.delete_message(got)
    with pytest.raises(HttpResponseError):
        worker.peek_messages()
    with pytest.raises(HttpResponseError) as caught:
        everything = token(read=True, add=True, update=True, process=True)
        sas_client(endpoint, name, everything).clear_messages()
    assert code(caught) == "AuthorizationFailure"


def test_policy_sas(endpoint, queue):
    name = queue.queue_name
    policy = AccessPolicy(QueueSasPermissions(read=True), soon())
    queue.set_queue_access_policy({"readers": policy})
    token = generate_queue_sas(DEV_ACCOUNT, name, DEV_KEY, policy_id="readers")
    reader = sas_client(endpoint, name, token)
    assert reader.peek_messages() == []
    with pytest.raises(HttpResponseError):
        reader.send_message("no")
    queue.set_queue_access_policy({})
    with pytest.raises(HttpResponseError):
        reader.peek_messages()


def test_wrong_key(endpoint, queue):
    wrong = QueueClient(endpoint, queue.queue_name, credential="d3Jvbmc=", retry_total=0)
    with pytest.raises(ClientAuthenticationError) as caught:
        wrong.peek_messages()
    assert code(caught) == "AuthenticationFailed"


def test_the_secondary_endpoint_reads(endpoint, queue):
    queue.send_message("x")
    key = {"account_name": DEV_ACCOUNT, "account_key": DEV_KEY}
    other = QueueClient(f"{endpoint}-secondary", queue.queue_name, credential=key, retry_total=0)
    assert other.peek_messages()[0].content == "x"
    with pytest.raises(HttpResponseError) as caught:
        other.send_message("no")
    assert caught.value.status_code == 403
