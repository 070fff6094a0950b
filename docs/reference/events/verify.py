"""Verifies deliveries of Waygate with nothing but the standard library.

python3 verify.py signature-vectors.json   checks this file against the published vectors
"""

import base64
import binascii
import hashlib
import hmac
import json
import sys
import time


def verify(secret, headers, body, tolerance_seconds=300, now=None):
    """Whether a request is from the gateway; headers by their names in lower case, body as the raw bytes."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs((time.time() if now is None else now) - int(sent_at)) > tolerance_seconds:
        return False
    expected = standard_signature(secret, headers.get("webhook-id", ""), sent_at, body)
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one) for one in given)


def standard_signature(secret, event_id, seconds, body):
    signed = f"{event_id}.{seconds}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(standard_key(secret), signed, hashlib.sha256).digest()).decode()


def body_signature(secret, body):
    """The value of X-Waygate-Signature: it covers the body alone, so it does not tell a replay."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard_key(secret):
    encoded = secret[len("whsec_"):] if secret.startswith("whsec_") else secret
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return secret.encode()


def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    for vector in vectors:
        body = (vector["body"] * vector["times"]).encode("utf-8")
        secret, event_id, seconds = vector["secret"], vector["webhook-id"], vector["webhook-timestamp"]
        assert body_signature(secret, body) == vector["x-waygate-signature"], vector["about"]
        assert standard_signature(secret, event_id, seconds, body) == vector["webhook-signature"], vector["about"]
        assert verify(secret, vector, body, now=int(seconds)), vector["about"]
        assert not verify(secret, vector, body + b" ", now=int(seconds)), vector["about"]
        assert not verify(secret, vector, body, now=int(seconds) + 301), vector["about"]
    print(f"{len(vectors)} vectors hold")


if __name__ == "__main__":
    main(sys.argv[1])
