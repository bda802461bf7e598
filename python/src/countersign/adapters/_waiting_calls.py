"""For frameworks that can't put a run aside: the call waits in its process, and a run with an id of its own that is begun
again continues with the same requests.
"""

from __future__ import annotations

import threading
from typing import Any

from .._calls import Options, Steps
from .._requests import cancel
from .._waiting import wait_for_decision
from ..contract import ApprovalRequest
from ..errors import CountersignError
from ..exact_json import stringify
from ._approvals import Asked, Describe, ask, key_of


class Numbering:
    """Names calls in a framework whose own ids are others when the run is begun again: by the run, the tool, the input,
    and how many such calls there were before. The same call of the run is then the same request, also after a crash.
    """

    def __init__(self, framework: str, run_id: str | None) -> None:
        self._framework = framework
        self.run_id = run_id
        self._counts: dict[str, int] = {}
        # Frameworks call tools in threads of their own.
        self._lock = threading.Lock()

    def key_of(self, tool: str, payload: dict[str, Any]) -> str | None:
        """None without a run's id: then every call asks, because nothing else tells one run from another."""
        if self.run_id is None:
            return None
        named = key_of(self._framework, self.run_id, tool, stringify(payload))
        with self._lock:
            self._counts[named] = self._counts.get(named, 0) + 1
            return key_of(self._framework, named, str(self._counts[named]))


def ask_and_wait(options: Options, describe: Describe, asked: Asked) -> Steps[ApprovalRequest]:
    request = yield from ask(options, describe, asked)
    try:
        return (yield from wait_for_decision(options, request.id, None))
    except (CountersignError, GeneratorExit):
        raise
    except BaseException:
        # Nobody will come back for this decision, so nobody should be bothered with it. With a key somebody may.
        if asked.key is None:
            yield from _give_up(options, request.id)
        raise


def _give_up(options: Options, request_id: str) -> Steps[None]:
    """It doesn't matter if this fails: an approval that nobody waits for runs nothing."""
    try:
        yield from cancel(options, request_id)
    except CountersignError:
        pass
