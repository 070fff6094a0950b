import { SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createAccessTokens } from "./access-tokens.ts";

const tokens = createAccessTokens({ secretKey: "a".repeat(43), lifetimeSeconds: 600 });
const claims = { user_id: 7, sign_in: "01J00000000000000000000000" };

const part = (token: string, at: number) =>
  JSON.parse(Buffer.from(token.split(".")[at] ?? "", "base64url").toString());

describe("a sign-in token", () => {
  it("contains the user, the sign-in and the id of its key", async () => {
    const token = await tokens.sign(claims);
    expect(await tokens.verify(token)).toEqual(claims);
    expect(part(token, 0)).toEqual({
      alg: "HS256",
      typ: "JWT",
      kid: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const { jti, iat, nbf, exp, ...rest } = part(token, 1);
    expect(rest).toEqual({ sub: "7", sid: claims.sign_in, iss: "waygate", aud: "waygate-api" });
    expect([exp - iat, nbf - iat]).toEqual([600, 0]);
    expect(jti).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("of the previous key is valid while both keys are known, and new tokens use the new key", async () => {
    const changing = createAccessTokens({
      secretKey: "b".repeat(43),
      secondKey: "a".repeat(43),
      lifetimeSeconds: 600,
    });
    expect(await changing.verify(await tokens.sign(claims))).toEqual(claims);
    await expect(tokens.verify(await changing.sign(claims))).rejects.toMatchObject({ code: "INVALID_TOKEN" });
  });

  it("of one gateway is not valid at another gateway", async () => {
    const other = createAccessTokens({ secretKey: "b".repeat(43), lifetimeSeconds: 600 });
    await expect(tokens.verify(await other.sign(claims))).rejects.toMatchObject({ code: "INVALID_TOKEN" });
  });

  it.each(["expired", "from the future", "of another issuer", "for another audience", "without an id"])(
    "is rejected if it is %s, even with a correct signature",
    async (fault) => {
      const { kid } = part(await tokens.sign(claims), 0);
      const { createHash, hkdfSync } = await import("node:crypto");
      const key = new Uint8Array(hkdfSync("sha256", "a".repeat(43), "", "waygate sign-in tokens", 32));
      expect(createHash("sha256").update(key).digest("hex").startsWith(kid)).toBe(true);
      const now = Math.floor(Date.now() / 1000);
      const forged = new SignJWT({ sid: "x", ...(fault !== "without an id" && { jti: "1" }) })
        .setProtectedHeader({ alg: "HS256", kid })
        .setSubject("7")
        .setIssuer(fault === "of another issuer" ? "evil" : "waygate")
        .setAudience(fault === "for another audience" ? "evil" : "waygate-api")
        .setNotBefore(fault === "from the future" ? now + 3600 : now - 10)
        .setExpirationTime(fault === "expired" ? now - 60 : now + 7200);
      await expect(tokens.verify(await forged.sign(key))).rejects.toMatchObject({ code: "INVALID_TOKEN" });
    },
  );

  it("is rejected with one response if unsigned, altered, cut or noise", async () => {
    const token = await tokens.sign(claims);
    const [head = "", body = "", signature = ""] = token.split(".");
    const header = (fields: object) => Buffer.from(JSON.stringify(fields)).toString("base64url");
    const { kid } = part(token, 0);
    const bad = [
      new UnsecuredJWT({ sid: "x" }).setSubject("7").setIssuer("waygate").encode(),
      `${header({ alg: "none", kid })}.${body}.`,
      `${header({ alg: "HS512", kid })}.${body}.${signature}`,
      `${header({ alg: "RS256", kid })}.${body}.${signature}`,
      `${header({ alg: "HS256", kid: "other" })}.${body}.${signature}`,
      `${header({ alg: "HS256" })}.${body}.${signature}`,
      `${head}.${body}.${signature.slice(1)}`,
      `${head}.${body}`,
      token.slice(0, -20),
      "",
      "x",
      "a.b.c",
      "x".repeat(100_000),
    ];
    const messages = new Set<string>();
    for (const one of bad) {
      const refusal: Error = await tokens.verify(one).then(
        () => expect.fail(one),
        (error) => error,
      );
      expect(refusal).toMatchObject({ code: "INVALID_TOKEN" });
      messages.add(refusal.message);
    }
    expect(messages.size).toBe(1);
  });
});
