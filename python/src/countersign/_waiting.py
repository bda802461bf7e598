"""Waits for a decision: consecutive long polls that survive restarts of the service and of proxies in between."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from ._calls import (
    Call,
    Options,
    Outgoing,
    Sleep,
    Steps,
    call_unless_known,
    delay_seconds,
    is_from_service,
    is_worth_another_try,
    path_of,
)
from ._requests import about
from .contract import ApprovalRequest, RecordedVote, Vote
from .errors import CountersignError, WaitTimeoutError

#: Proxies and load balancers often cut calls after a minute.
_WAIT_SECONDS_MAX = 50
#: A service that is away for so long is gone, unless the request can still be decided.
_AWAY_SECONDS_MAX = 900.0
#: The service gets this long to answer, even near the end of a wait.
_ANSWER_SECONDS_MIN = 1.0

Clock = Callable[[], float]
OnVote = Callable[[RecordedVote], Any]


def wait_for_decision(
    options: Options,
    request_id: str,
    timeout_seconds: float | None,
    on_vote: OnVote | None = None,
    *,
    monotonic: Clock | None = None,
    now: Clock | None = None,
) -> Steps[ApprovalRequest]:
    refuse_flawed_wait(timeout_seconds, on_vote)
    # Looked up at the call, so that a test can move the clock.
    monotonic, now = monotonic or time.monotonic, now or time.time
    ends_at = math.inf if timeout_seconds is None else monotonic() + timeout_seconds
    failures = early_answers = 0
    heard_at = monotonic()
    #: Unknown until the service has told of the request.
    expires_at = -math.inf
    view = _View(options, request_id, on_vote, monotonic)
    while True:
        failure: CountersignError | None = None
        pause = 0.0
        is_seen = False
        try:
            is_early = yield from view.look(max(0.0, ends_at - monotonic()))
            is_seen = True
            failures = 0
            heard_at = monotonic()
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
        if is_seen and view.request is not None:
            # Outside of the try: a failure of the caller's own function is none of the service.
            is_news = yield from view.tell_votes()
            if view.request.status != "PENDING":
                return view.request
            expires_at = _time_of(view.request.expires_at)
            # A service with too many waiting callers answers at once; an immediate retry would add to them.
            early_answers = early_answers + 1 if is_early and not is_news else 0
            pause = delay_seconds(early_answers) if early_answers > 0 else 0.0
        left = ends_at - monotonic()
        if left <= 0:
            raise WaitTimeoutError(request_id, timeout_seconds or 0) from failure
        yield Sleep(min(pause, left))


def refuse_flawed_wait(timeout_seconds: float | None, on_vote: OnVote | None = None) -> None:
    """Called before a person is asked, too: a wait that can't be begun must not leave a question behind."""
    if on_vote is not None and not callable(on_vote):
        raise TypeError("on_vote must be a function")
    if timeout_seconds is None:
        return
    is_number = isinstance(timeout_seconds, (int, float)) and not isinstance(timeout_seconds, bool)
    if not is_number or math.isnan(timeout_seconds):
        raise TypeError("timeout_seconds must be a number of seconds, or None for no limit")


def _is_passing(error: CountersignError, options: Options) -> bool:
    """While a service restarts, whatever stands before it may answer in its place: a page, a redirect, a 404."""
    return is_worth_another_try(error) or (options.contact.is_made and error.code == "not_countersign")


class _View:
    """What one wait sees of its request. With `on_vote` it sends the entity tag of what it has seen, and the service
    answers as soon as anything differs from that.
    """

    def __init__(self, options: Options, request_id: str, on_vote: OnVote | None, monotonic: Clock) -> None:
        self.request: ApprovalRequest | None = None
        self._options = options
        self._request_id = request_id
        self._on_vote = on_vote
        self._monotonic = monotonic
        self._tag: str | None = None
        self._told: set[tuple[int, Vote]] = set()

    def look(self, remaining: float) -> Steps[bool]:
        """One long poll, held for no longer than there is time. Says whether it was answered before its time."""
        # A client that never heard the service asks for an answer at once: a held call may be cut before one comes. So
        # does one who wants to know the votes that there are.
        is_watching = self._on_vote is not None
        is_first = self.request is None if is_watching else not self._options.contact.is_made
        held = 0 if is_first else int(min(_WAIT_SECONDS_MAX, remaining))
        limit = max(_ANSWER_SECONDS_MIN, min(self._options.timeout_seconds, remaining - held))
        asked_at = self._monotonic()
        known_tag = self._tag if is_watching else None
        told = yield from call_unless_known(
            replace(self._options, timeout_seconds=limit),
            Outgoing("GET", f"{path_of(self._request_id)}?wait={held}", held_seconds=held, known_tag=known_tag),
            about(self._request_id),
            self._request_id,
        )
        if told is not None:
            self.request, self._tag = told
        was_held = held > 0 and self._monotonic() - asked_at >= held / 2
        return not is_first and not was_held

    def tell_votes(self) -> Steps[bool]:
        """Each once, oldest first. Says whether there was one that it had not told before."""
        request, on_vote = self.request, self._on_vote
        if request is None or on_vote is None or request.approvals is None:
            return False
        votes = [(at, vote) for at, stage in enumerate(request.approvals.stages, 1) for vote in stage.votes]
        fresh = sorted((each for each in votes if each not in self._told), key=lambda each: each[1].at)
        for stage, vote in fresh:
            self._told.add((stage, vote))
            yield Call(on_vote, {}, (RecordedVote(vote=vote, stage=stage, request=request),))
        return bool(fresh)


def _time_of(text: str) -> float:
    """Unknown if it can't be read."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return -math.inf
