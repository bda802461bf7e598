"""The asyncio client: `AsyncCountersign(api_key=…, base_url=…)`. Its calls can be cancelled like any other task.

It uses asyncio's own streams, no threads: a thousand waiting calls are a thousand sockets, and nothing else.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Generic, Literal, ParamSpec, TypeVar, Unpack

from . import _gate, _requests, webhooks
from ._calls import Call, Options, Send, Sleep, Step, Steps
from ._configuration import read_options
from ._requests import ListFilter
from ._transport import AsyncSend, make_async_send
from ._waiting import OnVote, refuse_flawed_wait, wait_for_decision
from .contract import ApprovalRequest, ApprovalRequestList, CreateRequest, ExactPayload, RedeemedRequest

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class _AsyncRunner:
    """Does what the steps of a call say, one after the other."""

    def __init__(self, options: Options, send: AsyncSend) -> None:
        self.options = options
        self._send = send

    async def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    result = await self._do(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    async def run_to_the_end(self, steps: Steps[T]) -> T:
        """A cancellation that comes while this is under way is dropped: a redeem may have arrived already, and its
        approval would be used up for nothing. A second one counts.
        """
        # A cancellation that came before counts: nothing is sent yet.
        await asyncio.sleep(0)
        running = asyncio.ensure_future(self.run(steps))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if running.cancelled() or task is None:
                raise
            task.uncancel()
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.cancel()
            raise

    async def _do(self, step: Step) -> Any:
        match step:
            case Send(request):
                return await self._send(request)
            case Sleep(seconds):
                return await asyncio.sleep(seconds)
            case Call(function, arguments, positional):
                result = function(*positional, **arguments)
                return await result if inspect.isawaitable(result) else result


class AsyncRequests:
    """The calls about approval requests. `Requests` says what each does."""

    def __init__(self, runner: _AsyncRunner) -> None:
        self._runner = runner

    async def create(self, *, idempotency_key: str | None = None, **fields: Unpack[CreateRequest]) -> ApprovalRequest:
        """Asks for an approval. Retries after lost answers, and never asks twice."""
        return await self._runner.run(_requests.create(self._runner.options, fields, idempotency_key))

    async def get(self, request_id: str) -> ApprovalRequest:
        return await self._runner.run(_requests.get(self._runner.options, request_id))

    async def list(self, **filter: Unpack[ListFilter]) -> AsyncIterator[ApprovalRequest]:
        """`async for request in countersign.requests.list(status="PENDING")`, newest first."""
        page = await self.list_page(limit=_requests.LIST_LIMIT_MAX, **filter)
        while True:
            for request in page.data:
                yield request
            if page.next_cursor is None:
                return
            page = await self.list_page(limit=_requests.LIST_LIMIT_MAX, cursor=page.next_cursor, **filter)

    async def list_page(
        self, *, limit: int | None = None, cursor: str | None = None, **filter: Unpack[ListFilter]
    ) -> ApprovalRequestList:
        """One page of the list; `next_cursor` leads to the next."""
        return await self._runner.run(_requests.list_page(self._runner.options, filter, limit, cursor))

    async def default_approver(self) -> str | None:
        """Whom the workspace has set to be asked; None is nobody."""
        return await self._runner.run(_requests.default_approver(self._runner.options))

    async def cancel(self, request_id: str) -> ApprovalRequest:
        """Cancels a pending request. If it is decided already, this raises a `CountersignError` `already_resolved`."""
        return await self._runner.run(_requests.cancel(self._runner.options, request_id))

    async def remind(self, request_id: str) -> ApprovalRequest:
        """Mails everybody who can still vote again, at most once in an hour."""
        return await self._runner.run(_requests.remind(self._runner.options, request_id))

    async def redeem(self, request_id: str, *, idempotency_key: str | None = None) -> RedeemedRequest:
        """Right before you run an approved action: of any number of calls one gets the request. A cancellation counts
        until the redeem is sent: after that this returns, because the approval may be used up already.
        """
        return await self._runner.run_to_the_end(_requests.redeem(self._runner.options, request_id, idempotency_key))

    async def receipt(self, request_id: str, *, embed: Literal["payload"] | None = None) -> str:
        """The signed receipt of an approved or rejected request."""
        return await self._runner.run(_requests.receipt(self._runner.options, request_id, embed))

    async def effective_payload(self, request_id: str) -> ExactPayload:
        """The exact text that was approved, never written anew, and its SHA-256 as the receipt names it."""
        return await self._runner.run(_requests.effective_payload(self._runner.options, request_id))

    async def wait_for_decision(
        self, request_id: str, *, timeout_seconds: float | None = None, on_vote: OnVote | None = None
    ) -> ApprovalRequest:
        """Returns once the request is approved, rejected, expired or cancelled: look at `status`. `on_vote` may be
        asynchronous.
        """
        return await self._runner.run(wait_for_decision(self._runner.options, request_id, timeout_seconds, on_vote))


class AsyncGated(Generic[P, R]):
    """A function that a person must approve each call of."""

    def __init__(self, runner: _AsyncRunner, action: _gate.Action, settings: _gate.Settings) -> None:
        self._runner = runner
        self._action = action
        self._settings = settings
        # Its name and words alone: a gate around a gate must not take over what the inner one holds.
        functools.update_wrapper(self, action.function, updated=())

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Asks, waits, and runs. Raises an `Approval…Error` when it may not run, and an `AlreadyRedeemedError` when
        another call may.
        """
        arguments = self._action.arguments_of(args, kwargs)
        return await self._go_on(_gate.ask_and_wait(self._runner.options, self._action, arguments, self._settings))

    async def ask(self, *args: P.args, **kwargs: P.kwargs) -> ApprovalRequest:
        """Only asks. Another process needs nothing but the id."""
        arguments = self._action.arguments_of(args, kwargs)
        return await self._runner.run(_gate.ask(self._runner.options, self._action, arguments, self._settings))

    async def resume(self, request_id: str) -> R:
        """Waits for a request of `ask`, made here or elsewhere, and runs. Of any number of calls with the same id one
        runs; the others raise an `AlreadyRedeemedError`.
        """
        return await self._go_on(_gate.resume(self._runner.options, self._action, request_id, self._settings))

    def with_options(
        self,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
        on_vote: OnVote | None = None,
    ) -> AsyncGated[P, R]:
        """The same function with a key for its question, a limit for its wait, or a function that hears of votes."""
        settings = self._settings.with_options(idempotency_key, timeout_seconds, on_vote)
        return AsyncGated(self._runner, self._action, settings)

    async def _go_on(self, steps: Steps[ApprovalRequest]) -> R:
        approved = await self._runner.run(steps)
        redeeming = _gate.redeem_for(self._runner.options, self._action, approved)
        arguments = await self._runner.run_to_the_end(redeeming)
        result: R = await self._action.function(**arguments)
        return result


class AsyncCountersign:
    """Asks a person before an agent acts. Takes what `Countersign` takes; `send` is asynchronous here."""

    webhooks = webhooks

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout_seconds: float = 30,
        retries_max: int = 4,
        ssl_context: ssl.SSLContext | None = None,
        send: AsyncSend | None = None,
    ) -> None:
        options = read_options(api_key, base_url, timeout_seconds, retries_max)
        self._runner = _AsyncRunner(options, send or make_async_send(ssl_context))
        self.requests = AsyncRequests(self._runner)

    def __repr__(self) -> str:
        return f"AsyncCountersign(base_url={self._runner.options.base_url!r})"

    async def request_approval(
        self,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
        on_vote: OnVote | None = None,
        **fields: Unpack[CreateRequest],
    ) -> ApprovalRequest:
        """Asks and waits. Returns the decided request, whatever the decision: execute it only if it is `APPROVED`, and
        redeem it first.
        """
        refuse_flawed_wait(timeout_seconds, on_vote)
        request = await self.requests.create(idempotency_key=idempotency_key, **fields)
        return await self.requests.wait_for_decision(request.id, timeout_seconds=timeout_seconds, on_vote=on_vote)

    def require_approval(
        self,
        describe: _gate.Describe,
        *,
        validate: Callable[..., Any] | None = None,
        request_as: str | None = None,
    ) -> Callable[[Callable[P, Awaitable[R]]], AsyncGated[P, R]]:
        """Decorates an asynchronous function so that a person must approve each call of it. `Countersign` says more."""

        def decorate(function: Callable[P, Awaitable[R]]) -> AsyncGated[P, R]:
            if not inspect.iscoroutinefunction(function):
                raise TypeError("this function is not asynchronous: use require_approval of Countersign, or async def")
            action = _gate.action_of(function, describe, validate, request_as)
            return AsyncGated(self._runner, action, _gate.Settings())

        return decorate
