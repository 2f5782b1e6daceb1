"""Processes that hold connections open and do hardly anything with them."""

from __future__ import annotations

import contextlib
import resource
import socket


def hold_idle(address: tuple[str, int], count: int, ready, end) -> None:
    """A process of its own, so that these descriptors are not the test's."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(socket.create_connection(address, timeout=30))
        ready.set()
        end.wait()


def drip(address: tuple[str, int], count: int, ready, end) -> None:
    """Heads and bodies that come a byte at a time."""
    heads = [b"GET /load/b HTTP/1.1\r\nHost: x\r\nx-slow: ", b"PUT /load/slow HTTP/1.1\r\nHost: x\r\n"
             b"Content-Length: 1000000\r\nx-ms-blob-type: BlockBlob\r\n\r\n"]  # fmt: skip
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(count)]
        for number, connection in enumerate(slow):
            connection.sendall(heads[number % 2])
        ready.set()
        while not end.wait(1.0):
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.send(b"a")
