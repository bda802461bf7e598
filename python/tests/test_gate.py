"""A gated function runs once approved, with the approver's payload and no other, and at most once for each request."""

from __future__ import annotations

import asyncio
import json
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, Literal

from countersign import (
    AlreadyRedeemedError,
    ApprovalCancelledError,
    ApprovalExpiredError,
    ApprovalRejectedError,
    AsyncCountersign,
    Countersign,
    CountersignError,
    HttpRequest,
    HttpResponse,
    InexactPayloadError,
    InvalidPayloadError,
    WaitTimeoutError,
)

from .trying import Asyncio, Blocking, json_response, needs_service, order, served_client


def describe(order_id: int, amount: Any) -> Any:
    return {"summary": f"Refund order {order_id} ({amount} EUR)", "notify": "ann@example.com"}


@needs_service
class Gates:
    """Run by both clients."""

    kind: Any
    run_call: Any
    sender: Any
    gates_async: bool

    def client(self, **options: Any) -> Any:
        return served_client(self.kind, **options)

    def gated(self, client: Any, **options: Any) -> tuple[Any, list[Any]]:
        """A function that moves money, behind a person; and what it was run with."""
        paid: list[Any] = []

        if self.gates_async:

            @client.require_approval(describe, **options)
            async def refund(order_id: int, amount: Decimal) -> str:
                paid.append((order_id, amount))
                return f"paid {amount}"

        else:

            @client.require_approval(describe, **options)
            def refund(order_id: int, amount: Decimal) -> str:
                paid.append((order_id, amount))
                return f"paid {amount}"

        return refund, paid

    def ask(self, refund: Any, *args: Any) -> Any:
        return self.run_call(lambda: refund.ask(*args))

    def test_the_function_runs_once_approved_with_the_payload_as_the_approver_left_it(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        order("decide next", key=client._runner.options.api_key, verdict="approve", edit='{"order_id": 1042, "amount": 12.10}')
        self.assertEqual(self.run_call(lambda: refund(1042, amount=Decimal("49.00"))), "paid 12.10")
        self.assertEqual([(each[0], str(each[1])) for each in paid], [(1042, "12.10")])
        [asked] = list(self.run_call(lambda: client.requests.list()))
        self.assertEqual([asked.summary, asked.payload_text], ["Refund order 1042 (49.00 EUR)", '{"order_id":1042,"amount":49.00}'])
        self.assertEqual(refund.__name__, "refund")

    def test_it_does_not_run_when_rejected_cancelled_expired_or_waited_for_too_long_each_told_apart(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        rejected = self.ask(refund, 1, 1)
        order("reject", id=rejected.id, note="not this one")
        with self.assertRaisesRegex(ApprovalRejectedError, "not this one") as caught:
            self.run_call(lambda: refund.resume(rejected.id))
        self.assertEqual(caught.exception.request.resolution_note, "not this one")
        cancelled = self.ask(refund, 2, 1)
        self.run_call(lambda: client.requests.cancel(cancelled.id))
        with self.assertRaises(ApprovalCancelledError):
            self.run_call(lambda: refund.resume(cancelled.id))
        expired = self.ask(refund, 3, 1)
        order("expire", id=expired.id)
        with self.assertRaises(ApprovalExpiredError):
            self.run_call(lambda: refund.resume(expired.id))
        with self.assertRaises(WaitTimeoutError):
            self.run_call(lambda: refund.with_options(timeout_seconds=0)(4, 1))
        self.assertEqual(paid, [])

    def test_another_process_goes_on_from_the_id_alone_and_it_runs_once(self: Any) -> None:
        client = self.client()
        request = self.ask(self.gated(client)[0], 1042, 49)
        order("approve", id=request.id)
        refund, paid = self.gated(client)
        self.assertEqual(self.run_call(lambda: refund.resume(request.id)), "paid 49")
        with self.assertRaises(AlreadyRedeemedError):
            self.run_call(lambda: refund.resume(request.id))
        self.assertEqual(paid, [(1042, 49)])

    def test_an_approval_of_another_action_another_approver_or_another_agent_runs_nothing(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        own = {**describe(7, 1_000_000), "payload": {"order_id": 7, "amount": 1_000_000}}
        for other in (
            {**own, "summary": "Send the newsletter"}, {**own, "notify": "attacker@example.com"}, {**own, "agent_name": "x"},
            {**own, "payload": None}, {**own, "payload": [1]}, {**own, "payload": {"order_id": 8, "amount": 1_000_000}},
        ):  # fmt: skip
            request = self.run_call(lambda: client.requests.create(**other))
            order("approve", id=request.id)
            with self.assertRaises(CountersignError) as caught:
                self.run_call(lambda: refund.resume(request.id))
            self.assertEqual(caught.exception.code, "another_action")
        self.assertEqual(paid, [])

    def test_an_edit_that_the_function_cannot_take_does_not_run_and_is_not_used_up(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        for edit in (
            '{"order_id": 1, "amount": "much"}', '{"order_id": 1.5, "amount": 2}', '{"order_id": 1}', "[1, 2]", '"all of it"',
            '{"order_id": 1, "amount": 2, "to": "mallory"}', '{"order_id": true, "amount": 2}', '{"order_id": null, "amount": 2}',
        ):  # fmt: skip
            request = self.ask(refund, 1, 5)
            order("approve", id=request.id, edit=edit)
            with self.assertRaises(InvalidPayloadError, msg=edit):
                self.run_call(lambda: refund.resume(request.id))
            self.assertEqual(self.run_call(lambda: client.requests.redeem(request.id)).id, request.id)
        self.assertEqual(paid, [])

    def test_validate_stops_what_may_not_be_changed_before_it_is_used_up(self: Any) -> None:
        def at_most(order_id: int, amount: Decimal) -> None:
            if amount > 100:
                raise OverflowError("too much")

        client = self.client()
        refund, paid = self.gated(client, validate=at_most)
        request = self.ask(refund, 1, 5)
        order("approve", id=request.id, edit='{"order_id": 1, "amount": 1000000}')
        with self.assertRaises(OverflowError):
            self.run_call(lambda: refund.resume(request.id))
        self.assertEqual(self.run_call(lambda: client.requests.redeem(request.id)).id, request.id)
        self.assertEqual(paid, [])

    def test_of_many_resumes_at_once_one_runs_the_function(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        request = self.ask(refund, 1042, 49)

        def resume(_: int) -> Any:
            try:
                return self.run_call(lambda: refund.resume(request.id))
            except CountersignError as error:
                return error.code

        with ThreadPoolExecutor(8) as pool:
            ends = pool.map(resume, range(8))
            order("approve", id=request.id)
        self.assertEqual(sorted(ends), ["already_redeemed"] * 7 + ["paid 49"])
        self.assertEqual(len(paid), 1)

    def test_the_same_idempotency_key_asked_again_runs_nothing_again(self: Any) -> None:
        client = self.client()
        refund, paid = self.gated(client)
        keyed = refund.with_options(idempotency_key="order-7")
        order("approve", id=self.run_call(lambda: keyed.ask(7, 1)).id)
        self.run_call(lambda: keyed(7, 1))
        with self.assertRaises(AlreadyRedeemedError):
            self.run_call(lambda: keyed(7, 1))
        self.assertEqual(len(paid), 1)

    def test_what_is_inexact_or_unfit_is_refused_before_anybody_is_asked(self: Any) -> None:
        client = self.client()
        refund, _ = self.gated(client)
        before = len(order("calls"))
        for args, error in (
            ((1, 49.0), InexactPayloadError), ((1, Decimal("NaN")), InexactPayloadError), (("1", 49), InvalidPayloadError),
            ((1, "49"), InvalidPayloadError), ((1, object()), InexactPayloadError), ((1,), TypeError), ((1, 2, 3), TypeError),
        ):  # fmt: skip
            with self.assertRaises(error):
                self.run_call(lambda: refund(*args))
        self.assertEqual(len(order("calls")), before)

    def test_a_lie_between_deciding_and_redeeming_runs_nothing(self: Any) -> None:
        request = {"id": "req_1", **{"status": "APPROVED", "summary": "Refund order 1 (2 EUR)", "approverEmail": "ann@example.com"}}
        payload = {"order_id": 1, "amount": 2}
        decided = {**request, "payload": payload, "effectivePayload": payload}
        by = {"redeemedAt": "x", "redeemedBy": {"id": "key_1", "name": "Key"}}
        for lie in ({**decided, **by, "effectivePayload": {"order_id": 1, "amount": 2_000}}, {**decided, **by, "id": "req_2"}, decided):

            def answer(call: HttpRequest) -> HttpResponse:
                return json_response(lie if call.method == "POST" else decided)

            refund, paid = self.gated(self.kind("key", "http://127.0.0.1:1", send=self.sender(answer)))
            with self.assertRaises(CountersignError) as caught:
                self.run_call(lambda: refund.resume("req_1"))
            self.assertEqual([caught.exception.code, paid], ["not_countersign", []])

    def test_the_function_can_have_the_request_that_allows_it(self: Any) -> None:
        client = self.client()
        if self.gates_async:

            @client.require_approval(lambda kind: {"summary": kind, "notify": "ann@example.com"}, request_as="request")
            async def act(kind: Literal["a", "b"], *, request: Any = None) -> Any:
                return request

        else:

            @client.require_approval(lambda kind: {"summary": kind, "notify": "ann@example.com"}, request_as="request")
            def act(kind: Literal["a", "b"], *, request: Any = None) -> Any:
                return request

        asked = self.run_call(lambda: act.ask("a"))
        order("approve", id=asked.id)
        redeemed = self.run_call(lambda: act.resume(asked.id))
        self.assertEqual([redeemed.id, redeemed.redeemed_by.name], [asked.id, "Test key"])
        with self.assertRaises(InvalidPayloadError):
            self.run_call(lambda: act.ask("c"))

    def test_a_function_whose_arguments_have_no_names_is_refused_when_it_is_decorated(self: Any) -> None:
        client = self.kind("key")
        decorate = client.require_approval(describe)

        class Bank:
            async def pay(self, amount: int) -> None:
                pass

        async def many(*amounts: int) -> None:
            pass

        async def named(**amounts: int) -> None:
            pass

        async def positional(amount: int, /) -> None:
            pass

        async def generator(amount: int) -> Any:
            yield amount

        for function in (Bank.pay, many, named, positional, generator, lambda *a: a, lambda self: self):
            with self.assertRaises(TypeError):
                decorate(function)
        with self.assertRaises(TypeError):
            client.require_approval(describe, request_as="request")(lambda amount: amount)


class BlockingGates(Gates, Blocking, unittest.TestCase):
    def test_a_gate_around_a_gate_asks_two_people(self) -> None:
        asked: list[Any] = []
        payload = {"order_id": 1, "amount": 2}

        def answer(call: HttpRequest) -> HttpResponse:
            if call.url.endswith("/requests"):
                asked.append(json.loads(call.body or b"")["notify"])
            told = {"id": f"req_{len(asked)}", "status": "APPROVED", "payload": payload, "effectivePayload": payload}
            return json_response({**told, "redeemedAt": "x", "redeemedBy": {"id": "key_1", "name": "Key"}})

        client = Countersign("key", "http://127.0.0.1:1", send=answer)
        paid: list[int] = []

        @client.require_approval(lambda order_id, amount: {"summary": "a", "notify": "ann@example.com"})
        @client.require_approval(lambda order_id, amount: {"summary": "b", "notify": "bob@example.com"})
        def pay(order_id: int, amount: int) -> None:
            paid.append(amount)

        pay.with_options(timeout_seconds=9).with_options(idempotency_key="k")(1, 2)
        self.assertEqual([asked, paid], [["ann@example.com", "bob@example.com"], [2]])
        settings = pay.with_options(timeout_seconds=9).with_options(idempotency_key="k")._settings
        self.assertEqual([settings.timeout_seconds, settings.idempotency_key], [9, "k"])

    def test_a_validate_that_changes_what_it_got_changes_nothing_of_what_runs(self) -> None:
        payload = {"orders": [1, 2]}
        told = {"id": "req_1", "status": "APPROVED", "summary": "Refund", "payload": payload, "effectivePayload": payload}
        told |= {"approverEmail": "ann@example.com", "redeemedAt": "x", "redeemedBy": {"id": "key_1", "name": "Key"}}
        client = Countersign("key", "http://127.0.0.1:1", send=lambda call: json_response(told))
        refunded: list[int] = []

        def refund(orders: list[int]) -> None:
            refunded.extend(orders)

        gated = client.require_approval(
            lambda orders: {"summary": "Refund", "notify": "ann@example.com"}, validate=lambda orders: orders.append(3)
        )(refund)
        gated.resume("req_1")
        self.assertEqual(refunded, [1, 2])

    def test_an_asynchronous_function_is_refused(self) -> None:
        async def act() -> None:
            pass

        with self.assertRaisesRegex(TypeError, "AsyncCountersign"):
            Countersign("key").require_approval(lambda: {"summary": "a", "notify": "b"})(act)


class AsyncioGates(Gates, Asyncio, unittest.TestCase):
    def test_a_cancellation_while_the_redeem_is_under_way_does_not_use_up_the_approval_for_nothing(self) -> None:
        client = served_client(AsyncCountersign)
        refund, paid = self.gated(client)
        request = self.ask(refund, 1, 49)
        order("approve", id=request.id)

        async def cancel_during_redeem() -> Any:
            really = client._runner._send

            async def send(call: HttpRequest) -> HttpResponse:
                if call.method == "POST":
                    running.cancel()
                    await asyncio.sleep(0.05)
                return await really(call)

            client._runner._send = send
            running = asyncio.create_task(refund.resume(request.id))
            return await running

        self.assertEqual(asyncio.run(cancel_during_redeem()), "paid 49")
        self.assertEqual(paid, [(1, 49)])

    def test_a_cancellation_before_the_redeem_leaves_the_approval_for_others(self) -> None:
        client = served_client(AsyncCountersign)
        refund, paid = self.gated(client)
        request = self.ask(refund, 1, 49)
        order("approve", id=request.id)

        async def cancel_before() -> None:
            really = client._runner._send

            async def send(call: HttpRequest) -> HttpResponse:
                response = await really(call)
                running.cancel()
                return response

            client._runner._send = send
            running = asyncio.create_task(refund.resume(request.id))
            with self.assertRaises(asyncio.CancelledError):
                await running
            client._runner._send = really

        asyncio.run(cancel_before())
        self.assertEqual(paid, [])
        self.assertEqual(self.run_call(lambda: refund.resume(request.id)), "paid 49")

    def test_a_second_cancellation_ends_a_redeem_that_gets_no_answer(self) -> None:
        started = threading.Event()

        async def send(call: HttpRequest) -> HttpResponse:
            started.set()
            await asyncio.sleep(600)
            raise AssertionError

        async def cancel_twice() -> None:
            client = AsyncCountersign("key", "http://127.0.0.1:1", send=send)
            running = asyncio.create_task(client.requests.redeem("req_1"))
            while not started.is_set():
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.sleep(0.01)
            self.assertFalse(running.done())
            running.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await running

        asyncio.run(cancel_twice())
