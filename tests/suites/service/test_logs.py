"""Storage analytics logs: what is written, by whom it can be changed, and what it never shows."""

from __future__ import annotations

import csv

import pytest

from harness import Client, Server

PROPERTIES = "restype=service&comp=properties"


def logging(version: str, read: bool, write: bool, delete: bool) -> str:
    flags = {"Read": read, "Write": write, "Delete": delete}
    flags = "".join(f"<{name}>{str(on).lower()}</{name}>" for name, on in flags.items())
    return (
        f"<StorageServiceProperties><Logging><Version>{version}</Version>{flags}<RetentionPolicy>"
        "<Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging></StorageServiceProperties>"
    )


def names(client: Client, container: str) -> list[str]:
    listing = client.get(f"/{container}", query="restype=container&comp=list").expect(200).xml()
    return [found.text for found in listing.iter("Name")]


def lines(client: Client) -> list[list[str]]:
    text = "".join(
        client.get(f"/$logs/{name}").expect(200).body.decode() for name in names(client, "$logs")
    )
    return list(csv.reader(text.splitlines(), delimiter=";"))


@pytest.mark.parametrize(("version", "fields"), [("1.0", 30), ("2.0", 38)])
def test_requests_are_logged(version, fields):
    with Server() as own:
        client = Client(own.url)
        document = logging(version, read=True, write=True, delete=False)
        client.send("PUT", "/", PROPERTIES, body=document).expect(202)
        client.create_container("con1")
        client.put("/con1/b%3B%22", b"hello", {"User-Agent": "me;too"}).expect(201)
        client.get("/con1/b%3B%22", {"x-ms-client-request-id": "mine"}).expect(200)
        client.delete("/con1/b%3B%22").expect(202)
        client.get("/con1/none").expect(404)
        client.send("GET", "/con1/none", "sv=2020-02-10&sr=b&sig=secret", auth="none").expect(403)
        client.send("GET", "/con1/none", auth="none").expect((401, 404))
        client.drop()
        # Lines that wait are written before the server ends.
        own.stop()
        own.start()
        client = Client(own.url)
        found = lines(client)
        shown = [(row[2], row[3], row[4], row[7]) for row in found]
        assert ("CreateContainer", "Success", "201", "authenticated") in shown
        assert ("PutBlob", "Success", "201", "authenticated") in shown
        assert ("GetBlob", "Success", "200", "authenticated") in shown
        assert ("GetBlob", "ClientOtherError", "404", "authenticated") in shown
        assert ("GetBlob", "SASAuthorizationError", "403", "sas") in shown
        # Deletions are not asked for, and what anonymous callers get wrong is never logged.
        assert not any(row[2] == "DeleteBlob" or row[7] == "anonymous" for row in found)
        assert {len(row) for row in found} == {fields}
        assert {row[0] for row in found} == {version}
        put = next(row for row in found if row[2] == "PutBlob")
        assert put[11].startswith("http://127.0.0.1")
        assert put[12] == "/devstoreaccount1/con1/b&#59;&quot;"
        text = ";".join(";".join(row) for row in found)
        assert "secret" not in text
        assert "me&#59;too" in text
        assert ";mine" in text
        name = names(client, "$logs")[0]
        assert name.startswith("blob/20")
        assert name.endswith("/000000.log")
        properties = client.head(f"/$logs/{name}").expect(200).headers
        assert properties["x-ms-meta-logversion"] == version
        assert properties["x-ms-meta-logtype"] == "read,write"


def test_the_container_of_logs_belongs_to_the_service(client, set_properties):
    client.send("PUT", "/", PROPERTIES, body=logging("1.0", True, False, False)).expect(202)
    refused = (403, "InsufficientAccountPermissions")
    client.send("DELETE", "/$logs", "restype=container").expect(*refused)
    client.put("/$logs/mine", b"x").expect(*refused)
    client.get("/$logs", query="restype=container").expect(200)
    client.send("PUT", "/$blobchangefeed", "restype=container").expect(*refused)
    client.get("/$blobchangefeed", query="restype=container").expect(404, "ContainerNotFound")
    client.get("/$blobchangefeed/log/00/x").expect(404, "ContainerNotFound")
    plain = client.get("/", query="comp=list").expect(200).body
    assert b"$logs" not in plain
    system = client.get("/", query="comp=list&include=system").expect(200).body
    assert b"<Name>$logs</Name>" in system


def test_the_root_container(client):
    client.send("PUT", "/$root", "restype=container").expect((201, 409))
    client.put("/file.txt", b"root").expect(201)
    assert client.get("/file.txt").expect(200).body == b"root"
    assert client.get("/$root/file.txt").expect(200).body == b"root"
    client.put("/$root/a/b", b"x").expect(400, "InvalidResourceName")
    assert names(client, "$root") == ["file.txt"]
