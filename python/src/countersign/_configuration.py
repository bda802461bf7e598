"""What a client is made of: its key, its address and its bounds, given or from the environment."""

from __future__ import annotations

import math
import os
import re
from typing import Any
from urllib.parse import urlsplit

from ._calls import Contact, Options


def read_options(api_key: str | None, base_url: str | None, timeout_seconds: float, retries_max: int) -> Options:
    return Options(
        api_key=_read_key(api_key if api_key is not None else os.environ.get("COUNTERSIGN_API_KEY")),
        base_url=_read_base_url(
            base_url if base_url is not None else os.environ.get("COUNTERSIGN_BASE_URL") or "http://localhost:3000"
        ),
        timeout_seconds=_read_count("timeout_seconds", timeout_seconds),
        retries_max=int(_read_count("retries_max", retries_max)),
        contact=Contact(),
    )


def _read_key(key: Any) -> str:
    if isinstance(key, str) and re.fullmatch(r"[\x21-\x7e]+", key):
        return key
    raise ValueError(
        "There is no API key: give api_key, or set COUNTERSIGN_API_KEY. The dashboard makes keys, under API keys."
        if key is None or key == ""
        else "The API key holds a space or another character that no key has. Was it copied whole?"
    )


def _read_base_url(text: Any) -> str:
    if isinstance(text, str) and _is_plain(text):
        return text.rstrip("/")
    # Not repeated in the message: it may be a key in the wrong place, or hold a password.
    raise ValueError(
        "base_url must be such as https://approvals.example.com, without user name, password, ? or #. "
        "Write a host with letters beyond ASCII in its form xn--…"
    )


def _is_plain(text: str) -> bool:
    if re.fullmatch(r"(?i:https?)://[A-Za-z0-9._\[\]:-]+(?:/[A-Za-z0-9._~!$&'()*+,;=:%/-]*)?", text) is None:
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _read_count(name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and 0 <= value < math.inf:
        return float(value)
    raise ValueError(f"{name} must be a number from 0")
