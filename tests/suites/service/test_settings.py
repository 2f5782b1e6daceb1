"""Settings that Azure keeps in its management plane: from the command line and the config file."""

from __future__ import annotations

import pytest

from harness import DEV_ACCOUNT, DEV_KEY, Client, Server, SpawnFailed, temp_dir

PROPERTIES = "restype=service&comp=properties"


def policy(inside: str) -> str:
    return (
        f"<StorageServiceProperties><DeleteRetentionPolicy>{inside}</DeleteRetentionPolicy>"
        "</StorageServiceProperties>"
    )


def test_versioning():
    with Server("--setting", "versioning=true") as own:
        client = Client(own.url)
        client.create_container("con1")
        first = client.put("/con1/b", b"1").expect(201).headers["x-ms-version-id"]
        client.put("/con1/b", b"2").expect(201)
        assert client.get("/con1/b", query={"versionid": first}).expect(200).body == b"1"


def test_kept_after_deletion_as_the_operator_says():
    with Server("--setting", f"{DEV_ACCOUNT}.blob-retention-days=7") as own:
        client = Client(own.url)
        assert b"<Days>7</Days>" in client.get("/", query=PROPERTIES).expect(200).body
        client.create_container("con1")
        client.put("/con1/b", b"1").expect(201)
        gone = client.delete("/con1/b").expect(202)
        assert gone.headers["x-ms-delete-type-permanent"] == "false"
        client.send("PUT", "/con1/b", "comp=undelete").expect(200)
        assert client.get("/con1/b").expect(200).body == b"1"


def test_kept_after_deletion_as_a_client_says():
    with Server("--setting", "blob-retention-days=7") as own:
        client = Client(own.url)
        client.create_container("con1")
        off = policy("<Enabled>false</Enabled>")
        on = policy("<Enabled>true</Enabled><Days>3</Days>")
        for document, permanent, undelete in ((off, "true", 404), (on, "false", 200)):
            client.send("PUT", "/", PROPERTIES, body=document).expect(202)
            client.put("/con1/b", b"1").expect(201)
            gone = client.delete("/con1/b").expect(202)
            assert gone.headers["x-ms-delete-type-permanent"] == permanent
            client.send("PUT", "/con1/b", "comp=undelete").expect(undelete)
        # What a client has set is there after a restart, before anybody looks at it.
        own.kill()
        own.start()
        client = Client(own.url)
        client.put("/con1/c", b"1").expect(201)
        assert client.delete("/con1/c").expect(202).headers["x-ms-delete-type-permanent"] == "false"


APPEND = {"x-ms-blob-type": "AppendBlob"}


@pytest.mark.parametrize("snapshots", [1, 100])
def test_another_kind_of_blob_leaves_nothing_of_the_deleted_one(snapshots):
    with Server("--setting", "blob-retention-days=7") as own:
        client = Client(own.url)
        client.create_container("con1")
        for name, headers in (("same", {}), ("other", APPEND)):
            path = f"/con1/{name}"
            client.put(path, b"1").expect(201)
            for _ in range(snapshots):
                client.send("PUT", path, "comp=snapshot").expect(201)
            client.delete(path, {"x-ms-delete-snapshots": "include"}).expect(202)
            client.send("PUT", path, "", {"x-ms-blob-type": "BlockBlob", **headers}).expect(201)
            client.send("PUT", path, "comp=undelete").expect(200)
        query = "restype=container&comp=list&include=snapshots,deleted"
        listing = client.get("/con1", query=query).expect(200).body.decode()
        assert listing.count("<Name>same</Name>") == snapshots + 2
        assert listing.count("<Name>other</Name>") == 1


def test_containers_are_kept():
    with Server("--setting", "container-retention-days=7") as own:
        client = Client(own.url)
        client.create_container("con1")
        client.put("/con1/b", b"1").expect(201)
        client.send("DELETE", "/con1", "restype=container").expect(202)
        listing = client.get("/", query="comp=list&include=deleted").expect(200).body.decode()
        version = listing.split("<Version>")[1].split("<")[0]
        back = {"x-ms-deleted-container-name": "con1", "x-ms-deleted-container-version": version}
        client.send("PUT", "/con1", "restype=container&comp=undelete", back).expect(201)
        assert client.get("/con1/b").expect(200).body == b"1"


def test_public_access():
    with Server("--setting", "public-access=false") as own:
        client = Client(own.url)
        level = {"x-ms-blob-public-access": "blob"}
        refused = (409, "PublicAccessNotPermitted")
        client.send("PUT", "/con1", "restype=container", level).expect(*refused)
        client.create_container("con1")
        client.send("PUT", "/con1", "restype=container&comp=acl", level).expect(*refused)
        client.send("GET", "/con1/b", auth="none").expect(*refused)


def test_key_access():
    with Server("--setting", "key-access=false") as own:
        reply = Client(own.url).get("/", query="comp=list")
        reply.expect(403, "KeyBasedAuthenticationNotPermitted")


def test_account_information():
    with Server("--setting", "sku=Standard_LRS", "--setting", "kind=BlobStorage") as own:
        shown = Client(own.url).get("/", query="restype=account&comp=properties").headers
        assert (shown["x-ms-sku-name"], shown["x-ms-account-kind"]) == ("Standard_LRS", "BlobStorage")


def test_a_config_file():
    with temp_dir() as folder:
        path = f"{folder}/config"
        text = f"{DEV_ACCOUNT} = {DEV_KEY}\nother = a2V5\n# all\n*.sku = Premium_LRS\n"
        with open(path, "w") as file:
            file.write(text + f"{DEV_ACCOUNT}.sku = Standard_ZRS\n")
        with Server("--config", path) as own:
            for account, key, sku in (
                (DEV_ACCOUNT, DEV_KEY, "Standard_ZRS"),
                ("other", "a2V5", "Premium_LRS"),
            ):
                client = Client(own.url, account, key)
                reply = client.get("/", query="restype=account&comp=properties").expect(200)
                assert reply.headers["x-ms-sku-name"] == sku


BAD = [
    (["--setting", "versionning=true"], "there is no setting `versionning`"),
    (["--setting", "versioning=yes"], "must be true or false"),
    (["--setting", "blob-retention-days=400"], "must be 0 (off) to 365"),
    (["--setting", "rehydration-seconds=60000"], "must be 0 to 54000"),
    (["--setting", "encryption-scopes=a!"], "must be names of 3 to 63"),
    (["--setting", "nobody.versioning=true"], "the account nobody, which is not there"),
    (["--setting", "versioning"], "name=value"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[row[0][1] for row in BAD])
def test_bad_settings_are_explained(words, said):
    with pytest.raises(SpawnFailed) as error, Server(*words):
        pass
    assert said in str(error.value)
