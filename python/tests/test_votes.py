"""What a caller hears of the votes of several people, what is sent to ask them, and what is taken for their approval."""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from countersign import (
    Approvals,
    CountersignError,
    HttpRequest,
    HttpResponse,
    RecordedVote,
    Stage,
    Vote,
)
from countersign._question import words_of_question, words_of_request

from .trying import REFUND, Asyncio, Blocking, json_response, needs_service, order, served_client

Answer = Callable[[HttpRequest], HttpResponse]


def vote(email: str, second: int, **more: Any) -> dict[str, Any]:
    at = f"2026-11-16T12:00:0{second}.000Z"
    return {"email": email, "verdict": "approve", "revision": 1, "at": at, "note": None, "via": "link", "for": None, **more}


ANN = vote("ann@example.com", 1)
BEN = vote("ben@example.com", 2)
CAT = vote("cat@example.com", 3, revision=2, **{"for": "dan@example.com"})


def approvals_of(*stages: list[dict[str, Any]]) -> dict[str, Any]:
    listed = [{"notify": f"group:stage-{at}", "required": 2, "votes": each} for at, each in enumerate(stages, 1)]
    return {"stage": 1, "revision": 1, "stages": listed}


def told(tag: str | None, status: str, approvals: Any = None) -> Answer:
    expires_at = "2999-01-01T00:00:00.000Z"
    body = {"id": "req_1", "status": status, "expiresAt": expires_at, "summary": "a"}
    if approvals is not None:
        body["approvals"] = approvals
    headers = {} if tag is None else {"etag": tag}
    return lambda request: json_response(body, 200, **headers)


def unchanged(request: HttpRequest) -> HttpResponse:
    return HttpResponse(304, {}, b"")


def lost(request: HttpRequest) -> HttpResponse:
    raise ConnectionResetError("the connection broke off")


def away(request: HttpRequest) -> HttpResponse:
    return HttpResponse(502, {}, b"<html>")


class Voting:
    """Run by both clients."""

    kind: Any
    run_call: Any
    sender: Any
    gates_async: bool

    def client(self, answers: list[Answer]) -> tuple[Any, list[tuple[str, str | None]]]:
        left, calls = iter(answers), []

        def answer(request: HttpRequest) -> HttpResponse:
            calls.append((f"{request.method} {request.url.partition(':1')[2]}", request.headers.get("if-none-match")))
            return next(left)(request)

        return self.kind("key", "http://127.0.0.1:1", send=self.sender(answer)), calls

    def wait(self, answers: list[Answer], **options: Any) -> tuple[Any, list[tuple[str, str | None]]]:
        """Pauses between two tries take no time."""

        async def no_pause(seconds: float) -> None:
            pass

        client, calls = self.client(answers)
        with mock.patch("time.sleep"), mock.patch("asyncio.sleep", no_pause):
            return self.run_call(lambda: client.requests.wait_for_decision("req_1", **options)), calls

    def test_each_vote_is_told_once_and_in_order_over_lost_calls_and_early_answers(self: Any) -> None:
        heard: list[tuple[str, int, str]] = []
        decided, calls = self.wait(
            [
                told('"a"', "PENDING", approvals_of([], [])), unchanged, told('"b"', "PENDING", approvals_of([ANN], [])),
                lost, away, told('"b"', "PENDING", approvals_of([ANN], [])),
                told('"c"', "APPROVED", approvals_of([ANN, CAT], [BEN])),
            ],
            on_vote=lambda each: heard.append((each.vote.email, each.stage, each.request.status)),
        )  # fmt: skip
        self.assertEqual(decided.status, "APPROVED")
        expected = [("ann@example.com", 1, "PENDING"), ("ben@example.com", 2, "APPROVED")]
        self.assertEqual(heard, [*expected, ("cat@example.com", 1, "APPROVED")])
        self.assertEqual([tag for _, tag in calls], [None, '"a"', '"a"', '"b"', '"b"', '"b"', '"b"'])
        self.assertEqual([path for path, _ in calls[:2]], ["GET /v1/requests/req_1?wait=0", "GET /v1/requests/req_1?wait=50"])

    def test_without_on_vote_no_tag_is_sent_and_calls_are_as_ever(self: Any) -> None:
        decided, calls = self.wait([told('"a"', "PENDING", approvals_of([ANN])), told('"b"', "APPROVED", approvals_of([ANN]))])
        self.assertEqual(calls, [("GET /v1/requests/req_1?wait=0", None), ("GET /v1/requests/req_1?wait=50", None)])
        first = decided.approvals.stages[0].votes[0]
        self.assertEqual(first, Vote(**{name: value for name, value in ANN.items() if name != "for"}, for_email=None))
        self.assertEqual(decided.approvals, Approvals(stage=1, revision=1, stages=[
            Stage(notify="group:stage-1", required=2, votes=[first])
        ]))  # fmt: skip

    def test_what_the_callers_own_function_raises_ends_the_wait_as_it_is(self: Any) -> None:
        failure = CountersignError("of another client", code="connection_failed")

        def fail(recorded: RecordedVote) -> None:
            raise failure

        with self.assertRaises(CountersignError) as caught:
            self.wait([told('"a"', "PENDING", approvals_of([ANN]))], on_vote=fail)
        self.assertIs(caught.exception, failure)

    def test_an_asynchronous_function_is_awaited_or_refused_never_dropped(self: Any) -> None:
        heard: list[str] = []

        async def note(recorded: RecordedVote) -> None:
            heard.append(recorded.vote.email)

        answers = [told('"a"', "APPROVED", approvals_of([ANN, BEN]))]
        if self.gates_async:
            self.wait(answers, on_vote=note)
            self.assertEqual(heard, ["ann@example.com", "ben@example.com"])
        else:
            with self.assertRaisesRegex(TypeError, "is asynchronous"):
                self.wait(answers, on_vote=note)
        client, calls = self.client([])
        with self.assertRaisesRegex(TypeError, "on_vote must be a function"):
            self.run_call(lambda: client.request_approval(summary="a", notify="b", on_vote="log"))
        self.assertEqual(calls, [])

    def test_a_reminder_within_the_hour_is_not_retried(self: Any) -> None:
        error = {"error": {"code": "reminded_recently", "message": "Not now"}}
        client, calls = self.client([lambda request: json_response(error, 429, **{"retry-after": "1800"})])
        with self.assertRaises(CountersignError) as caught:
            self.run_call(lambda: client.requests.remind("req_1"))
        self.assertEqual([caught.exception.status, caught.exception.code], [429, "reminded_recently"])
        client, calls = self.client([told(None, "PENDING")])
        self.assertEqual(self.run_call(lambda: client.requests.remind("req_1")).status, "PENDING")
        self.assertEqual(calls, [("POST /v1/requests/req_1/remind", None)])

    def test_stages_and_steps_are_sent_by_their_names_on_the_wire(self: Any) -> None:
        sent: list[Any] = []

        def note(request: HttpRequest) -> HttpResponse:
            sent.append(json.loads(request.body or b""))
            return told(None, "PENDING")(request)

        client, _ = self.client([note])
        self.run_call(lambda: client.requests.create(
            summary="Pay", notify="group:finance", quorum=2, then=[{"notify": "cfo@example.com", "quorum": None}],
            requested_by="eve@example.com", escalate=[{"after_minutes": 60, "notify": "group:directors"}],
        ))  # fmt: skip
        self.assertEqual(sent, [{
            "summary": "Pay", "notify": "group:finance", "quorum": 2, "then": [{"notify": "cfo@example.com"}],
            "requestedBy": "eve@example.com", "escalate": [{"afterMinutes": 60, "notify": "group:directors"}],
        }])  # fmt: skip
        # A misspelled quorum would ask for fewer people than its writer meant.
        for wrong in ({"then": [{"notify": "a@b.c", "quorom": 2}]}, {"escalate": [{"afterMinutes": 5, "notify": "a@b.c"}]}):
            with self.assertRaisesRegex(TypeError, "has no field"):
                self.run_call(lambda: client.requests.create(summary="Pay", notify="a@b.c", **wrong))


    @needs_service
    def test_the_service_wakes_a_caller_with_each_vote_and_reminds_once_in_an_hour(self: Any) -> None:
        client = served_client(self.kind)
        stages = [{"notify": "ben@example.com"}, {"notify": "cat@example.com"}]
        created = self.run_call(lambda: client.requests.create(
            **REFUND, then=stages, requested_by="eve@example.com", channels=["slack_link", "mail"],
            audience=["ledger"], require_signature=False,
        ))  # fmt: skip
        self.assertEqual([created.requested_by, created.approvals.stage], ["eve@example.com", 1])
        self.assertEqual(created.channels, ["slack_link", "mail"])
        self.assertEqual([created.audience, created.require_signature], [["ledger"], False])
        self.run_call(lambda: client.requests.remind(created.id))
        with self.assertRaises(CountersignError) as caught:
            self.run_call(lambda: client.requests.remind(created.id))
        self.assertEqual(caught.exception.code, "reminded_recently")
        heard: list[tuple[str, int, str]] = []

        def approve_on(recorded: RecordedVote) -> None:
            """The next one votes when this one is heard of, so that only a vote can have woken this caller."""
            heard.append((recorded.vote.email, recorded.stage, recorded.request.status))
            if recorded.stage < 3:
                order("approve", id=created.id)

        order("approve", id=created.id)
        decided = self.run_call(lambda: client.requests.wait_for_decision(created.id, on_vote=approve_on))
        self.assertEqual([decided.status, decided.resolved_by_email], ["APPROVED", "cat@example.com"])
        expected = [("ann@example.com", 1, "PENDING"), ("ben@example.com", 2, "PENDING"), ("cat@example.com", 3, "APPROVED")]
        self.assertEqual(heard, expected)
        for wrong, code in (({"quorum": 2}, "quorum_unreachable"), ({"then": [{"notify": "x"}]}, "validation_error")):
            with self.assertRaises(CountersignError) as caught:
                self.run_call(lambda: client.requests.create(**REFUND, **wrong))
            self.assertEqual(caught.exception.code, code)


class BlockingVotes(Voting, Blocking, unittest.TestCase):
    pass


class AsyncioVotes(Voting, Asyncio, unittest.TestCase):
    pass


class Questions(unittest.TestCase):
    question = {
        "summary": "Pay", "notify": "group:finance", "quorum": 2, "then": [{"notify": "cfo@example.com"}],
        "requested_by": "eve@example.com",
    }  # fmt: skip

    def request(self, **more: Any) -> Any:
        stages = [Stage(notify="group:finance", required=2, votes=[]), Stage(notify="cfo@example.com", required=1, votes=[])]
        facts = {
            "summary": "Pay", "agent_name": None, "approver_email": None, "approver_group": mock.Mock(key="finance"),
            "requested_by": "eve@example.com", "approvals": Approvals(stage=1, revision=1, stages=stages),
            "audience": None, "require_signature": None,
        }  # fmt: skip
        return mock.Mock(**{**facts, **more})

    def test_an_approval_counts_only_if_as_many_people_were_asked_in_these_stages_for_the_same_person(self) -> None:
        expected = words_of_question(self.question)
        self.assertEqual(words_of_request(self.request()), expected)
        first, second = self.request().approvals.stages
        for wrong in (
            {"approvals": None}, {"requested_by": None}, {"requested_by": "ben@example.com"},
            {"approvals": Approvals(stage=1, revision=1, stages=[first])},
            {"approvals": Approvals(stage=1, revision=1, stages=[Stage(notify=first.notify, required=1, votes=[]), second])},
        ):  # fmt: skip
            self.assertNotEqual(words_of_request(self.request(**wrong)), expected, wrong)
        plain = {"summary": "Pay", "notify": "group:finance", "then": [], "quorum": None}
        self.assertEqual(words_of_request(self.request(approvals=None, requested_by=None)), words_of_question(plain))

    def test_an_approval_without_the_demanded_signature_or_for_others_does_not_count(self) -> None:
        signed = {**self.question, "require_signature": True, "audience": ["ledger"]}
        expected = words_of_question(signed)
        self.assertEqual(words_of_request(self.request(require_signature=True, audience=["ledger"])), expected)
        for wrong in (
            {}, {"require_signature": True}, {"audience": ["ledger"]}, {"require_signature": False, "audience": ["ledger"]},
            {"require_signature": True, "audience": ["other"]},
        ):  # fmt: skip
            self.assertNotEqual(words_of_request(self.request(**wrong)), expected, wrong)
        lax = {**self.question, "require_signature": False, "audience": None}
        self.assertEqual(words_of_request(self.request()), words_of_question(lax))

    def test_approvals_of_another_form_are_no_answer(self) -> None:
        for wrong in ([], "x", {"stage": 1}, {"stage": 1, "revision": 1, "stages": [{"notify": "a"}]}):
            with self.assertRaises(CountersignError) as caught:
                client, _ = BlockingVotes().client([told(None, "PENDING", wrong)])
                client.requests.get("req_1")
            self.assertEqual(caught.exception.code, "not_countersign")


if __name__ == "__main__":
    unittest.main()
