"""Query Blob Contents through the SDK: formats, statements, faults, large blobs."""

from __future__ import annotations

import json
import pytest
from azure.core import MatchConditions
from azure.storage.blob import (
    ArrowDialect,
    DelimitedJsonDialect,
    DelimitedTextDialect,
    QuickQueryDialect,
)

PEOPLE = b'name,age,city\r\nann,31,Bern\r\n"bo, jr",7,Paris\r\ncy,64,Bern\r\n'
HEADED = DelimitedTextDialect(has_header=True)
PLAIN = DelimitedTextDialect()


@pytest.fixture
def people(blob):
    blob.upload_blob(PEOPLE)
    return blob


@pytest.mark.parametrize(
    ("sql", "want"),
    [
        ("SELECT * FROM BlobStorage", b'ann,31,Bern\n"bo, jr",7,Paris\ncy,64,Bern\n'),
        ("SELECT name FROM BlobStorage WHERE age > 30", b"ann\ncy\n"),
        ("SELECT _3, _1 FROM BlobStorage WHERE city LIKE 'P%'", b'Paris,"bo, jr"\n'),
        ("SELECT COUNT(*) FROM BlobStorage WHERE city = 'Bern'", b"2\n"),
        ("SELECT SUM(CAST(age AS INT)) FROM BlobStorage", b"102\n"),
        ("SELECT UPPER(name) FROM BlobStorage WHERE age BETWEEN 7 AND 31 LIMIT 1", b"ANN\n"),
        ("SELECT name FROM BlobStorage WHERE city IN ('Rome')", b""),
    ],
)
def test_delimited_text(people, sql, want):
    reader = people.query_blob(sql, blob_format=HEADED, output_format=PLAIN)
    assert reader.readall() == want
    assert len(reader) == len(PEOPLE)


def test_without_formats_everything_is_plain_text(people):
    assert people.query_blob("SELECT * FROM BlobStorage").readall() == PEOPLE.replace(b"\r", b"")


def test_headers_come_back_when_asked_for(people):
    reader = people.query_blob("SELECT * FROM BlobStorage", blob_format=HEADED)
    assert reader.readall() == PEOPLE.replace(b"\r", b"")
    records = people.query_blob("SELECT age FROM BlobStorage", blob_format=HEADED).records()
    assert [r for r in records if r] == [b"age", b"31", b"7", b"64"]


def test_other_separators(blob):
    blob.upload_blob(b"a;b|'x;y';1|")
    dialect = DelimitedTextDialect(delimiter=";", quotechar="'", lineterminator="|")
    reader = blob.query_blob("SELECT _1 FROM BlobStorage", blob_format=dialect, output_format=PLAIN)
    assert reader.readall() == b"a\nx;y\n"


def test_json(blob):
    documents = [
        {"id": 1, "name": "mouse", "price": 12.5, "warehouses": [{"latitude": 41.8}]},
        {"id": 2, "name": "key", "warehouses": [{"latitude": 1}, {"latitude": 2}]},
    ]
    blob.upload_blob("\n".join(json.dumps(d) for d in documents))
    dialect = DelimitedJsonDialect(delimiter="\n")

    def ask(sql, **kw):
        text = blob.query_blob(sql, blob_format=dialect, **kw).readall().decode()
        return [json.loads(line) for line in text.splitlines()]

    assert ask("SELECT * FROM BlobStorage") == documents
    assert ask("SELECT name FROM BlobStorage[*] WHERE price IS MISSING") == [{"name": "key"}]
    latitudes = ask("SELECT latitude FROM BlobStorage[*].warehouses[*]")
    assert latitudes == [{"latitude": 41.8}, {"latitude": 1}, {"latitude": 2}]
    text = blob.query_blob(
        "SELECT id, warehouses[0].latitude FROM BlobStorage",
        blob_format=QuickQueryDialect.DelimitedJson,
        output_format=PLAIN,
    )
    assert text.readall() == b"1,41.8\n2,1\n"


def test_text_becomes_json(people):
    reader = people.query_blob(
        "SELECT name, age FROM BlobStorage LIMIT 1",
        blob_format=HEADED,
        output_format=DelimitedJsonDialect(delimiter="\n"),
    )
    assert json.loads(reader.readall()) == {"name": "ann", "age": "31"}


def test_a_bad_record_is_reported_and_left_out(blob):
    blob.upload_blob(b"1,a\n2\n3,c\n")
    errors = []
    reader = blob.query_blob("SELECT _2 FROM BlobStorage", on_error=errors.append)
    assert reader.readall() == b"a\nc\n"
    assert [(e.error, e.is_fatal, e.position) for e in errors] == [
        ("InvalidColumnOrdinal", False, 4)
    ]


def test_data_that_is_no_json_ends_the_query(people):
    errors = []
    reader = people.query_blob(
        "SELECT * FROM BlobStorage",
        blob_format=DelimitedJsonDialect(delimiter="\n"),
        on_error=errors.append,
    )
    assert reader.readall() == b""
    assert [(e.error, e.is_fatal) for e in errors] == [("ParseError", True)]


@pytest.mark.parametrize("sql", ["", "SELECT", "DELETE FROM BlobStorage", "SELECT * FROM t"])
def test_statements_that_cannot_be_read(people, refused, sql):
    with refused(400):
        people.query_blob(sql).readall()


def test_formats_that_are_not_served(people, refused):
    with refused(501):
        people.query_blob(
            "SELECT * FROM BlobStorage", output_format=[ArrowDialect("int64", name="a")]
        )
    with refused(501):
        people.query_blob("SELECT * FROM BlobStorage", blob_format=QuickQueryDialect.Parquet)


def test_conditions_and_leases(people, box, refused):
    sql = "SELECT COUNT(*) FROM BlobStorage"
    etag = people.get_blob_properties().etag
    people.query_blob(sql, etag=etag, match_condition=MatchConditions.IfNotModified)
    with refused(412, "ConditionNotMet"):
        other = '"0x8DF42D2D30BDA87"'
        people.query_blob(sql, etag=other, match_condition=MatchConditions.IfNotModified)
    with refused(304):
        people.query_blob(sql, etag=etag, match_condition=MatchConditions.IfModified)
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        people.query_blob(sql, lease="00000000-0000-0000-0000-000000000001")
    with refused(404, "BlobNotFound"):
        box.get_blob_client("none").query_blob(sql)
    log = box.get_blob_client("log")
    log.create_append_blob()
    with refused(409, "InvalidBlobType"):
        log.query_blob(sql)


def test_a_snapshot(people, box):
    snapshot = people.create_snapshot()
    people.upload_blob(b"a\n", overwrite=True)
    old = box.get_blob_client(people.blob_name, snapshot=snapshot["snapshot"])
    assert old.query_blob("SELECT COUNT(*) FROM BlobStorage").readall() == b"4\n"


class Counter:
    """Takes what is written and keeps only how much it was."""

    bytes = 0

    def write(self, piece: bytes) -> None:
        self.bytes += len(piece)


def test_a_large_blob_is_streamed(server, blob):
    line = b"%07d,some text that fills the line,0123456789012345678901234567890123\n"
    count = 50 * 1024 * 1024 // len(line % 0)
    blob.upload_blob(b"".join(line % n for n in range(count)), max_concurrency=4)
    before = server.rss_kib() * 1024
    reader = blob.query_blob("SELECT _1 FROM BlobStorage WHERE _1 % 1000 = 0")
    assert reader.readall() == b"".join(b"%07d\n" % n for n in range(0, count, 1000))
    counter = Counter()
    blob.query_blob("SELECT * FROM BlobStorage").readinto(counter)
    assert counter.bytes == count * len(line % 0)
    grown = server.rss_kib() * 1024 - before
    print(f"-- memory grew by {grown / 2**20:.1f} MiB while 50 MiB were queried twice")
    assert grown < 32 * 1024 * 1024
