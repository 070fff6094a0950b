import { describe, expect, test } from "vitest";
import {
  describeRedirect,
  findRedirectUriProblem,
  isRegisteredRedirectUri,
  policySourceOf,
} from "./redirect-uris.ts";

describe("a redirect address", () => {
  test.each([
    "https://claude.ai/api/mcp/auth_callback",
    "https://assistant.example:8443/callback?x=1",
    "http://127.0.0.1/callback",
    "http://localhost:33418/",
    "http://[::1]:1234/callback",
    "cursor://anysphere.cursor-retrieval/oauth/user-agent/callback",
    "com.example.app:/callback",
  ])("is accepted as %s", (uri) => {
    expect(findRedirectUriProblem(uri)).toBeUndefined();
  });

  test.each([
    "",
    "callback",
    "//evil.example/",
    "http://assistant.example/",
    "http://127.0.0.1.evil.example/",
    "http://127.1/callback#",
    "https://a.example/#fragment",
    "https://user@a.example/",
    "https://user:password@a.example/",
    "https://a.example/ b",
    "https://a.example/\r\nset-cookie:a",
    "https://a;script-src.example/",
    "https://",
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,a",
    "file:///etc/passwd",
    "blob:https://a.example/1",
    "vbscript:a",
    "ws://a.example/",
    "https://bücher.example/",
    `https://a.example/${"x".repeat(2_000)}`,
  ])("is refused as %j", (uri) => {
    expect(findRedirectUriProblem(uri)).toEqual(expect.any(String));
  });
});

describe("a redirect address of a request", () => {
  test.each([
    ["https://a.example/cb", "https://a.example/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:50123/cb"],
    ["http://localhost:1/cb?x=1", "http://localhost:65535/cb?x=1"],
    ["http://[::1]/cb", "http://[::1]:9/cb"],
  ])("fits the registered %s as %s", (registered, uri) => {
    expect(isRegisteredRedirectUri(["https://other.example/", registered], uri)).toBe(true);
  });

  test.each([
    ["https://a.example/cb", "https://a.example/cb/"],
    ["https://a.example/cb", "https://a.example:443/cb"],
    ["https://a.example/cb", "https://A.example/cb"],
    ["https://a.example/cb", "https://a.example/cb?code=1"],
    ["https://a.example/cb", "https://a.example/x/../cb"],
    ["https://a.example:1/cb", "https://a.example:2/cb"],
    ["http://127.0.0.1/cb", "http://localhost/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:80/other"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb"],
    ["http://127.0.0.1/cb", "https://127.0.0.1/cb"],
  ])("does not fit the registered %s as %s", (registered, uri) => {
    expect(isRegisteredRedirectUri([registered], uri)).toBe(false);
  });
});

test("a page says where the browser goes, and its policy permits only that place", () => {
  const shown = (uri: string) => [describeRedirect(uri), policySourceOf(uri)];
  expect(shown("https://a.example:8443/cb")).toEqual(["a.example:8443", "https://a.example:8443"]);
  expect(shown("http://127.0.0.1:5/cb")).toEqual([
    "a program on your own computer (127.0.0.1)",
    "http://127.0.0.1:5",
  ]);
  expect(shown("http://[::1]:5/cb")).toEqual(["a program on your own computer ([::1])", "http:"]);
  expect(shown("cursor://x/cb")).toEqual(["the program that opens cursor: links", "cursor:"]);
});
