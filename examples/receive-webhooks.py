"""Receives webhooks, verifies each and prints one line per event; nothing but the standard library.

WEBHOOK_SECRET=whsec_... PORT=8080 python3 examples/receive-webhooks.py
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1 << 20


def is_genuine(secret, headers, body):
    sent_at = headers.get("webhook-timestamp", "")
    if not is_number(sent_at) or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode("utf-8", "replace") + body
    digest = hmac.new(key_of(secret), signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    return any(hmac.compare_digest(expected, one) for one in given)


def is_number(text):
    """Digits of ASCII only: isdigit() takes others too, and int() refuses very long texts."""
    return text.isascii() and text.isdigit() and len(text) <= 12


def key_of(secret):
    """The bytes behind whsec_; a secret of another form is used as it is."""
    encoded = secret[len("whsec_"):] if secret.startswith("whsec_") else secret
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return secret.encode()


class Receiver(BaseHTTPRequestHandler):
    handled = set()

    def do_POST(self):
        length = self.headers.get("content-length", "0")
        if not is_number(length) or int(length) > MAX_BODY_BYTES:
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        genuine = is_genuine(os.environ["WEBHOOK_SECRET"], self.headers, body)
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if not genuine:
            return
        event = json.loads(body)
        # Deliveries are at least once. Keep these ids for two days.
        if event["event_id"] not in self.handled:
            self.handled.add(event["event_id"])
            text = (event["data"].get("message") or {}).get("text") or ""
            print(event["sequence"], event["event"], text, flush=True)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if not os.environ.get("WEBHOOK_SECRET"):
        sys.exit("WEBHOOK_SECRET is required: the secret of the webhook.")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
