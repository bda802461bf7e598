"""The calls about approval requests: create, read, list, cancel, remind, redeem, and receipts. How to wait for a decision is
next door.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, TypedDict
from urllib.parse import urlencode

from ._answers import read_list, read_receipt, read_redeemed, read_request
from ._calls import Options, Outgoing, Read, Steps, call, path_of, patient, read_key
from ._json_reading import parse_object
from ._json_writing import stringify
from .contract import (
    CREATE_NAMES,
    PART_NAMES,
    ApprovalRequest,
    ApprovalRequestList,
    ApprovalStatus,
    ExactPayload,
    RedeemedRequest,
)
from .errors import CountersignError

#: The most that the service lists on a page.
LIST_LIMIT_MAX = 100
#: Together they outlast a restart of the service.
_REDEEM_RETRIES_MIN = 8


class ListFilter(TypedDict, total=False):
    status: ApprovalStatus | None
    agent_name: str | None
    created_after: datetime | str | None
    created_before: datetime | str | None


_FILTER_NAMES = {
    "status": "status",
    "agent_name": "agentName",
    "created_after": "createdAfter",
    "created_before": "createdBefore",
}


def create(options: Options, fields: Mapping[str, Any], idempotency_key: str | None) -> Steps[ApprovalRequest]:
    outgoing = Outgoing("POST", "/v1/requests", body=body_of(fields), idempotency_key=read_key(idempotency_key))
    return (yield from call(options, outgoing, read_request, "the new request"))


def body_of(fields: Mapping[str, Any]) -> str:
    """The payload is what a person approves, so it has no floats. Nobody reads the others digit by digit."""
    refuse_unknown(fields, CREATE_NAMES, "a request")
    members = [
        f'"{name}":{stringify(_wire_of(own, fields[own]), floats="refuse" if own == "payload" else "shortest", name=own)}'
        for own, name in CREATE_NAMES.items()
        if fields.get(own) is not None
    ]
    return f"{{{','.join(members)}}}"


def _wire_of(own: str, value: Any) -> Any:
    """Stages and steps have names of their own. What is no list of them, the service refuses in its own words."""
    names = PART_NAMES.get(own)
    if names is None or not isinstance(value, (list, tuple)):
        return value
    return [_part_of(own, names, each) if isinstance(each, Mapping) else each for each in value]


def _part_of(own: str, names: Mapping[str, str], part: Mapping[str, Any]) -> dict[str, Any]:
    refuse_unknown(part, names, f"a part of {own}")
    return {names[name]: value for name, value in part.items() if value is not None}


def refuse_unknown(fields: Mapping[str, Any], known: Mapping[str, str], what: str) -> None:
    for name in fields:
        if name not in known:
            raise TypeError(f"{what} has no field {name!r}; it has {', '.join(known)}")


def get(options: Options, request_id: str) -> Steps[ApprovalRequest]:
    return (yield from call(options, Outgoing("GET", path_of(request_id)), about(request_id), request_id))


def about(request_id: str) -> Read[ApprovalRequest]:
    def read(text: str) -> ApprovalRequest | None:
        request = read_request(text)
        return request if request is not None and request.id == request_id else None

    return read


def list_page(
    options: Options, filter: Mapping[str, Any], limit: int | None = None, cursor: str | None = None
) -> Steps[ApprovalRequestList]:
    refuse_unknown(filter, _FILTER_NAMES, "a list")
    wanted = {_FILTER_NAMES[name]: _query_text(name, value) for name, value in filter.items() if value is not None}
    wanted |= {name: str(value) for name, value in (("limit", limit), ("cursor", cursor)) if value is not None}
    path = "/v1/requests" + (f"?{urlencode(wanted, errors='replace')}" if wanted else "")
    return (yield from call(options, Outgoing("GET", path), read_list, "requests"))


def _query_text(name: str, value: Any) -> str:
    if not isinstance(value, datetime):
        return str(value)
    if value.tzinfo is None:
        raise ValueError(f"{name} has no time zone, so nobody knows which time it is: give an aware datetime")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def default_approver(options: Options) -> Steps[str | None]:
    return (yield from call(options, Outgoing("GET", "/v1/default-approver"), _read_approver, "a default approver"))[0]


def _read_approver(text: str) -> tuple[str | None] | None:
    """In a tuple, because None is an answer, too."""
    members = parse_object(text)
    if "notify" not in members:
        return None
    notify = members["notify"].value
    return (notify,) if notify is None or isinstance(notify, str) else None


def cancel(options: Options, request_id: str) -> Steps[ApprovalRequest]:
    def read(text: str) -> ApprovalRequest | None:
        request = about(request_id)(text)
        return request if request is not None and request.status == "CANCELLED" else None

    try:
        return (yield from call(options, Outgoing("POST", f"{path_of(request_id)}/cancel"), read, request_id))
    except CountersignError as error:
        if error.code != "already_resolved":
            raise
        refusal = error
    # The answer to an earlier try may have been lost: then the request is cancelled already.
    request = yield from get(options, request_id)
    if request.status == "CANCELLED":
        return request
    raise refusal


def remind(options: Options, request_id: str) -> Steps[ApprovalRequest]:
    outgoing = Outgoing("POST", f"{path_of(request_id)}/remind")
    return (yield from call(options, outgoing, about(request_id), request_id))


def redeem(options: Options, request_id: str, idempotency_key: str | None) -> Steps[RedeemedRequest]:
    outgoing = Outgoing("POST", f"{path_of(request_id)}/redeem", idempotency_key=read_key(idempotency_key))
    # A redeem that is given up may have arrived, and then nobody else can run the action.
    return (
        yield from call(
            patient(options, _REDEEM_RETRIES_MIN), outgoing, lambda text: read_redeemed(text, request_id), request_id
        )
    )


def receipt(options: Options, request_id: str, embed: str | None) -> Steps[str]:
    outgoing = Outgoing("GET", f"{path_of(request_id)}/receipt" + ("" if embed is None else f"?{urlencode({'embed': embed})}"))
    what = f"the receipt of {request_id}"
    return (yield from call(options, outgoing, lambda text: read_receipt(text, request_id), what))


def effective_payload(options: Options, request_id: str) -> Steps[ExactPayload]:
    outgoing = Outgoing("GET", f"{path_of(request_id)}/effective-payload")
    return (yield from call(options, outgoing, _exact, request_id))


def _exact(text: str) -> ExactPayload:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return ExactPayload(text, digest.decode().rstrip("="))
