"""Claude Agent SDK over its real transport, with a stand-in for Claude Code: the call waits in its process."""

from __future__ import annotations

import asyncio
import json
import sys
import unittest
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    ToolPermissionContext,
    create_sdk_mcp_server,
    query,
    tool,
)
from pydantic import BaseModel, ConfigDict

from countersign import ApprovalRequest
from countersign.adapters.claude_agent import Approvals

from ..trying import needs_service, order
from .desk import ONE, Desk, approving, describe, refuse_memo, until
from .promises import Promises


class Refund(BaseModel):
    model_config = ConfigDict(extra="forbid")
    order_id: int
    amount: float
    memo: str = "none"


def describe_plainly(name: str, arguments: dict[str, Any]) -> Any:
    return describe(name.removeprefix("mcp__desk__"), arguments)


@needs_service
class ClaudeAgentTest(Promises, unittest.TestCase):
    waits_inside = True
    #: Claude Code is a program in JavaScript.
    carries_big_numbers = False
    number = "float"

    def options(self, desk: Desk, run_id: str | None) -> ClaudeAgentOptions:
        approvals = Approvals(
            desk.asyncio(),
            describe_plainly,
            tools=["mcp__desk__refund"],
            schemas={"mcp__desk__refund": Refund},
            validate=refuse_memo,
            run_id=run_id,
        )

        @tool("refund", "Pays money back", {"order_id": int, "amount": float, "memo": str})
        async def refund(arguments: dict[str, Any]) -> dict[str, Any]:
            text = desk.pay(arguments["order_id"], arguments["amount"], arguments["memo"])
            return {"content": [{"type": "text", "text": text}]}

        cli = desk.folder / "claude"
        cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent / "claude_cli.py"}"\n')
        cli.chmod(0o755)
        return ClaudeAgentOptions(
            cli_path=cli,
            mcp_servers={"desk": create_sdk_mcp_server("desk", tools=[refund])},
            can_use_tool=approvals.can_use_tool,
            hooks=approvals.hooks(),
            env={"DESK_CALLS": json.dumps(desk.calls)},
        )

    def go(self, desk: Desk, *, has_id: bool = True) -> str | None:
        async def go() -> str | None:
            options = self.options(desk, desk.run_id if has_id else None)
            heard = None
            async for message in query(prompt="Refund it", options=options):
                heard = message.result if isinstance(message, ResultMessage) else heard
            return heard

        return asyncio.run(go())

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        """The same run, begun again."""
        return self.go(desk)

    def refuses_a_second_run(self, desk: Desk) -> None:
        self.assertRegex(self.go(desk) or "", "handed out to run.*did not run it again")

    def test_the_same_call_twice_in_a_run_is_two_questions(self) -> None:
        desk = Desk(calls=[ONE, ONE])
        with approving(desk, 2):
            self.assertEqual(self.go(desk), "paid 49.5\n---\npaid 49.5")
        self.assertEqual(len(desk.requests()), 2)

    def test_without_an_id_of_the_run_every_run_asks(self) -> None:
        desk = Desk()
        for verdict in ("approve", "reject"):
            order("decide next", key=desk.key, verdict=verdict)
            self.go(desk, has_id=False)
        self.assertEqual(len(desk.requests()), 2)
        self.assertEqual(len(desk.paid()), 1)

    def test_a_run_that_is_cancelled_cancels_its_question_unless_it_can_be_begun_again(self) -> None:
        async def go(desk: Desk, run_id: str | None) -> None:
            client = desk.asyncio()
            runner, sent = client._runner, list[object]()
            send = runner._send

            async def counted(request: Any) -> Any:
                sent.append(request)
                return await send(request)

            runner._send = counted
            approvals = Approvals(client, describe, run_id=run_id)
            waiting = asyncio.create_task(approvals.can_use_tool("refund", ONE, ToolPermissionContext()))
            # A run that ends before it has heard which question it asked can't cancel it.
            await asyncio.to_thread(until, lambda: len(sent) > 1, "the agent waits for its question")
            waiting.cancel()
            await asyncio.wait([waiting])
            self.assertTrue(waiting.cancelled())

        for run_id, status in ((None, "CANCELLED"), ("one", "PENDING")):
            desk = Desk()
            asyncio.run(go(desk, run_id))
            self.assertEqual(desk.only().status, status)

    def test_a_tool_that_nobody_can_be_asked_about_is_denied(self) -> None:
        desk = Desk()
        approvals = Approvals(desk.asyncio(), describe, tools=["refund"])
        denied = asyncio.run(approvals.can_use_tool("Bash", {"command": "ls"}, ToolPermissionContext()))
        self.assertEqual(denied.behavior, "deny")
        self.assertEqual(desk.requests(), [])
