"""What a model is told about a tool call: why nothing ran, or what ran if the approver changed the input or left a note."""

from __future__ import annotations

from ..contract import ApprovalRequest
from ..errors import AlreadyRedeemedError, CountersignError
from ..exact_json import stringify


def refusal_text(request: ApprovalRequest) -> str:
    """For the model, when a person said no or nobody decided."""
    note = request.resolution_note
    match request.status:
        case "REJECTED":
            why = "." if note is None else f", with this note, as a JSON string: {stringify(note)}"
            return (
                f"A person rejected this action ({request.id}){why}\n"
                "It was not carried out. Do not call this tool again for the same purpose."
            )
        case "EXPIRED":
            return (
                f"Nobody decided about this action ({request.id}) before {request.expires_at}. It was not carried out. "
                "This is not a rejection, but do not call the tool again by yourself: say that the approval is missing."
            )
        case "CANCELLED":
            return (
                f"The request to approve this action ({request.id}) was cancelled. It was not carried out. "
                "Do not call this tool again for the same purpose."
            )
        case _:
            raise ValueError(f"there is nothing to refuse: {request.id} is {request.status}")


def unfit_text(problem: str) -> str:
    """For the model, when its input is one that nobody is asked about."""
    return (
        f"This input is one that the tool cannot take: {problem}\n"
        "So nobody is asked to approve it, and it was not carried out. "
        "Call the tool again only with an input that fits."
    )


#: For the model, when a tool is called past Countersign.
UNAPPROVED_TEXT = "Countersign holds no approval of this action. It was not carried out."


def unusable_text(request: ApprovalRequest, reason: str) -> str:
    """For the model, when something was approved that the tool cannot take."""
    if is_edited(request):
        return (
            f"This action was approved with changes ({request.id}) that the tool cannot take: {reason}\n"
            "It was not carried out. Do not call the tool again with the unchanged input."
        )
    return (
        f"This action was approved as it was ({request.id}), but its input is one that the tool cannot take: {reason}\n"
        "It was not carried out."
    )


def redeemed_text(request_id: str, error: AlreadyRedeemedError) -> str:
    """For the model, when somebody else may run the tool, or has run it."""
    return (
        f"A person approved this action ({request_id}), and it was handed out to run at {error.redeemed_at} with the API "
        f"key {stringify(error.redeemed_by.name)}. This call did not run it again. It was probably carried out there, but "
        "its result is not known here. Do not call this tool again for the same purpose: check whether it took effect, "
        "or say that you cannot tell."
    )


def unreachable_text(error: CountersignError) -> str:
    """For the model, in a framework that would call the tool again if this was raised."""
    return (
        f"No approval of this action could be had ({error.code}): {error}\n"
        "It was not carried out. Do not call this tool again by yourself: say that the approval is missing."
    )


def is_edited(request: ApprovalRequest) -> bool:
    return request.effective_payload_text != request.payload_text


def told_of(request: ApprovalRequest) -> str | None:
    """None if the tool ran as the model asked and the approver said nothing."""
    note = request.resolution_note
    if is_edited(request):
        ran = (
            f"A person changed the input of this call before they approved it ({request.id}). Its input is this, and not "
            f"yours: {request.effective_payload_text}\nGo on from this input."
        )
    elif note is None:
        return None
    else:
        ran = f"A person approved this call as it was ({request.id})."
    return ran if note is None else f"{ran}\nTheir note, as a JSON string: {stringify(note)}"


def tell_with(told: str | None, result: str) -> str:
    """One text for the model."""
    return result if told is None else f"{told}\n\nResult of the tool:\n{result}"


def failure_text(request: ApprovalRequest, error: Exception) -> str:
    """For the model, in a framework that would call the tool again if this was raised. Nobody knows how far it got."""
    told = told_of(request) or f"A person approved this call ({request.id})."
    return (
        f"{told}\n\nThe tool failed:\n{type(error).__name__}: {error}\n"
        "It may have taken effect. Check that before you call it again."
    )
