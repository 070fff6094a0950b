import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { type AccountServer, serveAccounts } from "../../../../test/stories/account-server.ts";
import { Secret } from "../../../platform/secrets/secret.ts";
import { confirmPrinted, type FirstSignIn, prepareFirstSignIn } from "./prepare-first-sign-in.ts";

const STRONG = "gravel trombone oyster lamp";
const NODE = { node: "node-1", isTerminal: true };

let store: TestDatabase;
let server: AccountServer;

beforeEach(async () => {
  store = await createTestDatabase();
  server = await serveAccounts(store.database.db);
});
afterEach(async () => {
  await server?.close();
  await store?.drop();
});

const start = (settings = {}) => prepareFirstSignIn(store.database.db, { ...NODE, ...settings });
const started = async (): Promise<FirstSignIn> => (await start()) ?? expect.fail("nothing to print");
const read = (token = "") => server.send("POST /api/auth/welcome", {}, { token });
const use = (token = "", new_password = STRONG) =>
  server.send("POST /api/auth/welcome/password", {}, { token, new_password });
const login = (password = "", email = "owner@localhost") =>
  server.send("POST /api/auth/login", {}, { email, password });

describe("the generated password of the owner", () => {
  test("is not printed into a log, and the next start in a terminal prints one", async () => {
    const logged = await start({ isTerminal: false });
    expect(logged).toEqual({
      email: "owner@localhost",
      isCreated: true,
      welcomeToken: expect.stringMatching(/^[\w-]{43}$/),
    });
    const { password } = await started();
    expect((await login(password)).status).toBe(200);
  });

  test("signs in to the API, and the panel asks for another one until the owner has changed it", async () => {
    const { password } = await started();
    const { token, user } = (await login(password)).body.data;
    expect(user.must_change_password).toBe(true);
    const headers = { authorization: `Bearer ${token}` };
    const change = { current_password: password, new_password: STRONG };
    const changed = await server.send("POST /api/auth/password", headers, change);
    expect(changed.body.data.user.must_change_password).toBe(false);
    expect((await login(STRONG)).body.data.user.must_change_password).toBe(false);
  });
});

describe("the link of the first start", () => {
  test("shows the e-mail, sets the password once and signs in; then it and the printed password are void", async () => {
    const { email, password, welcomeToken } = await started();
    expect([email, password?.length]).toEqual(["owner@localhost", 24]);
    expect((await read(welcomeToken)).body.data).toEqual({ email });
    const { status, body } = await use(welcomeToken);
    expect(status).toBe(200);
    expect(body.data.user).toMatchObject({ email, must_change_password: false });
    const headers = { authorization: `Bearer ${body.data.token}` };
    expect((await server.send("GET /api/auth/me", headers)).status).toBe(200);
    expect([(await read(welcomeToken)).status, (await use(welcomeToken)).status]).toEqual([401, 401]);
    expect((await login(password)).status).toBe(401);
    expect((await login(STRONG)).status).toBe(200);
    expect(await start()).toBeUndefined();
  });

  test("is used by one of two browsers that use it at once", async () => {
    const { welcomeToken } = await started();
    const responses = await Promise.all([use(welcomeToken), use(welcomeToken, `${STRONG} too`)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test("refuses a weak password in words, and still works after that", async () => {
    const { welcomeToken } = await started();
    for (const weak of ["short", "password1234", "owner@localhost"]) {
      const { status, body } = await use(welcomeToken, weak);
      expect([status, body.code, body.details.fields[0].field]).toEqual([
        400,
        "VALIDATION_ERROR",
        "new_password",
      ]);
    }
    expect((await use(welcomeToken)).status).toBe(200);
  });

  test("is void once somebody has signed in with the printed password", async () => {
    const { password, welcomeToken } = await started();
    expect((await login(password)).status).toBe(200);
    expect((await use(welcomeToken)).body.code).toBe("INVALID_TOKEN");
    expect(await start()).toBeUndefined();
  });

  test("is void after 24 hours, and the next start prints another", async () => {
    const { welcomeToken } = await started();
    await confirmPrinted(store.database.db, NODE.node);
    await sql`update welcome_link set expires_at = now()`.execute(store.database.db);
    expect((await read(welcomeToken)).status).toBe(401);
    const next = await started();
    expect(next.password).toBeUndefined();
    expect((await use(next.welcomeToken)).status).toBe(200);
  });

  test("does not lose its printed password to a later start, and each node has a link of its own", async () => {
    const first = await started();
    await confirmPrinted(store.database.db, NODE.node);
    const other = (await start({ node: "node-2" })) ?? expect.fail("nothing to print");
    expect([other.password, other.isCreated]).toEqual([undefined, false]);
    expect((await read(first.welcomeToken)).status).toBe(200);
    expect((await read(other.welcomeToken)).status).toBe(200);
    expect((await login(first.password)).status).toBe(200);
  });

  test("comes with a new password if the start before ended without printing it, on the same node alone", async () => {
    const lost = await started();
    const elsewhere = await start({ node: "node-2" });
    expect(elsewhere?.password).toBeUndefined();
    const again = await started();
    expect(again.password).toMatch(/^[\w-]{24}$/);
    expect((await login(lost.password)).status).toBe(401);
    expect((await login(again.password)).status).toBe(200);
  });

  test("is not made for an owner whose password is in the settings", async () => {
    const ownerPassword = new Secret(STRONG);
    const made = await start({ ownerEmail: "boss@example.com", ownerPassword });
    expect(made).toEqual({ email: "boss@example.com", isCreated: true, password: undefined });
    expect(await start({ ownerPassword })).toBeUndefined();
  });

  test("is stored as a digest, and cannot be guessed more often than a password", async () => {
    const { welcomeToken = "" } = await started();
    const { rows } = await sql<{ text: string }>`
      select encode(digest, 'escape') as text from welcome_link`.execute(store.database.db);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(welcomeToken);
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await read(`${welcomeToken.slice(0, -1)}!`)).status);
    expect(statuses.slice(0, 5)).toEqual(Array(5).fill(401));
    expect(statuses.at(-1)).toBe(429);
  });
});
