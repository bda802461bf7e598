"""The numbers of JSON in Python: exact, with their spelling, and in a time that a hostile number can't stretch."""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

#: Python can be told to convert no more digits than this at once, and never fewer.
_DIGITS_AT_ONCE = 640
_BITS_AT_ONCE = 2_000
_INT_DIGITS_MAX = 100_000
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


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
            number = None
        # Where that error is turned off, it is NaN.
        if number is None or not number.is_finite():
            raise JsonFlaw(f"{text[:80]} is beyond what a Decimal can hold")
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


def number_of(text: str) -> JsonDecimal | JsonNumber:
    try:
        return JsonDecimal(text)
    except JsonFlaw:
        return JsonNumber(text)


def whole_number_of(text: str) -> int | JsonDecimal:
    # An int has no minus zero, and a person may have been shown one. Millions of digits would take it many seconds.
    if text == "-0" or len(text) > _INT_DIGITS_MAX:
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


def digits_of(number: int) -> str:
    """Python refuses to write many digits at once, so long numbers go through `Decimal`, in halves."""
    if number.bit_length() <= _BITS_AT_ONCE:
        return str(number)
    exact = decimal.Context(
        prec=decimal.MAX_PREC, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[decimal.Inexact]
    )
    with decimal.localcontext(exact):
        text = f"{_decimal_of(abs(number), {}):f}"
    return f"-{text}" if number < 0 else text


def _decimal_of(number: int, powers: dict[int, Decimal]) -> Decimal:
    if number.bit_length() <= _BITS_AT_ONCE:
        return Decimal(number)
    low = _BITS_AT_ONCE << ((number.bit_length() - 1) // _BITS_AT_ONCE).bit_length() - 1
    if low not in powers:
        powers[low] = Decimal(2) ** low
    return _decimal_of(number >> low, powers) * powers[low] + _decimal_of(number & (1 << low) - 1, powers)
