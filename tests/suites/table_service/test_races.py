"""Concurrency: increments that lose nothing, batches seen whole or not at all, kills."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import AzureError, ResourceModifiedError
from azure.data.tables import TableServiceClient, TableTransactionError, UpdateMode

from harness import DEV_ACCOUNT, DEV_KEY, Server

WORKERS, TIMES = 16, 100


def connect(server) -> TableServiceClient:
    text = (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"TableEndpoint={server.table_url}/{DEV_ACCOUNT};"
    )
    return TableServiceClient.from_connection_string(text, retry_total=0)


def test_optimistic_increments_lose_nothing(server, table):
    name = table.table_name
    table.create_entity({"PartitionKey": "p", "RowKey": "r", "n": 0})
    conflicts = []

    def work(_):
        client = connect(server).get_table_client(name)
        for _ in range(TIMES):
            while True:
                seen = client.get_entity("p", "r")
                seen["n"] += 1
                try:
                    client.update_entity(
                        seen, mode=UpdateMode.REPLACE, etag=seen.metadata["etag"],
                        match_condition=MatchConditions.IfNotModified,
                    )  # fmt: skip
                    break
                except ResourceModifiedError:
                    conflicts.append(1)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    assert table.get_entity("p", "r")["n"] == WORKERS * TIMES
    print(f"-- {WORKERS * TIMES} increments, {len(conflicts)} conflicts, none lost")
    assert conflicts, "nobody ever collided: this tested nothing"


def test_readers_see_whole_batches(server, table):
    name = table.table_name
    rounds, reads, stop = 40, [0], threading.Event()
    wrong = []

    def read(_):
        client = connect(server).get_table_client(name)
        while not stop.is_set():
            values = [each["round"] for each in client.query_entities("PartitionKey eq 'p'")]
            reads[0] += 1
            if len(values) not in (0, 100) or len(set(values)) > 1:
                wrong.append(values)

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, n) for n in range(4)]
        for number in range(rounds):
            table.submit_transaction(
                [("upsert", {"PartitionKey": "p", "RowKey": f"{row:03d}", "round": number}) for row in range(100)]
            )
            failing = [("upsert", {"PartitionKey": "p", "RowKey": f"{row:03d}", "round": -1}) for row in range(99)]
            failing.append(("update", {"PartitionKey": "p", "RowKey": "none", "round": -1}))
            with pytest.raises(TableTransactionError):
                table.submit_transaction(failing)
        stop.set()
        for reader in readers:
            reader.result()
    print(f"-- {rounds} batches of 100 and as many failed ones, {reads[0]} reads, 0 saw a part")
    assert not wrong and reads[0] >= 20


def test_one_insert_wins(server, table):
    name = table.table_name
    outcome = []

    def work(number):
        try:
            client = connect(server).get_table_client(name)
            client.create_entity({"PartitionKey": "p", "RowKey": "r", "n": number})
            outcome.append(number)
        except AzureError:
            pass

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))
    assert len(outcome) == 1 and table.get_entity("p", "r")["n"] == outcome[0]


def test_kills(tmp_path):
    """Every acknowledged write is back with its ETag; a batch is whole or absent."""
    cycles, acknowledged = 8, 0
    with Server(location=str(tmp_path)) as server:
        connect(server).create_table("Kills")
        known: dict[tuple[str, str], str] = {}
        for cycle in range(cycles):
            stop, lock = threading.Event(), threading.Lock()
            doubtful: list[str] = []

            def work(worker, server=server, cycle=cycle, stop=stop, lock=lock, doubtful=doubtful):
                client = connect(server).get_table_client("Kills")
                number = 0
                while not stop.is_set():
                    partition = f"{cycle}-{worker}-{number}"
                    number += 1
                    try:
                        if number % 2:
                            answer = client.create_entity({"PartitionKey": partition, "RowKey": "one", "n": number})
                            done = {(partition, "one"): answer["etag"]}
                        else:
                            rows = [("create", {"PartitionKey": partition, "RowKey": f"{row}", "n": number}) for row in range(20)]
                            answers = client.submit_transaction(rows)
                            done = {(partition, f"{row}"): answer["etag"] for row, answer in enumerate(answers)}
                    except Exception:
                        with lock:
                            doubtful.append(partition)
                        return
                    with lock:
                        known.update(done)

            with ThreadPoolExecutor(8) as pool:
                workers = [pool.submit(work, n) for n in range(8)]
                time.sleep(0.7)
                server.kill()
                stop.set()
                for worker in workers:
                    worker.result()
            server.start()
            table = connect(server).get_table_client("Kills")
            stored = {(each["PartitionKey"], each["RowKey"]): each.metadata["etag"] for each in table.list_entities()}
            for key, etag in known.items():
                assert stored.get(key) == etag, f"{key} was acknowledged"
            for partition in doubtful:
                rows = [key for key in stored if key[0] == partition]
                assert len(rows) in (0, 1, 20), f"{partition} is torn: {len(rows)}"
            known.update(stored)
            acknowledged = len(known)
    print(f"-- {cycles} kills under 8 writers, {acknowledged} entities back, 0 lost, 0 torn batches")
    assert acknowledged >= 500
