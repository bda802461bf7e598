"""CrewAI, with an LLM class of its own contract: the call waits in its process."""

from __future__ import annotations

import json
import os
import unittest
from decimal import Decimal
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from crewai import Agent, Crew, Task  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from crewai.tools import BaseTool  # noqa: E402
from pydantic import BaseModel, PrivateAttr  # noqa: E402

from countersign import ApprovalRequest  # noqa: E402
from countersign.adapters.crewai import Approvals  # noqa: E402

from ..trying import needs_service  # noqa: E402
from .desk import Desk, approving, describe, refuse_memo  # noqa: E402
from .promises import Promises  # noqa: E402


class Scripted(BaseLLM):
    """Calls its tool by the words that CrewAI asks for, and repeats then what it was told."""

    calls: list[dict[str, Any]] = []
    heard: list[str] = []
    at: int = 0

    def call(self, messages: Any, *rest: Any, **more: Any) -> str:
        texts = [str(each["content"]) for each in messages if "Observation:" in str(each["content"])]
        if self.at > 0:
            self.heard.append(texts[-1].rsplit("Observation:", 1)[-1].strip())
        if self.at < len(self.calls):
            arguments = json.dumps(self.calls[self.at])
            self.at += 1
            return f"Thought: I pay\nAction: refund\nAction Input: {arguments}\n"
        return "Thought: I know\nFinal Answer: done"

    def supports_function_calling(self) -> bool:
        return False


class Arguments(BaseModel):
    order_id: int
    amount: Decimal
    memo: str = "none"


class Refund(BaseTool):
    name: str = "refund"
    description: str = "Pays money back."
    args_schema: type[BaseModel] = Arguments
    _desk: Desk = PrivateAttr()

    def _run(self, order_id: int, amount: Decimal, memo: str) -> str:
        return self._desk.pay(order_id, amount, memo)


@needs_service
class CrewAITest(Promises, unittest.TestCase):
    waits_inside = True

    def go(self, desk: Desk) -> str | None:
        refund = Refund()
        refund._desk = desk
        approvals = Approvals(desk.blocking(), describe, validate=refuse_memo, run_id=desk.run_id)
        llm = Scripted(model="scripted", calls=desk.calls)
        agent = Agent(role="Payer", goal="Pay", backstory="Pays", llm=llm, tools=[approvals.require_approval(refund)])
        task = Task(description="Refund it", expected_output="done", agent=agent)
        Crew(agents=[agent], tasks=[task], verbose=False).kickoff()
        return "\n---\n".join(llm.heard)

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        """The same run, begun again."""
        return self.go(desk)

    def refuses_a_second_run(self, desk: Desk) -> None:
        self.assertRegex(self.go(desk) or "", "handed out to run.*did not run it again")

    def unfit_words(self, arguments: dict[str, Any]) -> str:
        """The framework's own check comes first."""
        return "valid integer" if arguments["order_id"] == "many" else super().unfit_words(arguments)

    def test_a_tool_that_fails_after_it_paid_is_not_called_again(self) -> None:
        desk = Desk(fails=True)
        with approving(desk, 1):
            heard = self.go(desk) or ""
        self.assertRegex(heard, "(?s)The tool failed.*no answer from the bank.*may have taken effect")
        self.assertEqual(len(desk.paid()), 1)
        self.assertEqual(len(desk.requests()), 1)
