"""Ask a person before an agent acts: the Python client of Countersign, and the verifier of its webhooks."""

from . import exact_json, webhooks
from ._gate import assert_approved
from ._http import HttpRequest, HttpResponse
from .async_client import AsyncCountersign, AsyncGated, AsyncRequests
from .client import Countersign, Gated, Requests
from .contract import (
    ApprovalRequest,
    ApprovalRequestList,
    ApprovalStatus,
    ApproverGroup,
    CreateRequest,
    Question,
    RedeemedBy,
    RedeemedRequest,
    WebhookData,
    WebhookEvent,
)
from .errors import (
    AlreadyRedeemedError,
    ApprovalCancelledError,
    ApprovalExpiredError,
    ApprovalRejectedError,
    CountersignError,
    InexactPayloadError,
    InvalidPayloadError,
    WaitTimeoutError,
    WebhookVerificationError,
)
from .exact_json import JsonDecimal, JsonNumber
from .webhooks import construct_event

__all__ = [
    "AlreadyRedeemedError",
    "ApprovalCancelledError",
    "ApprovalExpiredError",
    "ApprovalRejectedError",
    "ApprovalRequest",
    "ApprovalRequestList",
    "ApprovalStatus",
    "ApproverGroup",
    "AsyncCountersign",
    "AsyncGated",
    "AsyncRequests",
    "Countersign",
    "CountersignError",
    "CreateRequest",
    "Gated",
    "HttpRequest",
    "HttpResponse",
    "InexactPayloadError",
    "InvalidPayloadError",
    "JsonDecimal",
    "JsonNumber",
    "Question",
    "RedeemedBy",
    "RedeemedRequest",
    "Requests",
    "WaitTimeoutError",
    "WebhookData",
    "WebhookEvent",
    "WebhookVerificationError",
    "assert_approved",
    "construct_event",
    "exact_json",
    "webhooks",
]
