"""What clients do not show: every cell of the article's table, formats, bad input, batches by hand."""

from __future__ import annotations

import json

import pytest

KEYS = {"PartitionKey": "p", "RowKey": "r"}
ONE = "(PartitionKey='p',RowKey='r')"
OTHER = "W/\"datetime'2001-01-01T00%3A00%3A00Z'\""


@pytest.fixture
def there(wire, path) -> str:
    """The path of a table with one entity; its ETag is what the insert answered."""
    wire.send("POST", path, {**KEYS, "n": 1}).expect(201)
    return path


def current(wire, path) -> str:
    return wire.send("GET", path + ONE).expect(200).headers["etag"]


# -- the article's table: returns an ETag, requires If-Match --------------------------------------

ARTICLE = [
    # operation, verb, body, returns ETag, checks If-Match
    ("Query Entities", "GET", None, True, False),
    ("Update Entity", "PUT", {"n": 2}, True, True),
    ("Merge Entity", "PATCH", {"n": 2}, True, True),
    ("Merge Entity (old verb)", "MERGE", {"n": 2}, True, True),
    ("Delete Entity", "DELETE", None, False, True),
    ("Insert Or Replace Entity", "PUT", {"n": 2}, True, False),
    ("Insert Or Merge Entity", "PATCH", {"n": 2}, True, False),
]


@pytest.mark.parametrize(("operation", "verb", "body", "returns", "checks"), ARTICLE)
def test_the_articles_rows(wire, there, operation, verb, body, returns, checks):
    before = current(wire, there)
    target = there + ONE
    if checks:
        wire.send(verb, target, body or b"", {"If-Match": OTHER}).expect(412, "UpdateConditionNotSatisfied")
        assert current(wire, there) == before, "a failed condition changes nothing"
        answer = wire.send(verb, target, body or b"", {"If-Match": before})
    else:
        answer = wire.send(verb, target, body or b"")
    assert answer.status in (200, 204), answer.body
    assert ("etag" in answer.headers) == returns
    if verb not in ("GET", "DELETE"):
        assert answer.headers["etag"] == current(wire, there) != before


def test_insert_returns_an_etag_and_requires_none(wire, path):
    answer = wire.send("POST", path, KEYS, {"If-Match": OTHER}).expect(201)
    assert answer.headers["etag"] == current(wire, path) == answer.json()["odata.etag"]


def test_delete_without_if_match(wire, there):
    wire.send("DELETE", there + ONE).expect(400, "MissingRequiredHeader")
    wire.send("DELETE", there + ONE, headers={"If-Match": "*"}).expect(204)
    wire.send("DELETE", there + ONE, headers={"If-Match": "*"}).expect(404, "ResourceNotFound")


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("value", ["wrong", '"strong"', 'W/"a", W/"b"', "W/unquoted"])
def test_malformed_etags(wire, there, verb, value):
    body = {} if verb != "DELETE" else b""
    wire.send(verb, there + ONE, body, {"If-Match": value}).expect(400, "InvalidInput")


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE"])
def test_well_formed_but_foreign_etags(wire, there, verb):
    body = {} if verb != "DELETE" else b""
    wire.send(verb, there + ONE, body, {"If-Match": 'W/"wrong"'}).expect(412)
    wire.send(verb, there + "(PartitionKey='p',RowKey='x')", body, {"If-Match": "*"}).expect(404, "ResourceNotFound")


def test_timestamps_rise_even_when_nothing_changes(wire, there):
    seen = [current(wire, there)]
    for _ in range(20):
        wire.send("PATCH", there + ONE, {}, {"If-Match": "*"}).expect(204)
        seen.append(current(wire, there))
    assert seen == sorted(set(seen))


# -- verbs, formats, preferences ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "tunnelled", "status", "code"),
    [
        ("POST", "MERGE", 204, None),
        ("POST", "PUT", 204, None),
        ("POST", "PATCH", 204, None),
        ("POST", "DELETE", 204, None),
        ("POST", "GET", 400, "XMethodIncorrectValue"),
        ("PUT", "MERGE", 400, "XMethodNotUsingPost"),
        ("POST", None, 405, "MethodNotAllowed"),
        ("HEAD", None, 405, None),
    ],
)
def test_verbs(wire, there, verb, tunnelled, status, code):
    headers = {"If-Match": "*"} | ({"X-HTTP-Method": tunnelled} if tunnelled else {})
    body = b"" if tunnelled == "DELETE" or verb == "HEAD" else {"n": 5}
    wire.send(verb, there + ONE, body, headers).expect(status, code)


@pytest.mark.parametrize(
    ("accept", "status", "has"),
    [
        ("application/json;odata=nometadata", 200, set()),
        ("application/json;odata=minimalmetadata", 200, {"odata.metadata", "odata.etag"}),
        ("application/json; odata=fullmetadata", 200, {"odata.metadata", "odata.type", "odata.id", "odata.etag", "odata.editLink", "Timestamp@odata.type"}),
        ("*/*", 200, {"odata.metadata", "odata.etag"}),
        ("application/json;odata=verbose", 415, None),
        ("application/atom+xml", 415, None),
        ("text/html", 415, None),
    ],
)  # fmt: skip
def test_formats(wire, there, accept, status, has):
    answer = wire.send("GET", there + ONE, headers={"Accept": accept}).expect(status)
    if has is not None:
        assert {name for name in answer.json() if "odata" in name} == has
    by_query = wire.send("GET", there + ONE, query=f"$format={accept.replace(';', '%3B').replace('+', '%2B').replace(' ', '%20')}")
    by_query.expect(status)


def test_preferences(wire, path):
    location = f"{path[1:]}(PartitionKey='p',RowKey='it''s')"
    body = {"PartitionKey": "p", "RowKey": "it's"}
    made = wire.send("POST", path, body, {"Prefer": "return-no-content"}).expect(204)
    assert made.headers["preference-applied"] == "return-no-content" and not made.body
    assert made.headers["location"].endswith(location) and made.headers["dataserviceid"] == made.headers["location"]
    made = wire.send("POST", path, {**body, "RowKey": "b"}, {"Prefer": "return-content"}).expect(201)
    assert made.headers["preference-applied"] == "return-content" and made.json()["RowKey"] == "b"
    made = wire.send("POST", path, {**body, "RowKey": "c"}).expect(201)
    assert "preference-applied" not in made.headers


def test_both_signatures(wire, there):
    wire.send("GET", there + ONE, lite=True).expect(200)
    wire.send("GET", there + ONE, sign=False).expect(403)
    wire.send("GET", there + ONE, headers={"x-ms-version": "2020-12-06"}, sign=False).expect(401)
    wire.send("GET", there, query="comp=acl", lite=True).expect(200)


def test_errors_are_json_or_xml(wire, there):
    failed = wire.send("GET", "/Nowhere" + ONE).expect(404, "TableNotFound")
    error = failed.json()["odata.error"]
    assert error["message"]["lang"] == "en-US" and "\nRequestId:" in error["message"]["value"]
    failed = wire.send("PUT", there, b"<nonsense", {"Content-Type": "application/xml"}, query="comp=acl")
    assert failed.expect(400).body.startswith(b'<?xml') and b"<m:code>InvalidXmlDocument" in failed.body


# -- bad input ------------------------------------------------------------------------------------

BAD_ENTITIES = [
    ("", "InvalidInput"),
    ("[]", "InvalidInput"),
    ("{", "InvalidInput"),
    ('{"PartitionKey":"p"}', "PropertiesNeedValue"),
    ('{"PartitionKey":"p","RowKey":null}', "PropertiesNeedValue"),
    ('{"PartitionKey":1,"RowKey":"r"}', "PrimaryKeyPropertyIsInvalidType"),
    ('{"PartitionKey":"a/b","RowKey":"r"}', "OutOfRangeInput"),
    ('{"PartitionKey":"a#b","RowKey":"r"}', "OutOfRangeInput"),
    ('{"PartitionKey":"a\\u0001","RowKey":"r"}', "OutOfRangeInput"),
    ('{"PartitionKey":"%s","RowKey":"r"}' % ("k" * 513), "KeyValueTooLarge"),
    ('{"PartitionKey":"p","RowKey":"r","a":[1]}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a":{}}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a":1,"a":2}', "DuplicatePropertiesSpecified"),
    ('{"PartitionKey":"p","RowKey":"r","a-b":1}', "PropertyNameInvalid"),
    ('{"PartitionKey":"p","RowKey":"r","%s":1}' % ("n" * 256), "PropertyNameTooLong"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Int64","a":"x"}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Int64","a":"9223372036854775808"}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Nothing","a":"x"}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.DateTime","a":"1600-01-01T00:00:00Z"}', "OutOfRangeInput"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Guid","a":"x"}', "InvalidInput"),
    ('{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Binary","a":"?"}', "InvalidInput"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), BAD_ENTITIES)
def test_bad_entities(wire, path, body, code):
    wire.send("POST", path, body, {"Content-Type": "application/json"}).expect(400, code)
    assert wire.send("GET", path).expect(200).json()["value"] == []


@pytest.mark.parametrize(
    ("verb", "target", "status", "code"),
    [
        ("GET", "/a", 400, "OutOfRangeInput"),
        ("GET", "/a-b-c", 400, "InvalidResourceName"),
        ("GET", "/1abc", 400, "InvalidResourceName"),
        ("GET", "/Tables('x')", 400, "OutOfRangeInput"),
        ("GET", "/Tables('Nowhere')", 404, "ResourceNotFound"),
        ("DELETE", "/Tables('Nowhere')", 404, "ResourceNotFound"),
        ("GET", "/Nowhere()", 404, "TableNotFound"),
        ("GET", "/abc(PartitionKey='p')", 400, "InvalidInput"),
        ("GET", "/abc(PartitionKey='p',RowKey='r'", 400, "InvalidInput"),
        ("GET", "/abc(Foo='p',RowKey='r')", 400, "InvalidInput"),
        ("PATCH", "/Tables", 405, "MethodNotAllowed"),
        ("PUT", "/Tables('abc')", 405, "MethodNotAllowed"),
        ("GET", "/$batch", 405, "MethodNotAllowed"),
    ],
)
def test_bad_targets(wire, verb, target, status, code):
    wire.send(verb, target).expect(status, code)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("$top=0", 400, "InvalidInput"),
        ("$top=1001", 400, "InvalidInput"),
        ("$top=-1", 400, "InvalidInput"),
        ("$top=x", 400, "InvalidInput"),
        ("$orderby=n", 501, "NotImplemented"),
        ("$skip=1", 501, "NotImplemented"),
        ("$filter=startswith(n,'a')", 501, "NotImplemented"),
        ("$filter=" + "(" * 200 + "n%20eq%201" + ")" * 200, 400, "InvalidInput"),
        ("NextPartitionKey=nonsense", 400, "InvalidInput"),
        ("$select=" + ",".join(f"p{n}" for n in range(256)), 400, "InvalidInput"),
        ("timeout=x", 400, "InvalidQueryParameterValue"),
        ("comp=nonsense", 400, "InvalidQueryParameterValue"),
    ],
)
def test_bad_queries(wire, path, query, status, code):
    wire.send("GET", path, query=query).expect(status, code)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "PropertiesNeedValue"),
        ({"TableName": "a"}, 400, "OutOfRangeInput"),
        ({"TableName": "a-b"}, 400, "InvalidResourceName"),
        ({"TableName": "tables"}, 400, "InvalidInput"),
        ("{", 400, "InvalidInput"),
    ],
)
def test_bad_tables(wire, body, status, code):
    wire.send("POST", "/Tables", body).expect(status, code)


def test_bodies_over_four_mebibytes(wire, path):
    wire.send("POST", path, b"x" * (4 * 1024 * 1024 + 1)).expect(413, "RequestBodyTooLarge")


# -- batches by hand ------------------------------------------------------------------------------


def batch(wire, parts: list[str], content_type="multipart/mixed; boundary=batch_1", changeset=True):
    inner = "".join(
        f"--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n{part}\r\n"
        for part in parts
    )
    body = f"--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n{inner}--changeset_1--\r\n--batch_1--\r\n"
    if not changeset:
        body = "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + parts[0] + "\r\n--batch_1--\r\n"
    return wire.send("POST", "/$batch", body, {"Content-Type": content_type})


def insert(wire, path: str, partition: str, row: str, **properties) -> str:
    body = json.dumps({"PartitionKey": partition, "RowKey": row, **properties})
    host = f"http://{wire.parts.netloc}"
    return f"POST {host}{wire.prefix}{path} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json;odata=minimalmetadata\r\n\r\n{body}"


def test_batch_of_one_partition_only(wire, path):
    answer = batch(wire, [insert(wire, path, "a", "1"), insert(wire, path, "b", "1")]).expect(202)
    assert b"HTTP/1.1 400 Bad Request" in answer.body
    assert b"1:All commands in a batch must operate on same entity group." in answer.body
    assert wire.send("GET", path).json()["value"] == []


def test_batch_of_one_table_only(wire, path):
    wire.send("POST", "/Tables", {"TableName": path[1:] + "x"}).expect(201)
    answer = batch(wire, [insert(wire, path, "a", "1"), insert(wire, path + "x", "a", "2")]).expect(202)
    assert b"CommandsInBatchActOnDifferentPartitions" in answer.body


def test_batches_far_over_their_limit_are_told_so(wire, path):
    answer = batch(wire, [insert(wire, path, "a", str(number)) for number in range(300)]).expect(202)
    assert b"99:The batch request operation exceeds the maximum 100 changes" in answer.body
    assert wire.send("GET", path).json()["value"] == []


def test_one_failed_operation_has_no_position_and_several_have(wire, path):
    wire.send("POST", path, KEYS).expect(201)
    answer = batch(wire, [insert(wire, path, "p", "r")]).expect(202)
    assert b"HTTP/1.1 409 Conflict" in answer.body and b'"value":"The specified entity' in answer.body
    answer = batch(wire, [insert(wire, path, "p", "x"), insert(wire, path, "p", "r")]).expect(202)
    assert b'"value":"1:The specified entity' in answer.body
    assert [each["RowKey"] for each in wire.send("GET", path).json()["value"]] == ["r"]


def test_a_query_alone_in_a_batch(wire, path):
    wire.send("POST", path, {**KEYS, "n": 7}).expect(201)
    get = f"GET http://{wire.parts.netloc}{wire.prefix}{path}{ONE} HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n"
    answer = batch(wire, [get], changeset=False).expect(202)
    assert b"HTTP/1.1 200 OK" in answer.body and b'"n":7' in answer.body
    answer = batch(wire, [get.replace("RowKey='r'", "RowKey='x'")], changeset=False).expect(202)
    assert b"HTTP/1.1 404 Not Found" in answer.body
    answer = batch(wire, [get]).expect(202)
    assert b"HTTP/1.1 400 Bad Request" in answer.body


@pytest.mark.parametrize(
    "body", [b"", b"nonsense", b"--batch_1--\r\n", b"--batch_1\r\n\r\n", b"--batch_1\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\n--batch_1--\r\n"]
)  # fmt: skip
def test_malformed_batches(wire, body):
    wire.send("POST", "/$batch", body, {"Content-Type": "multipart/mixed; boundary=batch_1"}).expect(400, "InvalidInput")
    wire.send("POST", "/$batch", body, {"Content-Type": "text/plain"}).expect(400, "InvalidInput")
