"""LangGraph, with the checkpoints of a thread in a file, and LangChain's agent around the same adapter."""

from __future__ import annotations

import asyncio
import sqlite3
import unittest
from contextlib import closing
from decimal import Decimal
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, Send
from pydantic import BaseModel, ConfigDict, field_validator

from countersign import AlreadyRedeemedError, ApprovalRequest, CountersignError
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

    schema: type[BaseModel] | None = None

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
        refund = tool("refund", args_schema=self.schema)(refund_of(desk))

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

    def test_a_call_that_the_thread_knows_by_another_name_does_not_run(self) -> None:
        """Such as in a checkpoint that somebody changed: a tool without approval lends its call to one with."""
        desk = Desk()
        refund = tool("refund")(refund_of(desk))
        approvals = Approvals(desk.blocking(), describe, tools=[refund])
        call = {"name": "refund", "args": {**ONE}, "id": "call_0", "type": "tool_call"}
        told = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "call_0"}])
        context = {"__type": "tool_call_with_context", "tool_call": call, "state": {"messages": [told]}}
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([refund], wrap_tool_call=approvals.wrap_tool_call))
        builder.add_conditional_edges(START, lambda _: Send("tools", context), ["tools"])
        graph = builder.compile(checkpointer=InMemorySaver())
        with self.assertRaisesRegex(TypeError, "none of them runs"):
            graph.invoke({"messages": []}, {"configurable": {"thread_id": desk.run_id}})
        self.assertEqual(desk.paid(), [])

    def test_the_validators_and_the_settings_of_a_schema_count_before_anybody_is_asked(self) -> None:
        class InCents(BaseModel):
            order_id: int
            amount: Decimal
            memo: str = "none"

            @field_validator("amount")
            @classmethod
            def in_cents(cls, amount: Decimal) -> Decimal:
                return amount * 100

        class Limited(InCents):
            model_config = ConfigDict(extra="forbid")

            @field_validator("amount")
            @classmethod
            def in_cents(cls, amount: Decimal) -> Decimal:
                if amount > 50:
                    raise ValueError("at most 50")
                return amount

        for schema, arguments, expected in (
            (InCents, ONE, "makes something else of it than the approver sees"),
            (Limited, {**ONE, "amount": 51}, "at most 50"),
            (Limited, {**ONE, "extra": 1}, "Extra inputs are not permitted"),
        ):
            desk = Desk(calls=[arguments])
            self.schema = schema
            self.assertRegex(self.go(desk) or "", f"(?s)the tool cannot take: .*{expected}")
            self.assertEqual((desk.requests(), desk.paid()), ([], []))
        desk = Desk()
        heard = self.decided(desk, "approve", edit='{"order_id": 1042, "amount": 51, "memo": "none"}')
        self.assertRegex(heard, "(?s)approved with changes .* that the tool cannot take: .*at most 50")
        self.assertEqual(desk.paid(), [])
        desk.blocking().requests.redeem(desk.only().id)

    def test_what_langgraph_fills_in_is_neither_shown_nor_taken_from_the_model(self) -> None:
        desk = Desk(calls=[{**ONE, "state": {"messages": ["mine"]}}])

        @tool
        def refund(order_id: int, amount: Decimal, state: Annotated[Any, InjectedState], memo: str = "none") -> str:
            """Pays money back."""
            return desk.pay(order_id, amount, f"{memo} after {len(state['messages'])} messages")

        approvals = Approvals(desk.blocking(), describe, tools=[refund])
        graph = self.graph(desk, approvals, [refund], InMemorySaver())
        graph.invoke({"messages": [("user", "Refund it")]}, {"configurable": {"thread_id": desk.run_id}})
        self.assertEqual(desk.only().payload_text, '{"order_id":1042,"amount":49.5,"memo":"none"}')
        order("approve", id=desk.only().id)
        approvals.resume(graph, desk.only())
        self.assertEqual(desk.paid(), ["1042 Decimal 49.5 none after 2 messages"])

    def test_the_model_hears_of_an_edit_also_if_the_tool_answers_with_a_command(self) -> None:
        for makes_list in (False, True):
            desk = Desk()

            @tool
            def refund(order_id: int, amount: Decimal, call_id: Annotated[str, InjectedToolCallId]) -> Any:
                """Pays money back."""
                told = ToolMessage(desk.pay(order_id, amount, "none"), tool_call_id=call_id)
                command: Any = Command(update={"messages": [told]})
                return [command] if makes_list else command

            approvals = Approvals(desk.blocking(), describe, tools=[refund])
            graph = self.graph(desk, approvals, [refund], InMemorySaver())
            graph.invoke({"messages": [("user", "Refund it")]}, {"configurable": {"thread_id": desk.run_id}})
            order("approve", id=desk.only().id, edit='{"order_id": 1042, "amount": 12.5}')
            heard = approvals.resume(graph, desk.only())["messages"][-1].content
            self.assertRegex(heard, r"(?s)changed the input.*12\.5.*paid 12\.5")

    def test_a_tool_that_fails_after_it_paid_does_not_pay_again(self) -> None:
        desk = Desk(fails=True)
        request = self.asked(desk)
        order("approve", id=request.id)
        with self.assertRaisesRegex(RuntimeError, "no answer from the bank"):
            self.go_on(desk, desk.only())
        self.refuses_a_second_run(desk)
        self.assertEqual(len(desk.paid()), 1)

    def test_asynchronously_it_is_the_same(self) -> None:
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
            # One that comes when the thread has gone on gets its messages, too.
            (heard,) = {str(each["messages"][-1].content) for each in ended if isinstance(each, dict)}
            return heard

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

    def test_other_middleware_neither_repeats_an_approved_call_nor_changes_it(self) -> None:
        class Doubling(AgentMiddleware[Any, Any]):
            def wrap_tool_call(self, request: Any, handler: Any) -> Any:
                call = {**request.tool_call, "args": {**request.tool_call["args"], "amount": 99}}
                return handler(request.override(tool_call=call))

        retrying: Any = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
        for other, fails, paid in ((retrying, True, ["1042 Decimal 49.5 none"]), (Doubling(), False, [])):
            for is_last in (True, False):
                desk = Desk(fails=fails)
                refund = tool("refund")(refund_of(desk))
                approvals = Approvals(desk.blocking(), describe, tools=[refund])
                both = [approvals.middleware(), other] if is_last else [other, approvals.middleware()]
                agent: Any = create_agent(
                    Scripted(calls=desk.calls), tools=[refund], middleware=both, checkpointer=InMemorySaver()
                )
                agent.invoke({"messages": [("user", "Refund it")]}, {"configurable": {"thread_id": desk.run_id}})
                order("approve", id=desk.only().id)
                try:
                    approvals.resume(agent, desk.only())
                except CountersignError as error:
                    self.assertEqual(error.code, "another_action")
                # Before us it changes nothing: what runs is what was approved.
                self.assertEqual(desk.paid(), paid if is_last else ["1042 Decimal 49.5 none"])
                self.assertEqual(len(desk.requests()), 1)
