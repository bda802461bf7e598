"""A second writing of the receipt's verifier, for the published vectors. Needs `cryptography`."""

import base64
import hashlib
import json
import re
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519


class Refused(Exception):
    pass


class Digits(str):
    pass


def unbase64url(text):
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise Refused("malformed")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64url(data) != text:
        raise Refused("malformed")
    return data


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(data):
    return hashlib.sha256(data).digest()


def pairs(found):
    if len({name for name, _ in found}) != len(found):
        raise ValueError("a name comes twice")
    return dict(found)


def refuse_constant(name):
    raise ValueError(name)


def parse_exact(text):
    """Numbers stay as they are written."""
    value = json.loads(
        text, object_pairs_hook=pairs, parse_int=Digits, parse_float=Digits, parse_constant=refuse_constant
    )
    json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates
    return value


def parse_object(data):
    try:
        value = parse_exact(data.decode("utf-8") if isinstance(data, bytes) else data)
    except (ValueError, RecursionError):
        raise Refused("malformed") from None
    if type(value) is not dict:
        raise Refused("malformed")
    return value


def need(is_true):
    if not is_true:
        raise Refused("malformed")


def is_text(value):
    return type(value) is str


def is_whole(value):
    return type(value) is Digits and re.fullmatch(r"0|[1-9][0-9]{0,14}", value) is not None


def is_digest(value):
    return is_text(value) and len(unbase64url(value)) == 32


def is_list(value, is_one):
    return type(value) is list and all(is_one(each) for each in value)


def read_digested(value):
    need(type(value) is dict and "digest" in value and is_whole(value.get("bytes")))
    need(value["digest"] is None or is_digest(value["digest"]))


def read_claims(data):
    claims = parse_object(data)
    for name in ("iss", "sub", "jti", "ws", "level", "decision"):
        need(is_text(claims.get(name)))
    for name in ("iat", "nbf", "exp"):
        need(is_whole(claims.get(name)))
    need(claims["decision"] in ("approved", "rejected"))
    need(is_list(claims.get("aud"), is_text) and type(claims.get("edited")) is bool)
    need(is_list(claims.get("by"), lambda vote: type(vote) is dict) and len(claims["by"]) > 0)
    for vote in claims["by"]:
        need(is_text(vote.get("email")) and is_text(vote.get("at")) and is_list(vote.get("amr"), is_text))
        need(all(is_text(vote[name]) for name in ("for", "cred") if name in vote))
        if "assertion" in vote:
            need(type(vote["assertion"]) is dict and is_text(vote["assertion"].get("statement")))
            for name in ("authenticatorData", "clientDataJSON", "signature"):
                need(is_text(vote["assertion"].get(name)))
                unbase64url(vote["assertion"][name])
    policy = claims.get("policy")
    need(type(policy) is dict and is_whole(policy.get("required")) and is_list(policy.get("stages"), is_whole))
    need(type(policy.get("signature", False)) is bool)
    for name in ("shown", "effective", "log"):
        need(name in claims and (claims[name] is None or type(claims[name]) is dict))
    if claims["shown"] is not None:
        need(is_whole(claims["shown"].get("v")) and is_digest(claims["shown"].get("digest")))
    if claims["log"] is not None:
        need(is_text(claims["log"].get("origin")))
    need((claims["effective"] is None) == (claims["decision"] == "rejected"))
    read_digested(claims.get("payload"))
    if claims["effective"] is not None:
        read_digested(claims["effective"])
    need("text" not in claims or is_text(claims["text"]))
    return claims


def find_key(key_set, kid):
    if any(key["kid"] == kid for key in key_set.get("revoked", [])):
        raise Refused("key_revoked")
    for key in key_set["keys"]:
        if key.get("kid") != kid or key.get("kty") != "OKP" or key.get("crv") != "Ed25519":
            continue
        try:
            raw = unbase64url(key["x"])
        except Refused:
            continue
        thumbprint = sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{key["x"]}"}}'.encode())
        if len(raw) == 32 and base64url(thumbprint) == kid:
            return ed25519.Ed25519PublicKey.from_public_bytes(raw), key.get("retiredAt")
    raise Refused("key_unknown")


def read_signed(receipt, key_set):
    parts = receipt.split(".")
    need(len(parts) == 3)
    header, data, signature = (unbase64url(part) for part in parts)
    header = parse_object(header)
    if header.get("typ") != "countersign-receipt+jwt":
        raise Refused("wrong_type")
    if header.get("alg") != "Ed25519":
        raise Refused("wrong_algorithm")
    need(set(header) <= {"alg", "typ", "kid"} and is_text(header.get("kid")))
    key, retired_at = find_key(key_set, header["kid"])
    try:
        key.verify(signature, f"{parts[0]}.{parts[1]}".encode())
    except InvalidSignature:
        raise Refused("signature_invalid") from None
    claims = read_claims(data)
    if retired_at is not None and int(claims["iat"]) > retired_at:
        raise Refused("key_retired")
    return claims


def is_digest_of(digested, text):
    data = text.encode()
    if digested is None or digested["digest"] is None:
        return False
    return int(digested["bytes"]) == len(data) and base64url(sha256(data)) == digested["digest"]


def is_same_value(one, other):
    if type(one) is not type(other):
        return False
    if type(one) is Digits:
        return Decimal(one) == Decimal(other)  # exact, whatever the context's precision is
    if type(one) is list:
        return len(one) == len(other) and all(map(is_same_value, one, other))
    if type(one) is dict:
        return one.keys() == other.keys() and all(is_same_value(one[name], other[name]) for name in one)
    return one == other


def is_same_text(one, other):
    try:
        return is_same_value(parse_exact(one), parse_exact(other))
    except ValueError:
        return False


def refuse_other_payload(claims, given, is_given):
    effective, text = claims["effective"], claims.get("text")
    if text is not None and not is_digest_of(effective, text):
        raise Refused("embedded_differs")
    if not is_given or effective is None:
        return
    if effective["digest"] is None if given is None else is_digest_of(effective, given):
        return
    if given is not None and text is not None and is_same_text(given, text):
        raise Refused("payload_same_value")
    raise Refused("payload_differs")


STATEMENT = {
    "request", "workspace", "verdict", "revision", "payload", "effective", "shown", "audience", "expires",
    "checkpoint",
}  # fmt: skip


def read_statement(text):
    statement = parse_object(text)
    need(set(statement) == STATEMENT and is_whole(statement["revision"]))
    need(all(is_text(statement[name]) for name in ("request", "workspace", "verdict", "expires")))
    need(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", statement["expires"]))
    for name in ("payload", "effective", "shown"):
        need(statement[name] is None or is_digest(statement[name]))
    need(is_list(statement["audience"], is_text))
    need(statement["checkpoint"] is None or is_text(statement["checkpoint"]))
    return statement


def refuse_other_statement(claims, assertion):
    statement = read_statement(assertion["statement"])
    if (statement["request"], statement["workspace"]) != (claims["sub"], claims["ws"]):
        raise Refused("assertion_other_request")
    if statement["verdict"] != ("approve" if claims["decision"] == "approved" else "reject"):
        raise Refused("assertion_other_verdict")
    effective = claims["effective"]["digest"] if claims["effective"] else None
    if (statement["payload"], statement["effective"]) != (claims["payload"]["digest"], effective):
        raise Refused("assertion_other_payload")
    if statement["audience"] != claims["aud"]:
        raise Refused("assertion_other_audience")
    if int(claims["iat"]) > datetime.fromisoformat(statement["expires"].replace("Z", "+00:00")).timestamp():
        raise Refused("assertion_invalid")


def refuse_other_ceremony(claims, assertion):
    client = parse_object(unbase64url(assertion["clientDataJSON"]))
    challenge = sha256(b"countersign decision v1\0" + assertion["statement"].encode())
    site = urlsplit(claims["iss"])
    need(is_text(client.get("challenge")))
    data = unbase64url(assertion["authenticatorData"])
    if (
        client.get("type") != "webauthn.get"
        or client["challenge"] != base64url(challenge)
        or client.get("origin") != f"{site.scheme}://{site.netloc}"
        or client.get("crossOrigin") is True
        or len(data) < 37
        or data[:32] != sha256(site.hostname.encode())
        or not data[32] & 0x01
    ):
        raise Refused("assertion_invalid")
    if not data[32] & 0x04:
        raise Refused("assertion_not_verified")


def is_signed(assertion, public_key):
    key = unbase64url(public_key)
    data = unbase64url(assertion["authenticatorData"]) + sha256(unbase64url(assertion["clientDataJSON"]))
    signature = unbase64url(assertion["signature"])
    try:
        if key.startswith(bytes.fromhex("a4010103272006215820")) and len(key) == 42:
            ed25519.Ed25519PublicKey.from_public_bytes(key[10:]).verify(signature, data)
        elif key.startswith(bytes.fromhex("a5010203262001215820")) and len(key) == 77:
            numbers = ec.EllipticCurvePublicNumbers(
                int.from_bytes(key[10:42]), int.from_bytes(key[45:]), ec.SECP256R1()
            )
            numbers.public_key().verify(signature, data, ec.ECDSA(hashes.SHA256()))
        else:
            return False
    except (InvalidSignature, ValueError):
        return False
    return True


def check_votes(claims, credentials):
    used = set()
    for vote in claims["by"]:
        assertion = vote.get("assertion")
        if credentials is None and assertion is None:
            continue
        if assertion is None or (credentials is not None and "cred" not in vote):
            raise Refused("assertion_missing")
        if credentials is not None:
            own = [
                each
                for each in credentials
                if each["id"] == vote["cred"] and each.get("email", vote["email"]).lower() == vote["email"].lower()
            ]
            if not own:
                raise Refused("credential_unknown")
        refuse_other_statement(claims, assertion)
        refuse_other_ceremony(claims, assertion)
        if credentials is not None:
            person = vote["email"].lower()
            if used & {vote["cred"], person} or not is_signed(assertion, own[0]["publicKey"]):
                raise Refused("assertion_invalid")
            used |= {vote["cred"], person}
    last = claims["by"][-1].get("assertion")
    if last is not None:
        shown = claims["shown"]["digest"] if claims["shown"] else None
        if read_statement(last["statement"])["shown"] != shown:
            raise Refused("assertion_invalid")


def verify(case, key_set, receipt=None, check_proof=lambda *_: False):
    """The level, or the reason of the refusal. The log's part gives the check of proofs."""
    try:
        claims = read_signed(case["receipt"] if receipt is None else receipt, key_set)
        if claims["iss"] != case["issuer"]:
            raise Refused("wrong_issuer")
        if case["audience"] not in claims["aud"]:
            raise Refused("wrong_audience")
        if int(claims["nbf"]) > case["now"] + 60:
            raise Refused("not_yet_valid")
        if case["now"] >= int(claims["exp"]):
            raise Refused("expired")
        if claims["decision"] == "rejected" and not case.get("allowRejected", False):
            raise Refused("rejected")
        refuse_other_payload(claims, case.get("payload"), "payload" in case)
        check_votes(claims, case.get("credentials"))
        is_witnessed = check_proof(case.get("proof"), case.get("witnesses", []), claims, key_set)
        if case.get("credentials") is not None:
            return "person-signed"
        return "witnessed" if is_witnessed else "operator-signed"
    except Refused as refused:
        return refused.args[0]
