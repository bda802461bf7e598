"""HTTP/1.1 as far as a client of one service needs it, without a socket: the bytes of a call, and a reader of its answer.

Both transports use it, so that blocking and asyncio code agree about every byte, every bound and every flaw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

#: The service's largest answers have a quarter of this.
ANSWER_BYTES_MAX = 64 * 1024 * 1024
HEAD_BYTES_MAX = 64 * 1024
_LINE_BYTES_MAX = 4_096
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?")


class HttpFlaw(Exception):
    """What arrived is no answer in HTTP, is too long, or broke off."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One call as it is sent. Nothing of it but method and address is ever printed: the headers hold the API key."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    #: For the whole exchange: connecting, sending, and the last byte of the answer.
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Address:
    is_tls: bool
    host: str
    port: int


def address_of(url: str) -> Address:
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Address(is_tls, parts.hostname or "", parts.port or (443 if is_tls else 80))


def bytes_of(request: HttpRequest) -> bytes:
    parts = urlsplit(request.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = {"host": parts.netloc, **request.headers, "connection": "close", "accept-encoding": "identity"}
    if request.body is not None or request.method == "POST":
        headers["content-length"] = str(len(request.body or b""))
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    head = "\r\n".join(lines)
    # A line break in a value would begin a header, or a call, of somebody else's choice.
    if re.search(r"[\r\n\0]", "".join(lines)):
        raise ValueError("a header or an address holds a line break")
    return head.encode("latin-1") + b"\r\n\r\n" + (request.body or b"")


class AnswerReader:
    """Feed it what arrives until `feed` says that the answer is whole; call `end` when the other side closes."""

    def __init__(self, bytes_max: int = ANSWER_BYTES_MAX) -> None:
        self._buffer = bytearray()
        self._bytes_max = bytes_max
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        #: None until the head is read; -1 is a body until the end of the connection.
        self._length: int | None = None
        self._is_chunked = False
        self._chunk_left = 0
        self._is_in_trailers = False
        self._is_whole = False

    def feed(self, data: bytes) -> bool:
        self._buffer += data
        while self._length is None:
            if not self._take_head():
                return False
        if not self._is_whole:
            self._is_whole = self._take_chunks() if self._is_chunked else self._take_plain()
        return self._is_whole

    def end(self) -> None:
        if not self._is_whole and self._length != -1:
            raise HttpFlaw("the answer broke off")
        self._is_whole = True

    def response(self) -> HttpResponse:
        return HttpResponse(self._status, self._headers, bytes(self._body))

    def _take_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end == -1 and len(self._buffer) <= HEAD_BYTES_MAX:
            return False
        if end == -1 or end > HEAD_BYTES_MAX:
            raise HttpFlaw("the answer's headers are too long, or it is no answer in HTTP")
        first, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        found = _STATUS_LINE.fullmatch(first)
        if found is None:
            raise HttpFlaw("the answer is not HTTP")
        self._status = int(found[1])
        self._headers = _headers_of(lines)
        if self._status == 101:
            raise HttpFlaw("the answer speaks another protocol")
        # 100 and 103 announce the answer that follows.
        if self._status >= 200:
            self._length = self._framing()
        return True

    def _framing(self) -> int:
        encoding = self._headers.get("transfer-encoding")
        length = self._headers.get("content-length")
        if self._status in (204, 304):
            return 0
        if encoding is not None:
            # With both, two readers could disagree about where the answer ends.
            if length is not None or encoding.lower() != "chunked":
                raise HttpFlaw("the answer's length is told in two ways, or in an unknown one")
            self._is_chunked = True
            return 0
        if length is None:
            return -1
        if re.fullmatch(r"[0-9]{1,12}", length) is None:
            raise HttpFlaw("the answer's length is no number")
        if int(length) > self._bytes_max:
            raise HttpFlaw(f"the answer has more than {self._bytes_max} bytes")
        return int(length)

    def _take_plain(self) -> bool:
        length = self._length or 0
        taken = self._buffer if length == -1 else self._buffer[: length - len(self._body)]
        self._keep(taken)
        self._buffer.clear()
        return length != -1 and len(self._body) == length

    def _take_chunks(self) -> bool:
        while True:
            if self._chunk_left > 0:
                # The chunk, and the line break behind it.
                data = self._buffer[: self._chunk_left - 2]
                self._keep(data)
                del self._buffer[: len(data)]
                self._chunk_left -= len(data)
                if self._chunk_left > 2 or len(self._buffer) < 2:
                    return False
                if self._buffer[:2] != b"\r\n":
                    raise HttpFlaw("a chunk of the answer has no end")
                del self._buffer[:2]
                self._chunk_left = 0
            line = self._take_line()
            if line is None:
                return False
            if self._is_in_trailers:
                if line == b"":
                    return True
                continue
            found = _CHUNK_SIZE.fullmatch(line)
            if found is None:
                raise HttpFlaw("a chunk of the answer has no length")
            size = int(found[1], 16)
            self._is_in_trailers = size == 0
            self._chunk_left = size + 2 if size > 0 else 0

    def _take_line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end > _LINE_BYTES_MAX or (end == -1 and len(self._buffer) > _LINE_BYTES_MAX):
            raise HttpFlaw("a line of the answer is too long")
        if end == -1:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        # Lines without content would go on for ever without being counted.
        self._bytes_max -= len(line) + 2
        if self._bytes_max < 0:
            raise HttpFlaw("the answer is too long")
        return line

    def _keep(self, data: bytearray) -> None:
        if len(self._body) + len(data) > self._bytes_max:
            raise HttpFlaw(f"the answer has more than {self._bytes_max} bytes")
        self._body += data


def _headers_of(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise HttpFlaw("a header of the answer is none")
        name, value = found[1].decode("ascii").lower(), found[2].strip(b" \t").decode("latin-1")
        if name == "content-length" and headers.get(name, value) != value:
            raise HttpFlaw("the answer has two lengths")
        if name in headers and name != "content-length":
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return headers
