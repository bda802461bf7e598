"""What an approver is shown of a tool's input, and what runs of the input that they approved: the same values, or nothing.

Frameworks check and convert an input with the tool's own schema. So it is converted before it is shown, and an approved
input that the schema would change any more does not run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from pydantic import TypeAdapter

from ..errors import InexactPayloadError
from ..exact_json import JsonNumber, stringify, with_decimals

#: The tool's own schema: gives what the tool would get of an input, and raises a ValueError or TypeError otherwise.
Check = Callable[[dict[str, Any]], Any]

#: How a framework hands a fraction to a schema that asks for a `Decimal`: as one; in JSON as a text, because a number of
#: JSON would become a float on the way; or as the float that everything else gets, too.
Decimals = Literal["decimal", "text", "float"]

CHANGED = "its schema makes something else of it than the approver sees."
_any: TypeAdapter[Any] = TypeAdapter(Any)


class Unfit(Exception):
    """Says why the tool can't run with exactly this input."""


@dataclass(frozen=True, slots=True)
class _Dumped:
    """A value as plain Python, with its numbers, and as JSON has it."""

    python: Any
    json: Any


def shown_input(arguments: Any, check: Check, *, decimals: Decimals = "decimal") -> dict[str, Any]:
    """The input as the tool would get it, defaults included, for an approver. Raises `Unfit` before anybody is asked."""
    first, second = _checked(arguments, check), _checked(arguments, check)
    shown = _exact(first)
    if not isinstance(shown, dict):
        raise Unfit("it is not an object.")
    if shown != _exact(second):
        raise Unfit("one of its defaults is another one each time, so nobody could approve it.")
    input_to_run(shown, check, decimals=decimals)
    return shown


def input_to_run(payload: Any, check: Check, *, decimals: Decimals = "decimal") -> dict[str, Any]:
    """The arguments that make exactly this payload of the tool's input. Raises `Unfit`.

    A schema that asks for a `Decimal` gets one, with the digits as approved; every other fraction is a float, if one
    holds it.
    """
    if not isinstance(payload, dict):
        raise Unfit("it is not an object.")
    kinds = _checked(_rounded(payload), check)
    handed: dict[str, Any] = _handed(payload, kinds.python, decimals)
    if not _is_same(_checked(handed, check), payload):
        raise Unfit(CHANGED)
    return handed


def _checked(arguments: Any, check: Check) -> _Dumped:
    try:
        value = check(deepcopy(arguments))
        return _Dumped(_any.dump_python(value, by_alias=True), _any.dump_python(value, mode="json", by_alias=True))
    except (ValueError, TypeError) as error:
        # pydantic_core's errors of validating and of writing are ValueErrors.
        raise Unfit(_short(error)) from None


def _short(error: Exception) -> str:
    """Pydantic's own words without the links to its documentation."""
    lines = [line for line in str(error).splitlines() if not line.lstrip().startswith("For further information")]
    return "\n".join(lines)[:2_000]


def _exact(dumped: _Dumped) -> Any:
    """As JSON, with numbers where Python has numbers: JSON of Pydantic makes texts of decimals."""
    value, shown = dumped.python, dumped.json
    if isinstance(shown, dict):
        pairs = zip(value.values(), shown.items(), strict=True)
        return {name: _exact(_Dumped(inner, each)) for inner, (name, each) in pairs}
    if isinstance(shown, list):
        items = [_exact(_Dumped(inner, each)) for inner, each in zip(value, shown, strict=True)]
        # A set of texts has another order in each process, and the same call must be the same request there.
        return sorted(items, key=stringify) if isinstance(value, (set, frozenset)) else items
    try:
        return with_decimals(value if _is_number(value) else shown)
    except InexactPayloadError as error:
        raise Unfit(str(error)) from None


def _rounded(payload: Any) -> Any:
    """Only to learn which types the schema asks for."""
    if isinstance(payload, dict):
        return {name: _rounded(each) for name, each in payload.items()}
    if isinstance(payload, list):
        return [_rounded(each) for each in payload]
    if isinstance(payload, JsonNumber):
        raise Unfit(f"no number here can be {payload.text[:80]}.")
    return float(payload) if isinstance(payload, Decimal) else payload


def _handed(payload: Any, kind: Any, decimals: Decimals) -> Any:
    if isinstance(payload, dict):
        kinds = kind if isinstance(kind, dict) else {}
        return {name: _handed(each, kinds.get(name), decimals) for name, each in payload.items()}
    if isinstance(payload, list):
        inner = list(kind) if isinstance(kind, (list, tuple)) and len(kind) == len(payload) else [None] * len(payload)
        return [_handed(each, at, decimals) for each, at in zip(payload, inner, strict=True)]
    if isinstance(kind, Decimal) and _is_number(payload) and decimals != "float":
        # Python writes no more than 4,300 digits of an int by itself.
        text = stringify(payload)
        return text if decimals == "text" else Decimal(text)
    return _float_of(payload) if isinstance(payload, Decimal) else payload


def _float_of(number: Decimal) -> float:
    rounded = float(number)
    if not math.isfinite(rounded) or Decimal(repr(rounded)) != number:
        raise Unfit(f"{str(number)[:80]} would be rounded to {rounded!r} on its way to the tool.")
    return rounded


def _is_same(dumped: _Dumped, shown: Any) -> bool:
    value, json = dumped.python, dumped.json
    if isinstance(shown, dict):
        if not isinstance(json, dict) or set(json) != set(shown):
            return False
        members = zip(value.values(), json.items(), strict=True)
        return all(_is_same(_Dumped(inner, each), shown[name]) for inner, (name, each) in members)
    if isinstance(shown, list):
        if not isinstance(json, list) or len(json) != len(shown):
            return False
        pairs = [_Dumped(*each) for each in zip(value, json, strict=True)]
        if isinstance(value, (set, frozenset)):
            return all(any(_is_same(each, at) for each in pairs) for at in shown)
        return all(_is_same(each, at) for each, at in zip(pairs, shown, strict=True))
    if _is_number(shown):
        return _is_number(value) and _number_of(value) == _number_of(shown)
    return type(json) is type(shown) and bool(json == shown)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _number_of(value: Any) -> Decimal | int:
    return Decimal(repr(value)) if isinstance(value, float) else value
