"""JSON without loss, in both directions: a person approves the digits that they read, so nothing may run with others.

Whole numbers are `int`, beyond 100,000 digits `JsonDecimal`. Numbers with a fraction or an exponent are `JsonDecimal`, a `Decimal` that keeps its
own spelling. Duplicate keys, NaN and Infinity are refused.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from ._json_numbers import JsonDecimal, JsonFlaw, JsonNumber
from ._json_reading import parse
from ._json_writing import stringify
from .errors import InexactPayloadError

__all__ = ["JsonDecimal", "JsonFlaw", "JsonNumber", "parse", "stringify", "with_decimals", "with_floats"]


def with_decimals(value: Any) -> Any:
    """The same value with each float as the number that Python prints for it, for values that were parsed elsewhere."""
    return parse(stringify(value, floats="shortest"))


def with_floats(value: Any) -> Any:
    """The same value with floats for code that can't take a `Decimal`. Raises `InexactPayloadError` if one would be rounded."""
    if isinstance(value, dict):
        return {name: with_floats(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_floats(each) for each in value]
    if isinstance(value, JsonNumber):
        raise InexactPayloadError(value.text, "No float can hold it")
    if not isinstance(value, Decimal):
        return value
    number = float(value)
    if not math.isfinite(number) or Decimal(repr(number)) != value:
        raise InexactPayloadError(str(value), f"As a float it would be {number!r}")
    return number
