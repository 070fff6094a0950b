import { describe, expect, test } from "vitest";
import { type ListenOptionTexts, readListenSettings, readSince } from "./listen/read-listen-settings.ts";
import { readClientSettings } from "./read-client-settings.ts";
import { commandName } from "./try/command-name.ts";
import { readTrySettings, type TryOptionTexts } from "./try/read-try-settings.ts";

describe("the settings of a command that calls the gateway", () => {
  test("are those of a gateway on this machine without any option or variable", () => {
    expect(readClientSettings({}, {})).toEqual({ baseUrl: "http://127.0.0.1:3000" });
  });

  test("come from the variables, and an option wins over its variable", () => {
    const env = { WAYGATE_URL: "https://a.example/", WAYGATE_API_KEY: " wg_a\n", WAYGATE_INSTANCE_ID: "7" };
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
    [{ url: "localhost:3000" }, "--url or WAYGATE_URL"],
    [{ url: "ftp://x" }, "--url or WAYGATE_URL"],
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
  });

  test("sign in as the owner of the first start if only a password is given", () => {
    expect(readTry({ WAYGATE_PASSWORD: " pass word " }).gateway).toEqual({
      baseUrl: "http://127.0.0.1:3000",
      signIn: { email: "owner@localhost", password: " pass word " },
    });
  });

  test("prefer what is typed to the environment", () => {
    const env = { WAYGATE_URL: "http://a:1", WAYGATE_TOKEN: "old", WAYGATE_EMAIL: "a@b.c" };
    expect(readTry(env).gateway).toEqual({ baseUrl: "http://a:1", signIn: { token: "old" } });
    expect(readTry(env, { url: "http://b:2/", token: "new", password: "x" }).gateway).toEqual({
      baseUrl: "http://b:2",
      signIn: { token: "new" },
    });
    expect(readTry(env, { password: "x" }).gateway?.signIn).toEqual({ email: "a@b.c", password: "x" });
  });

  test.each<[Record<string, string>, Partial<TryOptionTexts>, string]>([
    [{}, { url: "http://a" }, "Sign in to this gateway"],
    [{ WAYGATE_URL: "http://a" }, {}, "Sign in to this gateway"],
    [{}, { email: "a@b.c" }, "Give --password"],
    [{}, { token: "x", url: "a:1" }, "--url or WAYGATE_URL"],
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
