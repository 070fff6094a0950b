import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance } from "../../../test/gateway.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { createConnectionRecorder } from "../../core/sessions/connection/connection-recorder.ts";
import { recordAttention } from "../../core/sessions/session-event-recorder.ts";
import type { PasskeyState } from "../../network/session-operations.ts";
import { createHttpServer } from "../../platform/http/server/http-server.ts";
import { createLog } from "../../platform/log/log.ts";
import { linkingContract } from "./contract.ts";
import { linkingHandlers } from "./linking.ts";

const OPTIONS = { challenge: "9WVUYm9AsQ", timeout: 600_000, rpId: "whatsapp.com" };
const NOBODY = "A".repeat(43);

let gateway: TestGateway;
let request: HttpRequester;

beforeAll(async () => {
  gateway = await startTestGateway();
  request = createHttpRequester(() => gateway.url);
});
afterAll(() => gateway.stop());

const db = () => gateway.database.db;
const keyOf = (shop: TestInstance) => ({ "x-api-key": shop.api_key });

/** An instance that shows its QR code. */
async function pairing(name?: string): Promise<TestInstance> {
  const shop = await gateway.createInstance(name === undefined ? {} : { name });
  await shop.client.connectInstance({ id: shop.id, wait_seconds: 60 });
  return shop;
}

/** Reports a stage of the ceremony as the session does. */
async function comesTo(id: number, state: Partial<PasskeyState>): Promise<void> {
  const expires_at = new Date(Date.now() + 60_000);
  const passkey: PasskeyState = { stage: "required", options: null, code: null, expires_at, ...state };
  const { engine } = gateway.gateway;
  await createConnectionRecorder({ db: db(), engine }).record(id, { type: "passkey_required", passkey });
}

async function events(id: number): Promise<{ event: string; data: Record<string, unknown> }[]> {
  const rows = await db()
    .selectFrom("event")
    .select(["event", "body"])
    .where("instance_id", "=", id)
    .orderBy("sequence")
    .execute();
  return rows.map(({ event, body }) => ({ event, data: JSON.parse(body.toString()).data }));
}

async function linkOf(shop: TestInstance): Promise<string> {
  const { data } = await shop.client.createLink({ id: shop.id });
  expect(data).toMatchObject({ id: shop.id, url: expect.stringMatching(/\/link\/[A-Za-z0-9_-]{43}$/) });
  expect(Date.parse(data.expires_at) - Date.now()).toBeGreaterThan(9.5 * 60_000);
  return data.url.split("/").at(-1) ?? "";
}

const ask = async (token: string, path: string, body: object = {}) => {
  const { status, body: response } = await request(`POST /link/${token}/${path}` as never, body);
  return { status, code: response.code, data: response.data };
};
const open = async (token: string): Promise<string> => (await ask(token, "open")).data.browser;

describe("the passkey of an instance", () => {
  it("shows the challenge, then the code, and deletes both with the pairing", async () => {
    const shop = await pairing();
    await comesTo(shop.id, { options: OPTIONS });
    expect((await shop.client.getPasskey({ id: shop.id })).data).toMatchObject({
      state: "required",
      challenge: OPTIONS,
      code: null,
      expires_at: expect.any(String),
    });
    await comesTo(shop.id, { stage: "confirmation_required", code: "K7QW-3MXA" });
    expect((await shop.client.getPasskey({ id: shop.id })).data).toMatchObject({
      state: "confirmation_required",
      challenge: null,
      code: "K7QW-3MXA",
    });
    await shop.client.connectInstance({ id: shop.id, wait_seconds: 60 });
    expect((await shop.client.getPasskey({ id: shop.id })).data.state).toBe("none");
    const row = db().selectFrom("instance").select("passkey").where("id", "=", shop.id);
    expect(await row.executeTakeFirst()).toEqual({ passkey: null });
  });

  it("is stored without characters that the database rejects", async () => {
    const shop = await pairing();
    await comesTo(shop.id, { options: { ...OPTIONS, hint: "a\u0000b\ud800" } });
    const { data } = await shop.client.getPasskey({ id: shop.id });
    expect(data.challenge).toEqual({ ...OPTIONS, hint: "ab\ufffd" });
  });

  it("is reported to webhooks that subscribe to its events, again with each challenge", async () => {
    const shop = await pairing();
    const names = ["instance.passkey_required", "instance.passkey_confirmation"] as const;
    await shop.client.createWebhook({ id: shop.id, url: "http://127.0.0.1:1/hook", events: [...names] });
    await comesTo(shop.id, { options: OPTIONS });
    await comesTo(shop.id, { options: { ...OPTIONS, challenge: "bmV3" } });
    await comesTo(shop.id, { stage: "awaiting_phone" });
    await comesTo(shop.id, { stage: "confirmation_required", code: "K7QW-3MXA" });
    const received = (await events(shop.id)).filter(({ event }) => event.includes("passkey"));
    const status = { status: "passkey_required", reason: "passkey_required", will_retry: false };
    expect(received).toMatchObject([
      { event: names[0], data: { ...status, challenge: OPTIONS, expires_at: expect.any(String) } },
      { event: names[0], data: { ...status, challenge: { challenge: "bmV3" } } },
      { event: names[1], data: { ...status, code: "K7QW-3MXA" } },
    ]);
  });

  const assertion = {
    rawId: "AAAA",
    type: "public-key" as const,
    response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" },
  };

  it("rejects padding and a long part before it reads the instance", async () => {
    const shop = await pairing();
    await comesTo(shop.id, { options: OPTIONS });
    const path = `POST /api/v1/instances/${shop.id}/passkey/assertion` as const;
    for (const wrong of [
      { rawId: "AAA=" },
      { response: { ...assertion.response, signature: "A".repeat(9_000) } },
    ]) {
      const { status, body } = await request(path, { ...assertion, ...wrong }, keyOf(shop));
      expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
    expect((await shop.client.getPasskey({ id: shop.id })).data.state).toBe("required");
  });
});

describe("the passkey routes of WAHA's clients", () => {
  const get = async (shop: TestInstance, session: string, what: string) => {
    const path = `GET /api/${session}/auth/passkey/${what}` as never;
    return request(path, undefined, keyOf(shop));
  };

  it("return challenge and code unchanged, and 422 if there is none", async () => {
    const shop = await pairing(`Sales ${process.pid}`);
    for (const what of ["challenge", "confirmation"])
      expect((await get(shop, "default", what)).status).toBe(422);
    await comesTo(shop.id, { options: OPTIONS });
    for (const session of ["default", String(shop.id), encodeURIComponent(`Sales ${process.pid}`)])
      expect((await get(shop, session, "challenge")).body).toEqual(OPTIONS);
    expect((await get(shop, "default", "confirmation")).status).toBe(422);
    await comesTo(shop.id, { stage: "confirmation_required", code: "K7QW-3MXA" });
    expect((await get(shop, "default", "confirmation")).body).toEqual({ code: "K7QW-3MXA" });
    expect((await get(shop, "default", "challenge")).status).toBe(422);
  });

  it("find no session of another key, and accept nothing while no passkey is requested", async () => {
    const [shop, other] = [await pairing(), await pairing()];
    expect((await get(shop, String(other.id), "challenge")).body.code).toBe("NOT_FOUND");
    const confirm = await request("POST /api/default/auth/passkey/confirm" as never, {}, keyOf(shop));
    expect([confirm.status, confirm.body.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("a link", () => {
  it("belongs to the first browser that opens it, also after a reload", async () => {
    const token = await linkOf(await pairing());
    const browser = await open(token);
    expect((await ask(token, "open", { browser })).data).toEqual({ browser });
    expect(await ask(token, "open")).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await ask(token, "state", { browser: NOBODY })).toMatchObject({ status: 403 });
    expect(await ask(token, "state", { browser })).toMatchObject({ status: 200, data: { is_linked: false } });
  });

  it("stays unused after a preview of its page", async () => {
    const token = await linkOf(await pairing());
    const page = await fetch(`${gateway.url}/link/${token}`);
    expect(page.status).toBe(200);
    expect(await page.text()).not.toContain(token);
    expect((await ask(token, "open")).status).toBe(200);
  });

  it("shows the QR, waits for a change, and then shows the passkey", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    const { data } = await ask(token, "state", { browser });
    expect(data).toMatchObject({
      name: "Sales",
      status: "qr_pending",
      qr: expect.stringMatching(/^data:image/),
    });
    const waiting = ask(token, "state", { browser, since: data.version });
    await comesTo(shop.id, { options: OPTIONS });
    expect((await waiting).data).toMatchObject({
      status: "passkey_required",
      qr: null,
      passkey: { state: "required", challenge: OPTIONS },
    });
  });

  it("accepts five concurrent requests that wait for a change, and rejects one more", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    const { version } = (await ask(token, "state", { browser })).data;
    const polls = Array.from({ length: 6 }, () => ask(token, "state", { browser, since: version }));
    expect(await Promise.race(polls)).toMatchObject({ status: 429, code: "RATE_LIMITED" });
    await comesTo(shop.id, { options: OPTIONS });
    const statuses = (await Promise.all(polls)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await ask(token, "state", { browser, since: version })).status).toBe(200);
  });

  it("starts linking, by QR and by code", async () => {
    const shop = await gateway.createInstance();
    const token = await linkOf(shop);
    const browser = await open(token);
    expect((await ask(token, "connect", { browser })).status).toBe(200);
    await expect.poll(async () => (await ask(token, "state", { browser })).data.qr).toBeTruthy();
    await ask(token, "connect", { browser, phone: "+55 11 99999-0077" });
    await expect.poll(async () => (await ask(token, "state", { browser })).data.pairing_code).toBeTruthy();
    expect(await ask(token, "connect", { browser, phone: "no" })).toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("is invalid once the instance is linked", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    await shop.client.sandboxScan({ id: shop.id });
    expect((await ask(token, "state", { browser })).data).toMatchObject({ is_linked: true });
    await shop.client.logoutInstance({ id: shop.id });
    expect((await ask(token, "state", { browser })).data).toMatchObject({ is_linked: true });
    for (const path of ["connect", "passkey/confirm", "passkey/cancel"])
      expect(await ask(token, path, { browser })).toMatchObject({ status: 409, code: "CONFLICT" });
  });

  it("shows nothing of a later pairing", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    await shop.client.sandboxScan({ id: shop.id });
    await expect
      .poll(async () => (await ask(token, "state", { browser })).data)
      .toMatchObject({ is_linked: true });
    await shop.client.logoutInstance({ id: shop.id });
    await shop.client.connectInstance({ id: shop.id, wait_seconds: 60 });
    expect((await shop.client.getInstanceQr({ id: shop.id })).data?.qr_code).not.toBeNull();
    expect((await ask(token, "state", { browser })).data).toMatchObject({
      is_linked: true,
      qr: null,
      attempt: null,
      pairing_code: null,
      expires_at: null,
      error: null,
      passkey: { state: "none", challenge: null, code: null },
    });
  });

  it("does nothing while the account is out of service or after the instance is removed", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    const row = db().selectFrom("instance").select("account_id").where("id", "=", shop.id);
    const { account_id } = await row.executeTakeFirstOrThrow();
    const put = (status: "active" | "blocked") =>
      db().updateTable("account").set({ status }).where("id", "=", account_id).execute();
    await put("blocked");
    try {
      for (const path of ["open", "state", "connect", "passkey/confirm"])
        expect(await ask(token, path, { browser })).toMatchObject({
          status: 403,
          code: "ACCOUNT_RESTRICTED",
        });
    } finally {
      await put("active");
    }
    expect((await ask(token, "state", { browser })).status).toBe(200);
    await db().updateTable("instance").set({ removed_at: new Date() }).where("id", "=", shop.id).execute();
    expect(await ask(token, "open", { browser })).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  it("expires after ten minutes, and with the next link of the instance", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const browser = await open(token);
    const next = await linkOf(shop);
    expect(await ask(token, "state", { browser })).toMatchObject({ status: 404, code: "NOT_FOUND" });
    const later = await open(next);
    await db()
      .updateTable("instance_link")
      .set({ expires_at: new Date(Date.now() - 1) })
      .where("instance_id", "=", shop.id)
      .execute();
    expect(await ask(next, "state", { browser: later })).toMatchObject({ status: 404 });
    expect(await ask(next, "open")).toMatchObject({ status: 404 });
  });

  it("that is unknown returns no data", async () => {
    const passkey = ["assertion", "confirm", "cancel"].map((step) => `passkey/${step}`);
    for (const path of ["open", "state", "connect", ...passkey])
      for (const token of [NOBODY, "short", "..%2f..", "%00"]) {
        const { status } = await ask(token, path, { browser: NOBODY, assertion: {} });
        expect([400, 404]).toContain(status);
      }
  });

  it("appears in no log", async () => {
    const lines: string[] = [];
    const token = await linkOf(await pairing());
    const { db: own } = gateway.database;
    const { engine } = gateway.gateway;
    const findPairingSession = async () => undefined;
    const handlers = linkingHandlers({
      db: own,
      engine,
      findCountry: async () => undefined,
      baseUrl: "http://gateway.example",
      findPairingSession,
      timeoutMs: 1_000,
    });
    const log = createLog("trace", { write: (line: string) => void lines.push(line) });
    const http = await createHttpServer({
      contract: linkingContract,
      handlers,
      log,
      strictOutput: true,
      bodyLimitBytes: 65_536,
      authorise: async () => ({ kind: "public" }),
    });
    const { url } = await http.listen("127.0.0.1", 0);
    for (const path of ["open", "state", "nowhere"]) {
      const headers = { "content-type": "application/json" };
      await fetch(`${url}/link/${token}/${path}`, { method: "POST", body: "{}", headers });
    }
    await http.close();
    expect(lines.join("")).toContain("/link/:token/open");
    expect(lines.join("")).not.toContain(token);
    const { rows } = await gateway.database.pool.query("select row_to_json(a)::text as text from api_log a");
    expect(rows.filter(({ text }) => text.includes(token))).toEqual([]);
  });

  it("is stored as a digest only", async () => {
    const shop = await pairing();
    const token = await linkOf(shop);
    const { rows } = await gateway.database.pool.query(
      "select row_to_json(l)::text as text from instance_link l where instance_id = $1",
      [shop.id],
    );
    expect(rows[0].text).not.toContain(token);
  });
});

describe("an instance that needs a person's attention", () => {
  it("shows it in the status, reports it at most once a minute, and clears it with the pairing", async () => {
    const shop = await gateway.connectInstance();
    await shop.client.createWebhook({
      id: shop.id,
      url: "http://127.0.0.1:1/hook",
      events: ["instance.attention"],
    });
    const { engine } = gateway.gateway;
    for (let i = 0; i < 2; i++) await recordAttention({ db: db(), engine }, shop.id, "passkey_challenge");
    const { attention } = (await shop.client.getInstanceStatus({ id: shop.id })).data;
    expect(attention).toMatchObject({ code: "passkey_challenge", message: expect.stringContaining("phone") });
    expect((await shop.client.getInstance({ id: shop.id })).data.attention).toEqual(attention);
    const received = (await events(shop.id)).filter(({ event }) => event === "instance.attention");
    expect(received).toMatchObject([{ data: { code: "passkey_challenge", status: "connected" } }]);
    await shop.client.logoutInstance({ id: shop.id });
    expect((await shop.client.getInstanceStatus({ id: shop.id })).data.attention).toBeNull();
  });
});
