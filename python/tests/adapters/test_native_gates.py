"""What the frameworks' own gates do, without Countersign: docs tell of it, so a framework that does better fails here."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from agents import Agent as OpenAIAgent
from agents import Runner, RunState, function_tool
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved
from pydantic_ai.messages import ModelMessagesTypeAdapter

from .desk import ONE, Desk, refund_of
from .test_langgraph import Scripted
from .test_openai_agents import Scripted as OpenAIScripted
from .test_pydantic_ai import scripted


def desk_alone() -> Desk:
    """It needs no service."""
    return Desk(key="none")


class NativeGatesTest(unittest.TestCase):
    def test_langchain_runs_a_failed_tool_again_with_the_same_yes_and_takes_any_edit(self) -> None:
        desk = desk_alone()
        desk.fails = True
        gate: Any = HumanInTheLoopMiddleware(interrupt_on={"refund": True})
        agent: Any = create_agent(
            Scripted(calls=[ONE]), tools=[tool("refund")(refund_of(desk))], middleware=[gate], checkpointer=InMemorySaver()
        )
        config = {"configurable": {"thread_id": "one"}}
        agent.invoke({"messages": [("user", "Refund it")]}, config)
        edited = {"name": "refund", "args": {"order_id": 1042, "amount": 12.5}}
        with self.assertRaises(RuntimeError):
            agent.invoke(Command(resume={"decisions": [{"type": "edit", "edited_action": edited}]}), config)
        with self.assertRaises(RuntimeError):
            agent.invoke(None, config)
        self.assertEqual(desk.paid(), ["1042 Decimal 12.5 none"] * 2)

    def test_pydantic_ai_runs_the_same_yes_as_often_as_it_is_given_with_any_edit(self) -> None:
        desk = desk_alone()

        async def go() -> None:
            gated = Tool(refund_of(desk), requires_approval=True)
            agent: Any = Agent(scripted(desk), tools=[gated], output_type=[str, DeferredToolRequests])
            result = await agent.run("Refund it")
            stored = ModelMessagesTypeAdapter.dump_json(result.all_messages())
            yes = DeferredToolResults(approvals={"call_0": ToolApproved(override_args={**ONE, "amount": 12.5})})
            for _ in range(2):
                history = ModelMessagesTypeAdapter.validate_json(stored)
                await agent.run(message_history=history, deferred_tool_results=yes)

        asyncio.run(go())
        self.assertEqual(desk.paid(), ["1042 Decimal 12.5 none"] * 2)

    def test_openai_agents_runs_the_same_yes_as_often_as_it_is_given_and_has_no_place_for_an_edit(self) -> None:
        desk = desk_alone()

        async def go() -> None:
            gated = function_tool(refund_of(desk), needs_approval=True)
            agent = OpenAIAgent(name="Refunds", model=OpenAIScripted(desk), tools=[gated])
            stored = (await Runner.run(agent, "Refund it")).to_state().to_string()
            for _ in range(2):
                state = await RunState.from_string(agent, stored)
                state.approve(state.get_interruptions()[0])
                await Runner.run(agent, state)

        asyncio.run(go())
        self.assertEqual(desk.paid(), ["1042 Decimal 49.5 none"] * 2)
