"""OpenAI Agents SDK, with a model of its own contract: the run ends with interruptions, and its state travels along."""

from __future__ import annotations

import asyncio
import json
import unittest
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    Usage,
    function_tool,
    set_tracing_disabled,
    tool_input_guardrail,
)
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from countersign import AlreadyRedeemedError, ApprovalRequest
from countersign.adapters.openai_agents import Approvals

from ..trying import needs_service, order
from .desk import ONE, Desk, arguments_text, describe, refund_of, refuse_memo
from .promises import Promises

set_tracing_disabled(True)


class Scripted(Model):
    """Calls its tools once, all at the same time, and repeats then what it was told."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        told = [str(each["output"]) for each in input if each.get("type") == "function_call_output"] if isinstance(input, list) else []
        if told:
            text = ResponseOutputText(annotations=[], text="\n---\n".join(told), type="output_text")
            message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        calls = [
            ResponseFunctionToolCall(
                arguments=each.get("text", arguments_text({k: v for k, v in each.items() if k != "name"})),
                call_id=f"call_{at}",
                name=each.get("name", "refund"),
                type="function_call",
            )
            for at, each in enumerate(self.desk.calls)
        ]
        return ModelResponse(output=list(calls), usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@needs_service
class OpenAIAgentsTest(Promises, unittest.TestCase):
    guardrails: list[Any] = []

    def agent(self, desk: Desk) -> tuple[Approvals, Agent[Any]]:
        approvals = Approvals(desk.asyncio(), describe, validate=refuse_memo)

        @function_tool
        def look(order_id: int) -> str:
            with (desk.folder / "looks").open("a") as looks:
                looks.write("x")
            return "there it is"

        refund = function_tool(refund_of(desk), failure_error_function=None)
        refund.tool_input_guardrails = self.guardrails
        tools = [approvals.require_approval(refund), look]
        return approvals, Agent(name="Refunds", model=Scripted(desk), tools=tools)

    def go(self, desk: Desk) -> str | None:
        async def go() -> str | None:
            approvals, agent = self.agent(desk)
            result = await Runner.run(agent, "Refund it")
            asked = await approvals.ask(result, run_id=desk.run_id)
            self.assertEqual(len(asked), len(await approvals.ask(result, run_id=desk.run_id)))
            return None if asked else str(result.final_output)

        return asyncio.run(go())

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        async def go_on() -> str | None:
            approvals, agent = self.agent(desk)
            result = await approvals.resume(agent, request)
            return None if result is None else str(result.final_output)

        return asyncio.run(go_on())

    def refuses_a_second_run(self, desk: Desk) -> None:
        with self.assertRaises(AlreadyRedeemedError):
            self.go_on(desk, desk.only())

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
        self.assertRegex(heard, "(?s)paid 49.5")
        self.assertRegex(heard, "(?s)Not this one")
        self.assertEqual(len(desk.requests()), 2)

    def test_a_call_that_was_approved_past_us_does_not_run(self) -> None:
        desk = Desk()

        async def go() -> str:
            _, agent = self.agent(desk)
            state = (await Runner.run(agent, "Refund it")).to_state()
            state.approve(state.get_interruptions()[0], always_approve=True)
            return str((await Runner.run(agent, state)).final_output)

        self.assertRegex(asyncio.run(go()), "holds no approval")
        self.assertEqual(desk.paid(), [])

    def test_a_forged_state_leads_to_a_new_question_and_runs_nothing(self) -> None:
        desk = Desk()
        request = self.asked(desk)
        state = dict(request.agent_state)
        state["runId"] = "another"
        state["runState"] = state["runState"].replace("49.5", "999.5")
        forged = desk.blocking().requests.create(
            summary="Say hello", notify="mallory@example.com", payload=1, agent_state=state
        )
        order("approve", id=forged.id)
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(forged.id)), None)
        asked = [each for each in desk.requests() if each.status == "PENDING"]
        self.assertEqual(
            sorted(each.summary for each in asked), ["refund order 1042 (49.5 EUR)", "refund order 1042 (999.5 EUR)"]
        )
        self.assertEqual({each.approver_email for each in asked}, {"ann@example.com"})
        self.assertEqual(desk.paid(), [])

    def test_an_edit_meets_the_tools_guardrails_before_the_approval_is_used_up(self) -> None:
        @tool_input_guardrail
        def at_most_50(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
            amount = Decimal(str(json.loads(data.context.tool_arguments)["amount"]))
            if amount > 60:
                return ToolGuardrailFunctionOutput.raise_exception()
            return (ToolGuardrailFunctionOutput.reject_content if amount > 50 else ToolGuardrailFunctionOutput.allow)("at most 50")

        self.guardrails = [at_most_50]
        for amount, refusal in ((61, "at_most_50 stops it"), (51, "at most 50"), (50, "")):
            desk = Desk()
            heard = self.decided(desk, "approve", edit=f'{{"order_id": 1042, "amount": {amount}, "memo": "none"}}')
            self.assertEqual(desk.paid(), [] if refusal else ["1042 Decimal 50 none"])
            if refusal:
                self.assertRegex(heard, f"approved with changes .* that the tool cannot take: .*{refusal}")
                desk.blocking().requests.redeem(desk.only().id)

    def test_an_input_that_is_no_json_asks_nobody_and_leaves_the_other_calls_of_the_turn_alone(self) -> None:
        """The SDK itself waits for an approval of these, without asking whether they need one."""
        twice = '{"order_id": 1042, "amount": 5, "amount": 500}'
        for text in (twice, '{"order_id": 1042', '{"order_id": 1042, "amount": NaN}', "[1042, 5]", ""):
            desk = Desk(calls=[{"text": text}])
            with self.assertRaisesRegex(ValueError, "the tool cannot take"):
                self.go(desk)
            self.assertEqual(desk.requests(), [])
            desk.calls = [{"text": text}, ONE]
            heard = self.decided(desk, "approve")
            self.assertRegex(heard, "(?s)the tool cannot take.*---\npaid 49.5")
            self.assertEqual(desk.paid(), ["1042 Decimal 49.5 none"])

    def test_a_decimal_that_the_model_writes_as_a_text_keeps_its_digits(self) -> None:
        desk = Desk(calls=[{"order_id": 1042, "amount": "0.1234567890123456789012"}])
        self.decided(desk, "approve")
        self.assertEqual(desk.only().payload_text, '{"order_id":1042,"amount":0.1234567890123456789012,"memo":"none"}')
        self.assertEqual(desk.paid(), ["1042 Decimal 0.1234567890123456789012 none"])

    def test_a_tool_that_fails_after_it_paid_does_not_pay_again(self) -> None:
        desk = Desk(fails=True)
        order("approve", id=self.asked(desk).id)
        with self.assertRaisesRegex(Exception, "no answer from the bank"):
            self.go_on(desk, desk.only())
        self.refuses_a_second_run(desk)
        self.assertEqual(len(desk.paid()), 1)
