"""The Python client for tables of 2019 (azure-cosmosdb-table 1.0.6, API version 2017-04-17), unmodified."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from azure.common import AzureConflictHttpError, AzureHttpError, AzureMissingResourceHttpError
from azure.cosmosdb.table import (
    AzureBatchOperationError,
    EdmType,
    Entity,
    EntityProperty,
    TableBatch,
    TablePayloadFormat,
    TablePermissions,
    TableService,
)
from azure.cosmosdb.table.common.models import AccessPolicy
from azure.cosmosdb.table.common.retry import no_retry

from harness import DEV_ACCOUNT, DEV_KEY


def service(server, **credential) -> TableService:
    words = {"DefaultEndpointsProtocol": "http", "AccountName": DEV_ACCOUNT, **credential}
    words["TableEndpoint"] = f"{server.table_url}/{DEV_ACCOUNT}"
    made = TableService(connection_string=";".join(f"{k}={v}" for k, v in words.items()))
    made.retry = no_retry
    return made


@pytest.fixture(scope="session")
def old(server) -> TableService:
    return service(server, AccountKey=DEV_KEY)


@pytest.fixture
def table(old, name) -> str:
    assert old.create_table(name)
    return name


def entity(row: str, **more) -> dict:
    return {"PartitionKey": "p", "RowKey": row, **more}


def test_tables(old, table):
    assert old.exists(table)
    assert table in [t.name for t in old.list_tables()]
    assert not old.create_table(table)
    with pytest.raises(AzureConflictHttpError):
        old.create_table(table, fail_on_exist=True)
    assert old.delete_table(table)
    assert not old.exists(table)
    with pytest.raises(AzureMissingResourceHttpError):
        old.delete_table(table, fail_not_exist=True)


@pytest.mark.parametrize(
    "level",
    [
        TablePayloadFormat.JSON_NO_METADATA,
        TablePayloadFormat.JSON_MINIMAL_METADATA,
        TablePayloadFormat.JSON_FULL_METADATA,
    ],
)
def test_every_type(old, table, level):
    # The client sends whole seconds only.
    when = datetime(2019, 6, 1, 12, 30, 15, tzinfo=timezone.utc)
    guid = "c9da6455-213d-42c9-9a79-3e9149a57833"
    old.insert_entity(
        table,
        entity(
            "it's é",
            text="grüße",
            small=EntityProperty(EdmType.INT32, 7),
            large=1 << 40,
            double=1.5,
            true=True,
            when=when,
            guid=EntityProperty(EdmType.GUID, guid),
            bytes=EntityProperty(EdmType.BINARY, b"\x00\xff"),
        ),
    )
    got = old.get_entity(table, "p", "it's é", accept=level)
    assert (got.text, got.double, got.true) == ("grüße", 1.5, True)
    # Without metadata the client sees what JSON can say, and no more.
    if level == TablePayloadFormat.JSON_NO_METADATA:
        assert got.large == str(1 << 40)
        assert got.guid == guid
        return
    assert got.large == 1 << 40
    assert getattr(got.small, "value", got.small) == 7
    assert got.when == when
    assert got.guid.value == guid
    assert got.bytes.value == b"\x00\xff"
    assert got.etag.startswith("W/\"datetime'")


def test_insert_update_merge_delete(old, table):
    first = old.insert_entity(table, entity("r", a=1, b="x"))
    with pytest.raises(AzureConflictHttpError):
        old.insert_entity(table, entity("r"))
    second = old.merge_entity(table, entity("r", c=True), if_match=first)
    got = old.get_entity(table, "p", "r")
    assert (got.a, got.b, got.c, got.etag) == (1, "x", True, second)
    with pytest.raises(AzureHttpError) as error:
        old.update_entity(table, entity("r", d=1), if_match=first)
    assert error.value.status_code == 412
    old.update_entity(table, entity("r", d=1), if_match=second)
    got = old.get_entity(table, "p", "r")
    assert "a" not in got and got.d == 1
    with pytest.raises(AzureHttpError):
        old.delete_entity(table, "p", "r", if_match=second)
    old.delete_entity(table, "p", "r")
    with pytest.raises(AzureMissingResourceHttpError):
        old.get_entity(table, "p", "r")


def test_insert_or(old, table):
    old.insert_or_replace_entity(table, entity("r", a=1))
    old.insert_or_merge_entity(table, entity("r", b=2))
    got = old.get_entity(table, "p", "r")
    assert (got.a, got.b) == (1, 2)
    old.insert_or_replace_entity(table, entity("r", c=3))
    got = old.get_entity(table, "p", "r", select="c")
    assert got.c == 3 and "a" not in got


def test_queries(old, table):
    for number in range(25):
        old.insert_entity(table, entity(f"{number:02}", n=number, even=number % 2 == 0))
    assert [e.RowKey for e in old.query_entities(table, "n ge 20 and even eq true")] == [
        "20",
        "22",
        "24",
    ]
    rows = old.query_entities(table, "PartitionKey eq 'p' and RowKey lt '03'", select="RowKey,n")
    assert [(e.RowKey, e.n) for e in rows] == [("00", 0), ("01", 1), ("02", 2)]
    page = old.query_entities(table, num_results=10)
    assert [e.n for e in page] == list(range(10))
    rest = old.query_entities(table, num_results=100, marker=page.next_marker)
    assert [e.n for e in rest] == list(range(10, 25))
    with pytest.raises(AzureHttpError) as error:
        list(old.query_entities(table, "n ge"))
    assert error.value.status_code == 400


def test_batches(old, table):
    old.insert_entity(table, entity("there", a=1))
    with old.batch(table) as batch:
        batch.insert_entity(entity("one", a=1))
        batch.merge_entity(entity("there", b=2))
        batch.insert_or_replace_entity(entity("two", a=2))
    assert [e.RowKey for e in old.query_entities(table)] == ["one", "there", "two"]
    assert old.get_entity(table, "p", "there").b == 2
    whole = TableBatch()
    for number in range(100):
        whole.insert_entity(entity(f"n{number:02}"))
    assert len(old.commit_batch(table, whole)) == 100
    bad = TableBatch()
    bad.delete_entity("p", "one")
    bad.insert_entity(entity("two"))
    with pytest.raises(AzureBatchOperationError) as error:
        old.commit_batch(table, bad)
    assert error.value.code == "EntityAlreadyExists"
    assert old.get_entity(table, "p", "one").a == 1, "nothing of it was done"


def test_sas_of_that_time(old, server, table):
    old.insert_entity(table, entity("a", n=1))
    old.insert_entity(table, entity("b", n=2))
    soon = datetime.now(timezone.utc) + timedelta(hours=1)
    token = old.generate_table_shared_access_signature(
        table, TablePermissions.QUERY, soon, start_pk="p", start_rk="b"
    )
    reader = service(server, SharedAccessSignature=token)
    assert [e.n for e in reader.query_entities(table)] == [2]
    with pytest.raises(AzureHttpError) as error:
        reader.insert_entity(table, entity("c"))
    assert error.value.status_code == 403


def test_stored_policies(old, table):
    soon = datetime.now(timezone.utc) + timedelta(hours=1)
    policy = AccessPolicy(TablePermissions.QUERY, soon)
    old.set_table_acl(table, {"reading": policy})
    assert old.get_table_acl(table)["reading"].permission == "r"
    old.set_table_acl(table)
    assert old.get_table_acl(table) == {}


def test_service_properties(old):
    assert old.get_table_service_properties().logging is not None


def test_subclass_of_dict(old, table):
    made = Entity(PartitionKey="p", RowKey="")
    made.a = "x"
    old.insert_entity(table, made)
    assert old.get_entity(table, "p", "").a == "x"
