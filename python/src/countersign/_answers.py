"""Reads answers, and says which may be believed.

Any server can answer 200 with JSON, and a proxy may answer in the service's place: what doesn't say that the thing was
done to this request is no answer.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, TypeVar

from ._json_numbers import JsonFlaw
from ._json_reading import Member, Members, parse_object, parse_objects
from .contract import (
    STATUSES,
    ApprovalRequest,
    ApprovalRequestList,
    Approvals,
    ApproverGroup,
    CheckpointEvent,
    RedeemedBy,
    RedeemedRequest,
    Snapshot,
    Stage,
    Vote,
    WebhookData,
    WebhookEvent,
)

AnySnapshot = TypeVar("AnySnapshot", bound=Snapshot)

_missing = Member(None, "null")


def read_request(text: str) -> ApprovalRequest | None:
    """None if this is no answer about a request."""
    members = _object(text)
    return None if members is None or not _is_request(members) else _request(members)


def read_redeemed(text: str, request_id: str) -> RedeemedRequest | None:
    """Believed wrongly, an action would run that nobody has redeemed, and could run again elsewhere."""
    members = _object(text)
    if members is None or not _is_request(members) or "effectivePayload" not in members:
        return None
    redeemed_at = _value(members, "redeemedAt")
    redeemed_by = redeemed_by_of(_value(members, "redeemedBy"))
    is_ours = _value(members, "id") == request_id and _value(members, "status") == "APPROVED"
    if not is_ours or not isinstance(redeemed_at, str) or redeemed_by is None:
        return None
    more: dict[str, Any] = {"created_at": _text(members, "createdAt"), "redeemed_at": redeemed_at, "redeemed_by": redeemed_by}
    receipt = _value(members, "receipt")
    more["receipt"] = receipt if isinstance(receipt, str) else None
    return _snapshot(RedeemedRequest, members, more)


def read_receipt(text: str, request_id: str) -> str | None:
    """A token in the compact form whose subject is this request. Whether its signature is good is the verifier's question."""
    found = re.fullmatch(r"[\w-]+\.([\w-]+)\.[\w-]+", text, re.ASCII)
    if found is None:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4)))
    except ValueError:
        return None
    return text if isinstance(claims, dict) and claims.get("sub") == request_id else None


def read_list(text: str) -> ApprovalRequestList | None:
    members = _object(text)
    if members is None or not isinstance(_value(members, "data"), list):
        return None
    try:
        rows = parse_objects(members["data"].text)
    except JsonFlaw:
        return None
    if not all(map(_is_request, rows)):
        return None
    cursor = _value(members, "nextCursor")
    return ApprovalRequestList(
        data=[_request(row) for row in rows],
        has_more=_value(members, "hasMore") is True,
        next_cursor=cursor if isinstance(cursor, str) else None,
    )


def read_event(text: str) -> WebhookEvent | CheckpointEvent | None:
    """Raises `JsonFlaw` for what is no JSON."""
    members = parse_object(text)
    event = _value(members, "event")
    if event == "log.checkpoint":
        checkpoint = _value(members, "checkpoint")
        is_note = isinstance(checkpoint, str)
        return CheckpointEvent("log.checkpoint", _text(members, "createdAt"), checkpoint) if is_note else None
    if not isinstance(event, str) or not isinstance(_value(members, "data"), dict):
        return None
    data = parse_object(members["data"].text)
    more = {"created_at_request": _text(data, "createdAtRequest")}
    return WebhookEvent(event, _text(members, "createdAt"), _snapshot(WebhookData, data, more))


def redeemed_by_of(value: Any) -> RedeemedBy | None:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None
    return RedeemedBy(value["id"], str(value.get("name", "")))


def _object(text: str) -> Members | None:
    return parse_object(text) if text.lstrip(" \t\r\n")[:1] == "{" else None


def _is_request(members: Members) -> bool:
    return isinstance(_value(members, "id"), str) and _value(members, "status") in STATUSES


def _request(members: Members) -> ApprovalRequest:
    return _snapshot(ApprovalRequest, members, {"created_at": _text(members, "createdAt")})


def _snapshot(kind: type[AnySnapshot], members: Members, more: dict[str, Any]) -> AnySnapshot:
    def value(name: str) -> Any:
        return _value(members, name)

    return kind(
        id=value("id"),
        status=value("status"),
        summary=_text(members, "summary"),
        payload=value("payload"),
        modified_payload=value("modifiedPayload"),
        effective_payload=value("effectivePayload"),
        metadata=value("metadata"),
        agent_state=value("agentState"),
        reasoning=value("reasoning"),
        recent_actions=value("recentActions") or [],
        agent_name=value("agentName"),
        approver_email=value("approverEmail"),
        approver_group=_group_of(value("approverGroup")),
        resolved_at=value("resolvedAt"),
        resolved_by_email=value("resolvedByEmail"),
        resolution_note=value("resolutionNote"),
        expires_at=_text(members, "expiresAt"),
        requested_by=value("requestedBy"),
        channels=value("channels"),
        audience=value("audience"),
        require_signature=value("requireSignature"),
        approvals=_approvals_of(value("approvals")),
        payload_text=members.get("payload", _missing).text,
        modified_payload_text=members.get("modifiedPayload", _missing).text,
        effective_payload_text=members.get("effectivePayload", _missing).text,
        wire={name: member.value for name, member in members.items()},
        **more,
    )


def _value(members: Members, name: str) -> Any:
    return members.get(name, _missing).value


def _text(members: Members, name: str) -> str:
    value = _value(members, name)
    return value if isinstance(value, str) else ""


def _group_of(value: Any) -> ApproverGroup | None:
    if not isinstance(value, dict):
        return None
    return ApproverGroup(str(value.get("key", "")), str(value.get("name", "")))


def _approvals_of(value: Any) -> Approvals | None:
    """Raises `JsonFlaw` for what has another form: taken for nothing, it would pass for a question to one person."""
    if value is None:
        return None
    try:
        stages = [
            Stage(notify=each["notify"], required=each["required"], votes=[_vote_of(vote) for vote in each["votes"]])
            for each in value["stages"]
        ]
        return Approvals(stage=value["stage"], revision=value["revision"], stages=stages)
    except (KeyError, TypeError, AttributeError):
        raise JsonFlaw("approvals has another form than the service's") from None


def _vote_of(vote: Any) -> Vote:
    return Vote(
        email=vote["email"],
        verdict=vote["verdict"],
        revision=vote["revision"],
        at=vote["at"],
        note=vote["note"],
        via=vote["via"],
        for_email=vote["for"],
    )
