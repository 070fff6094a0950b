import { describe, expect, test } from "vitest";
import { readClientSettings } from "./read-client-settings.ts";

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
