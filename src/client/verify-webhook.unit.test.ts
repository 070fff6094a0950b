import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookRequest,
  WebhookVerificationError,
} from "./verify-webhook.ts";

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

/** The error with which the request is rejected. */
async function refusalOf(
  request: WebhookRequest,
  options: VerifyWebhookOptions,
): Promise<WebhookVerificationError> {
  const error: unknown = await verifyWebhook(request, options).catch((reason: unknown) => reason);
  if (!(error instanceof WebhookVerificationError)) throw new Error("The request was not rejected.");
  return error;
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
    for (const seconds of [-300, 300])
      expect(await verifyWebhook(request, { secret: SECRET, now: later(now, seconds) })).toBeTypeOf("object");
    const patient = { secret: SECRET, now: later(now, 301), toleranceSeconds: 600 };
    expect(await verifyWebhook(request, patient)).toBeTypeOf("object");
  });

  const MISSING = "webhook-id, webhook-timestamp or webhook-signature is missing.";
  const FORGED = "The signature does not match";

  test.each([
    ["without webhook-id", { "webhook-id": undefined }, MISSING],
    ["without webhook-timestamp", { "webhook-timestamp": undefined }, MISSING],
    ["with a time that is no number", { "webhook-timestamp": "now" }, MISSING],
    ["with a time that only begins as a number", { "webhook-timestamp": "1795176000s" }, MISSING],
    ["with a time that only ends as a number", { "webhook-timestamp": "s1795176000" }, MISSING],
    ["with a time of too many digits", { "webhook-timestamp": "1".repeat(13) }, MISSING],
    ["with another time", { "webhook-timestamp": String(Number(first["webhook-timestamp"]) + 1) }, FORGED],
    ["with another id", { "webhook-id": "evt_2" }, FORGED],
    [
      "with a signature of another version",
      { "webhook-signature": first["webhook-signature"].replace("v1", "v2") },
      FORGED,
    ],
    ["with a signature that is not base64", { "webhook-signature": "v1,*" }, FORGED],
    ["with only the signature of the body", { "webhook-signature": undefined }, MISSING],
  ])("rejects %s", async (_, changed, why) => {
    const headers = { ...request.headers, ...changed };
    const rejection = await refusalOf({ ...request, headers }, { secret: SECRET, now });
    expect(rejection).toMatchObject({
      name: "WebhookVerificationError",
      message: expect.stringContaining(why),
    });
  });

  test("accepts one genuine signature among others, in one header or in several", async () => {
    const genuine = first["webhook-signature"];
    for (const given of [`v1,b3RoZXI= v1a,x ${genuine}`, ["v1,b3RoZXI=", genuine]]) {
      const headers = { ...request.headers, "webhook-signature": given };
      expect(await verifyWebhook({ ...request, headers }, { secret: SECRET, now })).toBeTypeOf("object");
    }
  });

  test.each(["?!AAAAAA", "AAAAAA?!", "AAAAAAA", "AAAAwhsec_AAAA"])(
    "uses the characters of a secret that is not base64: %s",
    async (secret) => {
      const signature = createHmac("sha256", secret).update(`evt_1.${first["webhook-timestamp"]}.{}`);
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": first["webhook-timestamp"],
        "webhook-signature": `v1,${signature.digest("base64")}`,
      };
      expect(await verifyWebhook({ headers, body: "{}" }, { secret, now })).toEqual({});
    },
  );

  test("rejects a fetched request without a header", async () => {
    const headers = new Headers(request.headers);
    headers.delete("webhook-id");
    const rejection = await refusalOf({ ...request, headers }, { secret: SECRET, now });
    expect(rejection.message).toContain(MISSING);
  });

  test("compares the timestamp with the present time unless another time is given", async () => {
    const rejection = await refusalOf(request, { secret: SECRET });
    expect(rejection).toMatchObject({
      message: expect.stringContaining("outside the tolerance: check the clock"),
    });
  });

  test("ignores an empty secret beside a valid one", async () => {
    expect(await verifyWebhook(request, { secret: ["", SECRET], now })).toBeTypeOf("object");
  });

  test("accepts a body signature in capital letters, without its prefix, or under the previous secret", async () => {
    const signature = first["x-waygate-signature"];
    for (const headers of [
      { "x-waygate-signature": `sha256=${signature.slice("sha256=".length).toUpperCase()}` },
      { "x-waygate-signature": signature.slice("sha256=".length) },
      { "x-waygate-signature-previous": signature },
      { "x-waygate-signature": "sha256=00", "x-waygate-signature-previous": signature },
    ])
      expect(await verifyWebhook({ ...request, headers }, { secret: SECRET, scheme: "body" })).toBeTypeOf(
        "object",
      );
  });

  test.each([
    ["sha256=", FORGED],
    ["sha256=zz", FORGED],
    ["sha256=00", FORGED],
    [`sha256=${first["x-waygate-signature"].slice("sha256=".length)}0`, FORGED],
    [`${first["x-waygate-signature"]}zz`, FORGED],
    [`zz${first["x-waygate-signature"]}`, FORGED],
    [first["x-waygate-signature"].replace(/^(sha256=)(..)/, "$2$1"), FORGED],
    ["", "X-Waygate-Signature is missing."],
  ])("rejects the body signature %j", async (signature, why) => {
    const headers = { "x-waygate-signature": signature };
    const rejection = await refusalOf({ ...request, headers }, { secret: SECRET, scheme: "body" });
    expect(rejection).toMatchObject({ message: expect.stringContaining(why) });
  });

  test("rejects every request if no secret is given", async () => {
    await expect(verifyWebhook(request, { secret: "" })).rejects.toThrow("needs the secret");
    await expect(verifyWebhook(request, { secret: [] })).rejects.toThrow("needs the secret");
  });
});
