"""azure-data-tables through every public method, each result checked."""

from __future__ import annotations

import datetime
import re
import uuid
from datetime import UTC, timedelta

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.data.tables import (
    AccountSasPermissions,
    EdmType,
    EntityProperty,
    ResourceTypes,
    TableAccessPolicy,
    TableAnalyticsLogging,
    TableClient,
    TableCorsRule,
    TableEntity,
    TableMetrics,
    TableRetentionPolicy,
    TableSasPermissions,
    TableServiceClient,
    TableTransactionError,
    TransactionOperation,
    UpdateMode,
    generate_account_sas,
    generate_table_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY


def connection(endpoint: str) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"TableEndpoint={endpoint};"
    )


def entity(row: str = "r", **properties) -> dict:
    return {"PartitionKey": "p", "RowKey": row, **properties}


def code(failed) -> str:
    """The service's code, wherever this client puts it."""
    error = failed.value
    found = re.search(r'ErrorCode:(\w+)|"code":"(\w+)"', str(error))
    return getattr(error, "error_code", None) or (found and (found[1] or found[2])) or ""


def later() -> datetime.datetime:
    return datetime.datetime.now(UTC) + timedelta(hours=1)


# -- tables -------------------------------------------------------------------------------------


def test_tables(service, name):
    made = service.create_table(name)
    assert made.table_name == name
    with pytest.raises(ResourceExistsError):
        service.create_table(name)
    with pytest.raises(ResourceExistsError):
        service.create_table(name.upper())
    assert service.create_table_if_not_exists(name).table_name == name
    assert name in [table.name for table in service.list_tables()]
    found = list(service.query_tables(f"TableName eq '{name}'"))
    assert [table.name for table in found] == [name]
    assert service.get_table_client(name).table_name == name
    service.delete_table(name)
    service.delete_table(name)
    assert name not in [table.name for table in service.list_tables()]
    service.create_table(name)
    service.get_table_client(name).delete_table()


def test_tables_by_pages(service):
    prefix = f"Page{uuid.uuid4().hex[:8]}"
    names = [f"{prefix}{number}" for number in range(7)]
    for each in names:
        service.create_table(each)
    query = f"TableName ge '{prefix}' and TableName lt '{prefix}9'"
    pages = service.query_tables(query, results_per_page=3).by_page()
    listed = [[table.name for table in page] for page in pages]
    assert [len(page) for page in listed] == [3, 3, 1]
    assert [each for page in listed for each in page] == names


def test_clients_from_strings_and_urls(endpoint, credential, name):
    service = TableServiceClient.from_connection_string(connection(endpoint))
    table = service.create_table(name)
    table.create_entity(entity())
    other = TableClient.from_connection_string(connection(endpoint), name)
    assert other.get_entity("p", "r")["RowKey"] == "r"
    third = TableClient.from_table_url(f"{endpoint}/{name}", credential=credential)
    assert third.get_entity("p", "r")["RowKey"] == "r"
    other.delete_table()
    third.create_table()


# -- entities -----------------------------------------------------------------------------------

BORN = datetime.datetime(1973, 10, 4, 1, 2, 3, 456789, tzinfo=UTC)
GUID = uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833")


def test_every_type_comes_back(table):
    sent = entity(
        text="héllo 'quoted' \n\U0001f600", empty="", small=39, negative=-(2**31),
        big=EntityProperty(2**40, EdmType.INT64), ratio=3.1, even=3.0, tiny=5e-324,
        infinite=float("inf"), minus=float("-inf"), true=True, false=False,
        born=BORN, data=b"\x00\xff binary", id=GUID, nothing=None,
    )  # fmt: skip
    table.create_entity(sent)
    got = table.get_entity("p", "r")
    assert got["text"] == sent["text"] and got["empty"] == ""
    assert got["small"] == 39 and got["negative"] == -(2**31)
    assert got["big"].value == 2**40 and got["big"].edm_type == EdmType.INT64
    assert got["ratio"] == 3.1 and got["even"] == 3.0 and isinstance(got["even"], float)
    assert got["tiny"] == 5e-324
    assert got["infinite"] == float("inf") and got["minus"] == float("-inf")
    assert got["true"] is True and got["false"] is False
    assert got["born"] == BORN and got["data"] == b"\x00\xff binary" and got["id"] == GUID
    assert "nothing" not in got
    listed = next(iter(table.list_entities()))
    assert dict(listed) == dict(got)
    assert listed.metadata["etag"] == got.metadata["etag"]


def test_insert_and_get(table):
    answer = table.create_entity(entity(color="blue"))
    got = table.get_entity("p", "r")
    assert isinstance(got, TableEntity) and got["color"] == "blue"
    assert got.metadata["etag"] == answer["etag"]
    with pytest.raises(ResourceExistsError) as failed:
        table.create_entity(entity())
    assert code(failed) == "EntityAlreadyExists"
    with pytest.raises(ResourceNotFoundError) as failed:
        table.get_entity("p", "none")
    assert code(failed) == "ResourceNotFound"
    chosen = table.get_entity("p", "r", select=["color", "size"])
    assert dict(chosen) == {"color": "blue", "size": None}


def test_update_merge_and_upsert(table):
    table.create_entity(entity(a=1, b=2))
    merged = table.update_entity(entity(b=3, c=4), mode=UpdateMode.MERGE)
    got = table.get_entity("p", "r")
    assert (got["a"], got["b"], got["c"]) == (1, 3, 4)
    assert got.metadata["etag"] == merged["etag"]
    table.update_entity(entity(d=5), mode=UpdateMode.REPLACE)
    got = table.get_entity("p", "r")
    assert "a" not in got and got["d"] == 5
    table.upsert_entity(entity(e=6), mode=UpdateMode.MERGE)
    assert table.get_entity("p", "r")["d"] == 5
    table.upsert_entity(entity(e=7), mode=UpdateMode.REPLACE)
    assert "d" not in table.get_entity("p", "r")
    table.upsert_entity(entity("new", f=1), mode=UpdateMode.MERGE)
    table.upsert_entity(entity("newer", f=1), mode=UpdateMode.REPLACE)
    assert len(list(table.list_entities())) == 3
    with pytest.raises(ResourceNotFoundError):
        table.update_entity(entity("none"), mode=UpdateMode.MERGE)


def test_optimistic_concurrency(table):
    table.create_entity(entity(n=0))
    first = table.get_entity("p", "r")
    table.update_entity(entity(n=1), mode=UpdateMode.REPLACE)
    condition = {"etag": first.metadata["etag"], "match_condition": MatchConditions.IfNotModified}
    for mode in UpdateMode:
        with pytest.raises(ResourceModifiedError) as failed:
            table.update_entity(entity(n=9), mode=mode, **condition)
        assert code(failed) == "UpdateConditionNotSatisfied"
    with pytest.raises(ResourceModifiedError):
        table.delete_entity("p", "r", **condition)
    assert table.get_entity("p", "r")["n"] == 1
    current = table.get_entity("p", "r").metadata["etag"]
    condition["etag"] = current
    table.update_entity(entity(n=2), mode=UpdateMode.REPLACE, **condition)
    with pytest.raises(ResourceModifiedError):
        table.delete_entity("p", "r", **condition)
    table.delete_entity("p", "r")
    with pytest.raises(ResourceNotFoundError):
        table.get_entity("p", "r")
    table.delete_entity("p", "r")


def test_keys_that_need_care(table):
    for number, key in enumerate(["it's", "", "a b", "%41", "é", "\U0001f600", "a'b''c", "a+b", "()=,"]):
        table.create_entity({"PartitionKey": key, "RowKey": key, "n": number})
        assert table.get_entity(key, key)["n"] == number
        table.update_entity({"PartitionKey": key, "RowKey": key, "n": -1}, mode="replace")
        assert table.get_entity(key, key)["n"] == -1
        query = table.query_entities("PartitionKey eq @key", parameters={"key": key})
        assert [found["RowKey"] for found in query] == [key]
        table.delete_entity(key, key)


def test_large_entities(table):
    half = "x" * 32_000
    large = entity(**{f"p{number}": half for number in range(15)})
    table.create_entity(large)
    assert table.get_entity("p", "r") == large
    table.update_entity(entity(small=1), mode=UpdateMode.MERGE)
    assert table.get_entity("p", "r")["p14"] == half
    table.update_entity(entity(small=2), mode=UpdateMode.REPLACE)
    assert dict(table.get_entity("p", "r")) == entity(small=2)
    with pytest.raises(HttpResponseError) as failed:
        table.create_entity(entity("b", **{f"p{number}": half for number in range(17)}))
    assert code(failed) == "EntityTooLarge"
    with pytest.raises(HttpResponseError) as failed:
        table.create_entity(entity("b", p="x" * 32_769))
    assert code(failed) == "PropertyValueTooLarge"
    with pytest.raises(HttpResponseError) as failed:
        table.create_entity(entity("b", **{f"p{number}": 1 for number in range(253)}))
    assert code(failed) == "TooManyProperties"


# -- queries ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(server):
    service = TableServiceClient.from_connection_string(connection(f"{server.table_url}/{DEV_ACCOUNT}"))
    table = service.create_table("Filled")
    for partition in range(4):
        operations = [
            ("upsert", {
                "PartitionKey": f"p{partition}", "RowKey": f"r{row:03d}", "n": row,
                "even": row % 2 == 0, "name": f"name{row % 7}", "ratio": row / 4,
            }) for row in range(100)
        ]  # fmt: skip
        table.submit_transaction(operations)
    return table


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("PartitionKey eq 'p1'", 100),
        ("PartitionKey eq 'p1' and RowKey eq 'r007'", 1),
        ("PartitionKey eq 'p1' and RowKey ge 'r090'", 10),
        ("PartitionKey gt 'p1' and PartitionKey lt 'p3'", 100),
        ("RowKey eq 'r007'", 4),
        ("n lt 10", 40),
        ("n eq 5 or n eq 6", 8),
        ("not (n lt 90)", 40),
        ("even", 200),
        ("even eq false and PartitionKey eq 'p0'", 50),
        ("name eq 'name3' and PartitionKey eq 'p0'", 14),
        ("ratio gt 24.5", 4),
        ("missing eq 1", 0),
        ("missing ne 1", 0),
        ("PartitionKey eq 'p0' and (n eq 1 or RowKey eq 'r050')", 2),
        ("Timestamp gt datetime'2001-01-01T00:00:00Z'", 400),
        ("PartitionKey eq 'p9'", 0),
    ],
)
def test_queries(filled, query, count):
    found = list(filled.query_entities(query))
    assert len(found) == count
    keys = [(each["PartitionKey"], each["RowKey"]) for each in found]
    assert keys == sorted(keys)


def test_pages(filled):
    pages = [list(page) for page in filled.list_entities(results_per_page=150).by_page()]
    assert [len(page) for page in pages] == [150, 150, 100]
    pager = filled.query_entities("n ge 0", results_per_page=33).by_page()
    first = next(pager)
    count = len(list(first))
    token = pager.continuation_token
    rest = filled.query_entities("n ge 0", results_per_page=33).by_page(token)
    assert count == 33 and sum(len(list(page)) for page in rest) == 367
    chosen = list(filled.query_entities("RowKey eq 'r001'", select=["n"]))
    assert [dict(each) for each in chosen] == [{"n": 1}] * 4


def test_parameters_of_every_type(table):
    table.create_entity(entity(born=BORN, id=GUID, data=b"ab", big=EntityProperty(2**40, EdmType.INT64), ratio=1.5, ok=True))
    for name_, value in (("born", BORN), ("id", GUID), ("data", b"ab"), ("ratio", 1.5), ("ok", True)):
        found = list(table.query_entities(f"{name_} eq @v", parameters={"v": value}))
        assert len(found) == 1, name_
    assert len(list(table.query_entities(f"big eq {2**40}L"))) == 1


@pytest.mark.parametrize("query", ["aaa bbb ccc", "n eq", "(n eq 1", "n eq 'a", "n eq 1 and", "eq 1"])
def test_bad_filters(filled, query):
    with pytest.raises(HttpResponseError) as failed:
        list(filled.query_entities(query))
    assert failed.value.status_code == 400 and code(failed) == "InvalidInput"


# -- batches ------------------------------------------------------------------------------------


def test_transactions(table):
    table.create_entity(entity("old", n=1))
    table.create_entity(entity("gone"))
    answers = table.submit_transaction(
        [
            (TransactionOperation.CREATE, entity("new", n=2)),
            (TransactionOperation.UPDATE, entity("old", n=3), {"mode": UpdateMode.REPLACE}),
            (TransactionOperation.UPSERT, entity("up", n=4)),
            (TransactionOperation.DELETE, entity("gone")),
        ]
    )
    assert len(answers) == 4 and all(answer.get("etag") for answer in answers[:3])
    assert {each["RowKey"]: each.get("n") for each in table.list_entities()} == {
        "new": 2, "old": 3, "up": 4,
    }  # fmt: skip
    assert table.get_entity("p", "new").metadata["etag"] == answers[0]["etag"]


@pytest.mark.parametrize(
    ("operations", "want", "index"),
    [
        ([("create", entity("a")), ("create", entity("there"))], "EntityAlreadyExists", 1),
        ([("create", entity("a")), ("update", entity("none"))], "ResourceNotFound", 1),
        ([("create", entity("a")), ("create", entity("b")), ("create", entity("a"))], "InvalidDuplicateRow", 2),
        ([("create", entity("a")), ("create", {"PartitionKey": "q", "RowKey": "r"})], "CommandsInBatchActOnDifferentPartitions", 1),
        ([("create", entity(str(number))) for number in range(101)], "InvalidInput", 99),
        ([("create", entity("a")), ("create", entity("b", p="x" * 40_000))], "PropertyValueTooLarge", 1),
    ],
)  # fmt: skip
def test_a_failed_transaction_leaves_nothing(table, operations, want, index):
    table.create_entity(entity("there"))
    if want == "CommandsInBatchActOnDifferentPartitions":
        # This client refuses it by itself; test_wire.py sends it.
        with pytest.raises(ValueError):
            table.submit_transaction(operations)
        return
    with pytest.raises(TableTransactionError) as failed:
        table.submit_transaction(operations)
    assert code(failed) == want and failed.value.index == index
    assert [each["RowKey"] for each in table.list_entities()] == ["there"]


def test_a_transaction_in_a_missing_table(service):
    with pytest.raises(TableTransactionError) as failed:
        service.get_table_client("Nowhere").submit_transaction([("create", entity())])
    assert code(failed) == "TableNotFound"


# -- access -------------------------------------------------------------------------------------


def test_access_policies(table):
    assert table.get_table_access_policy() == {}
    policy = TableAccessPolicy(start=later(), expiry=later() + timedelta(hours=1), permission="raud")
    table.set_table_access_policy({"one": policy, "two": None})
    got = table.get_table_access_policy()
    assert got["one"].permission == "raud" and set(got) == {"one", "two"}
    table.set_table_access_policy({})
    assert table.get_table_access_policy() == {}


def with_sas(endpoint, name, token) -> TableClient:
    return TableClient(endpoint, name, credential=AzureSasCredential(token), retry_total=0)


def test_table_sas(table, endpoint, credential):
    name = table.table_name
    table.create_entity(entity(n=1))
    token = generate_table_sas(credential, name, permission=TableSasPermissions(read=True), expiry=later())
    reader = with_sas(endpoint, name, token)
    assert reader.get_entity("p", "r")["n"] == 1 and len(list(reader.list_entities())) == 1
    for refused in (
        lambda: reader.create_entity(entity("x")),
        lambda: reader.upsert_entity(entity("x")),
        lambda: reader.update_entity(entity()),
        lambda: reader.delete_entity("p", "r"),
        lambda: reader.submit_transaction([("create", entity("x"))]),
        lambda: reader.get_table_access_policy(),
    ):
        with pytest.raises(HttpResponseError) as failed:
            refused()
        assert failed.value.status_code == 403, failed.value
    assert len(list(table.list_entities())) == 1


def test_table_sas_with_key_range(table, endpoint, credential):
    name = table.table_name
    for row in "abcde":
        table.create_entity(entity(row))
    token = generate_table_sas(
        credential, name, permission=TableSasPermissions(read=True, add=True, update=True, delete=True),
        expiry=later(), start_pk="p", start_rk="b", end_pk="p", end_rk="d",
    )  # fmt: skip
    ranged = with_sas(endpoint, name, token)
    assert [each["RowKey"] for each in ranged.list_entities()] == ["b", "c", "d"]
    assert [each["RowKey"] for each in ranged.query_entities("RowKey ge 'd'")] == ["d"]
    ranged.upsert_entity(entity("bb"))
    ranged.submit_transaction([("upsert", entity("bbb"))])
    for refused in (
        lambda: ranged.create_entity(entity("a0")),
        lambda: ranged.upsert_entity(entity("e")),
        lambda: ranged.submit_transaction([("upsert", entity("c")), ("upsert", entity("e"))]),
        lambda: ranged.submit_transaction([("upsert", entity("e"))]),
    ):
        with pytest.raises(HttpResponseError) as failed:
            refused()
        assert failed.value.status_code == 403
    with pytest.raises(ResourceNotFoundError):
        ranged.get_entity("p", "a")


def test_stored_policy(table, endpoint, credential):
    name = table.table_name
    policy = TableAccessPolicy(expiry=later(), permission="r")
    table.set_table_access_policy({"mine": policy})
    token = generate_table_sas(credential, name, policy_id="mine")
    client = with_sas(endpoint, name, token)
    assert list(client.list_entities()) == []
    table.set_table_access_policy({})
    with pytest.raises(HttpResponseError) as failed:
        list(client.list_entities())
    assert failed.value.status_code == 403


def test_account_sas(endpoint, credential, name):
    every = AccountSasPermissions(read=True, write=True, delete=True, list=True, add=True, create=True, update=True)
    token = generate_account_sas(
        credential, resource_types=ResourceTypes(service=True, container=True, object=True), permission=every, expiry=later()
    )  # fmt: skip
    service = TableServiceClient(endpoint, credential=AzureSasCredential(token), retry_total=0)
    table = service.create_table(name)
    table.create_entity(entity())
    table.submit_transaction([("upsert", entity("x"))])
    assert len(list(table.list_entities())) == 2
    assert name in [each.name for each in service.list_tables()]
    service.delete_table(name)


# -- the service --------------------------------------------------------------------------------


def test_service_properties(service):
    logging = TableAnalyticsLogging(read=True, write=True, delete=True, retention_policy=TableRetentionPolicy(enabled=True, days=5))
    metrics = TableMetrics(enabled=True, include_apis=True, retention_policy=TableRetentionPolicy(enabled=True, days=5))
    rule = TableCorsRule(["http://a.example"], ["GET"], allowed_headers=["x-ms-*"], exposed_headers=["x"], max_age_in_seconds=9)
    service.set_service_properties(analytics_logging=logging, hour_metrics=metrics, minute_metrics=metrics, cors=[rule])
    got = service.get_service_properties()
    assert got["analytics_logging"].read and got["hour_metrics"].enabled
    assert got["cors"][0].allowed_origins == ["http://a.example"]
    service.set_service_properties(cors=[])
    assert service.get_service_properties()["cors"] == []


def test_service_stats(server, credential):
    """On its own address: given an account in the path, this client asks for a path of no service."""
    address = f"{server.table_url}/{DEV_ACCOUNT}-secondary"
    service = TableServiceClient(address, credential=credential, retry_total=0)
    with pytest.raises(HttpResponseError) as failed:
        service.get_service_stats()
    assert failed.value.status_code in (400, 403, 404)
