import { describe, expect, it } from "vitest";
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
  ])("may be %j", (password) => {
    expect(findPasswordProblem(password)).toBeUndefined();
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
  ])("may not be %j", (password, fault) => {
    expect(findPasswordProblem(password)).toMatch(fault);
  });

  it("may not be made of the name or the e-mail of its user", () => {
    expect(findPasswordProblem("fulano.silva99", ["fulano.silva@example.com"])).toMatch(/e-mail/);
    expect(findPasswordProblem("fulano likes red tractors", ["fulano@example.com"])).toBeUndefined();
  });

  it("counts characters, not code units", () => {
    expect(findPasswordProblem("🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧")).toBeUndefined();
    expect(findPasswordProblem("🦊🐻🐼🐨🐯🦁")).toMatch(/at least 12/);
  });
});
