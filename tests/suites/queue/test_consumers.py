"""Sixteen consumers of the real server, some of which walk away with messages in hand."""

from __future__ import annotations

import os
import random
import threading
import time

from harness import Client

CONSUMERS = 16
MESSAGES = 1500
HOLD = 2
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))


def test_sixteen_consumers(wire, box, server):
    for start in range(0, MESSAGES, 500):
        def put(first=start):
            client = Client(server.queue_url)
            for i in range(first, first + 500):
                body = f"<QueueMessage><MessageText>{i}</MessageText></QueueMessage>"
                client.send("POST", f"{box}/messages", "", {}, body).expect(201)
        thread = threading.Thread(target=put)
        thread.start()
        thread.join()
    lock = threading.Lock()
    until: dict[str, float] = {}
    deleted: set[str] = set()
    wrong: list[str] = []
    counts = {"deliveries": 0, "deaths": 0, "late": 0}

    def consume(seed: int) -> None:
        choose = random.Random(seed)
        client = Client(server.queue_url)
        deadline = time.monotonic() + 90
        while len(deleted) < MESSAGES and time.monotonic() < deadline and not wrong:
            asked = time.monotonic()
            query = {"numofmessages": choose.randint(1, 32), "visibilitytimeout": HOLD}
            got = client.send("GET", f"{box}/messages", query).expect(200).xml()
            answered = time.monotonic()
            for message in got:
                text = message.findtext("MessageText")
                with lock:
                    counts["deliveries"] += 1
                    # Its first holder had it at least from the answer, for two seconds less the
                    # time that the request took.
                    if until.get(text, 0) > answered or text in deleted:
                        wrong.append(f"{text} is in two hands")
                    until[text] = asked + HOLD
            for message in got:
                if choose.random() < 0.03:
                    counts["deaths"] += 1
                    break
                path = f"{box}/messages/{message.findtext('MessageId')}"
                reply = client.send("DELETE", path, {"popreceipt": message.findtext("PopReceipt")})
                with lock:
                    if reply.status == 204:
                        deleted.add(message.findtext("MessageText"))
                    else:
                        reply.expect(404, "MessageNotFound")
                        counts["late"] += 1

    threads = [threading.Thread(target=consume, args=(SEED + i,)) for i in range(CONSUMERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    assert len(deleted) == MESSAGES, f"{MESSAGES - len(deleted)} were lost"
    reply = wire.send("GET", box, "comp=metadata").expect(200)
    assert reply.headers["x-ms-approximate-messages-count"] == "0"
    print(f"-- {MESSAGES} messages, 16 consumers, {counts}")
    assert counts["deaths"] > 10
