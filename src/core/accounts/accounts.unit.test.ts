import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { SignJWT } from "jose";
import { describe, expect, it, vi } from "vitest";
import { createAccessTokens } from "./access/access-tokens.ts";
import { createTrustedDevices } from "./sign-in/trusted-devices.ts";
import { Crowd } from "./sign-in/verify-password.ts";
import { findPasswordProblem } from "./users/find-password-problem.ts";
import { createPasswordHasher } from "./users/password-hasher.ts";

const SECRET = "s".repeat(43);
const devices = createTrustedDevices([SECRET]);

describe("the token of a known device", () => {
  it("names the user who signed in there, and the device", () => {
    const [one, other] = [devices.issue(17), devices.issue(17)].map((token) => devices.find(token));
    expect(one).toEqual({ id: expect.stringMatching(/^[\w-]{22}$/), user_id: 17 });
    expect(other).toMatchObject({ user_id: 17 });
    expect(other?.id).not.toBe(one?.id);
  });

  it("is still valid while the secret key is being changed", () => {
    const changed = createTrustedDevices(["n".repeat(43), SECRET]);
    expect(changed.find(devices.issue(17))).toMatchObject({ user_id: 17 });
  });

  it.each([
    ["names another user than it was given to", () => devices.issue(17).replace(/^17/, "18")],
    ["was signed with another key", () => createTrustedDevices(["t".repeat(43)]).issue(17)],
    [
      "is half a year old",
      () => createTrustedDevices([SECRET], () => Date.now() - 181 * 86_400_000).issue(17),
    ],
    ["is of tomorrow", () => createTrustedDevices([SECRET], () => Date.now() + 86_400_000).issue(17)],
    ["is nonsense", () => "x".repeat(100_000)],
    ["is empty", () => ""],
  ])("is invalid when it %s", (_, make) => {
    expect(devices.find(make())).toBeUndefined();
  });
});

describe("passwords", () => {
  it("are stored as argon2id with 19 MiB, two passes, one lane", async () => {
    const passwords = createPasswordHasher();
    const stored = await passwords.hash("correct horse battery staple");
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.verify(stored, "correct horse battery staple")).toBe(true);
    expect(await passwords.verify(stored, "correct horse battery stable")).toBe(false);
  });

  it("are equal in every Unicode composition of their letters", async () => {
    const passwords = createPasswordHasher();
    const stored = await passwords.hash("cora\u00e7\u00e3o de melancia");
    expect(await passwords.verify(stored, "corac\u0327a\u0303o de melancia")).toBe(true);
  });

  it("of unknown users never match, and are checked against a hash of the same cost", async () => {
    const checked: string[] = [];
    const passwords = createPasswordHasher(async (hash) => checked.push(hash) > 0);
    expect(await passwords.verify(undefined, "any")).toBe(false);
    expect(await passwords.verifyEach([undefined], "any")).toEqual([false]);
    const hash = expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(checked).toEqual([hash, hash]);
  });

  it("are rejected beyond two running and twenty waiting checks, with the time to wait", async () => {
    const passwords = createPasswordHasher();
    const stored = await passwords.hash("correct horse battery staple");
    const tries = await Promise.allSettled(
      Array.from({ length: 25 }, () => passwords.verify(stored, "correct horse battery staple")),
    );
    const refused = tries.filter((one) => one.status === "rejected");
    expect(tries.filter((one) => one.status === "fulfilled" && one.value)).toHaveLength(22);
    expect(refused).toHaveLength(3);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 1 });
    }
    expect(await passwords.verify(stored, "correct horse battery staple")).toBe(true);
  });
});

describe("a network that has failed too often", () => {
  it("draws lots among who waits, so that nobody is kept out by strangers who come first", async () => {
    const lots = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.9, 0.01];
    const random = vi.spyOn(Math, "random");
    const crowd = new Crowd();
    const came: number[] = [];
    const coming = lots.map(async (lot) => {
      random.mockReturnValueOnce(lot);
      const slot = await crowd.enter("192.0.2.1");
      came.push(lot);
      slot.release();
    });
    const ends = await Promise.allSettled(coming);
    const refused = lots.filter((_, nth) => ends[nth]?.status === "rejected");
    expect(refused).toEqual([0.1, 0.05, 0.01]);
    expect(came).toEqual([0.5, 0.9, 0.4, 0.3, 0.2]);
    expect(ends[5]).toMatchObject({ reason: { code: "RATE_LIMITED", retryAfterSeconds: 1 } });
  });
});

describe("a new password", () => {
  it.each([
    "correct horse battery staple",
    "Kv9#fq2LmzP0xW",
    "chuva de abacaxi no telhado",
    "tr0mbone-gravel-Oyster",
    "пароль-из-разных-слов",
    "blue summer chocolate monkey",
    "N0b0dy expects an inquisition",
  ])("can be %j", async (password) => {
    expect(await findPasswordProblem(password)).toBeUndefined();
  });

  it.each([
    ["short", /at least 12/],
    ["elevenchars", /at least 12/],
    ["x7Gq-".repeat(205), /at most 1024/],
    ["aaaaaaaaaaaa", /repeats/],
    ["121212121212", /repeats/],
    ["123456789012", /common/],
    ["1234567890123456", /common/],
    ["qwertyuiop12345", /common/],
    ["1qaz2wsx3edc4rfv", /common/],
    ["abcdefghijkl", /common/],
    ["password1234", /common/],
    ["Password123!", /common/],
    ["P@ssw0rd2024!", /common/],
    ["passwordpassword", /common/],
    ["Administrator1", /common/],
    ["welcome123456", /common/],
    ["iloveyou1234", /common/],
    ["changemechangeme", /common/],
    ["admin-admin-admin", /common/],
    ["WaygateAdmin2026", /common/],
    ["alexander123", /common/],
    ["metallica123", /common/],
    ["jesuscristo1", /common/],
    ["trocar123456", /common/],
    ["Mudar@123456", /common/],
    ["Liverpool1234", /common/],
    ["flamengo12345", /common/],
    ["password".repeat(100), /common/],
    ["1q2w3e4r5t6y7u8i9o0p", /common/],
    ["zxcvbnmasdfghjkl", /common/],
  ])("cannot be %j", async (password, fault) => {
    expect((await findPasswordProblem(password))?.issue).toMatch(fault);
  });

  it("cannot be derived from the user's name or e-mail", async () => {
    const found = await findPasswordProblem("fulano.silva99", ["fulano.silva@example.com"]);
    expect(found?.issue).toMatch(/e-mail/);
    expect(await findPasswordProblem("fulano likes red tractors", ["fulano@example.com"])).toBeUndefined();
  });

  it("is as strong as its beginning or its end, whatever its length", async () => {
    expect(await findPasswordProblem(`${"a".repeat(500)}Kv9#fq2LmzP0xW`)).toBeUndefined();
    expect(await findPasswordProblem(`Kv9#fq2LmzP0xW${"a".repeat(500)}`)).toBeUndefined();
    expect((await findPasswordProblem("a".repeat(1024)))?.issue).toMatch(/repeats/);
  });

  it.each(["p@$$w0rd4", "4@(1|!$5+7", "1!", "ab1", "qwertyuiop", "19991231", "xX9"])(
    "costs the same at any length, also 1,024 characters of %j: at most 24 are estimated at a time",
    async (unit) => {
      const check = vi.spyOn(ZxcvbnFactory.prototype, "check");
      const password = unit.repeat(1024).slice(0, 1024);
      await findPasswordProblem(password, ["Ana Souza", "ana.souza@example.com"]);
      const lengths = check.mock.calls.map(([estimated]) => estimated.length);
      expect(lengths.length).toBeGreaterThan(0);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(24);
      expect(lengths.length).toBeLessThanOrEqual(4);
    },
  );

  it("is measured in characters, not in code units", async () => {
    expect(await findPasswordProblem("🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧")).toBeUndefined();
    expect(await findPasswordProblem("🦊🐻🐼🐨🐯🦁")).toMatchObject({
      code: "too_short",
      params: { min: 12 },
    });
  });
});

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
});
