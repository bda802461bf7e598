"""Prints what Python says of each published vector, one line for each: `python run.py proof-vectors.json`."""

import json
import sys

from log import check_proof, lines_of
from receipts import verify

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def flipped(receipt, at):
    other = "A" if receipt[at] == "." else ALPHABET[(ALPHABET.index(receipt[at]) + 1) % 64]
    return receipt[:at] + other + receipt[at + 1 :]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    sets = vectors["keySets"]
    for case in vectors["receipts"]:
        print(f"{case['name']}: {verify(case, sets[case['keySet']], check_proof=check_proof)}")
    case = vectors["flips"]["of"]
    for at in range(len(case["receipt"])):
        print(f"flip {at}: {verify(case, sets[case['keySet']], flipped(case['receipt'], at))}")
    for line in lines_of(vectors):
        print(line)


main()
