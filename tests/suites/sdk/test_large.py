"""300 MiB up and down in parallel chunks, compared by hash."""

from __future__ import annotations

import hashlib
import os

SIZE = 300 * 1024 * 1024
MIB = 1024 * 1024


class Generated:
    """A reproducible 300 MiB stream that is hashed while it is read."""

    def __init__(self, size: int) -> None:
        self.unit = os.urandom(MIB)
        self.size, self.at = size, 0
        self.hash = hashlib.sha256()

    def __len__(self) -> int:
        return self.size

    def read(self, count: int = -1) -> bytes:
        count = self.size - self.at if count < 0 else min(count, self.size - self.at)
        out = bytearray()
        while len(out) < count:
            index, offset = divmod(self.at + len(out), MIB)
            # Each MiB differs by its index, so that swapped chunks change the hash.
            piece = index.to_bytes(8, "little") + self.unit[8:]
            out += piece[offset : offset + count - len(out)]
        self.at += count
        self.hash.update(out)
        return bytes(out)


def test_300_mib_in_parallel(box):
    source = Generated(SIZE)
    blob = box.get_blob_client("big.bin")
    blob.upload_blob(source, length=SIZE, max_concurrency=4)
    assert source.at == SIZE
    assert blob.get_blob_properties().size == SIZE
    committed, uncommitted = blob.get_block_list("all")
    assert sum(b.size for b in committed) == SIZE
    assert uncommitted == []

    class Hashing:
        def __init__(self) -> None:
            self.hash, self.size = hashlib.sha256(), 0

        def write(self, data: bytes) -> int:
            self.hash.update(data)
            self.size += len(data)
            return len(data)

    # In order, so that it can be hashed as it comes.
    sink = Hashing()
    blob.download_blob(max_concurrency=1).readinto(sink)
    assert (sink.size, sink.hash.hexdigest()) == (SIZE, source.hash.hexdigest())


def test_300_mib_parallel_download(box, tmp_path):
    source = Generated(SIZE)
    blob = box.get_blob_client("big.bin")
    blob.upload_blob(source, length=SIZE, max_concurrency=4)
    path = tmp_path / "down.bin"
    with open(path, "wb") as sink:
        blob.download_blob(max_concurrency=4).readinto(sink)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(4 * MIB):
            digest.update(chunk)
    assert digest.hexdigest() == source.hash.hexdigest()
    path.unlink()


def test_single_put_of_100_mib(client, container):
    data = os.urandom(MIB) * 100
    client.put(f"/{container}/one", data).expect(201)
    assert hashlib.sha256(client.get(f"/{container}/one").body).digest() == (
        hashlib.sha256(data).digest()
    )
