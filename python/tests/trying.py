"""What the tests share: the real service if there is one, and one way to call both clients."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import unittest
import urllib.request
from collections.abc import Callable
from typing import Any

from countersign import AsyncCountersign, Countersign, HttpRequest, HttpResponse

#: Where python/test/python.test.ts takes orders: it serves the service, and decides as an approver would.
CONTROL = os.environ.get("COUNTERSIGN_TEST_CONTROL", "")
needs_service = unittest.skipIf(CONTROL == "", "needs the real service: run npm test -- python/test/python.test.ts")
REFUND = {"summary": "Refund order 1042", "notify": "ann@example.com", "payload": {"orderId": 1042, "amount": 49}}


def order(do: str, **more: Any) -> Any:
    """Has the test's other half do something with the service."""
    call = urllib.request.Request(CONTROL, json.dumps({"do": do, **more}).encode(), method="POST")
    with urllib.request.urlopen(call, timeout=120) as answer:
        return json.load(answer)


class Blocking:
    """Mixed into a test case, its calls go through the blocking client."""

    kind: type[Any] = Countersign
    gates_async = False

    def run_call(self, call: Callable[[], Any]) -> Any:
        return call()

    def sender(self, answer: Callable[[HttpRequest], HttpResponse]) -> Any:
        return answer


class Asyncio:
    """The same through the asyncio client."""

    kind: type[Any] = AsyncCountersign
    gates_async = True

    def run_call(self, call: Callable[[], Any]) -> Any:
        async def run() -> Any:
            result = call()
            if inspect.isasyncgen(result):
                return [each async for each in result]
            return await result

        return asyncio.run(run())

    def sender(self, answer: Callable[[HttpRequest], HttpResponse]) -> Any:
        async def send(request: HttpRequest) -> HttpResponse:
            return answer(request)

        return send


def served_client(kind: type[Any], **options: Any) -> Any:
    """A client of the real service, in a workspace of its own."""
    made = order("client")
    return kind(**{"api_key": made["key"], "base_url": made["url"], **options})


def text_response(text: str) -> HttpResponse:
    return HttpResponse(200, {}, text.encode())


def json_response(value: Any, status: int = 200, **headers: str) -> HttpResponse:
    return HttpResponse(status, headers, json.dumps(value).encode())
