"""Claude Agent SDK: a `can_use_tool` that asks a person, and waits in its process while they think."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from claude_agent_sdk import (
    CanUseTool,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from pydantic import BaseModel

from .._calls import Options
from ..errors import AlreadyRedeemedError, CountersignError
from ..exact_json import stringify
from ._approvals import Asked, Client, Describe, NotRun, Validate, arun, arun_to_the_end, prepare, redeem_for, validated
from ._inputs import Check, Unfit, shown_input
from ._waiting_calls import Numbering, ask_and_wait
from ._words import redeemed_text, told_of, unfit_text, unreachable_text

#: Claude Code is a program in JavaScript: it rounds every whole number beyond this.
_WHOLE_NUMBER_MAX = 2**53 - 1


class Approvals:
    """Puts a person before tools:

    `approvals = Approvals(AsyncCountersign(), describe, tools=["mcp__shop__refund"], run_id=job_id)`, and then
    `ClaudeAgentOptions(can_use_tool=approvals.can_use_tool, hooks=approvals.hooks())`.

    Without `tools` a person is asked about everything that Claude Code asks `can_use_tool` about. What isn't among
    `tools` goes to `otherwise`, or is denied. `schemas` has a Pydantic model for each tool whose input is to be checked.
    A `run_id` that names this run and no other lets a run that is begun again continue with the same requests.
    """

    def __init__(
        self,
        countersign: Client,
        describe: Describe,
        *,
        tools: Collection[str] | None = None,
        otherwise: CanUseTool | None = None,
        schemas: Mapping[str, type[BaseModel]] | None = None,
        validate: Validate | None = None,
        run_id: str | None = None,
    ) -> None:
        self._client = countersign
        self._options: Options = countersign._runner.options
        self._describe = describe
        self._tools = tools
        self._otherwise = otherwise
        self._checks = {name: _check_of(model) for name, model in (schemas or {}).items()}
        self._validate = validate
        self._numbering = Numbering("claude-agent", run_id)
        #: What the model is still to hear of the calls that run now, by their ids.
        self._told: dict[str, str] = {}

    async def can_use_tool(
        self, name: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        """For the `can_use_tool` of `ClaudeAgentOptions`."""
        if self._tools is not None and name not in self._tools:
            if self._otherwise is not None:
                return await self._otherwise(name, arguments, context)
            return PermissionResultDeny(message=f"{name} is no tool that anybody can be asked about here.")
        try:
            return await self._decide(name, arguments, context.tool_use_id)
        except CountersignError as error:
            # An exception would reach the model as words of the program, without saying that nothing ran.
            return PermissionResultDeny(message=unreachable_text(error))

    def hooks(self) -> Any:
        """For the `hooks` of `ClaudeAgentOptions`: rules and modes that allow a tool outright are asked before
        `can_use_tool` is, so this has Claude Code ask about the tools here in any case. A hook that fails blocks the call.
        After the call, the model hears what the approver changed and wrote.
        """

        async def ask_in_any_case(hook_input: Any, tool_use_id: str | None, context: Any) -> Any:
            if self._tools is not None and hook_input["tool_name"] not in self._tools:
                return {}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}

        async def tell(hook_input: Any, tool_use_id: str | None, context: Any) -> Any:
            told = self._told.pop(tool_use_id or "", None)
            if told is None:
                return {}
            return {"hookSpecificOutput": {"hookEventName": hook_input["hook_event_name"], "additionalContext": told}}

        return {
            "PreToolUse": [HookMatcher(hooks=[ask_in_any_case], on_failure="block")],
            "PostToolUse": [HookMatcher(hooks=[tell])],
            "PostToolUseFailure": [HookMatcher(hooks=[tell])],
        }

    async def _decide(
        self, name: str, arguments: dict[str, Any], call_id: str | None
    ) -> PermissionResultAllow | PermissionResultDeny:
        check: Check = self._checks.get(name, _as_json)
        try:
            payload = shown_input(arguments, check)
            validated(name, payload, self._validate)
        except Unfit as problem:
            return PermissionResultDeny(message=unfit_text(str(problem)))
        asked = Asked(name, payload, self._numbering.key_of(name, payload))
        request = await arun(self._client, ask_and_wait(self._options, self._describe, asked))
        ready = prepare(request, name, _after_json(check), self._validate, decimals="float")
        if isinstance(ready, NotRun):
            return PermissionResultDeny(message=ready.told)
        try:
            await arun_to_the_end(self._client, redeem_for(self._options, ready))
        except AlreadyRedeemedError as error:
            return PermissionResultDeny(message=redeemed_text(request.id, error))
        told = told_of(request)
        if told is not None and call_id is not None:
            self._told[call_id] = told
        return PermissionResultAllow(updated_input=ready.arguments)


def _check_of(model: type[BaseModel]) -> Check:
    return lambda arguments: model.model_validate(arguments)


def _after_json(check: Check) -> Check:
    return lambda arguments: check(_as_json(arguments))


def _as_json(arguments: Any) -> Any:
    """As Claude Code gets it."""
    _refuse_rounded(arguments)
    return json.loads(stringify(arguments, floats="shortest"))


def _refuse_rounded(value: Any) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _refuse_rounded(each)
    elif isinstance(value, list):
        for each in value:
            _refuse_rounded(each)
    elif isinstance(value, int) and abs(value) > _WHOLE_NUMBER_MAX:
        raise ValueError(f"{stringify(value)[:80]} would be rounded on its way to the tool.")
