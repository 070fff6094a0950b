import { describe, expect, it, test } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { BLOCKED_MESSAGE } from "./classify-fetch-failure.ts";
import { maskUrl, originOfUrl } from "./mask-url.ts";
import { type OutgoingTarget, parseOutgoingTarget, type TargetRules } from "./outgoing-target.ts";

const RULES: TargetRules = {
  policy: createAddressPolicy({ allowedHosts: ["external"] }),
  httpsOnly: false,
  isProxied: false,
};

const parse = (text: string, rules: Partial<TargetRules> = {}) =>
  parseOutgoingTarget(text, { ...RULES, ...rules });

function targetOf(text: string, rules: Partial<TargetRules> = {}): OutgoingTarget {
  const target = parse(text, rules);
  if ("failure" in target) throw new Error(target.error);
  return target;
}

describe("the URL of an outgoing request", () => {
  test.each([
    ["http://hooks.test/a?b=c", "hooks.test", 80, false],
    ["https://hooks.test/", "hooks.test", 443, false],
    ["https://hooks.test:8443/", "hooks.test", 8443, false],
    ["http://HOOKS.test:443/", "hooks.test", 443, false],
    ["http://8.8.8.8/", "8.8.8.8", 80, true],
    ["https://[2606:4700::1111]:8443/", "[2606:4700::1111]", 8443, true],
  ])("names host and port, and whether the host is an address: %s", (text, host, port, isLiteral) => {
    expect(targetOf(text)).toMatchObject({ host, port, isLiteral, authorization: undefined });
    expect(targetOf(text).url.href).toBe(new URL(text).href);
  });

  test.each([
    ["https://bia:secret@hooks.test/", "bia:secret"],
    ["https://bia@hooks.test/", "bia:"],
    ["https://:secret@hooks.test/", ":secret"],
    ["https://b%40x:a%3Ab@hooks.test/", "b@x:a:b"],
    ["https://50%:%zz@hooks.test/", "50%:%zz"],
  ])("carries user name and password as basic authorization: %s", (text, pair) => {
    expect(targetOf(text).authorization).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
  });

  test("may have at most 2048 characters", () => {
    const longest = `https://hooks.test/${"a".repeat(2_048 - "https://hooks.test/".length)}`;
    expect(targetOf(longest).host).toBe("hooks.test");
    expect(parse(`${longest}a`)).toEqual({
      failure: "invalid_url",
      error: "The URL is longer than 2048 characters.",
    });
  });

  test.each([
    "",
    "hooks.test",
    "https://",
    "https://hooks.test/\n",
    "https://hooks\t.test/",
    "https://hooks.test/\ud800",
  ])("is not valid: %j", (text) => {
    expect(parse(text)).toEqual({ failure: "invalid_url", error: "This is not a valid URL." });
  });

  test.each(["ftp://hooks.test/", "file:///etc/passwd", "ws://hooks.test/", "javascript:alert(1)"])(
    "has another scheme than HTTP: %s",
    (text) => {
      expect(parse(text)).toEqual({
        failure: "invalid_url",
        error: "The URL must begin with http:// or https://.",
      });
    },
  );

  test.each(["http://hooks.test/", "ftp://hooks.test/"])(
    "is rejected where only HTTPS is allowed: %s",
    (text) => {
      expect(parse(text, { httpsOnly: true })).toEqual({
        failure: "invalid_url",
        error: "The URL must begin with https://.",
      });
      expect(targetOf("https://hooks.test/", { httpsOnly: true }).port).toBe(443);
    },
  );
});

describe("the target of an outgoing request", () => {
  const BLOCKED = { failure: "blocked", error: BLOCKED_MESSAGE };

  test.each([
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://10.0.0.1/",
  ])("is blocked at once if its address is not allowed: %s", (text) => {
    expect(parse(text)).toEqual(BLOCKED);
    expect(parse(text, { isProxied: true })).toEqual(BLOCKED);
  });

  test("is checked after the DNS lookup if it is a name", () => {
    expect(targetOf("http://localhost/").isLiteral).toBe(false);
  });

  test("is checked by its name if a proxy resolves it", () => {
    expect(parse("http://localhost/", { isProxied: true })).toEqual(BLOCKED);
    expect(targetOf("http://hooks.test/", { isProxied: true }).host).toBe("hooks.test");
  });

  test("may be an allowed address behind a proxy", () => {
    expect(targetOf("http://8.8.8.8/", { isProxied: true }).isLiteral).toBe(true);
  });
});

it.each([
  ["https://example.com/hook", "https://example.com/hook"],
  ["https://user:pass@example.com:8443/a", "https://***@example.com:8443/a"],
  ["https://user@example.com/", "https://***@example.com/"],
  ["https://example.com/a?token=x&b=&c", "https://example.com/a?token=***&b=***&***"],
  ["https://example.com/a?sesame", "https://example.com/a?***"],
  ["https://example.com/a?x=1#fragment", "https://example.com/a?x=***"],
  ["https://example.com/a?x=a=b", "https://example.com/a?x=***"],
  ["https://example.com/api/v1/message-events.php", "https://example.com/api/v1/message-events.php"],
  ["https://hooks.example/services/T0AB12CD3/B0FF/xYz", "https://hooks.example/services/***/***/***"],
  ["https://n8n.example/webhook/0b61b2f2-6d0e-4c56/chat", "https://n8n.example/webhook/***/chat"],
  ["https://api.example/bot123456:AAE-x/send/", "https://api.example/***/send/"],
  ["https://example.com/abcdefghijklmnopqrstuvwxyz", "https://example.com/***"],
  ["https://***@example.com/***/a?token=***&***", "https://***@example.com/***/a?token=***&***"],
  ["https://:pass@example.com/", "https://***@example.com/"],
  ["https://example.com/v12/v123/1v2/V1", "https://example.com/v12/***/***/***"],
  ["https://example.com/abcdefghijklmno/abcdefghijklmnop", "https://example.com/abcdefghijklmno/***"],
  ["https://example.com/a-b_c.d/a-b-c-d-e/a--b/a1/-a", "https://example.com/a-b_c.d/***/***/***/***"],
  ["https://example.com/a-abcdefghijklmno/a-abcdefghijklmnop", "https://example.com/a-abcdefghijklmno/***"],
  ["https://example.com?", "https://example.com/"],
  ["https://example.com/?=x", "https://example.com/?=***"],
  ["nonsense user:pass@", "[not a URL]"],
])("a URL is masked: %s as %s", (url, masked) => {
  expect(maskUrl(url)).toBe(masked);
});

it.each([
  ["https://user:pass@example.com:8443/bot123456:AAE-x?a=b", "https://example.com:8443"],
  ["nonsense", "[not a URL]"],
])("the origin of a URL has no secret: of %s it is %s", (url, origin) => {
  expect(originOfUrl(url)).toBe(origin);
});
