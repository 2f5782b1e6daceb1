"""How storage keeps concurrent writers from overwriting one another, step by step.

    pip install azure-storage-blob azure-storage-queue azure-data-tables azure-storage-file-share \
        smbprotocol
    python3 samples/concurrency/concurrency.py [connection string]

Every step prints what is done, what the service answers, and why. Without a connection string (or
AZURE_STORAGE_CONNECTION_STRING in the environment) the development account on this machine is used.
SMB is spoken with the host of the FileEndpoint, on port 10445 unless ZAFFRE_SMB_PORT names another.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.data.tables import TableServiceClient, UpdateMode
from azure.storage.blob import BlobServiceClient
from azure.storage.fileshare import ShareServiceClient
from azure.storage.queue import QueueServiceClient
from smb import SmbFile

DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLl"
    "mEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
    "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
    "FileEndpoint=http://127.0.0.1:10003/devstoreaccount1;"
)
UNCHANGED = MatchConditions.IfNotModified


def refused(status: int, code: str, act) -> None:
    """Does something that must be refused, and says how."""
    try:
        act()
    except HttpResponseError as error:
        assert (error.status_code, code in str(error)) == (status, True), str(error)
        print(f"   refused: {status} {code}")
        return
    raise AssertionError(f"{status} {code} was expected, and nothing was refused")


def optimistic_blob(connection: str, name: str) -> None:
    print("\n== A blob, optimistically: whoever reads first and writes last must not win blindly")
    container = BlobServiceClient.from_connection_string(connection).create_container(name)
    blob = container.get_blob_client("balance.txt")
    blob.upload_blob(b"100")
    read = blob.download_blob()
    etag, balance = read.properties.etag, int(read.readall())
    print(f"1. We read {balance} and remember its ETag {etag}.")
    blob.upload_blob(b"50", overwrite=True)
    print("2. Somebody else writes 50. The blob has a new ETag now.")
    print("3. We write what we computed from the old value, if the ETag is still ours:")
    late = {"overwrite": True, "etag": etag, "match_condition": UNCHANGED}
    refused(412, "ConditionNotMet", lambda: blob.upload_blob(b"110", **late))
    read = blob.download_blob()
    balance = int(read.readall()) + 10
    fresh = {"overwrite": True, "etag": read.properties.etag, "match_condition": UNCHANGED}
    blob.upload_blob(str(balance).encode(), **fresh)
    print(f"4. We read again, compute again, write {balance}: nothing is lost.")
    assert blob.download_blob().readall() == b"60"
    container.delete_container()


def leased_blob(connection: str, name: str) -> None:
    print("\n== A blob, pessimistically: a lease keeps others from writing")
    container = BlobServiceClient.from_connection_string(connection).create_container(name)
    blob = container.get_blob_client("report.txt")
    blob.upload_blob(b"draft")
    lease = blob.acquire_lease(15)
    print("1. We take a lease for 15 seconds.")
    print("2. A third party writes without it:")
    refused(412, "LeaseIdMissing", lambda: blob.upload_blob(b"theirs", overwrite=True))
    print("3. A third party wants a lease of its own:")
    refused(409, "LeaseAlreadyPresent", lambda: blob.acquire_lease(15))
    blob.upload_blob(b"ours", overwrite=True, lease=lease)
    print("4. We write, naming our lease.")
    lease.release()
    blob.upload_blob(b"theirs, now", overwrite=True)
    print("5. We give it back; now everybody may write.")
    container.delete_container()


def table_entity(connection: str, name: str) -> None:
    print("\n== An entity of a table: an ETag that must match, or `*` for a write that must win")
    table = TableServiceClient.from_connection_string(connection).create_table(name)
    key = {"PartitionKey": "stock", "RowKey": "apples"}
    first = table.create_entity({**key, "Count": 10})
    print(f"1. We insert 10 apples; the ETag is {first['etag']}.")
    table.update_entity({**key, "Count": 7}, mode=UpdateMode.REPLACE)
    print("2. Somebody else sells 3: the ETag changes.")
    print("3. We replace the entity, if it is as we know it:")
    ours = {**key, "Count": 12}
    late = {"mode": UpdateMode.REPLACE, "etag": first["etag"], "match_condition": UNCHANGED}
    refused(412, "UpdateConditionNotSatisfied", lambda: table.update_entity(ours, **late))
    table.update_entity(ours, mode=UpdateMode.REPLACE)
    print("4. With If-Match: * (the default of this client) the last writer wins: 12 apples.")
    assert table.get_entity("stock", "apples")["Count"] == 12
    table.delete_table()


def queue_message(connection: str, name: str) -> None:
    print("\n== A queue: a message whose receiver is late comes back, and the late one cannot delete")
    queue = QueueServiceClient.from_connection_string(connection).create_queue(name)
    queue.send_message("pack the parcel")
    first = queue.receive_message(visibility_timeout=1)
    print(f"1. A worker takes the message for one second; dequeued {first.dequeue_count} time.")
    print("2. The worker is slow; the message becomes visible again.")
    second = None
    for _ in range(100):
        second = queue.receive_message(visibility_timeout=30)
        if second:
            break
        time.sleep(0.1)
    assert second and second.id == first.id
    print(f"   Another worker takes it; dequeued {second.dequeue_count} times.")
    print("3. The first worker is done at last and deletes by its old pop receipt:")
    refused(404, "MessageNotFound", lambda: queue.delete_message(first))
    queue.delete_message(second)
    print("4. The second worker's receipt is the valid one: the message is gone.")
    queue.delete_queue()


def over_smb(connection: str, share: str, file: str) -> SmbFile:
    """The file, reached over SMB with the account's name and key."""
    parts = dict(part.split("=", 1) for part in connection.split(";") if part)
    host = urlsplit(parts["FileEndpoint"]).hostname
    port = int(os.environ.get("ZAFFRE_SMB_PORT", "10445"))
    return SmbFile(host, port, parts["AccountName"], parts["AccountKey"], share, file)


def shared_file(connection: str, name: str) -> None:
    print("\n== A file of a share: what SMB clients have open or locked, REST respects")
    share = ShareServiceClient.from_connection_string(connection).create_share(name)
    file = share.get_file_client("plan.txt")
    file.upload_file(b"version one")
    smb = over_smb(connection, name, "plan.txt")
    smb.open(shared=False)
    print("1. An SMB client opens the file and shares it with nobody.")
    print("2. REST wants to read it:")
    refused(409, "SharingViolation", lambda: file.download_file().readall())
    smb.close()
    smb.open(shared=True)
    smb.lock(0, 7)
    print("3. It opens the file again, shares it, and locks bytes 0 to 6.")
    print("4. REST writes, if only beside them; it needs a file without any lock:")
    refused(409, "FileLockConflict", lambda: file.upload_range(b"two", offset=8, length=3))
    assert file.download_file(offset=8, length=3).readall() == b"one"
    print("5. REST reads beside them, which the lock allows.")
    smb.unlock(0, 7)
    file.upload_range(b"two", offset=8, length=3)
    smb.end()
    print("6. The SMB client unlocks; REST writes what it wanted.")
    assert file.download_file().readall() == b"version two"
    share.delete_share()


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("AZURE_STORAGE_CONNECTION_STRING")
    connection = given or DEVELOPMENT
    name = f"sample{uuid.uuid4().hex[:12]}"
    for step in (optimistic_blob, leased_blob, table_entity, queue_message, shared_file):
        step(connection, name)
    print("\nAll five went as they should.")


if __name__ == "__main__":
    main()
