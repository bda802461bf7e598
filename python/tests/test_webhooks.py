"""A webhook is believed if the service sent it, just now, and unchanged: the vectors that every verifier is held to."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import unittest
from email.message import Message
from pathlib import Path
from typing import Any

from countersign import (
    CheckpointEvent,
    Countersign,
    WebhookEvent,
    WebhookVerificationError,
    construct_event,
    webhooks,
)

VECTORS = Path(os.environ.get("COUNTERSIGN_VECTORS") or Path(__file__).parents[2] / "docs" / "webhook-vectors.json")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_790_000_000
BODY = '{"event":"request.approved","createdAt":"x","data":{"id":"req_1"}}'


def sign(text: str, time: int | str = NOW, key: str = SECRET) -> str:
    return f"t={time},v1={hmac.new(key.encode(), f'{time}.{text}'.encode(), hashlib.sha256).hexdigest()}"


class Vectors(unittest.TestCase):
    @unittest.skipUnless(VECTORS.exists(), "the shared vectors are in a clone, at docs/webhook-vectors.json")
    def test_each_shared_vector_is_believed_or_refused_for_its_reason(self) -> None:
        vectors = json.loads(VECTORS.read_text("utf-8"))["vectors"]
        self.assertGreater(len(vectors), 25)
        for vector in vectors:
            for body in (vector["body"], vector["body"].encode(), bytearray(vector["body"].encode())):
                for headers in (vector["headers"], {name.lower(): [value] for name, value in vector["headers"].items()}):
                    try:
                        construct_event(body, headers, vector["secret"], now=vector["now"])
                        flaw = None
                    except WebhookVerificationError as error:
                        flaw = error.code
                    self.assertEqual(flaw, vector["flaw"], vector["name"])


class Events(unittest.TestCase):
    def flaw_of(self, *args: Any, **more: Any) -> str:
        with self.assertRaises(WebhookVerificationError) as caught:
            construct_event(*args, **{"now": NOW, **more})
        return caught.exception.code

    def test_an_event_is_read_exactly_with_the_text_that_the_approver_saw(self) -> None:
        body = '{"event":"request.approved","createdAt":"c","data":{"id":"req_1","status":"APPROVED","payload":{"a":1},"effectivePayload":{ "amount" : 12.10, "of": 9007199254740993 },"agentState":{"step":3},"createdAtRequest":"r","approverGroup":{"key":"k","name":"n"}}}'
        event = Countersign("key").webhooks.construct_event(body, sign(body), SECRET, now=NOW)
        self.assertEqual([event.event, event.created_at, event.data.created_at_request], ["request.approved", "c", "r"])
        self.assertEqual(str(event.data.effective_payload["amount"]), "12.10")
        self.assertEqual(event.data.effective_payload["of"], 9007199254740993)
        self.assertEqual(event.data.effective_payload_text, '{ "amount" : 12.10, "of": 9007199254740993 }')
        self.assertEqual(event.data.agent_state, {"step": 3})
        self.assertEqual(event.data.approver_group and event.data.approver_group.key, "k")

    def test_a_checkpoint_of_the_log_is_an_event_of_its_own_for_those_who_ask_for_these(self) -> None:
        note = "approvals.example.com/log/ws_1\n3\naGFzaA==\n\n— approvals.example.com/log/ws_1 c2ln\n"
        body = json.dumps({"event": "log.checkpoint", "createdAt": "c", "checkpoint": note})
        event = construct_event(body, sign(body), SECRET, now=NOW, checkpoints=True)
        self.assertEqual(event, CheckpointEvent("log.checkpoint", "c", note))
        approved = construct_event(BODY, sign(BODY), SECRET, now=NOW, checkpoints=True)
        assert isinstance(approved, WebhookEvent)
        self.assertEqual(approved.data.id, "req_1")
        with self.assertRaisesRegex(WebhookVerificationError, "log.checkpoint: give checkpoints=True") as unasked:
            construct_event(body, sign(body), SECRET, now=NOW)
        self.assertEqual(unasked.exception.code, "body_malformed")
        for odd in ('{"event":"log.checkpoint","createdAt":"c"}', '{"event":"log.checkpoint","checkpoint":3}'):
            self.assertEqual(self.flaw_of(odd, sign(odd), SECRET, checkpoints=True), "body_malformed")

    def test_headers_come_in_every_form_that_servers_have(self) -> None:
        message = Message()
        message["X-Service-Signature"] = sign(BODY)
        message["X-Service-Event"] = "request.approved"
        for headers in (sign(BODY), message, {"x-SERVICE-signature": sign(BODY)}, {"X-Service-Signature": (sign(BODY),)}):
            webhooks.construct_event(memoryview(BODY.encode()), headers, SECRET, now=NOW)
        twice = Message()
        twice["X-Service-Signature"] = twice["x-service-signature"] = sign(BODY)
        twice.add_header("X-Service-Signature", sign(BODY))
        self.assertEqual(self.flaw_of(BODY, twice, SECRET), "signature_malformed")
        with self.assertRaises(TypeError):
            construct_event(BODY, 5, SECRET)

    def test_while_a_secret_is_rotated_either_signature_and_either_secret_will_do(self) -> None:
        both = f"{sign(BODY, key='whsec_old')},{sign(BODY).split(',')[1]}"
        for secret in (SECRET, "whsec_old", ["whsec_other", SECRET], ("whsec_old",)):
            construct_event(BODY, both, secret, now=NOW)

    def test_a_value_that_is_no_secret_is_refused_however_it_was_signed(self) -> None:
        for wrong in ("", " ", "None", "whsec_", [""], [], None, [None], [1], b"whsec_a", [b"whsec_a"], {"whsec_a"}):
            self.assertEqual(self.flaw_of(BODY, sign(BODY, key=str(wrong) or " "), wrong), "secret_missing", wrong)

    def test_what_is_signed_but_no_event_or_was_parsed_before_is_refused(self) -> None:
        for body in ("[]", "null", "1", '{"event":1,"data":{}}', '{"event":"a","event":"b","data":{}}', '{"event":"a"}', '{"event":"a","data":[]}', '{"event":"a","data":{"x":NaN}}', "[" * 9_000):
            self.assertEqual(self.flaw_of(body, sign(body), SECRET), "body_malformed", body[:40])
        raw = b'{"event":"a\xff","data":{}}'
        signature = hmac.new(SECRET.encode(), f"{NOW}.".encode() + raw, hashlib.sha256).hexdigest()
        self.assertEqual(self.flaw_of(raw, f"t={NOW},v1={signature}", SECRET), "body_malformed")
        self.assertEqual(self.flaw_of(json.loads(BODY), sign(BODY), SECRET), "body_not_raw")
        self.assertEqual(self.flaw_of("\ud800", sign(BODY), SECRET), "signature_mismatch")

    def test_the_bounds_of_the_tolerance_are_within_it_and_it_can_be_set(self) -> None:
        for time in (NOW - 300, NOW + 300):
            construct_event(BODY, sign(BODY, time), SECRET, now=NOW)
        self.assertEqual(self.flaw_of(BODY, sign(BODY, NOW - 2), SECRET, tolerance_seconds=1), "timestamp_too_old")
        self.assertEqual(self.flaw_of(BODY, sign(BODY), SECRET, now=float("nan")), "timestamp_in_future")
        with self.assertRaises(ValueError):
            construct_event(BODY, sign(BODY), SECRET, now=NOW, tolerance_seconds=float("nan"))
        self.assertIn(self.flaw_of(BODY, sign(BODY), SECRET, now=None), ("timestamp_too_old", "timestamp_in_future"))
