"""kill -9 under load: every acknowledged message is there, none is in two hands, none comes back.

Holders keep their messages over a kill: visibility timeouts are absolute times in the store.
"""

from __future__ import annotations

import http.client
import os
import random
import subprocess
import threading
import time

from harness import Client, Server, server_command

CYCLES = 8
WORKERS = 6
LEAST = 500
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
HOLD = 3600


class Worker(threading.Thread):
    """Puts, receives and deletes; knows what was acknowledged and what was under way."""

    def __init__(self, url: str, seed: int, watch: Watch) -> None:
        super().__init__()
        self.client, self.watch = Client(url), watch
        self.random = random.Random(seed)
        self.held: list[tuple[str, str, str]] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        while True:
            try:
                self.step()
            except (OSError, http.client.HTTPException):
                return
            except AssertionError as error:
                self.wrong.append(str(error))
                return

    def step(self) -> None:
        choice = self.random.random()
        watch = self.watch
        if choice < 0.5 or (choice < 0.75 and not self.held):
            text = watch.fresh()
            watch.note("maybe_put", text)
            body = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>"
            query = "messagettl=-1"
            self.client.send("POST", "/kill/messages", query, {}, body, retry=False).expect(201)
            watch.note("put", text)
        elif choice < 0.75:
            id_, receipt, text = self.held.pop()
            watch.note("maybe_deleted", text)
            query = {"popreceipt": receipt}
            self.client.send("DELETE", f"/kill/messages/{id_}", query, retry=False).expect(204)
            watch.note("deleted", text)
        else:
            query = {"numofmessages": self.random.randint(1, 4), "visibilitytimeout": HOLD}
            got = self.client.send("GET", "/kill/messages", query, retry=False).expect(200)
            for message in got.xml():
                text = message.findtext("MessageText")
                watch.received(text)
                id_, receipt = message.findtext("MessageId"), message.findtext("PopReceipt")
                self.held.append((id_, receipt, text))


class Watch:
    """What all workers know together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.serial = 0
        self.sets: dict[str, set[str]] = {
            name: set() for name in ("maybe_put", "put", "maybe_deleted", "deleted", "received")
        }

    def fresh(self) -> str:
        with self.lock:
            self.serial += 1
            return f"m{self.serial}"

    def note(self, what: str, text: str) -> None:
        with self.lock:
            self.sets[what].add(text)

    def received(self, text: str) -> None:
        with self.lock:
            assert text in self.sets["maybe_put"], f"{text} was never put"
            assert text not in self.sets["deleted"], f"{text} came back after its deletion"
            assert text not in self.sets["received"], f"{text} is in two hands"
            self.sets["received"].add(text)


def test_kill_9_under_load():
    choose = random.Random(SEED)
    watch = Watch()
    held: list[tuple[str, str, str]] = []
    with Server() as server:
        Client(server.queue_url).send("PUT", "/kill").expect(201)
        for cycle in range(CYCLES):
            workers = [
                Worker(server.queue_url, SEED + cycle * 100 + w, watch) for w in range(WORKERS)
            ]
            for worker in workers:
                worker.start()
            time.sleep(choose.uniform(0.2, 0.6))
            server.kill()
            for worker in workers:
                worker.join()
            wrong = [text for worker in workers for text in worker.wrong]
            assert not wrong, wrong[0]
            held += [message for worker in workers for message in worker.held]
            server.start()
        client = Client(server.queue_url)
        # Receipts are as good as before the kills.
        for id_, receipt, text in held:
            client.send("DELETE", f"/kill/messages/{id_}", {"popreceipt": receipt}).expect(204)
            watch.note("deleted", text)
        while True:
            query = {"numofmessages": 32, "visibilitytimeout": HOLD}
            got = client.send("GET", "/kill/messages", query).expect(200).xml()
            if not len(got):
                break
            for message in got:
                watch.received(message.findtext("MessageText"))
        sets = watch.sets
        # A delivery whose answer was lost to a kill holds its message unseen.
        unseen = sets["put"] - sets["received"]
        count = client.send("GET", "/kill", "comp=metadata").expect(200)
        count = int(count.headers["x-ms-approximate-messages-count"])
        assert len(unseen) <= CYCLES * WORKERS * 4, f"{len(unseen)} messages are lost"
        there = (sets["received"] | unseen) - sets["deleted"]
        assert count >= len(there - sets["maybe_deleted"]), "the count is never too low"
        assert server.stop() == 0
        checked = subprocess.run(
            [*server_command(), "check", server.location], capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
    acknowledged = len(sets["put"]) + len(sets["deleted"])
    print(
        f"-- {CYCLES} kills, {len(sets['put'])} puts and {len(sets['deleted'])} deletions kept, "
        f"{len(unseen)} deliveries lost with their answers"
    )
    assert acknowledged >= LEAST, f"only {acknowledged}: too little happened"


def test_timeouts_and_lives_are_absolute():
    with Server() as server:
        client = Client(server.queue_url)
        client.send("PUT", "/times").expect(201)

        def put(text: str, query: str) -> None:
            body = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>"
            client.send("POST", "/times/messages", query, {}, body).expect(201)

        def peeked() -> list[str]:
            query = "peekonly=true&numofmessages=32"
            got = client.send("GET", "/times/messages", query).expect(200)
            return [m.findtext("MessageText") for m in got.xml()]

        put("held", "")
        began = time.monotonic()
        client.send("GET", "/times/messages", "visibilitytimeout=3").expect(200)
        put("short", "messagettl=3")
        put("late", "visibilitytimeout=3")
        put("plain", "")
        server.kill()
        server.start()
        client = Client(server.queue_url)
        if time.monotonic() - began < 2.5:
            assert peeked() == ["short", "plain"]
        deadline = time.monotonic() + 20
        while sorted(peeked()) != ["held", "late", "plain"]:
            assert time.monotonic() < deadline, peeked()
        assert time.monotonic() - began >= 2.9, "not before their time"
