"""Holds a payload to a function's annotations, as far as JSON has such types: an approver can write anything.

`int`, `str`, `bool`, `Decimal`, `None`, `Literal`, unions, `list[…]` and `dict[str, …]` are checked. Everything else is left
to the function, and to its `validate`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .exact_json import JsonDecimal, stringify


class Misfit(Exception):
    """Says which value is no value for the function, and why."""


def fitted(function: Callable[..., Any], payload: dict[str, Any]) -> dict[str, Any]:
    """The payload as the function takes it: a whole number is a `Decimal` where it asks for one. Raises `Misfit`."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:
        # Annotations that can't be looked up say nothing.
        hints = {}
    return {name: _fit(hints.get(name, Any), value, name) for name, value in payload.items()}


def _fit(hint: Any, value: Any, place: str) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _fit(args[0], value, place)
    if origin in (Union, types.UnionType):
        return _fit_any(args, value, place)
    if origin is Literal:
        return _demand(
            any(value == each and type(value) is type(each) for each in args), value, place, "among its values"
        )
    if hint is list or origin is list:
        _demand(isinstance(value, list), value, place, "a list")
        inner = args[0] if args else Any
        return [_fit(inner, each, f"{place}[{at}]") for at, each in enumerate(value)]
    if hint is dict or origin is dict:
        _demand(isinstance(value, dict), value, place, "an object")
        inner = args[1] if args else Any
        return {name: _fit(inner, each, f"{place}.{name}") for name, each in value.items()}
    return _fit_simple(hint, value, place)


def _fit_any(hints: tuple[Any, ...], value: Any, place: str) -> Any:
    problem = Misfit(f"{place} fits nothing")
    for hint in hints:
        try:
            return _fit(hint, value, place)
        except Misfit as misfit:
            problem = misfit
    raise problem


def _fit_simple(hint: Any, value: Any, place: str) -> Any:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if hint is None or hint is type(None):
        return _demand(value is None, value, place, "null")
    if hint is bool:
        return _demand(isinstance(value, bool), value, place, "true or false")
    if hint is int:
        return _demand(is_whole, value, place, "a whole number")
    if hint is str:
        return _demand(isinstance(value, str), value, place, "a text")
    if hint is Decimal:
        _demand(is_whole or isinstance(value, Decimal), value, place, "a number")
        return JsonDecimal(stringify(value)) if is_whole else value
    return value


def _demand(is_met: bool, value: Any, place: str, what: str) -> Any:
    if is_met:
        return value
    shown = stringify(value)
    raise Misfit(f"{place} must be {what}, and is {shown if len(shown) <= 80 else shown[:80] + '…'}")
