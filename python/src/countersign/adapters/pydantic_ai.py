"""Pydantic AI: the run ends with the framework's own `DeferredToolRequests`, and continues from the decision.

The messages travel in `agent_state`, so that any process with the agent can continue. The tool redeems where it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.exceptions import ApprovalRequired, ModelRetry, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, ToolCallPart
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from .._calls import Options, Steps
from ..contract import ApprovalRequest, WebhookData
from ..exact_json import parse, stringify, with_floats
from ._approvals import (
    Asked,
    Client,
    Describe,
    NotRun,
    Ready,
    Validate,
    arun,
    arun_to_the_end,
    ask_each,
    key_of,
    last_decided,
    prepare,
    read,
    redeem_for,
    refuse_anothers,
    refuse_large_state,
    validated,
)
from ._inputs import Check, Unfit, shown_input
from ._words import UNAPPROVED_TEXT, refusal_text, tell_with, told_of, unfit_text, unusable_text

#: In the metadata of a deferred call: what the approver will see, and later which request approved it.
_PAYLOAD = "countersign_payload"
_REQUEST = "countersign_request"


@dataclass(frozen=True, slots=True)
class Continuation:
    """For `agent.run(message_history=c.message_history, deferred_tool_results=c.deferred_tool_results)`."""

    message_history: list[ModelMessage]
    deferred_tool_results: DeferredToolResults


class Approvals:
    """Puts a person before tools:

    `approvals = Approvals(AsyncCountersign(), describe)`, and then `Agent(model,
    toolsets=[approvals.require_approval(FunctionToolset([refund]))], output_type=[str, DeferredToolRequests])`.
    """

    def __init__(self, countersign: Client, describe: Describe, *, validate: Validate | None = None) -> None:
        self._client = countersign
        self._options: Options = countersign._runner.options
        self._describe = describe
        self._validate = validate

    def require_approval(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """The same tools, each of them behind a person."""
        return _Gated(toolset, self)

    async def ask(self, result: Any) -> list[ApprovalRequest]:
        """Asks about the calls that a run ended with: `await approvals.ask(result)`. Empty if it waits for none. The
        process may end after this. Asking again about the same run is the same request.
        """
        output = result.output
        if not isinstance(output, DeferredToolRequests) or not output.approvals:
            return []
        calls = {}
        for call in output.approvals:
            payload = output.metadata.get(call.tool_call_id, {}).get(_PAYLOAD)
            if payload is None:
                raise TypeError(f"{call.tool_name} is no tool of a toolset that was made with require_approval")
            calls[call.tool_call_id] = {"tool": call.tool_name, "payload": parse(payload)}
        messages = parse(ModelMessagesTypeAdapter.dump_json(result.all_messages()).decode("utf-8"))
        state = {"adapter": "pydantic-ai", "runId": str(result.run_id), "calls": calls, "messages": messages}
        refuse_large_state(state)
        return await arun(self._client, ask_each(self._options, self._describe, _asked_in(state)))

    async def resume(self, data: ApprovalRequest | WebhookData) -> Continuation | None:
        """What to run on with, from a verified webhook: `await approvals.resume(event.data)`. None if there is nothing to
        do: the request is not about a run, or other calls of the run are undecided. Of any number of runs with it one
        runs the tool; the others raise an `AlreadyRedeemedError`.
        """
        state = data.agent_state
        if data.status == "PENDING" or not isinstance(state, dict) or state.get("adapter") != "pydantic-ai":
            return None
        messages, requests = await arun(self._client, self._requests_of(data.id))
        if last_decided([request for _, request in requests.values()]) != data.id:
            return None
        history = ModelMessagesTypeAdapter.validate_python(with_floats(messages))
        _refuse_unclear(history, requests)
        results = DeferredToolResults()
        for call_id, (_, request) in requests.items():
            approved = request.status == "APPROVED"
            results.approvals[call_id] = ToolApproved() if approved else ToolDenied(refusal_text(request))
            results.metadata[call_id] = {_REQUEST: request.id}
        return Continuation(history, results)

    def _requests_of(self, request_id: str) -> Steps[tuple[Any, dict[str, tuple[Asked, ApprovalRequest]]]]:
        """Read anew, and asked again with the same keys: nobody approved the state, and everybody with a key can write
        one, so it counts only as far as it leads to requests in our own words.
        """
        state = (yield from read(self._options, request_id)).agent_state
        asked = _asked_in(state)
        requests = yield from ask_each(self._options, self._describe, asked)
        return state["messages"], dict(zip(state["calls"], zip(asked, requests, strict=True), strict=True))

    async def _call(
        self, toolset: _Gated, name: str, ctx: RunContext[Any], tool: ToolsetTool[Any], arguments: dict[str, Any]
    ) -> Any:
        check = _check_of(tool, ctx)
        try:
            payload = shown_input(arguments, check)
            validated(name, payload, self._validate)
        except Unfit as problem:
            return unfit_text(str(problem))
        if not ctx.tool_call_approved:
            raise ApprovalRequired({_PAYLOAD: stringify(payload)})
        request_id = (ctx.tool_call_metadata or {}).get(_REQUEST)
        if request_id is None:
            return UNAPPROVED_TEXT
        ready = await arun(self._client, self._prepare(request_id, name, payload, check))
        if isinstance(ready, Ready):
            ready = await _validated_by(tool, ctx, check, ready)
        if isinstance(ready, NotRun):
            return ready.told
        await arun_to_the_end(self._client, redeem_for(self._options, ready))
        output = await toolset.wrapped.call_tool(name, check(ready.arguments), ctx, tool)
        return _tell(output, ready)

    def _prepare(self, request_id: str, name: str, payload: dict[str, Any], check: Check) -> Steps[Ready | NotRun]:
        request = yield from read(self._options, request_id)
        refuse_anothers(request, self._describe, name, payload)
        return prepare(request, name, check, self._validate)


@dataclass
class _Gated(WrapperToolset[Any]):
    approvals: Approvals

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        return await self.approvals._call(self, name, ctx, tool, tool_args)


def _asked_in(state: Any) -> list[Asked]:
    return [
        Asked(each["tool"], each["payload"], key_of("pydantic-ai", state["runId"], call_id), state)
        for call_id, each in state["calls"].items()
    ]


def _refuse_unclear(history: Sequence[ModelMessage], requests: dict[str, tuple[Asked, ApprovalRequest]]) -> None:
    """Each call that was asked about is there once, for that tool: an approval must not serve another call."""
    calls = [
        part
        for message in history
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.tool_call_id in requests
    ]
    found = sorted((part.tool_call_id, part.tool_name) for part in calls)
    if found != sorted((call_id, asked.tool) for call_id, (asked, _) in requests.items()):
        raise ValueError("the messages of this run do not hold the calls that were asked about, or hold one twice")


def _check_of(tool: ToolsetTool[Any], ctx: RunContext[Any]) -> Check:
    return lambda arguments: tool.args_validator.validate_python(arguments, context=ctx.validation_context)


async def _validated_by(tool: ToolsetTool[Any], ctx: RunContext[Any], check: Check, ready: Ready) -> Ready | NotRun:
    """Pydantic AI asks a tool's own `args_validator` about the model's input alone, and an approver may have changed it."""
    if tool.args_validator_func is None:
        return ready
    try:
        answer = tool.args_validator_func(ctx, **check(ready.arguments))
        if inspect.isawaitable(answer):
            await answer
    except (ModelRetry, ToolFailed, ValueError, TypeError) as problem:
        return NotRun(unusable_text(ready.request, str(problem)))
    return ready


def _tell(output: Any, ready: Ready) -> Any:
    """A text begins with what the approver changed; another output is beside it, in an object."""
    told = told_of(ready.request)
    if told is None:
        return output
    return tell_with(told, output) if isinstance(output, str) else {"countersign": told, "output": output}
