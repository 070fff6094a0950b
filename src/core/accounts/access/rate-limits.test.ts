import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeTiming } from "../../../../test/change-sandbox-timing.ts";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, waitUntil } from "../../../../test/gateway.ts";
import {
  createHttpRequester,
  type HttpRequester,
  type RawHttpResponse,
} from "../../../../test/http-requester.ts";
import { PASSWORD, signIn } from "../../../../test/sign-in.ts";
import { createAccount } from "../users/create-account.ts";
import { CREDENTIAL_TIMING } from "./credential-cache.ts";
import type { PlanRates } from "./rate-limits.ts";

const UNKNOWN_RATE = 30;

changeTiming(CREDENTIAL_TIMING, { ttlMs: 250 });
let gateway: TestGateway;
let request: HttpRequester;
let shops = 0;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_UNKNOWN_RATE: String(UNKNOWN_RATE) });
  request = createHttpRequester(() => gateway.url);
});
afterAll(() => gateway.stop());

interface Shop {
  user: Record<string, string>;
  key: Record<string, string>;
  id: number;
  plan: number;
}

/** An account with its own plan and an instance. */
async function openShop(rates: Partial<PlanRates>): Promise<Shop> {
  const { db } = gateway.database;
  const name = `Shop ${shops++}`;
  const email = `${name.replace(" ", "")}@example.com`;
  const made = await createAccount(db, { name, account_type: "client", email, password: PASSWORD });
  const { headers: user } = await signIn(gateway.url, { email });
  const created = await request(
    "POST /instance/create",
    { name, network: "sandbox", account_id: made.account_id },
    { admintoken: ADMIN_TOKEN },
  );
  const { id: plan } = await db
    .insertInto("plan")
    .values({ name, features: "{}", ...rates })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db.updateTable("account").set({ plan_id: plan }).where("id", "=", made.account_id).execute();
  return { user, plan, id: created.body.data.id, key: { "x-api-key": created.body.token } };
}

const statuses = (responses: RawHttpResponse[]) => responses.map(({ status }) => status);
async function times<T>(n: number, request: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < n; i++) results.push(await request());
  return results;
}

describe("a plan with a rate limit", () => {
  test("rejects excess requests of the account, and reports when to retry", async () => {
    const shop = await openShop({ api_rate_limit_per_minute: 3 });
    const responses = await times(4, () => request("GET /api/auth/me", undefined, shop.user));
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    const [first, , , last] = responses;
    expect(first?.headers.get("ratelimit-policy")).toBe('"account";q=3;w=60');
    expect(first?.headers.get("ratelimit")).toBe('"account";r=2;t=20');
    expect(last?.body).toMatchObject({
      code: "RATE_LIMITED",
      details: { policy: "account", limit_per_minute: 3 },
    });
    const wait = Number(/t=(\d+)/.exec(last?.headers.get("ratelimit") ?? "")?.[1]);
    expect(Number(last?.headers.get("retry-after"))).toBe(wait);
    expect(wait).toBeGreaterThan(5);
  });

  test("counts messages separately, and a file as five requests", async () => {
    const shop = await openShop({ message_rate_limit_per_minute: 2, instance_rate_limit_per_minute: 9 });
    const send = (what: string) =>
      request(
        `POST /api/v1/instances/${shop.id}/send-${what}`,
        { number: "5511900000007", text: "Hi" },
        shop.key,
      );
    const responses = await times(3, () => send("text"));
    // The instance was never connected, so nothing is sent, but the requests count.
    expect(statuses(responses)).toEqual([409, 409, 429]);
    expect(responses[2]?.body.details.policy).toBe("messages");
    expect(
      (await request(`GET /api/v1/instances/${shop.id}`, undefined, shop.key)).headers.get("ratelimit"),
    ).toMatch(/^"instance";r=6;/);
    const media = await openShop({ instance_rate_limit_per_minute: 9 });
    const file = await request(`POST /api/v1/instances/${media.id}/send-media`, {}, media.key);
    expect(file.headers.get("ratelimit")).toMatch(/^"instance";r=4;/);
  });

  test("limits the rate of an instance, for requests by key and by sign-in", async () => {
    const shop = await openShop({ message_rate_limit_per_minute: 5 });
    const path = `/api/v1/instances/${shop.id}`;
    const set = (messages_per_minute: number | null) =>
      request(`PATCH ${path}`, { settings: { messages_per_minute } }, shop.user);
    const above = await set(6);
    expect(above.status).toBe(400);
    expect(JSON.stringify(above.body)).toContain("is more than the plan allows (5)");
    const { body } = await set(2);
    expect(body.data.settings.messages_per_minute).toBe(2);
    expect(body.data.limits).toMatchObject({ message_rate_limit_per_minute: 5, messages_per_minute: 2 });
    for (const caller of [shop.key, shop.user]) {
      await expect
        .poll(async () => {
          const message = { number: "5511900000007", text: "Hi" };
          const { status, headers } = await request(`POST ${path}/send-text`, message, caller);
          return [status, headers.get("ratelimit-policy")];
        })
        .toEqual([429, '"messages";q=2;w=60']);
    }
    expect((await set(null)).body.data.limits.messages_per_minute).toBe(5);
  });

  test("takes effect within seconds after a change", async () => {
    const shop = await openShop({ api_rate_limit_per_minute: 100 });
    await request("GET /api/auth/me", undefined, shop.user);
    const { db } = gateway.database;
    await db
      .updateTable("plan")
      .set({ api_rate_limit_per_minute: null })
      .where("id", "=", shop.plan)
      .execute();
    await waitUntil(async () => {
      const { headers } = await request("GET /api/auth/me", undefined, shop.user);
      return headers.get("ratelimit") === null;
    });
  });
});

test("an address without a valid credential is slowed down, except on health routes", async () => {
  const shop = await openShop({});
  const wrong = { "x-api-key": "wg_wrong" };
  const guesses: RawHttpResponse[] = [];
  // Part of the allowance is refilled while the requests run.
  while (guesses.length < 10 * UNKNOWN_RATE && guesses.at(-1)?.status !== 429)
    guesses.push(await request("GET /instance/all", undefined, wrong));
  expect(statuses(guesses).at(-1)).toBe(429);
  expect(guesses.at(-1)?.headers.get("retry-after")).toMatch(/^\d+$/);
  await expect.poll(async () => (await request("GET /")).status).toBe(429);
  expect((await request("GET /health")).status).toBe(200);
  expect((await request("GET /instance/all", undefined, shop.key)).status).toBe(200);
});
