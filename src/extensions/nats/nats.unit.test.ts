import { expect, test } from "vitest";
import { NATS } from "./nats.ts";
import { parseNatsAddress } from "./nats-address.ts";

test("an address of NATS has user, password, host, port and the first words of its subjects", () => {
  expect(parseNatsAddress("nats://shop:p%40ss@nats.example.com:4333/acme.shop")).toEqual({
    isSecure: false,
    policyUrl: "http://nats.example.com:4333/",
    port: 4333,
    serverName: "nats.example.com",
    credentials: { user: "shop", password: "p@ss" },
    path: "acme.shop",
    query: {},
    prefix: "acme.shop",
  });
});

test("an address of NATS without port, user and subject has the usual ones", () => {
  expect(parseNatsAddress("tls://[2001:db8::1]")).toMatchObject({
    isSecure: true,
    policyUrl: "https://[2001:db8::1]:4222/",
    port: 4222,
    serverName: undefined,
    credentials: undefined,
    prefix: "waygate",
  });
});

test("a host that is a number is read as every connection reads it", () => {
  expect(parseNatsAddress("nats://2130706433/").policyUrl).toBe("http://2130706433:4222/");
  expect(parseNatsAddress("nats://0x7f.1/")).toMatchObject({ serverName: undefined });
});

test.each([
  ["another scheme", "amqp://h/", /^must begin with nats:\/\/ or tls:\/\/$/],
  ["a user without a password", "nats://shop@h/", /a user without a password/],
  ["a password without a user", "nats://:secret@h/", /a password without a user/],
  ["a blank in its subject", "nats://h/a%20b", /has a subject that is not words/],
  ["a blank", "nats://h/a b", /is not a valid URL/],
  ["a wildcard for one word", "nats://h/a.*", /has a subject that is not words/],
  ["a wildcard for the rest", "nats://h/%3E", /has a subject that is not words/],
  ["a subject of the server's own", "nats://h/$JS.API", /has a subject that is not words/],
  ["an empty word", "nats://h/a..b", /has a subject that is not words/],
  ["two path segments", "nats://h/a/b", /has a subject that is not words/],
  ["a subject of 101 characters", `nats://h/${"a".repeat(101)}`, /a subject of more than 100 bytes/],
  ["a user of 257 characters", `nats://${"a".repeat(257)}:p@h/`, /a user of more than 256 bytes/],
  ["a password that is not percent-encoded", "nats://u:%zz@h/", /a password that is not percent-encoded/],
  ["a line break in its user", "nats://u%0A:p@h/", /a control character in its user/],
  ["an unknown parameter", "nats://h/a?stream=EVENTS", /unknown query parameter; it can have none/],
  ["a fragment", "nats://h/a#b", /has a fragment/],
  ["an empty fragment", "nats://h/a#", /has a fragment/],
  ["the port 0", "nats://h:0/", /has the port 0/],
  ["a port beyond the last", "nats://h:65536/", /is not a valid URL/],
  ["no host", "nats:///a", /has no host/],
])("an address of NATS is refused with %s", (_, url, issue) => {
  expect(() => parseNatsAddress(url)).toThrow(issue);
});

test("a webhook to NATS may have any header but those that NATS itself reads", () => {
  expect(NATS.findHeaderIssue("X-Shop")).toBeUndefined();
  expect(NATS.findHeaderIssue("Nats-Rollup")).toMatch(/^is a header that NATS itself reads/);
});
