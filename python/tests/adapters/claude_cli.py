"""Stands in for Claude Code: speaks its stream-json control protocol over the SDK's own pipes.

Its model calls one tool as often as told. It asks for the hook, then for the permission, as Claude Code does, and runs an
allowed call with `updatedInput` through the SDK's in-process MCP server. Its answer repeats what the model was told.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


SERVER = os.environ.get("DESK_SERVER", "desk")


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Cli:
    def __init__(self) -> None:
        self.asked = 0
        self.hooks: dict[str, list[str]] = {}

    def receive(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if line == "":
            sys.exit(0)
        message: dict[str, Any] = json.loads(line)
        return message

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """A control request of ours, and its answer."""
        self.asked += 1
        request_id = f"cli_{self.asked}"
        send({"type": "control_request", "request_id": request_id, "request": request})
        while True:
            message = self.receive()
            if message["type"] == "control_response" and message["response"]["request_id"] == request_id:
                response: dict[str, Any] = message["response"]
                return response

    def answer(self, message: dict[str, Any]) -> None:
        if message["request"]["subtype"] == "initialize":
            for event, matchers in (message["request"].get("hooks") or {}).items():
                self.hooks[event] = [each for matcher in matchers for each in matcher["hookCallbackIds"]]
        response = {"subtype": "success", "request_id": message["request_id"], "response": {"commands": [], "hook_on_failure_supported": True}}
        send({"type": "control_response", "response": response})

    def mcp(self, method: str, params: dict[str, Any], at: int) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": at, "method": method, "params": params}
        response = self.request({"subtype": "mcp_message", "server_name": SERVER, "message": message})
        answer: dict[str, Any] = response["response"]["mcp_response"]
        return answer

    def call(self, name: str, arguments: dict[str, Any], at: int) -> str:
        tool = f"mcp__{SERVER}__{name}"
        use = f"toolu_{os.getpid()}_{at}"
        for decided in self.hear_hooks("PreToolUse", tool, arguments, use):
            assert decided["permissionDecision"] == "ask"
        permission = self.request({"subtype": "can_use_tool", "tool_name": tool, "input": arguments, "tool_use_id": use})
        if permission["subtype"] == "error":
            return f"error: {permission['error']}"
        decision = permission["response"]
        if decision["behavior"] != "allow":
            return str(decision["message"])
        result = self.mcp("tools/call", {"name": name, "arguments": decision["updatedInput"]}, 10 + at)
        told = [each["additionalContext"] for each in self.hear_hooks("PostToolUse", tool, arguments, use)]
        return "\n".join([result["result"]["content"][0]["text"], *told])

    def hear_hooks(self, event: str, tool: str, arguments: dict[str, Any], use: str) -> list[dict[str, Any]]:
        heard = []
        for hook in self.hooks.get(event, []):
            hook_input = {"hook_event_name": event, "tool_name": tool, "tool_input": arguments}
            request = {"subtype": "hook_callback", "callback_id": hook, "input": hook_input, "tool_use_id": use}
            heard.append(self.request(request)["response"].get("hookSpecificOutput"))
        return [each for each in heard if each is not None]

    def run(self) -> None:
        while (message := self.receive())["type"] != "user":
            if message["type"] == "control_request":
                self.answer(message)
        send({"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "99.0.0"})
        client = {"name": "cli", "version": "1"}
        self.mcp("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}, 1)
        self.request(
            {"subtype": "mcp_message", "server_name": SERVER, "message": {"jsonrpc": "2.0", "method": "notifications/initialized"}}
        )
        calls = json.loads(os.environ["DESK_CALLS"])
        heard = [self.call(each.pop("name", "refund"), each, at) for at, each in enumerate(calls)]
        send(
            {
                "type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False,
                "num_turns": 1, "session_id": "s", "result": "\n---\n".join(heard),
            }
        )  # fmt: skip
        while True:
            message = self.receive()
            if message["type"] == "control_request":
                self.answer(message)


Cli().run()
