"""What others may take of the page's server before they have shown its token: little, and not for
long. Every process of this machine can connect to it."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from http.server import ThreadingHTTPServer
from typing import Any

MAX_CONNECTIONS = 64  # each has a thread and a descriptor
MAX_ARRIVING = 1 << 17  # bytes of a request, its header's included
WHOLE = 15.0  # seconds in which a request must be there, from the connection or the answer before
LEAVING = 2.0  # seconds in which a connection that is ended has gone


class Arriving(io.RawIOBase):
    """What arrives by `connection`, one request after the other. Reading raises `OSError` when a
    request is not whole in time, even if something arrives all the time, or is far too long."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.expect()

    def expect(self) -> None:
        """Another request may come from now on."""
        self._deadline, self._left = time.monotonic() + WHOLE, MAX_ARRIVING

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        if not self._left:
            raise ConnectionAbortedError
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(memoryview(buffer)[: self._left])
        self._left -= count
        return count


class CappedServer(ThreadingHTTPServer):
    """Has a thread for each of at most `MAX_CONNECTIONS`. When there is no room for another one,
    the oldest that nobody has vouched for goes; if there is none, the other one is refused."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024  # a browser that finds the queue full tries again after a second

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._changed = threading.Condition()
        self._connections: dict[socket.socket, bool] = {}  # whether somebody vouches for it

    def vouch(self, connection: socket.socket) -> None:
        """The connection has shown the token: it stays."""
        with self._changed:
            if connection in self._connections:
                self._connections[connection] = True

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            room = self._make_room()
            if room:
                self._connections[request] = False
        if room:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def _make_room(self) -> bool:
        """Whether there is room for another connection, if need be in the place of an older one."""
        if len(self._connections) < MAX_CONNECTIONS:
            return True
        oldest = next((one for one, known in self._connections.items() if not known), None)
        if oldest is None:
            return False
        with contextlib.suppress(OSError):  # it is going already
            oldest.shutdown(socket.SHUT_RDWR)
        return self._changed.wait_for(lambda: oldest not in self._connections, LEAVING)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._connections.pop(request, None)
            self._changed.notify_all()
