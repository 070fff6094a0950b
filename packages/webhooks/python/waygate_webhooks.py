"""Verifies the webhooks of Waygate with nothing but the standard library. Python 3.9 or newer; copy this file.

    if not verify(secret, request.headers, request.get_data()):
        abort(401)
"""

import base64
import hashlib
import hmac
import re
import time

MAX_HEADER_LENGTH = 4096


def verify(secret, headers, body, tolerance_seconds=300, now=None):
    """Tells whether a request is from the gateway; nothing that a request contains raises an exception.

    headers: the values by name, in any case, also several per name; body: the raw bytes.
    """
    event_id, sent_at, given = (
        _read(headers, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    # Exact patterns: isdigit() takes digits such as ² too, and int() refuses very long texts.
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", event_id) or not re.fullmatch(r"[0-9]{1,12}", sent_at):
        return False
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance_seconds:
        return False
    mac = hmac.new(_key_of(secret), f"{event_id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = base64.b64encode(mac).decode()
    # The pattern takes ASCII only, because compare_digest refuses other texts.
    signatures = re.findall(r"v1,([A-Za-z0-9+/]{43}=)", given)
    return any(hmac.compare_digest(expected, one) for one in signatures)


def _read(headers, name):
    """The value of a header, repeated ones joined; empty if it is absent or too long."""
    values = [value for key, value in headers.items() if str(key).lower() == name]
    texts = (text for value in values for text in (value if isinstance(value, (list, tuple)) else [value]))
    joined = " ".join(map(str, texts))
    return joined if len(joined) <= MAX_HEADER_LENGTH else ""


def _key_of(secret):
    """The bytes behind whsec_; a secret of another form is used as it is."""
    encoded = secret[len("whsec_"):] if secret.startswith("whsec_") else secret
    is_base64 = re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", encoded) and len(encoded) % 4 == 0
    return base64.b64decode(encoded) if is_base64 else secret.encode()
