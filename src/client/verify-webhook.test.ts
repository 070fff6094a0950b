import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../test/receiver.ts";
import { verifyWebhook, WebhookVerificationError } from "./client.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const VECTORS = new URL("../../docs/reference/events/signature-vectors.json", import.meta.url);

interface Vector {
  about: string;
  secret: string;
  body: string;
  times: number;
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
  "x-waygate-signature": string;
}

const vectors: Vector[] = JSON.parse(readFileSync(VECTORS, "utf8"));

/** A genuine request, and the time at which it was sent. */
function requestOf({ body, times, secret: _, about: __, ...headers }: Vector) {
  const sentAt = new Date(Number(headers["webhook-timestamp"]) * 1000);
  return { request: { headers: { ...headers }, body: body.repeat(times) }, sentAt };
}

const first = vectors[0] as Vector;
const later = (date: Date, seconds: number) => new Date(date.getTime() + seconds * 1000);

describe("the published webhook vectors", () => {
  test.each(vectors)("are valid in both signature schemes: $about", async (vector) => {
    const { request, sentAt: now } = requestOf(vector);
    const isJson = /^\{.*\}$/.test(vector.body);
    for (const scheme of ["standard", "body"] as const) {
      const verified = verifyWebhook(request, { secret: vector.secret, scheme, now });
      if (isJson) expect(await verified).toEqual(JSON.parse(vector.body));
      else await expect(verified).rejects.toThrow("not JSON");
      const forged = { ...request, body: `${request.body} ` };
      await expect(verifyWebhook(forged, { secret: vector.secret, scheme, now })).rejects.toThrow(
        "does not match",
      );
    }
  });
});

describe("webhook verification", () => {
  const { request, sentAt: now } = requestOf(first);

  test("accepts Headers, header names in any case, and a body of bytes", async () => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    const body = new TextEncoder().encode(request.body);
    expect(await verifyWebhook({ headers, body }, { secret: SECRET, now })).toBeTypeOf("object");
    const fetched = { headers: new Headers(request.headers), body };
    expect(await verifyWebhook(fetched, { secret: SECRET, now })).toBeTypeOf("object");
  });

  test("rejects a timestamp outside the tolerance, in the past and in the future", async () => {
    for (const seconds of [-301, 301]) {
      const verified = verifyWebhook(request, { secret: SECRET, now: later(now, seconds) });
      await expect(verified).rejects.toThrow("outside the tolerance");
    }
    const patient = { secret: SECRET, now: later(now, 301), toleranceSeconds: 600 };
    expect(await verifyWebhook(request, patient)).toBeTypeOf("object");
  });

  test.each([
    ["without webhook-id", { "webhook-id": undefined }],
    ["with a time that is no number", { "webhook-timestamp": "now" }],
    ["with another time", { "webhook-timestamp": String(Number(first["webhook-timestamp"]) + 1) }],
    ["with another id", { "webhook-id": "evt_2" }],
    [
      "with a signature of another version",
      { "webhook-signature": first["webhook-signature"].replace("v1", "v2") },
    ],
    ["with a signature that is not base64", { "webhook-signature": "v1,*" }],
    ["with only the signature of the body", { "webhook-signature": undefined }],
  ])("rejects %s", async (_, changed) => {
    const headers = { ...request.headers, ...changed };
    const verified = verifyWebhook({ ...request, headers }, { secret: SECRET, now });
    await expect(verified).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  test.each([["sha256="], ["sha256=zz"], ["sha256=00"], [""]])(
    "rejects the body signature %j",
    async (signature) => {
      const headers = { "x-waygate-signature": signature };
      const verified = verifyWebhook({ ...request, headers }, { secret: SECRET, scheme: "body" });
      await expect(verified).rejects.toBeInstanceOf(WebhookVerificationError);
    },
  );

  test("rejects every request if no secret is given", async () => {
    await expect(verifyWebhook(request, { secret: "" })).rejects.toThrow("needs the secret");
    await expect(verifyWebhook(request, { secret: [] })).rejects.toThrow("needs the secret");
  });
});

describe("webhook deliveries of a gateway", () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  beforeAll(async () => {
    [gateway, receiver] = await Promise.all([startTestGateway(), startReceiver()]);
  });
  afterAll(async () => {
    await gateway.stop();
    await receiver.close();
  });

  test("pass verification, also while the secret is being changed", async () => {
    const shop = await gateway.connectInstance({ webhook_url: receiver.url });
    const receive = async (text: string) => {
      await shop.client.sandboxReceive({ id: shop.id, from: "5511988887777", text });
      const [item] = await receiver.waitFor(({ body }) => body?.data?.message?.text === text);
      return { headers: item?.headers ?? {}, body: item?.raw ?? "" };
    };
    const old = shop.webhook_secret;
    const event = await verifyWebhook(await receive("Olá 👋"), { secret: old });
    expect(event).toMatchObject({ event: "message.received", instance: { id: shop.id } });
    expect(event.data.message?.text).toBe("Olá 👋");

    const [webhook] = (await shop.client.listWebhooks({ id: shop.id })).data;
    const { data } = await shop.client.updateWebhook({
      id: shop.id,
      webhookId: webhook?.id ?? 0,
      rotate_secret: true,
    });
    const secret = data.secret ?? "";
    const request = await receive("Under two secrets");
    for (const scheme of ["standard", "body"] as const) {
      for (const known of [old, secret, [secret, old], ["whsec_other", old]]) {
        expect(await verifyWebhook(request, { secret: known, scheme })).toBeTypeOf("object");
      }
      await expect(verifyWebhook(request, { secret: "whsec_other", scheme })).rejects.toThrow(
        "does not match",
      );
    }
  });
});
