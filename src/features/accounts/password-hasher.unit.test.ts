import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../../test/cpu-time.ts";
import { createPasswordHasher, needsRehash, UNKNOWN_USER } from "./password-hasher.ts";

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

  it("of unknown users never match, and take as long to check", async () => {
    const passwords = createPasswordHasher();
    const stored = await passwords.hash("correct horse battery staple");
    const cpuMs = (hash: string | undefined) =>
      cpuMsOf(async () => expect(await passwords.verify(hash, "wrong")).toBe(false));
    const ratios: number[] = [];
    for (let i = 0; i < 8; i++) ratios.push((await cpuMs(undefined)) / (await cpuMs(stored)));
    // Without a hash to check it would be a thousandth.
    expect(Math.max(...ratios)).toBeGreaterThan(0.2);
  });

  it("of unknown users are checked with the parameters of new hashes", () => {
    expect(needsRehash(UNKNOWN_USER)).toBe(false);
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
