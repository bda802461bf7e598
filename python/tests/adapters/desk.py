"""One agent's desk: its workspace, what its model wants, and a ledger of what its tool really did, in whichever process."""

from __future__ import annotations

import json
import os
import select
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from countersign import ApprovalRequest, AsyncCountersign, Countersign, Question

from ..trying import order

NOTIFY = "ann@example.com"
ONE: dict[str, Any] = {"order_id": 1042, "amount": 49.5}


@dataclass
class Desk:
    calls: list[dict[str, Any]] = field(default_factory=lambda: [ONE])
    #: "in the tool" kills the process once the tool has begun, before it paid.
    dies: str = ""
    fails: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="countersign-desk-")))
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    key: str = ""
    url: str = ""
    retries: int = 4

    def __post_init__(self) -> None:
        if self.key == "":
            made = order("client")
            self.key, self.url = made["key"], made["url"]

    def blocking(self) -> Countersign:
        return Countersign(self.key, self.url, retries_max=self.retries)

    def asyncio(self) -> AsyncCountersign:
        return AsyncCountersign(self.key, self.url, retries_max=self.retries)

    def requests(self) -> list[ApprovalRequest]:
        return list(Countersign(self.key, self.url).requests.list())

    def only(self) -> ApprovalRequest:
        (request,) = self.requests()
        return request

    def pay(self, order_id: int, amount: Any, memo: str) -> str:
        """The body of every tool here."""
        if self.dies == "in the tool":
            os.kill(os.getpid(), signal.SIGKILL)
        with (self.folder / "ledger").open("a") as ledger:
            ledger.write(f"{order_id} {type(amount).__name__} {amount} {memo}\n")
        if self.fails:
            raise RuntimeError("no answer from the bank")
        return f"paid {amount}"

    def paid(self) -> list[str]:
        path = self.folder / "ledger"
        return path.read_text().splitlines() if path.exists() else []


def describe(tool: str, arguments: dict[str, Any]) -> Question:
    question: Question = {
        "summary": f"{tool} order {arguments['order_id']} ({arguments['amount']} EUR)",
        "notify": NOTIFY,
        "agent_name": "payer",
    }
    if arguments.get("memo") == "for two":
        question |= {
            "then": [{"notify": "ben@example.com"}],
            "requested_by": "eve@example.com",
            "escalate": [{"after_minutes": 60, "notify": "cat@example.com"}],
        }
    return question


def refuse_memo(tool: str, arguments: dict[str, Any]) -> None:
    if arguments["memo"] == "forbidden":
        raise ValueError("memo must be another one")
    # What it does to its copy must not run.
    arguments["amount"] = 10**6


def refund_of(desk: Desk) -> Callable[..., str]:
    """The tool as its developer writes it: a Decimal, and a default."""

    def refund(order_id: int, amount: Decimal, memo: str = "none") -> str:
        """Pays money back."""
        return desk.pay(order_id, amount, memo)

    return refund


def until(find: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen")


class OtherProcesses:
    """Runs work in processes of their own, which die by SIGKILL at the end, if not before.

    They are forks of one that was forked before the framework had begun anything: its threads and locks don't survive a
    fork, and importing it again for each takes seconds.
    """

    def __init__(self, work: Callable[[Desk], Any]) -> None:
        orders, self._orders = os.pipe()
        self._news, news = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._orders)
            _obey(orders, news, work)
        os.close(orders)
        os.close(news)

    def begin(self, desk: Desk) -> int:
        """Gives the id of the process. One at a time."""
        os.write(self._orders, json.dumps({**vars(desk), "folder": str(desk.folder)}).encode() + b"\n")
        return int(os.read(self._news, 64))

    def has_ended(self) -> bool:
        return bool(select.select([self._news], [], [], 0)[0])

    def expect_kill(self) -> None:
        assert os.read(self._news, 64) == b"9\n", "it was not killed: its last words are above"

    def stop(self) -> None:
        os.close(self._orders)
        os.close(self._news)
        os.waitpid(self._child, 0)


def _obey(orders: int, news: int, work: Callable[[Desk], Any]) -> NoReturn:
    with os.fdopen(orders) as lines:
        for line in lines:
            told = json.loads(line)
            child = os.fork()
            if child == 0:
                _work_and_die(lambda told=told: work(Desk(**{**told, "folder": Path(told["folder"])})))
            os.write(news, f"{child}\n".encode())
            _, status = os.waitpid(child, 0)
            os.write(news, f"{os.WTERMSIG(status) if os.WIFSIGNALED(status) else 'ended'}\n".encode())
    os._exit(0)


def _work_and_die(work: Callable[[], Any]) -> NoReturn:
    try:
        work()
    except BaseException as error:
        print(f"in the other process: {type(error).__name__}: {error}", flush=True)
        os._exit(1)
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)


@contextmanager
def approving(desk: Desk, count: int) -> Iterator[None]:
    """Approves the next requests, one after the other, while a run waits for each."""

    def approve() -> None:
        for _ in range(count):
            order("approve", id=until(lambda: [each.id for each in desk.requests() if each.status == "PENDING"], "a question")[0])

    approver = threading.Thread(target=approve)
    approver.start()
    yield
    approver.join()


def arguments_text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments)
