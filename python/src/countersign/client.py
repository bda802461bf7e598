"""The blocking client: `Countersign(api_key=…, base_url=…)`. Threads may share it."""

from __future__ import annotations

import functools
import inspect
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, ParamSpec, TypeVar, Unpack

from . import _gate, _requests, webhooks
from ._calls import Call, Options, Send, Sleep, Step, Steps
from ._configuration import read_options
from ._requests import ListFilter
from ._transport import Send as SendFunction
from ._transport import make_send
from ._waiting import OnVote, refuse_flawed_wait, wait_for_decision
from .contract import ApprovalRequest, ApprovalRequestList, CreateRequest, ExactPayload, RedeemedRequest

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class _Runner:
    """Does what the steps of a call say, one after the other."""

    def __init__(self, options: Options, send: SendFunction) -> None:
        self.options = options
        self._send = send

    def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    result = self._do(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def _do(self, step: Step) -> Any:
        match step:
            case Send(request):
                return self._send(request)
            case Sleep(seconds):
                return time.sleep(seconds)
            case Call(function, arguments, positional):
                result = function(*positional, **arguments)
                if inspect.isawaitable(result):
                    if inspect.iscoroutine(result):
                        result.close()
                    # Nobody would run it here: a check would pass unseen.
                    raise TypeError(f"{function!r} is asynchronous: use AsyncCountersign, or a plain function")
                return result


class Requests:
    """The calls about approval requests."""

    def __init__(self, runner: _Runner) -> None:
        self._runner = runner

    def create(self, *, idempotency_key: str | None = None, **fields: Unpack[CreateRequest]) -> ApprovalRequest:
        """Asks for an approval. Retries after lost answers, and never asks twice.

        With an `idempotency_key` of your own it is safe to repeat in a process that doesn't know whether it succeeded.
        """
        return self._runner.run(_requests.create(self._runner.options, fields, idempotency_key))

    def get(self, request_id: str) -> ApprovalRequest:
        return self._runner.run(_requests.get(self._runner.options, request_id))

    def list(self, **filter: Unpack[ListFilter]) -> Iterator[ApprovalRequest]:
        """`for request in countersign.requests.list(status="PENDING")`, newest first."""
        page = self.list_page(limit=_requests.LIST_LIMIT_MAX, **filter)
        while True:
            yield from page.data
            if page.next_cursor is None:
                return
            page = self.list_page(limit=_requests.LIST_LIMIT_MAX, cursor=page.next_cursor, **filter)

    def list_page(
        self, *, limit: int | None = None, cursor: str | None = None, **filter: Unpack[ListFilter]
    ) -> ApprovalRequestList:
        """One page of the list; `next_cursor` leads to the next."""
        return self._runner.run(_requests.list_page(self._runner.options, filter, limit, cursor))

    def default_approver(self) -> str | None:
        """Whom the workspace has set to be asked, for this key or for all: an address or `group:<key>`; None is nobody."""
        return self._runner.run(_requests.default_approver(self._runner.options))

    def cancel(self, request_id: str) -> ApprovalRequest:
        """Cancels a pending request. If it is decided already, this raises a `CountersignError` `already_resolved`."""
        return self._runner.run(_requests.cancel(self._runner.options, request_id))

    def remind(self, request_id: str) -> ApprovalRequest:
        """Mails everybody who can still vote again, at most once in an hour: sooner, this raises a `CountersignError`
        `reminded_recently`. After a lost answer that may be the reminder of this very call.
        """
        return self._runner.run(_requests.remind(self._runner.options, request_id))

    def redeem(self, request_id: str, *, idempotency_key: str | None = None) -> RedeemedRequest:
        """Right before you run an approved action: of any number of calls one gets the request, and may run its
        `effective_payload`. Every other one raises an `AlreadyRedeemedError`, which says who may. Retries after lost
        answers. An `idempotency_key` names one run, never the request: two runs with one key would both be let through.
        """
        return self._runner.run(_requests.redeem(self._runner.options, request_id, idempotency_key))

    def receipt(self, request_id: str, *, embed: Literal["payload"] | None = None) -> str:
        """The signed receipt of an approved or rejected request: a compact JWS that anybody can verify with the keys at
        `/.well-known/jwks.json`. `embed="payload"` puts the exact text of the effective payload into the claim `text`.
        """
        return self._runner.run(_requests.receipt(self._runner.options, request_id, embed))

    def effective_payload(self, request_id: str) -> ExactPayload:
        """The exact text that was approved, never written anew, and its SHA-256 as the receipt names it."""
        return self._runner.run(_requests.effective_payload(self._runner.options, request_id))

    def wait_for_decision(
        self, request_id: str, *, timeout_seconds: float | None = None, on_vote: OnVote | None = None
    ) -> ApprovalRequest:
        """Returns once the request is approved, rejected, expired or cancelled: look at `status`. Survives restarts of
        the service, and can be called again with the same id in another process.

        `on_vote` gets a `RecordedVote` once for each vote of a request with `quorum`, `then` or `escalate`, oldest first,
        also for those that were given before this wait began. What it raises ends the wait.
        """
        return self._runner.run(wait_for_decision(self._runner.options, request_id, timeout_seconds, on_vote))


class Gated(Generic[P, R]):
    """A function that a person must approve each call of."""

    def __init__(self, runner: _Runner, action: _gate.Action, settings: _gate.Settings) -> None:
        self._runner = runner
        self._action = action
        self._settings = settings
        # Its name and words alone: a gate around a gate must not take over what the inner one holds.
        functools.update_wrapper(self, action.function, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Asks, waits, and runs. Raises an `Approval…Error` when it may not run, and an `AlreadyRedeemedError` when
        another call may: a known `idempotency_key` means the same request again.
        """
        arguments = self._action.arguments_of(args, kwargs)
        return self._go_on(_gate.ask_and_wait(self._runner.options, self._action, arguments, self._settings))

    def ask(self, *args: P.args, **kwargs: P.kwargs) -> ApprovalRequest:
        """Only asks. Another process needs nothing but the id."""
        arguments = self._action.arguments_of(args, kwargs)
        return self._runner.run(_gate.ask(self._runner.options, self._action, arguments, self._settings))

    def resume(self, request_id: str) -> R:
        """Waits for a request of `ask`, made here or elsewhere, and runs. Of any number of calls with the same id one
        runs; the others raise an `AlreadyRedeemedError`.
        """
        return self._go_on(_gate.resume(self._runner.options, self._action, request_id, self._settings))

    def with_options(
        self,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
        on_vote: OnVote | None = None,
    ) -> Gated[P, R]:
        """The same function with a key for its question, a limit for its wait, or a function that hears of votes."""
        settings = self._settings.with_options(idempotency_key, timeout_seconds, on_vote)
        return Gated(self._runner, self._action, settings)

    def _go_on(self, steps: Steps[ApprovalRequest]) -> R:
        approved = self._runner.run(steps)
        arguments = self._runner.run(_gate.redeem_for(self._runner.options, self._action, approved))
        result: R = self._action.function(**arguments)
        return result


class Countersign:
    """Asks a person before an agent acts.

    `api_key` is otherwise `COUNTERSIGN_API_KEY`, `base_url` is otherwise `COUNTERSIGN_BASE_URL` or a service on this
    machine. `timeout_seconds` bounds one try, `retries_max` says how often a call with a passing failure is retried.
    `send` is a transport of your own, such as one through a proxy.
    """

    webhooks = webhooks

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout_seconds: float = 30,
        retries_max: int = 4,
        ssl_context: ssl.SSLContext | None = None,
        send: SendFunction | None = None,
    ) -> None:
        options = read_options(api_key, base_url, timeout_seconds, retries_max)
        self._runner = _Runner(options, send or make_send(ssl_context))
        self.requests = Requests(self._runner)

    def __repr__(self) -> str:
        return f"Countersign(base_url={self._runner.options.base_url!r})"

    def request_approval(
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
        request = self.requests.create(idempotency_key=idempotency_key, **fields)
        return self.requests.wait_for_decision(request.id, timeout_seconds=timeout_seconds, on_vote=on_vote)

    def require_approval(
        self,
        describe: _gate.Describe,
        *,
        validate: Callable[..., Any] | None = None,
        request_as: str | None = None,
    ) -> Callable[[Callable[P, R]], Gated[P, R]]:
        """Decorates a function so that a person must approve each call of it. It runs with the approved arguments, which
        the approver may have edited.

        `describe` gets the arguments by their names and says whom to ask, in which words. `validate` gets the approved
        arguments and raises if the function can't take them. `request_as` names a parameter for the redeemed request.
        """

        def decorate(function: Callable[P, R]) -> Gated[P, R]:
            if inspect.iscoroutinefunction(function):
                raise TypeError("this function is asynchronous: use require_approval of AsyncCountersign")
            action = _gate.action_of(function, describe, validate, request_as)
            return Gated(self._runner, action, _gate.Settings())

        return decorate
