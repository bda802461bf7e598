"""LangGraph and LangChain: asks a person before a tool of a `ToolNode` or an agent runs, by the graph's own `interrupt`.

The process may end while a person thinks: the thread is in the checkpointer, and the decision in the service. A thread
that is continued asks the service what was decided. The value that it is resumed with counts for nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt
from pydantic import Field, create_model

from .._calls import Options, Steps
from .._waiting import wait_for_decision
from ..contract import ApprovalRequest, WebhookData
from ..errors import AlreadyRedeemedError, CountersignError
from ._approvals import (
    Asked,
    Client,
    Describe,
    NotRun,
    Ready,
    Validate,
    ask,
    arun,
    arun_to_the_end,
    key_of,
    last_decided,
    prepare,
    read,
    redeem_for,
    run,
    validated,
)
from ._inputs import Check, Unfit, shown_input
from ._words import redeemed_text, tell_with, told_of, unfit_text

Result = ToolMessage | Command[Any]

#: In the configuration of a run that continues from a decision: another process may be at it, too.
_CONTINUES = "countersign_continues"


class Approvals:
    """Puts a person before tools:

    `approvals = Approvals(Countersign(), describe, tools=[refund])`, and then
    `ToolNode([refund], wrap_tool_call=approvals.wrap_tool_call, awrap_tool_call=approvals.awrap_tool_call)`, or
    `create_agent(model, tools=[refund], middleware=[approvals.middleware()], checkpointer=…)`.
    """

    def __init__(
        self, countersign: Client, describe: Describe, *, tools: Sequence[BaseTool], validate: Validate | None = None
    ) -> None:
        self._client = countersign
        self._options: Options = countersign._runner.options
        self._describe = describe
        self._validate = validate
        self._checks = {tool.name: _check_of(tool) for tool in tools}

    def wrap_tool_call(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Result]) -> Result:
        """For the `wrap_tool_call` of a `ToolNode`."""
        decided = run(self._client, self._decide(request))
        if isinstance(decided, Ready):
            decided = run(self._client, self._redeem(request, decided))
        if decided is None:
            return execute(request)
        if isinstance(decided, NotRun):
            return _not_run(request, decided)
        return _tell(execute(_with_arguments(request, decided)), decided)

    async def awrap_tool_call(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """For the `awrap_tool_call` of a `ToolNode`."""
        decided = await arun(self._client, self._decide(request))
        if isinstance(decided, Ready):
            decided = await arun_to_the_end(self._client, self._redeem(request, decided))
        if decided is None:
            return await execute(request)
        if isinstance(decided, NotRun):
            return _not_run(request, decided)
        return _tell(await execute(_with_arguments(request, decided)), decided)

    def middleware(self) -> Any:
        """For the `middleware` of LangChain's `create_agent`."""
        from langchain.agents.middleware import AgentMiddleware

        approvals = self

        class CountersignApproval(AgentMiddleware[Any, Any]):
            def wrap_tool_call(self, request: Any, handler: Any) -> Any:
                return approvals.wrap_tool_call(request, handler)

            async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
                return await approvals.awrap_tool_call(request, handler)

        return CountersignApproval()

    def invoke(self, graph: Any, input: Any, config: Any, **more: Any) -> Any:
        """Runs a graph, and waits here for every decision that it needs. `None` takes up a thread that was left."""
        result = graph.invoke(input, config, **more)
        while waiting := _waiting_in(graph.get_state(config)):
            for request_id in _ids_in(waiting):
                run(self._client, wait_for_decision(self._options, request_id, None))
            result = graph.invoke(_going_on(waiting), _continuing(config), **more)
        return result

    async def ainvoke(self, graph: Any, input: Any, config: Any, **more: Any) -> Any:
        result = await graph.ainvoke(input, config, **more)
        while waiting := _waiting_in(await graph.aget_state(config)):
            for request_id in _ids_in(waiting):
                await arun(self._client, wait_for_decision(self._options, request_id, None))
            result = await graph.ainvoke(_going_on(waiting), _continuing(config), **more)
        return result

    def resume(self, graph: Any, data: ApprovalRequest | WebhookData, **more: Any) -> Any:
        """Continues the thread of a verified webhook: `approvals.resume(graph, event.data)`. None if there is nothing to
        do: other calls of the thread are undecided, or it has continued already. Raises an `AlreadyRedeemedError` if
        another process got the approval: that one continues the thread, or died. `invoke(graph, None, config)` takes up
        a thread whose process died.
        """
        config = _config_of(data)
        waiting = [] if config is None else _waiting_in(graph.get_state(config))
        if not run(self._client, self._is_last(data, waiting)):
            return None
        return graph.invoke(_going_on(waiting), _continuing(config), **more)

    async def aresume(self, graph: Any, data: ApprovalRequest | WebhookData, **more: Any) -> Any:
        config = _config_of(data)
        waiting = [] if config is None else _waiting_in(await graph.aget_state(config))
        if not await arun(self._client, self._is_last(data, waiting)):
            return None
        return await graph.ainvoke(_going_on(waiting), _continuing(config), **more)

    def _decide(self, request: ToolCallRequest) -> Steps[Ready | NotRun | None]:
        """None if nobody need be asked about this call. Interrupts the thread while a call of the turn is undecided, so
        that no tool of the turn has run when LangGraph begins the node again.
        """
        turn = _turn_of(request)
        gated = [call for call in turn.calls if call["name"] in self._checks]
        asked: dict[str, ApprovalRequest | NotRun] = {}
        for call in gated:
            asked[call["id"]] = yield from self._ask(turn, call)
        pending = [each.id for each in asked.values() if not isinstance(each, NotRun) and each.status == "PENDING"]
        if pending:
            _wait_for(pending)
        mine = asked.get(turn.call_id)
        if mine is None or isinstance(mine, NotRun):
            return mine
        name = request.tool_call["name"]
        return prepare(mine, name, self._checks[name], self._validate)

    def _ask(self, turn: _Turn, call: Any) -> Steps[ApprovalRequest | NotRun]:
        name = call["name"]
        try:
            payload = shown_input(call["args"], self._checks[name])
            validated(name, payload, self._validate)
        except Unfit as problem:
            return NotRun(unfit_text(str(problem)))
        state = {"adapter": "langgraph", "threadId": turn.thread_id}
        key = key_of("langgraph", turn.thread_id, turn.message, call["id"])
        return (yield from ask(self._options, self._describe, Asked(name, payload, key, state)))

    def _redeem(self, request: ToolCallRequest, ready: Ready) -> Steps[Ready | NotRun]:
        try:
            yield from redeem_for(self._options, ready)
        except AlreadyRedeemedError as error:
            # Somebody else who got it right now continues the thread. Later nobody does, and the model must know.
            if request.runtime.config.get("configurable", {}).get(_CONTINUES) is True:
                raise
            return NotRun(redeemed_text(ready.request.id, error))
        return ready

    def _is_last(self, data: ApprovalRequest | WebhookData, waiting: list[Any]) -> Steps[bool]:
        ids = _ids_in(waiting)
        if data.id not in ids:
            return False
        requests = []
        for request_id in ids:
            requests.append((yield from read(self._options, request_id)))
        return last_decided(requests) == data.id


@dataclass(frozen=True, slots=True)
class _Turn:
    """The calls that the model made in one message."""

    thread_id: str
    message: str
    call_id: str
    calls: Sequence[Any]


def _turn_of(request: ToolCallRequest) -> _Turn:
    call = request.tool_call
    state = request.state
    messages = state if isinstance(state, list) else _messages_in(state)
    found = [
        (str(at), message)
        for at, message in enumerate(messages)
        if isinstance(message, AIMessage) and any(each["id"] == call["id"] for each in message.tool_calls)
    ]
    at, message = found[-1] if found else ("", None)
    calls = [call] if message is None else message.tool_calls
    ids = [each["id"] for each in calls]
    if None in ids or len(set(ids)) < len(ids):
        raise TypeError("each call of a model needs an id of its own, or nobody can approve it")
    names = {each["name"] for each in calls if each["id"] == call["id"]} | {request.tool.name if request.tool else call["name"]}
    if names != {call["name"]}:
        raise TypeError(f"the call {call['id']} is one of several tools ({', '.join(sorted(names))}), so none of them runs")
    thread_id = request.runtime.config.get("configurable", {}).get("thread_id")
    if thread_id is None:
        raise TypeError("only a thread can wait for a person: compile the graph with a checkpointer, and give a thread_id")
    # Some models number their calls alike in each turn; the message is another one.
    key = at if message is None or message.id is None else message.id
    return _Turn(str(thread_id), key, str(call["id"]), calls)


def _messages_in(state: Any) -> Sequence[Any]:
    messages = state.get("messages", []) if isinstance(state, dict) else getattr(state, "messages", [])
    return messages if isinstance(messages, list) else []


def _wait_for(request_ids: list[str]) -> NoReturn:
    """Returns never: a value that the thread was resumed with is no decision."""
    while True:
        interrupt({"countersign": request_ids})


def _waiting_in(state: Any) -> list[Any]:
    """The interrupts of a thread that are ours."""
    interrupts = [each for task in state.tasks for each in task.interrupts]
    return [each for each in interrupts if isinstance(each.value, dict) and "countersign" in each.value]


def _ids_in(waiting: list[Any]) -> list[str]:
    return list(dict.fromkeys(str(request_id) for each in waiting for request_id in each.value["countersign"]))


def _going_on(waiting: list[Any]) -> Command[Any]:
    return Command(resume={each.id: True for each in waiting})


def _continuing(config: Any) -> Any:
    return {**config, "configurable": {**config.get("configurable", {}), _CONTINUES: True}}


def _config_of(data: ApprovalRequest | WebhookData) -> Any:
    """None if this is not about a thread, or not decided. Any thread may be named: it goes on from its own requests only."""
    state = data.agent_state
    if data.status == "PENDING" or not isinstance(state, dict) or state.get("adapter") != "langgraph":
        return None
    return {"configurable": {"thread_id": str(state.get("threadId"))}}


def _check_of(tool: BaseTool) -> Check:
    """The tool's whole schema, because the part of it that a model is shown (`tool_call_schema`) has lost its validators
    and its configuration. A model gives none of the arguments that LangGraph itself fills in.
    """
    shown: Any = tool.tool_call_schema
    if isinstance(shown, dict):
        return lambda arguments: arguments
    whole: Any = tool.get_input_schema()
    injected = set(whole.model_fields) - set(shown.model_fields)
    absent: dict[str, Any] = {name: (Any, Field(default=None, exclude=True)) for name in injected}
    schema: Any = create_model(whole.__name__, __base__=whole, **absent) if absent else whole

    return lambda arguments: schema.model_validate(
        {name: each for name, each in arguments.items() if name not in injected}
    )


def _with_arguments(request: ToolCallRequest, ready: Ready) -> ToolCallRequest:
    call: Any = {**request.tool_call, "args": ready.arguments}
    if request.tool is None:
        return request.override(tool_call=call)
    return request.override(tool_call=call, tool=_once(request.tool, ready))


def _once(tool: BaseTool, ready: Ready) -> BaseTool:
    """The tool for one call with the input as approved. Between us and the tool there may be other middleware, such as
    LangChain's own `ToolRetryMiddleware`, which calls a tool that failed again.
    """
    calls = iter([1])

    def use(call: Any) -> None:
        given = call["args"]
        if any(name not in given or given[name] != each for name, each in ready.arguments.items()):
            raise CountersignError(f"{ready.request.id} approved another input, so nothing was run", code="another_action")
        # A race of two is decided here: one of them gets the only item.
        if next(calls, None) is None:
            raise CountersignError(
                f"{ready.request.id} approved one call of {tool.name}, and it was made: it may have taken effect. "
                "Check that before you call it again.",
                code="already_redeemed",
            )

    def invoke(input: Any, *rest: Any, **more: Any) -> Any:
        use(input)
        return tool.invoke(input, *rest, **more)

    async def ainvoke(input: Any, *rest: Any, **more: Any) -> Any:
        use(input)
        return await tool.ainvoke(input, *rest, **more)

    once = tool.model_copy()
    once.__dict__.update(invoke=invoke, ainvoke=ainvoke)
    return once


def _not_run(request: ToolCallRequest, not_run: NotRun) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=not_run.told, name=call["name"], tool_call_id=str(call["id"]), status="error")


def _tell(result: Result, ready: Ready) -> Result:
    """A tool may answer with a message, with a command that has messages, or with several of both."""
    told = told_of(ready.request)
    heard: Result = result if told is None else _tell_in(result, told)
    return heard


def _tell_in(result: Any, told: str) -> Any:
    if isinstance(result, list):
        return [_tell_in(each, told) for each in result]
    if isinstance(result, Command) and isinstance(result.update, dict) and "messages" in result.update:
        return replace(result, update={**result.update, "messages": _tell_in(result.update["messages"], told)})
    if not isinstance(result, ToolMessage):
        return result
    content: Any = result.content
    parts = tell_with(told, content) if isinstance(content, str) else [{"type": "text", "text": told}, *content]
    return result.model_copy(update={"content": parts})
