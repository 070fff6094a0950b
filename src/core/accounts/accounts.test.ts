import { hash } from "@node-rs/argon2";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test as whole } from "vitest";
import { z } from "zod";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { PASSWORD } from "../../../test/sign-in.ts";
import { type AccountServer, SECRET, serveAccounts } from "../../../test/stories/account-server.ts";
import { contract } from "../../contract.ts";
import { type Db, openDatabase } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Route } from "../../platform/http/route.ts";
import { Secret } from "../../platform/secrets/secret.ts";
import { createAccessTokens } from "./access/access-tokens.ts";
import { createSignInHandlers } from "./sign-in/sign-in.ts";
import { createTrustedDevices } from "./sign-in/trusted-devices.ts";
import { createAccount, ensureOwner } from "./users/create-account.ts";
import { needsRehash } from "./users/password-hasher.ts";

const NEW_PASSWORD = "another horse battery staple";
const THIRD_PASSWORD = "a third horse battery staple";
let test: TestDatabase;
let server: AccountServer;
let request: HttpRequester;

beforeAll(async () => {
  test = await createTestDatabase();
  server = await serveAccounts(test.database.db);
  request = createHttpRequester(() => `http://${server.host}`);
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

/** Moves the throttle's counts into the past. */
beforeEach(() => passTime(7_200));

async function passTime(seconds: number): Promise<void> {
  const by = sql`make_interval(secs => ${seconds})`;
  await sql`update use_counter set started_at = started_at - ${by}, last_at = last_at - ${by}`.execute(
    test.database.db,
  );
}

let accounts = 0;
async function makeAccount(password = PASSWORD) {
  const email = `user${accounts++}@example.com`;
  const ids = await createAccount(test.database.db, {
    name: "Blue Shop",
    account_type: "client",
    email,
    password,
  });
  return { email, ...ids };
}

const login = (email: string, password = PASSWORD) => request("POST /api/auth/login", { email, password });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const me = (token: string) => request("GET /api/auth/me", undefined, bearer(token));

async function signIn(email: string, password = PASSWORD): Promise<string> {
  const { body } = await login(email, password);
  expect(body).toMatchObject({ success: true });
  return body.token;
}

const withoutRequestId = ({ request_id, ...body }: Record<string, unknown>) => {
  expect(request_id).toMatch(/./);
  return body;
};

describe("signing in", () => {
  it("returns the token at the top level and in data, with account and user", async () => {
    const { email, account_id, user_id } = await makeAccount();
    const { status, body } = await login(email);
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: "Signed in",
      token: expect.stringMatching(/^eyJ/),
      accountId: account_id,
      data: {
        token: body.token,
        token_type: "Bearer",
        expires_in: 43_200,
        device_token: expect.stringMatching(/^[\w.-]{60,100}$/),
        account: { id: account_id, name: "Blue Shop", account_type: "client", status: "active" },
        user: {
          id: user_id,
          name: "Blue Shop",
          email,
          role: "admin",
          instance_ids: null,
          must_change_password: false,
        },
      },
    });
    const shown = await me(body.token);
    expect(shown.body.data).toMatchObject({ account: { id: account_id }, user: { id: user_id, email } });
    expect(JSON.stringify(shown.body)).not.toMatch(/argon2|"password/);
  });

  it.each([
    (email: string) => ({ username: email, senha: PASSWORD }),
    (email: string) => ({ login: email, password: PASSWORD }),
    (email: string) => ({ email: `  ${email.toUpperCase()} `, password: PASSWORD }),
  ])("accepts other names and formats of the fields (%#)", async (spelling) => {
    const { email } = await makeAccount();
    expect((await request("POST /api/auth/login", spelling(email))).status).toBe(200);
  });

  it("rejects a wrong password and an unknown user with identical responses", async () => {
    const { email } = await makeAccount();
    const wrong = await login(email, "correct horse battery stable");
    const unknown = await login("nobody@example.com", PASSWORD);
    expect(wrong.status).toBe(401);
    expect(wrong.body).toMatchObject({ success: false, code: "INVALID_CREDENTIALS" });
    expect([unknown.status, withoutRequestId(unknown.body)]).toEqual([
      wrong.status,
      withoutRequestId(wrong.body),
    ]);
  });

  it("delays attempts after five failures, reports the wait, and never locks permanently", async () => {
    const { email } = await makeAccount();
    for (let i = 0; i < 5; i++) expect((await login(email, "wrong wrong wrong")).status).toBe(401);
    // The wait must not end before the test reads it.
    await passTime(-60);
    const refused = await login(email);
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe("RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(61);
    await passTime(61);
    expect((await login(email)).status).toBe(200);
  });

  it("succeeds while a stranger behind the same address guesses, and guessing stays limited", async () => {
    const { email } = await makeAccount();
    for (let i = 0; i < 20; i++) await login(`invented${i}@example.com`, "wrong wrong wrong");
    const refused = [await login("invented@example.com", "wrong wrong wrong"), await login(email, "wrong")];
    for (const { status, body, headers } of refused) {
      expect([status, body.code]).toEqual([429, "RATE_LIMITED"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(1);
    }
    expect((await login(email)).status).toBe(200);
    // At most five others may wait for password checks.
    const flood = await Promise.all(
      Array.from({ length: 30 }, (_, nth) => login(`flood${nth}@example.com`, "wrong wrong wrong")),
    );
    expect(flood.map(({ status }) => status)).toEqual(flood.map(() => 429));
    expect(flood.some(({ headers }) => headers.get("retry-after") === "1")).toBe(true);
    expect((await login(email)).status).toBe(200);
  });

  it("finds the user of an address in ten accounts, and asks which one if the password fits several", async () => {
    const { email, account_id } = await makeAccount();
    const more = { name: "Other", account_type: "client" as const, email };
    for (let i = 0; i < 8; i++)
      await createAccount(test.database.db, { ...more, password: `${NEW_PASSWORD} ${i}` });
    const last = await createAccount(test.database.db, { ...more, password: NEW_PASSWORD });
    expect((await login(email, NEW_PASSWORD)).body.data.user.id).toBe(last.user_id);
    const { db } = test.database;
    const { password_hash } = await db
      .selectFrom("account_user")
      .select("password_hash")
      .where("account_id", "=", account_id)
      .executeTakeFirstOrThrow();
    await db.updateTable("account_user").set({ password_hash }).where("id", "=", last.user_id).execute();
    const { status, body } = await login(email);
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(body.details.accounts).toEqual([
      { id: account_id, name: "Blue Shop" },
      { id: last.account_id, name: "Other" },
    ]);
    const named = { email, password: PASSWORD, account_id: last.account_id };
    const chosen = await request("POST /api/auth/login", named);
    expect(chosen.body.data.user.id).toBe(last.user_id);
  });

  it("is limited even if another account has a user and a device with the same e-mail address", async () => {
    const { email, user_id } = await makeAccount();
    const mine = { name: "Other", account_type: "client" as const, email, password: NEW_PASSWORD };
    await createAccount(test.database.db, mine);
    const device_token = (await login(email, NEW_PASSWORD)).body.data.device_token;
    const guess = (password: string) => request("POST /api/auth/login", { email, password, device_token });
    for (let i = 0; i < 5; i++) {
      expect((await guess(`wrong wrong ${i}`)).status).toBe(401);
      expect((await guess(NEW_PASSWORD)).status).toBe(200);
    }
    await passTime(-60);
    expect((await guess(PASSWORD)).body.code).toBe("INVALID_CREDENTIALS");
    await passTime(900);
    expect((await guess(PASSWORD)).body.data.user.id).toBe(user_id);
  });

  it("from a known device succeeds even if many other users have the same e-mail address", async () => {
    const others = await makeAccount(NEW_PASSWORD);
    const { email } = others;
    const more = { name: "Other", account_type: "client" as const, email };
    await createAccount(test.database.db, { ...more, password: NEW_PASSWORD });
    const { account_id, user_id } = await createAccount(test.database.db, { ...more, password: PASSWORD });
    for (let i = 0; i < 8; i++) await createAccount(test.database.db, { ...more, password: NEW_PASSWORD });
    const first = await request("POST /api/auth/login", { email, password: PASSWORD, account_id });
    const { device_token } = first.body.data;
    // Of eleven accounts, the newest is not tried without its number.
    const late = "gravel trombone lamp";
    await createAccount(test.database.db, { ...more, password: late });
    expect((await login(email, late)).status).toBe(401);
    const again = await request("POST /api/auth/login", { email, password: PASSWORD, device_token });
    expect(again.body.data.user.id).toBe(user_id);
  });

  it("from a known device works while unauthenticated clients fill the queue of password checks", async () => {
    const { email, user_id } = await makeAccount();
    const { db } = test.database;
    const tokens = createAccessTokens({ secretKey: SECRET, lifetimeSeconds: 60 });
    const full = async () => {
      throw new GatewayError("RATE_LIMITED", "Too many sign-ins at once.");
    };
    const signIn = createSignInHandlers({
      db,
      tokens,
      passwords: { hash: full, verify: full, verifyEach: full },
      secrets: [SECRET],
    });
    const by = { ip: "192.0.2.1", request_id: "req_1" };
    const attempt = (device_token?: string) => signIn.login({ email, password: PASSWORD, device_token }, by);
    await expect(attempt()).rejects.toMatchObject({ code: "RATE_LIMITED" });
    const { data } = await attempt(createTrustedDevices([SECRET]).issue(user_id));
    expect(data.user.id).toBe(user_id);
  });

  it("is rejected for an account that is out of service, only after the password was correct", async () => {
    const { email, account_id } = await makeAccount();
    for (const status of ["blocked", "paused", "expired", "cancelled"] as const) {
      await test.database.db.updateTable("account").set({ status }).where("id", "=", account_id).execute();
      const refused = await login(email);
      expect([refused.status, refused.body.code, refused.body.details]).toEqual([
        403,
        "ACCOUNT_RESTRICTED",
        { status },
      ]);
    }
    expect((await login(email, "wrong wrong wrong")).body.code).toBe("INVALID_CREDENTIALS");
    await test.database.db
      .updateTable("account")
      .set({ status: "trial" })
      .where("id", "=", account_id)
      .execute();
    expect((await login(email)).status).toBe(200);
  });

  it("replaces a password hash that was made at another cost", async () => {
    const { email, user_id } = await makeAccount();
    const { db } = test.database;
    const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    await db.updateTable("account_user").set({ password_hash: weak }).where("id", "=", user_id).execute();
    await signIn(email);
    const { password_hash } = await db
      .selectFrom("account_user")
      .select("password_hash")
      .where("id", "=", user_id)
      .executeTakeFirstOrThrow();
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$/);
    expect(needsRehash(password_hash)).toBe(false);
    await signIn(email);
  });
});

describe("a sign-in session", () => {
  it("ends at once with the sign-out, and other tokens stay valid", async () => {
    const { email } = await makeAccount();
    const [one, other] = [await signIn(email), await signIn(email)];
    expect((await me(one)).status).toBe(200);
    expect(await request("POST /api/auth/logout", undefined, bearer(one))).toMatchObject({
      status: 200,
      body: { success: true, message: "Signed out", data: {} },
    });
    expect(await me(one)).toMatchObject({ status: 401, body: { code: "INVALID_TOKEN" } });
    expect((await me(other)).status).toBe(200);
  });
});

describe("changing the password", () => {
  const NEW = "gravel trombone oyster lamp";
  const change = (token: string, body: object) => request("POST /api/auth/password", body, bearer(token));

  it("ends every token of the user, returns a new token, and only the new password signs in", async () => {
    const { email } = await makeAccount();
    const [one, other] = [await signIn(email), await signIn(email)];
    await me(one);
    await me(other);
    const { status, body } = await change(one, { current_password: PASSWORD, new_password: NEW });
    expect(status).toBe(200);
    expect(body).toMatchObject({ message: "Password changed", token: body.data.token });
    expect([(await me(one)).status, (await me(other)).status, (await me(body.token)).status]).toEqual([
      401, 401, 200,
    ]);
    expect((await login(email)).status).toBe(401);
    expect((await login(email, NEW)).status).toBe(200);
  });

  it("works from a known device while other clients guess passwords", async () => {
    const { email } = await makeAccount();
    const { token, device_token } = (await login(email)).body.data;
    for (let i = 0; i < 5; i++) await login(email, "wrong wrong wrong");
    // The wait must not end before the test reads it.
    await passTime(-60);
    const wanted = { current_password: PASSWORD, new_password: NEW };
    expect((await change(token, wanted)).body.code).toBe("RATE_LIMITED");
    expect((await change(token, { ...wanted, device_token })).status).toBe(200);
  });

  it("requires the current password, and slows down guesses at it", async () => {
    const { email } = await makeAccount();
    const token = await signIn(email);
    for (let i = 0; i < 5; i++) {
      expect(await change(token, { current_password: "wrong", new_password: NEW })).toMatchObject({
        status: 401,
        body: { code: "INVALID_CREDENTIALS" },
      });
    }
    await passTime(-60);
    expect((await change(token, { current_password: PASSWORD, new_password: NEW })).status).toBe(429);
    await passTime(61);
    expect((await change(token, { currentPassword: PASSWORD, newPassword: NEW })).status).toBe(200);
  });

  it.each(["password1234", PASSWORD])("rejects %j as the new password", async (new_password) => {
    const { email } = await makeAccount();
    const token = await signIn(email);
    const { status, body } = await change(token, { current_password: PASSWORD, new_password });
    expect([status, body.code, body.details.fields[0].field]).toEqual([
      400,
      "VALIDATION_ERROR",
      "new_password",
    ]);
    expect((await me(token)).status).toBe(200);
  });

  it("leaves no sign-in that used the old password at the same moment", async () => {
    const { email, user_id } = await makeAccount();
    const token = await signIn(email);
    const [changed, ...logins] = await Promise.all([
      change(token, { current_password: PASSWORD, new_password: NEW }),
      ...Array.from({ length: 4 }, () => login(email)),
    ]);
    expect(changed.status).toBe(200);
    const alive = await test.database.db
      .selectFrom("sign_in")
      .select("id")
      .where("user_id", "=", user_id)
      .execute();
    expect(alive).toHaveLength(1);
    for (const { status, body } of logins) {
      if (status === 200) expect((await me(body.token)).status).toBe(401);
    }
  });
});

describe("creating accounts", () => {
  it("accepts an e-mail address of another account without revealing that account", async () => {
    const first = await makeAccount();
    const email = first.email.toUpperCase();
    const second = { name: "Other", account_type: "client" as const, email, password: NEW_PASSWORD };
    const { account_id } = await createAccount(test.database.db, second);
    const signedInTo = async (input: object) =>
      (await request("POST /api/auth/login", { email, ...input })).body.accountId;
    expect(await signedInTo({ password: PASSWORD })).toBe(first.account_id);
    expect(await signedInTo({ password: NEW_PASSWORD })).toBe(account_id);
    expect(await signedInTo({ password: NEW_PASSWORD, account_id: first.account_id })).toBeUndefined();

    await createAccount(test.database.db, { ...second, password: PASSWORD });
    const third = await createAccount(test.database.db, { ...second, password: THIRD_PASSWORD });
    expect(await signedInTo({ password: THIRD_PASSWORD })).toBe(third.account_id);
  });

  it("creates one owner with a generated password, however many processes start at once", async () => {
    const { db } = test.database;
    const made = await Promise.all([ensureOwner(db, {}), ensureOwner(db, {}), ensureOwner(db, {})]);
    const owners = made.filter((owner) => owner !== undefined);
    expect(owners).toEqual([{ email: "owner@localhost", password: expect.stringMatching(/^[\w-]{24}$/) }]);
    const { body } = await login("owner@localhost", owners[0]?.password);
    expect(body.data).toMatchObject({ account: { account_type: "owner" }, user: { role: "super_admin" } });
    const plan = await db
      .selectFrom("account")
      .innerJoin("plan", "plan.id", "account.plan_id")
      .select("plan.name")
      .where("account.id", "=", body.accountId)
      .executeTakeFirst();
    expect(plan).toEqual({ name: "unlimited" });
    expect(
      await ensureOwner(db, { ownerEmail: "x@example.com", ownerPassword: new Secret("short") }),
    ).toBeUndefined();
    await db.deleteFrom("account").where("id", "=", body.accountId).execute();
  });

  it("creates the owner on connections with a short lock timeout too, while another process does the same", async () => {
    const { db, url } = test.database;
    const impatient = openDatabase(url, { lockTimeoutMs: 1 });
    let made: unknown;
    const { done } = await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtext('waygate owner'))`.execute(trx);
      const done = ensureOwner(impatient.db, {})
        .catch(String)
        .then((result) => {
          made = result;
        });
      await expect.poll(async () => made ?? (await waitsForLock(db))).toBe(true);
      return { done };
    });
    await done;
    expect(made).toMatchObject({ email: "owner@localhost" });
    await impatient.close();
    await db.deleteFrom("account").where("account_type", "=", "owner").execute();
  });

  it("reads the owner's e-mail and password from the settings, and does not print the password", async () => {
    const { db } = test.database;
    const ownerPassword = new Secret("gravel trombone oyster lamp");
    const weak = ensureOwner(db, {
      ownerEmail: "boss@example.com",
      ownerPassword: new Secret("password1234"),
    });
    await expect(weak).rejects.toThrow(/^WAYGATE_OWNER_PASSWORD: is too common/);
    expect(await ensureOwner(db, { ownerEmail: "boss@example.com", ownerPassword })).toEqual({
      email: "boss@example.com",
      password: undefined,
    });
    expect((await login("boss@example.com", ownerPassword.reveal())).status).toBe(200);
  });
});

async function waitsForLock(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks join pg_database d on d.oid = database
    where d.datname = current_database() and locktype = 'advisory' and not granted`.execute(db);
  return rows.length > 0;
}

describe("a sign-in that is more than ten minutes old", () => {
  async function old(account_type: "client" | "owner" = "client") {
    const email = `old${accounts++}@example.com`;
    const account = { name: "Old Shop", account_type, email, password: PASSWORD };
    const { account_id, user_id } = await createAccount(test.database.db, account);
    const token = await signIn(email);
    await sql`update sign_in set confirmed_at = now() - interval '11 minutes' where user_id = ${user_id}`.execute(
      test.database.db,
    );
    return { email, token, account_id, user_id };
  }
  const ana = { name: "Ana", email: "ana@example.com", password: NEW_PASSWORD };

  it("can read, but cannot add a user until the password is given again", async () => {
    const { token } = await old();
    expect((await request("GET /api/users", undefined, bearer(token))).status).toBe(200);
    const refused = await request("POST /api/users", ana, bearer(token));
    expect([refused.status, refused.body.code]).toEqual([403, "PASSWORD_REQUIRED"]);

    const wrong = await request("POST /api/auth/confirm", { password: "wrong" }, bearer(token));
    expect([wrong.status, wrong.body.code]).toEqual([401, "INVALID_CREDENTIALS"]);
    expect((await request("POST /api/users", ana, bearer(token))).status).toBe(403);

    expect((await request("POST /api/auth/confirm", { password: PASSWORD }, bearer(token))).status).toBe(200);
    expect((await request("POST /api/users", ana, bearer(token))).status).toBe(200);
  });

  it("of the owner can set a new password for a user once the owner's password is given again", async () => {
    const lost = await makeAccount();
    const before = await signIn(lost.email);
    const { token } = await old("owner");
    const recover = () => request(`POST /api/admin/users/${lost.user_id}/recover`, {}, bearer(token));
    expect((await recover()).body.code).toBe("PASSWORD_REQUIRED");
    await request("POST /api/auth/confirm", { password: PASSWORD }, bearer(token));
    const { body } = await recover();
    expect(body.data.user).toMatchObject({
      id: lost.user_id,
      email: lost.email,
      account_id: lost.account_id,
    });
    expect((await me(before)).status).toBe(401);
    expect((await login(lost.email)).status).toBe(401);
    expect((await login(lost.email, body.data.password)).status).toBe(200);
    const audited = await test.database.db
      .selectFrom("audit")
      .select("target_id")
      .where("action", "=", "user.recover")
      .execute();
    expect(audited).toEqual([{ target_id: String(lost.user_id) }]);
  });

  it("of the owner's administrator cannot set a new password for a super_admin", async () => {
    const { db } = test.database;
    const owner = await makeAccount();
    await db
      .updateTable("account")
      .set({ account_type: "owner" })
      .where("id", "=", owner.account_id)
      .execute();
    await db
      .updateTable("account_user")
      .set({ role: "super_admin" })
      .where("id", "=", owner.user_id)
      .execute();
    const token = await signIn(owner.email);
    const user = {
      name: "Bia",
      email: `bia${owner.user_id}@example.com`,
      password: NEW_PASSWORD,
      role: "admin",
    };
    const { body: made } = await request("POST /api/users", user, bearer(token));
    const recover = (id: number, by: string) =>
      request(`POST /api/admin/users/${id}/recover`, {}, bearer(by));
    const below = (await login(user.email, NEW_PASSWORD)).body.token;
    const refused = await recover(owner.user_id, below);
    expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    const own = await recover(owner.user_id, token);
    expect([own.status, own.body.message]).toEqual([409, expect.stringContaining("/api/auth/password")]);
    expect((await me(token)).status).toBe(200);
    expect((await recover(made.data.id, token)).status).toBe(200);
  });
});

/** Routes that look like sensitive actions, and why they need no password confirmation. */
const HARMLESS = {
  confirmPassword: "takes the password itself",
  changePassword: "takes the password itself",
  createBackup: "the copy stays on the gateway, and its download asks",
  testProxy: "no session uses the proxy",
  createLink: "links only a phone, once, within ten minutes",
  recordConsent: "adds a row that can be answered by another",
  deleteWebhook: "its events stay, and another webhook can get them",
  testWebhook: "sends no data of the account, and to a known address",
  testDefaultWebhook: "sends no data of the account, and to a known address",
  openReceiver: "the data stays in the gateway",
  recoverWebhook: "sends to a known address",
  deleteIntegration: "its events stay, and it can be saved again",
  testIntegration: "sends no data of the account, and to a known address",
  disconnectAssistant: "takes access away",
  deleteCustomField: "the values of leads stay, and it can be declared again",
  deleteLeadNote: "one note of an agent's day",
  deleteQuickReply: "can be saved again",
  deleteLabel: "the chats stay, and the label can be made again",
  cancelScheduled: "nothing was sent, and it can be scheduled again",
  revokeGroupInvite: "takes access away, and a new invitation replaces it",
};

/** Whether method, path or fields of a route grant access, move data, or delete it irreversibly. */
function looksLikeAct({ http, input, output, raw, streamed }: Route): boolean {
  const [method = "", path = ""] = http.split(" ");
  if (method === "DELETE") return true;
  if (method === "GET") return raw === "text/csv" || (streamed === true && raw !== "text/event-stream");
  const places =
    /^\/api\/(admin|users|account|data)\b|\/(webhooks?|webhook-receiver|integrations|proxy|api-key|link)(\/|$)|\/instances(\/:id)?$/;
  const given = /^(password|new_password|role|plan_id|webhook_url|proxy|config|settings)$/;
  const returned = /^(api_key|password|secret|token|url)$/;
  const has = (schema: z.ZodType, names: RegExp) =>
    schema instanceof z.ZodObject && Object.keys(schema.shape).some((name) => names.test(name));
  return places.test(path) || has(input, given) || has(output, returned);
}

whole(
  "every route that gives access, moves data or deletes for good asks for the password, or says why not",
  () => {
    const ofUsers = Object.entries<Route>(contract).filter(
      ([, { access }]) => !["public", "admin", "key_or_admin"].includes(access),
    );
    const asking = ofUsers.filter(([, { acts }]) => acts).map(([name]) => name);
    const looking = ofUsers.filter(([, route]) => looksLikeAct(route)).map(([name]) => name);
    expect(looking.filter((name) => !asking.includes(name)).toSorted()).toEqual(
      Object.keys(HARMLESS).toSorted(),
    );
    expect(asking.filter((name) => !looking.includes(name))).toEqual([]);
    const classes = ofUsers.flatMap(([, { acts = {} }]) => Object.keys(acts));
    const count = (name: string) => classes.filter((one) => one === name).length;
    // As docs/reliability/security.md says.
    expect(["credential", "destination", "everything", "irreversible"].map(count)).toEqual([13, 6, 4, 10]);
  },
);

whole("every field for which a route asks for the password is a field of its input", () => {
  const missing = Object.entries<Route>(contract).flatMap(([name, { acts = {}, input }]) =>
    Object.values(acts)
      .flatMap((fields) => (fields === true ? [] : fields))
      .filter((field) => !hasField(input, field.replace(/=.*/, "").split(".")))
      .map((field) => `${name}: ${field}`),
  );
  expect(missing).toEqual([]);
});

function hasField(schema: unknown, [name, ...rest]: string[]): boolean {
  if (name === undefined) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return hasField(schema.unwrap(), [name, ...rest]);
  return schema instanceof z.ZodObject && name in schema.shape && hasField(schema.shape[name], rest);
}
