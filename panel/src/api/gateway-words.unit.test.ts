import { createTranslator } from "use-intl";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/platform/error-codes.ts";
import { faults as en } from "../i18n/messages/en/faults.ts";
import { faults as es } from "../i18n/messages/es/faults.ts";
import { needsDetail, readIssue, splitReason } from "./gateway-words.ts";

test.each([
  ["may contain only digits, spaces and + ( ) - .", "signs", "", ""],
  ["must have 7 to 15 digits, with country and area code", "digits", "7", "15"],
  ["names the same lead as line 3", "twice", "3", ""],
  ["must be a time in ISO 8601, such as 2026-01-31T12:00:00Z", "moment", "", ""],
  ["is empty", "empty", "", ""],
  ["is required, or the id of a lead", "required", "", ""],
  ["is longer than 64 characters", "long", "64", ""],
  ["must be a whole number from 0 to 3600 or null", "wholeRange", "0", "3600"],
  ["must be one of S, M, L", "oneOf", "S, M, L", ""],
  ["The receiver responded with 500.", "receiver", "500", ""],
  ["No delivery has succeeded for 5 days.", "silent", "5", ""],
])("the panel knows the issue %s", (text, kind, a, b) => {
  expect(readIssue(text)).toEqual({ kind, a, b });
});

test("the panel does not guess at an issue that it does not know", () => {
  expect(readIssue("is not a JID")).toBeUndefined();
});

test("a reason is split into its field and its issue", () => {
  expect(splitReason("custom_fields.size: must be a number")).toEqual({
    field: "custom_fields.size",
    issue: "must be a number",
  });
  expect(splitReason("The webhook: gone")).toEqual({ field: undefined, issue: "The webhook: gone" });
});

test("an issue in words has one full stop, and none that stands for a sign", () => {
  const t = createTranslator({ locale: "es", messages: es, namespace: "faults" });
  expect(t("issues.signs")).not.toMatch(/\.$/);
  expect(t("issues.twice", { a: "3" })).toBe("es el mismo contacto que el de la línea 3");
});

/** Codes of calls that the panel never makes. */
const ELSEWHERE = [
  "IDEMPOTENCY_MISMATCH",
  "HEADERS_TOO_LARGE",
  "METHOD_NOT_ALLOWED",
  "PASSWORD_REQUIRED",
  "ROUTE_NOT_FOUND",
];

test("every code of the gateway has a sentence", () => {
  const known = Object.keys(en.faults.codes);
  expect(
    Object.keys(ERROR_CODES)
      .filter((code) => !known.includes(code))
      .sort(),
  ).toEqual(ELSEWHERE.sort());
});

test("a thing that does not exist needs no words of the gateway, and a conflict does", () => {
  expect([needsDetail("NOT_FOUND"), needsDetail("CONFLICT")]).toEqual([false, true]);
});
