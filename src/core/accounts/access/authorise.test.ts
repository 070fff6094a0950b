import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { changeTiming } from "../../../../test/change-sandbox-timing.ts";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { insertInstance } from "../../../../test/rows.ts";
import { PASSWORD } from "../../../../test/sign-in.ts";
import type { Credential } from "../../../platform/http/handler.ts";
import { type RouteAccess, route } from "../../../platform/http/route.ts";
import { createMetrics } from "../../../platform/log/metrics.ts";
import { Secret } from "../../../platform/secrets/secret.ts";
import { createApiKey } from "../../instances/api-keys/api-key.ts";
import { issueApiKey, rotateApiKey } from "../../instances/api-keys/issue-api-key.ts";
import { createAccount } from "../users/create-account.ts";
import { createAccessTokens } from "./access-tokens.ts";
import { type AccessControl, createAuthorise } from "./authorise.ts";
import { CREDENTIAL_TIMING } from "./credential-cache.ts";
import { createRateLimits } from "./rate-limits.ts";

const ADMIN = "a".repeat(40);
const METRICS = "m".repeat(40);
let test: TestDatabase;
let access: AccessControl;
const tokens = createAccessTokens({ secretKey: "s".repeat(43), lifetimeSeconds: 600 });

beforeAll(async () => {
  test = await createTestDatabase();
  access = createAuthorise({ db: test.database.db, tokens, adminTokens: [new Secret(ADMIN)] });
});
afterAll(() => test.drop());

const at = (name: RouteAccess) =>
  route({ http: "GET /x", access: name, tag: "x", summary: "x", input: z.object({}), output: z.unknown() });

function ask(name: RouteAccess, credential?: Credential, instanceId?: number, control = access) {
  return control.authorise(at(name), { credential, instanceId, ip: "192.0.2.1", responseHeaders: {} });
}

describe("the metrics token", () => {
  it("authenticates a monitor on public routes, and gives access to no other route", async () => {
    const metrics = createMetrics(new Secret(METRICS));
    const control = createAuthorise({
      db: test.database.db,
      tokens,
      adminTokens: [new Secret(ADMIN)],
      isMetricsToken: metrics.isToken,
    });
    const right: Credential = { kind: "bearer", value: METRICS };
    expect(await ask("public", right, undefined, control)).toEqual({ kind: "public", is_monitor: true });
    const wrong: Credential = { kind: "bearer", value: "b".repeat(40) };
    expect(await ask("public", wrong, undefined, control)).toEqual({ kind: "public" });
    expect(await ask("public", right)).toEqual({ kind: "public" });
    for (const other of ["account", "instance", "owner"] as const)
      await expect(ask(other, right, 1, control)).rejects.toMatchObject({ status: 401 });
  });
});

describe("a token in the path", () => {
  const path = { ...at("public"), pathToken: true } as const;
  const input = { credential: undefined, ip: "192.0.2.9", pathToken: { instanceId: 1, token: "right" } };
  const control = (asked: number[], isKnown: boolean) =>
    createAuthorise({
      db: test.database.db,
      tokens,
      limits: createRateLimits({ unknownPerMinute: 2 }),
      pathTokens: {
        isKnown: () => isKnown,
        isValid: async (id, token) => asked.push(id) > 0 && token === "right",
      },
    });

  it("causes no database query for an unknown instance once an address has guessed too often", async () => {
    const asked: number[] = [];
    const { authorise } = control(asked, false);
    const guess = () =>
      authorise(path, { ...input, pathToken: { instanceId: 7, token: "guess" }, responseHeaders: {} });
    for (let n = 0; n < 2; n++) await expect(guess()).rejects.toMatchObject({ code: "INVALID_CREDENTIALS" });
    for (let n = 0; n < 5; n++) await expect(guess()).rejects.toMatchObject({ code: "RATE_LIMITED" });
    expect(asked).toEqual([7, 7]);
  });

  it("uses no allowance if it is correct, even from an address that has guessed too often", async () => {
    const { authorise, countUnauthenticated } = control([], true);
    for (let n = 0; n < 10; n++) {
      expect(await authorise(path, { ...input, responseHeaders: {} })).toEqual({ kind: "public" });
    }
    for (let n = 0; n < 2; n++) countUnauthenticated(input.ip);
    expect(() => countUnauthenticated(input.ip)).toThrow(/Too many requests/);
    expect(await authorise(path, { ...input, responseHeaders: {} })).toEqual({ kind: "public" });
  });
});

const key = (value: string): Credential => ({ kind: "key", value });
const bearer = (value: string): Credential => ({ kind: "bearer", value });
const admin = (value: string): Credential => ({ kind: "admin", value });

let made = 0;
async function makeTenant(account_type: "owner" | "reseller" | "client" = "client") {
  const { db } = test.database;
  const email = `user${made++}@example.com`;
  const { account_id, user_id } = await createAccount(db, {
    name: "Shop",
    account_type,
    email,
    password: PASSWORD,
  });
  const id = await insertInstance(db, account_id);
  const issued = await db.transaction().execute((trx) => issueApiKey(trx, { id, account_id }));
  const sign_in = `sign-in-${made}`;
  await db
    .insertInto("sign_in")
    .values({ id: sign_in, user_id, expires_at: new Date(Date.now() + 600_000) })
    .execute();
  const token = bearer(await tokens.sign({ user_id, sign_in }));
  return {
    account_id,
    user_id,
    id,
    key_id: issued.id,
    api_key: issued.api_key,
    key: key(issued.api_key),
    token,
    sign_in,
  };
}

/** The result for each credential on a route of each access: the kind of caller, or the error code. */
const TABLE: Record<RouteAccess, { none: string; key: string; token: string; owner: string; admin: string }> =
  {
    public: { none: "public", key: "public", token: "public", owner: "public", admin: "public" },
    account: {
      none: "AUTH_REQUIRED",
      key: "AUTH_REQUIRED",
      token: "user",
      owner: "user",
      admin: "AUTH_REQUIRED",
    },
    instance: {
      none: "AUTH_REQUIRED",
      key: "key",
      token: "user",
      owner: "NOT_FOUND",
      admin: "AUTH_REQUIRED",
    },
    key: { none: "AUTH_REQUIRED", key: "key", token: "user", owner: "user", admin: "AUTH_REQUIRED" },
    key_or_admin: {
      none: "AUTH_REQUIRED",
      key: "key",
      token: "AUTH_REQUIRED",
      owner: "AUTH_REQUIRED",
      admin: "admin",
    },
    admin: {
      none: "AUTH_REQUIRED",
      key: "AUTH_REQUIRED",
      token: "AUTH_REQUIRED",
      owner: "AUTH_REQUIRED",
      admin: "admin",
    },
    owner: { none: "AUTH_REQUIRED", key: "AUTH_REQUIRED", token: "FORBIDDEN", owner: "user", admin: "admin" },
    manager: {
      none: "AUTH_REQUIRED",
      key: "AUTH_REQUIRED",
      token: "FORBIDDEN",
      owner: "user",
      admin: "admin",
    },
  };

const outcome = (asking: Promise<{ kind: string }>): Promise<string> =>
  asking.then(
    ({ kind }) => kind,
    ({ code }) => code,
  );

describe("authorisation by route access", () => {
  it.each(Object.entries(TABLE))("follows the access table on a route with access %s", async (name, row) => {
    const [tenant, owner] = [await makeTenant(), await makeTenant("owner")];
    const met = {
      none: await outcome(ask(name as RouteAccess, undefined, tenant.id)),
      key: await outcome(ask(name as RouteAccess, tenant.key, tenant.id)),
      token: await outcome(ask(name as RouteAccess, tenant.token, tenant.id)),
      owner: await outcome(ask(name as RouteAccess, owner.token, tenant.id)),
      admin: await outcome(ask(name as RouteAccess, admin(ADMIN), tenant.id)),
    };
    expect(met).toEqual(row);
  });

  it("passes the caller's account, instance, user and role to the handler", async () => {
    const { account_id, user_id, id, key_id, sign_in, ...shown } = await makeTenant("reseller");
    expect(await ask("instance", shown.key, id)).toEqual({
      kind: "key",
      account_id,
      instance_id: id,
      key_id,
      scope: "instance",
      may_manage: true,
    });
    expect(await ask("instance", shown.token, id)).toEqual({
      kind: "user",
      account_id,
      account_type: "reseller",
      user_id,
      role: "admin",
      instance_ids: null,
      sign_in,
      is_fresh: true,
    });
  });

  it("rejects an agent of the owner's account on a route for the owner", async () => {
    const owner = await makeTenant("owner");
    await test.database.db
      .updateTable("account_user")
      .set({ role: "agent" })
      .where("id", "=", owner.user_id)
      .execute();
    await expect(ask("owner", owner.token)).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("authorisation by role and plan", () => {
  const ofInstance = {
    http: "GET /x/:id",
    tag: "x",
    summary: "x",
    input: z.object({}),
    output: z.unknown(),
  } as const;
  const forAdmins = route({ ...ofInstance, access: "instance", role: "admin" });
  const ofCrm = route({ ...ofInstance, access: "instance", feature: "crm" });
  const askAt = (to: typeof forAdmins | typeof ofCrm, credential: Credential, instanceId: number) =>
    access.authorise(to, { credential, instanceId, ip: "192.0.2.1", responseHeaders: {} });

  it("rejects agents on routes for administrators, whatever the target; keys have no role", async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    await askAt(forAdmins, one.token, one.id);
    const { db } = test.database;
    await db.updateTable("account_user").set({ role: "agent" }).where("id", "=", other.user_id).execute();
    for (const id of [other.id, one.id, 0]) {
      await expect(askAt(forAdmins, other.token, id)).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
    await ask("instance", other.token, other.id);
    await askAt(forAdmins, other.key, other.id);
  });

  it("rejects only tokens and keys of accounts whose plan has the feature switched off", async () => {
    const [with_it, without] = [await makeTenant(), await makeTenant()];
    await test.database.pool.query(
      `with plan as (insert into plan (name, features) values ('no crm', '{"crm": false, "campaigns": true}') returning id)
      update account set plan_id = plan.id from plan where account.id = ${without.account_id}`,
    );
    for (const credential of [without.key, without.token]) {
      await expect(askAt(ofCrm, credential, without.id)).rejects.toMatchObject({
        code: "PLAN_FEATURE_DISABLED",
        details: { feature: "crm" },
      });
      await ask("instance", credential, without.id);
    }
    await askAt(ofCrm, with_it.key, with_it.id);
  });
});

describe("an instance of another account", () => {
  it("is rejected as not a number only after authentication, if the path contains no number", async () => {
    const one = await makeTenant();
    for (const credential of [one.key, one.token]) {
      expect(await outcome(ask("instance", credential, 0))).toBe("VALIDATION_ERROR");
    }
    expect(await outcome(ask("instance", undefined, 0))).toBe("AUTH_REQUIRED");
  });

  it("is not found by a user, with one message whether it exists, is being removed, or neither", async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    const { db } = test.database;
    const removed = await makeTenant();
    await db
      .updateTable("instance")
      .set({ account_id: one.account_id, removed_at: new Date() })
      .where("id", "=", removed.id)
      .execute();
    const refusals = await Promise.all(
      [other.id, 999_999_999, removed.id].map((id) => ask("instance", one.token, id).catch((error) => error)),
    );
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    expect(refusals[0]).toMatchObject({ code: "NOT_FOUND" });
  });
});

/** Waits until no query of an earlier request runs. */
async function silence(): Promise<void> {
  const { pool } = test.database;
  await expect.poll(() => [pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 0]);
}

describe("an API key", () => {
  it("is rejected without a database query if mistyped, and after one query if unknown", async () => {
    const { api_key, id } = await makeTenant();
    await silence();
    let questions = 0;
    test.database.pool.on("acquire", () => questions++);
    for (const wrong of [
      "",
      "x",
      "wg_",
      `${api_key}x`,
      `${api_key.slice(0, -1)}!`,
      api_key.replace("wg_", "sk_"),
    ]) {
      await expect(ask("instance", key(wrong), id)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    }
    expect(questions).toBe(0);
    await expect(ask("instance", key(createApiKey()), id)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    expect(questions).toBe(1);
  });

  it("costs one database query for many requests, and updates its last use once a minute", async () => {
    const { key: good, id, key_id } = await makeTenant();
    const { db } = test.database;
    const lastUse = async () =>
      (await db.selectFrom("api_key").select("last_used_at").where("id", "=", key_id).executeTakeFirst())
        ?.last_used_at;
    const fresh = () => createAuthorise({ db, tokens });
    const control = fresh();
    await silence();
    let questions = 0;
    test.database.pool.on("acquire", () => questions++);
    await Promise.all(Array.from({ length: 500 }, () => ask("instance", good, id, control)));
    expect(questions).toBeLessThanOrEqual(2);
    await expect.poll(lastUse).toBeInstanceOf(Date);
    const first = await lastUse();
    await ask("instance", good, id, fresh());
    expect(await lastUse()).toEqual(first);
    await db
      .updateTable("api_key")
      .set({ last_used_at: new Date(Date.now() - 61_000) })
      .where("id", "=", key_id)
      .execute();
    await ask("instance", good, id, fresh());
    await expect.poll(async () => ((await lastUse())?.getTime() ?? 0) > Date.now() - 30_000).toBe(true);
  });
});

describe("a cached API key", () => {
  changeTiming(CREDENTIAL_TIMING, { ttlMs: 86_400_000 });

  it("is rejected from its expiry on, although the cache holds it longer", async () => {
    const { key: good, id, key_id } = await makeTenant();
    const { db, pool } = test.database;
    await pool.query("update api_key set expires_at = now() + interval '1 hour' where id = $1", [key_id]);
    const control = createAuthorise({ db, tokens });
    await ask("instance", good, id, control);
    const { now } = performance;
    vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 3_600_000);
    await expect(ask("instance", good, id, control)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
  });
});

describe("a cached credential that was replaced", () => {
  changeTiming(CREDENTIAL_TIMING, { ttlMs: 250 });

  it("is invalid at once on this node and notified nodes, and elsewhere once it is old", async () => {
    const { key: old, id, account_id, token, sign_in } = await makeTenant();
    const { db } = test.database;
    const listeners: ((hint: string) => void)[] = [];
    const engine = {
      publish: (_topic: string, hint: string) => {
        for (const listen of listeners) listen(hint);
      },
      subscribe: (_topic: string, listen: (hint: string) => void) => {
        listeners.push(listen);
        return () => {};
      },
    };
    const [here, hearing, deaf] = [
      createAuthorise({ db, tokens, engine }),
      createAuthorise({ db, tokens, engine }),
      createAuthorise({ db, tokens }),
    ];
    for (const control of [here, hearing, deaf]) await ask("instance", old, id, control);
    const { api_key, ended } = await db
      .transaction()
      .execute((trx) =>
        rotateApiKey(
          trx,
          { id, account_id },
          { graceSeconds: 0, endsDescendants: false, isByKey: false, endsLinks: false },
        ),
      );
    await ask("instance", token, id, deaf);
    await db.deleteFrom("sign_in").where("id", "=", sign_in).execute();
    here.invalidateApiKeys(ended);
    for (const control of [here, hearing]) {
      await expect(ask("instance", old, id, control)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
      await ask("instance", key(api_key), id, control);
    }
    await expect.poll(() => outcome(ask("instance", old, id, deaf))).toBe("INVALID_API_KEY");
    await expect.poll(() => outcome(ask("instance", token, id, deaf))).toBe("INVALID_TOKEN");
  });
});

describe("a sign-in", () => {
  it("is valid only for its own user, and only while its row exists", async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    const mixed = bearer(await tokens.sign({ user_id: one.user_id, sign_in: other.sign_in }));
    const ended = bearer(await tokens.sign({ user_id: one.user_id, sign_in: "no-such" }));
    for (const wrong of [mixed, ended, bearer("x.y.z")]) {
      await expect(ask("account", wrong)).rejects.toMatchObject({ code: "INVALID_TOKEN" });
    }
    await ask("account", one.token);
    await test.database.db.deleteFrom("sign_in").where("id", "=", one.sign_in).execute();
    access.invalidateSignIns([one.sign_in]);
    await expect(ask("account", one.token)).rejects.toMatchObject({ code: "INVALID_TOKEN" });
  });

  it("is rejected if its row has expired", async () => {
    const { token, sign_in } = await makeTenant();
    await test.database.db
      .updateTable("sign_in")
      .set({ expires_at: new Date(Date.now() - 1000) })
      .where("id", "=", sign_in)
      .execute();
    await expect(ask("account", token)).rejects.toMatchObject({ code: "INVALID_TOKEN" });
  });
});

describe("the administrative token", () => {
  it.each(["", "a", "a".repeat(39), "a".repeat(41), "b".repeat(40)])("cannot be %j", async (value) => {
    await expect(ask("admin", admin(value))).rejects.toMatchObject({ code: "INVALID_CREDENTIALS" });
  });

  it("may be one of two during a rotation", async () => {
    const SECOND = "b".repeat(40);
    const adminTokens = [new Secret(ADMIN), new Secret(SECOND)];
    const changing = createAuthorise({ db: test.database.db, tokens, adminTokens });
    for (const token of [ADMIN, SECOND]) {
      expect(await outcome(ask("admin", admin(token), undefined, changing))).toBe("admin");
    }
    expect(await outcome(ask("admin", admin("c".repeat(40)), undefined, changing))).toBe(
      "INVALID_CREDENTIALS",
    );
  });

  it.each([
    ["192.0.2.1", "admin"],
    ["192.0.2.0/24", "admin"],
    ["192.0.2.2", "FORBIDDEN"],
    ["2001:db8::/32", "FORBIDDEN"],
  ])("is accepted from %s only; other addresses cannot find out whether it is valid", async (from, how) => {
    const adminTokens = [new Secret(ADMIN)];
    const own = createAuthorise({ db: test.database.db, tokens, adminTokens, adminFrom: [from] });
    expect(await outcome(ask("admin", admin(ADMIN), undefined, own))).toBe(how);
    const guessed = await outcome(ask("admin", admin("b".repeat(40)), undefined, own));
    expect(guessed).toBe(how === "admin" ? "INVALID_CREDENTIALS" : how);
  });

  it("gives access to nothing if none is set: its routes do not exist", async () => {
    const closed = createAuthorise({ db: test.database.db, tokens });
    await expect(ask("admin", admin(ADMIN), undefined, closed)).rejects.toMatchObject({
      code: "ROUTE_NOT_FOUND",
    });
    await expect(ask("admin", undefined, undefined, closed)).rejects.toMatchObject({
      code: "ROUTE_NOT_FOUND",
    });
    for (const name of ["key_or_admin", "owner"] as const) {
      await expect(ask(name, admin(""), undefined, closed)).rejects.toMatchObject({
        code: "INVALID_CREDENTIALS",
      });
    }
  });
});
