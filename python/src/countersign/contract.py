"""The wire contract of /v1 as types, in Python's spelling: what an agent may send and what the service answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Required, TypedDict

ApprovalStatus = Literal["PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED"]

#: "slack_link" tells of the request in Slack, without its payload, and leads to the inbox.
AskingChannel = Literal["mail", "push", "slack", "slack_link", "teams"]

STATUSES: tuple[ApprovalStatus, ...] = ("PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED")


class NewStage(TypedDict, total=False):
    """A later stage: whom it asks, and how many of them must approve (by default 1)."""

    notify: Required[str]
    quorum: int | None


class Escalation(TypedDict):
    """If the current stage is still open after so many minutes, these people are asked too."""

    after_minutes: int
    notify: str


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
    #: How many different people must approve in the first stage: 1 to 20, by default 1.
    quorum: int | None
    #: Later stages, up to 4. The people of a stage are asked once the stage before it is complete.
    then: list[NewStage] | None
    #: The person for whom the agent acts. They can never approve this request.
    requested_by: str | None
    #: Whom to ask too when a stage stays open, up to 5 steps.
    escalate: list[Escalation] | None
    #: The channels by which people may be asked, "mail" among them. By default all that the workspace has.
    channels: list[AskingChannel] | None
    #: For whom receipts of this request are valid, up to 5 names. By default the workspace's id.
    audience: list[str] | None
    #: True: nobody approves without a passkey. False doesn't lower what the workspace or a group asks.
    require_signature: bool | None


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
    "quorum": "quorum",
    "then": "then",
    "requested_by": "requestedBy",
    "escalate": "escalate",
    "channels": "channels",
    "audience": "audience",
    "require_signature": "requireSignature",
}

#: The same for what `then` and `escalate` consist of.
PART_NAMES = {
    "then": {"notify": "notify", "quorum": "quorum"},
    "escalate": {"after_minutes": "afterMinutes", "notify": "notify"},
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's vote. It counts for the revision of the payload that they saw."""

    email: str
    verdict: Literal["approve", "reject"]
    revision: int
    at: str
    note: str | None
    via: str
    #: On whose behalf a delegate voted. On the wire it is `for`, which Python keeps for itself.
    for_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    notify: str
    required: int
    #: All of them: those of earlier revisions no longer count.
    votes: list[Vote]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """How far several people are with a request."""

    #: The open stage, counted from 1.
    stage: int
    #: 1 is the agent's payload; each edit by an approver makes the next.
    revision: int
    stages: list[Stage]


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
    #: None if it was not given.
    requested_by: str | None = None
    #: None if it was not given.
    channels: list[str] | None = None
    #: None if it was not given.
    audience: list[str] | None = None
    #: None if it was not given.
    require_signature: bool | None = None
    #: None unless `quorum`, `then` or `escalate` was given.
    approvals: Approvals | None = None
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
    #: The signed receipt; None while the service can't sign.
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class ExactPayload:
    """The bytes that were approved, as text, and their SHA-256 as receipts name it: base64url."""

    text: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVote:
    """What `on_vote` gets."""

    vote: Vote
    #: The stage that it belongs to, counted from 1.
    stage: int
    #: As it was when the vote was heard of: `approvals` says how far everybody is.
    request: ApprovalRequest


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
    """`event` is `request.created`, `.approved`, `.rejected`, `.expired`, `.cancelled` or `webhook.test`; for endpoints
    that name them also `request.vote_recorded`, `.stage_entered`, `.escalated`, `.reassigned` and `.unreachable`.
    """

    event: str
    created_at: str
    data: WebhookData


@dataclass(frozen=True, slots=True)
class CheckpointEvent:
    """The log's checkpoint of the day, for endpoints that name `log.checkpoint`: a signed note (c2sp.org/tlog-checkpoint)
    to keep where the operator of the service can't reach it.
    """

    event: Literal["log.checkpoint"]
    created_at: str
    checkpoint: str
