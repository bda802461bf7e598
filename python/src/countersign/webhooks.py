"""Verifies webhooks: that the service sent it, just now, and unchanged."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from ._answers import read_event
from .contract import CheckpointEvent, WebhookEvent
from .errors import WebhookVerificationError
from .exact_json import JsonFlaw

__all__ = ["construct_event"]

#: The body as it arrived: its bytes, or the text of exactly these bytes.
RawBody = bytes | bytearray | memoryview | str
#: The value of `X-Service-Signature`, or all headers: then `X-Service-Event` is compared with the body, too.
SignatureHeader = str | None | Mapping[str, Any] | Any

_SIGNATURE_NAME = "x-service-signature"
_EVENT_NAME = "x-service-event"


@overload
def construct_event(
    raw_body: RawBody,
    headers: SignatureHeader,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
    checkpoints: Literal[False] = False,
) -> WebhookEvent: ...


@overload
def construct_event(
    raw_body: RawBody,
    headers: SignatureHeader,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
    checkpoints: Literal[True],
) -> WebhookEvent | CheckpointEvent: ...


def construct_event(
    raw_body: RawBody,
    headers: SignatureHeader,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
    checkpoints: bool = False,
) -> WebhookEvent | CheckpointEvent:
    """The event, or a `WebhookVerificationError`. Pass the raw body: Flask's `request.get_data()`, Django's
    `request.body`, FastAPI's `await request.body()`. During a rotation, pass both secrets.

    `tolerance_seconds` are the most between the time of sending and now (Unix time), in either direction.
    `checkpoints=True` also takes the body of `log.checkpoint`, which is about no request: a `CheckpointEvent`.
    """
    body = _bytes_of(raw_body)
    timestamp, candidates = _read_signature(_header_of(headers, _SIGNATURE_NAME))
    _refuse_wrong_time(timestamp, time.time() if now is None else now, tolerance_seconds)
    if not _is_signed(body, timestamp, candidates, _secrets_of(secret)):
        raise WebhookVerificationError(
            "signature_mismatch",
            "no signature matches. Either the secret is not this endpoint's, or the body is not the raw one: bytes that "
            "were parsed and written again as JSON are other bytes. Give the body as it arrived.",
        )
    event = _read_event(body, _header_of(headers, _EVENT_NAME))
    if isinstance(event, CheckpointEvent) and not checkpoints:
        raise WebhookVerificationError("body_malformed", "the body is a log.checkpoint: give checkpoints=True")
    return event


def _read_signature(text: str | None) -> tuple[str, list[str]]:
    """`t=<unix time>,v1=<hex>`, with one `v1` for each live secret."""
    if text is None or text == "":
        raise WebhookVerificationError("signature_missing", "there is no X-Service-Signature header")
    pairs = [(name.strip(), value.strip()) for name, _, value in (part.partition("=") for part in text.split(","))]
    times = [value for name, value in pairs if name == "t"]
    candidates = [value for name, value in pairs if name == "v1"]
    if len(times) != 1 or re.fullmatch(r"[0-9]{1,12}", times[0]) is None or not candidates:
        raise WebhookVerificationError(
            "signature_malformed", "the X-Service-Signature header is not of the form t=<unix time>,v1=<hex>"
        )
    return times[0], candidates


def _refuse_wrong_time(timestamp: str, now: float, tolerance_seconds: float) -> None:
    if not tolerance_seconds >= 0:
        raise ValueError("tolerance_seconds must be a number from 0")
    age = now - int(timestamp)
    if age > tolerance_seconds:
        raise WebhookVerificationError(
            "timestamp_too_old",
            f"this was signed {age:.0f} s ago, more than {tolerance_seconds:g} s: a replay, or a clock that is wrong",
        )
    # Also for a time that is no number.
    if not age >= -tolerance_seconds:
        raise WebhookVerificationError(
            "timestamp_in_future",
            f"this was signed {-age:.0f} s in the future, more than {tolerance_seconds:g} s: is this machine's clock right?",
        )


def _is_signed(body: bytes, timestamp: str, candidates: list[str], secrets: list[str]) -> bool:
    """Makes one signature per secret, however many arrived: its cost grows with the body."""
    is_found = False
    given = [candidate.encode("utf-8", "surrogatepass") for candidate in candidates]
    for secret in secrets:
        signature = hmac.new(
            secret.encode("utf-8", "surrogatepass"), timestamp.encode("ascii") + b"." + body, hashlib.sha256
        )
        right = signature.hexdigest().encode("ascii")
        # Takes the same time wherever they differ.
        for candidate in given:
            is_found = hmac.compare_digest(candidate, right) or is_found
    return is_found


def _read_event(body: bytes, announced: str | None) -> WebhookEvent | CheckpointEvent:
    try:
        event = read_event(body.decode("utf-8"))
    except (JsonFlaw, UnicodeDecodeError):
        event = None
    if event is None:
        raise WebhookVerificationError("body_malformed", "the body is signed, but it is no event of Countersign")
    if announced is not None and announced != event.event:
        raise WebhookVerificationError(
            "event_mismatch",
            f"the X-Service-Event header says {announced}, and the body that was signed says {event.event}",
        )
    return event


def _bytes_of(raw_body: Any) -> bytes:
    if isinstance(raw_body, str):
        return raw_body.encode("utf-8", "surrogatepass")
    if isinstance(raw_body, (bytes, bytearray, memoryview)):
        return bytes(raw_body)
    raise WebhookVerificationError(
        "body_not_raw",
        "the body was parsed already. Give the raw bytes, as request.get_data(), request.body or await request.body() "
        "have them: what is signed are the bytes, and they cannot be made again from the parsed value.",
    )


def _secrets_of(secret: Any) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else secret
    is_list = isinstance(secrets, Sequence) and not isinstance(secrets, (bytes, bytearray)) and len(secrets) > 0
    # With an empty secret, or the text "None", anybody could sign.
    if not is_list or not all(isinstance(each, str) and re.match(r"whsec_.", each) for each in secrets):
        raise WebhookVerificationError("secret_missing", "the signing secret must be the whsec_… that was shown")
    return list(secrets)


def _header_of(headers: Any, name: str) -> str | None:
    if headers is None:
        return None
    if isinstance(headers, str):
        return headers if name == _SIGNATURE_NAME else None
    if not hasattr(headers, "items"):
        raise TypeError("headers must be the X-Service-Signature header, or all headers by their names")
    values = [each for key, value in headers.items() if str(key).lower() == name for each in _texts_of(value)]
    return ",".join(values) if values else None


def _texts_of(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]
