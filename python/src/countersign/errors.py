"""The errors, as classes that a caller can tell apart.

A refused approval, a wait that took too long and a failed call are three different things, and none is ever reported as
another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contract import ApprovalRequest, RedeemedBy

__all__ = [
    "AlreadyRedeemedError",
    "ApprovalCancelledError",
    "ApprovalExpiredError",
    "ApprovalRejectedError",
    "CountersignError",
    "InexactPayloadError",
    "InvalidPayloadError",
    "WaitTimeoutError",
    "WebhookVerificationError",
]


class CountersignError(Exception):
    """A call that the service refused, or that got no answer."""

    #: The HTTP status, or 0 if there was no answer.
    status: int
    #: A stable word: one of the service's codes, or one of the SDK's own.
    code: str
    #: The `X-Request-Id` of the call: the operator finds it in the service's log.
    request_id: str | None
    _retry_after_seconds: float = 0.0
    #: Its envelope has one of our codes. Something in between may answer in the service's place.
    _is_from_service: bool = False

    def __init__(self, message: str, *, code: str, status: int = 0, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id

    @property
    def message(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pool of processes hands errors on pickled."""
        return (_restore, (type(self), self.args, self.__dict__.copy()))


def _restore(kind: type[CountersignError], args: tuple[Any, ...], state: dict[str, Any]) -> CountersignError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class ApprovalRejectedError(CountersignError):
    """The approver said no. Their reason, if they gave one, is `request.resolution_note`."""

    request: ApprovalRequest

    def __init__(self, request: ApprovalRequest) -> None:
        note = "" if request.resolution_note is None else f": {request.resolution_note}"
        super().__init__(f"{request.id} was rejected{note}", code="approval_rejected")
        self.request = request


class ApprovalExpiredError(CountersignError):
    """Nobody decided in time. This is not a "no": asking again is fine."""

    request: ApprovalRequest

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"nobody decided about {request.id} before {request.expires_at}", code="approval_expired")
        self.request = request


class ApprovalCancelledError(CountersignError):
    """The request was cancelled."""

    request: ApprovalRequest

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"{request.id} was cancelled", code="approval_cancelled")
        self.request = request


class AlreadyRedeemedError(CountersignError):
    """Somebody else may run the action, or has run it. This call must not."""

    redeemed_at: str
    #: The API key with which it was redeemed.
    redeemed_by: RedeemedBy

    def __init__(
        self,
        message: str,
        *,
        redeemed_at: str,
        redeemed_by: RedeemedBy,
        code: str = "already_redeemed",
        status: int = 409,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, code=code, status=status, request_id=request_id)
        self.redeemed_at = redeemed_at
        self.redeemed_by = redeemed_by


class InexactPayloadError(CountersignError):
    """A value of the payload would not be the one that a person approved. Nothing was sent, or nothing was redeemed."""

    def __init__(self, value: str, why: str, key: str = "") -> None:
        place = value if key == "" else f"{key}: {value}"
        super().__init__(
            f"the payload has a value that would not run as it was approved: {place}. {why}.", code="inexact_payload"
        )


class InvalidPayloadError(CountersignError):
    """The payload, or what the approver made of it, is not what the action takes. Nothing was sent, or nothing was run."""

    def __init__(self, whose: str, problem: str) -> None:
        super().__init__(f"{whose} is not what this action takes: {problem}", code="invalid_payload")


class WaitTimeoutError(CountersignError):
    """Only your own `timeout_seconds` is over: keep waiting with the request's id, now or in another process."""

    approval_id: str

    def __init__(self, approval_id: str, timeout_seconds: float) -> None:
        super().__init__(
            f"no decision about {approval_id} was heard of within {timeout_seconds:g} s. That is no answer: "
            f'call wait_for_decision("{approval_id}") to wait on.',
            code="wait_timeout",
        )
        self.approval_id = approval_id


class WebhookVerificationError(CountersignError):
    """The webhook can't be trusted. `code` says why: `signature_missing`, `signature_malformed`, `timestamp_too_old`,
    `timestamp_in_future`, `signature_mismatch`, `body_not_raw`, `body_malformed`, `event_mismatch` or `secret_missing`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code=code)
