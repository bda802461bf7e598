"""Writes JSON exactly, or says which value JSON would change."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from ._json_numbers import JsonDecimal, JsonNumber, digits_of
from .errors import InexactPayloadError

#: Deeper values are refused before they are sent. The service refuses them at 128 levels and names the field.
DEPTH_MAX = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINED_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def stringify(value: Any, *, floats: Literal["refuse", "shortest"] = "refuse", name: str = "") -> str:
    """The JSON text of a value, exactly; raises `InexactPayloadError` for everything that JSON would change.

    A float is refused, because 0.1 + 0.2 is not 0.3; "shortest" writes it as Python prints it.
    """
    pieces: list[str] = []
    _write(value, pieces.append, _Place(name, floats == "shortest", 0))
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    takes_floats: bool
    depth: int

    def at(self, name: str) -> _Place:
        path = name if self.name == "" else f"{self.name}{name if name.startswith('[') else '.' + name}"
        return _Place(path, self.takes_floats, self.depth + 1)


def _write(value: Any, put: Callable[[str], None], place: _Place) -> None:
    if value is None or value is True or value is False:
        put(_constants[value])
    elif isinstance(value, str):
        put(_string_of(value, place))
    elif isinstance(value, int):
        put(digits_of(int(value)))
    elif isinstance(value, (JsonDecimal, JsonNumber)):
        put(value.text)
    elif isinstance(value, Decimal):
        put(_decimal_text(value, place))
    elif isinstance(value, float):
        put(_float_text(value, place))
    elif isinstance(value, (dict, list, tuple)):
        _write_container(value, put, place)
    else:
        raise InexactPayloadError(_kind_of(value), "JSON has no such value", place.name)


_constants = {None: "null", True: "true", False: "false"}


def _write_container(value: Any, put: Callable[[str], None], place: _Place) -> None:
    # A value that contains itself ends here, too.
    if place.depth >= DEPTH_MAX:
        raise InexactPayloadError(_kind_of(value), f"It is nested deeper than {DEPTH_MAX} levels", place.name[:200])
    if isinstance(value, dict):
        put("{")
        for at, (name, each) in enumerate(value.items()):
            if not isinstance(name, str):
                raise InexactPayloadError(f"the key {name!r}", "The keys of a JSON object are texts", place.name)
            put(f"{',' if at else ''}{_string_of(name, place)}:")
            _write(each, put, place.at(name))
        put("}")
        return
    put("[")
    for at, each in enumerate(value):
        if at:
            put(",")
        _write(each, put, place.at(f"[{at}]"))
    put("]")


def _string_of(text: str, place: _Place) -> str:
    if _JOINED_SURROGATES.search(text):
        raise InexactPayloadError("a text", "It has two halves of a character, which JSON would join", place.name)
    # str() of an enum would be its name.
    written = json.dumps(str.__str__(text), ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", written)


def _decimal_text(number: Decimal, place: _Place) -> str:
    if not number.is_finite():
        raise InexactPayloadError(str(number), "JSON doesn't have it", place.name)
    return Decimal.__str__(number)


def _float_text(number: float, place: _Place) -> str:
    if not math.isfinite(number):
        raise InexactPayloadError(repr(number), "JSON doesn't have it", place.name)
    if not place.takes_floats:
        why = f"It is a float, which rounds. Write Decimal('{number!r}'), and calculate with Decimal"
        raise InexactPayloadError(repr(number), why, place.name)
    return float.__repr__(number)


def _kind_of(value: Any) -> str:
    return f"a {type(value).__name__}"
