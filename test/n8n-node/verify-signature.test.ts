import { describe, expect, test } from "vitest";
import { receiveEvent } from "../../packages/n8n-nodes-waygate/nodes/WaygateTrigger/receive-event.ts";
import { isGenuine } from "../../packages/n8n-nodes-waygate/nodes/WaygateTrigger/verify-signature.ts";
import { signStandard } from "../../src/core/webhooks/delivery/webhook-signature.ts";
import { headersOf, SIGNATURE_VECTORS } from "../signature-vectors.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = new Date("2026-11-20T12:00:00Z");
const SECONDS = NOW.getTime() / 1000;

/** A request signed as the gateway does. */
function signed(body: string, { secret = SECRET, sentAt = SECONDS } = {}) {
  const bytes = Buffer.from(body);
  const headers = {
    "webhook-id": "evt_01",
    "webhook-timestamp": String(sentAt),
    "webhook-signature": signStandard(secret, "evt_01", sentAt, bytes),
  };
  return { headers, body: bytes };
}

describe("the signature check of the n8n trigger", () => {
  test.each(SIGNATURE_VECTORS)("decides as every verifier: $about", (vector) => {
    const body = Buffer.from(vector.body.repeat(vector.times));
    const request = { headers: headersOf(vector), body };
    expect(isGenuine(request, vector.secret, new Date(vector.now * 1000))).toBe(vector.valid);
  });

  test("accepts the signature with the previous secret beside that with the new one", () => {
    const [before, after] = [signed("{}", { secret: "another-secret-16" }), signed("{}")];
    const both = `${after.headers["webhook-signature"]} ${before.headers["webhook-signature"]}`;
    const request = { ...before, headers: { ...before.headers, "webhook-signature": both } };
    expect(isGenuine(request, "another-secret-16", NOW)).toBe(true);
    expect(isGenuine(request, SECRET, NOW)).toBe(true);
    expect(isGenuine(request, "a-third-secret-16", NOW)).toBe(false);
  });

  test("refuses everything while the trigger has no secret", () => {
    expect(isGenuine(signed("{}", { secret: "" }), "", NOW)).toBe(false);
  });

  test.each(["\u0000", "v1,", "v1,é", "v1,".repeat(10_000), `v1,${"A".repeat(44)}`, "\ud800"])(
    "refuses a hostile header without an error: %j",
    (value) => {
      const { headers, body } = signed("{}");
      for (const name of Object.keys(headers)) {
        expect(isGenuine({ headers: { ...headers, [name]: value }, body }, SECRET, NOW)).toBe(false);
      }
    },
  );
});

describe("a request to the n8n trigger", () => {
  const received = (request: ReturnType<typeof signed>) =>
    receiveEvent(request, SECRET, ["message.received"], NOW);

  test("starts the workflow with a chosen event", () => {
    const event = { event: "message.received", data: { message: { text: "olá" } } };
    expect(received(signed(JSON.stringify(event)))).toEqual({ status: 200, event });
  });

  test("gets 200 and starts nothing with another event, such as a test of the webhook", () => {
    const { status, event, message } = received(signed('{"event":"webhook.sent"}')) as Record<
      string,
      unknown
    >;
    expect([status, event, message]).toEqual([200, undefined, "The workflow ignores this event."]);
  });

  test("gets 401 with a changed body, or one that is older than five minutes", () => {
    const genuine = signed('{"event":"message.received"}');
    const changed = { ...genuine, body: Buffer.from('{"event":"message.received" }') };
    expect(received(changed).status).toBe(401);
    expect(received(signed("{}", { sentAt: SECONDS - 301 })).status).toBe(401);
    expect(received(signed("{}", { sentAt: SECONDS + 301 })).status).toBe(401);
  });

  test.each(["", "[]", "null", "1", "{"])("gets 400 with a signed body that is no object: %j", (body) => {
    expect(received(signed(body)).status).toBe(400);
  });
});
