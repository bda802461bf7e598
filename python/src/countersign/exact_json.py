"""JSON without loss, in both directions: a person approves the digits that they read, so nothing may run with others.

Whole numbers are `int` of any size. Numbers with a fraction or an exponent are `JsonDecimal`, a `Decimal` that keeps its
own spelling. Duplicate keys, NaN and Infinity are refused.
"""

from __future__ import annotations

import decimal
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Literal, TypeVar

from .errors import InexactPayloadError

__all__ = ["JsonDecimal", "JsonFlaw", "JsonNumber", "parse", "stringify", "with_decimals", "with_floats"]

#: Deeper values are refused before they are sent. The service refuses them at 128 levels and names the field.
DEPTH_MAX = 200
#: Python can be told to convert no more digits than this at once, and never fewer.
_DIGITS_AT_ONCE = 640
_BITS_AT_ONCE = 2_000
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINED_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")
Item = TypeVar("Item")


class JsonFlaw(ValueError):
    """The text is no JSON, or it has a key twice."""


class JsonDecimal(Decimal):
    """A number of a JSON text, spelled as there: `1.0` stays `1.0`, `1E400` stays `1E400`, `-0` stays `-0`.

    It calculates like any `Decimal`, and is printed as it was written.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> JsonDecimal:
        if _NUMBER.fullmatch(text) is None:
            raise JsonFlaw(f"{text[:80]!r} is no number in JSON")
        try:
            number = super().__new__(cls, text)
        except decimal.InvalidOperation:
            raise JsonFlaw(f"{text[:80]} is beyond what a Decimal can hold") from None
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"JsonDecimal('{self.text}')"

    def __format__(self, specifier: str, context: Any = None, /) -> str:
        return self.text if specifier == "" else super().__format__(specifier)

    def __reduce__(self) -> tuple[type[JsonDecimal], tuple[str]]:
        return (JsonDecimal, (self.text,))

    def __copy__(self) -> JsonDecimal:
        return self

    def __deepcopy__(self, memo: Any, /) -> JsonDecimal:
        return self


@dataclass(frozen=True, slots=True)
class JsonNumber:
    """A number beyond what a `Decimal` can hold, such as 1E9999999999999999999. Its text is all there is to it."""

    text: str

    def __post_init__(self) -> None:
        if _NUMBER.fullmatch(self.text) is None:
            raise JsonFlaw(f"{self.text[:80]!r} is no number in JSON")

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Any:
    """The value of a JSON text. Raises `JsonFlaw`, which is a `ValueError`."""
    cursor = _Cursor(text)
    value = cursor.take_value().value
    cursor.end()
    return value


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its value, and its exact text."""

    value: Any
    text: str


Members = dict[str, Member]


def parse_object(text: str) -> Members:
    """The members of the outermost object with their texts."""
    cursor = _Cursor(text)
    members = cursor.take_object()
    cursor.end()
    return members


def parse_objects(text: str) -> list[Members]:
    """The same for a list of objects."""
    cursor = _Cursor(text)
    found = list(cursor.take_each("[", "]", cursor.take_object))
    cursor.end()
    return found


def stringify(value: Any, *, floats: Literal["refuse", "shortest"] = "refuse", name: str = "") -> str:
    """The JSON text of a value, exactly; raises `InexactPayloadError` for everything that JSON would change.

    A float is refused, because 0.1 + 0.2 is not 0.3; "shortest" writes it as Python prints it.
    """
    pieces: list[str] = []
    _write(value, pieces.append, _Place(name, floats == "shortest", 0))
    return "".join(pieces)


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


# Reading.


def _read(text: str, start: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(text, start)
    except RecursionError:
        raise JsonFlaw("it is nested too deeply") from None
    except JsonFlaw:
        raise
    except ValueError as error:
        raise JsonFlaw(f"it is no JSON: {error}") from None


def _number_of(text: str) -> int | JsonDecimal | JsonNumber:
    try:
        return JsonDecimal(text)
    except JsonFlaw:
        return JsonNumber(text)


def _whole_number_of(text: str) -> int | JsonDecimal:
    # An int has no minus zero, and a person may have been shown one.
    if text == "-0":
        return JsonDecimal(text)
    if len(text) <= _DIGITS_AT_ONCE:
        return int(text)
    return -_int_of(text[1:]) if text[0] == "-" else _int_of(text)


def _int_of(digits: str) -> int:
    """In halves: Python refuses many digits at once, and would need quadratic time for them."""
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    low = _DIGITS_AT_ONCE << ((len(digits) - 1) // _DIGITS_AT_ONCE).bit_length() - 1
    return _int_of(digits[:-low]) * _power_of_ten(low) + _int_of(digits[-low:])


@cache
def _power_of_ten(exponent: int) -> int:
    """For a few exponents only: each is twice the one before."""
    power: int = 10**exponent
    return power


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        _refuse_second(name for name, _ in pairs)
    return value


def _refuse_second(names: Iterator[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise JsonFlaw(f"the key {name[:80]!r} is there twice")
        seen.add(name)


def _refuse_constant(name: str) -> Any:
    raise JsonFlaw(f"{name} is no JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object_of,
    parse_float=_number_of,
    parse_int=_whole_number_of,
    parse_constant=_refuse_constant,
)


class _Cursor:
    """Walks through the outer levels of a text. Python's own scanner reads the values inside."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def take_value(self) -> Member:
        self._skip()
        value, end = _read(self._text, self._at)
        start, self._at = self._at, end
        return Member(value, self._text[start:end])

    def take_object(self) -> Members:
        members: Members = {}
        for name, member in self.take_each("{", "}", self._take_pair):
            if name in members:
                raise JsonFlaw(f"the key {name[:80]!r} is there twice")
            members[name] = member
        return members

    def take_each(self, opening: str, closing: str, take: Callable[[], Item]) -> Iterator[Item]:
        self._expect(opening)
        if self._meets(closing):
            return
        while True:
            yield take()
            if self._meets(closing):
                return
            self._expect(",")

    def end(self) -> None:
        self._skip()
        if self._at != len(self._text):
            raise JsonFlaw(f"unexpected text after the end of the value, at {self._at}")

    def _take_pair(self) -> tuple[str, Member]:
        name = self.take_value().value
        if not isinstance(name, str):
            raise JsonFlaw(f"expected a name before {self._at}")
        self._expect(":")
        return name, self.take_value()

    def _meets(self, mark: str) -> bool:
        self._skip()
        is_met = self._text.startswith(mark, self._at)
        self._at += is_met
        return is_met

    def _expect(self, mark: str) -> None:
        if not self._meets(mark):
            raise JsonFlaw(f"expected {mark} at {self._at}")

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = self._at if found is None else found.end()


# Writing.


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
        put(_digits_of(int(value)))
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


def _digits_of(number: int) -> str:
    """Python refuses to write many digits at once, so long numbers go through `Decimal`, in halves."""
    if number.bit_length() <= _BITS_AT_ONCE:
        return str(number)
    with decimal.localcontext() as context:
        context.prec = decimal.MAX_PREC
        context.Emax = decimal.MAX_EMAX
        context.traps[decimal.Inexact] = True
        text = f"{_decimal_of(abs(number), {}):f}"
    return f"-{text}" if number < 0 else text


def _decimal_of(number: int, powers: dict[int, Decimal]) -> Decimal:
    if number.bit_length() <= _BITS_AT_ONCE:
        return Decimal(number)
    low = _BITS_AT_ONCE << ((number.bit_length() - 1) // _BITS_AT_ONCE).bit_length() - 1
    if low not in powers:
        powers[low] = Decimal(2) ** low
    return _decimal_of(number >> low, powers) * powers[low] + _decimal_of(number & (1 << low) - 1, powers)


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
