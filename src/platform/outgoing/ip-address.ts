import ipaddr from "ipaddr.js";

export type Ip = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = [Ip, number];

/** The scope that a policy must allow for an address: a keyword; `special` needs an explicit CIDR. */
export type AddressScope = "external" | "private" | "loopback" | "special";

/** A concrete address in canonical form, or undefined. */
export function parseIp(text: string): Ip | undefined {
  // Four-part decimal only: the URL parser normalises other forms, and here they may be an attack.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text);
  }
  return ipaddr.IPv6.isValid(text) && !text.includes("%") ? ipaddr.IPv6.parse(text) : undefined;
}

export function parseCidr(text: string): Cidr | undefined {
  const [address = "", bits, ...more] = text.split("/");
  const ip = parseIp(address);
  if (ip === undefined || more.length > 0) {
    return undefined;
  }
  const widest = ip.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) {
    return [ip, widest];
  }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= widest ? [ip, Number(bits)] : undefined;
}

export function inCidr(ip: Ip, [network, bits]: Cidr): boolean {
  return ip.kind() === network.kind() && ip.match(network, bits);
}

function cidrs(...texts: string[]): Cidr[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

const LOOPBACK = cidrs("127.0.0.0/8", "::1/128");
const PRIVATE = cidrs("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7");
const SPECIAL_IPV4 = cidrs(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
);
const GLOBAL_IPV6 = cidrs("2000::/3");
const SPECIAL_IPV6 = cidrs("2001::/23", "2001:db8::/32", "3fff::/20");

export function addressScopeOf(ip: Ip): AddressScope {
  const within = (list: Cidr[]): boolean => list.some((cidr) => inCidr(ip, cidr));
  if (within(LOOPBACK)) {
    return "loopback";
  }
  if (within(PRIVATE)) {
    return "private";
  }
  if (ip.kind() === "ipv4") {
    return within(SPECIAL_IPV4) ? "special" : "external";
  }
  return within(GLOBAL_IPV6) && !within(SPECIAL_IPV6) ? "external" : "special";
}

interface Form {
  cidr: Cidr;
  unwrap(bytes: number[], ip: Ip): Ip[];
}

/** Mapped, translated, compatible, NAT64, 6to4, Teredo. `ipaddr.js` treats some of them as plain unicast. */
const FORMS: Form[] = [
  ...cidrs("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96").map((cidr) => ({
    cidr,
    unwrap: (bytes: number[]) => [ipv4(bytes.slice(12))],
  })),
  ...cidrs("64:ff9b:1::/48").map((cidr) => ({
    cidr,
    // The operator chose the layout of this prefix, so both readings and the address itself must be allowed.
    unwrap: (bytes: number[], ip: Ip) => [
      ip,
      ...[[...bytes.slice(6, 8), ...bytes.slice(9, 11)], bytes.slice(12)]
        .filter((four) => four.some((byte) => byte !== 0))
        .map(ipv4),
    ],
  })),
  ...cidrs("2002::/16").map((cidr) => ({ cidr, unwrap: (bytes: number[]) => [ipv4(bytes.slice(2, 6))] })),
  ...cidrs("2001::/32").map((cidr) => ({
    cidr,
    unwrap: (bytes: number[]) => [ipv4(bytes.slice(4, 8)), ipv4(bytes.slice(12).map((byte) => byte ^ 0xff))],
  })),
];

const UNWRAPPED = cidrs("::1/128");
const MAPPED = ipaddr.parseCIDR("::ffff:0:0/96");

/** A server that listens on IPv6 sees IPv4 clients under mapped addresses; returns the IPv4 address. */
export function withoutIpv4Mapping(ip: Ip): Ip {
  return inCidr(ip, MAPPED) ? ipv4(ip.toByteArray().slice(12)) : ip;
}

/** The addresses that a packet to `ip` can reach: itself, or the IPv4 addresses in an IPv6 transition form. */
export function effectiveIps(ip: Ip): Ip[] {
  if (ip.kind() === "ipv4" || UNWRAPPED.some((cidr) => inCidr(ip, cidr))) {
    return [ip];
  }
  return FORMS.find(({ cidr }) => inCidr(ip, cidr))?.unwrap(ip.toByteArray(), ip) ?? [ip];
}

/** The /24 or /48 of an address: shows the caller's network but does not identify the caller. */
export function anonymiseIp(text: string): string | undefined {
  const parsed = parseIp(text);
  if (!parsed) return undefined;
  const ip = withoutIpv4Mapping(parsed);
  const bytes = ip.toByteArray();
  if (ip.kind() === "ipv4") return `${bytes.slice(0, 3).join(".")}.0`;
  const groups = [0, 2, 4].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return `${groups.join(":")}::`;
}

function ipv4(bytes: number[]): Ip {
  return new ipaddr.IPv4(bytes);
}
