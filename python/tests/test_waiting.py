"""A wait never lies: only the service's own word about this request ends it, however long that takes."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from countersign import CountersignError, HttpRequest, HttpResponse, WaitTimeoutError

from .trying import Asyncio, Blocking, json_response

Answer = Callable[[], HttpResponse]


def lost() -> HttpResponse:
    raise ConnectionResetError("the connection broke off")


def html(status: int) -> Answer:
    return lambda: HttpResponse(status, {}, b"<html>")


def refused(status: int, code: str) -> Answer:
    return lambda: json_response({"error": {"code": code, "message": "Not now"}}, status)


def plain(body: str) -> Answer:
    return lambda: HttpResponse(200, {}, body.encode())


def told(status: str, expires_at: str = "2999-01-01T00:00:00.000Z") -> Answer:
    return lambda: json_response({"id": "req_1", "status": status, "expiresAt": expires_at})


class Waiting:
    """Run by both clients."""

    kind: Any
    run_call: Any
    sender: Any

    def wait(self, answers: list[Answer], **options: Any) -> Any:
        """Pauses between two tries take no time."""

        async def no_pause(seconds: float) -> None:
            pass

        left = iter(answers)
        send = self.sender(lambda request: next(left)())
        client = self.kind("key", "http://127.0.0.1:1", retries_max=1, send=send)
        with mock.patch("time.sleep"), mock.patch("asyncio.sleep", no_pause):
            return self.run_call(lambda: client.requests.wait_for_decision("req_1", **options))

    def test_once_the_service_was_heard_a_wait_outlives_refusals_lost_calls_and_answers_of_others(self: Any) -> None:
        passing = [
            refused(429, "rate_limited"), refused(500, "internal_error"), lost, *map(html, (502, 404, 302, 521, 200)),
            plain("{}"), plain('{"id":"req_2","status":"APPROVED"}'), plain("null"), plain("[]"), plain('{"id":"req_1"}'),
            plain('{"id":"req_1","status":"APPROVED","status":"PENDING"}'), plain('{"id":"req_1","status":"approved"}'),
            plain('{"id":"req_1","status":"APPROVED","payload":NaN}'), plain('{"id":"req_1","status":["APPROVED"]}'),
        ]  # fmt: skip
        for first in (told("PENDING"), refused(429, "rate_limited"), refused(503, "unavailable")):
            decided = self.wait([first, *passing * 20, told("APPROVED")])
            self.assertEqual(decided.status, "APPROVED")

    def test_what_others_answer_is_no_sign_of_the_service_and_its_own_refusal_ends_the_wait(self: Any) -> None:
        for answer, code in (
            (html(429), "rate_limited"), (refused(500, "500"), "500"), (plain('{"status":"ok"}'), "not_countersign"),
            (plain("null"), "not_countersign"), (lost, "connection_failed"), (refused(401, "unauthorized"), "unauthorized"),
        ):  # fmt: skip
            with self.assertRaises(CountersignError) as caught:
                self.wait([answer, answer])
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(CountersignError) as caught:
            self.wait([told("PENDING"), refused(404, "not_found")])
        self.assertEqual(caught.exception.code, "not_found")

    def test_a_wait_ends_when_the_service_is_away_for_long_and_the_request_has_ended(self: Any) -> None:
        now = [0.0]

        def away() -> HttpResponse:
            now[0] += 300
            return lost()

        with mock.patch("time.monotonic", lambda: now[0]):
            with self.assertRaises(CountersignError) as caught:
                self.wait([told("PENDING", "2026-01-01T00:00:00.000Z"), *[away] * 4])
            self.assertEqual(caught.exception.code, "connection_failed")
            self.assertEqual(self.wait([told("PENDING"), *[away] * 100, told("REJECTED")]).status, "REJECTED")

    def test_a_wait_of_any_length_ends_in_time_with_a_wait_timeout_error(self: Any) -> None:
        now = [0.0]

        def hold(request: HttpRequest) -> HttpResponse:
            now[0] += max(1, int(request.url.partition("wait=")[2])) + 0.3
            return told("PENDING")()

        client = self.kind("key", "http://127.0.0.1:1", send=self.sender(hold))
        with mock.patch("countersign._waiting.time.monotonic", lambda: now[0]):
            for seconds in (*(each * 10.053 for each in range(20)), 60, 75, 120, 0.0005, 1e-10, 0, -1):
                started = now[0]
                with self.assertRaises(WaitTimeoutError) as caught:
                    self.run_call(lambda: client.requests.wait_for_decision("req_1", timeout_seconds=seconds))
                self.assertEqual([caught.exception.approval_id, caught.exception.code], ["req_1", "wait_timeout"])
                self.assertTrue(seconds <= now[0] - started < max(0, seconds) + 2.6, f"{seconds}: {now[0] - started}")

    def test_a_wait_for_no_number_of_seconds_is_refused_before_anybody_is_asked(self: Any) -> None:
        client = self.kind("key", "http://127.0.0.1:1", send=self.sender(lambda request: self.fail("it asked")))
        for wrong in (float("nan"), "60", True, []):
            for call in (
                lambda: client.requests.wait_for_decision("req_1", timeout_seconds=wrong),
                lambda: client.request_approval(summary="a", notify="b", timeout_seconds=wrong),
            ):
                with self.assertRaisesRegex(TypeError, "timeout_seconds must be a number"):
                    self.run_call(call)

    def test_the_first_call_of_a_client_asks_for_an_answer_at_once_and_later_ones_are_held(self: Any) -> None:
        asked: list[tuple[str, float]] = []

        def note(request: HttpRequest) -> HttpResponse:
            asked.append((request.url.rpartition("?")[2], request.timeout_seconds))
            return told("APPROVED" if len(asked) == 3 else "PENDING")()

        client = self.kind("key", "http://127.0.0.1:1", send=self.sender(note))
        with mock.patch("time.sleep"):
            self.run_call(lambda: client.requests.wait_for_decision("req_1"))
        self.assertEqual(asked, [("wait=0", 30), ("wait=50", 80), ("wait=50", 80)])


    def test_a_service_that_answers_early_is_asked_again_after_pauses_that_grow(self: Any) -> None:
        pauses: list[float] = []

        async def note(seconds: float) -> None:
            pauses.append(seconds)

        answers = iter([told("PENDING")] * 9 + [told("APPROVED")])
        client = self.kind("key", "http://127.0.0.1:1", send=self.sender(lambda request: next(answers)()))
        with mock.patch("time.sleep", pauses.append), mock.patch("asyncio.sleep", note):
            self.run_call(lambda: client.requests.wait_for_decision("req_1"))
        # The first call of a client asks for an answer at once, and the second follows without a pause.
        self.assertEqual([len(pauses), pauses[0]], [9, 0])
        for at, pause in enumerate(pauses[1:]):
            longest = min(30, 0.25 * 2**at)
            self.assertTrue(longest / 2 <= pause <= longest, pauses)

    def test_a_service_that_asks_for_patience_gets_it_up_to_half_a_minute(self: Any) -> None:
        pauses: list[float] = []

        async def note(seconds: float) -> None:
            pauses.append(seconds)

        def busy(seconds: str) -> Answer:
            error = {"error": {"code": "rate_limited", "message": "Slowly"}}
            return lambda: json_response(error, 429, **{"retry-after": seconds})

        answers = iter([busy("7"), busy("9999"), busy("-1"), busy("soon"), told("APPROVED")])
        client = self.kind("key", "http://127.0.0.1:1", send=self.sender(lambda request: next(answers)()))
        with mock.patch("time.sleep", pauses.append), mock.patch("asyncio.sleep", note):
            self.run_call(lambda: client.requests.wait_for_decision("req_1"))
        self.assertEqual(pauses[:2], [7, 30])
        self.assertTrue(all(0 < pause <= 2 for pause in pauses[2:]), pauses)


class BlockingWait(Waiting, Blocking, unittest.TestCase):
    pass


class AsyncioWait(Waiting, Asyncio, unittest.TestCase):
    pass
