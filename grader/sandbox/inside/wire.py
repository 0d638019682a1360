"""Frames of JSON over a socket: four bytes of length, then the text. Used on both sides of the sandbox."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

HEAD = struct.Struct("!I")
MOST_PARTS = 1_200_000  # lists and objects in one frame; an output of the largest size has fewer
LARGEST = 32 << 20  # bytes of one frame: all files of a submission are sent in one


class Closed(Exception):
    """The other side has closed the connection, or has sent something that is not a frame."""


def packed(message: dict[str, Any]) -> bytes:
    """The bytes of one message."""
    data = json.dumps(message).encode()
    return HEAD.pack(len(data)) + data


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send one message. Raises OSError if the other side has closed."""
    connection.sendall(packed(message))


def receive(connection: socket.socket, frames: Frames | None = None) -> dict[str, Any]:
    """Wait for the next message and return it. frames: what more than one message is read with. Raises Closed."""
    frames = frames or Frames()
    while not frames.ready:
        try:
            part = connection.recv(1 << 20)
        except OSError as error:
            raise Closed(str(error)) from error
        if not part:
            raise Closed("end of stream")
        frames.feed(part)
    return frames.ready.pop(0)


class Frames:
    """Cuts a stream of bytes into messages: ``feed`` the bytes that arrive, then take the messages from ``ready``."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._data, self._largest = bytearray(), largest
        self.ready: list[dict[str, Any]] = []

    def feed(self, part: bytes) -> None:
        """Add bytes; complete messages are appended to ``ready``. Raises Closed where the bytes are no sequence of frames."""
        self._data += part
        while len(self._data) >= HEAD.size:
            (length,) = HEAD.unpack_from(self._data)
            if length > self._largest:
                raise Closed("a frame is too long")
            if len(self._data) < HEAD.size + length:
                return
            text = bytes(self._data[HEAD.size : HEAD.size + length])
            del self._data[: HEAD.size + length]
            if text.count(b"{") + text.count(b"[") > MOST_PARTS:
                raise Closed("a frame has too many parts")
            try:
                message = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise Closed("a frame is not JSON") from error
            if not isinstance(message, dict):
                raise Closed("a frame is not an object")
            self.ready.append(message)
