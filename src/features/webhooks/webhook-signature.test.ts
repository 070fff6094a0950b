import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signBody, signStandard, signWaha } from "./webhook-signature.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("the specification's signature is the hex HMAC of the raw body under the complete secret", () => {
  expect(signBody(secret, Buffer.from('{"text":"Olá, Bia 👋"}'))).toBe(
    "sha256=40382c5c1f3d8727a4703875a3d23139b5e80e63dedc0d973f16c12f252d7186",
  );
});

test("the Standard Webhooks signature is that of the standard's own example", () => {
  const body = Buffer.from('{"test": 2432232314}');
  expect(signStandard(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("the standard's library verifies a body of 1 MB with characters beyond ASCII", () => {
  const body = JSON.stringify({ text: "ação 👋 ".repeat(100_000) });
  const seconds = Math.floor(Date.now() / 1000);
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": signStandard(secret, "evt_1", seconds, Buffer.from(body)),
  };
  expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
});

test.each(["?!AAAAAA", "AAAAAA?!", "AAAAAAA", "AAAA=", "AAAA====", "AAAAwhsec_AAAA", "whsec_AAAAAAA"])(
  "the secret %s is not base64, so its characters are the key of the Standard Webhooks signature",
  (text) => {
    const expected = createHmac("sha256", text).update("evt_1.7.{}").digest("base64");
    expect(signStandard(text, "evt_1", 7, Buffer.from("{}"))).toBe(`v1,${expected}`);
  },
);

test("the signature for receivers of WAHA is the hex HMAC-SHA512 of the raw body", () => {
  expect(signWaha("key", Buffer.from("The quick brown fox jumps over the lazy dog"))).toBe(
    "b42af09057bac1e2d41708e48a902e09b5ff7f12ab428a4fe86653c73dd248fb82f948a549f7b791a5b41915ee4d1ec3935357e4e2317250d0372afa2ebeeb3a",
  );
});
