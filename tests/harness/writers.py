"""Writers over HTTP for all services that know what each of their resources must hold.

Each resource belongs to one thread. Before a write its new state is noted as possible, after the
answer as sure; when the server is gone, what is found must be the sure state or the possible one.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import random
import threading

from .server import Server
from .signing import DEV_ACCOUNT, http_date, mac
from .wire import Client, Reply

# A field of a state whose value nobody told us yet.
UNKNOWN = "?"


class Gone(Exception):
    """The server answered that it cannot, or not at all: the write may have happened."""


def md5(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


def agrees(found: tuple | None, wanted: tuple | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    pairs = zip(found, wanted, strict=True)
    return all(b in (a, UNKNOWN) for a, b in pairs)


class TableClient(Client):
    """Signs by the rules of the Table service."""

    def signed_headers(self, method, path, query, headers, **kw) -> dict[str, str]:
        kw["auth"] = "none"
        out = super().signed_headers(method, path, query, headers, **kw)
        comp = next((part for part in query.split("&") if part.startswith("comp=")), "")
        text = f"{out['x-ms-date']}\n/{DEV_ACCOUNT}{path}" + (f"?{comp}" if comp else "")
        out["Authorization"] = f"SharedKeyLite {DEV_ACCOUNT}:{mac(self.key, text)}"
        return out


class Resource:
    """One thing with a state; `None` is absent. A state is a tuple that ends with the ETag."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sure: tuple | None = None
        self.maybe: list[tuple | None] = []
        self.acknowledged = 0

    def connect(self, server: Server) -> None:
        raise NotImplementedError

    def prepare(self) -> None:
        """What must be there before the first write; done again it does no harm."""

    def step(self, choose: random.Random) -> None:
        raise NotImplementedError

    def observe(self) -> tuple | None:
        raise NotImplementedError

    def send(self, *args, **kw) -> Reply:
        reply = self.client.send(*args, retry=False, **kw)
        if reply.status >= 500:
            raise Gone(f"{reply.status} {reply.code}")
        return reply

    def settle(self, state: tuple | None) -> None:
        self.sure, self.maybe = state, []
        self.acknowledged += 1

    def verify(self) -> bool:
        """Compares, adopts what is found; true if that was not acknowledged."""
        found = self.observe()
        new = not agrees(found, self.sure)
        assert not new or any(agrees(found, state) for state in self.maybe), (
            f"{self}: acknowledged {self.sure}, possible {self.maybe}, found {found}"
        )
        self.sure, self.maybe = found, []
        return new

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.number}"


class BlockBlob(Resource):
    """Put Blob, blocks, metadata, deletion."""

    def connect(self, server: Server) -> None:
        self.client = Client(server.url)
        self.path = f"/written/block-{self.number}"

    def prepare(self) -> None:
        self.send("PUT", "/written", "restype=container").expect((201, 409))

    def step(self, choose: random.Random) -> None:
        action, tag = choose.random(), f"{choose.getrandbits(32):08x}"
        meta = {"x-ms-meta-tag": tag}
        if action < 0.15 and self.sure:
            self.maybe = [None]
            self.send("DELETE", self.path).expect(202)
            self.settle(None)
        elif action < 0.30 and self.sure:
            state = (self.sure[0], tag)
            self.maybe = [(*state, UNKNOWN)]
            self.settle((*state, self.send("PUT", self.path, "comp=metadata", meta).expect(200).etag))
        elif action < 0.50:
            self.commit_blocks(choose, meta, tag)
        else:
            body = choose.randbytes(choose.choice([1, 100, 4096, 20000, 200000, 1500000]))
            self.maybe = [(md5(body), tag, UNKNOWN)]
            headers = {"x-ms-blob-type": "BlockBlob", **meta}
            reply = self.send("PUT", self.path, "", headers, body).expect(201)
            self.settle((md5(body), tag, reply.etag))

    def commit_blocks(self, choose: random.Random, meta: dict, tag: str) -> None:
        parts = [choose.randbytes(choose.choice([10, 5000, 60000])) for _ in range(3)]
        ids = [base64.b64encode(f"{i:04d}".encode()).decode() for i in range(3)]
        for id_, part in zip(ids, parts, strict=True):
            self.send("PUT", self.path, {"comp": "block", "blockid": id_}, {}, part).expect(201)
        state = (md5(b"".join(parts)), tag)
        self.maybe = [(*state, UNKNOWN)]
        rows = "".join(f"<Uncommitted>{i}</Uncommitted>" for i in ids)
        body = f"<BlockList>{rows}</BlockList>"
        reply = self.send("PUT", self.path, "comp=blocklist", meta, body).expect(201)
        self.settle((*state, reply.etag))

    def observe(self) -> tuple | None:
        got = self.client.get(self.path).expect((200, 404))
        if got.status == 404:
            return None
        return (md5(got.body), got.headers.get("x-ms-meta-tag", ""), got.etag)


class AppendBlob(BlockBlob):
    """Append Block at a position that must be the end."""

    def connect(self, server: Server) -> None:
        super().connect(server)
        self.path, self.content = f"/written/append-{self.number}", b""

    def step(self, choose: random.Random) -> None:
        if self.sure is None or len(self.content) > 500_000:
            self.maybe = [(md5(b""), UNKNOWN)]
            reply = self.send("PUT", self.path, "", {"x-ms-blob-type": "AppendBlob"}).expect(201)
            self.content = b""
            self.settle((md5(b""), reply.etag))
            return
        new = self.content + choose.randbytes(choose.choice([1, 1000, 30000]))
        self.maybe = [(md5(new), UNKNOWN)]
        headers = {"x-ms-blob-condition-appendpos": str(len(self.content))}
        body = new[len(self.content) :]
        reply = self.send("PUT", self.path, "comp=appendblock", headers, body).expect(201)
        self.content = new
        self.settle((md5(new), reply.etag))

    def observe(self) -> tuple | None:
        got = self.client.get(self.path).expect((200, 404))
        self.content = got.body if got.status == 200 else b""
        return (md5(got.body), got.etag) if got.status == 200 else None


class PageBlob(AppendBlob):
    """Put Page and Clear Pages."""

    SIZE = 256 * 1024

    def connect(self, server: Server) -> None:
        super().connect(server)
        self.path = f"/written/page-{self.number}"

    def step(self, choose: random.Random) -> None:
        if self.sure is None:
            headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": str(self.SIZE)}
            self.maybe = [(md5(bytes(self.SIZE)), UNKNOWN)]
            reply = self.send("PUT", self.path, "", headers).expect(201)
            self.content = bytes(self.SIZE)
            self.settle((md5(self.content), reply.etag))
            return
        start = 512 * choose.randrange(self.SIZE // 512 - 128)
        length = 512 * choose.choice([1, 3, 16, 100])
        clear = choose.random() < 0.2
        page = b"" if clear else choose.randbytes(length)
        new = self.content[:start] + (page or bytes(length)) + self.content[start + length :]
        self.maybe = [(md5(new), UNKNOWN)]
        headers = {"x-ms-page-write": "clear" if clear else "update",
                   "x-ms-range": f"bytes={start}-{start + length - 1}"}  # fmt: skip
        reply = self.send("PUT", self.path, "comp=page", headers, page).expect(201)
        self.content = new
        self.settle((md5(new), reply.etag))


class Message(Resource):
    """A queue with at most one message: put, update, delete by receipt, clear."""

    def connect(self, server: Server) -> None:
        self.client = Client(server.queue_url)
        self.path = f"/written-{self.number}"
        self.handle: tuple[str, str] | None = None

    def prepare(self) -> None:
        self.send("PUT", self.path).expect((201, 204))

    def step(self, choose: random.Random) -> None:
        text = f"{choose.getrandbits(64):016x}" * choose.choice([1, 40])
        body = f"<QueueMessage><MessageText>{text}</MessageText></QueueMessage>"
        if self.sure is None:
            self.maybe = [(text,)]
            reply = self.send("POST", f"{self.path}/messages", "messagettl=-1", {}, body)
            (message,) = reply.expect(201).xml()
            self.handle = (message.findtext("MessageId"), message.findtext("PopReceipt"))
            self.settle((text,))
        elif self.handle is None:
            self.maybe = [None]
            self.send("DELETE", f"{self.path}/messages").expect(204)
            self.settle(None)
        elif choose.random() < 0.6:
            id_, receipt = self.handle
            self.maybe = [(text,)]
            query = {"popreceipt": receipt, "visibilitytimeout": 0}
            reply = self.send("PUT", f"{self.path}/messages/{id_}", query, {}, body).expect(204)
            self.handle = (id_, reply.headers["x-ms-popreceipt"])
            self.settle((text,))
        else:
            id_, receipt = self.handle
            self.maybe = [None]
            self.send("DELETE", f"{self.path}/messages/{id_}", {"popreceipt": receipt}).expect(204)
            self.handle = None
            self.settle(None)

    def observe(self) -> tuple | None:
        got = self.client.get(f"{self.path}/messages", query="peekonly=true&numofmessages=32")
        messages = [m.findtext("MessageText") for m in got.expect(200).xml()]
        assert len(messages) <= 1, f"{self}: {len(messages)} messages"
        return (messages[0],) if messages else None

    def verify(self) -> bool:
        unsure = bool(self.maybe)
        new = super().verify()
        if unsure:
            self.handle = None  # a receipt may have been replaced unseen
        return new


class Pair(Resource):
    """Two entities of a partition that one batch always changes together."""

    def connect(self, server: Server) -> None:
        self.client = TableClient(server.table_url)

    def prepare(self) -> None:
        headers = {"Content-Type": "application/json"}
        body = json.dumps({"TableName": "Written"})
        self.send("POST", "/Tables", "", headers, body).expect((201, 409))

    def step(self, choose: random.Random) -> None:
        if self.sure is not None and choose.random() < 0.2:
            self.maybe = [None]
            self.batch("DELETE", None)
            self.settle(None)
            return
        text = f"{choose.getrandbits(64):016x}" * choose.choice([1, 200])
        self.maybe = [(text, text, UNKNOWN, UNKNOWN)]
        self.settle((text, text, *self.batch("PUT", text)))

    def batch(self, method: str, text: str | None) -> list[str]:
        port = self.client.port
        lines = ["--batch_1", "Content-Type: multipart/mixed; boundary=changeset_1", ""]
        for row in ("a", "b"):
            url = f"http://127.0.0.1:{port}/{DEV_ACCOUNT}/{self.entity(row)}"
            lines += ["--changeset_1", "Content-Type: application/http",
                      "Content-Transfer-Encoding: binary", "", f"{method} {url} HTTP/1.1"]  # fmt: skip
            if text is None:
                lines += ["If-Match: *", "", ""]
            else:
                body = json.dumps({"PartitionKey": f"p{self.number}", "RowKey": row, "V": text})
                lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
        lines += ["--changeset_1--", "", "--batch_1--", ""]
        headers = {"Content-Type": "multipart/mixed; boundary=batch_1",
                   "x-ms-version": "2019-02-02", "x-ms-date": http_date()}  # fmt: skip
        reply = self.send("POST", "/$batch", "", headers, "\r\n".join(lines)).expect(202)
        assert reply.body.count(b"HTTP/1.1 204") == 2, reply.body
        found = [line.partition(":")[2].strip() for line in reply.body.decode().splitlines()
                 if line.lower().startswith("etag:")]  # fmt: skip
        return found

    def entity(self, row: str) -> str:
        return f"Written(PartitionKey='p{self.number}',RowKey='{row}')"

    def observe(self) -> tuple | None:
        found = []
        for row in ("a", "b"):
            headers = {"Accept": "application/json;odata=fullmetadata"}
            got = self.client.get(f"/{self.entity(row)}", headers).expect((200, 404))
            found.append(None if got.status == 404 else json.loads(got.body))
        one, two = found
        assert (one is None) == (two is None), f"{self}: half a batch"
        if one is None:
            return None
        return (one["V"], two["V"], one["odata.etag"], two["odata.etag"])


class File(Resource):
    """A file that is written, renamed and deleted; under exactly one of two names."""

    def connect(self, server: Server) -> None:
        self.client = Client(server.file_url)
        self.url = f"{server.file_url}/{DEV_ACCOUNT}"

    def prepare(self) -> None:
        self.send("PUT", "/written", "restype=share").expect((201, 409))

    def path(self, name: str) -> str:
        return f"/written/{name}-{self.number}"

    def step(self, choose: random.Random) -> None:
        if self.sure is None:
            body = choose.randbytes(choose.choice([1, 700, 5000, 200_000]))
            name = choose.choice("xy")
            self.maybe = [(name, md5(body), UNKNOWN)]
            headers = {"x-ms-type": "file", "x-ms-content-length": str(len(body))}
            reply = self.send("PUT", self.path(name), "", headers, body).expect(201)
            self.settle((name, md5(body), reply.etag))
        elif (action := choose.random()) < 0.2:
            self.maybe = [None]
            self.send("DELETE", self.path(self.sure[0])).expect(202)
            self.settle(None)
        elif action < 0.6:
            old, new = self.sure[0], "y" if self.sure[0] == "x" else "x"
            self.maybe = [(new, self.sure[1], UNKNOWN)]
            headers = {"x-ms-file-rename-source": f"{self.url}{self.path(old)}"}
            self.send("PUT", self.path(new), "comp=rename", headers).expect(200)
            self.settle((new, self.sure[1], UNKNOWN))
        else:
            body = choose.randbytes(choose.choice([1, 700, 5000, 200_000]))
            self.maybe = [(self.sure[0], md5(body), UNKNOWN)]
            headers = {"x-ms-type": "file", "x-ms-content-length": str(len(body))}
            reply = self.send("PUT", self.path(self.sure[0]), "", headers, body).expect(201)
            self.settle((self.sure[0], md5(body), reply.etag))

    def observe(self) -> tuple | None:
        found = {name: self.client.get(self.path(name)).expect((200, 404)) for name in "xy"}
        there = [(n, md5(got.body), got.etag) for n, got in found.items() if got.status == 200]
        assert len(there) <= 1, f"{self}: under both names"
        return there[0] if there else None


KINDS = (BlockBlob, AppendBlob, PageBlob, Message, Pair, File)


class Writer(threading.Thread):
    """Writes to its resources until the server is gone, or has answered that it cannot."""

    def __init__(self, resources: list[Resource], seed: int, may_fail: bool) -> None:
        super().__init__()
        self.resources, self.may_fail = resources, may_fail
        self.choose = random.Random(seed)
        self.wrong: list[str] = []
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            try:
                self.choose.choice(self.resources).step(self.choose)
            except (OSError, http.client.HTTPException):
                return
            except Gone as error:
                if not self.may_fail:
                    self.wrong.append(f"the server answered {error}")
                return
            except AssertionError as error:
                self.wrong.append(str(error))
                return


class Crew:
    """All writers over all resources of all services."""

    def __init__(self, server: Server, seed: int, *, threads: int = 8, each: int = 2) -> None:
        self.server, self.seed, self.threads, self.round = server, seed, threads, 0
        self.resources = [kind(number) for number in range(threads * each) for kind in KINDS]
        self.writers: list[Writer] = []
        self.connect()
        for resource in self.resources:
            resource.prepare()

    def connect(self) -> None:
        for resource in self.resources:
            resource.connect(self.server)

    def start(self, *, may_fail: bool = False) -> None:
        self.round += 1
        self.writers = [
            Writer(self.resources[w :: self.threads], self.seed + self.round * 100 + w, may_fail)
            for w in range(self.threads)
        ]
        for writer in self.writers:
            writer.start()

    def join(self) -> None:
        """Waits for all; raises what one of them found wrong."""
        for writer in self.writers:
            writer.join()
        wrong = [text for writer in self.writers for text in writer.wrong]
        assert not wrong, wrong[0]

    def end(self) -> None:
        """Lets each finish the write it is in."""
        for writer in self.writers:
            writer.ended = True
        self.join()

    def verify(self) -> int:
        """Compares everything; how many writes were there without having been acknowledged."""
        self.connect()
        return sum(resource.verify() for resource in self.resources)

    @property
    def acknowledged(self) -> int:
        return sum(resource.acknowledged for resource in self.resources)

    def least_of_a_kind(self) -> int:
        """The fewest acknowledged writes of a kind: that no service was idle."""
        totals = dict.fromkeys(KINDS, 0)
        for resource in self.resources:
            totals[type(resource)] += resource.acknowledged
        return min(totals.values())
