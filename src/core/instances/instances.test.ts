import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, waitUntil } from "../../../test/gateway.ts";
import { PASSWORD } from "../../../test/sign-in.ts";
import { type InstanceGateway, startInstanceGateway } from "../../../test/stories/instance-gateway.ts";
import { encryptionContextOf } from "../../platform/secrets/secret-box.ts";

let gateway: InstanceGateway;
/** A user of an account that most tests share. */
let user: Headers;
let account_id: number;

beforeAll(async () => {
  gateway = await startInstanceGateway();
  ({ user, account_id } = await gateway.account());
});
afterAll(() => gateway.stop());

type Headers = Record<string, string>;

async function create(by = user, body: object = {}) {
  const response = await gateway.call("POST /api/v1/instances", { name: "Sales", ...body }, by);
  expect(response.body).toMatchObject({ success: true });
  const { data } = response.body;
  return { ...data, key: { "x-api-key": data.api_key } as Headers };
}

async function rows(text: string, ...values: unknown[]) {
  return (await gateway.database.pool.query(text, values)).rows;
}
/** These fields without a value. */
const nothing = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]));
const show = (id: number, headers: Headers) =>
  gateway.call(`GET /api/v1/instances/${id}`, undefined, headers);
const change = (id: number, body: object, headers: Headers) =>
  gateway.call(`PATCH /api/v1/instances/${id}`, body, headers);

describe("creating an instance", () => {
  it("returns key, secret and webhook package, and creates no webhook without an address", async () => {
    const { status, body } = await gateway.call("POST /api/v1/instances", { name: "Sales" }, user);
    expect(status).toBe(200);
    const { id, webhook_secret } = body.data;
    expect(body).toEqual({
      success: true,
      message: "Instance created",
      data: {
        id: expect.any(Number),
        name: "Sales",
        status: "created",
        api_key: expect.stringMatching(/^wg_[0-9A-Za-z]{49}$/),
        webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        webhook: {
          webhooks_url: `https://gateway.example/api/v1/instances/${id}/webhooks`,
          webhook_events_url: `https://gateway.example/api/v1/instances/${id}/webhook-events`,
          webhook_logs_url: `https://gateway.example/api/v1/instances/${id}/webhook-logs`,
          webhook_test_url: `https://gateway.example/api/v1/instances/${id}/webhook/test`,
          signing_header: "X-Waygate-Signature",
          signature_format: "sha256=<hmac_sha256_raw_body_hex>",
          secret: webhook_secret,
        },
      },
    });
  });

  it.each([
    { webhook_url: "https://hook.example/in" },
    { webhookUrl: "https://hook.example/in" },
    { webhook: "https://hook.example/in" },
    { webhook: { url: "https://hook.example/in" } },
  ])("creates the first webhook, active and with the instance's secret, for %j", async (input) => {
    const made = await create(user, input);
    expect(made.default_webhook).toMatchObject({
      instance_id: made.id,
      url: "https://hook.example/in",
      is_active: true,
      events: [],
      secret: made.webhook_secret,
    });
  });

  it("accepts other spellings of the name, webhook events, settings, metadata and network", async () => {
    const made = await create(user, {
      name: undefined,
      instanceName: "Support",
      webhook: { url: "https://hook.example/in", events: ["message.received"] },
      network: "whatsapp",
      metadata: { crm: 7 },
      settings: { read_messages: true },
      rejectCall: true,
    });
    expect(made.default_webhook.events).toEqual(["message.received"]);
    const { body } = await show(made.id, made.key);
    expect(body.data).toMatchObject({
      name: "Support",
      network: "whatsapp",
      metadata: { crm: 7 },
      settings: { read_messages: true, reject_calls: true, mark_online: false, on_unknown: "resend" },
    });
  });

  it("treats an empty webhook address as absent", async () => {
    expect(await create(user, { webhook_url: "" })).not.toHaveProperty("default_webhook");
    expect(await create(user, { webhook_url: null })).not.toHaveProperty("default_webhook");
  });

  it.each([
    ["webhook_url", { name: "x", webhook_url: "http://169.254.169.254/x" }],
    ["metadata", { name: "x", metadata: { a: "x".repeat(17_000) } }],
    ["proxy.url", { name: "x", proxy: { url: "socks5://169.254.169.254:1080" } }],
    ["proxy.url", { name: "x", proxy: { url: "http://me:%zz@proxy.example:3128" } }],
    ["settings.send_delay_min_ms", { name: "x", settings: { send_delay_min_ms: 5 } }],
    ["settings.device_name", { name: "x", settings: { device_name: "two\nlines" } }],
  ])("rejects a wrong %s and creates nothing (%#)", async (field, body) => {
    const before = await rows("select id from instance");
    const { status, body: refused } = await gateway.call("POST /api/v1/instances", body, user);
    expect([status, refused.code, refused.details.fields[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
    expect(await rows("select id from instance")).toEqual(before);
  });

  it("stores secrets sealed and the key as a digest", async () => {
    const made = await create(user, { proxy: { url: "http://me:pass@proxy.example:3128" } });
    const [row] = await rows("select * from instance where id = $1", made.id);
    const opened = (column: "webhook_secret" | "proxy") =>
      gateway.box.open(row[column], encryptionContextOf("instance", column, made.id));
    expect([opened("webhook_secret"), opened("proxy")]).toEqual([
      made.webhook_secret,
      "http://me:pass@proxy.example:3128",
    ]);
    const [key] = await rows("select * from api_key where instance_id = $1", made.id);
    expect(JSON.stringify({ ...row, ...key })).not.toContain(made.api_key);
    expect(key.last4).toBe(made.api_key.slice(-4));
    const shown = await show(made.id, made.key);
    expect(JSON.stringify(shown.body)).not.toMatch(/whsec_|wg_|proxy\.example/);
  });

  it("stops at the limit of the plan, even with concurrent requests", async () => {
    const one = await gateway.account();
    await rows(
      `with p as (insert into plan (name, max_instances, features) values ('three', 3, '{}') returning id)
       update account set plan_id = p.id from p where account.id = $1`,
      one.account_id,
    );
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => gateway.call("POST /api/v1/instances", { name: "x" }, one.user)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { status, body } of responses.filter((response) => response.status !== 200)) {
      const details = { quota: "max_instances", limit: 3, used: 3, left: 0 };
      expect([status, body.code, body.details]).toEqual([403, "QUOTA_EXCEEDED", details]);
    }
    const shown = await gateway.call("GET /api/v1/instances", undefined, one.user);
    expect(shown.body.data[0].limits).toMatchObject({ max_instances: 3, max_messages: null });
    await gateway.call(`DELETE /api/v1/instances/${shown.body.data[0].id}`, undefined, one.user);
    await create(one.user);
  });

  it("creates its lanes and its event counter in the same commit", async () => {
    const { id } = await create();
    const lanes = await rows(
      `select kind, key from instance i join lane l on l.id in (i.lane, i.global_lane) where i.id = $1
       order by l.id = i.global_lane`,
      id,
    );
    expect(lanes).toEqual([
      { kind: "session", key: String(id) },
      { kind: "webhook", key: `global:${id}` },
    ]);
    expect(await rows("select last from event_counter where instance_id = $1", id)).toEqual([{ last: 0 }]);
    await expect.poll(() => gateway.engine.findOwnedLane("session", String(id))).toBeDefined();
  });
});

describe("reading instances", () => {
  it("returns the whole instance to its key and to its account", async () => {
    const { id, key } = await create();
    const [byKey, byUser] = [await show(id, key), await show(id, user)];
    expect(byUser.body.data).toEqual(byKey.body.data);
    const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(byKey.body.data).toEqual({
      id,
      account_id,
      parent_instance_id: null,
      name: "Sales",
      network: "sandbox",
      status: "created",
      connection_status: "created",
      ...nothing("phone phone_connected jid lid profile_name profile_picture_url"),
      webhook_enabled: true,
      webhook: expect.objectContaining({ signing_header: "X-Waygate-Signature" }),
      metadata: {},
      settings: {
        reject_calls: false,
        reject_message: null,
        ignore_groups: false,
        mark_online: false,
        read_messages: false,
        send_delay_min_ms: 0,
        send_delay_max_ms: 0,
        media_retention_days: null,
        on_unknown: "resend",
        messages_per_minute: null,
        device_name: null,
        default_country: null,
        quiet_hours: null,
      },
      limits: {
        ...nothing("max_instances max_users max_messages max_campaigns max_leads max_storage_mb"),
        api_rate_limit_per_minute: 600,
        instance_rate_limit_per_minute: 300,
        message_rate_limit_per_minute: 120,
        messages_per_minute: 120,
        messages_used: null,
        messages_reset_at: stamp,
      },
      ...nothing("new_chats_locked_until attention last_qr_at connected_at disconnected_at"),
      ...nothing("last_seen_at last_disconnect_reason"),
      created_at: stamp,
      updated_at: stamp,
    });
    expect(byKey.body.data.webhook).not.toHaveProperty("secret");
  });

  it("returns the status under both names", async () => {
    const { id, key } = await create();
    const { body } = await gateway.call(`GET /api/v1/instances/${id}/status`, undefined, key);
    const stamp = expect.any(String);
    expect(body.data).toEqual({
      id,
      name: "Sales",
      status: "created",
      connection_status: "created",
      connected: false,
      logged_in: false,
      loggedIn: false,
      ...nothing("phone phone_connected phoneConnected jid lid profile_name profileName"),
      ...nothing("profile_picture_url profilePictureUrl platform reason new_chats_locked_until"),
      ...nothing("pairing_error qr_reason hint attention seconds_since_last_inbound"),
      updated_at: stamp,
      updatedAt: stamp,
      attempts: 0,
      messages_24h: 0,
      failures_24h: 0,
      last_errors: [],
    });
  });

  it("returns no QR if there is none", async () => {
    const { id, key } = await create();
    const { body } = await gateway.call(`GET /api/v1/instances/${id}/qr`, undefined, key);
    const shown = nothing("qr qr_code pairing_code expires_at attempt max_attempts");
    const about = nothing("qr_reason hint pairing_error pairing_phone");
    expect(body.data).toEqual({ id, status: "created", ...shown, ...about });
    const image = await gateway.call(`GET /api/v1/instances/${id}/qr?format=png`, undefined, key);
    expect([image.status, image.body.code]).toEqual([404, "NOT_FOUND"]);
  });

  it("lists the account's instances and no others, newest first, page by page", async () => {
    const [one, other] = [await gateway.account(), await gateway.account()];
    const ids = [];
    for (let i = 0; i < 5; i++) ids.unshift((await create(one.user)).id);
    await create(other.user);
    const first = await gateway.call("GET /api/v1/instances?limit=3", undefined, one.user);
    expect(first.body.data.map(({ id }: { id: number }) => id)).toEqual(ids.slice(0, 3));
    expect(first.body.pagination).toEqual({ limit: 3, next_cursor: expect.any(String), has_more: true });
    const cursor = first.body.pagination.next_cursor;
    const second = await gateway.call(`GET /api/v1/instances?limit=3&cursor=${cursor}`, undefined, one.user);
    expect(second.body.data.map(({ id }: { id: number }) => id)).toEqual(ids.slice(3));
    expect(second.body.pagination).toEqual({ limit: 3, next_cursor: null, has_more: false });
  });

  it("finds them by status, by a part of the name or of the phone and by id, and sorts them by age or name", async () => {
    const one = await gateway.account();
    const [gamma, alpha] = [
      await create(one.user, { name: "Gamma_1" }),
      await create(one.user, { name: "alpha" }),
    ];
    await create(one.user, { name: "Béta" });
    const paired = "update instance set status = 'connected', phone = '5511977770001' where id = $1";
    await rows(paired, gamma.id);
    const list = async (query: string) => {
      const { body } = await gateway.call(`GET /api/v1/instances?${query}`, undefined, one.user);
      const names: string[] = body.data.map(({ name }: { name: string }) => name);
      return { names, cursor: body.pagination.next_cursor };
    };
    for (const query of ["status=connected", "q=A_1", "q=%2B5511+97777"])
      expect((await list(query)).names).toEqual(["Gamma_1"]);
    expect((await list(`q=${alpha.id}`)).names).toContain("alpha");
    expect((await list("status=banned")).names).toEqual([]);
    expect((await list("sort=oldest")).names).toEqual(["Gamma_1", "alpha", "Béta"]);
    const first = await list("sort=name&limit=2");
    const rest = await list(`sort=name&limit=2&cursor=${first.cursor}`);
    expect([...first.names, ...rest.names]).toEqual(["alpha", "Béta", "Gamma_1"]);
  });
});

describe("changing an instance", () => {
  it("changes the given fields and keeps the rest", async () => {
    const { id, key } = await create(user, { metadata: { a: 1 }, settings: { ignore_groups: true } });
    const patch = (body: object) => gateway.call(`PATCH /api/v1/instances/${id}`, body, key);
    const first = await patch({
      name: "Front",
      webhook_enabled: false,
      settings: { send_delay_max_ms: 900 },
    });
    expect(first.body).toMatchObject({
      message: "Instance updated",
      data: {
        id,
        name: "Front",
        webhook_enabled: false,
        metadata: { a: 1 },
        settings: { ignore_groups: true, send_delay_min_ms: 0, send_delay_max_ms: 900 },
      },
    });
    const second = await patch({
      settings: { send_delay_min_ms: 900, ignore_groups: false },
      metadata: { b: 2 },
    });
    expect(second.body.data).toMatchObject({
      name: "Front",
      metadata: { b: 2 },
      settings: { ignore_groups: false, send_delay_min_ms: 900, send_delay_max_ms: 900 },
    });
    expect((await patch({})).body.data).toMatchObject({
      name: "Front",
      webhook_enabled: false,
      metadata: { b: 2 },
    });
  });

  it("accepts other gateways' names for settings, but the gateway's own name wins", async () => {
    const { id, key } = await create();
    const { body } = await change(
      id,
      {
        rejectCall: true,
        msgCall: "No calls, please.",
        groupsIgnore: true,
        alwaysOnline: true,
        settings: { readMessages: true, mark_online: false },
      },
      key,
    );
    expect(body.data.settings).toMatchObject({
      reject_calls: true,
      reject_message: "No calls, please.",
      ignore_groups: true,
      mark_online: false,
      read_messages: true,
    });
  });

  it.each([
    ["settings.send_delay_min_ms", { settings: { send_delay_min_ms: 10, send_delay_max_ms: 9 } }],
    ["proxy.url", { proxy: { url: "http://169.254.169.254" } }],
  ])("rejects a wrong %s and changes nothing (%#)", async (field, body) => {
    const { id, key } = await create();
    const before = await show(id, key);
    const refused = await change(id, { metadata: { changed: true }, ...body }, key);
    expect([refused.status, refused.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(refused.body.details.fields[0].field).toBe(field);
    expect((await show(id, key)).body.data).toEqual(before.body.data);
  });
});

describe("a sign-in without a password for more than ten minutes", () => {
  it("changes neither where data goes nor who gets in, takes none out and deletes none; a key still may", async () => {
    const shop = await gateway.account();
    const old =
      "update sign_in set confirmed_at = now() - interval '11 minutes' where user_id in (select id from account_user where account_id = $1)";
    await rows(old, shop.account_id);
    const instance = { name: "Sales", account_id: shop.account_id };
    const made = await gateway.call("POST /instance/create", instance, { admintoken: ADMIN_TOKEN });
    const { id, api_key } = made.body.data;
    const key = { "x-api-key": api_key };
    const hook = { name: "Shop", url: "https://hook.example/in" };
    const at = `/api/v1/instances/${id}`;
    const webhook = (await gateway.call(`POST ${at}/webhooks`, hook, key)).body.data.id;
    const code = async (http: string, body?: object) =>
      (await gateway.call(http, body, shop.user)).body.code ?? "done";
    const asking: [string, object?][] = [
      [`POST ${at}/webhooks`, hook],
      [`PATCH ${at}/webhooks/${webhook}`, { webhookUrl: "https://other.example" }],
      [`PATCH ${at}/webhooks/${webhook}`, { rotate_secret: true }],
      [`PUT ${at}/integrations/n8n`, { webhook_url: "https://n8n.example/in" }],
      [`PATCH ${at}`, { proxy: { url: "http://proxy.example:8080" } }],
      [`PATCH ${at}`, { proxy: null }],
      ["POST /api/v1/instances", { name: "Mine" }],
      [`DELETE ${at}`],
      [`POST ${at}/api-key/regenerate`, {}],
      ["PATCH /api/account", { settings: { keysManageInstances: true } }],
      ["PATCH /api/account", { settings: { message_retention_days: 1 } }],
      ["GET /api/leads/export"],
      ["GET /api/campaigns/999999/report?format=csv"],
    ];
    for (const [http, body] of asking)
      expect([http, await code(http, body)]).toEqual([http, "PASSWORD_REQUIRED"]);

    expect(await code(`PATCH ${at}/webhooks/${webhook}`, { is_active: false })).toBe("done");
    expect(await code(`PATCH ${at}`, { name: "Shop" })).toBe("done");
    expect(await code("PATCH /api/account", { name: "Shop", settings: { time_zone: null } })).toBe("done");
    expect(await code("GET /api/campaigns/999999/report")).toBe("NOT_FOUND");
    expect((await gateway.call(`POST ${at}/webhooks`, hook, key)).status).toBe(200);
    await gateway.call("POST /api/auth/confirm", { password: PASSWORD }, shop.user);
    for (const [http, body] of asking.filter(([http]) => !http.startsWith("DELETE")))
      expect([http, await code(http, body)]).not.toEqual([http, "PASSWORD_REQUIRED"]);
  });
});

describe("a new API key", () => {
  const regenerate = (id: number, key: Headers, body?: object) =>
    gateway.call(`POST /api/v1/instances/${id}/api-key/regenerate`, body, key);
  const status = async (id: number, key: Headers) => (await show(id, key)).status;

  it("invalidates the old key at once", async () => {
    const { id, key } = await create();
    expect(await status(id, key)).toBe(200);
    const { body } = await regenerate(id, user);
    expect(body).toEqual({
      success: true,
      message: "API key regenerated",
      data: {
        id,
        api_key: expect.stringMatching(/^wg_[0-9A-Za-z]{49}$/),
        descendants: [],
        descendants_ended: false,
      },
    });
    expect([await status(id, key), await status(id, { token: body.data.api_key })]).toEqual([401, 200]);
  });

  it("leaves the old key valid for the grace period", async () => {
    const [{ id, key }, other] = [await create(user), await create(user)];
    const { body } = await regenerate(id, user, { grace_seconds: 3_600 });
    const first = { token: body.data.api_key };
    expect([await status(id, key), await status(id, first)]).toEqual([200, 200]);
    await regenerate(other.id, user, { grace_seconds: 3_600 });
    // Simulates that the hour has passed.
    const pass =
      "update api_key set expires_at = expires_at - interval '1 hour' where instance_id = $1 and expires_at is not null";
    await rows(pass, other.id);
    expect(await status(other.id, other.key)).toBe(401);
    const again = await regenerate(id, user, { graceSeconds: 3_600 });
    const second = { token: again.body.data.api_key };
    const last = await regenerate(id, user);
    expect([await status(id, first), await status(id, second)]).toEqual([401, 401]);
    expect(await status(id, { token: last.body.data.api_key })).toBe(200);
  });

  it("leaves only one valid key after concurrent requests", async () => {
    const { id } = await create();
    await Promise.all(Array.from({ length: 6 }, () => regenerate(id, user)));
    expect(await rows("select id from api_key where instance_id = $1", id)).toHaveLength(1);
  });

  it("that a key makes itself leaves an hour, ends no other key, and is reported to the account", async () => {
    const shop = await gateway.account();
    const { id, key } = await create(shop.user);
    const alerts = async () =>
      (await gateway.call("GET /api/account/overview", undefined, shop.user)).body.data.alerts;
    for (const grace_seconds of [0, 3_599]) {
      const { body } = await regenerate(id, key, { grace_seconds });
      expect(body).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ field: "grace_seconds" }] },
      });
    }
    for (const body of [{ leaked: true }, { end_descendants: true }])
      expect((await regenerate(id, key, body)).body.code).toBe("FORBIDDEN");
    expect((await regenerate(id, shop.user, { leaked: true, grace_seconds: 3_600 })).status).toBe(400);
    expect(await alerts()).toEqual([]);

    const { body } = await regenerate(id, key);
    expect([await status(id, key), await status(id, { token: body.data.api_key })]).toEqual([200, 200]);
    const [old] = await rows(
      "select expires_at > now() + interval '59 minutes' as is_late from api_key where instance_id = $1 order by id",
      id,
    );
    expect(old).toEqual({ is_late: true });
    expect(await alerts()).toMatchObject([{ key: "key_renewed", instance_id: id, name: "Sales" }]);
    await regenerate(id, shop.user);
    expect(await alerts()).toEqual([]);
  });
});

describe("a key that leaked", () => {
  const renew = (id: number, body: object, by = user) =>
    gateway.call(`POST /api/v1/instances/${id}/api-key/regenerate`, body, by);
  const make = async (key: Headers, name: string) => {
    const { body } = await gateway.call("POST /instance/create", { name }, key);
    return { id: body.data.id, key: { "x-api-key": body.data.api_key } as Headers };
  };
  const reads = async ({ id, key }: { id: number; key: Headers }) => (await show(id, key)).status;

  it("ends with all keys that were made with it, also over instances between, and with no other", async () => {
    const [own, other] = [await create(), await create()];
    const child = await make(own.key, "Child");
    const between = await make(child.key, "Between");
    const last = await make(between.key, "Last");
    const kept = await make(other.key, "Kept");
    expect((await show(last.id, user)).body.data.parent_instance_id).toBe(between.id);
    expect((await show(own.id, user)).body.data.parent_instance_id).toBe(null);
    await gateway.call(`DELETE /api/v1/instances/${between.id}`, undefined, user);
    expect((await show(last.id, user)).body.data.parent_instance_id).toBe(child.id);

    const { body: shown } = await gateway.call(`GET /api/v1/instances/${own.id}/api-key`, undefined, user);
    expect(shown.data).toMatchObject({ descendants: 2, expires_at: null, is_renewed_by_key: false });
    const routine = await renew(own.id, { grace_seconds: 60 });
    const descendants = [
      { id: last.id, name: "Last" },
      { id: child.id, name: "Child" },
    ];
    expect(routine.body.data).toMatchObject({ descendants, descendants_ended: false });
    expect([await reads(last), await reads(child)]).toEqual([200, 200]);

    const { body } = await renew(own.id, { leaked: true });
    expect(body.data).toMatchObject({ descendants, descendants_ended: true });
    expect([await reads(own), await reads(last), await reads(child), await reads(kept)]).toEqual([
      401, 401, 401, 200,
    ]);
    const more = await gateway.call("POST /instance/create", { name: "More" }, child.key);
    expect(more.body.code).toBe("INVALID_API_KEY");
    const again = await renew(last.id, {});
    expect(await reads({ id: last.id, key: { token: again.body.data.api_key } })).toBe(200);
  });

  it("ends with the key of an instance that it was making meanwhile", async () => {
    const own = await create();
    const child = await make(own.key, "Child");
    await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => make(n % 2 ? own.key : child.key, "Meanwhile").catch(() => {})),
      renew(own.id, { leaked: true }),
    ]);
    const alive = await rows(
      `select k.id from api_key k join instance i on i.id = k.instance_id
        where i.parent_instance_id in ($1, $2) and (k.expires_at is null or k.expires_at > now())`,
      own.id,
      child.id,
    );
    expect(alive).toEqual([]);
  });

  it("ends with those made with it when a user deletes its instance and says so", async () => {
    const remove = (id: number, query: string, by = user) =>
      gateway.call(`DELETE /api/v1/instances/${id}${query}`, undefined, by);
    const [own, other] = [await create(), await create()];
    const child = await make(own.key, "Child");
    const last = await make(child.key, "Last");
    const kept = await make(other.key, "Kept");
    expect((await remove(own.id, "?end_descendants=true", own.key)).body.code).toBe("FORBIDDEN");
    expect((await remove(own.id, "?end_descendants=true")).status).toBe(200);
    expect((await remove(other.id, "")).status).toBe(200);
    expect([await reads(child), await reads(last), await reads(kept)]).toEqual([401, 401, 200]);
  });

  it("leaves the keys of descendants to a user who says so", async () => {
    const own = await create();
    const child = await make(own.key, "Child");
    const { body } = await renew(own.id, { leaked: true, end_descendants: false });
    expect(body.data).toMatchObject({ descendants: [{ id: child.id }], descendants_ended: false });
    expect([await reads(own), await reads(child)]).toEqual([401, 200]);
  });

  it("ends with the links for pairing that it or its descendants have made, or may still be making", async () => {
    const [own, other] = [await create(), await create()];
    const child = await make(own.key, "Child");
    const link = ({ id, key }: { id: number; key: Headers }) =>
      gateway.call(`POST /api/v1/instances/${id}/link`, {}, key);
    const opens = async (url: string) =>
      (await gateway.call(`POST /link/${url.split("/").at(-1)}/open`, {})).status;
    const ofOwn = (await link(own)).body.data.url;
    const ofOther = (await link(other)).body.data.url;
    await renew(own.id, {});
    expect(await opens(ofOwn)).toBe(200);
    const renewed = await renew(other.id, { leaked: true });
    expect(await opens(ofOther)).toBe(404);
    other.key = { "x-api-key": renewed.body.data.api_key };
    await Promise.all([
      ...Array.from({ length: 6 }, () => link(child)),
      link(other),
      renew(own.id, { leaked: true }),
    ]);
    const left = await rows(
      "select instance_id from instance_link where instance_id in ($1, $2, $3)",
      own.id,
      child.id,
      other.id,
    );
    expect(left).toEqual([{ instance_id: other.id }]);
  });
});

describe("the routes without a version", () => {
  it("list the instances of the key's account, with that key masked and no other key", async () => {
    const [one, other] = [await gateway.account(), await gateway.account()];
    const [a, b] = [await create(one.user), await create(one.user)];
    await create(other.user);
    for (const name of ["x-api-key", "token", "apikey"]) {
      const { status, body } = await gateway.call("GET /instance/all", undefined, { [name]: a.api_key });
      expect(status).toBe(200);
      expect(body.data.map(({ id, token }: { id: number; token: string }) => [id, token])).toEqual([
        [b.id, null],
        [a.id, `wg_****${a.api_key.slice(-4)}`],
      ]);
    }
    const bearer = await gateway.call("GET /instance/all", undefined, {
      authorization: `Bearer ${a.api_key}`,
    });
    expect(bearer.body.data).toHaveLength(2);
    expect(JSON.stringify(bearer.body)).not.toContain(a.api_key);
  });

  it("repeat the response with the new key only for the key of the requesting instance", async () => {
    const [one, other] = [await create(user), await create(user)];
    const make = async (key: string) => {
      const headers = { "x-api-key": key, "idempotency-key": "first" };
      return (await gateway.call("POST /instance/create", { name: "Sales" }, headers)).body.data;
    };
    const made = await make(one.api_key);
    expect(await make(one.api_key)).toEqual(made);
    const rotated = await gateway.call(`POST /api/v1/instances/${one.id}/api-key/regenerate`, {}, user);
    expect(await make(rotated.body.data.api_key)).toEqual(made);
    expect((await make(other.api_key)).api_key).not.toBe(made.api_key);
  });

  it("show a key only its own instance if the account's setting says so, and let no key create", async () => {
    const [one, other] = [await gateway.account(), await gateway.account()];
    const [own, wide, foreign] = [await create(one.user), await create(one.user), await create(other.user)];
    await gateway.call(`PATCH /api/v1/instances/${wide.id}/api-key`, { scope: "account" }, one.user);
    const list = async (key: Headers) =>
      (await gateway.call("GET /instance/all", undefined, key)).body.data.map(({ id }: { id: number }) => id);
    await gateway.call("PATCH /api/account", { settings: { keys_manage_instances: false } }, one.user);
    await waitUntil(async () => (await list(own.key)).length === 1);
    expect(await list(own.key)).toEqual([own.id]);
    expect(await list(wide.key)).toEqual([wide.id, own.id]);
    for (const { key } of [own, wide]) {
      const made = await gateway.call("POST /instance/create", { name: "More" }, key);
      expect(made.body).toMatchObject({ code: "FORBIDDEN", details: { setting: "keys_manage_instances" } });
    }
    expect(await list(foreign.key)).toEqual([foreign.id]);
    expect((await gateway.call("POST /instance/create", { name: "More" }, foreign.key)).status).toBe(200);
  });

  it("list all instances for the administrative token", async () => {
    const { id } = await create();
    const { body } = await gateway.call("GET /instance/all?limit=200", undefined, {
      admintoken: ADMIN_TOKEN,
    });
    expect(body.data[0]).toMatchObject({ id, account_id });
    expect(new Set(body.data.map((row: { account_id: number }) => row.account_id)).size).toBeGreaterThan(1);
  });

  it("create an instance in the key's account, with the key at the top level of the response", async () => {
    const { key } = await create();
    const body = { instanceName: "Second", webhook_url: "https://hook.example/in" };
    const { status, body: created } = await gateway.call("POST /instance/create", body, key);
    expect(status).toBe(200);
    const { api_key, id } = created.data;
    expect(created).toMatchObject({
      success: true,
      message: "Instance created",
      token: api_key,
      name: "Second",
      connected: false,
      loggedIn: false,
      data: { id, name: "Second", status: "created", default_webhook: { url: "https://hook.example/in" } },
      instance: { id, account_id, name: "Second", status: "created", token: api_key },
    });
    expect((await gateway.call(`GET /api/v1/instances/${id}`, undefined, { token: api_key })).status).toBe(
      200,
    );
  });

  it("create in no other account by key, and in any account by administrative token", async () => {
    const [one, other] = [await gateway.account(), await gateway.account()];
    const { key } = await create(one.user);
    const admin = { admintoken: ADMIN_TOKEN };
    const foreign = { name: "x", account_id: other.account_id };
    expect(await gateway.call("POST /instance/create", foreign, key)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    const made = await gateway.call("POST /instance/create", foreign, admin);
    expect(made.body.instance.account_id).toBe(other.account_id);
    const nowhere = await gateway.call("POST /instance/create", { name: "x", account_id: 999_999 }, admin);
    expect([nowhere.status, nowhere.body.code]).toEqual([404, "NOT_FOUND"]);
    const owners = await gateway.call("POST /instance/create", { name: "x" }, admin);
    expect(owners.body.instance.account_id).toBe(gateway.owner_account);
  });
});
