"""Whether a request asks what this code asks: the same words, of the same people, by the same agent.

Everybody with a key of the workspace can ask anybody anything, and an approval by others, by fewer people, without the
signatures that this code demands, or for other executors, must not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .contract import ApprovalRequest
from .exact_json import stringify


def words_of_question(question: Mapping[str, Any]) -> str:
    """In one spelling with `words_of_request`."""
    return _words_of(
        question["summary"],
        question["notify"],
        question.get("agent_name"),
        question.get("requested_by"),
        _stages_of(question),
        audience=question.get("audience"),
        require_signature=question.get("require_signature"),
    )


def words_of_request(request: ApprovalRequest) -> str:
    group = request.approver_group
    notify = request.approver_email if group is None else f"group:{group.key}"
    approvals = request.approvals
    stages = None if approvals is None else [(each.notify, each.required) for each in approvals.stages]
    return _words_of(
        request.summary,
        notify,
        request.agent_name,
        request.requested_by,
        stages,
        audience=request.audience,
        require_signature=request.require_signature,
    )


def _words_of(
    summary: str,
    notify: str | None,
    agent_name: str | None,
    requested_by: str | None,
    stages: list[tuple[str, int]] | None,
    *,
    audience: list[str] | None,
    require_signature: bool | None,
) -> str:
    words: dict[str, Any] = {"summary": summary, "notify": notify, "agentName": agent_name}
    if requested_by is not None:
        words["requestedBy"] = requested_by
    if stages is not None:
        words["stages"] = [{"notify": whom, "required": count} for whom, count in stages]
    if audience is not None:
        words["audience"] = audience
    # False asks for nothing, like a field that isn't given.
    if require_signature is True:
        words["requireSignature"] = True
    return stringify(words)


def _stages_of(question: Mapping[str, Any]) -> list[tuple[str, int]] | None:
    """None if one person decides."""
    quorum, later = question.get("quorum"), question.get("then") or []
    if quorum is None and not later and not question.get("escalate"):
        return None
    first = {"notify": question["notify"], "quorum": quorum}
    return [(each["notify"], 1 if each.get("quorum") is None else each["quorum"]) for each in (first, *later)]
