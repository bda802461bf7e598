"""Numbers, texts and objects come through JSON as they are, or not at all."""

from __future__ import annotations

import copy
import decimal
import json
import pickle
import unittest
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

from countersign import InexactPayloadError, JsonDecimal, JsonNumber
from countersign._json_reading import parse_object, parse_objects
from countersign.exact_json import JsonFlaw, parse, stringify, with_decimals, with_floats


class Reading(unittest.TestCase):
    def test_every_spelling_of_a_number_comes_back_as_it_was(self) -> None:
        for text in (
            "0", "-0", "-0.0", "1", "1.0", "1.10", "49.00", "1E400", "1e400", "1E+400", "1e-400", "100e-1",
            "0.00000001", "9007199254740993", "-9007199254740993", "12345678901234567890.12345678901234567890",
            "1E9999999999999999999", "0e99999999999999999999", "1" * 640, "1" * 641, "9" * 5_000, "-" + "7" * 9_999,
        ):  # fmt: skip
            self.assertEqual(stringify(parse(text)), text)
            self.assertEqual(stringify(parse(f"[{text}]")), f"[{text}]")

    def test_whole_numbers_are_ints_and_others_decimals_that_know_their_spelling(self) -> None:
        self.assertEqual(parse("9007199254740993"), 9007199254740993)
        self.assertIs(type(parse("9007199254740993")), int)
        self.assertEqual(parse("9" * 5_000), 10**5_000 - 1)
        self.assertEqual(parse("-" + "9" * 6_000), 1 - 10**6_000)
        amount = parse("12.10")
        self.assertIsInstance(amount, Decimal)
        self.assertEqual(amount, Decimal("12.1"))
        self.assertEqual([str(amount), f"{amount}", f"{amount:.1f}", repr(amount)], ["12.10", "12.10", "12.1", "JsonDecimal('12.10')"])
        self.assertEqual(str(parse("1E400")), "1E400")
        self.assertEqual(amount + 1, Decimal("13.10"))
        self.assertTrue(parse("-0").is_signed() and parse("-0") == 0)
        self.assertEqual(parse("1E9999999999999999999"), JsonNumber("1E9999999999999999999"))

    def test_a_decimal_keeps_its_spelling_when_it_is_copied_or_pickled(self) -> None:
        amount = parse("1E400")
        for same in (copy.copy(amount), copy.deepcopy([amount])[0], pickle.loads(pickle.dumps(amount))):
            self.assertEqual([type(same), str(same)], [JsonDecimal, "1E400"])

    def test_a_number_of_many_digits_takes_no_quadratic_time(self) -> None:
        for text in ("1" * 100_000, "-" + "123456789" * 400_000):
            self.assertEqual(stringify(parse(f"[{text}]")), f"[{text}]")
        self.assertIs(type(parse("1" * 100_000)), int)
        self.assertIsInstance(parse("1" * 100_001), JsonDecimal)
        self.assertEqual(stringify(10**200_000), "1" + "0" * 200_000)

    def test_a_decimal_context_of_the_program_changes_nothing(self) -> None:
        with decimal.localcontext() as context:
            context.prec, context.Emax, context.Emin = 3, 5, -5
            context.traps = dict.fromkeys(context.traps, False)
            text = '[1E9999999999999999999,1e-9999999999999999999,123456.7890,1e400,' + "9" * 700 + "]"
            self.assertEqual(stringify(parse(text)), text)
            self.assertEqual(stringify([Decimal("123456.7890"), 10**3_000 + 1]), "[123456.7890,1" + "0" * 2_999 + "1]")
            context.traps = dict.fromkeys(context.traps, True)
            self.assertEqual(stringify(parse(text)), text)
            self.assertEqual(stringify(10**3_000 + 1), "1" + "0" * 2_999 + "1")
            self.assertEqual(with_floats(parse("[0.1,1e9]")), [0.1, 1e9])
            self.assertEqual(stringify(with_decimals([0.1])), "[0.1]")

    def test_what_is_no_json_is_refused(self) -> None:
        for text in (
            "", " ", "NaN", "Infinity", "-Infinity", "[NaN]", '{"a":Infinity}', "01", "1.", ".5", "+1", "1e", "0x1",
            "١", "[1,]", "[,1]", '{"a":1,}', "{'a':1}", '{"a" 1}', "{1:2}", '"\x00"', '"\n"', '"\\x"', "nul", "[1] 2",
            "\ufeff1", "\xa01", "[" * 100_000, '{"a":' * 100_000, "[1", '{"a"', "tru", '"\\ud8"', "--1",
        ):  # fmt: skip
            with self.assertRaises(JsonFlaw, msg=text[:40]):
                parse(text)
            with self.assertRaises(JsonFlaw, msg=text[:40]):
                parse_object(text)
            with self.assertRaises(JsonFlaw, msg=text[:40]):
                parse_objects(text)

    def test_a_key_that_is_there_twice_is_refused_at_every_depth(self) -> None:
        for text in ('{"a":1,"a":1}', '[{"b":{"a":1,"c":2,"a":3}}]', '{"a":1,"\\u0061":2}', '{"":1,"":2}'):
            with self.assertRaisesRegex(JsonFlaw, "twice"):
                parse(text)
        with self.assertRaisesRegex(JsonFlaw, "twice"):
            parse_object('{"a":1,"a":1}')

    def test_the_text_of_a_member_is_the_one_that_was_sent(self) -> None:
        members = parse_object(' { "a" : {"x": 1.0 ,"y":[ ]} , "b":"\\u00fc", "c" : 1E400 } \n')
        self.assertEqual({name: each.text for name, each in members.items()}, {"a": '{"x": 1.0 ,"y":[ ]}', "b": '"\\u00fc"', "c": "1E400"})
        self.assertEqual(members["b"].value, "ü")
        self.assertEqual(parse_object("{ }"), {})
        self.assertEqual([list(each) for each in parse_objects('[{"a":1}, {}]')], [["a"], []])

    def test_halves_of_characters_come_through(self) -> None:
        for text in ('"\\ud800"', '"\\udc00\\ud800"', '"a\\udfffb"', '{"\\ud83d":1}'):
            self.assertEqual(stringify(parse(text)), text)
        self.assertEqual(parse('"\\ud83d\\ude00"'), "😀")
        with self.assertRaisesRegex(InexactPayloadError, "join"):
            stringify("\ud83d\ude00")


class Colour(str, Enum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Writing(unittest.TestCase):
    def test_what_json_has_is_written_without_a_change(self) -> None:
        cases: list[tuple[Any, str]] = [
            (None, "null"), (True, "true"), (False, "false"), (0, "0"), (10**400, "1" + "0" * 400),
            (10**5_000, "1" + "0" * 5_000), (-(2**20_000), f"-{2**20_000:x}"), (Decimal("12.10"), "12.10"),
            (Decimal("-0.00"), "-0.00"), (Decimal("1E+400"), "1E+400"), (Colour.RED, '"red"'), (Size.LARGE, "3"),
            ("ü\u2028\x7f\"\\\x00\n", '"ü\u2028\x7f\\"\\\\\\u0000\\n"'), ((1, [2]), "[1,[2]]"),
            ({"b": 1, "a": {}, "__proto__": []}, '{"b":1,"a":{},"__proto__":[]}'),
        ]  # fmt: skip
        for value, text in cases:
            written = stringify(value)
            if value == -(2**20_000):
                self.assertEqual(parse(written), value)
            else:
                self.assertEqual(written, text)
            json.loads(written, parse_int=str)

    def test_what_json_would_change_is_refused_with_its_place(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        for value, words in (
            ({"a": [{"amount": 0.1}]}, r"a\[0\]\.amount: 0\.1.*float"), (49.0, "float"), (float("nan"), "JSON doesn't have"),
            (float("inf"), "JSON doesn't have"), (Decimal("NaN"), "JSON doesn't have"), (Decimal("-Infinity"), "JSON doesn't"),
            ({1: 2}, "keys"), ({None: 2}, "keys"), ({"a": {1, 2}}, "a: a set"), (b"bytes", "bytes"), (object(), "object"),
            (1j, "complex"), (loop, "nested deeper"), (range(3), "range"), (iter([1]), "iterator"),
        ):  # fmt: skip
            with self.assertRaisesRegex(InexactPayloadError, words) as caught:
                stringify(value)
            self.assertEqual(caught.exception.code, "inexact_payload")

    def test_floats_are_taken_only_where_somebody_says_so(self) -> None:
        self.assertEqual(stringify([0.1, 1e22, -0.0, 5e-324], floats="shortest"), "[0.1,1e+22,-0.0,5e-324]")
        with self.assertRaises(InexactPayloadError):
            stringify([float("nan")], floats="shortest")
        self.assertEqual(stringify(with_decimals({"a": [0.1, 3]})), '{"a":[0.1,3]}')
        self.assertEqual(with_floats(parse('{"a":[0.10,1e2,3,"x",null]}')), {"a": [0.1, 100.0, 3, "x", None]})
        for text in ("0.1000000000000000055511151231257827", "1e400", "1e-400", "1E9999999999999999999"):
            with self.assertRaises(InexactPayloadError):
                with_floats(parse(f"[{text}]"))


if __name__ == "__main__":
    unittest.main()
