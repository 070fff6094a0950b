import { homedir } from "node:os";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WaygateError } from "../client/client.ts";
import type { DoctorFinding } from "../core/health/doctor-checks.ts";
import { CommandError } from "./command-error.ts";
import { toDoctorReport } from "./doctor.ts";
import { type ListenOptionTexts, readListenSettings, readSince } from "./listen/read-listen-settings.ts";
import { startProgressPrinter } from "./operator/progress-printer.ts";
import { readClientSettings } from "./read-client-settings.ts";
import { readField } from "./read-field.ts";
import { toCommandError } from "./to-command-error.ts";
import { toTerminalJson, toTerminalText } from "./to-terminal-text.ts";
import { readTrySettings, type TryOptionTexts } from "./try/read-try-settings.ts";
import { commandName } from "./try/try-command.ts";

const URL = "http://127.0.0.1:3000";
const messageOf = (error: unknown) => toCommandError(error, URL).message;
const refusal = (status: number, body: unknown) =>
  new WaygateError(status, new Headers({ "x-request-id": "req_1" }), body);

describe("the failure of a command", () => {
  test("has the gateway's code and message, what to do at a command line, and the request id", () => {
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
      "http://127.0.0.1:3000 responded with status 404, and not as a Waygate gateway does. Check --url or WAYGATE_BASE_URL.",
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

  test("stays unchanged if it is complete, and a bug stays a bug", () => {
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

describe("the settings of a command that calls the gateway", () => {
  test("are those of a gateway on this machine without any option or variable", () => {
    expect(readClientSettings({}, {})).toEqual({ baseUrl: "http://127.0.0.1:3000" });
  });

  test("follow the port of the gateway in the same shell, but not an address that is wrong", () => {
    expect(readClientSettings({ WAYGATE_PORT: "3600" }, {}).baseUrl).toBe("http://127.0.0.1:3600");
    const named = { WAYGATE_PORT: "3600", WAYGATE_BASE_URL: "http://b:1" };
    expect(readClientSettings(named, {}).baseUrl).toBe("http://b:1");
    for (const port of ["0", "tcp://10.0.0.1:80", ""])
      expect(readClientSettings({ WAYGATE_PORT: port }, {}).baseUrl).toBe("http://127.0.0.1:3000");
  });

  test("come from the variables, and an option wins over its variable", () => {
    const env = {
      WAYGATE_BASE_URL: "https://a.example/",
      WAYGATE_API_KEY: " wg_a\n",
      WAYGATE_INSTANCE_ID: "7",
    };
    expect(readClientSettings(env, {})).toEqual({
      baseUrl: "https://a.example",
      apiKey: "wg_a",
      instanceId: 7,
    });
    expect(readClientSettings(env, { url: "http://b:1//", key: "wg_b", instance: "8" })).toEqual({
      baseUrl: "http://b:1",
      apiKey: "wg_b",
      instanceId: 8,
    });
  });

  test.each([
    [{ url: "localhost:3000" }, "--url or WAYGATE_BASE_URL"],
    [{ url: "ftp://x" }, "--url or WAYGATE_BASE_URL"],
    [{ key: "wg_\u00e9" }, "--key or WAYGATE_API_KEY"],
    [{ instance: "0" }, "--instance or WAYGATE_INSTANCE_ID"],
    [{ instance: "1e3" }, "--instance or WAYGATE_INSTANCE_ID"],
  ])("are refused by name if %j is wrong", (options, name) => {
    expect(() => readClientSettings({}, options)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(name) }),
    );
  });

  test("do not show a key that is refused", () => {
    expect(() => readClientSettings({ WAYGATE_API_KEY: "top secret" }, {})).toThrow(/^(?!.*top secret)/);
  });
});

const readTry = (env: Record<string, string>, texts: Partial<TryOptionTexts> = {}) =>
  readTrySettings(env, { host: "127.0.0.1", port: "0", ...texts });

describe("the settings of waygate try", () => {
  test("start a gateway if neither a gateway nor a sign-in is named", () => {
    expect(readTry({}).gateway).toBeUndefined();
    expect(readTry({}, { keep: true }).keep).toBe(true);
    expect(readTry({ WAYGATE_BASE_URL: "https://wa.example.com" }).gateway).toBeUndefined();
  });

  test("sign in as the owner of the first start if only a password is given", () => {
    expect(readTry({ WAYGATE_PASSWORD: " pass word " }).gateway).toEqual({
      baseUrl: "http://127.0.0.1:3000",
      signIn: { email: "owner@localhost", password: " pass word " },
    });
  });

  test("prefer options to the environment", () => {
    const env = { WAYGATE_BASE_URL: "http://a:1", WAYGATE_TOKEN: "old", WAYGATE_EMAIL: "a@b.c" };
    expect(readTry(env).gateway).toEqual({ baseUrl: "http://a:1", signIn: { token: "old" } });
    expect(readTry(env, { url: "http://b:2/", token: "new", password: "x" }).gateway).toEqual({
      baseUrl: "http://b:2",
      signIn: { token: "new" },
    });
    expect(readTry(env, { password: "x" }).gateway?.signIn).toEqual({ email: "a@b.c", password: "x" });
  });

  test.each<[Record<string, string>, Partial<TryOptionTexts>, string]>([
    [{}, { url: "http://a" }, "Sign in to this gateway"],
    [{}, { email: "a@b.c" }, "Give --password"],
    [{}, { token: "x", url: "a:1" }, "--url or WAYGATE_BASE_URL"],
    [{}, { token: "two words" }, "--token or WAYGATE_TOKEN"],
    [{}, { port: "x" }, "--port"],
  ])("with %j refuse %j and say why", (env, texts, words) => {
    expect(() => readTry(env, texts)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(words) }),
    );
  });
});

const KEY = { WAYGATE_API_KEY: "wg_a" };
const NOW = new Date("2026-11-20T12:00:00Z");
const readListen = (env: Record<string, string>, texts: Partial<ListenOptionTexts> = {}) =>
  readListenSettings(env, { host: "127.0.0.1", port: "0", ...texts }, NOW);

describe("the settings of waygate listen", () => {
  test("with a key are a webhook for every event, on a free port of this machine", () => {
    const settings = readListen(KEY);
    expect(settings).toMatchObject({
      host: "127.0.0.1",
      port: 0,
      gateway: { baseUrl: "http://127.0.0.1:3000", apiKey: "wg_a" },
      replay: [],
      json: false,
      verbose: false,
    });
    expect(settings.events).toEqual(expect.arrayContaining(["message.received", "media.ready"]));
    expect(settings.events).not.toContain("webhook.sent");
  });

  test("prefer a secret that is typed to a key, and a key to a secret of the environment", () => {
    const env = { ...KEY, WEBHOOK_SECRET: "whsec_b" };
    expect(readListen(env, { secret: "whsec_c" })).toMatchObject({ secret: "whsec_c" });
    expect(readListen(env, { secret: "whsec_c" }).gateway).toBeUndefined();
    expect(readListen(env).secret).toBeUndefined();
    expect(readListen({ WEBHOOK_SECRET: "whsec_b" })).toMatchObject({ secret: "whsec_b" });
  });

  test("have the names of events one by one, and an address with its slash", () => {
    const settings = readListen(KEY, {
      events: " message.received, instance.*,",
      publicUrl: "https://t.example",
    });
    expect(settings.events).toEqual(["message.received", "instance.*"]);
    expect(settings.publicUrl).toBe("https://t.example/");
  });

  test.each<[Partial<ListenOptionTexts>, string]>([
    [{ port: "65536" }, "--port"],
    [{ port: "-1" }, "--port"],
    [{ port: "80.5" }, "--port"],
    [{ events: " , " }, "--events"],
    [{ forward: "localhost:8000" }, "--forward"],
    [{ publicUrl: "ftp://x" }, "--public-url"],
    [{ since: "yesterday" }, "--since"],
    [{ secret: "with space" }, "--secret"],
  ])("refuse %j and name the option", (texts, name) => {
    expect(() => readListen(KEY, texts)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(name) }),
    );
  });
});

describe("the time of --since", () => {
  test.each([
    ["30s", "2026-11-20T11:59:30.000Z"],
    ["15m", "2026-11-20T11:45:00.000Z"],
    ["2h", "2026-11-20T10:00:00.000Z"],
    ["1d", "2026-11-19T12:00:00.000Z"],
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00+01:00", "2026-01-31T11:00:00.000Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ])("%s is %s", (text, expected) => {
    expect(readSince(text, NOW).toISOString()).toBe(expected);
  });

  test.each(["", "5", "5w", "-5m", "2026-13-01", "20260131", "1".repeat(9_999)])("cannot be %j", (text) => {
    expect(() => readSince(text, NOW)).toThrow("--since");
  });
});

const INSTALLED = "/usr/lib/node_modules/waygate";

test.each([
  ["in a checkout", {}, "/home/me/waygate", "node bin/waygate.mjs"],
  ["by a script of a checkout", { npm_command: "run" }, "/home/me/waygate", "node bin/waygate.mjs"],
  ["by npx in a checkout", { npm_command: "exec" }, "/home/me/waygate", "node bin/waygate.mjs"],
  ["installed", {}, INSTALLED, "waygate"],
  ["by npx", { npm_command: "exec" }, INSTALLED, "npx waygate"],
  [
    "by npx from a file",
    { npm_command: "exec", npm_config_package: "/tmp/waygate-2.0.0.tgz" },
    INSTALLED,
    "npx --package=/tmp/waygate-2.0.0.tgz waygate",
  ],
  [
    "by npx with several packages",
    { npm_command: "exec", npm_config_package: "a\n\nb" },
    INSTALLED,
    "npx waygate",
  ],
])("a program that runs %s is run again in the same way", (_, env, root, name) => {
  expect(commandName(env, root)).toBe(name);
});
