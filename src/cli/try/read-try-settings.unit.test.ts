import { describe, expect, test } from "vitest";
import { readTrySettings, type TryOptionTexts } from "./read-try-settings.ts";

const read = (env: Record<string, string>, texts: Partial<TryOptionTexts> = {}) =>
  readTrySettings(env, { host: "127.0.0.1", port: "0", ...texts });

describe("the settings of waygate try", () => {
  test("start a gateway if neither a gateway nor a sign-in is named", () => {
    expect(read({}).gateway).toBeUndefined();
    expect(read({}, { keep: true }).keep).toBe(true);
  });

  test("sign in as the owner of the first start if only a password is given", () => {
    expect(read({ WAYGATE_PASSWORD: " pass word " }).gateway).toEqual({
      baseUrl: "http://127.0.0.1:3000",
      signIn: { email: "owner@localhost", password: " pass word " },
    });
  });

  test("prefer what is typed to the environment", () => {
    const env = { WAYGATE_URL: "http://a:1", WAYGATE_TOKEN: "old", WAYGATE_EMAIL: "a@b.c" };
    expect(read(env).gateway).toEqual({ baseUrl: "http://a:1", signIn: { token: "old" } });
    expect(read(env, { url: "http://b:2/", token: "new", password: "x" }).gateway).toEqual({
      baseUrl: "http://b:2",
      signIn: { token: "new" },
    });
    expect(read(env, { password: "x" }).gateway?.signIn).toEqual({ email: "a@b.c", password: "x" });
  });

  test.each<[Record<string, string>, Partial<TryOptionTexts>, string]>([
    [{}, { url: "http://a" }, "Sign in to this gateway"],
    [{ WAYGATE_URL: "http://a" }, {}, "Sign in to this gateway"],
    [{}, { email: "a@b.c" }, "Give --password"],
    [{}, { token: "x", url: "a:1" }, "--url or WAYGATE_URL"],
    [{}, { token: "two words" }, "--token or WAYGATE_TOKEN"],
    [{}, { port: "x" }, "--port"],
  ])("with %j refuse %j and say why", (env, texts, words) => {
    expect(() => read(env, texts)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(words) }),
    );
  });
});
