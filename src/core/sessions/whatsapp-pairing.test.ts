import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import { startReceiver } from "../../../test/servers/receiver.ts";
import { type GatewayOnWhatsApp, startGatewayOnWhatsApp } from "../../../test/whatsapp-gateway.ts";
import type { WhatsAppServer } from "../../../test/whatsapp-server/server.ts";
import { type Client, createClient } from "../../client/client.ts";

function known<T>(value: T | undefined): T {
  expect(value).toBeDefined();
  return value as T;
}

let on: GatewayOnWhatsApp;
let network: WhatsAppServer;
let gateway: TestGateway;

beforeAll(async () => {
  on = await startGatewayOnWhatsApp();
  ({ network, gateway } = on);
});
afterAll(() => on.stop());

interface Shop {
  id: number;
  client: Client;
  phone: string;
  headers: Record<string, string>;
  status(): ReturnType<Client["getInstanceStatus"]> extends Promise<{ data: infer Data }>
    ? Promise<Data>
    : never;
  /** Data of the instance's events with this name, oldest first. */
  events(name: string): Promise<Record<string, unknown>[]>;
}

async function openShop(settings: { device_name?: string } = {}): Promise<Shop> {
  const { data } = await gateway.owner.createInstance({ name: "Sales", network: "whatsapp", ...settings });
  const { id, api_key } = data;
  const client = createClient({ baseUrl: gateway.url, apiKey: api_key });
  const { phone } = await network.control.addPerson({ phone: newPhone() });
  return {
    id,
    client,
    phone,
    headers: { "x-api-key": api_key },
    status: async () => (await client.getInstanceStatus({ id })).data,
    async events(name) {
      const rows = await gateway.database.db
        .selectFrom("event")
        .select("body")
        .where("instance_id", "=", id)
        .where("event", "=", name)
        .orderBy("sequence")
        .execute();
      return rows.map(({ body }) => JSON.parse(body.toString()).data);
    },
  };
}

const WAIT = { wait_seconds: 60 };
const raw = createHttpRequester(() => gateway.url);
const scan = (shop: Shop, qr: string | null) => network.control.scan(shop.phone, qr ?? "");
const connected = (shop: Shop) => waitUntil(async () => (await shop.status()).connected);

describe("a pairing code that WhatsApp rejects", () => {
  const request = ({ id, phone, headers }: Shop) =>
    raw(`POST /api/v1/instances/${id}/connect`, { phone, ...WAIT }, headers);

  test("for some hours returns 429 and Retry-After, is in the status, and does not block a QR", async () => {
    const shop = await openShop();
    const { client, id, phone } = shop;
    const fault = { fault: "code_refused", code: 429, text: "rate-overlimit", phone } as const;
    await network.control.fault(fault);
    const { status, body, headers } = await request(shop);
    expect([status, body.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(3_600);
    const { pairing_error, ...shown } = await shop.status();
    expect(shown).toMatchObject({ status: "disconnected", connected: false });
    expect(pairing_error).toMatchObject({
      code: "rate_limited",
      message: expect.stringMatching(/\.$/),
      action: expect.stringContaining("QR"),
      retry_at: expect.stringMatching(/Z$/),
    });
    expect(body.error ?? body.message).toContain(pairing_error?.message);
    expect(await shop.events("instance.disconnected")).toMatchObject([
      { reason: "pairing_failed", will_retry: false, pairing_error: { code: "rate_limited" } },
    ]);
    const { data } = await client.connectInstance({ id, ...WAIT });
    expect(data).toMatchObject({ status: "qr_pending", pairing_error: null });
    await scan(shop, data.qr_code);
    await connected(shop);
  });

  test("because of the number returns an error of the caller with the field", async () => {
    const shop = await openShop();
    await network.control.fault({ fault: "code_refused", code: 400, text: "bad-request", phone: shop.phone });
    const { status, body } = await request(shop);
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(body.details).toMatchObject({
      fields: [{ field: "phone" }],
      pairing_error: { code: "number_refused" },
    });
  });

  test("permanently recommends the QR", async () => {
    const shop = await openShop();
    await network.control.fault({ fault: "code_refused", code: 403, text: "forbidden", phone: shop.phone });
    const { status, body } = await request(shop);
    expect([status, body.code]).toEqual([502, "CONNECT_FAILED"]);
    expect(body.details.pairing_error).toMatchObject({
      code: "code_forbidden",
      action: "Link by QR instead.",
    });
  });
});

describe("a valid pairing code", () => {
  test("remains the code of its phone if connect is called without a phone meanwhile", async () => {
    const { client, id, phone, status } = await openShop();
    await network.control.fault({ fault: "code_delayed", ms: 1_000 });
    await client.connectInstance({ id, phone, wait_seconds: 0 });
    const { data: meantime } = await client.connectInstance({ id, wait_seconds: 0 });
    expect(meantime).toMatchObject({ status: "connecting", pairing_code: null });
    await waitUntil(async () => (await status()).status === "qr_pending");
    const shown = known((await client.getInstanceQr({ id })).data);
    const { data: again } = await client.connectInstance({ id, phone, wait_seconds: 1 });
    expect(again).toMatchObject({ status: "qr_pending", pairing_code: shown.pairing_code });
    expect(shown.pairing_code).toHaveLength(8);
    expect(shown.pairing_phone).toBe(phone);
  });
});

describe("an obsolete pairing code", () => {
  test("is replaced by a QR after logout", async () => {
    const shop = await openShop();
    const { client, id, phone } = shop;
    await client.connectInstance({ id, phone, ...WAIT });
    await client.logoutInstance({ id });
    const { data } = await client.connectInstance({ id, ...WAIT });
    expect(data).toMatchObject({ status: "qr_pending", pairing_code: null });
    await scan(shop, data.qr_code);
    await connected(shop);
  });

  test("is replaced by a QR once WhatsApp has withdrawn it", async () => {
    const shop = await openShop();
    const { client, id, phone } = shop;
    await client.connectInstance({ id, phone, ...WAIT });
    await network.control.refreshCode(phone, { manual: true });
    await waitUntil(async () => (await shop.status()).pairing_error?.code === "code_withdrawn");
    const { data } = await client.connectInstance({ id, ...WAIT });
    expect(data).toMatchObject({ status: "qr_pending", pairing_code: null });
    await scan(shop, data.qr_code);
    await connected(shop);
  });
});

describe("a pairing", () => {
  test("with a wrongly entered code reports it beside the code, and in an event to subscribers", async () => {
    const shop = await openShop();
    const { client, id, phone } = shop;
    const receiver = await startReceiver();
    const events = ["instance.pairing_failed" as const];
    const { data: webhook } = await client.createWebhook({ id, name: "W", url: receiver.url, events });
    receiver.trust(webhook.secret);
    const { data } = await client.connectInstance({ id, phone, ...WAIT });
    await expect(network.control.enterCode(phone, "12345678")).rejects.toThrow("the code is wrong");
    await waitUntil(async () => (await shop.status()).pairing_error?.code === "wrong_code");
    const { data: shown } = await client.getInstanceQr({ id });
    expect(shown).toMatchObject({
      status: "qr_pending",
      pairing_code: data.pairing_code,
      expires_at: data.expires_at,
      pairing_error: { code: "wrong_code" },
    });
    await waitUntil(() => receiver.of("instance.pairing_failed").length === 1);
    expect(receiver.of("instance.pairing_failed")[0]?.body.data).toMatchObject({ code: "wrong_code" });
    await receiver.close();
    await network.control.enterCode(phone, data.pairing_code ?? "");
    await connected(shop);
    expect((await shop.status()).pairing_error).toBeNull();
  });

  test("requests one more scan in every response and in the event if its secret is replaced", async () => {
    const shop = await openShop({ device_name: "Acme Support" });
    const { client, id } = shop;
    const { data: first } = await client.connectInstance({ id, ...WAIT });
    expect(first).toMatchObject({ qr_reason: "new", hint: null });
    await network.control.refreshRegistration();
    await waitUntil(async () => (await shop.status()).qr_reason === "refreshed");
    const second = known((await client.getInstanceQr({ id })).data);
    expect(second).toMatchObject({
      attempt: 1,
      expires_at: first.expires_at,
      qr_reason: "refreshed",
      hint: expect.stringContaining("once more"),
    });
    expect((await shop.status()).hint).toBe(second.hint);
    expect(await shop.events("instance.qr")).toMatchObject([
      { reason: "new", hint: null, attempt: 1 },
      { reason: "refreshed", hint: second.hint, attempt: 1, qr_code: second.qr_code },
    ]);
    await expect(scan(shop, first.qr_code)).rejects.toThrow("the client refused the pairing");
    await waitUntil(async () => (await shop.status()).pairing_error?.code === "phone_refused");
    expect(await shop.status()).toMatchObject({ status: "qr_pending", logged_in: false });
    await scan(shop, second.qr_code);
    await connected(shop);
    const { devices } = await network.control.person(shop.phone);
    expect(devices).toMatchObject([{ name: "Acme Support" }]);
    const rows = await gateway.database.db
      .selectFrom("credential")
      .select("registration")
      .where("instance_id", "=", id)
      .execute();
    expect(rows).toEqual([{ registration: null }]);
  });

  test("by an expired QR changes nothing", async () => {
    const shop = await openShop();
    const { data } = await shop.client.connectInstance({ id: shop.id, ...WAIT });
    const before = await shop.status();
    await network.control.expireReferences();
    await expect(scan(shop, data.qr_code)).rejects.toThrow("not valid any more");
    expect(await shop.status()).toEqual(before);
  });
});
