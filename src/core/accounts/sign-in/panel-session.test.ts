import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { PASSWORD } from "../../../../test/sign-in.ts";
import { type AccountServer, serveAccounts } from "../../../../test/stories/account-server.ts";
import { createAccount } from "../users/create-account.ts";

let store: TestDatabase;
let server: AccountServer;
/** Headers of the panel's requests. */
const PANEL = { "x-waygate-panel": "1", "sec-fetch-site": "same-origin" };
let people = 0;
let shared: Session;

beforeAll(async () => {
  store = await createTestDatabase();
  server = await serveAccounts(store.database.db);
  shared = await startSession();
});
afterAll(async () => {
  await server?.close();
  await store?.drop();
});

interface Session {
  email: string;
  token: string;
  /** The header that a browser sends. */
  cookie: string;
  /** The header that the gateway sets. */
  header: string;
}

async function startSession(): Promise<Session> {
  const email = `panel${people++}@example.com`;
  await createAccount(store.database.db, { name: "Shop", account_type: "client", email, password: PASSWORD });
  const { body } = await server.send("POST /api/auth/login", {}, { email, password: PASSWORD });
  const { token } = body.data;
  const authorization = `Bearer ${token}`;
  const { status, cookies } = await server.send("POST /api/auth/session", { authorization }, {});
  expect([status, cookies.length]).toEqual([200, 1]);
  const [header = ""] = cookies;
  return { email, token, header, cookie: header.split(";")[0] ?? "" };
}

const statusOf = async (headers: Record<string, string | string[]>) =>
  (await server.send("GET /api/auth/me", headers)).status;

describe("a browser in which somebody has signed in", () => {
  const signIn = (headers: Record<string, string>, body: object) =>
    server.send("POST /api/auth/login", headers, { password: PASSWORD, ...body });

  /** Fails until the network must wait, and starts the wait in an hour so that it cannot end during the test. */
  async function lockOut(email: string): Promise<void> {
    for (let i = 0; i < 5; i++) await signIn({}, { email, password: "wrong" });
    await sql`update use_counter set last_at = last_at + interval '1 hour'`.execute(store.database.db);
  }

  test("is a known device: after a sign-out, wrong passwords of others do not keep its user out", async () => {
    const { email } = await startSession();
    for (const [origin, cookie] of [
      [
        "https://gate.test",
        /^(__Host-waygate-device=[\w.-]+); Path=\/; Max-Age=15552000; Secure; HttpOnly; SameSite=Strict$/,
      ],
      [
        "http://127.0.0.1:3000",
        /^(waygate-device=[\w.-]+); Path=\/; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
      ],
    ] as const) {
      const page = { ...PANEL, origin };
      const first = await signIn(page, { email });
      const [, device = ""] = cookie.exec(first.cookies[0] ?? "") ?? [];
      await lockOut(email);
      expect((await signIn(page, { email })).status).toBe(429);
      expect((await signIn({ ...page, cookie: device }, { email })).status).toBe(200);
      expect((await signIn({ ...page, cookie: `${device}; ${device}` }, { email })).status).toBe(429);
      await sql`delete from use_counter`.execute(store.database.db);
    }
  });

  test("gets the token of its device in a cookie alone, and a program in the body alone", async () => {
    const { email } = await startSession();
    const entered = await signIn(PANEL, { email });
    const password = "gravel trombone oyster lamp";
    const authorization = `Bearer ${entered.body.token}`;
    const change = { current_password: PASSWORD, new_password: password };
    const changed = await server.send("POST /api/auth/password", { ...PANEL, authorization }, change);
    for (const { status, body, cookies } of [entered, changed]) {
      const [, token = ""] = /^__Host-waygate-device=([^;]+)/.exec(cookies[0] ?? "") ?? [];
      expect([status, token.length > 50]).toEqual([200, true]);
      expect(JSON.stringify(body)).not.toContain(token);
      expect(body.data.device_token).toBeUndefined();
    }
    const { cookies, body } = await signIn({}, { email, password });
    expect([cookies, body.data.device_token.length > 50]).toEqual([[], true]);
  });

  test("never sends the cookie of a plain page to a secure one", async () => {
    const { email } = await startSession();
    const plain = await signIn({ ...PANEL, origin: "http://127.0.0.1:3000" }, { email });
    const device = plain.cookies[0]?.split(";")[0] ?? "";
    await lockOut(email);
    const secure = { ...PANEL, origin: "https://gate.test" };
    expect((await signIn({ ...secure, cookie: device }, { email })).status).toBe(429);
    await sql`delete from use_counter`.execute(store.database.db);
  });
});

describe("the session of the panel", () => {
  test("is a cookie that no script, no other host and no other site gets", async () => {
    const { header, token } = await startSession();
    expect(header).toMatch(
      /^__Host-waygate=[\w.-]+; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict$/,
    );
    expect(header).not.toContain(token);
  });

  test("signs in a page of the same origin that sends the header of the panel", async () => {
    const { cookie, email } = await startSession();
    const { status, body } = await server.send("GET /api/auth/me", {
      ...PANEL,
      cookie: `a=1; ${cookie}; b=2`,
    });
    expect([status, body.data.user.email]).toEqual([200, email]);
  });

  test("signs in a browser that names only its origin, if that is the host it asks", async () => {
    const { cookie } = await startSession();
    const marked = { "x-waygate-panel": "1", cookie };
    expect(await statusOf({ ...marked, origin: `http://${server.host}` })).toBe(200);
    expect(await statusOf({ ...marked, host: "gate.test", origin: "https://gate.test" })).toBe(200);
    expect(await statusOf({ ...marked, host: "gate.test", origin: "http://gate.test" })).toBe(401);
    expect(await statusOf({ ...marked, host: "gate.test", origin: "https://gate.test:444" })).toBe(401);
    expect(await statusOf({ ...marked, origin: "null" })).toBe(401);
    expect(await statusOf(marked)).toBe(401);
  });

  test.each([
    ["a navigation", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" }],
    ["a link from another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
    ["a form or an image of the same origin", { "sec-fetch-site": "same-origin" }],
    ["a page of another site", { "x-waygate-panel": "1", "sec-fetch-site": "cross-site" }],
    ["a page of another subdomain", { "x-waygate-panel": "1", "sec-fetch-site": "same-site" }],
    ["a request that no page has made", { "x-waygate-panel": "1", "sec-fetch-site": "none" }],
    ["another origin without fetch metadata", { "x-waygate-panel": "1", origin: "https://evil.example" }],
    [
      "two contradicting origins",
      { "x-waygate-panel": "1", "sec-fetch-site": ["same-origin", "cross-site"] },
    ],
    ["another value of the header", { ...PANEL, "x-waygate-panel": "true" }],
    ["the header twice", { ...PANEL, "x-waygate-panel": ["1", "1"] }],
  ])("signs in nobody by %s", async (_, headers) => {
    const { cookie } = shared;
    const { status, body } = await server.send("GET /api/auth/me", { ...headers, cookie });
    expect([status, body.code]).toEqual([401, "AUTH_REQUIRED"]);
    const change = await server.send("POST /api/auth/logout", { ...headers, cookie }, {});
    expect(change.status).toBe(401);
    expect(await statusOf({ ...PANEL, cookie })).toBe(200);
  });

  test("is refused when a second cookie of its name was planted, in one header or in two", async () => {
    const [own, planted] = [await startSession(), await startSession()];
    expect(await statusOf({ ...PANEL, cookie: `${own.cookie}; ${planted.cookie}` })).toBe(401);
    expect(await statusOf({ ...PANEL, cookie: [planted.cookie, own.cookie] })).toBe(401);
    expect(await statusOf({ ...PANEL, cookie: `${own.cookie}; __Host-waygate=` })).toBe(401);
  });

  test("is not found in a cookie of another name, of another form or of a great size", async () => {
    const { cookie } = await startSession();
    const value = cookie.slice(cookie.indexOf("=") + 1);
    for (const other of [
      `waygate=${value}`,
      `__host-waygate=${value}`,
      `__Host-waygate2=${value}`,
      `__Host-waygate="${value}"`,
      `__Host-waygate=${value}x`,
      `__Host-waygate=${"a".repeat(5_000)}.b.c`,
      `__Host-waygate=${value.slice(0, -4)}`,
      `${"; =".repeat(4_000)}__Host-waygate`,
    ])
      expect([other.slice(0, 40), await statusOf({ ...PANEL, cookie: other })]).toEqual([
        other.slice(0, 40),
        401,
      ]);
  });

  test("gives way to an Authorization header, which alone decides", async () => {
    const [own, other] = [await startSession(), await startSession()];
    const both = { ...PANEL, cookie: own.cookie };
    const { body } = await server.send("GET /api/auth/me", {
      ...both,
      authorization: `Bearer ${other.token}`,
    });
    expect(body.data.user.email).toBe(other.email);
    expect(await statusOf({ ...both, authorization: "Bearer a.b.c" })).toBe(401);
    expect(await statusOf({ ...both, "x-api-key": "wg_x" })).toBe(401);
  });

  test("is no token, and a token is no session", async () => {
    const { cookie, token } = await startSession();
    const value = cookie.slice(cookie.indexOf("=") + 1);
    expect(await statusOf({ authorization: `Bearer ${value}` })).toBe(401);
    expect(await statusOf({ ...PANEL, cookie: `__Host-waygate=${token}` })).toBe(401);
  });

  test("ends with the sign-out, in this browser and for a copy of the cookie", async () => {
    const { cookie, token } = await startSession();
    const { status, cookies } = await server.send("POST /api/auth/logout", { ...PANEL, cookie }, {});
    expect([status, cookies]).toEqual([
      200,
      ["__Host-waygate=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict"],
    ]);
    expect(await statusOf({ ...PANEL, cookie })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${token}` })).toBe(401);
  });

  test("goes on after its own change of the password, and every other session ends", async () => {
    const { cookie, email } = await startSession();
    const elsewhere = await server.send("POST /api/auth/login", {}, { email, password: PASSWORD });
    const change = { current_password: PASSWORD, new_password: "gravel trombone oyster lamp" };
    const { status, cookies } = await server.send("POST /api/auth/password", { ...PANEL, cookie }, change);
    expect(status).toBe(200);
    expect(await statusOf({ ...PANEL, cookie })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${elsewhere.body.token}` })).toBe(401);
    expect(await statusOf({ ...PANEL, cookie: cookies[0]?.split(";")[0] ?? "" })).toBe(200);
  });

  test("starts for a signed-in user alone", async () => {
    const { status, cookies } = await server.send("POST /api/auth/session", PANEL, {});
    expect([status, cookies]).toEqual([401, []]);
  });
});
