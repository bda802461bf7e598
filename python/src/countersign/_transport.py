"""The two ways to the network: a blocking socket, and asyncio's streams. Each makes one connection for one call.

Everything else is decided elsewhere: redirects are not followed, and no proxy is looked for. Pass a `send` of your own
for that.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable

from ._http import Address, AnswerReader, HttpRequest, HttpResponse, address_of, bytes_of

Send = Callable[[HttpRequest], HttpResponse]
AsyncSend = Callable[[HttpRequest], Awaitable[HttpResponse]]

_READ_BYTES = 64 * 1024


def make_send(context: ssl.SSLContext | None) -> Send:
    def send(request: HttpRequest) -> HttpResponse:
        ends_at = time.monotonic() + request.timeout_seconds
        with _connect(address_of(request.url), context, ends_at) as connection:
            failure = _send_all(connection, request, ends_at)
            try:
                return _receive(connection, ends_at)
            except Exception as error:
                # A service that refuses a call may answer and close before it has read the whole body.
                raise failure or error from None

    return send


def _connect(address: Address, context: ssl.SSLContext | None, ends_at: float) -> socket.socket:
    failure: OSError = OSError(f"{address.host} has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.settimeout(_left(ends_at))
            plain.connect(place)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not address.is_tls:
                return plain
            plain.settimeout(_left(ends_at))
            return (context or ssl.create_default_context()).wrap_socket(plain, server_hostname=address.host)
        except OSError as error:
            plain.close()
            failure = error
        except BaseException:
            plain.close()
            raise
    raise failure


def _send_all(connection: socket.socket, request: HttpRequest, ends_at: float) -> Exception | None:
    data = memoryview(bytes_of(request))
    try:
        while data:
            connection.settimeout(_left(ends_at))
            data = data[connection.send(data[:_READ_BYTES]) :]
    except TimeoutError:
        raise
    except OSError as error:
        return error
    return None


def _receive(connection: socket.socket, ends_at: float) -> HttpResponse:
    reader = AnswerReader()
    while True:
        # Set anew each time: a server that sends a byte now and then must not hold the call for ever.
        connection.settimeout(_left(ends_at))
        data = connection.recv(_READ_BYTES)
        if not data:
            reader.end()
            return reader.response()
        if reader.feed(data):
            return reader.response()


def _left(ends_at: float) -> float:
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time of this call is over")
    return left


def make_async_send(context: ssl.SSLContext | None) -> AsyncSend:
    async def send(request: HttpRequest) -> HttpResponse:
        address = address_of(request.url)
        secure = (context or ssl.create_default_context()) if address.is_tls else None
        async with asyncio.timeout(request.timeout_seconds):
            reader, writer = await asyncio.open_connection(address.host, address.port, ssl=secure)
            try:
                return await _exchange(reader, writer, request)
            finally:
                # At once, also when the task is cancelled: a polite end could wait for the other side.
                writer.transport.abort()

    return send


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: HttpRequest) -> HttpResponse:
    failure: Exception | None = None
    try:
        writer.write(bytes_of(request))
        await writer.drain()
    except OSError as error:
        failure = error
    answer = AnswerReader()
    try:
        while data := await reader.read(_READ_BYTES):
            if answer.feed(data):
                return answer.response()
        answer.end()
    except Exception as error:
        raise failure or error from None
    return answer.response()
