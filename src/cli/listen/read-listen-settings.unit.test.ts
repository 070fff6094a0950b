import { describe, expect, test } from "vitest";
import { type ListenOptionTexts, readListenSettings, readSince } from "./read-listen-settings.ts";

const KEY = { WAYGATE_API_KEY: "wg_a" };
const NOW = new Date("2026-11-20T12:00:00Z");
const read = (env: Record<string, string>, texts: Partial<ListenOptionTexts> = {}) =>
  readListenSettings(env, { host: "127.0.0.1", port: "0", ...texts }, NOW);

describe("the settings of waygate listen", () => {
  test("with a key are a webhook for every event, on a free port of this machine", () => {
    const settings = read(KEY);
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
    expect(read(env, { secret: "whsec_c" })).toMatchObject({ secret: "whsec_c" });
    expect(read(env, { secret: "whsec_c" }).gateway).toBeUndefined();
    expect(read(env).secret).toBeUndefined();
    expect(read({ WEBHOOK_SECRET: "whsec_b" })).toMatchObject({ secret: "whsec_b" });
  });

  test("have the names of events one by one, and an address with its slash", () => {
    const settings = read(KEY, { events: " message.received, instance.*,", publicUrl: "https://t.example" });
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
    expect(() => read(KEY, texts)).toThrow(
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
