"""Puts a person before a function: it runs with the effective payload once somebody has approved, and not otherwise.

It runs at most once for each request. The payload is an object with the function's arguments by their names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._calls import Call, Options, Steps
from ._fitness import Misfit, fitted
from ._question import words_of_question, words_of_request
from ._requests import create, redeem, refuse_unknown
from ._waiting import OnVote, refuse_flawed_wait, wait_for_decision
from .contract import CREATE_NAMES, ApprovalRequest, Question, RedeemedRequest
from .errors import (
    ApprovalCancelledError,
    ApprovalExpiredError,
    ApprovalRejectedError,
    CountersignError,
    InvalidPayloadError,
)
from .exact_json import parse, stringify

#: Whom to ask, and the words beside the payload. Made of the arguments alone, so that it can be made again.
Describe = Callable[..., Question]

_QUESTION_NAMES = {name: wire for name, wire in CREATE_NAMES.items() if name != "payload"}


@dataclass(frozen=True, slots=True)
class Settings:
    """For the calls of a gated function."""

    idempotency_key: str | None = None
    timeout_seconds: float | None = None
    on_vote: OnVote | None = None

    def with_options(
        self, idempotency_key: str | None, timeout_seconds: float | None, on_vote: OnVote | None
    ) -> Settings:
        """What is None stays as it was."""
        return Settings(
            self.idempotency_key if idempotency_key is None else idempotency_key,
            self.timeout_seconds if timeout_seconds is None else timeout_seconds,
            self.on_vote if on_vote is None else on_vote,
        )


@dataclass(frozen=True, slots=True)
class Action:
    """A function behind a person, with everything that is known of it before it is called."""

    function: Callable[..., Any]
    describe: Describe
    validate: Callable[..., Any] | None
    #: The parameter that gets the redeemed request, and is no part of the payload.
    request_as: str | None
    signature: inspect.Signature

    def arguments_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)


def action_of(
    function: Callable[..., Any], describe: Describe, validate: Callable[..., Any] | None, request_as: str | None
) -> Action:
    """Refuses a function whose arguments could not be shown and handed over by their names."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("a generator function runs nothing when it is called: gate the function that acts")
    signature = inspect.signature(function)
    names = list(signature.parameters)
    if names[:1] in (["self"], ["cls"]):
        raise TypeError("gate the bound method of an object: an approver can't read an object of a class")
    if request_as is not None and request_as not in names:
        raise TypeError(f"the function has no parameter {request_as!r} for the request")
    shown = [each for each in signature.parameters.values() if each.name != request_as]
    if any(each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in shown):
        raise TypeError("the parameters of a gated function have names: none may be *args, **kwargs or positional-only")
    return Action(function, describe, validate, request_as, signature.replace(parameters=shown))


def ask(options: Options, action: Action, arguments: dict[str, Any], settings: Settings) -> Steps[ApprovalRequest]:
    # As it will be read later: the description must come out the same then.
    sent = parse(stringify(arguments, name=""))
    _refuse_unfit(action, sent, "the payload")
    question = action.describe(**sent)
    refuse_unknown(question, _QUESTION_NAMES, "a description")
    return (yield from create(options, {**question, "payload": sent}, settings.idempotency_key))


def ask_and_wait(
    options: Options, action: Action, arguments: dict[str, Any], settings: Settings
) -> Steps[ApprovalRequest]:
    refuse_flawed_wait(settings.timeout_seconds, settings.on_vote)
    request = yield from ask(options, action, arguments, settings)
    decided = yield from wait_for_decision(options, request.id, settings.timeout_seconds, settings.on_vote)
    return (yield from _prepare(action, decided))


def resume(options: Options, action: Action, request_id: str, settings: Settings) -> Steps[ApprovalRequest]:
    decided = yield from wait_for_decision(options, request_id, settings.timeout_seconds, settings.on_vote)
    _refuse_anothers(decided, action.describe)
    return (yield from _prepare(action, decided))


def redeem_for(options: Options, action: Action, approved: ApprovalRequest) -> Steps[dict[str, Any]]:
    """The arguments to run with. From here on the approval is used up, so nothing may stop on the way."""
    redeemed = yield from redeem(options, approved.id, None)
    _refuse_changed(options, approved, redeemed)
    # Read anew: `validate` had the others in its hands, and may have changed what is inside them.
    arguments = fitted(action.function, redeemed.effective_payload)
    return arguments if action.request_as is None else {**arguments, action.request_as: redeemed}


def _prepare(action: Action, request: ApprovalRequest) -> Steps[ApprovalRequest]:
    """Every check comes before the redeem, so that an approval that can't be carried out is not used up."""
    assert_approved(request)
    payload = request.effective_payload
    whose = f"the payload of {request.id}, as approved,"
    if not isinstance(payload, dict):
        raise InvalidPayloadError(whose, "it is no object with the arguments by their names")
    arguments = _refuse_unfit(action, payload, whose)
    if action.validate is not None:
        yield Call(action.validate, arguments)
    return request


def _refuse_unfit(action: Action, payload: dict[str, Any], whose: str) -> dict[str, Any]:
    """A person approved these values and no others: every argument must be there, and none more."""
    names = set(action.signature.parameters)
    if missing := names - set(payload):
        raise InvalidPayloadError(whose, f"{', '.join(sorted(missing))} is missing")
    if unknown := set(payload) - names:
        raise InvalidPayloadError(whose, f"it has no parameter {', '.join(sorted(unknown))}")
    try:
        return fitted(action.function, payload)
    except Misfit as misfit:
        raise InvalidPayloadError(whose, str(misfit)) from None


def assert_approved(request: ApprovalRequest) -> None:
    """Returns for an approved request, and raises the matching error for every other."""
    match request.status:
        case "APPROVED":
            return
        case "REJECTED":
            raise ApprovalRejectedError(request)
        case "EXPIRED":
            raise ApprovalExpiredError(request)
        case "CANCELLED":
            raise ApprovalCancelledError(request)
        case _:
            raise CountersignError(f"{request.id} is not decided yet: wait for it", code="approval_pending")


def _refuse_anothers(request: ApprovalRequest, describe: Describe) -> None:
    """An approval of one action is no approval of another with the same payload, and it counts only from the people whom
    this action asks.
    """
    expected: str | None
    try:
        expected = words_of_question(describe(**request.payload))
    except Exception:
        expected = None
    found = words_of_request(request)
    if expected != found:
        raise CountersignError(
            f"{request.id} was not asked for this action: it was {found}, and this action asks {expected or 'otherwise'}",
            code="another_action",
        )


def _refuse_changed(options: Options, request: ApprovalRequest, redeemed: RedeemedRequest) -> None:
    """A decided request never changes, so something in between has lied about one of the two."""
    if request.effective_payload_text != redeemed.effective_payload_text:
        raise CountersignError(
            f"{options.base_url} told two payloads of {request.id}: nothing was run",
            status=200,
            code="not_countersign",
        )
