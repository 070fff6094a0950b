import { isIP } from "node:net";

/** An address that a broker's client can use, with the scheme for requests that the address policy knows. */
export interface BrokerAddress {
  isSecure: boolean;
  /** Stands for host and port in the address policy. */
  policyUrl: string;
  port: number;
  /** The name that the server's certificate must have; undefined for a literal address. */
  serverName: string | undefined;
  /** Both or none. */
  credentials: { user: string; password: string } | undefined;
  /** Without the leading slash, as written. */
  path: string;
  query: Readonly<Record<string, string>>;
}

/** What is wrong with an address, as a part of a sentence about it. */
export class InvalidAddressError extends Error {
  override readonly name = "InvalidAddressError";
}

interface AddressRules {
  /** Default ports by protocol; which of them use TLS. */
  ports: Readonly<Record<string, { port: number; isSecure: boolean }>>;
  /** The query parameters that it may have. */
  parameters: readonly string[];
}

const LONGEST_CREDENTIAL = 256;

/** Reads `scheme://user:password@host:port/path?query`. Throws InvalidAddressError. */
export function parseBrokerAddress(text: string, { ports, parameters }: AddressRules): BrokerAddress {
  if (/[\p{Cc}\p{Cs}\s]/u.test(text) || !URL.canParse(text))
    throw new InvalidAddressError("is not a valid URL");
  const { protocol, host, port, username, password, pathname, searchParams, hash } = new URL(text);
  const usual = ports[protocol];
  if (!usual) throw new InvalidAddressError(`must begin with ${Object.keys(ports).join("// or ")}//`);
  if (host === "") throw new InvalidAddressError("has no host");
  if (hash !== "" || text.endsWith("#"))
    throw new InvalidAddressError("has a fragment (#), which has no meaning here");
  if (port === "0") throw new InvalidAddressError("has the port 0");
  // The parser of http reads a host as every connection does: numbers, percent signs, letters beyond ASCII.
  const policyUrl = `${usual.isSecure ? "https" : "http"}://${port === "" ? `${host}:${usual.port}` : host}/`;
  if (!URL.canParse(policyUrl)) throw new InvalidAddressError("has a host that is none");
  const { hostname } = new URL(policyUrl);
  return {
    isSecure: usual.isSecure,
    policyUrl,
    port: Number(port) || usual.port,
    serverName: isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? hostname : undefined,
    credentials: readCredentials(username, password),
    path: pathname.replace(/^\//, ""),
    query: readQuery(searchParams, parameters),
  };
}

/** A part of an address without its percent-encoding. Throws InvalidAddressError with the part's name. */
export function decodePart(name: string, text: string, longest: number): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new InvalidAddressError(`has a ${name} that is not percent-encoded`);
  }
  if (/\p{Cc}/u.test(decoded)) throw new InvalidAddressError(`has a control character in its ${name}`);
  if (Buffer.byteLength(decoded) > longest)
    throw new InvalidAddressError(`has a ${name} of more than ${longest} bytes`);
  return decoded;
}

const LONGEST_PREFIX = 100;

/** Words of letters, digits, `_` and `-` with dots between them: the beginning of every subject or routing key. */
export function readTopicPrefix(name: string, text: string): string {
  const prefix = decodePart(name, text, LONGEST_PREFIX);
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(prefix))
    throw new InvalidAddressError(
      `has a ${name} that is not words of letters, digits, _ and - with dots between them`,
    );
  return prefix;
}

function readCredentials(username: string, password: string): BrokerAddress["credentials"] {
  if (username === "" && password === "") return undefined;
  if (username === "") throw new InvalidAddressError("has a password without a user");
  if (password === "") throw new InvalidAddressError("has a user without a password");
  return {
    user: decodePart("user", username, LONGEST_CREDENTIAL),
    password: decodePart("password", password, LONGEST_CREDENTIAL),
  };
}

function readQuery(given: URLSearchParams, parameters: readonly string[]): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of given) {
    if (!parameters.includes(name)) {
      const known = parameters.length === 0 ? "it can have none" : `it can have ${parameters.join(" and ")}`;
      throw new InvalidAddressError(`has an unknown query parameter; ${known}`);
    }
    if (Object.hasOwn(query, name)) throw new InvalidAddressError(`has ${name} twice`);
    query[name] = value;
  }
  return query;
}
