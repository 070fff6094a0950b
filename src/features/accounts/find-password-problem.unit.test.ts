import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { describe, expect, it, vi } from "vitest";
import { findPasswordProblem } from "./find-password-problem.ts";

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
    expect(await findPasswordProblem(password)).toMatch(fault);
  });

  it("cannot be derived from the user's name or e-mail", async () => {
    expect(await findPasswordProblem("fulano.silva99", ["fulano.silva@example.com"])).toMatch(/e-mail/);
    expect(await findPasswordProblem("fulano likes red tractors", ["fulano@example.com"])).toBeUndefined();
  });

  it("is as strong as its beginning or its end, whatever its length", async () => {
    expect(await findPasswordProblem(`${"a".repeat(500)}Kv9#fq2LmzP0xW`)).toBeUndefined();
    expect(await findPasswordProblem(`Kv9#fq2LmzP0xW${"a".repeat(500)}`)).toBeUndefined();
    expect(await findPasswordProblem("a".repeat(1024))).toMatch(/repeats/);
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
    expect(await findPasswordProblem("🦊🐻🐼🐨🐯🦁")).toMatch(/at least 12/);
  });
});
