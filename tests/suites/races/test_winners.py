"""Races that must have exactly one winner."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from crowd import at_once

CROWD = 64
A = "aaaaaaaa-1111-1111-1111-111111111111"
CONTAINER = "restype=container"


def outcomes(replies) -> Counter:
    return Counter((r.status, r.code) for r in replies)


def one_winner(client, replies, status: int, loser: tuple[int, str]) -> int:
    """Index of the only success; everyone else got exactly the given refusal."""
    assert outcomes(replies) == {(status, ""): 1, loser: len(replies) - 1}
    return next(i for i, r in enumerate(replies) if r.status == status)


def race(client, act):
    return at_once(CROWD, lambda: client.head("/", query="comp=list&maxresults=1"), act)


@pytest.mark.parametrize("round_", range(3))
def test_64_create_once(client, container, round_):
    path = f"/{container}/b"
    replies = race(client, lambda i: client.put(path, f"writer {i}", {"If-None-Match": "*"}))
    winner = one_winner(client, replies, 201, (409, "BlobAlreadyExists"))
    got = client.get(path).expect(200)
    assert (got.body, got.etag) == (f"writer {winner}".encode(), replies[winner].etag)


@pytest.mark.parametrize("round_", range(3))
def test_64_if_match(client, container, round_):
    path = f"/{container}/b"
    etag = client.put(path, b"start").expect(201).etag
    replies = race(client, lambda i: client.put(path, f"writer {i}", {"If-Match": etag}))
    winner = one_winner(client, replies, 201, (412, "ConditionNotMet"))
    got = client.get(path).expect(200)
    assert (got.body, got.etag) == (f"writer {winner}".encode(), replies[winner].etag)


def test_64_block_lists_create_once(client, container):
    path = f"/{container}/b"
    ids = ["MDAw" + f"{i:04d}" for i in range(CROWD)]
    for i, block in enumerate(ids):
        client.put_block(path, block, f"writer {i}").expect(201)
    replies = race(client, lambda i: client.put_block_list(path, [ids[i]], {"If-None-Match": "*"}))
    # The winner's commit drops the other staged blocks, so a loser may also be told that.
    assert Counter(r.status for r in replies)[201] == 1
    assert {r.code for r in replies if r.status != 201} <= {"BlobAlreadyExists", "InvalidBlockList"}
    winner = next(i for i, r in enumerate(replies) if r.status == 201)
    assert client.get(path).body == f"writer {winner}".encode()


def test_64_metadata_if_match(client, container):
    path = f"/{container}/b"
    etag = client.put(path, b"x").expect(201).etag
    replies = race(
        client,
        lambda i: client.send(
            "PUT", path, "comp=metadata", {"If-Match": etag, "x-ms-meta-who": str(i)}
        ),
    )
    winner = one_winner(client, replies, 200, (412, "ConditionNotMet"))
    assert client.head(path).headers["x-ms-meta-who"] == str(winner)


def test_64_acquire_lease(client, container):
    path = f"/{container}/b"
    client.put(path, b"x").expect(201)
    replies = race(client, lambda i: client.lease(path, "acquire", duration=-1))
    winner = one_winner(client, replies, 201, (409, "LeaseAlreadyPresent"))
    lease = replies[winner].headers["x-ms-lease-id"]
    client.put(path, b"y", {"x-ms-lease-id": lease}).expect(201)


def test_64_create_container(client, name):
    replies = race(
        client, lambda i: client.send("PUT", f"/{name}", CONTAINER, {"x-ms-meta-i": str(i)})
    )
    winner = one_winner(client, replies, 201, (409, "ContainerAlreadyExists"))
    got = client.head(f"/{name}", query=CONTAINER)
    assert got.headers["x-ms-meta-i"] == str(winner)


def test_64_delete_blob(client, container):
    path = f"/{container}/b"
    client.put(path, b"x").expect(201)
    one_winner(client, race(client, lambda i: client.delete(path)), 202, (404, "BlobNotFound"))


def test_64_delete_container(client, container):
    replies = race(client, lambda i: client.send("DELETE", f"/{container}", CONTAINER))
    one_winner(client, replies, 202, (404, "ContainerNotFound"))


def test_put_and_delete_with_one_etag(client, container):
    """Half overwrite, half delete, all with the same ETag: one of all of them wins."""
    path = f"/{container}/b"
    etag = client.put(path, b"x").expect(201).etag

    def act(i: int):
        if i % 2:
            return client.delete(path, {"If-Match": etag})
        return client.put(path, f"writer {i}", {"If-Match": etag})

    replies = race(client, act)
    assert sum(r.status in (201, 202) for r in replies) == 1
    assert {r.status for r in replies} <= {201, 202, 404, 412}


def test_optimistic_counter(client, container):
    """Read, add one, write back if unchanged; 8 clients, no update lost."""
    path = f"/{container}/counter"
    client.put(path, b"0").expect(201)
    refused = Counter()

    def add(_: int) -> None:
        done = 0
        while done < 25:
            now = client.get(path).expect(200)
            wrote = client.put(path, str(int(now.body) + 1), {"If-Match": now.etag})
            wrote.expect((201, 412))
            done += wrote.status == 201
            refused[wrote.status] += 1

    at_once(8, lambda: None, add)
    assert client.get(path).body == b"200"
    assert refused[201] == 200


def test_16_clients_fight_for_a_lease(client, container):
    """Never two hold it; the counter it guards loses nothing."""
    path = f"/{container}/guarded"
    client.put(path, b"0").expect(201)
    guard, holders, taken = threading.Lock(), [], Counter()

    def fight(me: int) -> None:
        while sum(taken.values()) < 200:
            got = client.lease(path, "acquire", duration=15)
            got.expect((201, 409), ("", "LeaseAlreadyPresent"))
            if got.status != 201:
                continue
            with guard:
                holders.append(me)
                assert holders == [me], f"{holders} hold the lease together"
            lease = {"x-ms-lease-id": got.headers["x-ms-lease-id"]}
            count = int(client.get(path, lease).expect(200).body)
            client.put(path, str(count + 1), lease).expect(201)
            with guard:
                holders.remove(me)
                taken[me] += 1
            client.lease(path, "release", id=lease["x-ms-lease-id"]).expect(200)

    at_once(16, lambda: None, fight)
    assert int(client.get(path).body) == sum(taken.values()) >= 200
