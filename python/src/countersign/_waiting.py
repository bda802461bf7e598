"""Waits for a decision: consecutive long polls that survive restarts of the service and of proxies in between."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from ._calls import (
    Options,
    Outgoing,
    Sleep,
    Steps,
    call,
    delay_seconds,
    is_from_service,
    is_worth_another_try,
    path_of,
)
from ._requests import about
from .contract import ApprovalRequest
from .errors import CountersignError, WaitTimeoutError

#: Proxies and load balancers often cut calls after a minute.
_WAIT_SECONDS_MAX = 50
#: A service that is away for so long is gone, unless the request can still be decided.
_AWAY_SECONDS_MAX = 900.0
#: The service gets this long to answer, even near the end of a wait.
_ANSWER_SECONDS_MIN = 1.0

Clock = Callable[[], float]


def wait_for_decision(
    options: Options,
    request_id: str,
    timeout_seconds: float | None,
    *,
    monotonic: Clock | None = None,
    now: Clock | None = None,
) -> Steps[ApprovalRequest]:
    refuse_flawed_wait(timeout_seconds)
    # Looked up at the call, so that a test can move the clock.
    monotonic, now = monotonic or time.monotonic, now or time.time
    ends_at = math.inf if timeout_seconds is None else monotonic() + timeout_seconds
    failures = early_answers = 0
    heard_at = monotonic()
    #: Unknown until the service has told of the request.
    expires_at = -math.inf
    while True:
        failure: CountersignError | None = None
        try:
            request, is_early = yield from _look(options, request_id, max(0.0, ends_at - monotonic()), monotonic)
            if request.status != "PENDING":
                return request
            failures = 0
            heard_at = monotonic()
            expires_at = _time_of(request.expires_at)
            # A service with too many waiting callers answers at once; an immediate retry would add to them.
            early_answers = early_answers + 1 if is_early else 0
            pause = delay_seconds(early_answers) if is_early else 0.0
        except CountersignError as error:
            failures += 1
            if is_from_service(error):
                heard_at = monotonic()
            if not _is_passing(error, options):
                raise
            # Until the service was heard, its address may be wrong.
            is_away = monotonic() - heard_at > _AWAY_SECONDS_MAX and now() > expires_at
            if is_away if options.contact.is_made else failures > options.retries_max:
                raise
            pause = delay_seconds(failures, error)
            failure = error
        left = ends_at - monotonic()
        if left <= 0:
            raise WaitTimeoutError(request_id, timeout_seconds or 0) from failure
        yield Sleep(min(pause, left))


def refuse_flawed_wait(timeout_seconds: float | None) -> None:
    """Called before a person is asked, too: a wait that can't be begun must not leave a question behind."""
    if timeout_seconds is None:
        return
    is_number = isinstance(timeout_seconds, (int, float)) and not isinstance(timeout_seconds, bool)
    if not is_number or math.isnan(timeout_seconds):
        raise TypeError("timeout_seconds must be a number of seconds, or None for no limit")


def _is_passing(error: CountersignError, options: Options) -> bool:
    """While a service restarts, whatever stands before it may answer in its place: a page, a redirect, a 404."""
    return is_worth_another_try(error) or (options.contact.is_made and error.code == "not_countersign")


def _look(options: Options, request_id: str, remaining: float, monotonic: Clock) -> Steps[tuple[ApprovalRequest, bool]]:
    """One long poll, held for no longer than there is time."""
    # A client that never heard the service asks for an answer at once: a held call may be cut before one comes.
    is_first = not options.contact.is_made
    held = 0 if is_first else int(min(_WAIT_SECONDS_MAX, remaining))
    limit = max(_ANSWER_SECONDS_MIN, min(options.timeout_seconds, remaining - held))
    asked_at = monotonic()
    request = yield from call(
        replace(options, retries_max=0, timeout_seconds=limit),
        Outgoing("GET", f"{path_of(request_id)}?wait={held}", held_seconds=held),
        about(request_id),
        request_id,
    )
    was_held = held > 0 and monotonic() - asked_at >= held / 2
    return request, not is_first and not was_held


def _time_of(text: str) -> float:
    """Unknown if it can't be read."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return -math.inf
