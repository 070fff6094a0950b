"""The first-message story through the generated client: prints what it saw as one line of JSON."""

import base64
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import waygate

deliveries = queue.Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        deliveries.put((dict(self.headers.items()), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def configured(**credentials):
    return waygate.ApiClient(waygate.Configuration(host=os.environ["WAYGATE_BASE_URL"], **credentials))


def verify(secret, headers, body):
    """The signature of Standard Webhooks, of a request that has just arrived."""
    values = {name.lower(): value for name, value in headers.items()}
    signed = f"{values['webhook-id']}.{values['webhook-timestamp']}.".encode() + body
    mac = hmac.new(base64.b64decode(secret[len("whsec_"):]), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(mac).decode() == values["webhook-signature"]


def wait_for_event(name, secret):
    while True:
        headers, body = deliveries.get(timeout=60)
        if json.loads(body)["event"] == name:
            event = waygate.MessageSentEvent.from_json(body)
            return event, verify(secret, headers, body), verify(secret, headers, body + b" ")


def main():
    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()

    signed_in = waygate.AccountApi(configured()).login(
        waygate.LoginRequest(email=os.environ["WAYGATE_EMAIL"], password=os.environ["WAYGATE_PASSWORD"])
    )
    owner = configured(access_token=signed_in.token)
    created = waygate.InstancesApi(owner).create_instance(
        waygate.CreateInstanceRequest(name="Python", network="sandbox")
    ).data

    client = configured(api_key={"apiKey": created.api_key})
    waygate.SandboxApi(client).sandbox_scan(
        created.id, waygate.SandboxScanRequest(phone=os.environ["WAYGATE_TEST_PHONE"])
    )
    deadline = time.monotonic() + 60
    while not waygate.InstancesApi(client).get_instance_status(created.id).data.connected:
        if time.monotonic() > deadline:
            sys.exit("The instance does not connect.")
        time.sleep(0.05)

    webhooks = waygate.WebhooksApi(client)
    url = f"http://127.0.0.1:{receiver.server_port}/"
    webhook = webhooks.create_webhook(created.id, waygate.CreateWebhookRequest(url=url)).data
    sent = waygate.MessagesApi(client).send_text(
        created.id, waygate.SendTextRequest(number=os.environ["WAYGATE_TEST_RECIPIENT"], text="Hello from Python")
    ).data
    event, is_genuine, is_changed_genuine = wait_for_event("message.sent", webhook.secret)

    messages = waygate.ChatsApi(client).list_messages(created.id, limit=5).data
    events = webhooks.list_events(created.id, event="message.sent").data
    try:
        waygate.MessagesApi(client).send_text(created.id, waygate.SendTextRequest(number="12", text="Hello"))
        refusal = None
    except waygate.ApiException as error:
        refusal = {"status": error.status, "code": json.loads(error.body)["code"]}
    result = {
        "instance_id": created.id,
        "message_id": sent.message_id,
        "delivered": event.data.message.message_id,
        "is_genuine": is_genuine,
        "is_changed_genuine": is_changed_genuine,
        "messages": [{"message_id": one.message_id, "text": one.text, "direction": one.direction} for one in messages],
        "events": [one.event for one in events],
        "refusal": refusal,
    }
    print(json.dumps(result))
    receiver.shutdown()


main()
