import { homedir } from "node:os";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WaygateError } from "../client/client.ts";
import type { DoctorFinding } from "../features/health/doctor-checks.ts";
import { CommandError } from "./command-error.ts";
import { toDoctorReport } from "./doctor-report.ts";
import { startProgressPrinter } from "./progress-printer.ts";
import { readField } from "./read-field.ts";
import { toCommandError } from "./to-command-error.ts";
import { toTerminalJson, toTerminalText } from "./to-terminal-text.ts";

const URL = "http://127.0.0.1:3000";
const messageOf = (error: unknown) => toCommandError(error, URL).message;
const refusal = (status: number, body: unknown) =>
  new WaygateError(status, new Headers({ "x-request-id": "req_1" }), body);

describe("the failure of a command", () => {
  test("has the gateway's code and words, what to do at a command line, and the request", () => {
    expect(messageOf(refusal(401, { code: "INVALID_API_KEY", message: "The key is not valid." }))).toBe(
      [
        "INVALID_API_KEY: The key is not valid.",
        "Give the instance's current key with --key or WAYGATE_API_KEY.",
        "Request: req_1",
      ].join("\n"),
    );
  });

  test("has the advice of the reference for every other code", () => {
    expect(messageOf(refusal(413, { code: "PAYLOAD_TOO_LARGE", message: "Too large." }))).toContain(
      "Send less, or split the request.",
    );
  });

  test("says when the address is not that of a gateway", () => {
    expect(messageOf(refusal(404, "<html>"))).toBe(
      "http://127.0.0.1:3000 responded with status 404, and not as a Waygate gateway does. Check --url or WAYGATE_URL.",
    );
  });

  test("says when nothing listens there, or nothing responds", () => {
    const lost = new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
    expect(messageOf(lost)).toContain("http://127.0.0.1:3000 cannot be reached (ECONNREFUSED)");
    expect(messageOf(new DOMException("late", "TimeoutError"))).toContain("did not respond in time");
  });

  test("exists for a code and a message of any type", () => {
    for (const code of [7, {}, null, "__proto__"]) {
      expect(messageOf(refusal(400, { code, message: { deep: [] } }))).toMatch(/\w/);
    }
  });

  test("holds nothing that a terminal interprets", () => {
    const evil = { code: "\u001b[2J", message: "\u009b31m\u0007" };
    expect(messageOf(refusal(400, evil)).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("stays as it is if it already says all, and a bug stays a bug", () => {
    const known = new CommandError("known");
    expect(toCommandError(known, URL)).toBe(known);
    expect(() => toCommandError(new RangeError("bug"), URL)).toThrow(RangeError);
  });
});

const HOSTILE = "a\u001b[2J\u009b31m\u0007\u007f\u202eb\u2066\u2028c\ufeff\ud800";
const ACTIVE = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufeff]/u;

describe("a foreign text on a terminal", () => {
  test("has every control character and mark of direction written out", () => {
    expect(toTerminalText(HOSTILE)).toBe(
      "a\\u001b[2J\\u009b31m\\u0007\\u007f\\u202eb\\u2066\\u2028c\\ufeff\\ud800",
    );
    expect(toTerminalText(HOSTILE)).not.toMatch(ACTIVE);
  });

  test("stays on one line", () => {
    expect(toTerminalText("one\r\ntwo\tthree")).toBe("one\\r\\ntwo\\tthree");
  });

  test("keeps letters of every script and joined emoji", () => {
    const text = "Olá, שלום, 你好 👩‍👩‍👧";
    expect(toTerminalText(text)).toBe(text);
  });

  test("is cut after the given length, also in the middle of a surrogate pair", () => {
    expect(toTerminalText("abcdef", 3)).toBe("abc…");
    expect(toTerminalText("ab😀", 3)).toBe("ab\\ud83d…");
    expect(toTerminalText("abc", 3)).toBe("abc");
  });
});

describe("foreign JSON on a terminal", () => {
  const value = { text: HOSTILE, list: [1, null, "two\nlines"] };

  test.each([undefined, 2])("has the same content without an active character, with indent %s", (indent) => {
    const shown = toTerminalJson(value, indent);
    expect(JSON.parse(shown)).toEqual(value);
    expect(shown).not.toMatch(ACTIVE);
  });

  test("without an indent is one line", () => {
    expect(toTerminalJson(value)).not.toContain("\n");
    expect(toTerminalJson(undefined)).toBe("null");
  });
});

test("a progress printer reports long work every few seconds, and prints nothing for short work", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const progress = startProgressPrinter((line) => lines.push(line));
  progress.advanceBy(500, "rows");
  vi.advanceTimersByTime(2_999);
  progress.advanceBy(500, "rows");
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  progress.advanceBy(500, "rows");
  progress.advanceBy(500, "rows");
  vi.advanceTimersByTime(3_000);
  progress.advanceTo(7, "links");
  expect(lines).toEqual(["... 1500 rows", "... 7 links"]);
});

test("a field of a value of any shape is read without its prototype", () => {
  expect(readField({ a: { b: 1 } }, "a", "b")).toBe(1);
  expect(readField({ a: null }, "a")).toBeUndefined();
  expect(readField({}, "constructor")).toBeUndefined();
  expect(readField("text", "length")).toBeUndefined();
});

const about = (detail: string, fix?: string): DoctorFinding[] => [
  { label: "media store", grade: "warn", detail, ...(fix !== undefined && { fix }) },
];
const detailOf = (detail: string, env = {}) => toDoctorReport(about(detail), env).checks[0]?.detail;

describe("the report of the doctor in JSON", () => {
  test("names each check without spaces, with null for a fix that is not needed", () => {
    expect(toDoctorReport(about("slow", "Buy a disk."), {}).checks).toEqual([
      { check: "media_store", grade: "warn", detail: "slow", fix: "Buy a disk." },
    ]);
    expect(toDoctorReport(about("fine"), {}).checks[0]?.fix).toBeNull();
  });

  test("is healthy unless a check failed", () => {
    expect(toDoctorReport(about("x"), {}).healthy).toBe(true);
    expect(toDoctorReport([{ label: "port", grade: "fail", detail: "x" }], {}).healthy).toBe(false);
  });

  test("masks passwords, paths that may be tokens, and queries of addresses", () => {
    expect(detailOf("postgres://ana:pa55@db.example/shop is away")).toBe(
      "postgres://***@db.example/shop is away",
    );
    expect(detailOf("see https://x.example/T0kenT0ken?key=abc.")).toBe("see https://x.example/***?key=***");
  });

  test("masks the value of every variable that may be a secret, wherever it appears", () => {
    const env = { WAYGATE_SECRET_KEY: "8fJ2mQ7vXc4RtY9w", PATH: "/usr/bin", PGPASSWORD: " a-good-one " };
    expect(detailOf("key 8fJ2mQ7vXc4RtY9w, a-good-one, /usr/bin", env)).toBe("key ****, ****, /usr/bin");
  });

  test("does not name the user of the home directory", () => {
    expect(detailOf(`${homedir()}/data: 5 MiB free`)).toBe("~/data: 5 MiB free");
  });
});
