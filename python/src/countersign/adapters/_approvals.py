"""One tool call from the question to the redeem, without a framework and without a socket: steps that a client runs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

from .._calls import Options, Steps
from .._question import words_of_question, words_of_request
from .._requests import create, get, redeem, refuse_unknown
from ..async_client import AsyncCountersign
from ..client import Countersign
from ..contract import CREATE_NAMES, ApprovalRequest, Question
from ..errors import CountersignError
from ..exact_json import stringify
from ._inputs import Check, Decimals, Unfit, input_to_run
from ._words import refusal_text, unusable_text

Client = Countersign | AsyncCountersign
#: Whom to ask, and the words beside the payload: made of the tool's name and its input alone, so that they come out the
#: same when a run goes on.
Describe = Callable[[str, dict[str, Any]], Question]
#: Gets the name of a tool and the arguments that it would run with, and raises a ValueError if they won't do.
Validate = Callable[[str, dict[str, Any]], object]

T = TypeVar("T")

#: The service's limit.
_AGENT_STATE_BYTES_MAX = 262_144
_QUESTION_NAMES = {name: wire for name, wire in CREATE_NAMES.items() if name not in ("payload", "agent_state")}


@dataclass(frozen=True, slots=True)
class Ready:
    """An approval that can be carried out here. It is not used up yet."""

    request: ApprovalRequest
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotRun:
    """For the model: why its call does not run."""

    told: str


def key_of(framework: str, *parts: str) -> str:
    """A key for a call that may be made again. It includes the run's id, because some models restart the numbering of
    calls in each run, and the approval of one run must never serve another.
    """
    digest = hashlib.sha256(stringify([framework, *parts]).encode("utf-8")).hexdigest()
    return f"{framework}-{digest}"


def run(client: Client, steps: Steps[T]) -> T:
    if isinstance(client, Countersign):
        return client._runner.run(steps)
    raise TypeError("this runs without asyncio: give it a Countersign, or use the asynchronous way with AsyncCountersign")


async def arun(client: Client, steps: Steps[T]) -> T:
    """A blocking client waits in a thread, so that nobody else has to."""
    if isinstance(client, AsyncCountersign):
        return await client._runner.run(steps)
    return await asyncio.to_thread(client._runner.run, steps)


async def arun_to_the_end(client: Client, steps: Steps[T]) -> T:
    """For a redeem: once it is sent the approval may be used up, so a cancellation is held back."""
    if isinstance(client, AsyncCountersign):
        return await client._runner.run_to_the_end(steps)
    return await asyncio.shield(asyncio.to_thread(client._runner.run, steps))


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, as a person is asked about it."""

    tool: str
    payload: dict[str, Any]
    key: str | None
    agent_state: Any = None


def ask(options: Options, describe: Describe, asked: Asked) -> Steps[ApprovalRequest]:
    question = describe(asked.tool, deepcopy(asked.payload))
    refuse_unknown(question, _QUESTION_NAMES, "a description of an adapter")
    more = {} if asked.agent_state is None else {"agent_state": asked.agent_state}
    return (yield from create(options, {**question, "payload": asked.payload, **more}, asked.key))


def ask_each(options: Options, describe: Describe, asked: Sequence[Asked]) -> Steps[list[ApprovalRequest]]:
    """Asked again with the same keys, these are the same requests in their current state."""
    requests = []
    for each in asked:
        requests.append((yield from ask(options, describe, each)))
    return requests


def read(options: Options, request_id: str) -> Steps[ApprovalRequest]:
    return (yield from get(options, request_id))


def prepare(
    request: ApprovalRequest, tool: str, check: Check, validate: Validate | None, *, decimals: Decimals = "decimal"
) -> Ready | NotRun:
    """Every check comes before the redeem, so that an approval that can't be carried out is not used up."""
    if request.status != "APPROVED":
        return NotRun(refusal_text(request))
    try:
        arguments = input_to_run(request.effective_payload, check, decimals=decimals)
        validated(tool, arguments, validate)
    except Unfit as problem:
        return NotRun(unusable_text(request, str(problem)))
    return Ready(request, arguments)


def validated(tool: str, arguments: dict[str, Any], validate: Validate | None) -> None:
    try:
        if validate is not None:
            # A copy: what it does to its arguments is not what a person approved.
            validate(tool, deepcopy(arguments))
    except (ValueError, TypeError) as error:
        raise Unfit(str(error)) from None


def redeem_for(options: Options, ready: Ready) -> Steps[None]:
    """Right before the tool runs. Raises an `AlreadyRedeemedError` if another call may run it, or has."""
    redeemed = yield from redeem(options, ready.request.id, None)
    if redeemed.effective_payload_text != ready.request.effective_payload_text:
        raise CountersignError(
            f"{options.base_url} told two payloads of {ready.request.id}: nothing was run",
            status=200,
            code="not_countersign",
        )


def refuse_anothers(request: ApprovalRequest, describe: Describe, tool: str, payload: dict[str, Any]) -> None:
    """An approval of one call is none of another, and counts only from the people whom this code asks."""
    expected = words_of_question(describe(tool, deepcopy(payload)))
    same_payload = stringify(request.payload) == stringify(payload)
    if not same_payload or expected != words_of_request(request):
        raise CountersignError(f"{request.id} was not asked for this call of {tool}", code="another_action")


def last_decided(requests: Sequence[ApprovalRequest]) -> str | None:
    """Each decision sends a webhook, and only the last one may continue what waits for all of them."""
    if not requests or any(each.status == "PENDING" for each in requests):
        return None
    return max(requests, key=lambda each: (each.resolved_at or each.expires_at, each.id)).id


def refuse_large_state(agent_state: Any) -> None:
    size = len(stringify(agent_state, floats="shortest").encode("utf-8"))
    if size > _AGENT_STATE_BYTES_MAX:
        raise ValueError(
            f"the state of this run has {size} bytes, and agentState takes {_AGENT_STATE_BYTES_MAX}: give the agent less "
            "history, or keep the run in a store of your own"
        )
