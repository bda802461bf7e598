"""Sends the documents of a file through the service, a thousand at a time, and holds each to the text that it began as.

python/test/round-trip.test.ts makes the file and runs this: `python3 -m tests.round_trip FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from countersign import Countersign
from countersign.exact_json import parse, stringify

BATCH = 1_000


def main(path: str) -> None:
    countersign = Countersign()
    documents = Path(path).read_bytes().decode("utf-8").split("\n")
    for start in range(0, len(documents), BATCH):
        batch = documents[start : start + BATCH]
        values = [parse(text) for text in batch]
        created = countersign.requests.create(summary="Round trip", notify="ann@example.com", payload=values)
        assert created.payload_text == f"[{','.join(batch)}]", f"documents from {start} on"
        for text, value in zip(batch, created.payload, strict=True):
            assert stringify(value) == text, text
        assert created.payload == values
    print(len(documents))


if __name__ == "__main__":
    main(sys.argv[1])
