"""Countersign from Python with the standard library alone: ask, wait, redeem, and verify a webhook.

    COUNTERSIGN_API_KEY=cs_... python3 examples/python/countersign.py ask
    COUNTERSIGN_API_KEY=cs_... COUNTERSIGN_WEBHOOK_SECRET=whsec_... python3 examples/python/countersign.py receive

Copy it into your project: create(), wait(), redeem() and construct_event() need nothing else. Python 3.9 or newer.
"""

import hashlib
import hmac
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE_URL = os.environ.get("COUNTERSIGN_BASE_URL", "http://localhost:3000").rstrip("/")
BODY_BYTES_MAX = 16 * 1024 * 1024
# Five seconds apart: a wait outlives a service that is away for a quarter of an hour, a redeem one that restarts.
WAIT_TRIES = 180
REDEEM_TRIES = 30
AGENT_NAME = "python-example"
SUMMARY = "Refund order 1042 (49.00 EUR)"
NOTIFY = os.environ.get("COUNTERSIGN_NOTIFY", "owner@localhost")


class CountersignError(Exception):
    """A call that the service refused, or that got no answer."""


class AlreadyRedeemed(CountersignError):
    """Somebody else may run the action, or has run it. This caller must not."""


class WebhookVerificationError(Exception):
    """What arrived is not a webhook that may be believed."""


def create(summary, notify, payload=None, idempotency_key=None, **more):
    """Ask for an approval. With a key of your own it can be repeated after a crash; it is never made twice."""
    body = {"summary": summary, "notify": notify, "payload": payload, **more}
    return _call("POST", "/v1/requests", body, idempotency_key or str(uuid.uuid4()))


def wait(request_id):
    """The decided request, whatever was decided. Execute effectivePayload only if status is APPROVED."""
    while True:
        asked_at = time.monotonic()
        request = _call("GET", f"/v1/requests/{request_id}?wait=50", tries=WAIT_TRIES)
        if request["status"] != "PENDING":
            return request
        # A service with too many waiting callers answers early; asked again at once, it would have more of them.
        if time.monotonic() - asked_at < 25:
            time.sleep(2)


def redeem(request_id):
    """Right before you run it: of any number of callers one gets the request, the others AlreadyRedeemed."""
    # The key names this call, so that an answer that was lost can be asked for again.
    request = _call("POST", f"/v1/requests/{request_id}/redeem", None, str(uuid.uuid4()), REDEEM_TRIES)
    # Anything in between can answer 200. Only this says that the action is ours.
    if request["id"] == request_id and request["status"] == "APPROVED" and request.get("redeemedAt"):
        return request
    raise CountersignError(f"this does not say that {request_id} was redeemed")


def to_json(value):
    """JSON that keeps every digit: a Decimal is written as it is. A float is refused, because 0.1 + 0.2 is not 0.3."""
    if isinstance(value, float):
        raise TypeError(f"{value!r} is a float, which rounds: write amounts such as Decimal('49.10')")
    if isinstance(value, Decimal):
        if value.is_finite():
            return str(value)
        raise TypeError(f"{value} is no number in JSON")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys of a JSON object are texts")
        return "{" + ",".join(f"{json.dumps(key)}:{to_json(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value)


def construct_event(raw_body, signature, secret, tolerance_seconds=300, now=None):
    """The event of a webhook, from the bytes as they arrived, the X-Service-Signature header and whsec_..."""
    if not secret:
        raise WebhookVerificationError("the signing secret is missing")
    parts = [part.strip().partition("=")[::2] for part in (signature or "").split(",")]
    times = [value for name, value in parts if name == "t"]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]):
        raise WebhookVerificationError("the signature header is not of the form t=<unix time>,v1=<hex>")
    signed = times[0].encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    candidates = [value.encode() for name, value in parts if name == "v1"]
    # Each is compared in a time that tells nothing; while a secret is rotated there are several.
    if not any([hmac.compare_digest(expected, candidate) for candidate in candidates]):
        raise WebhookVerificationError("no signature matches: another secret, or not the raw body")
    if abs((time.time() if now is None else now) - int(times[0])) > tolerance_seconds:
        raise WebhookVerificationError("signed too long ago, or in the future: a replay, or a wrong clock")
    try:
        event = json.loads(raw_body.decode(), parse_float=Decimal)
        if isinstance(event["event"], str) and isinstance(event["data"]["id"], str):
            return event
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise WebhookVerificationError("the body is signed, but it is no event of Countersign")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the API key to somebody else, whose answer would be believed."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _call(method, path, body=None, idempotency_key=None, tries=6):
    headers = {"Authorization": f"Bearer {os.environ.get('COUNTERSIGN_API_KEY', '')}"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
        headers["Content-Type"] = "application/json"
    data = None if body is None else to_json(body).encode()
    for attempt in range(tries):
        call = urllib.request.Request(BASE_URL + path, data, headers, method=method)
        try:
            with _opener.open(call, timeout=80) as answer:
                # Decimal keeps 12.10 as it is; a float would make it 12.1 and round longer numbers.
                request = json.loads(answer.read(), parse_float=Decimal)
            if isinstance(request, dict) and request.get("object") == "approval_request":
                return request
            raise CountersignError(f"this is no answer of Countersign: {request}")
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code == 409 and '"already_redeemed"' in text:
                raise AlreadyRedeemed(json.loads(text)["error"]["message"]) from None
            if error.code != 429 and error.code < 500:
                raise CountersignError(f"{error.code}: {text}") from None
            failure = f"{error.code}: {text}"
        except (OSError, ValueError, http.client.HTTPException) as error:
            failure = str(error)
        time.sleep(min(0.25 * 2 ** min(attempt, 5), 5))
    raise CountersignError(f"no answer from {BASE_URL}: {failure}")


def ask():
    """Ends with 0 if it was approved, 1 if rejected, 2 if not decided, 3 if something is wrong."""
    payload = {"orderId": 1042, "amount": Decimal("49.00")}
    request = create(SUMMARY, NOTIFY, payload, agentName=AGENT_NAME)
    print(f"Asked {NOTIFY} about {request['id']}. Open the review link in {BASE_URL}/dev/mail", flush=True)
    decided = wait(request["id"])
    if decided["status"] == "APPROVED":
        pay(decided["id"], decided["effectivePayload"])
        return 0
    note = decided["resolutionNote"] or ""
    print(f"{decided['status']}, nothing was paid. {note}".rstrip())
    return 1 if decided["status"] == "REJECTED" else 2


def pay(request_id, refund):
    """Pays once for each request, however many processes are told of it."""
    # An approver can write anything into the payload.
    if not isinstance(refund, dict) or not {"amount", "orderId"} <= refund.keys():
        raise CountersignError("it was approved with changes that are no refund; nothing was paid")
    redeem(request_id)
    print(f"Approved. Refunding {refund['amount']} EUR for order {refund['orderId']}", flush=True)


def handle(event):
    """Runs after the webhook was answered."""
    data = event["data"]
    if event["event"] != "request.approved":
        return
    if not is_own(data):
        print(f"Left alone, because this program did not ask for it: {data['id']}", flush=True)
        return
    try:
        pay(data["id"], data["effectivePayload"])
    except CountersignError as trouble:
        print(f"Not paid: {trouble}", flush=True)


def is_own(data):
    """Any key of the workspace can ask anybody, in any name: it counts if our approver was asked in our words."""
    group = data.get("approverGroup")
    asked = f"group:{group['key']}" if group else data.get("approverEmail")
    return (data.get("agentName"), data.get("summary"), asked) == (AGENT_NAME, SUMMARY, NOTIFY)


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to webhooks that verify, 400 to anything else, and works afterwards."""

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        # One that is too long is cut, and does not verify.
        raw_body = self.rfile.read(max(0, min(length, BODY_BYTES_MAX)))
        secret = os.environ.get("COUNTERSIGN_WEBHOOK_SECRET", "")
        try:
            event = construct_event(raw_body, self.headers.get("X-Service-Signature"), secret)
        except WebhookVerificationError as error:
            print(f"Refused: {error}", flush=True)
            self.answer(400)
        else:
            print(f"Verified {event['event']} about {event['data']['id']}", flush=True)
            # First, because the work may take longer than the sender waits.
            self.answer(204)
            handle(event)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


def receive():
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver)
    print(f"Listening for webhooks on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    command = {"ask": ask, "receive": receive}.get(sys.argv[1] if len(sys.argv) > 1 else "ask")
    if command is None:
        print("usage: countersign.py ask | receive", file=sys.stderr)
        sys.exit(3)
    try:
        sys.exit(command())
    except Exception as trouble:  # Python itself would end with 1, which means rejected here.
        print(f"Something is wrong: {trouble}", file=sys.stderr)
        sys.exit(3)
