"""Tools that people already have: fsspec, Arrow, Delta Lake, DuckDB and restic on our blobs."""

from __future__ import annotations

import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import adlfs
import duckdb
import duckdb_extension_azure
import fsspec
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from azure.storage.blob import BlobServiceClient
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError
from pyarrow.fs import AzureFileSystem, FileSelector, FileType

from harness import DEV_ACCOUNT, DEV_KEY, Server

MIB = 1024 * 1024


@pytest.fixture(scope="session")
def service(server):
    return BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=DEV_KEY)


@pytest.fixture
def bucket(service, name):
    service.create_container(name)
    return name


@pytest.fixture(scope="session")
def connection(server) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"BlobEndpoint={server.url}/{DEV_ACCOUNT};"
    )


@pytest.fixture(scope="session")
def files(connection):
    return adlfs.AzureBlobFileSystem(connection_string=connection)


def table(rows: int) -> pyarrow.Table:
    return pyarrow.table({"id": list(range(rows)), "name": [f"row {n}" for n in range(rows)]})


# -- adlfs, fsspec ---------------------------------------------------------------------------------


def test_adlfs_reads_writes_lists_and_removes(files, bucket):
    data = os.urandom(9 * MIB + 5)
    with files.open(f"{bucket}/folder/large.bin", "wb") as file:
        file.write(data)
    files.pipe(f"{bucket}/folder/sub/small é.txt", b"small")
    assert files.cat(f"{bucket}/folder/sub/small é.txt") == b"small"
    with files.open(f"{bucket}/folder/large.bin", "rb") as file:
        file.seek(5 * MIB)
        assert file.read(100) == data[5 * MIB : 5 * MIB + 100]
        file.seek(0)
        assert file.read() == data
    assert files.size(f"{bucket}/folder/large.bin") == len(data)
    assert sorted(files.find(bucket)) == [
        f"{bucket}/folder/large.bin",
        f"{bucket}/folder/sub/small é.txt",
    ]
    assert files.isdir(f"{bucket}/folder/sub") and files.exists(f"{bucket}/folder/large.bin")
    files.copy(f"{bucket}/folder/sub/small é.txt", f"{bucket}/copy.txt")
    assert files.cat(f"{bucket}/copy.txt") == b"small"
    files.rm(f"{bucket}/folder", recursive=True)
    files.invalidate_cache()
    assert files.find(bucket) == [f"{bucket}/copy.txt"]


def test_fsspec_by_url(connection, bucket):
    options = {"connection_string": connection}
    with fsspec.open(f"abfs://{bucket}/a.txt", "w", **options) as file:
        file.write("by url")
    with fsspec.open(f"abfs://{bucket}/a.txt", "r", **options) as file:
        assert file.read() == "by url"


def test_parquet_through_fsspec(files, bucket):
    pyarrow.parquet.write_table(table(10_000), f"{bucket}/t.parquet", filesystem=files)
    read = pyarrow.parquet.read_table(f"{bucket}/t.parquet", filesystem=files)
    assert read.equals(table(10_000))


def test_duckdb_through_fsspec(files, bucket):
    pyarrow.parquet.write_table(table(1_000), f"{bucket}/t.parquet", filesystem=files)
    database = duckdb.connect()
    database.register_filesystem(files)
    total = database.sql(f"SELECT count(*), sum(id) FROM 'abfs://{bucket}/t.parquet'").fetchall()
    assert total == [(1_000, sum(range(1_000)))]
    database.execute(f"COPY (SELECT 42 AS answer) TO 'abfs://{bucket}/out.csv' (FORMAT csv)")
    assert files.cat(f"{bucket}/out.csv") == b"answer\n42\n"


def test_duckdb_with_its_azure_extension(service, connection, bucket):
    """The extension from its wheel; DuckDB loads it only if DuckDB's makers have signed it."""
    folder = Path(duckdb_extension_azure.__file__).parent
    (extension,) = folder.rglob("azure.duckdb_extension")
    container = service.get_container_client(bucket)
    container.upload_blob("in/a.csv", b"id,name\n1,one\n2,two\n")
    container.upload_blob("in/b.csv", b"id,name\n3,three\n")
    database = duckdb.connect()
    database.execute(f"LOAD '{extension}'")
    database.execute(f"CREATE SECRET (TYPE azure, CONNECTION_STRING '{connection}')")
    read = database.sql(f"SELECT count(*), sum(id) FROM 'az://{bucket}/in/*.csv'").fetchall()
    assert read == [(3, 6)]
    rows = "SELECT range AS id FROM range(100000)"
    database.execute(f"COPY ({rows}) TO 'az://{bucket}/out.parquet' (FORMAT parquet)")
    read = database.sql(f"SELECT count(*), sum(id) FROM 'az://{bucket}/out.parquet'").fetchall()
    assert read == [(100_000, sum(range(100_000)))]


# -- Arrow's own file system -----------------------------------------------------------------------


@pytest.fixture(scope="session")
def arrow(server):
    authority = f"{server.host}:{server.port}"
    return AzureFileSystem(
        DEV_ACCOUNT, account_key=DEV_KEY, blob_storage_authority=authority,
        blob_storage_scheme="http", dfs_storage_authority=authority, dfs_storage_scheme="http",
    )  # fmt: skip


def test_arrows_file_system(arrow, bucket):
    data = os.urandom(5 * MIB)
    with arrow.open_output_stream(f"{bucket}/dir/data.bin", metadata={"k": "v"}) as out:
        out.write(data)
    with arrow.open_input_file(f"{bucket}/dir/data.bin") as file:
        assert file.size() == len(data)
        assert file.read_at(1000, 4 * MIB) == data[4 * MIB : 4 * MIB + 1000]
        assert file.read() == data
    info = arrow.get_file_info(f"{bucket}/dir/data.bin")
    assert (info.type, info.size) == (FileType.File, len(data))
    assert arrow.get_file_info(f"{bucket}/none").type == FileType.NotFound
    found = arrow.get_file_info(FileSelector(bucket, recursive=True))
    assert f"{bucket}/dir/data.bin" in {each.path for each in found}


def test_a_dataset_of_arrow(arrow, bucket):
    whole = table(5_000)
    pyarrow.dataset.write_dataset(
        whole, f"{bucket}/set", format="parquet", filesystem=arrow, max_rows_per_file=1_000,
        max_rows_per_group=1_000,
    )  # fmt: skip
    read = pyarrow.dataset.dataset(f"{bucket}/set", filesystem=arrow, format="parquet")
    assert read.to_table().sort_by("id").equals(whole)
    assert len(read.files) == 5


# -- Delta Lake ------------------------------------------------------------------------------------


def delta_options(server) -> dict[str, str]:
    return {
        "azure_storage_account_name": DEV_ACCOUNT,
        "azure_storage_account_key": DEV_KEY,
        "azure_storage_endpoint": f"{server.url}/{DEV_ACCOUNT}",
        "azure_storage_use_emulator": "false",
        "allow_http": "true",
    }


def test_concurrent_commits_to_a_delta_table_lose_nothing(server, bucket):
    """Each commit is a Put Blob with If-None-Match: the loser of a race must see it and go on."""
    writers, turns = 4, 5
    options, url = delta_options(server), f"az://{bucket}/events"
    write_deltalake(url, pyarrow.table({"writer": [-1], "turn": [-1]}), storage_options=options)

    def work(writer: int) -> int:
        lost = 0
        for turn in range(turns):
            rows = pyarrow.table({"writer": [writer], "turn": [turn]})
            for _ in range(100):
                try:
                    write_deltalake(url, rows, mode="append", storage_options=options)
                    break
                except (CommitFailedError, DeltaError):
                    lost += 1
            else:
                raise AssertionError("a writer never got through")
        return lost

    with ThreadPoolExecutor(writers) as pool:
        lost = sum(pool.map(work, range(writers)))
    read = DeltaTable(url, storage_options=options)
    rows = read.to_pyarrow_table().to_pylist()
    got = sorted((row["writer"], row["turn"]) for row in rows)
    want = [(-1, -1), *((w, t) for w in range(writers) for t in range(turns))]
    assert got == want, "every commit is there, once"
    assert read.version() == writers * turns
    print(f"-- delta: {writers * turns} concurrent commits, {lost} tried again by hand, none lost")


# -- restic ----------------------------------------------------------------------------------------


def test_restic_backs_up_and_restores(tmp_path):
    """This version of restic knows one address for the development account: 127.0.0.1:10000."""
    with socket.socket() as probe:
        taken = probe.connect_ex(("127.0.0.1", 10_000)) == 0
    assert not taken, "port 10000 must be free for this test"
    source = tmp_path / "source"
    source.mkdir()
    for number in range(20):
        (source / f"file-{number}").write_bytes(os.urandom(number * 10_000))
    environment = {
        **os.environ,
        "AZURE_ACCOUNT_NAME": DEV_ACCOUNT,
        "AZURE_ACCOUNT_KEY": DEV_KEY,
        "RESTIC_PASSWORD": "secret",
        "RESTIC_CACHE_DIR": str(tmp_path / "cache"),
    }

    def restic(*words: str) -> str:
        command = ["restic", "-r", "azure:backup:/", *words]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    with Server(port=10_000) as server:
        service = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=DEV_KEY)
        service.create_container("backup")
        restic("init")
        restic("backup", str(source))
        (source / "file-3").write_bytes(b"changed")
        restic("backup", str(source))
        assert restic("snapshots").count(str(source)) == 2
        restic("check", "--read-data")
        target = tmp_path / "target"
        restic("restore", "latest", "--target", str(target))
        restored = target / Path(str(source).lstrip("/"))
        for file in source.iterdir():
            assert (restored / file.name).read_bytes() == file.read_bytes()
        restic("forget", "--keep-last", "1", "--prune")
        restic("check")
