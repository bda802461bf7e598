"""LangGraph, with the checkpoints of a thread in a file, and LangChain's agent around the same adapter."""

from __future__ import annotations

import asyncio
import sqlite3
import unittest
from contextlib import closing
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from countersign import AlreadyRedeemedError, ApprovalRequest
from countersign.adapters.langgraph import Approvals

from ..trying import needs_service, order
from .desk import ONE, Desk, describe, refund_of, refuse_memo
from .promises import Promises


class Scripted(BaseChatModel):
    """Calls its tools once, all at the same time, and repeats then what it was told."""

    calls: list[dict[str, Any]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            told = [str(each.content) for each in messages if isinstance(each, ToolMessage)]
            return ChatResult(generations=[ChatGeneration(message=AIMessage("\n---\n".join(told)))])
        calls = [
            {"name": each.get("name", "refund"), "args": {k: v for k, v in each.items() if k != "name"}, "id": f"call_{at}"}
            for at, each in enumerate(self.calls)
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])


class OfLangGraph(Promises):
    """A graph of one's own: a model, and a ToolNode."""

    def graph(self, desk: Desk, approvals: Approvals, tools: list[Any], saver: Any) -> Any:
        model = Scripted(calls=desk.calls)
        builder = StateGraph(MessagesState)
        builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        node = ToolNode(tools, wrap_tool_call=approvals.wrap_tool_call, awrap_tool_call=approvals.awrap_tool_call)
        builder.add_node("tools", node)
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        return builder.compile(checkpointer=saver)

    def at(self, desk: Desk, work: Any) -> str | None:
        """Opens the thread's file anew, as another process would."""
        refund = tool("refund")(refund_of(desk))

        @tool
        def look(order_id: int) -> str:
            """Reads an order, without anybody's approval."""
            with (desk.folder / "looks").open("a") as looks:
                looks.write("x")
            return "there it is"

        approvals = Approvals(desk.blocking(), describe, tools=[refund], validate=refuse_memo)
        connection = sqlite3.connect(desk.folder / "threads", check_same_thread=False)
        with closing(connection):
            graph = self.graph(desk, approvals, [refund, look], SqliteSaver(connection))
            result = work(approvals, graph, {"configurable": {"thread_id": desk.run_id}})
        if result is None or result.get("__interrupt__"):
            return None
        return str(result["messages"][-1].content)

    def go(self, desk: Desk) -> str | None:
        return self.at(desk, lambda _, graph, config: graph.invoke({"messages": [("user", "Refund it")]}, config))

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        return self.at(desk, lambda approvals, graph, _: approvals.resume(graph, request))

    def take_up(self, desk: Desk) -> str | None:
        return self.at(desk, lambda approvals, graph, config: approvals.invoke(graph, None, config))

    def refuses_a_second_run(self, desk: Desk) -> None:
        """The thread has gone on already, or its process died: then its owner takes it up, and the model hears it."""
        try:
            self.assertEqual(self.go_on(desk, desk.only()), None)
        except AlreadyRedeemedError:
            self.assertRegex(self.take_up(desk) or "", "handed out to run.*did not run it again")


@needs_service
class LangGraphTest(OfLangGraph, unittest.TestCase):
    def test_invoke_waits_for_people_in_this_process(self) -> None:
        desk = Desk()
        order("decide next", key=desk.key, verdict="approve")
        heard = self.at(
            desk, lambda approvals, graph, config: approvals.invoke(graph, {"messages": [("user", "Refund")]}, config)
        )
        self.assertEqual(heard, "paid 49.5")
        self.assertEqual(len(desk.paid()), 1)

    def test_a_thread_that_is_resumed_past_us_waits_on_and_runs_nothing(self) -> None:
        desk = Desk()
        request = self.asked(desk)
        for value in (True, {"decisions": [{"type": "approve"}]}, "approve"):
            heard = self.at(desk, lambda _, graph, config, value=value: graph.invoke(Command(resume=value), config))
            self.assertEqual(heard, None)
        self.assertEqual(desk.paid(), [])
        order("approve", id=request.id)
        self.assertEqual(self.go_on(desk, desk.only()), "paid 49.5")

    def test_of_several_calls_none_runs_before_all_are_decided_and_each_runs_once(self) -> None:
        two = {"order_id": 7, "amount": 5}
        desk = Desk(calls=[ONE, two, {"name": "look", "order_id": 1042}, {"order_id": "many", "amount": 1}])
        self.asked(desk, 2)
        first, second = sorted(desk.requests(), key=lambda each: each.summary)
        order("approve", id=first.id)
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(first.id)), None)
        self.assertEqual(desk.paid(), [])
        order("reject", id=second.id, note="Not this one")
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(first.id)), None)
        heard = self.go_on(desk, desk.blocking().requests.get(second.id)) or ""
        self.assertEqual(desk.paid(), ["1042 Decimal 49.5 none"])
        self.assertEqual((desk.folder / "looks").read_text(), "x")
        self.assertRegex(heard, "(?s)paid 49.5.*Not this one.*there it is.*cannot take")
        self.assertEqual(len(desk.requests()), 2)

    def test_a_request_of_another_thread_continues_none_and_forged_words_find_nothing(self) -> None:
        desk, other = Desk(), Desk()
        request = self.asked(desk)
        state = {"adapter": "langgraph", "threadId": desk.run_id}
        forged = desk.blocking().requests.create(
            summary=request.summary, notify="mallory@example.com", payload=request.payload, agent_state=state
        )
        order("approve", id=forged.id)
        self.assertEqual(self.go_on(desk, desk.blocking().requests.get(forged.id)), None)
        self.assertEqual(self.go_on(other, request), None)
        self.assertEqual(desk.paid(), [])

    def test_a_tool_that_fails_after_it_paid_does_not_pay_again(self) -> None:
        desk = Desk(fails=True)
        request = self.asked(desk)
        order("approve", id=request.id)
        with self.assertRaisesRegex(RuntimeError, "no answer from the bank"):
            self.go_on(desk, desk.only())
        self.refuses_a_second_run(desk)
        self.assertEqual(len(desk.paid()), 1)

    def test_asynchronously_it_is_the_same(self) -> None:
        from langgraph.checkpoint.memory import InMemorySaver

        async def go(desk: Desk) -> str:
            refund = tool("refund")(refund_of(desk))
            approvals = Approvals(desk.asyncio(), describe, tools=[refund])
            graph = self.graph(desk, approvals, [refund], InMemorySaver())
            config = {"configurable": {"thread_id": desk.run_id}}
            waiting = await graph.ainvoke({"messages": [("user", "Refund it")]}, config)
            self.assertEqual(desk.paid(), [])
            self.assertIn("__interrupt__", waiting)
            order("approve", id=desk.only().id, edit='{"order_id": 1, "amount": 2.50, "memo": "x"}')
            ended = await asyncio.gather(
                *(approvals.aresume(graph, desk.only()) for _ in range(3)), return_exceptions=True
            )
            (result,) = [each for each in ended if isinstance(each, dict)]
            return str(result["messages"][-1].content)

        desk = Desk()
        self.assertRegex(asyncio.run(go(desk)), r"paid 2\.50")
        self.assertEqual(desk.paid(), ["1 Decimal 2.50 x"])


@needs_service
class LangChainTest(OfLangGraph, unittest.TestCase):
    """The same for `create_agent`, which gives each call a task of its own."""

    def graph(self, desk: Desk, approvals: Approvals, tools: list[Any], saver: Any) -> Any:
        model = Scripted(calls=desk.calls)
        return create_agent(model, tools=tools, middleware=[approvals.middleware()], checkpointer=saver)

    test_of_several_calls = LangGraphTest.test_of_several_calls_none_runs_before_all_are_decided_and_each_runs_once
