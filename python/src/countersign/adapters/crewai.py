"""CrewAI: a tool that asks a person, and waits in its process while they think.

CrewAI calls a tool that raised again, up to three times. So whatever stops a call here is told to the model instead.
"""

from __future__ import annotations

import asyncio
from typing import Any

from crewai.tools import BaseTool
from pydantic import PrivateAttr

from .._calls import Options
from ..client import Countersign
from ..errors import AlreadyRedeemedError, CountersignError
from ._approvals import Asked, Describe, NotRun, Ready, Validate, prepare, redeem_for, run, validated
from ._inputs import Check, Unfit, shown_input
from ._waiting_calls import Numbering, ask_and_wait
from ._words import failure_text, redeemed_text, tell_with, told_of, unfit_text, unreachable_text


class Approvals:
    """Puts a person before tools:

    `approvals = Approvals(Countersign(), describe, run_id=job_id)`, and then
    `Agent(role=…, tools=[approvals.require_approval(refund)])`.

    A `run_id` that names this run and no other lets a crew that is begun again continue with the same requests.
    """

    def __init__(
        self,
        countersign: Countersign,
        describe: Describe,
        *,
        validate: Validate | None = None,
        run_id: str | None = None,
    ) -> None:
        if not isinstance(countersign, Countersign):
            raise TypeError("CrewAI calls tools in threads of its own: give a Countersign")
        self._client = countersign
        self._options: Options = countersign._runner.options
        self._describe = describe
        self._validate = validate
        self._numbering = Numbering("crewai", run_id)

    def require_approval(self, tool: BaseTool) -> BaseTool:
        """The same tool behind a person."""
        gated = _Gated(
            name=tool.name,
            description=tool.description,
            args_schema=tool.args_schema,
            result_as_answer=tool.result_as_answer,
            max_usage_count=tool.max_usage_count,
            # A result of an earlier call is no answer to this one.
            cache_function=_never,
        )
        gated._tool = tool
        gated._approvals = self
        return gated

    def _call(self, tool: BaseTool, arguments: dict[str, Any]) -> Any:
        try:
            allowed = self._decide(tool, arguments)
        except CountersignError as error:
            return unreachable_text(error)
        if isinstance(allowed, NotRun):
            return allowed.told
        try:
            output = tool.run(**allowed.arguments)
        except Exception as error:
            return failure_text(allowed.request, error)
        told = told_of(allowed.request)
        return output if told is None else tell_with(told, tool.format_output_for_agent(output))

    def _decide(self, tool: BaseTool, arguments: dict[str, Any]) -> Ready | NotRun:
        """The approval, redeemed; or why the tool doesn't run, for the model."""
        check = _check_of(tool)
        try:
            payload = shown_input(arguments, check)
            validated(tool.name, payload, self._validate)
        except Unfit as problem:
            return NotRun(unfit_text(str(problem)))
        asked = Asked(tool.name, payload, self._numbering.key_of(tool.name, payload))
        request = run(self._client, ask_and_wait(self._options, self._describe, asked))
        ready = prepare(request, tool.name, check, self._validate)
        if isinstance(ready, NotRun):
            return ready
        try:
            run(self._client, redeem_for(self._options, ready))
        except AlreadyRedeemedError as error:
            return NotRun(redeemed_text(request.id, error))
        return ready


class _Gated(BaseTool):
    _tool: BaseTool = PrivateAttr()
    _approvals: Approvals = PrivateAttr()

    def _run(self, **arguments: Any) -> Any:
        return self._approvals._call(self._tool, arguments)

    async def _arun(self, **arguments: Any) -> Any:
        return await asyncio.to_thread(self._run, **arguments)


def _check_of(tool: BaseTool) -> Check:
    return lambda arguments: tool.args_schema.model_validate(arguments)


def _never(_arguments: Any = None, _result: Any = None) -> bool:
    return False
