import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  createAddressPolicy,
  findBroadEntries,
  parseAllowRule,
  parseSingleAddress,
} from "./address-policy.ts";
import {
  addressScopeOf,
  anonymiseIp,
  effectiveIps,
  inCidr,
  parseCidr,
  parseIp,
  withoutIpv4Mapping,
} from "./ip-address.ts";

/** Whether a name that resolved to `address` may be dialled. */
function allows(allowedHosts: string[], address: string, host = "hooks.test", port = 443): boolean {
  return createAddressPolicy({ allowedHosts }).allows({ host, port }, address);
}

const words = (text: string) => text.trim().split(/\s+/);

const EVERYTHING = ["external", "private", "loopback", "0.0.0.0/0", "::/0", "hooks.test", "*.test"];

const LOOPBACK = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::7f00:1"];
const PRIVATE = words(`
  10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fc00::1 fd12:3456::1
  ::ffff:10.0.0.1 ::ffff:0:192.168.0.1 ::10.0.0.1 64:ff9b::10.0.0.1 2002:a00:1::
  2002:c0a8:101::1`);
const EXTERNAL = words(`
  8.8.8.8 172.32.0.1 100.128.0.1 198.17.255.255 2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8
  64:ff9b::808:808 2002:808:808::1`);
const NEVER_BY_WORD = words(`
  192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 192.88.99.1 240.0.0.1 2001:db8::1
  2001:10::1 3fff::1 100::1 fec0::1 4000::1 64:ff9b:1::808:808`);
const ALWAYS_DENIED = words(`
  0.0.0.0 0.1.2.3 :: 169.254.169.254 169.254.0.1 fe80::1 febf::1 fd00:ec2::254 fd00:ec2::23
  fd00:ec2::253 fd00:ec2:ffff::1 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42
  fd00:a9fe:a9fe::1 fd00:100::100:200 168.63.129.16 100.100.100.200 192.0.0.192 224.0.0.1
  239.255.255.255 ff02::1 255.255.255.255 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe
  ::ffff:0:a9fe:a9fe ::a9fe:a9fe 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe
  64:ff9b:1:a9fe:a9:fe00:: 2002:a9fe:a9fe::1 ::ffff:168.63.129.16`);

/** A Teredo address: plain server, inverted client. */
function teredo(server: number[], client: number[]): string {
  const hex = (bytes: number[]): string =>
    Buffer.from(bytes)
      .toString("hex")
      .replace(/(....)(....)/, "$1:$2");
  return `2001:0:${hex(server)}:0:0:${hex(client.map((byte) => 255 - byte))}`;
}

describe("the keywords of the address policy", () => {
  it.each(EXTERNAL)("classify %s as external", (address) => {
    expect(allows(["external"], address)).toBe(true);
    expect(allows(["private", "loopback"], address)).toBe(false);
  });

  it.each(PRIVATE)("classify %s as private", (address) => {
    expect(allows(["private"], address)).toBe(true);
    expect(allows(["external", "loopback"], address)).toBe(false);
  });

  it.each(LOOPBACK)("classify %s as loopback", (address) => {
    expect(allows(["loopback"], address)).toBe(true);
    expect(allows(["external", "private"], address)).toBe(false);
  });

  it.each(NEVER_BY_WORD)("do not include %s, which only a CIDR can allow", (address) => {
    expect(allows(["external", "private", "loopback"], address)).toBe(false);
    expect(allows(["external", "0.0.0.0/0", "::/0"], address)).toBe(true);
  });

  it("classify a Teredo address by the server and the client in it", () => {
    const [open, inner, metadata] = [
      [8, 8, 8, 8],
      [10, 0, 0, 1],
      [169, 254, 169, 254],
    ];
    expect(allows(["external"], teredo(open, open))).toBe(true);
    expect(allows(["external"], teredo(open, inner))).toBe(false);
    expect(allows(["external"], teredo(inner, open))).toBe(false);
    expect(allows(EVERYTHING, teredo(open, metadata))).toBe(false);
  });
});

describe("the local NAT64 prefix", () => {
  it("is allowed only when it is listed and the address inside is allowed too", () => {
    expect(allows(["external", "64:ff9b:1::/48"], "64:ff9b:1::808:808")).toBe(true);
    expect(allows(["external", "64:ff9b:1::/48"], "64:ff9b:1::a00:1")).toBe(false);
    expect(allows(["external", "private", "64:ff9b:1::/48"], "64:ff9b:1::a00:1")).toBe(true);
    expect(allows(["external", "64:ff9b:1::/48"], "64:ff9b:1:a00:0:100::")).toBe(false);
  });
});

describe("the list of always denied addresses", () => {
  it.each(ALWAYS_DENIED)("includes %s, whatever the list says", (address) => {
    expect(allows(EVERYTHING, address)).toBe(false);
    expect(allows([...EVERYTHING, `${address}/${address.includes(":") ? 128 : 32}`], address)).toBe(false);
  });

  it("can be overridden for one exact address, in any of its forms, and for no other", () => {
    const policy = createAddressPolicy({
      allowedHosts: ["external"],
      allowAlwaysDenied: ["169.254.169.254/32"],
    });
    const target = { host: "hooks.test", port: 80 };
    expect(policy.allows(target, "169.254.169.254")).toBe(true);
    expect(policy.allows(target, "::ffff:169.254.169.254")).toBe(true);
    expect(policy.allows(target, "169.254.169.253")).toBe(false);
    expect(policy.allows(target, "127.0.0.1")).toBe(false);
  });

  it("includes an address that cannot be parsed", () => {
    for (const text of [
      "",
      "localhost",
      "127.1",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "2130706433",
      "fe80::1%eth0",
      "1.2.3.4.5",
    ]) {
      expect(allows(EVERYTHING, text)).toBe(false);
    }
  });

  it("includes every link-local, unspecified and multicast IPv4 address in every form of IPv6", () => {
    const denied = fc.oneof(
      fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
      fc.tuple(fc.constant(0), fc.nat(255), fc.nat(255), fc.nat(255)),
      fc.tuple(fc.integer({ min: 224, max: 239 }), fc.nat(255), fc.nat(255), fc.nat(255)),
    );
    fc.assert(
      fc.property(denied, ([a, b, c, d]) => {
        const hex = [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16)).join(":");
        const forms = [
          `${a}.${b}.${c}.${d}`,
          `::ffff:${hex}`,
          `::ffff:0:${hex}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::`,
        ];
        for (const form of forms) {
          expect(allows(EVERYTHING, form)).toBe(false);
        }
      }),
    );
  });
});

describe("host names in the list", () => {
  it("allow private and loopback addresses for that name only", () => {
    const list = ["external", "n8n"];
    expect(allows(list, "172.18.0.5", "n8n")).toBe(true);
    expect(allows(list, "127.0.0.1", "n8n")).toBe(true);
    expect(allows(list, "172.18.0.5", "evil.test")).toBe(false);
    expect(allows(list, "172.18.0.5", "n8n.evil.test")).toBe(false);
    expect(allows(list, "172.18.0.5", "xn8n")).toBe(false);
  });

  it("match in any case, with a trailing dot and in their ASCII form", () => {
    expect(allows(["N8N.Example."], "10.0.0.1", "n8n.example")).toBe(true);
    expect(allows(["n8n.example"], "10.0.0.1", "N8N.EXAMPLE.")).toBe(true);
    expect(allows(["bücher.test"], "10.0.0.1", "xn--bcher-kva.test")).toBe(true);
  });

  it("match names below them when they begin with *., and nothing else", () => {
    expect(allows(["*.corp.test"], "10.0.0.1", "a.corp.test")).toBe(true);
    expect(allows(["*.corp.test"], "10.0.0.1", "a.b.corp.test")).toBe(true);
    expect(allows(["*.corp.test"], "10.0.0.1", "corp.test")).toBe(false);
    expect(allows(["*.corp.test"], "10.0.0.1", "evilcorp.test")).toBe(false);
  });

  it("apply to their port only when they include one", () => {
    expect(allows(["n8n:5678"], "10.0.0.1", "n8n", 5678)).toBe(true);
    expect(allows(["n8n:5678"], "10.0.0.1", "n8n", 80)).toBe(false);
    expect(allows(["10.0.0.0/8:8080"], "10.0.0.1", "x.test", 8080)).toBe(true);
    expect(allows(["10.0.0.0/8:8080"], "10.0.0.1", "x.test", 80)).toBe(false);
    expect(allows(["[fd00::/8]:8080"], "fd00::1", "x.test", 8080)).toBe(true);
  });

  it("never allow the always denied addresses", () => {
    expect(allows(["metadata.internal"], "169.254.169.254", "metadata.internal")).toBe(false);
  });
});

describe("destination ports", () => {
  it.each([22, 25, 465, 587, 2375, 3306, 5432, 6379, 11211, 27017])(
    "of other services are denied: %d",
    (port) => {
      expect(allows(["external"], "8.8.8.8", "x.test", port)).toBe(false);
      expect(allows(["external", "x.test"], "8.8.8.8", "x.test", port)).toBe(false);
      expect(allows(["external", `x.test:${port}`], "8.8.8.8", "x.test", port)).toBe(true);
      expect(allows(["external", `x.test:${port}`], "8.8.8.8", "y.test", port)).toBe(false);
      expect(allows([`8.8.8.0/24:${port}`], "8.8.8.8", "y.test", port)).toBe(true);
    },
  );

  it("are allowed if no other service uses them", () => {
    for (const port of [80, 443, 3000, 8080, 5678, 65_535]) {
      expect(allows(["external"], "8.8.8.8", "x.test", port)).toBe(true);
    }
  });
});

it("a denied port is open only if every address that a packet can reach is listed with it", () => {
  const half = teredo([8, 8, 8, 8], [9, 9, 9, 9]);
  expect(allows(["external", "8.8.8.0/24:22"], half, "x.test", 22)).toBe(false);
  expect(allows(["external", "8.0.0.0/7:22"], half, "x.test", 22)).toBe(true);
});

describe("the gateway's own listeners", () => {
  const policyFor = (address: string) =>
    createAddressPolicy({
      allowedHosts: ["external", "private", "loopback", "localhost"],
      ownListeners: () => [{ address, port: 3000 }],
      ownAddresses: () => ["10.0.0.7", "fd00::7"],
    });

  it.each(["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1", "10.0.0.7", "fd00::7", "::ffff:10.0.0.7"])(
    "are denied at every address of this machine (%s)",
    (address) => {
      for (const listener of ["0.0.0.0", "::", "127.0.0.1", "::1", "10.0.0.7"]) {
        expect(policyFor(listener).allows({ host: "localhost", port: 3000 }, address)).toBe(false);
        expect(policyFor(listener).allows({ host: "localhost", port: 3001 }, address)).toBe(true);
      }
    },
  );

  it("are denied by the name localhost when a proxy resolves it", () => {
    for (const listener of ["0.0.0.0", "127.0.0.1", "::1"]) {
      expect(policyFor(listener).allowsUnresolved({ host: "localhost", port: 3000 })).toBe(false);
      expect(policyFor(listener).allowsUnresolved({ host: "localhost", port: 3001 })).toBe(true);
    }
  });

  it("are denied one by one", () => {
    const policy = createAddressPolicy({
      allowedHosts: ["loopback", "private"],
      ownListeners: () => ["10.0.0.9", "127.0.0.1"].map((address) => ({ address, port: 3000 })),
    });
    for (const address of ["127.0.0.1", "10.0.0.9"]) {
      expect(policy.allows({ host: "x.test", port: 3000 }, address)).toBe(false);
    }
  });

  it("do not deny the same port of other machines", () => {
    expect(policyFor("0.0.0.0").allows({ host: "n8n", port: 3000 }, "10.0.0.8")).toBe(true);
  });

  it("include a database elsewhere, by address and by name", () => {
    expect(policyFor("10.0.0.9").allows({ host: "x.test", port: 3000 }, "10.0.0.9")).toBe(false);
    expect(policyFor("db.internal").allows({ host: "DB.internal.", port: 3000 }, "10.0.0.9")).toBe(false);
    expect(policyFor("db.internal").allows({ host: "n8n", port: 3000 }, "127.0.0.1")).toBe(true);
  });
});

describe("a host name that a proxy resolves", () => {
  const allowsUnresolved = (allowedHosts: string[], host: string, port = 443): boolean =>
    createAddressPolicy({ allowedHosts }).allowsUnresolved({ host, port });

  it("is allowed by its own name or by the keyword external", () => {
    expect(allowsUnresolved(["external"], "x.test")).toBe(true);
    expect(allowsUnresolved(["y.test", "external"], "x.test")).toBe(true);
    expect(allowsUnresolved(["x.test"], "x.test")).toBe(true);
    expect(allowsUnresolved(["external", "10.0.0.0/8:5432"], "x.test", 5432)).toBe(false);
    expect(allowsUnresolved(["y.test", "10.0.0.0/8", "private"], "x.test")).toBe(false);
    expect(allowsUnresolved(["external"], "x.test", 5432)).toBe(false);
  });

  it.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost..",
    "a.localhost",
    "localhost.localdomain",
    "metadata.google.internal",
    "metadata.google.internal.",
    "printer.local",
    "nas.home.arpa",
    "metadata",
    "n8n",
  ])("is not external when it names an internal host: %s", (host) => {
    expect(allowsUnresolved(["external", "loopback", "private"], host)).toBe(false);
    expect(allowsUnresolved(["external", "*.x.test"], host)).toBe(false);
  });

  it("may name an internal host when the list does, at the port of the list", () => {
    expect(allowsUnresolved(["external", "n8n:5678"], "n8n", 5678)).toBe(true);
    expect(allowsUnresolved(["external", "n8n:5678"], "n8n", 80)).toBe(false);
    expect(allowsUnresolved(["*.corp.internal"], "hooks.corp.internal")).toBe(true);
    expect(allowsUnresolved(["external", "localhost:8080"], "localhost", 8080)).toBe(true);
  });

  it.each(["internal.example.com", "local.test", "arpa.test", "x.arpa", "mylocal.test"])(
    "is external when only a part of it looks like an internal host: %s",
    (host) => {
      expect(allowsUnresolved(["external"], host)).toBe(true);
    },
  );
});

describe("list entries", () => {
  it.each([
    "external",
    "private",
    "loopback",
    "n8n",
    "n8n:80",
    "*.a.test",
    "*.a.test:1",
    "10.0.0.0/8",
    "1.2.3.4:80",
    "::1",
    "fd00::/8",
    "[fd00::1]",
    "[fd00::1]:80",
    "_dmarc.a.test",
    "a-b.test.",
    "n8n:65535",
  ])("can be %s", (text) => {
    expect(parseAllowRule(text)).toBeDefined();
  });

  it.each([
    "",
    "*",
    "*.",
    "a*b",
    "10.0.0.0/33",
    "10.0.0/8",
    "fd00::/129",
    "1.2.3.4/",
    "256.1.1.1",
    "a b",
    "n8n:0",
    "x[::1]:80",
    "[::1]:80x",
    "[::1]x",
    "n8n:x",
    "n8n:70000",
    "http://n8n",
    "n8n/path",
    "[n8n]",
    "-a.test",
    "1.2.3.4/8/8",
    "0x7f.1",
  ])("cannot be %j", (text) => {
    expect(parseAllowRule(text)).toBeUndefined();
  });

  it("are open when they name more than the internet and have no port", () => {
    const closed = ["external", "n8n:5678", "[::1]:8080", "10.0.0.0/8:443", "127.0.0.1:9000"];
    expect(findBroadEntries(closed)).toEqual([]);
    const open = ["private", "loopback", "n8n", "*.example.org", "10.0.0.0/8", "::1"];
    expect(findBroadEntries([...closed, ...open, "not an entry"])).toEqual(open);
  });

  it.each([
    ["n8n:5678", "n8n", "10.1.2.3", 5678, 5679],
    ["[::1]:8080", "[::1]", "::1", 8080, 8081],
    ["10.0.0.0/8:443", "a.test", "10.1.2.3", 443, 8443],
  ])("with a port open that port alone: %s", (entry, host, address, open, closed) => {
    expect(allows([entry], address, host, open)).toBe(true);
    expect(allows([entry], address, host, closed)).toBe(false);
  });

  it("that allow an always denied address are single addresses", () => {
    expect(parseSingleAddress("169.254.169.254")?.toString()).toBe("169.254.169.254");
    expect(parseSingleAddress("fd00:ec2::254/128")?.toString()).toBe("fd00:ec2::254");
    expect(parseSingleAddress("169.254.0.0/16")).toBeUndefined();
    expect(parseSingleAddress("0.0.0.0/0")).toBeUndefined();
    expect(parseSingleAddress("localhost")).toBeUndefined();
  });

  it("that cannot be parsed prevent the creation of a policy", () => {
    expect(() => createAddressPolicy({ allowedHosts: ["10.0.0/8"] })).toThrow("cannot read");
  });
});

const ipOf = (text: string) => {
  const ip = parseIp(text);
  if (!ip) throw new Error(`${text} is not an address.`);
  return ip;
};

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
    "[::1]",
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
