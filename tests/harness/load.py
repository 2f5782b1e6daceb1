"""Requests signed once and sent again and again over kept connections: load that costs little."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from urllib.parse import urlsplit

from .wire import Client

# The server closes a connection on which nothing came for five seconds, and says so in Keep-Alive.
IDLE_SECONDS = 3.0


def signed(
    client: Client, method: str, path: str, headers: dict | None = None, body: bytes = b"", query: str = ""
) -> bytes:
    """The bytes of a request; good for the fifteen minutes that its date is."""
    target = client.prefix + path
    length = len(body) if method in ("PUT", "POST") else None
    sent = client.signed_headers(method, target, query, dict(headers or {}), length=length)
    asked = f"{target}?{query}" if query else target
    lines = [f"{method} {asked} HTTP/1.1", f"Host: {client.host}:{client.port}"]
    lines += [f"{name}: {value}" for name, value in sent.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Sends one request; its status, after all of the answer was read."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if length:
        await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


class Load:
    """Counts of statuses and times of the answers."""

    def __init__(self, url: str, request: bytes) -> None:
        parts = urlsplit(url)
        self.host, self.port, self.request = parts.hostname, parts.port, request
        self.statuses: Counter[int] = Counter()
        self.times: list[float] = []
        self.broken = 0
        self.pool: list[tuple[asyncio.StreamReader, asyncio.StreamWriter, float]] = []

    async def connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The one used last, unless the server may be closing it, as every client has to see to."""
        if self.pool:
            reader, writer, used = self.pool.pop()
            if time.monotonic() - used < IDLE_SECONDS:
                return reader, writer
            for _, each, _ in [(reader, writer, used), *self.pool]:
                each.close()
            self.pool.clear()
        return await asyncio.open_connection(self.host, self.port)

    async def one(self) -> None:
        try:
            reader, writer = await self.connection()
            began = time.monotonic()
            status = await exchange(reader, writer, self.request)
            ended = time.monotonic()
            self.times.append(ended - began)
            self.statuses[status] += 1
            self.pool.append((reader, writer, ended))
        except (OSError, asyncio.IncompleteReadError):
            self.broken += 1

    async def closed(self, clients: int, seconds: float) -> float:
        """Each client asks again when it was answered; good answers per second."""
        end = time.monotonic() + seconds

        async def ask() -> None:
            while time.monotonic() < end:
                await self.one()

        began = time.monotonic()
        await asyncio.gather(*(ask() for _ in range(clients)))
        return self.statuses[200] / (time.monotonic() - began)

    async def open(self, rate: float, seconds: float) -> float:
        """So many requests a second, whatever becomes of them; good answers per second."""
        began, tasks, sent = time.monotonic(), [], 0
        while (now := time.monotonic() - began) < seconds:
            while sent < now * rate:
                tasks.append(asyncio.create_task(self.one()))
                sent += 1
            await asyncio.sleep(0.002)
        good = self.statuses[200] / seconds
        await asyncio.gather(*tasks)
        return good


def percentile(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
