"""A second writing of the log's verifier: notes, trees, entries, and proofs of a decision's place in the log."""

import base64
import binascii
import hashlib
import hmac
import json
import re
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519
from receipts import Refused, base64url, parse_object, sha256, unbase64url


def unbase64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def key_id(name, kind, public_key):
    return sha256(f"{name}\n".encode() + bytes([kind]) + public_key)[:4]


def is_name(name):
    return name != "" and not re.search(r"[\s\u0085+]", name)


def parse_note(note):
    text, gap, rest = note.rpartition("\n\n")
    if not gap or re.search(r"[\x00-\x09\x0b-\x1f]", note) or not rest.endswith("\n"):
        return None
    signatures = []
    for line in rest[:-1].split("\n"):
        found = re.fullmatch(r"\u2014 (\S+) (\S+)", line)
        data = unbase64(found[2]) if found else None
        if data is None or len(data) <= 4 or not is_name(found[1]):
            return None
        signatures.append((found[1], data[:4], data[4:]))
    return text + "\n", signatures


def parse_key(vkey):
    found = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+(.+)", vkey)
    data = unbase64(found[3]) if found else None
    if data is None or len(data) != 33 or data[0] not in (1, 4) or not is_name(found[1]):
        return None
    key = (found[1], key_id(found[1], data[0], data[1:]), data[0], data[1:])
    return key if key[1].hex() == found[2] else None


def is_ed25519(public_key, data, signature):
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(signature, data)
        return True
    except (InvalidSignature, ValueError):
        return False


def is_signed(note, key):
    if note is None or key is None:
        return False
    text, signatures = note
    name, own_id, kind, public_key = key
    own = [signature for signer, signer_id, signature in signatures if (signer, signer_id) == (name, own_id)]
    for signature in own:
        data = text.encode()
        if kind == 4:
            if len(signature) != 72 or signature[0] >= 128:
                return False
            data = f"cosignature/v1\ntime {int.from_bytes(signature[:8])}\n{text}".encode()
            signature = signature[8:]
        if not is_ed25519(public_key, data, signature):
            return False
    return len(own) > 0


def node(left, right):
    return sha256(b"\x01" + left + right)


def is_included(index, size, leaf, proof, root):
    if not 0 <= index < size:
        return False
    place, last = index, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            leaf = node(sibling, leaf)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            leaf = node(leaf, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and leaf == root


def is_consistent(old_size, new_size, old_root, new_root, proof):
    if not 0 < old_size <= new_size:
        return False
    if old_size == new_size:
        return proof == [] and old_root == new_root
    if not proof:
        return False
    place, last = old_size - 1, new_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first, *rest = [old_root, *proof] if place == 0 else proof
    before = after = first
    for sibling in rest:
        if last == 0:
            return False
        if place & 1 or place == last:
            before, after = node(sibling, before), node(sibling, after)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            after = node(after, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and (before, after) == (old_root, new_root)


def is_salted(entry, field, text, salt):
    try:
        key = unbase64url(salt)
    except Refused:
        return False
    held = entry["salted"].get(field)
    found = hmac.new(key, f"{field}\0{text}".encode(), hashlib.sha256).digest()
    return len(key) == 32 and held == base64url(found)


def need(is_true):
    if not is_true:
        raise Refused("proof_invalid")


def parse_checkpoint(text):
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] != "" or "" in lines[:-1] or not re.fullmatch(r"0|[1-9]\d{0,14}", lines[1]):
        return None
    root = unbase64(lines[2])
    return None if root is None or len(root) != 32 else (lines[0], int(lines[1]), root)


def parse_proof(text, origins, key_set):
    head, gap, rest = (text or "").partition("\n\n")
    lines = head.split("\n")
    need(gap and lines.pop(0) == "c2sp.org/tlog-proof@v1")
    note = parse_note(rest)
    checkpoint = parse_checkpoint(note[0]) if note else None
    need(checkpoint is not None and len(lines) > 1 and lines[0].startswith("extra "))
    extra = unbase64(lines.pop(0)[6:])
    index = re.fullmatch(r"index (0|[1-9]\d{0,14})", lines.pop(0))
    hashes = [unbase64(line) for line in lines]
    need(extra is not None and index and all(each is not None and len(each) == 32 for each in hashes))
    need(any(re.fullmatch(re.escape(origin) + r"(/[1-9]\d{0,8})?", checkpoint[0]) for origin in origins))
    need(any(is_signed(note, key) for key in keys_of(key_set, checkpoint[0])))
    opened = parse_object(extra)
    leaf = sha256(b"\0" + opened["entry"].encode())
    need(is_included(int(index[1]), checkpoint[1], leaf, hashes, checkpoint[2]))
    return opened, parse_object(opened["entry"]), note, checkpoint


def keys_of(key_set, origin):
    revoked = {key["kid"] for key in key_set.get("revoked", [])}
    raws = [unbase64url(key["x"]) for key in key_set["keys"] if key["kid"] not in revoked]
    return [(origin, key_id(origin, 1, raw), 1, raw) for raw in raws]


def digest_of(value):
    return (value["digest"], value["bytes"]) if value and value["digest"] is not None else None


def is_same_decision(claims, fact):
    votes = []
    for vote in fact["votes"]:
        evidence = vote["evidence"] or {"amr": [], "signed": None}
        votes.append((vote["email"], vote["at"], vote["for"], evidence["amr"], (evidence["signed"] or {}).get("statement")))
    by = [
        (vote["email"], vote["at"], vote.get("for"), vote["amr"], vote.get("assertion", {}).get("statement"))
        for vote in claims["by"]
    ]
    last = fact["votes"][-1]["evidence"]
    signature = (fact["policy"].get("signature", False), claims["policy"].get("signature", False))
    return (
        fact["kind"] == f"request.{claims['decision']}"
        and fact["request"] == claims["sub"]
        and int(datetime.fromisoformat(fact["at"]).timestamp()) == int(claims["iat"])
        and fact["edited"] == claims["edited"]
        and digest_of(fact["payload"]) == digest_of(claims["payload"])
        and digest_of(fact["effective"]) == digest_of(claims["effective"])
        and [fact["policy"][name] for name in ("required", "stages")] == [claims["policy"][name] for name in ("required", "stages")]
        and signature[0] == signature[1]
        and votes == by
        and (last["shown"] if last else None) == claims["shown"]
    )


def sites_of(claims):
    """The installation's log at the issuer's address, and at the one of the log that the receipt names."""
    own = re.sub(r"^https?://", "", claims["iss"]).rstrip("/") + "/log"
    named = re.fullmatch(r"(.*/log)/([^/]+)(/[1-9]\d*)?", (claims["log"] or {}).get("origin", ""))
    return [own, named[1]] if named and named[2] == claims["ws"] else [own]


def check_proof(given, witnesses, claims, key_set):
    """Whether witnesses have cosigned."""
    if given is None:
        need(not witnesses)
        return False
    bundle = {"proof": given} if isinstance(given, str) else given
    sites = sites_of(claims)
    try:
        opened, entry, note, checkpoint = parse_proof(bundle["proof"], [f"{site}/{claims['ws']}" for site in sites], key_set)
        need(is_salted(entry, "fact", opened["fact"], opened["salt"]))
        need((entry["id"], entry["request"]) == (claims["jti"], claims["sub"]))
        need(entry["kind"] == f"request.{claims['decision']}")
        need(is_same_decision(claims, parse_object(opened["fact"])))
        if bundle.get("installation"):
            body = f"{checkpoint[0]}\n{checkpoint[1]}\n{base64.b64encode(checkpoint[2]).decode()}\n"
            opened, entry, note, _ = parse_proof(bundle["installation"]["proof"], sites, key_set)
            label = hashlib.sha256(b"countersign log\0" + checkpoint[0].encode()).digest()
            need(entry["id"] == base64.urlsafe_b64encode(label).decode().rstrip("="))
            need(entry["kind"] == "checkpoint" and is_salted(entry, "checkpoint", body, opened["salt"]))
    except Refused:
        raise Refused("proof_invalid") from None
    for witness in witnesses:
        key = parse_key(witness)
        need(key is not None and key[2] == 4)  # the log's own key would be a witness of itself
        need(is_signed(note, key))
    return len(witnesses) > 0


def lines_of(vectors):
    for case in vectors["notes"]:
        said = is_signed(parse_note(case["note"]), parse_key(case["vkey"]))
        yield f"note {case['name']}: {'signed' if said else 'refused'}"
    decode = base64.b64decode
    for at, case in enumerate(vectors["trees"]["inclusion"]):
        hashes = list(map(decode, case["proof"]))
        said = is_included(case["index"], case["size"], decode(case["leaf"]), hashes, decode(case["root"]))
        yield f"inclusion {at}: {str(said).lower()}"
    for at, case in enumerate(vectors["trees"]["consistency"]):
        roots = decode(case["oldRoot"]), decode(case["newRoot"])
        said = is_consistent(case["oldSize"], case["newSize"], *roots, list(map(decode, case["proof"])))
        yield f"consistency {at}: {str(said).lower()}"
    for case in vectors["entries"]:
        said = is_salted(json.loads(case["entry"]), case["field"], case["text"], case["salt"])
        yield f"entry {case['name']}: {str(said).lower()}"
