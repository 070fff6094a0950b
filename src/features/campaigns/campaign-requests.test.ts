import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../test/cpu-time.ts";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import type { Client } from "../../client/client.ts";

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;
let call: HttpRequester;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
  const { headers: bearer } = await signIn(gateway.url);
  call = (http, body, headers) =>
    createHttpRequester(() => gateway.url)(http, body, { ...bearer, ...headers });
});
afterAll(() => gateway.stop());

const QUICK = { min_delay_ms: 0, max_delay_ms: 0 };

async function createCampaign(input: Partial<Parameters<Client["createCampaign"]>[0]> = {}): Promise<number> {
  const { data } = await owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello",
    ...QUICK,
    ...input,
  });
  return data.id;
}

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await gateway.database.pool.query(text)).rows;
}

const manyFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, {}]));

const campaignOf = async (id: number) => (await owner.getCampaign({ id })).data;

async function completed(id: number): Promise<void> {
  await waitUntil(async () => (await campaignOf(id)).status === "completed", 60_000);
}

describe("a campaign request in which every value is wrong", () => {
  test.each<[string, (id: number) => [string, object]]>([
    ["a list", (id) => [`POST /api/campaigns/${id}/recipients`, { lead_ids: Array(50_000).fill(-1) }]],
    ["a map", () => ["POST /api/leads", { custom_fields: manyFields(80_000) }]],
  ])("is refused at the price of %s, not of its descriptions", async (_, request) => {
    const [http, body] = request(await createCampaign());
    const cpuMs: number[] = [];
    for (let run = 0; run < 3; run++) {
      let response: Awaited<ReturnType<HttpRequester>> | undefined;
      const spent = await cpuMsOf(async () => {
        response = await call(http, body);
      });
      cpuMs.push(spent);
      expect(response).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
      expect(JSON.stringify(response?.body).length).toBeLessThan(8_192);
    }
    expect(Math.min(...cpuMs)).toBeLessThan(1_000);
  });
});

describe("the Idempotency-Key of a campaign request", () => {
  test("repeats the response to recipients, start, pause and cancel, without a second effect", async () => {
    const id = await createCampaign({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    const numbers = [newPhone(), newPhone(), newPhone()];
    const steps = [
      ["recipients", { numbers }],
      ["start", {}],
      ["pause", {}],
      ["cancel", {}],
    ] as const;
    for (const [step, body] of steps) {
      const once = () => call(`POST /api/campaigns/${id}/${step}`, body, { "idempotency-key": `${step}-1` });
      const first = await once();
      const again = await once();
      expect([step, first.status, again.status]).toEqual([step, 200, 200]);
      expect(again.body).toEqual({ ...first.body, request_id: again.body.request_id });
    }
    expect((await campaignOf(id)).totals).toMatchObject({ total: 3 });
  });

  test("is rejected with other recipients", async () => {
    const id = await createCampaign();
    const add = (numbers: string[]) =>
      owner.addRecipients({ id, numbers }, { idempotencyKey: "recipients-2" });
    await add([newPhone()]);
    await expect(add([newPhone()])).rejects.toMatchObject({ status: 422, code: "IDEMPOTENCY_MISMATCH" });
  });

  test("allows another attempt after a start was rejected", async () => {
    const id = await createCampaign({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    const start = () => owner.startCampaign({ id }, { idempotencyKey: "start-2" });
    await expect(start()).rejects.toMatchObject({ status: 400 });
    await owner.addRecipients({ id, numbers: [newPhone()] });
    expect((await start()).data).toMatchObject({ status: "queued", queued: 1 });
    await owner.cancelCampaign({ id });
  });
});

describe("a campaign request", () => {
  test.each(["", true, "fast", -1, 1.5, []])("rejects a delay of %j", async (min_delay_ms) => {
    const { status, body } = await call("POST /api/campaigns", {
      name: "Fast",
      instance_id: shop.id,
      message_template: "Hi",
      min_delay_ms,
    });
    expect([status, body.details.fields[0].field]).toEqual([400, "min_delay_ms"]);
  });

  test("accepts numbers as form texts", async () => {
    const { body } = await call("POST /api/campaigns", {
      name: "Form",
      instance_id: String(shop.id),
      message_template: "Hi",
      min_delay_ms: "10",
      max_delay_ms: "20",
      daily_limit: "5",
      stop_on_error_rate: "0.5",
    });
    expect(body.data).toMatchObject({
      min_delay_ms: 10,
      max_delay_ms: 20,
      daily_limit: 5,
      stop_on_error_rate: 0.5,
    });
  });

  test("accepts a file by its address only, as sends do", async () => {
    const png = `data:image/png;base64,${PNG.toString("base64")}`;
    for (const file of [{ media: png }, { media_url: png }]) {
      const { body } = await call("POST /api/campaigns", {
        name: "File",
        instance_id: shop.id,
        ...file,
      });
      expect(body.data.media).toMatchObject({ type: "image", size: PNG.length });
    }
  });

  test("for recipients without any recipient is rejected with the reason", async () => {
    const id = await createCampaign();
    const { status, body } = await call(`POST /api/campaigns/${id}/recipients`, { phone_numbers: ["1"] });
    expect([status, body.details.fields[0].field]).toEqual([400, "recipients"]);
  });

  test("adds no recipient from a file with too many rows", async () => {
    const id = await createCampaign();
    const csv = `phone\n${Array.from({ length: 50_001 }, (_, n) => 5_521_900_000_000 + n).join("\n")}`;
    const file = { bytes: Buffer.from(csv), mime_type: "text/csv" };
    await expect(owner.addRecipients({ id, file })).rejects.toMatchObject({ status: 400 });
    expect((await campaignOf(id)).totals.total).toBe(0);
  });

  test("to start warns of texts that only look like a variable", async () => {
    const id = await createCampaign({ message_template: "Dear {{name|you}}, {{ phone }} {{}} {{oh" });
    await owner.addRecipients({ id, numbers: [newPhone()] });
    const { data } = await owner.startCampaign({ id, dry_run: true });
    expect(data.warnings.map(({ variable }) => variable)).toEqual(["{{name|you}}", "{{}}", "{{oh"]);
  });

  test("can switch to another instance of the account, but not of another account", async () => {
    const other = await gateway.connectInstance({ name: "Second" });
    const id = await createCampaign();
    const phone = newPhone();
    await owner.addRecipients({ id, numbers: [phone] });
    await expect(owner.updateCampaign({ id, instance_id: 999_999 })).rejects.toMatchObject({ status: 404 });
    expect((await owner.updateCampaign({ id, instance_id: other.id })).data.instance_id).toBe(other.id);
    await owner.startCampaign({ id });
    await completed(id);
    const { data } = await other.client.listMessages({ id: other.id });
    expect(data.map((message) => [message.phone, message.origin])).toEqual([[phone, "campaign"]]);
  });

  test("to pause and continue keeps the delay between two recipients", async () => {
    const id = await createCampaign({ min_delay_ms: 3_600_000, max_delay_ms: 3_600_000 });
    await owner.addRecipients({ id, numbers: [newPhone(), newPhone()] });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await campaignOf(id)).totals.sent === 1);
    await owner.pauseCampaign({ id });
    await owner.startCampaign({ id });
    await waitUntil(
      async () => (await rows(`select 1 from campaign where id = ${id} and next_at > now()`)).length,
    );
    expect((await campaignOf(id)).totals).toMatchObject({ sent: 1, queued: 0, pending: 1 });
    await owner.cancelCampaign({ id });
  });

  test("is rejected everywhere if the account's plan includes no campaigns", async () => {
    const { data: plan } = await owner.createPlan({ name: "No campaigns", features: { campaigns: false } });
    const login = { email: "plain@example.com", password: PASSWORD };
    await owner.createAccount({ name: "Plain", user_name: "Plain", plan_id: plan.id, ...login });
    const { token } = await signIn(gateway.url, login);
    for (const http of [
      "GET /api/campaigns",
      "POST /api/campaigns",
      "GET /api/campaigns/1",
      "PATCH /api/campaigns/1",
      ...["recipients", "start", "pause", "cancel", "preview"].map((step) => `POST /api/campaigns/1/${step}`),
      "GET /api/campaigns/1/report",
    ]) {
      const body = http.startsWith("GET") ? undefined : {};
      const response = await call(http, body, { authorization: `Bearer ${token}` });
      expect([http, response.status, response.body.code]).toEqual([http, 403, "PLAN_FEATURE_DISABLED"]);
    }
  });
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("the file of a campaign is stored once, and used by each of its messages", async () => {
  const id = await createCampaign({
    media: { base64: PNG.toString("base64"), file_name: "dot.png" },
    min_delay_ms: 3_600_000,
    max_delay_ms: 3_600_000,
  });
  const refused = newPhone().replace(/.{4}$/, "0001");
  await owner.addRecipients({ id, numbers: [newPhone(), refused, newPhone()] });
  await owner.startCampaign({ id });
  const files = () =>
    rows(`select f.id, f.blob from campaign_recipient r join media f on f.message = r.message
      where r.campaign_id = ${id} and f.status = 'ready' order by f.message`);
  await waitUntil(async () => (await files()).length === 1);
  // The other messages go out after the file of the first one was stored.
  await owner.pauseCampaign({ id });
  await owner.updateCampaign({ id, ...QUICK });
  await owner.startCampaign({ id });
  await completed(id);
  await waitUntil(async () => (await files()).length === 2);
  expect((await campaignOf(id)).totals).toMatchObject({ sent: 2, failed: 1 });
  const [first, second] = await files();
  expect(second?.blob).toBe(first?.blob);
  for (const file of [first, second]) {
    const { bytes } = await shop.client.getMedia({ id: shop.id, mediaId: String(file?.id) });
    expect(Buffer.from(bytes ?? [])).toEqual(PNG);
  }
});
