import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { headersOf, SIGNATURE_VECTORS, type SignatureVector } from "../../../test/signature-vectors.ts";
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookRequest,
  WebhookVerificationError,
} from "./verify-webhook.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const vectors = SIGNATURE_VECTORS;

/** The request of a vector, and the time at which it is checked. */
function requestOf(vector: SignatureVector) {
  const body = vector.body.repeat(vector.times);
  return { request: { headers: headersOf(vector), body }, now: new Date(vector.now * 1000) };
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

const [first] = vectors;
if (!first) throw new Error("There is no vector.");
const genuine = headersOf(first) as Record<string, string>;
const sentAt = genuine["webhook-timestamp"] ?? "";
const standardSignature = genuine["webhook-signature"] ?? "";
const bodySignature = genuine["x-waygate-signature"] ?? "";
const later = (date: Date, seconds: number) => new Date(date.getTime() + seconds * 1000);

describe("the published webhook vectors", () => {
  test.each(vectors.filter(({ valid }) => valid))("are accepted: $about", async (vector) => {
    const { request, now } = requestOf(vector);
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

  test.each(vectors.filter(({ valid }) => !valid))(
    "are refused, each with its reason: $about",
    async (vector) => {
      const { request, now } = requestOf(vector);
      const { message } = await refusalOf(request, { secret: vector.secret, now });
      expect(message).toMatch(/is missing or malformed|outside the tolerance|does not match/);
    },
  );
});

describe("webhook verification", () => {
  const { request, now } = requestOf(first);

  test("accepts Headers, header names in any case, and a body of bytes", async () => {
    const headers = Object.fromEntries(
      Object.entries(genuine).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    const body = new TextEncoder().encode(request.body);
    expect(await verifyWebhook({ headers, body }, { secret: SECRET, now })).toBeTypeOf("object");
    const fetched = { headers: new Headers(genuine), body };
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

  const MISSING = "webhook-id, webhook-timestamp or webhook-signature is missing or malformed.";
  const FORGED = "The signature does not match";

  test.each([
    ["without webhook-id", { "webhook-id": undefined }, MISSING],
    ["without webhook-timestamp", { "webhook-timestamp": undefined }, MISSING],
    ["with a time that is no number", { "webhook-timestamp": "now" }, MISSING],
    ["with a time that only begins as a number", { "webhook-timestamp": "1795176000s" }, MISSING],
    ["with a time that only ends as a number", { "webhook-timestamp": "s1795176000" }, MISSING],
    ["with a time of too many digits", { "webhook-timestamp": "1".repeat(13) }, MISSING],
    ["with another time", { "webhook-timestamp": String(Number(sentAt) + 1) }, FORGED],
    ["with another id", { "webhook-id": "evt_2" }, FORGED],
    [
      "with a signature of another version",
      { "webhook-signature": standardSignature.replace("v1", "v2") },
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
    for (const given of [`v1,b3RoZXI= v1a,x ${standardSignature}`, ["v1,b3RoZXI=", standardSignature]]) {
      const headers = { ...request.headers, "webhook-signature": given };
      expect(await verifyWebhook({ ...request, headers }, { secret: SECRET, now })).toBeTypeOf("object");
    }
  });

  test.each(["?!AAAAAA", "AAAAAA?!", "AAAAAAA", "AAAAwhsec_AAAA"])(
    "uses the characters of a secret that is not base64: %s",
    async (secret) => {
      const signature = createHmac("sha256", secret).update(`evt_1.${sentAt}.{}`);
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": sentAt,
        "webhook-signature": `v1,${signature.digest("base64")}`,
      };
      expect(await verifyWebhook({ headers, body: "{}" }, { secret, now })).toEqual({});
    },
  );

  test("rejects a fetched request without a header", async () => {
    const headers = new Headers(genuine);
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
    const signature = bodySignature;
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
    [`sha256=${bodySignature.slice("sha256=".length)}0`, FORGED],
    [`${bodySignature}zz`, FORGED],
    [`zz${bodySignature}`, FORGED],
    [bodySignature.replace(/^(sha256=)(..)/, "$2$1"), FORGED],
    ["", "X-Waygate-Signature is missing or malformed."],
    ["é".repeat(64), FORGED],
    ["0".repeat(5000), "X-Waygate-Signature is missing or malformed."],
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
