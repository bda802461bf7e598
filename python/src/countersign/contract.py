"""The wire contract of /v1 as types, in Python's spelling: what an agent may send and what the service answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Required, TypedDict

ApprovalStatus = Literal["PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED"]

STATUSES: tuple[ApprovalStatus, ...] = ("PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED")


class Question(TypedDict, total=False):
    """Whom to ask, and the words beside the payload. A field that is None is not sent."""

    summary: Required[str]
    notify: Required[str]
    agent_name: str | None
    metadata: Any
    agent_state: Any
    reasoning: str | None
    recent_actions: list[str] | None
    ttl_minutes: int | None
    callback_url: str | None


class CreateRequest(Question, total=False):
    """The fields of `POST /v1/requests`."""

    payload: Any


#: The names of a create on the wire, by their names here, in the contract's order.
CREATE_NAMES = {
    "summary": "summary",
    "payload": "payload",
    "notify": "notify",
    "agent_name": "agentName",
    "metadata": "metadata",
    "agent_state": "agentState",
    "reasoning": "reasoning",
    "recent_actions": "recentActions",
    "ttl_minutes": "ttlMinutes",
    "callback_url": "callbackUrl",
}


@dataclass(frozen=True, slots=True)
class ApproverGroup:
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class RedeemedBy:
    """The API key as the dashboard names it."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Snapshot:
    """The fields that a request and a webhook's data have in common. Times are ISO 8601 texts in UTC."""

    id: str
    status: ApprovalStatus
    summary: str
    payload: Any
    #: The approver's version; None if they changed nothing.
    modified_payload: Any
    #: Execute this once the status is APPROVED.
    effective_payload: Any
    metadata: Any
    agent_state: Any
    reasoning: str | None
    recent_actions: list[str]
    agent_name: str | None
    approver_email: str | None
    approver_group: ApproverGroup | None
    resolved_at: str | None
    resolved_by_email: str | None
    resolution_note: str | None
    expires_at: str
    #: The JSON as it stands in the service's answer: the characters that the approver could read.
    payload_text: str
    modified_payload_text: str
    effective_payload_text: str
    #: Everything as the service names it, also fields that are newer than this SDK.
    wire: dict[str, Any] = field(compare=False)

    def __repr__(self) -> str:
        """Short: payloads and states can be large, and logs are read by others."""
        return f"<{type(self).__name__} {self.id} {self.status} {self.summary!r}>"


@dataclass(frozen=True, kw_only=True, repr=False)
class ApprovalRequest(Snapshot):
    """One approval request as it is created, read, listed and cancelled."""

    object: str = "approval_request"
    created_at: str


@dataclass(frozen=True, kw_only=True, repr=False)
class RedeemedRequest(ApprovalRequest):
    """The answer of a redeem: execute its `effective_payload`, once."""

    redeemed_at: str
    redeemed_by: RedeemedBy


@dataclass(frozen=True, slots=True)
class ApprovalRequestList:
    """One page of a list, newest first."""

    data: list[ApprovalRequest]
    has_more: bool
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, repr=False)
class WebhookData(Snapshot):
    """The request inside a webhook."""

    created_at_request: str


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """`event` is `request.created`, `.approved`, `.rejected`, `.expired`, `.cancelled` or `webhook.test`."""

    event: str
    created_at: str
    data: WebhookData
