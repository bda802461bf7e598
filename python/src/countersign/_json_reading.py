"""Reads JSON exactly: Python's own scanner for the values, and a cursor for the outer levels, whose texts are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ._json_numbers import JsonFlaw, number_of, whole_number_of

_SPACE = re.compile(r"[ \t\n\r]*")
Item = TypeVar("Item")


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


def _read(text: str, start: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(text, start)
    except RecursionError:
        raise JsonFlaw("it is nested too deeply") from None
    except JsonFlaw:
        raise
    except ValueError as error:
        raise JsonFlaw(f"it is no JSON: {error}") from None


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
    parse_float=number_of,
    parse_int=whole_number_of,
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
