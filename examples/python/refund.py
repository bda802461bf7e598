"""Countersign from Python, with the SDK of this clone: ask, wait, redeem, and verify a webhook.

    COUNTERSIGN_API_KEY=cs_... python3 examples/python/refund.py ask
    COUNTERSIGN_API_KEY=cs_... COUNTERSIGN_WEBHOOK_SECRET=whsec_... python3 examples/python/refund.py receive

In a project of your own, install the SDK instead of the first lines: docs/python.md says how. Python 3.11 or newer.
"""

import os
import sys
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "src"))

from countersign import (  # noqa: E402
    ApprovalCancelledError,
    ApprovalExpiredError,
    ApprovalRejectedError,
    Countersign,
    CountersignError,
    Question,
    WebhookVerificationError,
    construct_event,
)

BODY_BYTES_MAX = 16 * 1024 * 1024
NOTIFY = os.environ.get("COUNTERSIGN_NOTIFY", "owner@localhost")
REFUNDS_MAX = Decimal(500)


def describe(order_id: int, amount: Decimal) -> Question:
    return {
        "summary": f"Refund order {order_id} ({amount} EUR)",
        "notify": NOTIFY,
        "agent_name": "python-example",
    }


def refuse_large(order_id: int, amount: Decimal) -> None:
    """An approver can write any amount. This is what the program does in no case."""
    if not 0 < amount <= REFUNDS_MAX:
        raise ValueError(f"{amount} EUR is no refund that this program makes; nothing was paid")


def refund(order_id: int, amount: Decimal) -> None:
    print(f"Approved. Refunding {amount} EUR for order {order_id}", flush=True)


def gated(countersign: Countersign):
    """Pays once for each request, however many processes are told of it."""
    return countersign.require_approval(describe, validate=refuse_large)(refund)


def ask() -> int:
    """Ends with 0 if it was approved, 1 if rejected, 2 if not decided, 3 if something is wrong."""
    pay = gated(Countersign())
    request = pay.ask(1042, Decimal("49.00"))
    print(f"Asked {NOTIFY} about {request.id}. The mails of a service on this machine are at /dev/mail", flush=True)
    try:
        # Another process could do this as well: it needs nothing but the id.
        pay.resume(request.id)
        return 0
    except ApprovalRejectedError as error:
        print(f"REJECTED, nothing was paid. {error.request.resolution_note or ''}".rstrip())
        return 1
    except (ApprovalExpiredError, ApprovalCancelledError) as error:
        print(f"{error.request.status}, nothing was paid.")
        return 2


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to webhooks that verify, 400 to anything else, and works afterwards."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        # One that is too long is cut, and does not verify.
        raw_body = self.rfile.read(max(0, min(length, BODY_BYTES_MAX)))
        try:
            event = construct_event(raw_body, self.headers, os.environ.get("COUNTERSIGN_WEBHOOK_SECRET", ""))
        except WebhookVerificationError as error:
            print(f"Refused: {error}", flush=True)
            self.answer(400)
            return
        print(f"Verified {event.event} about {event.data.id}", flush=True)
        # First, because the work may take longer than the sender waits.
        self.answer(204)
        if event.event == "request.approved":
            handle(event.data.id)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


def handle(request_id: str) -> None:
    """Runs only what was asked in this program's own words, of its own approver: any key can ask anybody anything."""
    try:
        gated(Countersign()).resume(request_id)
    except (CountersignError, ValueError) as trouble:
        print(f"Not paid: {trouble}", flush=True)


def receive() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver)
    print(f"Listening for webhooks on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    command = {"ask": ask, "receive": receive}.get(sys.argv[1] if len(sys.argv) > 1 else "ask")
    if command is None:
        print("usage: refund.py ask | receive", file=sys.stderr)
        sys.exit(3)
    try:
        sys.exit(command())
    except Exception as trouble:  # Python itself would end with 1, which means rejected here.
        print(f"Something is wrong: {trouble}", file=sys.stderr)
        sys.exit(3)
