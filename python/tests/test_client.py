"""The calls about requests, against the real service behind a proxy that misbehaves as networks do."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from unittest import mock

from countersign import (
    AlreadyRedeemedError,
    AsyncCountersign,
    CountersignError,
    InexactPayloadError,
    JsonDecimal,
    WaitTimeoutError,
)

from .trying import REFUND, Asyncio, Blocking, json_response, needs_service, order, served_client, text_response


@needs_service
class Calls:
    """Run by both clients."""

    kind: Any
    run_call: Any
    sender: Any

    def client(self, **options: Any) -> Any:
        return served_client(self.kind, **options)

    def create(self, client: Any, **more: Any) -> Any:
        return self.run_call(lambda: client.requests.create(**{**REFUND, **more}))

    def listed(self, client: Any, **filter: Any) -> list[Any]:
        return list(self.run_call(lambda: client.requests.list(**filter)))

    def failure(self: Any, call: Any) -> CountersignError:
        with self.assertRaises(CountersignError) as caught:
            self.run_call(call)
        error: CountersignError = caught.exception
        return error

    def test_a_request_is_created_read_listed_and_cancelled(self: Any) -> None:
        client = self.client()
        created = self.create(
            client, agent_name="payer", metadata={"ticket": 7, "score": 0.5}, agent_state=[1.5, None],
            reasoning="why", recent_actions=["looked"], ttl_minutes=60, callback_url="https://example.com/resume",
        )  # fmt: skip
        self.assertEqual([created.status, created.payload], ["PENDING", REFUND["payload"]])
        self.assertEqual([created.agent_name, created.reasoning, created.recent_actions], ["payer", "why", ["looked"]])
        self.assertEqual([created.metadata["ticket"], str(created.metadata["score"])], [7, "0.5"])
        self.assertEqual([created.agent_state, created.approver_email], [[Decimal("1.5"), None], "ann@example.com"])
        self.assertEqual([created.object, created.resolved_at, created.modified_payload], ["approval_request", None, None])
        self.assertEqual(created.wire["createdAt"], created.created_at)
        self.assertEqual(self.run_call(lambda: client.requests.get(created.id)), created)
        self.assertEqual(self.listed(client), [created])
        self.assertEqual(self.run_call(lambda: client.requests.cancel(created.id)).status, "CANCELLED")
        self.assertIsNone(self.run_call(lambda: client.requests.default_approver()))

    def test_a_create_that_meets_trouble_makes_one_request(self: Any) -> None:
        for trouble in ("lose the answer", "cut the answer", "refuse", "say 503"):
            client = self.client()
            order("trouble", troubles=[trouble])
            created = self.create(client)
            self.assertEqual([each.id for each in self.listed(client)], [created.id])

    def test_a_cancel_whose_answer_was_lost_is_no_error_and_one_that_came_too_late_is(self: Any) -> None:
        client = self.client()
        request = self.create(client)
        order("trouble", troubles=["lose the answer"])
        self.assertEqual(self.run_call(lambda: client.requests.cancel(request.id)).status, "CANCELLED")
        other = self.create(client)
        order("approve", id=other.id)
        error = self.failure(lambda: client.requests.cancel(other.id))
        self.assertEqual([error.code, error.status], ["already_resolved", 409])

    def test_the_same_idempotency_key_is_the_same_request_and_nonsense_is_no_key(self: Any) -> None:
        client = self.client()
        first, second = (self.create(client, idempotency_key="refund-1042") for _ in range(2))
        self.assertEqual(first.id, second.id)
        for key in (False, 0, "", "a\r\nb", "ä", "x" * 256):
            with self.assertRaisesRegex(ValueError, "idempotency_key must be a text"):
                self.create(client, idempotency_key=key)
        self.assertEqual(len(self.listed(client)), 1)

    def test_every_page_of_a_list_is_walked_and_a_filter_is_passed_on(self: Any) -> None:
        client = self.client()
        for at in range(5):
            self.create(client, agent_name=f"agent & {at % 2}")
        with mock.patch("countersign._requests.LIST_LIMIT_MAX", 2):
            before = len(order("calls"))
            self.assertEqual(len({each.id for each in self.listed(client)}), 5)
            self.assertEqual(len(order("calls")) - before, 3)
        since = datetime.now(timezone(timedelta(hours=5))) - timedelta(minutes=10)
        odd = self.listed(client, agent_name="agent & 1", created_after=since, status="PENDING")
        self.assertEqual([each.agent_name for each in odd], ["agent & 1"] * 2)
        self.assertEqual(self.listed(client, created_before=since), [])
        page = self.run_call(lambda: client.requests.list_page(limit=2))
        self.assertEqual([len(page.data), page.has_more], [2, True])
        with self.assertRaisesRegex(ValueError, "no time zone"):
            self.listed(client, created_after=datetime(2026, 1, 1))
        with self.assertRaisesRegex(TypeError, "no field 'colour'"):
            self.listed(client, colour="red")

    def test_a_refusal_carries_status_code_words_and_the_id_of_the_call_and_is_not_tried_again(self: Any) -> None:
        client = self.client()
        before = len(order("calls"))
        error = self.failure(lambda: client.requests.create(**{**REFUND, "summary": ""}))
        self.assertEqual([error.status, error.code, type(error)], [400, "validation_error", CountersignError])
        self.assertRegex(str(error), "summary")
        self.assertRegex(error.request_id or "", "^[0-9a-f-]{36}$")
        self.assertEqual(self.failure(lambda: client.requests.get("req_unknown")).code, "not_found")
        self.assertEqual(len(order("calls")) - before, 2)
        with self.assertRaisesRegex(TypeError, "no field 'sumary'"):
            self.create(client, sumary="x")

    def test_an_unknown_key_a_page_and_a_redirect_say_what_to_do(self: Any) -> None:
        client = self.client()
        stranger = self.client(api_key="cs_unknown")
        self.assertEqual(self.failure(lambda: stranger.requests.get("req_1")).code, "unauthorized")
        order("trouble", troubles=["say HTML"])
        self.assertEqual(self.failure(lambda: client.requests.get("req_1")).code, "not_countersign")
        order("trouble", troubles=["redirect"])
        self.assertIn("redirects to https://elsewhere.example/", str(self.failure(lambda: client.requests.get("req_1"))))
        order("trouble", troubles=["hang"])
        hasty = self.client(timeout_seconds=0.1, retries_max=0)
        self.assertRegex(str(self.failure(lambda: hasty.requests.get("req_1"))), "within 0.1 s")

    def test_an_id_cannot_lead_a_call_elsewhere(self: Any) -> None:
        client = self.client()
        for request_id in ("../health", "a/cancel", "a?wait=1", "%2e%2e/healthz", "a\ud800", "..", ".", "a\r\nb", "ü"):
            error = self.failure(lambda: client.requests.get(request_id))
            self.assertIn(error.code, ("not_found", "not_countersign"), request_id)
        for wrong in ("", None, 5):
            with self.assertRaisesRegex(TypeError, "the id of a request"):
                self.run_call(lambda: client.requests.get(wrong))

    def test_numbers_texts_and_spellings_come_back_as_they_were_sent_and_a_float_is_refused(self: Any) -> None:
        client = self.client()
        payload = {
            "n": [9007199254740993, 10**5_000, JsonDecimal("1.0"), JsonDecimal("1E400"), JsonDecimal("-0"), Decimal("-0.0")],
            "t": ["\ud800", "\x00", "ü\u2028", "😀"], "é": {"": []},
        }  # fmt: skip
        text = '{"n":[9007199254740993,' + "1" + "0" * 5_000 + ',1.0,1E400,-0,-0.0],"t":["\\ud800","\\u0000","ü\u2028","😀"],"é":{"":[]}}'
        created = self.create(client, payload=payload)
        self.assertEqual(created.payload, payload)
        self.assertEqual(order("payload", id=created.id), text)
        self.assertEqual([created.payload_text, created.effective_payload_text], [text, text])
        self.assertEqual(self.listed(client)[0].payload_text, text)
        order("approve", id=created.id, edit='{ "n" : 12.10 }')
        decided = self.run_call(lambda: client.requests.wait_for_decision(created.id))
        self.assertEqual(decided.effective_payload_text, '{ "n" : 12.10 }')
        self.assertEqual(str(decided.effective_payload["n"]), "12.10")
        for wrong in ({"amount": 12.1}, [[0.1]], Decimal("NaN"), {1: 2}):
            with self.assertRaises(InexactPayloadError):
                self.create(client, payload=wrong)
        with self.assertRaises(InexactPayloadError):
            self.create(client, metadata=float("nan"))
        self.assertEqual(len(self.listed(client)), 1)

    def test_asking_and_waiting_returns_the_decided_request_whatever_was_decided(self: Any) -> None:
        client = self.client()
        order("decide next", key=client._runner.options.api_key, verdict="approve", edit='{"amount": 12.50}', note="less")
        approved = self.run_call(lambda: client.request_approval(**REFUND))
        self.assertEqual([approved.status, approved.resolution_note], ["APPROVED", "less"])
        self.assertEqual(approved.effective_payload, {"amount": Decimal("12.5")})
        self.assertEqual([approved.payload, approved.modified_payload_text], [REFUND["payload"], '{"amount": 12.50}'])
        order("decide next", key=client._runner.options.api_key, verdict="reject", note="too much")
        self.assertEqual(self.run_call(lambda: client.request_approval(**REFUND)).status, "REJECTED")
        expired = self.create(client)
        order("expire", id=expired.id)
        self.assertEqual(self.run_call(lambda: client.requests.wait_for_decision(expired.id)).status, "EXPIRED")
        self.assertEqual(self.failure(lambda: client.requests.wait_for_decision("req_unknown")).code, "not_found")

    def test_a_wait_that_takes_too_long_is_no_rejection_and_can_go_on(self: Any) -> None:
        client = self.client()
        request = self.create(client)
        for seconds in (0, 0.02, 1.1):
            with self.assertRaises(WaitTimeoutError) as caught:
                self.run_call(lambda: client.requests.wait_for_decision(request.id, timeout_seconds=seconds))
            self.assertIn(f'wait_for_decision("{request.id}")', str(caught.exception))
        order("trouble", troubles=["say 503", "say HTML", "lose the answer"])
        threading.Timer(0.2, lambda: order("approve", id=request.id)).start()
        self.assertEqual(self.run_call(lambda: client.requests.wait_for_decision(request.id)).status, "APPROVED")

    def test_redeem_gives_the_request_once_and_a_lost_answer_again(self: Any) -> None:
        client = self.client()
        request = self.create(client)
        self.assertEqual(self.failure(lambda: client.requests.redeem(request.id)).code, "not_approved")
        order("approve", id=request.id, edit='{"orderId": 1042, "amount": 12.5}')
        order("lose redeem")
        redeemed = self.run_call(lambda: client.requests.redeem(request.id, idempotency_key="run-1"))
        self.assertEqual(redeemed.effective_payload["amount"], Decimal("12.5"))
        order("cut redeem")
        again = self.run_call(lambda: client.requests.redeem(request.id, idempotency_key="run-1"))
        self.assertEqual([again.redeemed_at, again.redeemed_by], [redeemed.redeemed_at, redeemed.redeemed_by])
        with self.assertRaises(AlreadyRedeemedError) as caught:
            self.run_call(lambda: client.requests.redeem(request.id))
        late = caught.exception
        self.assertEqual([late.redeemed_at, late.redeemed_by, late.status], [redeemed.redeemed_at, redeemed.redeemed_by, 409])
        self.assertEqual([late.code, late.redeemed_by.name], ["already_redeemed", "Test key"])
        self.assertRegex(str(late), "Do not run the action again")

    def test_a_receipt_and_the_bytes_it_names_are_read(self: Any) -> None:
        client = self.client()
        request = self.create(client)
        self.assertEqual(self.failure(lambda: client.requests.receipt(request.id)).code, "not_found")
        edit = '{"orderId": 1042, "amount": 12.50}'
        order("approve", id=request.id, edit=edit)
        receipt = self.run_call(lambda: client.requests.receipt(request.id))
        exact = self.run_call(lambda: client.requests.effective_payload(request.id))
        claims = json.loads(base64.urlsafe_b64decode(receipt.split(".")[1] + "=="))
        self.assertEqual([exact.text, exact.digest], [edit, claims["effective"]["digest"]])
        embedded = self.run_call(lambda: client.requests.receipt(request.id, embed="payload"))
        self.assertEqual(json.loads(base64.urlsafe_b64decode(embedded.split(".")[1] + "=="))["text"], edit)
        self.assertEqual(self.run_call(lambda: client.requests.redeem(request.id)).receipt, receipt)
        for lie in ("", "hello", "a.b.c", receipt):
            other = self.kind("key", "http://127.0.0.1:1", send=self.sender(lambda request: text_response(lie)))
            self.assertEqual(self.failure(lambda: other.requests.receipt("req_1")).code, "not_countersign", lie)

    def test_only_countersigns_own_answer_counts_as_redeemed_created_read_listed_or_cancelled(self: Any) -> None:
        told = {"id": "req_1", "status": "APPROVED", "effectivePayload": {}, "redeemedAt": "2026-01-01T00:00:00Z"}
        by = {"id": "key_1", "name": "Key"}
        for lie in (
            {}, [], "ok", None, 5, {**told, "redeemedBy": None}, {**told, "redeemedBy": by, "redeemedAt": None},
            {**told, "redeemedBy": by, "id": "req_other"}, {**told, "redeemedBy": by, "status": "REJECTED"},
            {**told, "redeemedBy": {"id": 5}}, {"id": "req_1", "status": "APPROVED", "redeemedAt": "x", "redeemedBy": by},
            {"data": [{}]}, {"data": {}}, {"data": [None]}, {"notify": 5},
        ):  # fmt: skip
            client = self.kind("key", "http://127.0.0.1:1", send=self.sender(lambda request: json_response(lie)))
            calls = [
                lambda: client.requests.redeem("req_1"), lambda: client.requests.cancel("req_1"),
                lambda: client.requests.list_page(), lambda: client.requests.default_approver(),
            ]  # fmt: skip
            for call in calls if not (isinstance(lie, dict) and "id" in lie) else calls[:3]:
                self.assertEqual(self.failure(call).code, "not_countersign", lie)
            if not isinstance(lie, dict) or "id" not in lie:
                for call in (lambda: client.requests.get("req_1"), lambda: client.requests.create(**REFUND)):
                    self.assertEqual(self.failure(call).code, "not_countersign", lie)

    def test_key_and_address_come_from_the_environment_when_they_are_not_given(self: Any) -> None:
        made = order("client")
        with mock.patch.dict(os.environ, {"COUNTERSIGN_API_KEY": made["key"], "COUNTERSIGN_BASE_URL": made["url"] + "/"}):
            client = self.kind()
        self.assertEqual(self.create(client).status, "PENDING")
        with mock.patch.dict(os.environ, {"COUNTERSIGN_API_KEY": ""}):
            with self.assertRaisesRegex(ValueError, "COUNTERSIGN_API_KEY"):
                self.kind()


class BlockingCalls(Calls, Blocking, unittest.TestCase):
    pass


class AsyncioCalls(Calls, Asyncio, unittest.TestCase):
    def test_a_waiting_task_can_be_cancelled_and_many_waits_learn_their_decision(self) -> None:
        async def wait() -> None:
            client: AsyncCountersign = served_client(AsyncCountersign)
            request = await client.requests.create(**REFUND)  # type: ignore[arg-type]
            waiting = [asyncio.create_task(client.requests.wait_for_decision(request.id)) for _ in range(60)]
            await asyncio.sleep(0.3)
            waiting[0].cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting[0]
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.requests.wait_for_decision(request.id)
            await asyncio.to_thread(order, "approve", id=request.id)
            self.assertEqual({(await each).status for each in waiting[1:]}, {"APPROVED"})

        asyncio.run(wait())
