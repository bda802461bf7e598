"""A model for the documentation's program: calls the tool once, and repeats then what it was told."""

from tests.adapters.test_crewai import Scripted


class Repeating(Scripted):
    def call(self, messages, *rest, **more):  # type: ignore[no-untyped-def]
        answer = super().call(messages, *rest, **more)
        return answer.replace("done", "\n".join(self.heard)) if "Final Answer" in answer else answer


model = Repeating(model="scripted", calls=[{"order_id": 1042, "amount": 49.0}])
