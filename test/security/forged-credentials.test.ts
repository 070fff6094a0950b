import { createHmac, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";

import { ADMIN_TOKEN, startTestGateway, type TestGateway, type TestInstance } from "../gateway.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import { requestOf, statusOf } from "./raw-request.ts";
import { printFigures } from "./run-size.ts";

let gateway: TestGateway;
let sales: TestInstance;
let token: string;
let agent: string;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
  sales = await gateway.createInstance();
  const email = "agent@example.com";
  await gateway.owner.createUser({ name: "Agent", email, password: PASSWORD });
  agent = (await signIn(gateway.url, { email })).token;
  token = (await signIn(gateway.url, { email })).token;
});
afterAll(() => gateway.stop());

const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as object;

/** Empty or public texts that an attacker could sign with. */
const KNOWN_KEYS = ["", "secret", "waygate", "\0", ADMIN_TOKEN, "null", "/dev/null"];

function forgedTokens(): string[] {
  const [head = "", body = "", signature = ""] = token.split(".");
  const header = decode(head);
  const payload = decode(body);
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = publicKey.export({ type: "spki", format: "pem" }) as string;
  const jwk = { kty: "oct", k: encode("own"), alg: "HS256" };
  const headers = [
    ...["none", "None", "NONE", "nOnE", "", "HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA", "dir"].map(
      (alg) => ({ ...header, alg }),
    ),
    ...[
      "",
      "0",
      "../../../../dev/null",
      "' or '1'='1",
      "__proto__",
      "constructor",
      "\0",
      "x".repeat(4_000),
    ].map((kid) => ({ ...header, kid })),
    ...[null, 0, [], {}, true].map((kid) => ({ ...header, kid })),
    { ...header, jwk },
    { ...header, jku: "http://127.0.0.1:9/keys", x5u: "http://127.0.0.1:9/keys" },
    { ...header, crit: ["b64"], b64: false },
    { ...header, crit: ["exp"] },
    { ...header, typ: "JWE", enc: "A256GCM", alg: "dir" },
    { ...header, zip: "DEF" },
  ];
  const payloads = [
    { ...payload, sub: "1" },
    { ...payload, sub: 1 },
    { ...payload, exp: 9_999_999_999 },
    { ...payload, role: "super_admin", is_admin: true },
    { ...payload, sid: { $ne: "" } },
    { ...payload, aud: ["waygate-api", "x"] },
  ];
  const keys = [...KNOWN_KEYS, pem, "own"];
  const sign = (signed: string, key: string) =>
    `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
  return [
    ...headers.flatMap((one) => [`${encode(one)}.${body}.${signature}`, `${encode(one)}.${body}.`]),
    ...headers.flatMap((one) => keys.map((key) => sign(`${encode(one)}.${body}`, key))),
    ...payloads.flatMap((one) => [`${head}.${encode(one)}.${signature}`, `${head}.${encode(one)}.`]),
    ...payloads.flatMap((one) => keys.map((key) => sign(`${head}.${encode(one)}`, key))),
    ...[...signature.slice(0, -1)].map((letter, at) => {
      const other = letter === "A" ? "B" : "A";
      return `${head}.${body}.${signature.slice(0, at)}${other}${signature.slice(at + 1)}`;
    }),
    `${head}.${body}`,
    `${head}..${signature}`,
    `.${body}.${signature}`,
    `${head}.${body}.${signature}.`,
    `${token}.${signature}.x`,
    `${head}.${body}.${signature}${signature}`,
    encode(token),
  ];
}

function forgedKeys(): string[] {
  const key = sales.api_key;
  return [
    ...[...key].map((letter, at) => `${key.slice(0, at)}${letter === "a" ? "b" : "a"}${key.slice(at + 1)}`),
    ...["\x80", "\xff", "\xc0\x80", "%00", "%20", "\x01", "\x7f", "'", '"', "\\", ",", ";", "\t x"].flatMap(
      (odd) => [`${key}${odd}`, `${odd}${key}`, `${key.slice(0, 20)}${odd}${key.slice(20)}`],
    ),
    key.slice(0, -1),
    key.slice(1),
    key.toUpperCase(),
    key.toLowerCase(),
    `${key}${key}`,
    `${key}, ${key}`,
    "wg_",
    "null",
    "undefined",
    "true",
    "0",
    "[object Object]",
    "' or '1'='1",
    "*",
    "%",
    "x".repeat(15_000),
  ].filter((one) => one !== key);
}

async function ask(header: string, path: string): Promise<number> {
  return statusOf(gateway.url, requestOf({ path, headers: [header] }, Buffer.alloc(0)));
}

async function statusesOf(headers: readonly string[], path: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const header of headers) {
    const status = await ask(header, path);
    found[status] = [...(found[status] ?? []), header];
  }
  return found;
}

test("no forged sign-in token, whatever its header, key and claims, is accepted", async () => {
  expect(await ask(`authorization: Bearer ${token}`, "/api/auth/me")).toBe(200);
  const headers = forgedTokens().flatMap((one) => [`authorization: Bearer ${one}`, `x-auth-token: ${one}`]);
  const { 401: refused = [], ...others } = await statusesOf(headers, "/api/auth/me");
  printFigures("Forged tokens", { tried: headers.length, refused: refused.length });
  expect(others).toEqual({});
  expect(refused).toHaveLength(headers.length);
});

test("no API key with another letter, an odd byte or a missing part is accepted", async () => {
  const path = `/api/v1/instances/${sales.id}`;
  expect(await ask(`x-api-key: ${sales.api_key}`, path)).toBe(200);
  const names = ["x-api-key", "apikey", "token", "authorization: Bearer"];
  const headers = forgedKeys().flatMap((one) =>
    names.map((name) => (name.includes(":") ? `${name} ${one}` : `${name}: ${one}`)),
  );
  // A malformed header is rejected before it is parsed.
  const { 401: refused = [], 400: malformed = [], ...others } = await statusesOf(headers, path);
  printFigures("Forged API keys", {
    tried: headers.length,
    refused: refused.length,
    malformed: malformed.length,
  });
  expect(others).toEqual({});
  expect(refused.length).toBeGreaterThan(headers.length / 2);
});

test("a token expires with the password, and with the user, for which it was issued", async () => {
  const users = (await gateway.owner.listUsers()).data;
  const id = users.find(({ email }) => email === "agent@example.com")?.id ?? 0;
  expect(await ask(`authorization: Bearer ${agent}`, "/api/auth/me")).toBe(200);
  await gateway.owner.updateUser({ id, password: "gravel trombone oyster lamp" });
  expect(await ask(`authorization: Bearer ${agent}`, "/api/auth/me")).toBe(401);
  expect(await ask(`authorization: Bearer ${token}`, "/api/auth/me")).toBe(401);
  const changed = { email: "agent@example.com", password: "gravel trombone oyster lamp" };
  const again = await signIn(gateway.url, changed);
  await gateway.owner.deleteUser({ id });
  expect(await ask(`authorization: Bearer ${again.token}`, "/api/auth/me")).toBe(401);
});
