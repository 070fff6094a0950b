import { hash } from "@node-rs/argon2";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { type Served, serveFeature } from "../../../test/serve-feature.ts";
import type { Clock } from "../../platform/clock.ts";
import { Secret } from "../../platform/secret.ts";
import { accountHandlers } from "./account-handlers.ts";
import { createAuthorise } from "./authorise.ts";
import { accountsContract } from "./contract.ts";
import { createAccount, ensureOwner } from "./create-account.ts";
import { createTokens } from "./tokens.ts";

const PASSWORD = "correct horse battery staple";
let test: TestDatabase;
let served: Served;
let nowMs = 0;
const clock: Clock = { now: () => new Date(), monotonicMs: () => nowMs };

beforeAll(async () => {
  test = await createTestDatabase();
  const { db } = test.database;
  const tokens = createTokens({ secretKey: "s".repeat(43), lifetimeSeconds: 43_200 });
  const access = createAuthorise({ db, tokens });
  served = await serveFeature(
    accountsContract,
    accountHandlers({ db, tokens, access, clock }),
    access.authorise,
  );
});

afterAll(async () => {
  await served.close();
  await test.drop();
});

/** What the throttle remembers is past. */
beforeEach(() => {
  nowMs += 3_600_000;
});

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

const login = (email: string, password = PASSWORD) =>
  served.call("POST /api/auth/login", { email, password });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const me = (token: string) => served.call("GET /api/auth/me", undefined, bearer(token));

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
  it("answers the token at the top and in data, with account and user", async () => {
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
        account: { id: account_id, name: "Blue Shop", account_type: "client", status: "active" },
        user: { id: user_id, name: "Blue Shop", email, role: "admin" },
      },
    });
  });

  it.each([
    (email: string) => ({ username: email, senha: PASSWORD }),
    (email: string) => ({ login: email, password: PASSWORD }),
    (email: string) => ({ email: `  ${email.toUpperCase()} `, password: PASSWORD }),
  ])("takes other spellings (%#)", async (spelling) => {
    const { email } = await makeAccount();
    expect((await served.call("POST /api/auth/login", spelling(email))).status).toBe(200);
  });

  it("refuses a wrong password and an unknown user with the same bytes", async () => {
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

  it("names the fields that are missing", async () => {
    const { status, body } = await served.call("POST /api/auth/login", {});
    expect(status).toBe(400);
    expect(body.code).toBe("VALIDATION_ERROR");
    expect(body.details.fields.map(({ field }: { field: string }) => field)).toEqual(["email", "password"]);
  });

  it("slows down guessing after five failures, tells how long to wait, and never locks for good", async () => {
    const { email } = await makeAccount();
    for (let i = 0; i < 5; i++) expect((await login(email, "wrong wrong wrong")).status).toBe(401);
    const refused = await login(email);
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe("RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toBe("1");
    nowMs += 1_000;
    expect((await login(email)).status).toBe(200);
  });

  it("slows down an address that guesses at many accounts", async () => {
    for (let i = 0; i < 20; i++) expect((await login(`guess${i}@example.com`, "wrong")).status).toBe(401);
    const { email } = await makeAccount();
    const refused = await login(email);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBe(900);
  });

  it("of many at once is worked off, and the rest is told to come back", async () => {
    const { email } = await makeAccount();
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(email)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  });

  it("is refused to an account that is out of service, once the password has proved right", async () => {
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

  it("renews a hash that was made at a lower cost", async () => {
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
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signIn(email);
  });
});

describe("being signed in", () => {
  it("tells who one is", async () => {
    const { email, account_id, user_id } = await makeAccount();
    const { status, body } = await me(await signIn(email));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ account: { id: account_id }, user: { id: user_id, email } });
    expect(JSON.stringify(body)).not.toMatch(/argon2|password/);
  });

  it("ends at once with the sign-out, and only for that token", async () => {
    const { email } = await makeAccount();
    const [one, other] = [await signIn(email), await signIn(email)];
    expect((await me(one)).status).toBe(200);
    expect(await served.call("POST /api/auth/logout", undefined, bearer(one))).toMatchObject({
      status: 200,
      body: { success: true, message: "Signed out", data: {} },
    });
    expect(await me(one)).toMatchObject({ status: 401, body: { code: "INVALID_TOKEN" } });
    expect((await me(other)).status).toBe(200);
  });

  it("ends within 5 s when another process ends the sign-in, or the account is blocked", async () => {
    const { db } = test.database;
    const [ended, blocked] = [await makeAccount(), await makeAccount()];
    const [one, other] = [await signIn(ended.email), await signIn(blocked.email)];
    expect([(await me(one)).status, (await me(other)).status]).toEqual([200, 200]);
    await db.deleteFrom("sign_in").where("user_id", "=", ended.user_id).execute();
    await db.updateTable("account").set({ status: "blocked" }).where("id", "=", blocked.account_id).execute();
    const codes = async () => [(await me(one)).body.code, (await me(other)).body.code];
    await expect.poll(codes, { interval: 250 }).toEqual(["INVALID_TOKEN", "ACCOUNT_RESTRICTED"]);
  });

  it("needs a token", async () => {
    expect(await served.call("GET /api/auth/me")).toMatchObject({
      status: 401,
      body: { code: "AUTH_REQUIRED" },
    });
    expect(await me("nonsense")).toMatchObject({ status: 401, body: { code: "INVALID_TOKEN" } });
  });
});

describe("changing the password", () => {
  const NEW = "gravel trombone oyster lamp";
  const change = (token: string, body: object) => served.call("POST /api/auth/password", body, bearer(token));

  it("ends every token of the user, gives a new one, and only the new password signs in", async () => {
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

  it("needs the current password, and guessing it is slowed down too", async () => {
    const { email } = await makeAccount();
    const token = await signIn(email);
    for (let i = 0; i < 5; i++) {
      expect(await change(token, { current_password: "wrong", new_password: NEW })).toMatchObject({
        status: 401,
        body: { code: "INVALID_CREDENTIALS" },
      });
    }
    expect((await change(token, { current_password: PASSWORD, new_password: NEW })).status).toBe(429);
    nowMs += 1_000;
    expect((await change(token, { currentPassword: PASSWORD, newPassword: NEW })).status).toBe(200);
  });

  it.each(["short", "password1234", "aaaaaaaaaaaaaa", PASSWORD])(
    "refuses %j as the new one",
    async (new_password) => {
      const { email } = await makeAccount();
      const token = await signIn(email);
      const { status, body } = await change(token, { current_password: PASSWORD, new_password });
      expect([status, body.code, body.details.fields[0].field]).toEqual([
        400,
        "VALIDATION_ERROR",
        "new_password",
      ]);
      expect((await me(token)).status).toBe(200);
    },
  );

  it("leaves no sign-in behind that was made with the old one at the same moment", async () => {
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

describe("making accounts", () => {
  it("refuses a taken e-mail in any case of letters, and a weak password", async () => {
    const { email } = await makeAccount();
    const again = {
      name: "Other",
      account_type: "client" as const,
      email: email.toUpperCase(),
      password: PASSWORD,
    };
    await expect(createAccount(test.database.db, again)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(
      createAccount(test.database.db, { ...again, password: "password1234" }),
    ).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  it("makes one owner, with a password made here, however many processes start at once", async () => {
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

  it("takes the owner's e-mail and password from the settings, and does not tell the password", async () => {
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
