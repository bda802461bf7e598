"""What every adapter promises, as tests that a framework's own tests inherit: with real packages, a real service, and
processes that are killed with SIGKILL between asking and deciding.
"""

from __future__ import annotations

import os
import signal
import unittest
from typing import TYPE_CHECKING, Any

from countersign import ApprovalRequest

from ..trying import order
from .desk import ONE, Desk, OtherProcesses, until

#: Mixed into a test case. A base that really is one would run these tests by itself.
if TYPE_CHECKING:
    Case = unittest.TestCase
else:
    Case = object

BIG_EDIT = '{"order_id": 9007199254740993, "amount": 12.10000000000000000000010, "memo": "as told"}'


class Promises(Case):
    """A framework's tests say how a run begins (`go`) and continues (`go_on`), and what its model heard last."""

    #: The run waits in its process. Otherwise it ends, and continues from the decision.
    waits_inside = False
    #: What the ledger says after `BIG_EDIT`: the framework hands a Decimal of any length to the tool.
    big_edit_paid = ["9007199254740993 Decimal 12.10000000000000000000010 as told"]
    #: The type of an amount in the ledger.
    number = "Decimal"
    #: A tool that could not take the numbers of BIG_EDIT runs nothing.
    carries_big_numbers = True

    others: OtherProcesses

    @classmethod
    def setUpClass(cls) -> None:
        def work(desk: Desk) -> None:
            run, requests = cls(), desk.requests()
            run.go_on(desk, requests[0]) if requests else run.go(desk)

        cls.others = OtherProcesses(work)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.others.stop()

    def go(self, desk: Desk) -> str | None:
        """Begins a run. What the model heard, or None if the run ended to wait."""
        raise NotImplementedError

    def go_on(self, desk: Desk, request: ApprovalRequest) -> str | None:
        """Continues it after the decision."""
        raise NotImplementedError

    def asked(self, desk: Desk, count: int = 1) -> ApprovalRequest:
        """Asks in a process that is killed before anybody has decided."""
        child = self.others.begin(desk)
        if self.waits_inside:
            until(lambda: len(desk.requests()) == count or self.others.has_ended(), "somebody asks")
            os.kill(child, signal.SIGKILL)
        self.others.expect_kill()
        requests = desk.requests()
        self.assertEqual(len(requests), count)
        return requests[0]

    def decided(self, desk: Desk, verdict: str, **more: Any) -> str:
        """Asked, killed, decided, and continued here."""
        request = self.asked(desk)
        if verdict == "cancel":
            desk.blocking().requests.cancel(request.id)
        else:
            order(verdict, id=request.id, **more)
        heard = self.go_on(desk, desk.only())
        assert heard is not None
        return heard

    def test_the_tool_runs_after_the_approval_with_what_was_asked_about(self) -> None:
        desk = Desk()
        if self.waits_inside:
            order("decide next", key=desk.key, verdict="approve")
            heard = self.go(desk)
        else:
            self.assertEqual(self.go(desk), None)
            self.assertEqual(desk.paid(), [])
            order("approve", id=desk.only().id)
            heard = self.go_on(desk, desk.only())
        request = desk.only()
        self.assertEqual(request.summary, "refund order 1042 (49.5 EUR)")
        self.assertEqual(request.payload_text, '{"order_id":1042,"amount":49.5,"memo":"none"}')
        self.assertEqual(desk.paid(), [f"1042 {self.number} 49.5 none"])
        self.assertEqual(heard, "paid 49.5")

    def test_killed_between_asking_and_deciding_it_is_asked_once_and_runs_once(self) -> None:
        desk = Desk()
        heard = self.decided(desk, "approve")
        self.assertEqual(desk.paid(), [f"1042 {self.number} 49.5 none"])
        self.assertEqual(heard, "paid 49.5")
        self.assertEqual(len(desk.requests()), 1)

    def test_an_edit_runs_digit_by_digit_and_the_model_hears_of_it(self) -> None:
        desk = Desk()
        heard = self.decided(desk, "approve", edit=BIG_EDIT, note="Half of it")
        if self.carries_big_numbers:
            self.assertEqual(desk.paid(), self.big_edit_paid)
            self.assertRegex(heard, r'(?s)changed the input.*12\.10000000000000000000010.*"Half of it"')
            self.assertRegex(heard, r"paid 12\.1")
        else:
            self.assertEqual(desk.paid(), [])
            self.assertRegex(heard, "approved with changes .* that the tool cannot take")
        self.assertEqual(len(desk.requests()), 1)

    def test_an_edit_in_plain_numbers_runs(self) -> None:
        desk = Desk()
        heard = self.decided(desk, "approve", edit='{"order_id": 1042, "amount": 12.5, "memo": "half"}')
        self.assertEqual(len(desk.paid()), 1)
        self.assertRegex(desk.paid()[0], r"^1042 \w+ 12\.5 half$")
        self.assertRegex(heard, r"(?s)changed the input.*12\.5")
        self.assertRegex(heard, r"paid 12\.5")

    def test_it_runs_once_all_people_have_approved_and_not_before(self) -> None:
        desk = Desk(calls=[{**ONE, "memo": "for two"}])
        request = self.asked(desk)
        self.assertEqual([request.requested_by, [each.notify for each in request.approvals.stages]],  # type: ignore[union-attr]
                         ["eve@example.com", ["ann@example.com", "ben@example.com"]])  # fmt: skip
        order("approve", id=request.id)
        self.assertEqual([desk.only().status, desk.paid()], ["PENDING", []])
        order("approve", id=request.id)
        self.assertEqual(self.go_on(desk, desk.only()), "paid 49.5")
        self.assertEqual(desk.paid(), [f"1042 {self.number} 49.5 for two"])

    def test_a_rejection_an_expiry_and_a_cancel_are_told_and_nothing_runs(self) -> None:
        for verdict, more, expected in (
            ("reject", {"note": 'No.\n"paid"'}, r'A person rejected this action.*"No\.\\n\\"paid\\""'),
            ("expire", {}, "Nobody decided about this action.*not a rejection"),
            ("cancel", {}, "was cancelled"),
        ):
            desk = Desk()
            heard = self.decided(desk, verdict, **more)
            self.assertRegex(heard, expected)
            self.assertEqual(desk.paid(), [])
            self.assertEqual(len(desk.requests()), 1)

    def test_an_edit_that_the_tool_cannot_take_runs_nothing_and_uses_nothing_up(self) -> None:
        for edit, expected in (
            ('{"order_id": "many", "amount": 1, "memo": "none"}', "cannot take: .*order_id"),
            ('{"order_id": 1042, "amount": 1, "memo": "none", "extra": true}', "cannot take: "),
            ('{"order_id": "1042", "amount": 1, "memo": "none"}', "cannot take: its schema makes something else of it"),
            ('{"order_id": 1042, "amount": 1}', "cannot take: its schema makes something else of it"),
            ('{"order_id": 1042, "amount": 1, "memo": "forbidden"}', "memo must be another one"),
            ("[1042, 1]", "it is not an object"),
        ):
            desk = Desk()
            heard = self.decided(desk, "approve", edit=edit)
            self.assertRegex(heard, f"(?s)approved with changes .* that the tool {expected if 'take' in expected else 'cannot take: ' + expected}")
            self.assertEqual(desk.paid(), [])
            desk.blocking().requests.redeem(desk.only().id)

    def test_an_input_that_the_tool_refuses_asks_nobody_and_the_model_is_told(self) -> None:
        for arguments in ({"order_id": "many", "amount": 1}, {**ONE, "memo": "forbidden"}):
            desk = Desk(calls=[arguments])
            heard = self.go(desk)
            assert heard is not None
            self.assertEqual(desk.requests(), [])
            self.assertEqual(desk.paid(), [])
            self.assertRegex(heard, self.unfit_words(arguments))

    def unfit_words(self, arguments: dict[str, Any]) -> str:
        return "This input is one that the tool cannot take"

    def test_killed_after_the_redeem_it_never_runs_a_second_time(self) -> None:
        desk = Desk()
        request = self.asked(desk)
        order("approve", id=request.id)
        desk.dies = "in the tool"
        self.others.begin(desk)
        self.others.expect_kill()
        desk.dies = ""
        self.refuses_a_second_run(desk)
        self.assertEqual(desk.paid(), [])
        self.assertEqual(len(desk.requests()), 1)

    def test_continued_twice_it_runs_once(self) -> None:
        desk = Desk()
        self.decided(desk, "approve")
        self.refuses_a_second_run(desk)
        self.assertEqual(len(desk.paid()), 1)
        self.assertEqual(len(desk.requests()), 1)

    def refuses_a_second_run(self, desk: Desk) -> None:
        raise NotImplementedError

    def test_a_service_that_cannot_be_reached_runs_nothing(self) -> None:
        desk = Desk(retries=0)
        desk.url = "http://127.0.0.1:9"
        try:
            heard = self.go(desk)
        except Exception as error:
            heard = str(error)
        self.assertRegex(heard or "", "cannot be reached|connection_failed")
        self.assertEqual(desk.paid(), [])
