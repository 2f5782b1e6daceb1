"""The Queue service at wire level: exact documents, statuses, limits, CORS, old versions."""

from __future__ import annotations

import re

import pytest

from harness import DEV_ACCOUNT, Client
from harness.signing import DEV_KEY, _query, account_sas, iso_time, mac

DATE = r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
GUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
RECEIPT = r"[A-Za-z0-9_-]{16}"
PROLOGUE = r'\ufeff?<\?xml version="1\.0" encoding="utf-8"\?>'


def message(text: str) -> str:
    return f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>"


def put(wire: Client, box: str, text: str = "x", query: str = "", **kw):
    return wire.send("POST", f"{box}/messages", query, {}, message(text), **kw)


def only(reply, tag: str) -> str:
    return reply.xml().find(f".//{tag}").text


def queue_sas(name: str, permissions: str = "raup", version: str = "2021-02-12", **extra) -> str:
    """A queue SAS made from the protocol's description."""
    expiry = extra.get("expiry", iso_time(3600))
    policy = extra.get("policy", "")
    ip, protocol = extra.get("ip", ""), extra.get("protocol", "")
    canon = ("/queue" if version >= "2015-02-21" else "") + f"/{DEV_ACCOUNT}/{name}"
    lines = [permissions, "", expiry, canon, policy]
    if version >= "2015-04-05":
        lines += [ip, protocol]
    lines.append(version)
    return _query({"sv": version, "sp": permissions, "se": expiry, "si": policy, "sip": ip,
                   "spr": protocol, "sig": mac(DEV_KEY, "\n".join(lines))})  # fmt: skip


# -- documents -------------------------------------------------------------------------------


def test_put_get_peek_documents(wire, box):
    reply = put(wire, box, "a &amp; b").expect(201)
    assert reply.headers["content-type"] == "application/xml"
    assert re.fullmatch(
        PROLOGUE + rf"<QueueMessagesList><QueueMessage><MessageId>{GUID}</MessageId>"
        rf"<InsertionTime>{DATE}</InsertionTime><ExpirationTime>{DATE}</ExpirationTime>"
        rf"<PopReceipt>{RECEIPT}</PopReceipt><TimeNextVisible>{DATE}</TimeNextVisible>"
        r"</QueueMessage></QueueMessagesList>",
        reply.body.decode(),
    ), reply.body
    reply = wire.send("GET", f"{box}/messages", "peekonly=true").expect(200)
    assert reply.headers["cache-control"] == "no-cache"
    assert re.fullmatch(
        PROLOGUE + rf"<QueueMessagesList><QueueMessage><MessageId>{GUID}</MessageId>"
        rf"<InsertionTime>{DATE}</InsertionTime><ExpirationTime>{DATE}</ExpirationTime>"
        r"<DequeueCount>0</DequeueCount><MessageText>a &amp; b</MessageText>"
        r"</QueueMessage></QueueMessagesList>",
        reply.body.decode(),
    ), reply.body
    reply = wire.send("GET", f"{box}/messages").expect(200)
    assert re.fullmatch(
        PROLOGUE + rf"<QueueMessagesList><QueueMessage><MessageId>{GUID}</MessageId>"
        rf"<InsertionTime>{DATE}</InsertionTime><ExpirationTime>{DATE}</ExpirationTime>"
        rf"<PopReceipt>{RECEIPT}</PopReceipt><TimeNextVisible>{DATE}</TimeNextVisible>"
        r"<DequeueCount>1</DequeueCount><MessageText>a &amp; b</MessageText>"
        r"</QueueMessage></QueueMessagesList>",
        reply.body.decode(),
    ), reply.body
    reply = wire.send("GET", f"{box}/messages").expect(200)
    assert re.fullmatch(PROLOGUE + "<QueueMessagesList />", reply.body.decode()), reply.body


def test_listing_document(wire, name):
    for i in range(3):
        wire.send("PUT", f"/{name}{i}", "", {"x-ms-meta-Val1": "test"}).expect(201)
    query = f"comp=list&prefix={name}&maxresults=2&include=metadata"
    reply = wire.send("GET", "/", query).expect(200)
    entry = "<Queue><Name>{}</Name><Metadata><Val1>test</Val1></Metadata></Queue>"
    assert re.fullmatch(
        PROLOGUE + rf'<EnumerationResults ServiceEndpoint="http://127\.0\.0\.1:\d+/{DEV_ACCOUNT}/">'
        rf"<Prefix>{name}</Prefix><MaxResults>2</MaxResults><Queues>"
        + entry.format(f"{name}0") + entry.format(f"{name}1")
        + r"</Queues><NextMarker>[^<]+</NextMarker></EnumerationResults>",
        reply.body.decode(),
    ), reply.body
    marker = only(reply, "NextMarker")
    reply = wire.send("GET", "/", f"{query}&marker={marker}").expect(200)
    assert f"<Marker>{marker}</Marker>" in reply.body.decode()
    assert reply.body.decode().endswith("<NextMarker /></EnumerationResults>")
    reply = wire.send("GET", "/", "comp=list&prefix=none-such").expect(200)
    assert b"<Queues />" in reply.body


def test_create_rules(wire, name):
    meta = {"x-ms-meta-a": "1"}
    wire.send("PUT", f"/{name}", "", meta).expect(201)
    wire.send("PUT", f"/{name}", "", meta).expect(204)
    wire.send("PUT", f"/{name}", "", {"x-ms-meta-A": "1"}).expect(204)
    for other in ({}, {"x-ms-meta-a": "2"}, {"x-ms-meta-a": "1", "x-ms-meta-b": "2"}):
        wire.send("PUT", f"/{name}", "", other).expect(409, "QueueAlreadyExists")
    # A stray header of a vendor's client, without a name after the dash, is no metadata.
    wire.send("PUT", f"/{name}", "", {**meta, "x-ms-meta": "{'a': '1'}"}).expect(204)
    wire.send("DELETE", f"/{name}").expect(204)
    wire.send("DELETE", f"/{name}").expect(404, "QueueNotFound")


def test_metadata_document(wire, box):
    wire.send("PUT", box, "comp=metadata", {"x-ms-meta-MixedCase": "v"}).expect(204)
    for method in ("GET", "HEAD"):
        reply = wire.send(method, box, "comp=metadata").expect(200)
        assert reply.headers["x-ms-approximate-messages-count"] == "0"
        assert reply.headers["x-ms-meta-mixedcase"] == "v"
        assert reply.body == b""


def test_update_headers(wire, box):
    sent = put(wire, box).expect(201)
    path = f"{box}/messages/{only(sent, 'MessageId')}"
    query = {"popreceipt": only(sent, "PopReceipt"), "visibilitytimeout": 5}
    reply = wire.send("PUT", path, query, {}, message("new")).expect(204)
    assert re.fullmatch(RECEIPT, reply.headers["x-ms-popreceipt"])
    assert re.fullmatch(DATE, reply.headers["x-ms-time-next-visible"])
    assert reply.body == b""


def test_acl_document(wire, box):
    reply = wire.send("GET", box, "comp=acl").expect(200)
    assert reply.body.decode().endswith("<SignedIdentifiers />")
    body = (
        "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Start>2021-06-08</Start>"
        "<Expiry>2031-06-08T03:10:09Z</Expiry><Permission>raup</Permission></AccessPolicy>"
        "</SignedIdentifier></SignedIdentifiers>"
    )
    wire.send("PUT", box, "comp=acl", {}, body).expect(204)
    text = wire.send("GET", box, "comp=acl").expect(200).body.decode()
    assert "<Start>2021-06-08T00:00:00.0000000Z</Start>" in text
    assert "<Permission>raup</Permission>" in text
    wire.send("PUT", box, "comp=acl").expect(204)
    assert b"<SignedIdentifiers />" in wire.send("GET", box, "comp=acl").body


def test_error_document(wire):
    reply = wire.send("GET", "/none-such/messages").expect(404, "QueueNotFound")
    assert re.fullmatch(
        PROLOGUE + r"<Error><Code>QueueNotFound</Code><Message>The specified queue does not exist\."
        rf"\nRequestId:{GUID}\nTime:\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{7}}Z</Message></Error>",
        reply.body.decode(),
    ), reply.body


def test_text_comes_back_as_it_was_sent(wire, box):
    for text, want in [
        (" lead and trail ", " lead and trail "),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("&lt;xml a=&quot;b&quot;/&gt; &amp;amp;", '<xml a="b"/> &amp;'),
        ("<![CDATA[<raw> & ]]>", "<raw> & "),
        ("\u00e9\u6f22\U0001f642", "\u00e9\u6f22\U0001f642"),
        ("", None),
    ]:
        put(wire, box, text).expect(201)
        got = wire.send("GET", f"{box}/messages").expect(200)
        assert only(got, "MessageText") == want
        query = {"popreceipt": only(got, "PopReceipt")}
        wire.send("DELETE", f"{box}/messages/{only(got, 'MessageId')}", query).expect(204)


# -- receipts --------------------------------------------------------------------------------


def test_receipts(wire, box):
    one, two = put(wire, box, "1"), put(wire, box, "2")
    path = f"{box}/messages/{only(one, 'MessageId')}"
    unknown = f"{box}/messages/00000000-0000-4000-8000-000000000000"
    good, foreign = only(one, "PopReceipt"), only(two, "PopReceipt")
    taken = wire.send("GET", f"{box}/messages").expect(200)
    current = only(taken, "PopReceipt")
    for target, receipt, status, code in [
        (unknown, current, 404, "MessageNotFound"),
        (f"{box}/messages/nonsense", current, 404, "MessageNotFound"),
        (unknown, "garbled", 404, "MessageNotFound"),
        (path, good, 404, "MessageNotFound"),
        (path, foreign, 400, "PopReceiptMismatch"),
        (path, "garbled", 400, "InvalidQueryParameterValue"),
        (path, "", 400, "InvalidQueryParameterValue"),
        (path, "AgAAAAMAAAAAAAAAMwBVJ1Dq2AE=", 400, "InvalidQueryParameterValue"),
        ("/none-such" + path[len(box):], current, 404, "QueueNotFound"),
    ]:
        update = {"popreceipt": receipt, "visibilitytimeout": 0}
        wire.send("PUT", target, update, {}, message("no")).expect(status, code)
        wire.send("DELETE", target, {"popreceipt": receipt}).expect(status, code)
    seen = wire.send("GET", f"{box}/messages", "peekonly=true&numofmessages=32").expect(200)
    assert [m.findtext("MessageText") for m in seen.xml()] == ["2"], "nothing was changed"
    wire.send("DELETE", path, {"popreceipt": current}).expect(204)
    wire.send("DELETE", path, {"popreceipt": current}).expect(404, "MessageNotFound")


# -- bad input -------------------------------------------------------------------------------

RANGE, VALUE = "OutOfRangeQueryParameterValue", "InvalidQueryParameterValue"
XML, MISSING = "InvalidXmlDocument", "MissingRequiredQueryParameter"
M = "/bad/messages"
ID = f"{M}/00000000-0000-4000-8000-000000000000"
BAD = [
    # method, path, query, headers, body, status, code
    ("POST", M, "visibilitytimeout=-1", {}, message("x"), 400, RANGE),
    ("POST", M, "visibilitytimeout=604801", {}, message("x"), 400, RANGE),
    ("POST", M, "visibilitytimeout=soon", {}, message("x"), 400, VALUE),
    ("POST", M, "messagettl=0", {}, message("x"), 400, VALUE),
    ("POST", M, "messagettl=-2", {}, message("x"), 400, VALUE),
    ("POST", M, "messagettl=1.5", {}, message("x"), 400, VALUE),
    ("POST", M, "messagettl=10&visibilitytimeout=10", {}, message("x"), 400, VALUE),
    ("POST", M, "messagettl=1&messagettl=2", {}, message("x"), 400, VALUE),
    ("POST", M, "timeout=never", {}, message("x"), 400, VALUE),
    ("POST", M, "", {}, "", 400, XML),
    ("POST", M, "", {}, "text", 400, XML),
    ("POST", M, "", {}, "<QueueMessage/>", 400, XML),
    ("POST", M, "", {}, "<Other><MessageText>x</MessageText></Other>", 400, XML),
    ("POST", M, "", {}, "<QueueMessage><MessageText>x", 400, XML),
    ("POST", M, "", {}, message("<b/>"), 400, XML),
    ("POST", M, "", {}, message("&#1;"), 400, XML),
    ("POST", M, "", {}, message("\x01"), 400, XML),
    ("POST", M, "", {}, message("\ufffe"), 400, XML),
    ("POST", M, "", {}, b"\xff\xfe", 400, XML),
    ("POST", M, "", {}, '<!DOCTYPE a [<!ENTITY b "c">]>' + message("&b;"), 400, XML),
    ("POST", M, "", {}, message("x" * 65537), 413, "RequestBodyTooLarge"),
    ("POST", M, "", {}, message("é" * 32769), 413, "RequestBodyTooLarge"),
    ("POST", M, "", {}, message("x" * 1_200_000), 413, "RequestBodyTooLarge"),
    ("GET", M, "numofmessages=0", {}, "", 400, RANGE),
    ("GET", M, "numofmessages=33", {}, "", 400, RANGE),
    ("GET", M, "numofmessages=many", {}, "", 400, VALUE),
    ("GET", M, "visibilitytimeout=0", {}, "", 400, RANGE),
    ("GET", M, "visibilitytimeout=604801", {}, "", 400, RANGE),
    ("GET", M, "peekonly=perhaps", {}, "", 400, VALUE),
    ("GET", M, "peekonly=true&numofmessages=33", {}, "", 400, RANGE),
    ("GET", M, "comp=nonsense", {}, "", 400, VALUE),
    ("PUT", M, "", {}, message("x"), 405, "UnsupportedHttpVerb"),
    ("PUT", ID, "visibilitytimeout=0", {}, message("x"), 400, MISSING),
    ("PUT", ID, "popreceipt=x", {}, message("x"), 400, MISSING),
    ("PUT", ID, "popreceipt=x&visibilitytimeout=-1", {}, message("x"), 400, RANGE),
    ("PUT", ID, "popreceipt=x&visibilitytimeout=0", {}, "<", 400, XML),
    ("DELETE", ID, "", {}, "", 400, MISSING),
    ("GET", ID, "", {}, "", 405, "UnsupportedHttpVerb"),
    ("GET", f"{ID}/more", "", {}, "", 400, "InvalidUri"),
    ("GET", "/bad/other", "", {}, "", 400, "InvalidUri"),
    ("GET", "/bad", "", {}, "", 405, "UnsupportedHttpVerb"),
    ("GET", "/bad", "comp=nonsense", {}, "", 400, VALUE),
    ("GET", "/bad", "restype=service&comp=properties", {}, "", 400, VALUE),
    ("GET", "/", "", {}, "", 400, VALUE),
    ("GET", "/", "comp=list&maxresults=0", {}, "", 400, RANGE),
    ("GET", "/", "comp=list&maxresults=x", {}, "", 400, VALUE),
    ("GET", "/", "comp=list&include=messages", {}, "", 400, VALUE),
    ("GET", "/", "comp=list&marker=nonsense", {}, "", 400, "InvalidMarker"),
    ("GET", "/", "restype=service&comp=stats", {}, "", 400, VALUE),
    ("PUT", "/", "restype=service&comp=properties", {}, "<a/>", 400, XML),
    ("PUT", "/Bad", "", {}, "", 400, "InvalidResourceName"),
    ("PUT", "/b--d", "", {}, "", 400, "InvalidResourceName"),
    ("PUT", "/-bad", "", {}, "", 400, "InvalidResourceName"),
    ("PUT", "/b%2Fd", "", {}, "", 400, "InvalidResourceName"),
    ("PUT", "/b", "", {}, "", 400, "OutOfRangeInput"),
    ("PUT", f"/{'b' * 64}", "", {}, "", 400, "OutOfRangeInput"),
    ("PUT", "/bad-meta", "", {"x-ms-meta-1": "x"}, "", 400, "InvalidMetadata"),
    ("PUT", "/bad-meta", "", {"x-ms-meta-": "x"}, "", 400, "EmptyMetadataKey"),
    ("PUT", "/bad-meta", "", {"x-ms-meta-a": "x" * 8192}, "", 400, "MetadataTooLarge"),
    ("PUT", "/bad", "comp=metadata", {"x-ms-meta-a-b": "x"}, "", 400, "InvalidMetadata"),
    ("PUT", "/none-such", "comp=metadata", {}, "", 404, "QueueNotFound"),
    ("GET", "/none-such", "comp=metadata", {}, "", 404, "QueueNotFound"),
    ("GET", "/none-such", "comp=acl", {}, "", 404, "QueueNotFound"),
    ("PUT", "/none-such", "comp=acl", {}, "", 404, "QueueNotFound"),
    ("DELETE", "/none-such/messages", "", {}, "", 404, "QueueNotFound"),
    ("POST", "/none-such/messages", "", {}, message("x"), 404, "QueueNotFound"),
    ("GET", "/none-such/messages", "peekonly=true", {}, "", 404, "QueueNotFound"),
    ("PUT", "/bad", "comp=acl", {}, "<SignedIdentifiers><a/></SignedIdentifiers>", 400, XML),
    ("PUT", "/bad", "comp=acl", {}, "<SignedIdentifiers><SignedIdentifier><Id>" + "x" * 65
     + "</Id></SignedIdentifier></SignedIdentifiers>", 400, XML),
    ("GET", M, "", {"x-ms-version": "yesterday"}, "", 400, "InvalidHeaderValue"),
    ("PATCH", M, "", {}, "", 405, "UnsupportedHttpVerb"),
]  # fmt: skip


@pytest.fixture(scope="module")
def bad(wire):
    wire.send("PUT", "/bad", "", {"x-ms-meta-a": "1"}).expect(201)
    put(wire, "/bad", "stays").expect(201)


@pytest.mark.parametrize("row", BAD, ids=[f"{i} {r[0]} {r[2][:30]}" for i, r in enumerate(BAD)])
def test_bad_input(wire, bad, row):
    method, path, query, headers, body, status, code = row
    reply = wire.send(method, path, query, headers, body).expect(status, code)
    if code == RANGE:
        text = reply.body.decode()
        for detail in ("QueryParameterName", "QueryParameterValue", "Minimum", "Maximum"):
            assert f"<{detail}" in text, text
    if status == 413:
        assert b"<MaxLimit>65536</MaxLimit>" in reply.body
    after = wire.send("GET", "/bad", "comp=metadata").expect(200)
    assert after.headers["x-ms-approximate-messages-count"] == "1", "nothing was changed"
    assert after.headers["x-ms-meta-a"] == "1"


# -- credentials -----------------------------------------------------------------------------


def test_shared_key_lite(wire, box):
    wire.send("PUT", box, "comp=metadata", {"x-ms-meta-a": "1"}, auth="lite").expect(204)
    put(wire, box, auth="lite").expect(201)
    wire.send("GET", box, "comp=metadata", auth="lite").expect(200)


@pytest.mark.parametrize(
    "version", ["2012-02-12", "2013-08-15", "2015-02-21", "2015-04-05", "2021-02-12"]
)
def test_queue_sas_layouts(wire, box, version):
    token = queue_sas(box[1:], version=version)
    put(wire, box, query=token, auth="none", version=version).expect(201)
    wire.send("GET", f"{box}/messages", token, auth="none", version=version).expect(200)


OPERATIONS = [
    # method, suffix, query, body, letters of a queue SAS, (srt, letters) of an account SAS
    ("POST", "/messages", "", message("x"), "a", "o", "a"),
    ("GET", "/messages", "peekonly=true", "", "r", "o", "r"),
    ("GET", "/messages", "", "", "p", "o", "p"),
    ("PUT", "/messages/x", "popreceipt=x&visibilitytimeout=0", "", "u", "o", "u"),
    ("DELETE", "/messages/x", "popreceipt=x", "", "p", "o", "p"),
    ("DELETE", "/messages", "", "", "", "o", "d"),
    ("GET", "", "comp=metadata", "", "r", "c", "r"),
    ("PUT", "", "comp=metadata", "", "", "c", "w"),
    ("GET", "", "comp=acl", "", "", "", ""),
    ("PUT", "", "comp=acl", "", "", "", ""),
    ("PUT", "", "", "", "", "c", "cw"),
    ("DELETE", "", "", "", "", "c", "d"),
]


@pytest.mark.parametrize("letter", "raup")
@pytest.mark.parametrize("row", OPERATIONS, ids=[f"{r[0]}{r[1]} {r[2]}" for r in OPERATIONS])
def test_every_letter_of_a_queue_sas(wire, box, row, letter):
    method, suffix, query, body, needs, _, _ = row
    token = queue_sas(box[1:], letter)
    reply = wire.send(method, box + suffix, f"{query}&{token}".lstrip("&"), {}, body, auth="none")
    if letter in needs:
        assert reply.status < 300 or reply.code == "MessageNotFound", (reply.status, reply.code)
    else:
        code = "AuthorizationPermissionMismatch" if needs else "AuthorizationFailure"
        reply.expect(403, code)


@pytest.mark.parametrize("kind", "sco")
@pytest.mark.parametrize("letter", "rwdlacup")
@pytest.mark.parametrize("row", OPERATIONS, ids=[f"{r[0]}{r[1]} {r[2]}" for r in OPERATIONS])
def test_every_letter_of_an_account_sas(wire, box, row, letter, kind):
    method, suffix, query, body, _, level, needs = row
    token = account_sas(letter, "q", kind)
    reply = wire.send(method, box + suffix, f"{query}&{token}".lstrip("&"), {}, body, auth="none")
    if level == kind and letter in needs:
        assert reply.status < 300 or reply.code == "MessageNotFound", (reply.status, reply.code)
    else:
        reply.expect(403)


def test_credentials_of_other_services_and_queues(wire, box, name):
    wire.send("GET", f"{box}/messages", account_sas("p", "b", "o"), auth="none").expect(
        403, "AuthorizationServiceMismatch"
    )
    token = queue_sas("another-queue")
    wire.send("GET", f"{box}/messages", token, auth="none").expect(403)
    late = queue_sas(name, expiry=iso_time(-60))
    wire.send("GET", f"{box}/messages", late, auth="none").expect(403, "AuthenticationFailed")
    elsewhere = queue_sas(name, ip="10.1.2.3")
    wire.send("GET", f"{box}/messages", elsewhere, auth="none").expect(
        403, "AuthorizationSourceIPMismatch"
    )
    secure = queue_sas(name, protocol="https")
    wire.send("GET", f"{box}/messages", secure, auth="none").expect(
        403, "AuthorizationProtocolMismatch"
    )
    wire.send("GET", f"{box}/messages", auth="none").expect(401, "NoAuthenticationInformation")


# -- CORS ------------------------------------------------------------------------------------


def test_cors(wire, box):
    rules = (
        "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://a</AllowedOrigins>"
        "<AllowedMethods>GET</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders>"
        "<ExposedHeaders>x-ms-*</ExposedHeaders><MaxAgeInSeconds>9</MaxAgeInSeconds></CorsRule>"
        "</Cors></StorageServiceProperties>"
    )
    asks = {"Origin": "http://a", "Access-Control-Request-Method": "GET"}
    path = f"{box}/messages"
    wire.send("OPTIONS", path, "", asks, auth="none").expect(403, "CorsPreflightFailure")
    wire.send("PUT", "/", "restype=service&comp=properties", {}, rules).expect(202)
    try:
        reply = wire.send("OPTIONS", path, "", asks, auth="none").expect(200)
        assert reply.headers["access-control-allow-origin"] == "http://a"
        assert reply.headers["access-control-max-age"] == "9"
        reply = wire.send("GET", path, "", {"Origin": "http://a"}).expect(200)
        assert reply.headers["access-control-allow-origin"] == "http://a"
        reply = wire.send("GET", path, "", {"Origin": "http://b"}).expect(200)
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["vary"] == "Origin"
    finally:
        nothing = "<StorageServiceProperties><Cors /></StorageServiceProperties>"
        wire.send("PUT", "/", "restype=service&comp=properties", {}, nothing).expect(202)


# -- versions that are no longer new ---------------------------------------------------------


def test_2009(wire, name):
    old = {"version": "2009-09-19"}
    wire.send("PUT", f"/{name}", **old).expect(201)
    reply = put(wire, f"/{name}", "old", **old).expect(201)
    assert reply.body == b"", "a put answered nothing then"
    put(wire, f"/{name}", "x" * 8193, **old).expect(413, "RequestBodyTooLarge")
    put(wire, f"/{name}", "x", "visibilitytimeout=1", **old).expect(400)
    got = wire.send("GET", f"/{name}/messages", "visibilitytimeout=7200", **old).expect(200)
    wire.send("GET", f"/{name}/messages", "visibilitytimeout=7201", **old).expect(400, RANGE)
    path = f"/{name}/messages/{only(got, 'MessageId')}"
    receipt = {"popreceipt": only(got, "PopReceipt")}
    wire.send("PUT", path, {**receipt, "visibilitytimeout": 0}, **old).expect(405)
    wire.send("DELETE", path, receipt, **old).expect(204)
    reply = wire.send("GET", "/", f"comp=list&prefix={name}", **old).expect(200)
    text = reply.body.decode()
    assert 'AccountName="' in text and f"/{name}</Url>" in text


@pytest.mark.parametrize("version", ["2011-08-18", "2012-02-12", "2013-08-15", "2015-12-11"])
def test_versions_between(wire, name, version):
    now = {"version": version}
    wire.send("PUT", f"/{name}", **now).expect(201)
    assert put(wire, f"/{name}", "x" * 65536, "visibilitytimeout=0", **now).expect(201).body == b""
    put(wire, f"/{name}", "x", "messagettl=604801", **now).expect(400, RANGE)
    put(wire, f"/{name}", "x", "messagettl=-1", **now).expect(400, RANGE)
    got = wire.send("GET", f"/{name}/messages", "visibilitytimeout=604800", **now).expect(200)
    path = f"/{name}/messages/{only(got, 'MessageId')}"
    query = {"popreceipt": only(got, "PopReceipt"), "visibilitytimeout": 0}
    wire.send("PUT", path, query, {}, message("y"), **now).expect(204)
    listed = wire.send("GET", "/", f"comp=list&prefix={name}", **now).expect(200).body.decode()
    assert ("ServiceEndpoint=" in listed) == (version >= "2013-08-15")
    assert ("<Url>" in listed) == (version < "2013-08-15")


def test_2016_answers_puts(wire, box):
    assert only(put(wire, box, version="2016-05-31").expect(201), "PopReceipt")


def test_versions_to_come(wire, box):
    put(wire, box, version="2099-01-01").expect(201)
