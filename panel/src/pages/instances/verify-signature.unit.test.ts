import { expect, test } from "vitest";
import { verifySignature } from "./verify-signature.ts";

const secret = "whsec_c2VjcmV0";
const body = '{"text":"Olá"}';
/** By `openssl dgst -sha256 -hmac`. */
const signature = "sha256=c9b97c4d74cb118d82b4fe558e015bfe7e2f381565720d9187318489581b118f";
const signed = { headers: { "x-waygate-signature": signature }, body };

test("the panel accepts a webhook that its secret has signed, and no other", async () => {
  expect(await verifySignature(secret, signed)).toBe(true);
  expect(await verifySignature("whsec_other", signed)).toBe(false);
  expect(await verifySignature(secret, { ...signed, body: `${body} ` })).toBe(false);
});

test("the panel accepts no webhook without a whole signature", async () => {
  for (const value of ["", "sha256=", signature.slice(0, -2), signature.replace("sha256", "md5")])
    expect(await verifySignature(secret, { body, headers: { "x-waygate-signature": value } })).toBe(false);
  expect(await verifySignature(secret, { body, headers: {} })).toBe(false);
});
