import { networkInterfaces } from "node:os";
import { domainToASCII } from "node:url";
import {
  addressScopeOf,
  type Cidr,
  effectiveIps,
  type Ip,
  inCidr,
  parseCidr,
  parseIp,
} from "./ip-address.ts";

const SCOPES = ["external", "private", "loopback"] as const;
type Scope = (typeof SCOPES)[number];

/** One entry of `WAYGATE_ALLOWED_HOSTS`. */
export type AllowRule =
  | { kind: "scope"; scope: Scope }
  | { kind: "cidr"; cidr: Cidr; port: number | undefined }
  | { kind: "name"; name: string; port: number | undefined };

/** Host as in a parsed URL, and the port to connect to. */
export interface NetworkTarget {
  host: string;
  port: number;
}

export interface ListenAddress {
  address: string;
  port: number;
}

export interface AddressPolicy {
  /** Whether a connection to this target at this address is allowed. */
  allows(target: NetworkTarget, address: string): boolean;
  /** For a name that a proxy resolves: only the name and the port can be checked. */
  allowsUnresolved(target: NetworkTarget): boolean;
}

export interface AddressPolicyOptions {
  /** Entries of `WAYGATE_ALLOWED_HOSTS`; throws for an invalid one. */
  allowedHosts: readonly string[];
  /** Single addresses exempted from the list that is always denied. */
  allowAlwaysDenied?: readonly string[];
  /** The listeners of this gateway and its database. */
  ownListeners?: () => readonly ListenAddress[];
  /** Addresses of this machine. */
  ownAddresses?: () => readonly string[];
}

const ALWAYS_DENIED: readonly Cidr[] = readAll(
  [
    "169.254.0.0/16",
    "fe80::/10",
    // Metadata and host services of AWS, Google, Oracle, Scaleway, Akamai, Alibaba; then Azure, Alibaba,
    // Oracle.
    "fd00:ec2::/32",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "0.0.0.0/8",
    "::/128",
    "224.0.0.0/4",
    "ff00::/8",
    "255.255.255.255",
  ],
  parseCidr,
);
const LOOPBACK: readonly Ip[] = readAll(["127.0.0.1"], parseIp);
/** Top-level labels; a name that ends with several dots has an empty one. */
const INSIDE_ENDINGS = new Set(["localhost", "localdomain", "internal", "local", ""]);
const DENIED_PORTS = new Set([22, 25, 465, 587, 2375, 3306, 5432, 6379, 11211, 27017]);

export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const rules = readAll(options.allowedHosts, parseAllowRule);
  const lifted = readAll(options.allowAlwaysDenied ?? [], parseSingleAddress).map(String);
  const isOwn = createOwnCheck(options);

  const allowsIp = (ip: Ip, target: NetworkTarget): boolean =>
    lifted.includes(ip.toString()) ||
    (!ALWAYS_DENIED.some((cidr) => inCidr(ip, cidr)) && rules.some((rule) => covers(rule, target, ip)));

  return {
    allows(target, address) {
      const ip = parseIp(bare(address));
      // An invalid address is not allowed.
      const reached = ip === undefined ? [] : effectiveIps(ip);
      return (
        ip !== undefined &&
        !isOwn(target, [ip, ...reached]) &&
        portIsOpen(rules, target, reached) &&
        reached.every((one) => allowsIp(one, target))
      );
    },
    allowsUnresolved(target) {
      const isExternal = rules.some((rule) => rule.kind === "scope" && rule.scope === "external");
      const isListed = rules.some((rule) => listsName(rule, target));
      const isAllowed = isListed || (isExternal && !isInsideName(target.host));
      return (
        isAllowed && !isOwn(target, isLocalhost(target.host) ? LOOPBACK : []) && portIsOpen(rules, target, [])
      );
    },
  };
}

/**
 * Parses one entry of `WAYGATE_ALLOWED_HOSTS`: a keyword, an address or CIDR, a host or `*.host`, each with
 * an optional port.
 */
export function parseAllowRule(text: string): AllowRule | undefined {
  const scope = SCOPES.find((one) => one === text);
  if (scope !== undefined) {
    return { kind: "scope", scope };
  }
  const parts = splitPort(text);
  if (parts === undefined) {
    return undefined;
  }
  const cidr = parseCidr(parts.host);
  if (cidr !== undefined) {
    return { kind: "cidr", cidr, port: parts.port };
  }
  const name = parseName(parts.host);
  return name === undefined ? undefined : { kind: "name", name, port: parts.port };
}

/** Entries that open more than the internet and single ports, for every account. */
export function findBroadEntries(allowedHosts: readonly string[]): string[] {
  return allowedHosts.filter((text) => {
    const rule = parseAllowRule(text);
    return rule?.kind === "scope" ? rule.scope !== "external" : rule !== undefined && rule.port === undefined;
  });
}

/** Parses one entry of `WAYGATE_ALLOW_ALWAYS_DENIED`: a single address, alone or as /32 (/128). */
export function parseSingleAddress(text: string): Ip | undefined {
  const cidr = parseCidr(text);
  return cidr !== undefined && cidr[1] === (cidr[0].kind() === "ipv4" ? 32 : 128) ? cidr[0] : undefined;
}

function covers(rule: AllowRule, target: NetworkTarget, ip: Ip): boolean {
  if (rule.kind === "scope") {
    return addressScopeOf(ip) === rule.scope;
  }
  if (rule.kind === "name") {
    return listsName(rule, target);
  }
  return (rule.port === undefined || rule.port === target.port) && inCidr(ip, rule.cidr);
}

function listsName(rule: AllowRule, target: NetworkTarget): boolean {
  const isName = rule.kind === "name" && matchesName(rule.name, target.host);
  return isName && (rule.port === undefined || rule.port === target.port);
}

function portIsOpen(rules: readonly AllowRule[], target: NetworkTarget, ips: readonly Ip[]): boolean {
  return !DENIED_PORTS.has(target.port) || rules.some((rule) => listsPort(rule, target, ips));
}

function listsPort(rule: AllowRule, target: NetworkTarget, ips: readonly Ip[]): boolean {
  if (rule.kind === "scope" || rule.port !== target.port) {
    return false;
  }
  return rule.kind === "name"
    ? matchesName(rule.name, target.host)
    : ips.length > 0 && ips.every((ip) => inCidr(ip, rule.cidr));
}

function matchesName(name: string, host: string): boolean {
  const normalised = host.toLowerCase().replace(/\.$/, "");
  return name.startsWith("*.") ? normalised.endsWith(name.slice(1)) : normalised === name;
}

function isLocalhost(host: string): boolean {
  return labelsOf(host).at(-1) === "localhost";
}

function labelsOf(host: string): string[] {
  return host.toLowerCase().replace(/\.$/, "").split(".");
}

/** Whether a name denotes this machine or its network, regardless of the resolver. */
function isInsideName(host: string): boolean {
  const labels = labelsOf(host);
  const topLevel = labels.at(-1) ?? "";
  return labels.length === 1 || INSIDE_ENDINGS.has(topLevel) || labels.slice(-2).join(".") === "home.arpa";
}

function createOwnCheck({ ownListeners, ownAddresses }: AddressPolicyOptions) {
  return (target: NetworkTarget, ips: readonly Ip[] = []): boolean => {
    const listeners = (ownListeners?.() ?? []).filter(({ port }) => port === target.port);
    if (listeners.length === 0) {
      return false;
    }
    const local = new Set(ownAddresses?.());
    const isLocal = (text: string, ip: Ip | undefined): boolean =>
      local.has(text) || (ip !== undefined && (addressScopeOf(ip) === "loopback" || isUnspecified(ip)));
    const dialled = ips.map((ip) => ip.toString());
    return listeners.some(({ address }) => {
      const ip = parseIp(bare(address));
      const text = ip?.toString() ?? address.toLowerCase();
      const isDialled = dialled.includes(text) || matchesName(text, target.host);
      return isDialled || (isLocal(text, ip) && ips.some((one) => isLocal(one.toString(), one)));
    });
  };
}

function isUnspecified(ip: Ip): boolean {
  return ip.toByteArray().every((byte) => byte === 0);
}

function bare(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

function splitPort(text: string): { host: string; port: number | undefined } | undefined {
  // IPv6 with a port needs brackets; an IPv6 address without them has no port.
  const match = /^\[([^\]:]*:[^\]]*)\](?::(\d+))?$/.exec(text) ??
    /^([^:]+)(?::(\d+))?$/.exec(text) ?? [text, text];
  const [, host = "", digits] = match;
  const port = digits === undefined ? undefined : Number(digits);
  return port !== undefined && (port < 1 || port > 65_535) ? undefined : { host, port };
}

function parseName(text: string): string | undefined {
  // domainToASCII silently drops a path.
  if (/[\s/?#@\\%:[\]]/.test(text)) {
    return undefined;
  }
  const wildcard = text.startsWith("*.");
  const name = domainToASCII((wildcard ? text.slice(2) : text).replace(/\.$/, ""));
  // A numeric last label is an invalid address, not a name.
  const isName = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*(?=[0-9-]*[a-z_])[a-z0-9_-]+$/.test(name);
  return isName ? (wildcard ? `*.${name}` : name) : undefined;
}

function readAll<T>(texts: readonly string[], read: (text: string) => T | undefined): T[] {
  return texts.map((text) => {
    const value = read(text);
    if (value === undefined) {
      throw new Error(`cannot read the address rule "${text}"`);
    }
    return value;
  });
}

/** Read at every call, because interfaces change. */
export function localAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}
