"""One call to the service: sent, retried while that can help, and read.

Every call made here is safe to repeat: reads change nothing, a create and a redeem carry an idempotency key, a request
can be cancelled only once, and people are reminded once in an hour. Nothing here opens a socket or sleeps: a call is a generator that says what to do
next, and the blocking and the asyncio client each do it in their own way.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import quote

from ._answers import redeemed_by_of
from ._http import HttpRequest, HttpResponse
from .contract import ApprovalRequest
from .errors import AlreadyRedeemedError, CountersignError
from .exact_json import JsonFlaw, parse

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Send:
    """Send this, and hand back the `HttpResponse`."""

    request: HttpRequest


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    """Call a function of the user's, which may be asynchronous in the asyncio client."""

    function: Callable[..., Any]
    arguments: dict[str, Any] = field(repr=False)
    positional: tuple[Any, ...] = field(default=(), repr=False)


Step = Send | Sleep | Call
Result = TypeVar("Result")
Steps = Generator[Step, Any, Result]


@dataclass(slots=True)
class Contact:
    """Whether the service has ever answered this client: it is there, so a wait outlives its absence."""

    is_made: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    api_key: str = field(repr=False)
    base_url: str
    #: The time limit of one try; a waiting call gets the seconds of its wait on top.
    timeout_seconds: float
    retries_max: int
    contact: Contact


@dataclass(frozen=True, slots=True)
class Outgoing:
    method: str
    path: str
    body: str | None = field(default=None, repr=False)
    idempotency_key: str | None = None
    #: How long the service may hold the answer.
    held_seconds: float = 0
    #: The entity tag of the answer that the caller knows.
    known_tag: str | None = None


#: The codes with which the service refuses a call that may succeed later.
_CODES_OF_PATIENCE = ("rate_limited", "unavailable", "internal_error", "request_timeout")
_STATUSES_WORTH_ANOTHER_TRY = (408, 425, 429, 500, 502, 503, 504)
_FIRST_DELAY_SECONDS = 0.25
_LONGEST_DELAY_SECONDS = 30.0
#: Longer than anybody waits, and short enough for every timer.
_TIMER_SECONDS_MAX = 1_000_000.0

Read = Callable[[str], Answer | None]


def call(options: Options, outgoing: Outgoing, read: Read[Answer], what: str) -> Steps[Answer]:
    """The answer as `read` understands it. What `read` makes None of tells nothing of `what`, and is an error."""
    tries = 1
    while True:
        try:
            return (yield from _call_once(options, outgoing, read, what))
        except CountersignError as error:
            if not is_worth_another_try(error) or tries > options.retries_max:
                raise
            pause = delay_seconds(tries, error)
        yield Sleep(pause)
        tries += 1


def path_of(request_id: str) -> str:
    if not isinstance(request_id, str) or request_id == "":
        raise TypeError("the id of a request is a text such as req_0123…")
    # Half a character can't be in a URL, nor in an id.
    text = quote(re.sub("[\ud800-\udfff]", "\ufffd", request_id), safe="")
    # Some servers take two dots for the folder above.
    return f"/v1/requests/{text.replace('.', '%2E') if set(text) == {'.'} else text}"


def read_key(key: str | None) -> str:
    """A missing key must not become one: the text "None" would be the same request for everybody."""
    if key is None:
        return str(uuid.uuid4())
    if isinstance(key, str) and re.fullmatch(r"[\x20-\x7e]{1,255}", key):
        return key
    raise ValueError("idempotency_key must be a text of 1 to 255 printable ASCII characters")


def is_worth_another_try(error: CountersignError) -> bool:
    """Whether the same call may succeed later. A reminder may in an hour, which is no pause between two tries."""
    if error.code == "reminded_recently":
        return False
    return error.code == "connection_failed" if error.status == 0 else error.status in _STATUSES_WORTH_ANOTHER_TRY


def delay_seconds(failures: int, error: CountersignError | None = None) -> float:
    """Grows after each failure, up to half a minute, with jitter."""
    wanted = 0.0 if error is None else error._retry_after_seconds
    grown = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2.0 ** min(failures - 1, 20))
    return max(min(wanted, _LONGEST_DELAY_SECONDS), grown * (0.5 + random.random() / 2))


def is_from_service(error: CountersignError) -> bool:
    """Whether the service itself asked for patience."""
    return error._is_from_service


def not_told(options: Options, what: str) -> CountersignError:
    """The error for an answer that can't be believed."""
    return CountersignError(
        f"{options.base_url} answered, but tells nothing of {what}. Is base_url the address of a Countersign service?",
        status=200,
        code="not_countersign",
    )


def call_unless_known(
    options: Options, outgoing: Outgoing, read: Read[Answer], what: str
) -> Steps[tuple[Answer, str | None] | None]:
    """One try of a read, with the answer's entity tag. None if the answer is still the one with the known tag."""
    response = yield from _exchange(options, outgoing)
    if response.status == 304 and outgoing.known_tag is not None:
        return None
    return _read_answer(options, response, read, what), response.headers.get("etag")


def _call_once(options: Options, outgoing: Outgoing, read: Read[Answer], what: str) -> Steps[Answer]:
    response = yield from _exchange(options, outgoing)
    return _read_answer(options, response, read, what)


def _read_answer(options: Options, response: HttpResponse, read: Read[Answer], what: str) -> Answer:
    request_id = response.headers.get("x-request-id")
    if 200 <= response.status < 300:
        try:
            answer = read(response.body.decode("utf-8"))
        except (JsonFlaw, UnicodeDecodeError) as cause:
            raise CountersignError(
                f"{options.base_url} answered {response.status}, but not with JSON. "
                "Is base_url the address of a Countersign service?",
                status=response.status,
                code="not_countersign",
                request_id=request_id,
            ) from cause
        if answer is None:
            raise not_told(options, what)
        options.contact.is_made |= isinstance(answer, ApprovalRequest)
        return answer
    error = _error_of(options, response, request_id)
    if is_from_service(error):
        options.contact.is_made = True
    raise error


def _exchange(options: Options, outgoing: Outgoing) -> Steps[HttpResponse]:
    limit = min(options.timeout_seconds + outgoing.held_seconds, _TIMER_SECONDS_MAX)
    try:
        response = yield Send(_request_of(options, outgoing, limit))
    except Exception as cause:
        what = f"gave no answer within {limit:g} s" if isinstance(cause, TimeoutError) else "cannot be reached"
        raise CountersignError(
            f"{options.base_url} {what}. Is the service running, and is base_url right?", code="connection_failed"
        ) from cause
    assert isinstance(response, HttpResponse)
    return response


def _request_of(options: Options, outgoing: Outgoing, limit: float) -> HttpRequest:
    """Apart from the rest: reports of errors show the local variables on the way to them, and these hold the key."""
    headers = {"authorization": f"Bearer {options.api_key}", "accept": "application/json"}
    if outgoing.body is not None:
        headers["content-type"] = "application/json"
    if outgoing.idempotency_key is not None:
        headers["idempotency-key"] = outgoing.idempotency_key
    if outgoing.known_tag is not None:
        headers["if-none-match"] = outgoing.known_tag
    body = None if outgoing.body is None else outgoing.body.encode("utf-8")
    return HttpRequest(outgoing.method, options.base_url + outgoing.path, headers, body, limit)


def _error_of(options: Options, response: HttpResponse, request_id: str | None) -> CountersignError:
    told = _envelope_of(response.body)
    location = response.headers.get("location")
    message = told["message"] if told else _describe(response.status, options.base_url, location)
    if told is not None and isinstance(told.get("redeemedAt"), str):
        redeemed_by = redeemed_by_of(told.get("redeemedBy"))
        if redeemed_by is not None:
            return AlreadyRedeemedError(
                message,
                code=told["code"],
                status=response.status,
                request_id=request_id,
                redeemed_at=told["redeemedAt"],
                redeemed_by=redeemed_by,
            )
    code = told["code"] if told else "rate_limited" if response.status == 429 else "not_countersign"
    error = CountersignError(message, status=response.status, code=code, request_id=request_id)
    error._is_from_service = told is not None and told["code"] in _CODES_OF_PATIENCE
    seconds = response.headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", seconds):
        error._retry_after_seconds = float(seconds)
    return error


def _envelope_of(body: bytes) -> dict[str, Any] | None:
    try:
        error = parse(body.decode("utf-8")).get("error")
    except (JsonFlaw, UnicodeDecodeError, AttributeError):
        return None
    is_ours = isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "message"))
    return error if is_ours else None


def _describe(status: int, base_url: str, location: str | None) -> str:
    if location is not None:
        return f"{base_url} redirects to {location}. Set base_url to where it leads."
    return f"{base_url} answered {status}, and not as Countersign does. Is something in between, or is base_url wrong?"


def patient(options: Options, retries_min: int) -> Options:
    retries = options.retries_max
    return options if retries == 0 else replace(options, retries_max=max(retries, retries_min))
