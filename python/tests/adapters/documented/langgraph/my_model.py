"""A model for the documentation's program: calls the tool once, and repeats then what it was told."""

from tests.adapters.test_langgraph import Scripted

model = Scripted(calls=[{"order_id": 1042, "amount": 49.0}])
