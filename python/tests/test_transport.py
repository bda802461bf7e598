"""Answers are bounded in size and time, redirects are not followed, and the key goes nowhere but to the service."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import ssl
import threading
import time
import traceback
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from countersign import AsyncCountersign, Countersign, CountersignError, HttpResponse
from countersign._http import AnswerReader, HttpFlaw, HttpRequest, bytes_of

from .trying import Asyncio, Blocking, json_response

KEY = "cs_verysecret"
CERTIFICATES = Path(__file__).parents[2] / "server" / "test" / "certificates"
DECIDED = b'{"id":"req_1","status":"APPROVED"}'
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(DECIDED), DECIDED)


class Server:
    """Does with each connection what it is told, and keeps what was sent to it."""

    def __init__(self, serve: Callable[[socket.socket], None], reads_first: bool = True) -> None:
        self.heard: list[bytes] = []
        self._reads_first = reads_first
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            try:
                if self._reads_first:
                    self.heard.append(connection.recv(65_536))
                self._serve(connection)
            except OSError:
                pass  # The client has gone.

    def close(self) -> None:
        self._socket.close()


def drip(text: bytes, pause: float) -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(pause)

    return serve


class Transports:
    """Run by both clients."""

    kind: Any
    run_call: Any
    sender: Any

    def server(self: Any, serve: Callable[[socket.socket], None], reads_first: bool = True) -> Server:
        server = Server(serve, reads_first)
        self.addCleanup(server.close)
        return server

    def client(self, url: str, **options: Any) -> Any:
        return self.kind(KEY, url, **{"timeout_seconds": 5, "retries_max": 0, **options})

    def failure(self: Any, url: str, **options: Any) -> CountersignError:
        client = self.client(url, **options)
        with self.assertRaises(CountersignError) as caught:
            self.run_call(lambda: client.requests.get("req_1"))
        error: CountersignError = caught.exception
        return error

    def test_an_answer_is_read_however_it_is_cut(self: Any) -> None:
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n" + DECIDED[:5] + b"\r\n%x\r\n" % (len(DECIDED) - 5) + DECIDED[5:] + b"\r\n0\r\nTrailer: 1\r\n\r\n"
        closed = b"HTTP/1.0 200 OK\r\n\r\n" + DECIDED
        for text in (WHOLE, chunked, closed, b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE, WHOLE + b"more"):
            server = self.server(lambda connection, text=text: connection.sendall(text))
            request = self.run_call(lambda: self.client(server.url).requests.get("req_1"))
            self.assertEqual(request.status, "APPROVED")
        slow = self.server(drip(WHOLE, 0.001))
        self.assertEqual(self.run_call(lambda: self.client(slow.url).requests.get("req_1")).id, "req_1")

    def test_a_server_that_sends_a_byte_now_and_then_does_not_hold_a_call_beyond_its_time(self: Any) -> None:
        endless = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b" " * 100_000
        for text in (endless, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000, b""):
            def serve(connection: socket.socket, text: bytes = text) -> None:
                drip(text, 0.01)(connection)
                time.sleep(30)

            server = self.server(serve)
            started = time.monotonic()
            error = self.failure(server.url, timeout_seconds=0.3)
            self.assertRegex(str(error), r"gave no answer within 0\.3 s")
            self.assertEqual(error.code, "connection_failed")
            self.assertLess(time.monotonic() - started, 20)

    def test_a_server_that_reads_nothing_does_not_hold_a_large_call_beyond_its_time(self: Any) -> None:
        server = self.server(lambda connection: time.sleep(30))
        client = self.client(server.url, timeout_seconds=0.3)
        with self.assertRaisesRegex(CountersignError, "within 0.3 s"):
            self.run_call(lambda: client.requests.create(summary="a", notify="b", payload="x" * 9_000_000))

    def test_an_answer_that_breaks_off_or_is_no_http_is_no_answer(self: Any) -> None:
        for text in (
            b"", WHOLE[:-1], WHOLE[:20], b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx", b"HTTP/1.1 101 Switching\r\n\r\n",
        ):  # fmt: skip
            server = self.server(lambda connection, text=text: connection.sendall(text))
            error = self.failure(server.url)
            self.assertEqual([error.code, error.status], ["connection_failed", 0], text)

    def test_an_answer_that_is_too_long_is_not_read_to_its_end(self: Any) -> None:
        bytes_max = 1_000_000
        sent = [0]

        def pour(connection: socket.socket, head: bytes, piece: bytes) -> None:
            connection.sendall(head)
            while sent[0] < 100 * bytes_max:
                sent[0] += connection.send(piece)

        for head, piece in (
            (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 100_000), (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 10_000),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"186a0\r\n" + b" " * 100_000 + b"\r\n"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 10_000),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b" " * 100_000),
        ):  # fmt: skip
            sent[0] = 0
            server = self.server(lambda connection, head=head, piece=piece: pour(connection, head, piece))
            with mock.patch("countersign._transport.AnswerReader", lambda: AnswerReader(bytes_max)):
                self.assertEqual(self.failure(server.url, timeout_seconds=60).code, "connection_failed")
            # What the sockets hold is sent, too.
            self.assertLess(sent[0], 50 * bytes_max)

    def test_a_redirect_is_not_followed_and_told(self: Any) -> None:
        elsewhere = self.server(lambda connection: connection.sendall(WHOLE))
        for status in (301, 302, 303, 307, 308):
            text = f"HTTP/1.1 {status} Moved\r\nLocation: {elsewhere.url}/v1/requests/req_1\r\nContent-Length: 0\r\n\r\n"
            server = self.server(lambda connection, text=text: connection.sendall(text.encode()))
            error = self.failure(server.url)
            self.assertEqual([error.code, error.status], ["not_countersign", status])
            self.assertIn(f"redirects to {elsewhere.url}", str(error))
        self.assertEqual(elsewhere.heard, [])

    def test_a_refusal_that_comes_before_the_body_was_read_is_heard(self: Any) -> None:
        def refuse(connection: socket.socket) -> None:
            body = b'{"error":{"code":"body_too_large","message":"Too large."}}'
            connection.sendall(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1_000_000):
                pass

        server = self.server(refuse)
        client = self.client(server.url)
        with self.assertRaises(CountersignError) as caught:
            self.run_call(lambda: client.requests.create(summary="a", notify="b", payload="x" * 8_000_000))
        self.assertEqual([caught.exception.code, caught.exception.status], ["body_too_large", 413])

    @unittest.skipUnless(CERTIFICATES.exists(), "the certificates are in a clone, at server/test/certificates")
    def test_tls_is_checked_against_the_host_and_the_authorities_that_are_trusted(self: Any) -> None:
        def serve(name: str) -> str:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / "localhost-key.pem")

            def answer(connection: socket.socket) -> None:
                with context.wrap_socket(connection, server_side=True) as secure:
                    secure.recv(65_536)
                    secure.sendall(WHOLE)

            server = self.server(answer, reads_first=False)
            return server.url.replace("http://127.0.0.1", "https://localhost")

        trusting = ssl.create_default_context(cafile=str(CERTIFICATES / "ca.pem"))
        right = serve("localhost")
        client = self.client(right, ssl_context=trusting)
        self.assertEqual(self.run_call(lambda: client.requests.get("req_1")).status, "APPROVED")
        other_name = right.replace("localhost", "127.1")
        for url, context in ((right, None), (serve("self-signed"), trusting), (other_name, trusting)):
            error = self.failure(url, ssl_context=context)
            self.assertEqual(error.code, "connection_failed", url)
            self.assertIsInstance(error.__cause__, ssl.SSLCertVerificationError)
        self.assertEqual(self.failure(right.replace("https", "http")).code, "connection_failed")

    def test_one_idempotency_key_goes_with_all_tries_of_a_call_and_another_with_the_next_call(self: Any) -> None:
        seen: list[Any] = []

        def answer(request: HttpRequest) -> HttpResponse:
            seen.append((request.headers["idempotency-key"], request.body))
            if len(seen) % 3:
                raise ConnectionResetError
            return json_response({"id": "req_1", "status": "PENDING"}, 201)

        client = self.kind(KEY, "http://127.0.0.1:1", send=self.sender(answer))
        for _ in range(2):
            self.run_call(lambda: client.requests.create(summary="a", notify="b"))
        self.assertEqual([len(seen), len(set(seen))], [6, 2])

    def test_the_key_is_in_no_repr_error_traceback_pickle_or_log(self: Any) -> None:
        server = self.server(lambda connection: connection.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"))
        client = self.client(server.url)
        said: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger().addHandler(handler)
        self.addCleanup(logging.getLogger().removeHandler, handler)
        for url in (server.url, "http://127.0.0.1:1"):
            try:
                self.run_call(lambda: self.client(url).requests.get("req_1"))
                self.fail("it was answered")
            except CountersignError as error:
                stack = traceback.TracebackException.from_exception(error, capture_locals=True)
                text = "".join(stack.format())
                # Reports of errors show local variables.
                self.assertFalse(KEY in text, "a local variable holds the key")
                self.assertNotIn(KEY.encode(), pickle.dumps(error))
                restored = pickle.loads(pickle.dumps(error))
                self.assertEqual([restored.code, restored.status, str(restored)], [error.code, error.status, str(error)])
        said += [repr(client), str(client), repr(client.requests), repr(client._runner.options), repr(vars(client))]
        self.assertNotIn(KEY, "".join(said))
        self.assertIn(b"authorization: Bearer " + KEY.encode(), server.heard[0])

    def test_flawed_settings_are_refused_without_repeating_them(self: Any) -> None:
        for url in (
            "localhost:3000", "ftp://a.example", "file:///etc/passwd", "http://a.example/?b", "http://a.example/#b",
            "http://name:secret@a.example", "cs_secret", "http://", "http:///x", "http://a:99999", "http://a b", "http://a\r\nb",
            "http://a.example\\@secret.example", "http://ä.example", "http://a\t.example", 5, b"http://a",
        ):  # fmt: skip
            with self.assertRaisesRegex(ValueError, "base_url must be") as caught:
                self.kind("k", url)
            self.assertNotIn("secret", str(caught.exception))
        for key in ("cs_a b", "cs_\r\nx", "ü", 5):
            with self.assertRaisesRegex(ValueError, "copied whole"):
                self.kind(key, "http://a.example")
        for wrong in (float("nan"), -1, float("inf"), "5", None, True):
            with self.assertRaisesRegex(ValueError, "timeout_seconds must be"):
                self.kind("k", timeout_seconds=wrong)
            with self.assertRaisesRegex(ValueError, "retries_max must be"):
                self.kind("k", retries_max=wrong)
        self.assertIn("http://[::1]:3000/x", repr(self.kind("k", "http://[::1]:3000/x/")))


class BlockingTransport(Transports, Blocking, unittest.TestCase):
    pass


class AsyncioTransport(Transports, Asyncio, unittest.TestCase):
    def test_a_cancelled_call_closes_its_connection_at_once(self) -> None:
        closed = threading.Event()

        def hold(connection: socket.socket) -> None:
            try:
                connection.recv(10)
            finally:
                closed.set()

        server = self.server(hold)

        async def give_up() -> None:
            client = AsyncCountersign(KEY, server.url)
            call = asyncio.create_task(client.requests.get("req_1"))
            while not server.heard:
                await asyncio.sleep(0.005)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call

        asyncio.run(give_up())
        self.assertTrue(closed.wait(20))

    def test_many_waiting_calls_need_no_threads(self) -> None:
        release = threading.Event()

        async def wait_together() -> None:
            clients = AsyncCountersign(KEY, server.url)
            calls = [asyncio.create_task(clients.requests.get("req_1")) for _ in range(100)]
            while len(server.heard) < 100:
                await asyncio.sleep(0.01)
            names = [each.name for each in threading.enumerate() if each.name.startswith("asyncio")]
            # Looking up a name may use a few of asyncio's own threads; waiting uses none.
            self.assertLess(len(names), 40)
            release.set()
            self.assertEqual({(await call).status for call in calls}, {"APPROVED"})

        def hold(connection: socket.socket) -> None:
            release.wait(60)
            connection.sendall(WHOLE)

        server = self.server(hold)
        asyncio.run(wait_together())


class Bytes(unittest.TestCase):
    def test_the_reader_comes_to_the_same_end_however_the_bytes_are_cut(self) -> None:
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: 1\r\na: 2\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
        for text, body in ((WHOLE, DECIDED), (chunked, b"abc0123456789")):
            for size in range(1, len(text) + 1):
                reader = AnswerReader()
                ends = [reader.feed(text[at : at + size]) for at in range(0, len(text), size)]
                self.assertEqual((ends[-1], any(ends[:-1])), (True, False))
                self.assertEqual(reader.response().body, body)
            for cut in range(len(text)):
                reader = AnswerReader()
                self.assertFalse(reader.feed(text[:cut]))
                with self.assertRaises(HttpFlaw):
                    reader.end()
        self.assertEqual(reader.response().headers["a"] if reader.response().headers else "1, 2", "1, 2")

    def test_a_line_break_begins_no_header_of_somebody_elses(self) -> None:
        request = HttpRequest("GET", "http://a.example/x", {"a": "b\r\nc: d"}, None, 1)
        with self.assertRaises(ValueError):
            bytes_of(request)

    def test_a_blocking_client_may_be_shared_by_threads(self) -> None:
        server = Server(lambda connection: connection.sendall(WHOLE))
        self.addCleanup(server.close)
        client = Countersign(KEY, server.url)
        seen: list[str] = []
        threads = [threading.Thread(target=lambda: seen.append(client.requests.get("req_1").status)) for _ in range(20)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(seen, ["APPROVED"] * 20)
