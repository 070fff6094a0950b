import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeSandboxTiming } from "../../../test/change-sandbox-timing.ts";
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
import { createAccount } from "../accounts/create-account.ts";

// The slow number never responds, even if the machine pauses for seconds.
changeSandboxTiming({ slowAckMs: 9_000 });

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;
let request: HttpRequester;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
  const { headers } = await signIn(gateway.url);
  request = (http, body) => createHttpRequester(() => gateway.url)(http, body, headers);
});
afterAll(() => gateway.stop());

const QUICK = { min_delay_ms: 0, max_delay_ms: 0 };
type CampaignInput = Partial<Parameters<Client["createCampaign"]>[0]>;

async function createCampaign(input: CampaignInput = {}): Promise<number> {
  const { data } = await owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello {{name}}",
    ...QUICK,
    ...input,
  });
  return data.id;
}

/** Numbers whose messages are sent, delivered and read. */
function newPhones(count: number): string[] {
  return Array.from({ length: count }, newPhone);
}

let numbers = 0;

/** A new number that the sandbox treats in a fixed way. */
function numberEnding(ending: string): string {
  numbers += 1;
  return `55217${String(numbers).padStart(5, "0")}${ending}`;
}

const totalsOf = async (id: number) => (await owner.getCampaign({ id })).data.totals;
const statusOf = async (id: number) => (await owner.getCampaign({ id })).data.status;

async function completed(id: number): Promise<void> {
  await waitUntil(async () => (await statusOf(id)) === "completed");
}

/** The messages that the network received from the shop for these recipients. */
async function arrived(phones: readonly string[]): Promise<{ phone: string; text: string }[]> {
  const { rows } = await sql<{ phone: string; text: string }>`
    select split_part(chat, '@', 1) as phone, content ->> 'text' as text from sandbox.ledger
    where action = 'send' and phone = ${shop.phone} and split_part(chat, '@', 1) = any(${phones}) order by id`.execute(
    gateway.database.db,
  );
  return rows;
}

test("a campaign reaches every recipient once, fills in the variables, and counts the receipts", async () => {
  const id = await createCampaign();
  const [bia = "", ...others] = newPhones(5);
  const { data } = await owner.addRecipients({
    id,
    recipients: [{ phone: bia, variables: { Name: "Bia" } }, ...others],
  });
  expect(data).toMatchObject({ inserted: 5, duplicates: 0, invalid: [], total: 5 });
  const started = await owner.startCampaign({ id });
  expect(started.data).toMatchObject({
    status: "queued",
    queued: 5,
    warnings: [{ variable: "name", missing: 4 }],
  });
  await waitUntil(async () => (await totalsOf(id)).read === 5);
  await completed(id);
  const texts = await arrived([bia, ...others]);
  expect(texts).toHaveLength(5);
  expect(texts.find(({ phone }) => phone === bia)?.text).toBe("Hello Bia");
  const report = await owner.getCampaignReport({ id, limit: 2 });
  if (!report.data) throw new Error("the report came as a file");
  expect(report.data.totals).toEqual({
    total: 5,
    pending: 0,
    queued: 0,
    sent: 5,
    delivered: 5,
    read: 5,
    failed: 0,
    cancelled: 0,
    skipped: 0,
  });
  expect(report.data.recipients).toHaveLength(2);
  expect(report.pagination.has_more).toBe(true);
});

describe("campaign recipients", () => {
  test("are numbers in any format; invalid ones are reported, and all others are added", async () => {
    const id = await createCampaign();
    const [a = "", b = "", c = "", d = ""] = newPhones(4);
    const { data } = await owner.addRecipients({
      id,
      recipients: [
        a,
        `+${b.slice(0, 2)} (${b.slice(2, 4)}) ${b.slice(4)}`,
        Number(c),
        a,
        "abc",
        null,
        {},
        "123",
      ],
      numbers: [d, "123456789@g.us"],
    });
    expect(data).toMatchObject({ inserted: 4, duplicates: 1, invalid_count: 5, total: 4 });
    expect(data.invalid.map(({ value }) => value)).toEqual(["abc", "null", "{}", "123", "123456789@g.us"]);
    const again = await owner.addRecipients({ id, numbers: [a, b] });
    expect(again.data).toMatchObject({ inserted: 0, duplicates: 2, total: 4 });
  });

  test("can be leads selected by id or tag, with the fields of the lead as variables", async () => {
    const [bia = "", ana = ""] = newPhones(2);
    const lead = await owner.createLead({ phone: bia, name: "Bia", custom_fields: { City: "Recife" } });
    await owner.createLead({ phone: ana, name: "Ana", tags: ["spring"] });
    const nameless = await owner.createLead({ name: "No phone" });
    const id = await createCampaign({ message_template: "{{name}} of {{city}}{{custom_fields.city}}" });
    const { data } = await owner.addRecipients({
      id,
      lead_ids: [lead.data.id, nameless.data.id, 999_999],
      tags: ["spring"],
    });
    expect(data).toMatchObject({ inserted: 2, invalid_count: 2 });
    const preview = await owner.previewCampaign({ id });
    expect(preview.data.previews).toEqual([
      { phone: bia, text: "Bia of RecifeRecife" },
      { phone: ana, text: "Ana of " },
    ]);
    expect(preview.data.warnings.map(({ variable, missing }) => [variable, missing])).toEqual([
      ["city", 1],
      ["custom_fields.city", 1],
    ]);
  });

  test("come from a CSV file: an invalid row is reported with its line, and all others are added", async () => {
    const id = await createCampaign({ message_template: "{{name}}: {{note}}" });
    const [a = "", b = "", c = "", d = ""] = newPhones(4);
    const csv = [
      "\ufeffName;Phone;Note",
      `Bia;${a};"two\nlines; and ""quotes"""`,
      `Ana;${b};"never closed`,
      `Eva;${c};plain;one too many`,
      "Ivo;none;x",
      `Leo;${d};fine`,
      "",
    ].join("\r\n");
    const { data } = await owner.addRecipients({
      id,
      file: { bytes: Buffer.from(csv), mime_type: "text/csv" },
    });
    expect(data.inserted).toBe(2);
    expect(data.invalid.map(({ reason }) => reason.split(":")[0])).toEqual(["line 4", "line 5", "line 6"]);
    const { previews } = (await owner.previewCampaign({ id })).data;
    expect(previews).toEqual([
      { phone: a, text: 'Bia: two\nlines; and "quotes"' },
      { phone: d, text: "Leo: fine" },
    ]);
    const [e = ""] = newPhones(1);
    const response = await fetch(`${gateway.url}/api/campaigns/${id}/recipients`, {
      method: "POST",
      headers: { "content-type": "text/csv", authorization: await bearer() },
      body: `phone\n${e}\n`,
    });
    expect(await response.json()).toMatchObject({ data: { inserted: 1, total: 3 } });
  });

  test("who have opted out, or have not agreed, are skipped and shown with the reason", async () => {
    const [left = "", silent = "", agreed = "", revoked = ""] = newPhones(4);
    await shop.client.sandboxReceive({ id: shop.id, from: left, text: " Sair! " });
    await waitUntil(async () => (await rows(`select 1 from suppression`)).length > 0);
    for (const [phone, granted] of [
      [left, true],
      [agreed, true],
      [revoked, true],
      [revoked, false],
    ] as const) {
      await gateway.database.db
        .insertInto("consent")
        .values({ account_id: 1, phone, purpose: "news", consent_type: "opt_in", granted })
        .execute();
    }
    const id = await createCampaign({ consent_purpose: "news", message_template: "News" });
    const { data } = await owner.addRecipients({ id, numbers: [left, silent, agreed, revoked] });
    expect(data).toMatchObject({ inserted: 4, skipped: 1 });
    await owner.startCampaign({ id });
    await completed(id);
    const report = await owner.getCampaignReport({ id });
    expect(report.data?.recipients.map(({ status, reason }) => status === "skipped" && reason)).toEqual([
      "opted_out",
      "no_consent",
      false,
      "no_consent",
    ]);
    expect((await arrived([left, silent, agreed, revoked])).map(({ phone }) => phone)).toEqual([agreed]);
  });

  test("who opt out while their message is queued do not receive it", async () => {
    const slow = await gateway.connectInstance({ name: "Slow" });
    // After the first send, all others wait in the lane, however long this test takes.
    const settings = { send_delay_min_ms: 60_000, send_delay_max_ms: 60_000 };
    await slow.client.updateInstance({ id: slow.id, settings });
    const [first = "", leaving = ""] = newPhones(2);
    const id = await createCampaign({ instance_id: slow.id });
    await owner.addRecipients({ id, numbers: [first, leaving] });
    await owner.startCampaign({ id });
    await waitUntil(async () => {
      const { sent, queued } = await totalsOf(id);
      return sent === 1 && queued === 1;
    });
    await slow.client.sandboxReceive({ id: slow.id, from: leaving, text: "Stop" });
    await waitUntil(async () => (await totalsOf(id)).skipped === 1);
    await completed(id);
    expect(await totalsOf(id)).toMatchObject({ sent: 1, skipped: 1 });
  });
});

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await gateway.database.pool.query(text)).rows;
}

async function bearer(): Promise<string> {
  return (await signIn(gateway.url)).headers.authorization;
}

describe("a running campaign", () => {
  test("that is paused starts no further send, and continues where it stopped", async () => {
    const id = await createCampaign({ min_delay_ms: 400, max_delay_ms: 600, message_template: "Hi" });
    const phones = newPhones(60);
    await owner.addRecipients({ id, numbers: phones });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await arrived(phones)).length > 2);
    expect((await owner.pauseCampaign({ id })).data.status).toBe("paused");
    const submitted = await rows(
      `select 1 from message where origin = 'campaign' and submitted_at is not null and metadata ->> 'campaign_id' = '${id}'`,
    );
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    const before = await arrived(phones);
    expect(before.length).toBe(submitted.length);
    expect(await totalsOf(id)).toMatchObject({ pending: 60 - before.length, sent: before.length });
    await owner.updateCampaign({ id, ...QUICK });
    expect((await owner.startCampaign({ id })).data).toMatchObject({
      status: "queued",
      queued: 60 - before.length,
    });
    await completed(id);
    expect((await arrived(phones)).map(({ phone }) => phone).sort()).toEqual(phones.toSorted());
  });

  test("can be paused although its sends keep the campaign locked for longer than a request waits", async () => {
    const id = await createCampaign({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    await owner.addRecipients({ id, numbers: newPhones(3) });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await statusOf(id)) === "running");
    const sends = await gateway.database.pool.connect();
    await sends.query("begin");
    await sends.query(`select from campaign where id = ${id} for key share`);
    const paused = owner.pauseCampaign({ id });
    const waiting = waitUntil(async () => {
      const waits = await rows(`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query_start < now() - interval '1.5 seconds'`);
      return waits.length > 0;
    });
    await Promise.race([paused, waiting]).finally(async () => {
      await sends.query("commit");
      sends.release();
    });
    expect((await paused).data.status).toBe("paused");
  });

  test("that is cancelled sends only the messages that it lists as handed over", async () => {
    const id = await createCampaign({ message_template: "Hi" });
    const phones = Array.from({ length: 30 }, () => numberEnding("0005"));
    await owner.addRecipients({ id, numbers: phones });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await arrived(phones)).length > 0);
    const { data } = await owner.cancelCampaign({ id });
    expect(data.handed_over.length).toBeGreaterThan(0);
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    const sent = (await arrived(phones)).map(({ phone }) => phone).sort();
    expect(sent).toEqual(data.handed_over.map(({ phone }) => phone).sort());
    const { length } = sent;
    expect(await totalsOf(id)).toMatchObject({ total: 30, sent: length, cancelled: 30 - length, pending: 0 });
  });

  test("withholds a message that is being submitted at the moment of the pause", async () => {
    const id = await createCampaign({ min_delay_ms: 8_000, max_delay_ms: 8_000, message_template: "Hi" });
    const phones = newPhones(2);
    await owner.addRecipients({ id, numbers: phones });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await arrived(phones)).length === 1);
    // As if the pause came between reading the job and submitting it.
    await sql`update campaign set status = 'paused', status_reason = 'user' where id = ${id}`.execute(
      gateway.database.db,
    );
    await gateway.advance(8_000);
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    expect(await totalsOf(id)).toMatchObject({ pending: 1, sent: 1 });
    await owner.updateCampaign({ id, ...QUICK });
    await owner.startCampaign({ id });
    await completed(id);
    expect(await arrived(phones)).toHaveLength(2);
  });

  test("pauses while its instance is disconnected, and then continues automatically", async () => {
    const other = await gateway.connectInstance({ name: "Away" });
    const id = await createCampaign({
      instance_id: other.id,
      min_delay_ms: 8_000,
      max_delay_ms: 8_000,
      message_template: "Hi",
    });
    await owner.addRecipients({ id, numbers: newPhones(4) });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await totalsOf(id)).sent > 0);
    await other.client.logoutInstance({ id: other.id });
    await gateway.advance(6_000);
    await waitUntil(async () => (await statusOf(id)) === "paused");
    const { data } = await owner.getCampaign({ id });
    expect(data.status_reason).toBe("instance_disconnected");
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    await other.client.sandboxScan({ id: other.id, phone: other.phone });
    await waitUntil(async () => {
      await gateway.advance(1_000);
      return (await statusOf(id)) === "completed";
    }, 60_000);
    expect(await totalsOf(id)).toMatchObject({ total: 4, sent: 4 });
  });

  test("stops when too many sends fail", async () => {
    const id = await createCampaign({
      min_delay_ms: 30,
      max_delay_ms: 30,
      stop_on_error_rate: 0.5,
      message_template: "Hi",
    });
    await owner.addRecipients({ id, numbers: Array.from({ length: 330 }, () => numberEnding("0001")) });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await statusOf(id)) === "paused");
    const { data } = await owner.getCampaign({ id });
    expect(data.status_reason).toBe("error_rate");
    expect(data.totals.failed).toBeGreaterThanOrEqual(10);
    expect(data.totals.pending).toBeGreaterThan(0);
    await owner.cancelCampaign({ id });
  });

  test("sends only to known chats while the network blocks new chats of its instance", async () => {
    const [known = "", stranger = ""] = newPhones(2);
    await shop.client.sandboxReceive({ id: shop.id, from: known, text: "Hello" });
    await waitUntil(async () => (await rows(`select 1 from message where jid like '${known}%'`)).length > 0);
    await setLock("now() + interval '1 hour'");
    const id = await createCampaign({ message_template: "Hi" });
    await owner.addRecipients({ id, numbers: [stranger, known] });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await owner.getCampaign({ id })).data.status_reason === "reachout_timelock");
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    expect(await totalsOf(id)).toMatchObject({ sent: 1, pending: 1 });
    await setLock("null");
    await gateway.advance(30_000);
    await completed(id);
    expect((await arrived([known, stranger])).map(({ phone }) => phone)).toEqual([known, stranger]);
  });

  test("stops at its daily limit until the next day of its time zone", async () => {
    const zone = zoneAtNoon();
    const quiet_hours = { start: "00:00", end: "00:01", tz: zone.name };
    const id = await createCampaign({ daily_limit: 2, quiet_hours, message_template: "Hi" });
    await owner.addRecipients({ id, numbers: newPhones(5) });
    await owner.startCampaign({ id });
    const nextAt = async () => (await rows(`select next_at from campaign where id = ${id}`))[0]?.next_at;
    await waitUntil(async () => (await totalsOf(id)).sent === 2 && (await nextAt()) !== null);
    expect(await nextAt()).toEqual(zone.tomorrowAtOne);
    expect(await totalsOf(id)).toMatchObject({ queued: 0, pending: 3 });
    await owner.cancelCampaign({ id });
  });

  test("waits for its start time if it is scheduled", async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const id = await createCampaign({ scheduled_at, message_template: "Hi" });
    const phones = newPhones(1);
    await owner.addRecipients({ id, numbers: phones });
    const { message, data } = await owner.startCampaign({ id });
    expect([message, data.status]).toEqual(["Campaign scheduled", "scheduled"]);
    await gateway.advance(1_000);
    expect(await statusOf(id)).toBe("scheduled");
    await gateway.advance(3_600_000);
    await completed(id);
    expect(await arrived(phones)).toHaveLength(1);
  });

  test("sends one file to all recipients, and stores it once", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const id = await createCampaign({
      message_template: "For {{name}}",
      media: { base64: png.toString("base64") },
    });
    const phones = newPhones(3);
    await owner.addRecipients({
      id,
      recipients: phones.map((phone) => ({ phone, variables: { name: "you" } })),
    });
    expect(await rows(`select distinct id from outgoing_media`)).toHaveLength(1);
    await owner.startCampaign({ id });
    await completed(id);
    const seen = await rows(
      `select kind, content ->> 'caption' as caption from sandbox.ledger where action = 'send' and split_part(chat, '@', 1) in ('${phones.join("','")}')`,
    );
    expect(seen).toEqual(Array.from({ length: 3 }, () => ({ kind: "image", caption: "For you" })));
    expect((await owner.getCampaign({ id })).data.media).toMatchObject({ type: "image", size: png.length });
  });

  test("reports progress to event streams, and completion to subscribed webhooks", async () => {
    await shop.client.createWebhook({
      id: shop.id,
      name: "Done",
      url: "http://127.0.0.1:9/",
      events: ["campaign.completed"],
    });
    const id = await createCampaign({ message_template: "Hi" });
    await owner.addRecipients({ id, numbers: newPhones(2) });
    await owner.startCampaign({ id });
    await completed(id);
    const { data } = await shop.client.listEvents({ id: shop.id, limit: 200 });
    const ofCampaign = data.filter(({ event }) => event.startsWith("campaign."));
    const done = ofCampaign.find(
      ({ event, deliveries }) => event === "campaign.completed" && deliveries.length === 1,
    );
    expect(done).toBeDefined();
    const last = await shop.client.getEvent({ id: shop.id, eventId: done?.event_id ?? "" });
    expect((last.data.payload as { data: object }).data).toMatchObject({
      campaign: { id, status: "completed" },
      totals: { total: 2, sent: 2 },
    });
    const progress = ofCampaign.filter(({ event }) => event === "campaign.progress");
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.flatMap(({ deliveries }) => deliveries)).toEqual([]);
  });
});

/** A time zone that is not close to midnight now, and a minute past its next midnight. */
function zoneAtNoon(): { name: string; tomorrowAtOne: Date } {
  const ahead = 12 - new Date().getUTCHours();
  const shown = new Date(Date.now() + (ahead + 24) * 3_600_000).toISOString().slice(0, 10);
  return {
    name: ahead === 0 ? "UTC" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`,
    tomorrowAtOne: new Date(Date.parse(`${shown}T00:01:00Z`) - ahead * 3_600_000),
  };
}

async function setLock(until: string): Promise<void> {
  await rows(`update instance set new_chats_locked_until = ${until} where id = ${shop.id}`);
}

describe("the campaign status", () => {
  const REFUSED = { status: 409, code: "CAMPAIGN_STATE" };

  test("allows exactly the actions of the state table", async () => {
    const id = await createCampaign({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    await expect(owner.pauseCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(owner.startCampaign({ id })).rejects.toMatchObject({ status: 400 });
    await owner.addRecipients({ id, numbers: newPhones(3) });
    const dry = await owner.startCampaign({ id, dry_run: true });
    expect(dry.data).toMatchObject({ dry_run: true, would_be: "queued", queued: 3 });
    expect(await statusOf(id)).toBe("created");
    await owner.startCampaign({ id });
    await expect(owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(owner.updateCampaign({ id, name: "Summer" })).rejects.toMatchObject(REFUSED);
    await owner.pauseCampaign({ id });
    await expect(owner.pauseCampaign({ id })).rejects.toMatchObject(REFUSED);
    expect((await owner.updateCampaign({ id, name: "Summer" })).data.name).toBe("Summer");
    await owner.cancelCampaign({ id });
    await expect(owner.cancelCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(owner.addRecipients({ id, numbers: newPhones(1) })).rejects.toMatchObject(REFUSED);
  });

  test("becomes failed when the instance is removed, and the report remains", async () => {
    const other = await gateway.connectInstance({ name: "Short-lived" });
    const id = await createCampaign({ instance_id: other.id, min_delay_ms: 60_000, max_delay_ms: 60_000 });
    const phones = newPhones(3);
    await owner.addRecipients({ id, numbers: phones });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await totalsOf(id)).sent === 1);
    await other.client.deleteInstance({ id: other.id });
    await gateway.advance(6_000);
    await waitUntil(async () => (await statusOf(id)) === "failed");
    expect(await totalsOf(id)).toMatchObject({ total: 3, sent: 1, cancelled: 2 });
    await expect(owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
  });
});

test("a campaign of another account returns the same error as an unknown campaign", async () => {
  const id = await createCampaign();
  const login = { email: "stranger@example.com", password: PASSWORD };
  await createAccount(gateway.database.db, { name: "Stranger", account_type: "client", ...login });
  const { client, headers } = await signIn(gateway.url, login);
  const stranger = createHttpRequester(() => gateway.url);
  const bodyOf = async (http: string, body?: unknown) => {
    const { status, body: answer } = await stranger(http, body, headers);
    return { status, ...answer, request_id: "" };
  };
  for (const path of ["start", "pause", "cancel", "preview", "recipients"]) {
    const theirs = await bodyOf(`POST /api/campaigns/${id}/${path}`, {});
    expect(theirs).toEqual(await bodyOf(`POST /api/campaigns/999999/${path}`, {}));
    expect(theirs.status).toBe(404);
  }
  expect(await bodyOf(`GET /api/campaigns/${id}/report`)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  const foreign = { name: "x", instance_id: shop.id, message_template: "x" };
  expect(await bodyOf("POST /api/campaigns", foreign)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  expect((await client.listCampaigns()).data).toEqual([]);
});

test.each([
  ["a template without text", { message_template: "  " }, 400],
  ["no instance", { instance_id: undefined }, 400],
  ["an unknown instance", { instance_id: 999_999 }, 404],
  ["a date that is none", { scheduled_at: "tomorrow" }, 400],
  ["a day that is none", { scheduled_at: "2026-02-31T10:00:00Z" }, 400],
  ["min greater than max", { min_delay_ms: 10, max_delay_ms: 5 }, 400],
  ["a negative delay", { min_delay_ms: -1 }, 400],
  ["a delay of 1e9", { max_delay_ms: 1e9 }, 400],
  ["a time zone that is none", { quiet_hours: { start: "22:00", end: "08:00", tz: "Mars/North" } }, 400],
  ["quiet hours without an end", { quiet_hours: { start: "22:00", tz: "UTC" } }, 400],
  ["quiet hours of no length", { quiet_hours: { start: "22:00", end: "22:00", tz: "UTC" } }, 400],
  ["a daily limit of 0", { daily_limit: 0 }, 400],
  ["an error rate of 2", { stop_on_error_rate: 2 }, 400],
  ["a name of 10,000 characters", { name: "x".repeat(10_000) }, 400],
  ["media that is no file", { media: { base64: "%%%" } }, 400],
])("a campaign with %s is rejected", async (_, input, status) => {
  const valid = { name: "Bad", instance_id: shop.id, message_template: "Hi" };
  const before = (await rows("select 1 from campaign")).length;
  const response = await request("POST /api/campaigns", { ...valid, ...input });
  expect(response.status).toBe(status);
  expect((await rows("select 1 from campaign")).length).toBe(before);
});

test.each([0, -1, 1.01])("an error rate of %d is rejected with the allowed range", async (rate) => {
  const input = { name: "Bad", instance_id: shop.id, message_template: "Hi", stop_on_error_rate: rate };
  await expect(owner.createCampaign(input)).rejects.toMatchObject({
    message: "stop_on_error_rate: must be above 0 and at most 1: 0.5 is half of them",
  });
});

test("a repeated Idempotency-Key creates one campaign", async () => {
  const input = { name: "Once", instance_id: shop.id, message_template: "Hi" };
  const create = (name: string) => owner.createCampaign({ ...input, name }, { idempotencyKey: "spring-1" });
  const [first, again] = [await create("Once"), await create("Once")];
  expect(again.data).toEqual(first.data);
  await expect(create("Other")).rejects.toMatchObject({ status: 422, code: "IDEMPOTENCY_MISMATCH" });
});

test("the CSV report is safe to open in a spreadsheet", async () => {
  const id = await createCampaign({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
  await owner.addRecipients({
    id,
    recipients: [{ phone: newPhone(), variables: { "=cmd": "a,b" } }],
  });
  const { bytes, type } = await owner.getCampaignReport({ id, format: "csv" });
  const text = Buffer.from(bytes ?? []).toString("utf8");
  expect(type).toContain("text/csv");
  expect(text.split("\n")[0]).toBe("phone,status,reason,message_id,planned_at,decided_at,variables");
  expect(text.split("\n")[1]).toMatch(/,"'=cmd=a,b"$/);
});

test("a campaign cannot be started without a job queue", async () => {
  await gateway.restart({ WAYGATE_QUEUE: "off" });
  const { data } = await gateway.owner.createCampaign({
    name: "Late",
    instance_id: shop.id,
    message_template: "Hi",
  });
  await gateway.owner.addRecipients({ id: data.id, numbers: newPhones(1) });
  const start = gateway.owner.startCampaign({ id: data.id });
  await expect(start).rejects.toMatchObject({ status: 503, code: "QUEUE_UNAVAILABLE" });
});
