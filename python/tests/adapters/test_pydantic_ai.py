"""Pydantic AI, with its own FunctionModel: the run ends with DeferredToolRequests, and its messages travel along."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import unittest
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from countersign import AlreadyRedeemedError, ApprovalRequest, CountersignError
from countersign.adapters.pydantic_ai import Approvals

from ..trying import needs_service, order
from .desk import ONE, Desk, arguments_text, describe, refund_of, refuse_memo
from .promises import Promises


def scripted(desk: Desk) -> FunctionModel:
    """Calls its tools once, all at the same time, and repeats then what it was told."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts
        told = [part.model_response_str() for part in last if isinstance(part, ToolReturnPart)]
        told += [part.model_response() for part in last if part.part_kind == "retry-prompt"]
        if told:
            return ModelResponse([TextPart("\n---\n".join(told))])
        return ModelResponse(
            [
                ToolCallPart(each.get("name", "refund"), arguments_text({k: v for k, v in each.items() if k != "name"}), f"call_{at}")
                for at, each in enumerate(desk.calls)
            ]
        )

    return FunctionModel(answer)


def limited(amount: Decimal, info: ValidationInfo) -> Decimal:
    if amount > info.context["limit"]:
        raise ValueError("at most 50")
    return amount


@needs_service
class PydanticAITest(Promises, unittest.TestCase):
    tool = staticmethod(refund_of)

    def agent(self, desk: Desk) -> tuple[Approvals, Agent[None, Any]]:
        approvals = Approvals(desk.asyncio(), describe, validate=refuse_memo)
        gated = approvals.require_approval(FunctionToolset([self.tool(desk)]))
        agent = Agent(
            scripted(desk), toolsets=[gated], output_type=[str, DeferredToolRequests], validation_context={"limit": 50}
        )

        @agent.tool_plain
        def look(order_id: int) -> str:
            with (desk.folder / "looks").open("a") as looks:
                looks.write("x")
            return "there it is"

        return approvals, agent

    def go(self, desk: Desk) -> str | None:
        async def go() -> str | None:
            approvals, agent = self.agent(desk)
            result = await agent.run("Refund it")
            asked = await approvals.ask(result)
            self.assertEqual(len(asked), len(await approvals.ask(result)))
            return None if asked else str(result.output)

        return asyncio.run(go())

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        async def go_on() -> str | None:
            approvals, agent = self.agent(desk)
            going_on = await approvals.resume(request)
            if going_on is None:
                return None
            result = await agent.run(
                message_history=going_on.message_history, deferred_tool_results=going_on.deferred_tool_results
            )
            return str(result.output)

        return asyncio.run(go_on())

    def refuses_a_second_run(self, desk: Desk) -> None:
        with self.assertRaises(AlreadyRedeemedError):
            self.go_on(desk, desk.only())

    def unfit_words(self, arguments: dict[str, Any]) -> str:
        """The framework's own check comes first."""
        return "valid integer" if arguments["order_id"] == "many" else super().unfit_words(arguments)

    def test_of_several_calls_each_is_decided_and_the_others_run_once(self) -> None:
        two = {"order_id": 7, "amount": 5}
        desk = Desk(calls=[ONE, two, {"name": "look", "order_id": 1042}])
        self.asked(desk, 2)
        first, second = sorted(desk.requests(), key=lambda each: each.summary)
        order("approve", id=first.id)
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(first.id)), None)
        order("reject", id=second.id, note="Not this one")
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(first.id)), None)
        heard = self.go_on(desk, desk.blocking().requests.get(second.id)) or ""
        self.assertEqual(desk.paid(), ["1042 Decimal 49.5 none"])
        self.assertEqual((desk.folder / "looks").read_text(), "x")
        self.assertRegex(heard, "(?s)paid 49.5.*Not this one")
        self.assertEqual(len(desk.requests()), 2)

    def test_a_call_that_was_approved_past_us_does_not_run(self) -> None:
        desk, other = Desk(), Desk()

        async def go(metadata: dict[str, Any]) -> str:
            approvals, agent = self.agent(desk)
            result = await agent.run("Refund it")
            (call,) = result.output.approvals
            results = DeferredToolResults(approvals={call.tool_call_id: True}, metadata={call.tool_call_id: metadata})
            return str(
                (await agent.run(message_history=result.all_messages(), deferred_tool_results=results)).output
            )

        self.assertRegex(asyncio.run(go({})), "holds no approval")
        order("approve", id=self.asked(other).id)
        key, desk.key = desk.key, other.key
        another = desk.blocking().requests.create(summary="Say hello", notify="ann@example.com", payload=ONE | {"amount": 1})
        order("approve", id=another.id)
        with self.assertRaisesRegex(CountersignError, "was not asked for this call"):
            asyncio.run(go({"countersign_request": another.id}))
        desk.key = key
        self.assertEqual(desk.paid() + other.paid(), [])

    def test_forged_messages_lead_to_a_new_question_and_run_nothing(self) -> None:
        desk = Desk()
        request = self.asked(desk)
        state = {**request.agent_state, "runId": "another"}
        state["calls"] = {"call_0": {"tool": "refund", "payload": {"order_id": 1, "amount": 999, "memo": "mine"}}}
        forged = desk.blocking().requests.create(
            summary="Say hello", notify="mallory@example.com", payload=1, agent_state=state
        )
        order("approve", id=forged.id)
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(forged.id)), None)
        asked = [each for each in desk.requests() if each.status == "PENDING"]
        self.assertEqual(sorted(each.summary for each in asked), ["refund order 1 (999 EUR)", "refund order 1042 (49.5 EUR)"])
        self.assertEqual({each.approver_email for each in asked}, {"ann@example.com"})
        self.assertEqual(desk.paid(), [])

    def test_an_edit_meets_the_tools_own_validators_before_the_approval_is_used_up(self) -> None:
        def refuse_much(ctx: RunContext[None], order_id: int, amount: Decimal, memo: str = "none") -> None:
            if amount > 50:
                raise ModelRetry("at most 50")

        def with_context(desk: Desk) -> Any:
            def refund(order_id: int, amount: Annotated[Decimal, AfterValidator(limited)], memo: str = "none") -> str:
                return desk.pay(order_id, amount, memo)

            return refund

        for made in (lambda desk: Tool(refund_of(desk), args_validator=refuse_much), with_context):
            self.tool = made
            for amount, paid in ((51, []), (50, ["1042 Decimal 50 none"])):
                desk = Desk()
                heard = self.decided(desk, "approve", edit=f'{{"order_id": 1042, "amount": {amount}, "memo": "none"}}')
                self.assertEqual(desk.paid(), paid)
                if not paid:
                    self.assertRegex(heard, "(?s)approved with changes .* that the tool cannot take: .*at most 50")
                    desk.blocking().requests.redeem(desk.only().id)

    def test_a_set_is_asked_about_in_the_same_order_in_every_process(self) -> None:
        program = (
            "from countersign.adapters._inputs import input_to_run, shown_input; from pydantic import TypeAdapter;"
            "check = TypeAdapter(dict[str, set[str]]).validate_python;"
            "print(shown_input({'tags': ['b', 'c', 'a', 'd']}, check), input_to_run({'tags': ['d', 'a']}, check))"
        )
        for seed in range(3):
            environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
            ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
            self.assertEqual(ended.stdout, "{'tags': ['a', 'b', 'c', 'd']} {'tags': ['d', 'a']}\n", ended.stderr)

    def test_a_tool_that_fails_after_it_paid_does_not_pay_again(self) -> None:
        desk = Desk(fails=True)
        order("approve", id=self.asked(desk).id)
        with self.assertRaisesRegex(RuntimeError, "no answer from the bank"):
            self.go_on(desk, desk.only())
        self.refuses_a_second_run(desk)
        self.assertEqual(len(desk.paid()), 1)
