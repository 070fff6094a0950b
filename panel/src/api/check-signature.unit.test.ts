import { expect, test } from "vitest";
import { checkSignature } from "./check-signature.ts";

/** From the page "Verifying webhooks". */
const CLAIM = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"text":"Olá, Bia 👋 — 請"}',
  eventId: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP",
  timestamp: "1795176001",
  signature: "",
};
const BODY = "sha256=edbdd58a77f95b1dfedc90c58c009c732000c35d4216c2919bce05ecde5f8174";
const STANDARD = "v1,iP+1yYySr5/I+EwF62O3jJCJxN/CqEvFsMdhXA8fM6E=";

test("both signatures of a published example are computed", async () => {
  expect(await checkSignature(CLAIM)).toEqual({ body: BODY, standard: STANDARD, isGenuine: undefined });
});

test.each([BODY, STANDARD, `v1,AAAA ${STANDARD}`, ` ${BODY}\n`])(
  "the genuine signature %s is recognised",
  async (signature) => {
    expect(await checkSignature({ ...CLAIM, signature })).toMatchObject({ isGenuine: true });
  },
);

test("a signature with another secret, and one of a changed body, are refused", async () => {
  const secret = "whsec_c2VjcmV0LW9mLXRoZS1kZWxpdmVyeS1zdG9yeS0xMjM0NTY3OA==";
  expect(await checkSignature({ ...CLAIM, secret, signature: BODY })).toMatchObject({ isGenuine: false });
  const body = `${CLAIM.body} `;
  expect(await checkSignature({ ...CLAIM, body, signature: STANDARD })).toMatchObject({ isGenuine: false });
});

test.each(["sha256=", BODY.slice(0, -2), BODY.replace("sha256", "md5"), STANDARD.slice(0, -2)])(
  "the incomplete signature %s is refused",
  async (signature) => {
    expect(await checkSignature({ ...CLAIM, signature })).toMatchObject({ isGenuine: false });
  },
);

test("a standard signature without its timestamp is neither accepted nor refused", async () => {
  const check = await checkSignature({ ...CLAIM, timestamp: "", signature: STANDARD });
  expect(check).toEqual({ body: BODY, standard: undefined, isGenuine: undefined });
});
