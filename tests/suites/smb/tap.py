"""A listener on the line: everything goes through, and what kind each message was is kept."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading


class Tap:
    """`heard` has the first four bytes and the command of every message from the server, in order."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.heard: list[tuple[bytes, int]] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self) -> Tap:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                for one, other, keep in ((client, server, False), (server, client, True)):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self._pass, args=(one, other, keep), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, keep: bool) -> None:
        with contextlib.suppress(OSError):
            while prefix := source.recv(4, socket.MSG_WAITALL):
                length = struct.unpack(">I", prefix)[0]
                message = source.recv(length, socket.MSG_WAITALL)
                if keep:
                    command = struct.unpack_from("<H", message, 12)[0]
                    self.heard.append((message[:4], command))
                sink.sendall(prefix + message)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
