import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { verifySignature } from "./verify-signature.ts";

const secret = "whsec_c2VjcmV0";
const body = '{"text":"Olá"}';
const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
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
