"""A model for the documentation's program: calls the tool once, and repeats then what it was told."""

from tests.adapters.desk import Desk
from tests.adapters.test_openai_agents import Scripted

model = Scripted(Desk(calls=[{"order_id": 1042, "amount": 49.0}], key="none"))
