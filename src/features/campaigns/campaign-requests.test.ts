import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { setUpCampaignStory } from "../../../test/stories/campaign-story.ts";
import type { Trx } from "../../platform/db/database.ts";
import { getCampaign } from "./campaign-row.ts";
import { findTemplateWarnings } from "./find-template-warnings.ts";

const story = setUpCampaignStory();
const QUICK = { min_delay_ms: 0, max_delay_ms: 0 };

const manyFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, {}]));

test.each<[string, (id: number) => [string, object]]>([
  ["list", (id) => [`POST /api/campaigns/${id}/recipients`, { lead_ids: Array(50_000).fill(-1) }]],
  ["map", () => ["POST /api/leads", { custom_fields: manyFields(80_000) }]],
])("a %s in which every value is wrong is refused with a description of the first ones", async (_, ask) => {
  const [http, input] = ask(await story.create());
  const { status, body } = await story.request(http, input);
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(JSON.stringify(body).length).toBeLessThan(8_192);
});

describe("the Idempotency-Key of a campaign request", () => {
  test("repeats the response to a new campaign, its recipients, start, pause and cancel, without a second effect", async () => {
    const id = await story.create({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    const numbers = [newPhone(), newPhone(), newPhone()];
    const create = (name: string) => {
      const input = { name, instance_id: story.shop.id, message_template: "Hi" };
      return story.owner.createCampaign(input, { idempotencyKey: "spring-1" });
    };
    expect((await create("Once")).data).toEqual((await create("Once")).data);
    await expect(create("Other")).rejects.toMatchObject({ status: 422, code: "IDEMPOTENCY_MISMATCH" });
    const steps = [
      ["recipients", { numbers }],
      ["start", {}],
      ["pause", {}],
      ["cancel", {}],
    ] as const;
    for (const [step, body] of steps) {
      const once = () =>
        story.request(`POST /api/campaigns/${id}/${step}`, body, { "idempotency-key": `${step}-1` });
      const first = await once();
      const again = await once();
      expect([step, first.status, again.status]).toEqual([step, 200, 200]);
      expect(again.body).toEqual({ ...first.body, request_id: again.body.request_id });
    }
    expect((await story.show(id)).totals).toMatchObject({ total: 3 });
  });

  test("is rejected with other recipients", async () => {
    const id = await story.create();
    const add = (numbers: string[]) =>
      story.owner.addRecipients({ id, numbers }, { idempotencyKey: "recipients-2" });
    await add([newPhone()]);
    await expect(add([newPhone()])).rejects.toMatchObject({ status: 422, code: "IDEMPOTENCY_MISMATCH" });
  });

  test("allows another attempt after a start was rejected", async () => {
    const id = await story.create({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    const start = () => story.owner.startCampaign({ id }, { idempotencyKey: "start-2" });
    await expect(start()).rejects.toMatchObject({ status: 400 });
    await story.owner.addRecipients({ id, numbers: [newPhone()] });
    expect((await start()).data).toMatchObject({ status: "queued", queued: 1 });
    await story.owner.cancelCampaign({ id });
  });
});

async function countScans(trx: Trx): Promise<number> {
  const { rows } = await sql<{ scans: number }>`
    select sum(seq_scan + coalesce(idx_scan, 0))::int as scans from pg_stat_xact_user_tables
    where relname in ('lead', 'contact', 'campaign_recipient')`.execute(trx);
  return rows[0]?.scans ?? 0;
}

describe("a campaign request", () => {
  test("accepts numbers as form texts", async () => {
    const { body } = await story.request("POST /api/campaigns", {
      name: "Form",
      instance_id: String(story.shop.id),
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
      const { body } = await story.request("POST /api/campaigns", {
        name: "File",
        instance_id: story.shop.id,
        ...file,
      });
      expect(body.data.media).toMatchObject({ type: "image", size: PNG.length });
    }
  });

  test("adds no recipient without any, or from a file with too many rows", async () => {
    const id = await story.create();
    await expect(story.owner.addRecipients({ id })).rejects.toMatchObject({
      details: { fields: [{ field: "recipients" }] },
    });
    const csv = `phone\n${Array.from({ length: 50_001 }, (_, n) => 5_521_900_000_000 + n).join("\n")}`;
    const file = { bytes: Buffer.from(csv), mime_type: "text/csv" };
    await expect(story.owner.addRecipients({ id, file })).rejects.toMatchObject({ status: 400 });
    expect((await story.show(id)).totals.total).toBe(0);
  });

  test("to start warns of texts that only look like a variable", async () => {
    const id = await story.create({ message_template: "Dear {{name|you}}, {{ phone }} {{}} {{oh" });
    await story.owner.addRecipients({ id, numbers: [newPhone()] });
    const { data } = await story.owner.startCampaign({ id, dry_run: true });
    expect(data.warnings.map(({ variable }) => variable)).toEqual(["{{name|you}}", "{{}}", "{{oh"]);
  });

  test("is refused for more than 50 different variables, new or changed", async () => {
    const template = (count: number) =>
      Array.from({ length: count }, (_, at) => `{{v${at}}}{{V${at}}}`).join("");
    const tooMany = { status: 400, message: expect.stringContaining("message_template: has more than 50") };
    await expect(story.create({ message_template: template(51) })).rejects.toMatchObject(tooMany);
    const id = await story.create({ message_template: template(50) });
    const change = story.owner.updateCampaign({ id, message_template: template(51) });
    await expect(change).rejects.toMatchObject(tooMany);
    expect((await story.show(id)).message_template).toBe(template(50));
  });

  test("looks up each recipient's lead and contact once, whatever the number of variables", async () => {
    const rowsReadFor = async (variables: number) => {
      const message_template = Array.from({ length: variables }, (_, at) => `{{v${at}}}`).join("{{name}}");
      const id = await story.create({ message_template });
      const recipients = Array.from({ length: 100 }, (_, at) => ({
        phone: newPhone(),
        variables: { v1: `${at}` },
      }));
      await story.owner.addRecipients({ id, recipients });
      return story.gateway.database.db.transaction().execute(async (trx) => {
        const campaign = await getCampaign(trx, 1, id);
        const scansBefore = await countScans(trx);
        const warnings = await findTemplateWarnings(trx, campaign);
        return { warnings: warnings.length, scans: (await countScans(trx)) - scansBefore };
      });
    };
    const few = await rowsReadFor(3);
    expect(few.scans).toBeGreaterThan(0);
    expect(await rowsReadFor(49)).toEqual({ warnings: 49, scans: few.scans });
  });

  test("to preview texts that would be too long shows their beginning", async () => {
    const id = await story.create({ message_template: "{{a}}".repeat(13_107) });
    const variables = { a: "x".repeat(1_000) };
    await story.owner.addRecipients({
      id,
      recipients: Array.from({ length: 20 }, () => ({ phone: newPhone(), variables })),
    });
    const { data } = await story.owner.previewCampaign({ id, limit: 20 });
    expect(data.previews).toHaveLength(20);
    for (const { text, too_long } of data.previews) expect([text.length, too_long]).toEqual([1_000, true]);
  });

  test("can switch to another instance of the account, but not of another account", async () => {
    const other = await story.gateway.connectInstance({ name: "Second" });
    const id = await story.create();
    const phone = newPhone();
    await story.owner.addRecipients({ id, numbers: [phone] });
    await expect(story.owner.updateCampaign({ id, instance_id: 999_999 })).rejects.toMatchObject({
      status: 404,
    });
    expect((await story.owner.updateCampaign({ id, instance_id: other.id })).data.instance_id).toBe(other.id);
    await story.owner.startCampaign({ id });
    await story.reach(id);
    const { data } = await other.client.listMessages({ id: other.id });
    expect(data.map((message) => [message.phone, message.origin])).toEqual([[phone, "campaign"]]);
  });

  test("to pause and continue keeps the delay between two recipients", async () => {
    const id = await story.start([newPhone(), newPhone()], {
      min_delay_ms: 3_600_000,
      max_delay_ms: 3_600_000,
    });
    await waitUntil(async () => (await story.show(id)).totals.sent === 1);
    await story.owner.pauseCampaign({ id });
    await story.owner.startCampaign({ id });
    await waitUntil(
      async () => (await story.rows(`select 1 from campaign where id = ${id} and next_at > now()`)).length,
    );
    expect((await story.show(id)).totals).toMatchObject({ sent: 1, queued: 0, pending: 1 });
    await story.owner.cancelCampaign({ id });
  });

  test("is rejected everywhere if the account's plan includes no campaigns", async () => {
    const { data: plan } = await story.owner.createPlan({
      name: "No campaigns",
      features: { campaigns: false },
    });
    const login = { email: "plain@example.com", password: PASSWORD };
    await story.owner.createAccount({ name: "Plain", user_name: "Plain", plan_id: plan.id, ...login });
    const { token } = await signIn(story.gateway.url, login);
    for (const http of [
      "GET /api/campaigns",
      "POST /api/campaigns",
      "GET /api/campaigns/1",
      "PATCH /api/campaigns/1",
      ...["recipients", "start", "pause", "cancel", "preview"].map((step) => `POST /api/campaigns/1/${step}`),
      "GET /api/campaigns/1/report",
    ]) {
      const body = http.startsWith("GET") ? undefined : {};
      const response = await story.request(http, body, { authorization: `Bearer ${token}` });
      expect([http, response.status, response.body.code]).toEqual([http, 403, "PLAN_FEATURE_DISABLED"]);
    }
  });
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("the file of a campaign is stored once, and used by each of its messages", async () => {
  const refused = newPhone().replace(/.{4}$/, "0001");
  const id = await story.start([newPhone(), refused, newPhone()], {
    media: { base64: PNG.toString("base64"), file_name: "dot.png" },
    min_delay_ms: 3_600_000,
    max_delay_ms: 3_600_000,
  });
  const files = () =>
    story.rows(`select f.id, f.blob from campaign_recipient r join media f on f.message = r.message
      where r.campaign_id = ${id} and f.status = 'ready' order by f.message`);
  await waitUntil(async () => (await files()).length === 1);
  // The other messages go out after the file of the first one was stored.
  await story.owner.pauseCampaign({ id });
  await story.owner.updateCampaign({ id, ...QUICK });
  await story.owner.startCampaign({ id });
  await story.reach(id);
  await waitUntil(async () => (await files()).length === 2);
  expect((await story.show(id)).totals).toMatchObject({ sent: 2, failed: 1 });
  const [first, second] = await files();
  expect(second?.blob).toBe(first?.blob);
  for (const file of [first, second]) {
    const { bytes } = await story.shop.client.getMedia({ id: story.shop.id, mediaId: String(file?.id) });
    expect(Buffer.from(bytes ?? [])).toEqual(PNG);
  }
});

test("a check of recipients names each problem by its position, and stores nothing", async () => {
  const [good, again, gone] = [newPhone(), newPhone(), newPhone()];
  const { data: lead } = await story.owner.createLead({ phone: gone, opted_out: true });
  const { data: nameless } = await story.owner.createLead({ name: "No phone" });
  const { data: before } = await story.owner.listCampaigns();
  const recipients = [good, { phone: again, variables: { name: "Ana" } }, "12", again, { name: "Leo" }];
  const { data } = await story.owner.checkRecipients({ recipients, lead_ids: [lead.id, nameless.id] });
  expect(data).toMatchObject({
    total: 7,
    ready: 2,
    counts: { invalid: 3, duplicate: 1, opted_out: 1, no_consent: 0 },
  });
  expect(data.problems.map(({ index, problem }) => [index, problem])).toEqual([
    [2, "invalid"],
    [3, "duplicate"],
    [4, "invalid"],
    [5, "opted_out"],
    [6, "invalid"],
  ]);
  expect(data.problems[4]?.reason).toBe("has no phone");
  expect((await story.owner.listCampaigns()).data).toEqual(before);
});

test("a check of recipients counts people without consent to the purpose", async () => {
  const [agreed, other] = [newPhone(), newPhone()];
  await story.owner.recordConsent({
    phone: agreed,
    purpose: "offers",
    consent_type: "opt_in",
    granted: true,
  });
  const { data } = await story.owner.checkRecipients({
    recipients: [agreed, other],
    consent_purpose: "offers",
  });
  expect(data.problems).toEqual([{ index: 1, value: other, problem: "no_consent", reason: null }]);
});

test("the timeline of a campaign agrees with its totals, and names why recipients were skipped", async () => {
  const gone = newPhone();
  await story.owner.createLead({ phone: gone, opted_out: true });
  const id = await story.create();
  await story.owner.addRecipients({ id, numbers: [newPhone(), newPhone(), gone] });
  expect((await story.owner.getCampaignTimeline({ id })).data).toEqual({
    step: "minute",
    points: [],
    reasons: [{ status: "skipped", reason: "opted_out", count: 1 }],
  });
  await story.owner.startCampaign({ id });
  await waitUntil(async () => (await story.owner.getCampaign({ id })).data.totals.read === 2);
  const { data } = await story.owner.getCampaignTimeline({ id });
  const sumOf = (name: "sent" | "delivered" | "read" | "failed") =>
    data.points.reduce((sum, point) => sum + point[name], 0);
  expect([sumOf("sent"), sumOf("delivered"), sumOf("read"), sumOf("failed")]).toEqual([2, 2, 2, 0]);
  expect(data.points.every(({ at }) => at.endsWith(":00.000Z"))).toBe(true);
});

test("the labels of leads are counted for one account, the most used first", async () => {
  await story.owner.createLead({ name: "Bia", kanban_status: "Talking", tags: ["vip", "shop"] });
  await story.owner.createLead({ name: "Caio", kanban_status: "Won", tags: ["vip"] });
  await story.owner.createLead({ name: "Duda", kanban_status: "Talking" });
  const { data } = await story.owner.listLeadLabels();
  expect(data.stages).toEqual([
    { name: "Talking", count: 2 },
    { name: "Won", count: 1 },
  ]);
  expect(data.tags).toEqual([
    { name: "vip", count: 2 },
    { name: "shop", count: 1 },
  ]);
});
