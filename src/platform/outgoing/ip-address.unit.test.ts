import { describe, expect, test } from "vitest";
import {
  addressScopeOf,
  anonymiseIp,
  effectiveIps,
  inCidr,
  parseCidr,
  parseIp,
  withoutIpv4Mapping,
} from "./ip-address.ts";

const ipOf = (text: string) => {
  const ip = parseIp(text);
  if (!ip) throw new Error(`${text} is not an address.`);
  return ip;
};

describe("an address", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["2001:DB8::0001", "2001:db8::1"],
    ["::ffff:10.0.0.1", "::ffff:a00:1"],
  ])("is parsed in canonical form: %s as %s", (text, canonical) => {
    expect(parseIp(text)?.toString()).toBe(canonical);
  });

  test.each([
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "2130706433",
    "fe80::1%eth0",
    "[::1]",
    "1.2.3.4.5",
  ])("is not %j", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });
});

describe("a network", () => {
  test("is an address with the number of its bits, all of them by default", () => {
    expect(parseCidr("10.0.0.0/8")?.[1]).toBe(8);
    expect(parseCidr("10.0.0.1")?.[1]).toBe(32);
    expect(parseCidr("10.0.0.0/32")?.[1]).toBe(32);
    expect(parseCidr("10.0.0.0/0")?.[1]).toBe(0);
    expect(parseCidr("fd00::1")?.[1]).toBe(128);
    expect(parseCidr("fd00::/128")?.[1]).toBe(128);
  });

  test.each([
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/-1",
    "10.0.0.0/8x",
    "10.0.0.0/x8",
    "10.0.0.0/0008",
    "x/8",
  ])("is not %s", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test("contains addresses of its own family only", () => {
    const every = parseCidr("0.0.0.0/0");
    const tens = parseCidr("10.0.0.0/8");
    if (!every || !tens) throw new Error("not a network");
    expect(inCidr(ipOf("10.255.0.1"), tens)).toBe(true);
    expect(inCidr(ipOf("11.0.0.1"), tens)).toBe(false);
    expect(inCidr(ipOf("::1"), every)).toBe(false);
  });
});

describe("the scope of an address", () => {
  test.each([
    ["external", ["1.0.0.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255"]],
    ["external", ["192.169.0.0", "100.63.255.255", "100.128.0.0", "198.17.255.255", "198.20.0.0"]],
    ["external", ["223.255.255.255", "2000::1", "3ffe:ffff::1", "2001:200::1", "2a00::1"]],
    [
      "private",
      ["10.0.0.0", "172.16.0.0", "172.31.255.255", "192.168.255.255", "100.64.0.0", "100.127.255.255"],
    ],
    ["private", ["fc00::1", "fdff::1"]],
    ["loopback", ["127.0.0.0", "127.255.255.255", "::1"]],
    ["special", ["0.0.0.0", "0.255.255.255", "169.254.0.0", "192.0.0.0", "192.0.2.1", "192.88.99.1"]],
    [
      "special",
      ["198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.0", "255.255.255.255"],
    ],
    ["special", ["::", "fe80::1", "ff02::1", "2001:db8::1", "2001::1", "2001:1ff::1", "3fff::1", "4000::1"]],
  ] as const)("is %s: %j", (scope, addresses) => {
    expect(addresses.map((text) => addressScopeOf(ipOf(text)))).toEqual(addresses.map(() => scope));
  });
});

describe("the addresses that a packet can reach", () => {
  const reached = (text: string) => effectiveIps(ipOf(text)).map(String);

  test.each([
    ["8.8.8.8", ["8.8.8.8"]],
    ["::1", ["::1"]],
    ["2a00::1", ["2a00::1"]],
    ["::ffff:10.0.0.1", ["10.0.0.1"]],
    ["::ffff:0:a00:1", ["10.0.0.1"]],
    ["::a00:1", ["10.0.0.1"]],
    ["64:ff9b::a00:1", ["10.0.0.1"]],
    ["2002:a00:1::", ["10.0.0.1"]],
    ["2001:0:a00:1::f5ff:fffd", ["10.0.0.1", "10.0.0.2"]],
  ])("by %s are %j", (text, addresses) => {
    expect(reached(text)).toEqual(addresses);
  });

  test.each([
    ["64:ff9b:1::808:808", ["64:ff9b:1::808:808", "8.8.8.8"]],
    ["64:ff9b:1:a00:0:100::", ["64:ff9b:1:a00:0:100::", "10.0.0.1"]],
    ["64:ff9b:1:a00:0:100:808:808", ["64:ff9b:1:a00:0:100:808:808", "10.0.0.1", "8.8.8.8"]],
  ])("by the local NAT64 address %s are %j", (text, addresses) => {
    expect(reached(text)).toEqual(addresses);
  });
});

test.each([
  ["::ffff:192.0.2.9", "192.0.2.9"],
  ["192.0.2.9", "192.0.2.9"],
  ["2001:db8::1", "2001:db8::1"],
])("an IPv4 client of an IPv6 listener counts under its IPv4 address: %s as %s", (text, shown) => {
  expect(withoutIpv4Mapping(ipOf(text)).toString()).toBe(shown);
});

test.each([
  ["192.0.2.77", "192.0.2.0"],
  ["::ffff:192.0.2.77", "192.0.2.0"],
  ["2001:db8:a1b2:c3d4::1", "2001:db8:a1b2::"],
  ["::1", "0:0:0::"],
  ["localhost", undefined],
])("a log shows the network of a caller, not the caller: %s as %s", (text, shown) => {
  expect(anonymiseIp(text)).toBe(shown);
});
