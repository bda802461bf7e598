"""OpenAI Agents SDK: the run ends with the SDK's own interruptions, and continues from the decision.

The run's state travels in `agent_state`, so that any process with the agent can continue. The tool redeems where it runs.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from agents import Agent, AgentsException, FunctionTool, Runner, RunState
from agents.function_schema import function_schema
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolInputGuardrailData

from .._calls import Options, Steps
from ..contract import ApprovalRequest, WebhookData
from ..errors import CountersignError
from ..exact_json import JsonFlaw, parse, stringify
from ._approvals import (
    Asked,
    Client,
    Describe,
    NotRun,
    Ready,
    Validate,
    arun,
    arun_to_the_end,
    ask,
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
from ._words import UNAPPROVED_TEXT, is_edited, refusal_text, tell_with, told_of, unfit_text, unusable_text

#: The requests that approved the calls of the run that continues here. A call that was approved otherwise isn't in it.
_approved: ContextVar[dict[str, str]] = ContextVar("countersign_approved", default={})


class Approvals:
    """Puts a person before tools:

    `approvals = Approvals(AsyncCountersign(), describe)`, and then
    `Agent(name="Refunds", tools=[approvals.require_approval(refund)])`.
    """

    def __init__(self, countersign: Client, describe: Describe, *, validate: Validate | None = None) -> None:
        self._client = countersign
        self._options: Options = countersign._runner.options
        self._describe = describe
        self._validate = validate

    def require_approval(self, tool: FunctionTool) -> FunctionTool:
        """The same tool behind a person. The SDK can't change the input of a call that it approves; this runs the tool
        with the input as approved.
        """
        gate = _Gate(self, tool)

        async def needs_approval(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
            # An input that can't run needs nobody: the gate tells the model so.
            return isinstance(gate.shown(arguments), dict)

        return replace(tool, on_invoke_tool=gate, needs_approval=needs_approval)

    async def ask(self, result: Any, *, run_id: str | None = None) -> list[ApprovalRequest]:
        """Asks about the calls that a run waits for: `await approvals.ask(result)`. Empty if it waits for none. The
        process may end after this. A `run_id` that names this run and no other makes it safe to ask again.
        """
        if not result.interruptions:
            return []
        state = {
            "adapter": "openai-agents",
            "runId": run_id or uuid.uuid4().hex,
            "runState": result.to_state().to_string(),
        }
        refuse_large_state(state)
        calls = [_asked(state, item) for item in result.interruptions]
        asked = [call for call in calls if isinstance(call, Asked)]
        if not asked:
            told = " ".join(call.told for call in calls if isinstance(call, NotRun))
            raise ValueError(f"the SDK waits for an approval of what can't be approved, so begin this run again: {told}")
        return await arun(self._client, ask_each(self._options, self._describe, asked))

    async def resume(self, agent: Agent[Any], data: ApprovalRequest | WebhookData, **options: Any) -> Any:
        """Continues the run of a verified webhook: `result = await approvals.resume(agent, event.data)`, with the options
        of the SDK's `Runner.run`. None if there is nothing to do: the request is not about a run, or other calls of the
        run are undecided. Raises an `AlreadyRedeemedError` if another call got an approval of the run.
        """
        told = data.agent_state
        if data.status == "PENDING" or not isinstance(told, dict) or told.get("adapter") != "openai-agents":
            return None
        # Read anew: what runs is what the service has, not what an event says.
        stored = (await arun(self._client, read(self._options, data.id))).agent_state
        state = await RunState.from_string(agent, stored["runState"])
        items = state.get_interruptions()
        requests = await arun(self._client, self._requests_of(stored, items))
        if last_decided([each for each in requests if not isinstance(each, NotRun)]) != data.id:
            return None
        approved = {}
        for item, request in zip(items, requests, strict=True):
            if isinstance(request, NotRun):
                state.reject(item, rejection_message=request.told)
            elif request.status == "APPROVED":
                approved[str(item.call_id)] = request.id
                state.approve(item)
            else:
                state.reject(item, rejection_message=refusal_text(request))
        token = _approved.set(approved)
        try:
            return await Runner.run(agent, state, **options)
        except AgentsException as error:
            # The SDK wraps what a tool raises.
            raise (error.__cause__ if isinstance(error.__cause__, CountersignError) else error)  # noqa: B904
        finally:
            _approved.reset(token)

    def _requests_of(self, stored: Any, items: Sequence[ToolApprovalItem]) -> Steps[list[ApprovalRequest | NotRun]]:
        """Asked again with the same keys: nobody approved the state, and everybody with a key can write one, so it
        counts only as far as it leads to requests in our own words.
        """
        calls = [_asked(stored, item) for item in items]
        if len({item.call_id for item in items}) < len(items):
            raise ValueError("each call of a model needs an id of its own, or nobody can approve it")
        requests: list[ApprovalRequest | NotRun] = []
        for call in calls:
            if isinstance(call, Asked):
                requests.append((yield from ask(self._options, self._describe, call)))
            else:
                requests.append(call)
        return requests


class _Gate:
    """Runs in the place of the tool."""

    def __init__(self, approvals: Approvals, tool: FunctionTool) -> None:
        self._approvals = approvals
        self._tool = tool
        self._check = _check_of(tool)

    def shown(self, arguments: Any) -> dict[str, Any] | NotRun:
        """What an approver sees of these arguments, or why nobody is asked."""
        try:
            if isinstance(arguments, JsonFlaw):
                raise Unfit(str(arguments))
            payload = shown_input(arguments, self._check, decimals="text")
            validated(self._tool.name, payload, self._approvals._validate)
            return payload
        except Unfit as problem:
            return NotRun(unfit_text(str(problem)))

    async def __call__(self, context: ToolContext[Any], text: str) -> Any:
        approvals = self._approvals
        payload = self.shown(_arguments_in(text))
        if isinstance(payload, NotRun):
            return payload.told
        request_id = _approved.get().get(context.tool_call_id)
        if request_id is None:
            return UNAPPROVED_TEXT
        ready = await arun(approvals._client, self._prepare(request_id, payload))
        if isinstance(ready, NotRun):
            return ready.told
        own = _context_of(context, stringify(ready.arguments, floats="shortest"))
        refusal = await self._refusal_of_edit(own, ready)
        if refusal is not None:
            return refusal
        await arun_to_the_end(approvals._client, redeem_for(approvals._options, ready))
        return _tell(await self._tool.on_invoke_tool(own, own.tool_arguments), ready)

    async def _refusal_of_edit(self, own: ToolContext[Any], ready: Ready) -> str | None:
        """The SDK asks a tool's guardrails about the model's input alone."""
        guardrails = self._tool.tool_input_guardrails if is_edited(ready.request) else None
        agent: Any = own.agent
        for guardrail in guardrails or []:
            behavior = (await guardrail.run(ToolInputGuardrailData(context=own, agent=agent))).behavior
            if behavior["type"] == "reject_content":
                return unusable_text(ready.request, behavior["message"])
            if behavior["type"] != "allow":
                return unusable_text(ready.request, f"the guardrail {guardrail.get_name()} stops it.")
        return None

    def _prepare(self, request_id: str, payload: dict[str, Any]) -> Steps[Ready | NotRun]:
        approvals, name = self._approvals, self._tool.name
        request = yield from read(approvals._options, request_id)
        refuse_anothers(request, approvals._describe, name, payload)
        return prepare(request, name, self._check, approvals._validate, decimals="text")


def _context_of(context: ToolContext[Any], approved: str) -> ToolContext[Any]:
    """With the input as approved: the context that the SDK gives holds the model's own, which doesn't count."""
    call = None if context.tool_call is None else context.tool_call.model_copy(update={"arguments": approved})
    return ToolContext.from_agent_context(
        context, context.tool_call_id, call, tool_name=context.tool_name, tool_arguments=approved
    )


def _check_of(tool: FunctionTool) -> Check:
    """As the SDK does it: from JSON, with the model of the function's parameters. A tool that was made of a JSON schema
    checks its input itself.
    """
    function = getattr(tool, "__wrapped__", None)
    if function is None:
        return lambda arguments: _through_json(arguments)
    model = function_schema(function, strict_json_schema=tool.strict_json_schema).params_pydantic_model
    return lambda arguments: model(**_through_json(arguments))


def _through_json(arguments: Any) -> Any:
    try:
        return json.loads(stringify(arguments, floats="shortest"))
    except Exception as error:
        raise ValueError(str(error)) from None


def _arguments_in(text: str) -> Any:
    """Exactly as the model wrote it, in JSON with each key once."""
    try:
        return parse(text or "{}")
    except JsonFlaw as flaw:
        return flaw


def _asked(state: dict[str, Any], item: ToolApprovalItem) -> Asked | NotRun:
    """The name is that of the call itself: a state can give that call another one beside it. The SDK waits for an
    approval also of what is no JSON: then nobody is asked, and the model is told.
    """
    raw: Any = item.raw_item
    call = raw if isinstance(raw, dict) else raw.model_dump()
    if call.get("type") != "function_call":
        raise TypeError(f"only function tools can be asked about, and this is a {call.get('type')}")
    gates = [
        each.on_invoke_tool
        for each in item.agent.tools
        if isinstance(each, FunctionTool) and each.name == call["name"]
    ]
    if len(gates) != 1 or not isinstance(gates[0], _Gate):
        raise TypeError(f"{call['name']} is no tool that was made with require_approval")
    payload = gates[0].shown(_arguments_in(call["arguments"]))
    if isinstance(payload, NotRun):
        return payload
    return Asked(call["name"], payload, key_of("openai-agents", state["runId"], call["call_id"]), state)


def _tell(output: Any, ready: Ready) -> Any:
    """A text begins with what the approver changed; another output is beside it."""
    told = told_of(ready.request)
    if told is None:
        return output
    return tell_with(told, output) if isinstance(output, str) else {"countersign": told, "output": output}
