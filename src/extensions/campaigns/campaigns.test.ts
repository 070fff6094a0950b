import { parse } from "csv-parse/sync";
import { describe, expect, test, vi } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { newPhones, numberEnding, setUpCampaignStory } from "../../../test/stories/campaign-story.ts";
import { createAccount } from "../../core/accounts/users/create-account.ts";
import { SandboxSession } from "../../network/sandbox/sandbox-session.ts";

const story = setUpCampaignStory();
const QUICK = { min_delay_ms: 0, max_delay_ms: 0 };

test("a campaign reaches every recipient once, fills in the variables, and counts the receipts", async () => {
  const id = await story.create();
  const [bia = "", ...others] = newPhones(5);
  const { data } = await story.owner.addRecipients({
    id,
    recipients: [{ phone: bia, variables: { Name: "Bia" } }, ...others],
  });
  expect(data).toMatchObject({ inserted: 5, duplicates: 0, invalid: [], total: 5 });
  const started = await story.owner.startCampaign({ id });
  expect(started.data).toMatchObject({
    status: "queued",
    queued: 5,
    warnings: [{ variable: "name", missing: 4 }],
  });
  await waitUntil(async () => (await story.totals(id)).read === 5);
  await story.reach(id);
  const texts = await story.arrived([bia, ...others]);
  expect(texts).toHaveLength(5);
  expect(texts.find(({ phone }) => phone === bia)?.text).toBe("Hello Bia");
  const report = await story.owner.getCampaignReport({ id, limit: 2 });
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
    const id = await story.create();
    const [a = "", b = "", c = "", d = ""] = newPhones(4);
    const { data } = await story.owner.addRecipients({
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
    const again = await story.owner.addRecipients({ id, numbers: [a, b] });
    expect(again.data).toMatchObject({ inserted: 0, duplicates: 2, total: 4 });
  });

  test("can be leads selected by id or tag, with the fields of the lead as variables", async () => {
    const [bia = "", ana = ""] = newPhones(2);
    const lead = await story.owner.createLead({ phone: bia, name: "Bia", custom_fields: { City: "Recife" } });
    await story.owner.createLead({ phone: ana, name: "Ana", tags: ["spring"] });
    const nameless = await story.owner.createLead({ name: "No phone" });
    const id = await story.create({ message_template: "{{name}} of {{city}}{{custom_fields.city}}" });
    const { data } = await story.owner.addRecipients({
      id,
      lead_ids: [lead.data.id, nameless.data.id, 999_999],
      tags: ["spring"],
    });
    expect(data).toMatchObject({ inserted: 2, invalid_count: 2 });
    const preview = await story.owner.previewCampaign({ id });
    expect(preview.data.previews).toEqual([
      { phone: bia, text: "Bia of RecifeRecife", too_long: false },
      { phone: ana, text: "Ana of ", too_long: false },
    ]);
    expect(preview.data.warnings.map(({ variable, missing }) => [variable, missing])).toEqual([
      ["city", 1],
      ["custom_fields.city", 1],
    ]);
  });

  test("come from a CSV file: an invalid row is reported with its line, and all others are added", async () => {
    const id = await story.create({ message_template: "{{name}}: {{note}}" });
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
    const { data } = await story.owner.addRecipients({
      id,
      file: { bytes: Buffer.from(csv), mime_type: "text/csv" },
    });
    expect(data.inserted).toBe(2);
    expect(data.invalid.map(({ reason }) => reason.split(":")[0])).toEqual(["line 4", "line 5", "line 6"]);
    const { previews } = (await story.owner.previewCampaign({ id })).data;
    expect(previews).toMatchObject([
      { phone: a, text: 'Bia: two\nlines; and "quotes"' },
      { phone: d, text: "Leo: fine" },
    ]);
    const [e = ""] = newPhones(1);
    const response = await fetch(`${story.gateway.url}/api/campaigns/${id}/recipients`, {
      method: "POST",
      headers: {
        "content-type": "text/csv",
        authorization: (await signIn(story.gateway.url)).headers.authorization,
      },
      body: `phone\n${e}\n`,
    });
    expect(await response.json()).toMatchObject({ data: { inserted: 1, total: 3 } });
  });

  test("who have opted out, or have not agreed, are skipped and shown with the reason", async () => {
    const [left = "", silent = "", agreed = "", revoked = ""] = newPhones(4);
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: left, text: " Sair! " });
    await waitUntil(async () => (await story.rows(`select 1 from suppression`)).length > 0);
    for (const [phone, granted] of [
      [left, true],
      [agreed, true],
      [revoked, true],
      [revoked, false],
    ] as const) {
      await story.gateway.database.db
        .insertInto("consent")
        .values({ account_id: 1, phone, purpose: "news", consent_type: "opt_in", granted })
        .execute();
    }
    const id = await story.create({ consent_purpose: "news", message_template: "News" });
    const { data } = await story.owner.addRecipients({ id, numbers: [left, silent, agreed, revoked] });
    expect(data).toMatchObject({ inserted: 4, skipped: 1 });
    await story.owner.startCampaign({ id });
    await story.reach(id);
    const report = await story.owner.getCampaignReport({ id });
    expect(report.data?.recipients.map(({ status, reason }) => status === "skipped" && reason)).toEqual([
      "opted_out",
      "no_consent",
      false,
      "no_consent",
    ]);
    expect((await story.arrived([left, silent, agreed, revoked])).map(({ phone }) => phone)).toEqual([
      agreed,
    ]);
  });

  test.each<[string, (shop: TestInstance, phone: string) => Promise<unknown>]>([
    ["opt out", ({ id, client }, from) => client.sandboxReceive({ id, from, text: "Stop" })],
    [
      "are opted out in the panel",
      async (_, phone) => {
        const { data } = await story.owner.createLead({ phone });
        await story.owner.updateLead({ id: data.id, opted_out: true });
      },
    ],
  ])("who %s while their message is queued do not receive it", async (_, optOut) => {
    const slow = await story.gateway.connectInstance({ name: "Slow" });
    // After the first send, all others wait in the lane.
    const settings = { send_delay_min_ms: 60_000, send_delay_max_ms: 60_000 };
    await slow.client.updateInstance({ id: slow.id, settings });
    const [first = "", leaving = ""] = newPhones(2);
    const id = await story.start([first, leaving], { instance_id: slow.id });
    await waitUntil(async () => {
      const { sent, queued } = await story.totals(id);
      return sent === 1 && queued === 1;
    });
    await optOut(slow, leaving);
    await waitUntil(async () => (await story.totals(id)).skipped === 1);
    await story.reach(id);
    expect(await story.totals(id)).toMatchObject({ sent: 1, skipped: 1 });
  });
});

describe("a running campaign", () => {
  test("that is paused starts no further send, and continues where it stopped", async () => {
    const phones = newPhones(60);
    const id = await story.start(phones, { min_delay_ms: 150, max_delay_ms: 250, message_template: "Hi" });
    await waitUntil(async () => (await story.arrived(phones)).length > 2);
    expect((await story.owner.pauseCampaign({ id })).data.status).toBe("paused");
    const submitted = await story.rows(
      `select 1 from message where origin = 'campaign' and submitted_at is not null and metadata ->> 'campaign_id' = '${id}'`,
    );
    await story.drained(id);
    const before = await story.arrived(phones);
    expect(before.length).toBe(submitted.length);
    expect(await story.totals(id)).toMatchObject({ pending: 60 - before.length, sent: before.length });
    await story.owner.updateCampaign({ id, ...QUICK });
    expect((await story.owner.startCampaign({ id })).data).toMatchObject({
      status: "queued",
      queued: 60 - before.length,
    });
    await story.reach(id);
    expect((await story.arrived(phones)).map(({ phone }) => phone).sort()).toEqual(phones.toSorted());
  });

  test("can be paused although its sends keep the campaign locked for longer than a request waits", async () => {
    const id = await story.start(newPhones(3), { min_delay_ms: 60_000, max_delay_ms: 60_000 });
    await story.reach(id, "running");
    const sends = await story.gateway.database.pool.connect();
    await sends.query("begin");
    await sends.query(`select from campaign where id = ${id} for key share`);
    const paused = story.owner.pauseCampaign({ id });
    const waiting = waitUntil(async () => {
      const waits = await story.rows(`select from pg_stat_activity where datname = current_database()
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
    const id = await story.create({ message_template: "Hi" });
    const acks = createGate();
    const { send } = SandboxSession.prototype;
    vi.spyOn(SandboxSession.prototype, "send").mockImplementation(async function (
      this: SandboxSession,
      ...sent
    ) {
      void send.apply(this, sent);
      await acks.opened;
      return { outcome: "accepted", at: new Date() };
    });
    // The network never acknowledges these.
    const phones = Array.from({ length: 30 }, () => numberEnding("0002"));
    await story.owner.addRecipients({ id, numbers: phones });
    await story.owner.startCampaign({ id });
    await waitUntil(async () => (await story.arrived(phones)).length > 0);
    const { data } = await story.owner.cancelCampaign({ id });
    expect(data.handed_over.length).toBeGreaterThan(0);
    acks.open();
    await story.drained(id);
    const sent = (await story.arrived(phones)).map(({ phone }) => phone).sort();
    expect(sent).toEqual(data.handed_over.map(({ phone }) => phone).sort());
    const { length } = sent;
    expect(await story.totals(id)).toMatchObject({
      total: 30,
      sent: length,
      cancelled: 30 - length,
      pending: 0,
    });
  });

  test("withholds a message that is being submitted at the moment of the pause", async () => {
    const phones = newPhones(2);
    const id = await story.start(phones, {
      min_delay_ms: 8_000,
      max_delay_ms: 8_000,
      message_template: "Hi",
    });
    await waitUntil(async () => (await story.arrived(phones)).length === 1);
    // Simulates a pause between reading the job and submitting it.
    await story.rows("update campaign set status = 'paused', status_reason = 'user' where id = $1", id);
    await story.gateway.advance(8_000);
    await story.drained(id);
    expect(await story.totals(id)).toMatchObject({ pending: 1, sent: 1 });
    await story.owner.updateCampaign({ id, ...QUICK });
    await story.owner.startCampaign({ id });
    await story.reach(id);
    expect(await story.arrived(phones)).toHaveLength(2);
  });

  test("pauses while its instance is disconnected, and then continues automatically", async () => {
    const other = await story.gateway.connectInstance({ name: "Away" });
    const id = await story.start(newPhones(4), {
      instance_id: other.id,
      min_delay_ms: 8_000,
      max_delay_ms: 8_000,
      message_template: "Hi",
    });
    await waitUntil(async () => (await story.totals(id)).sent > 0);
    await other.client.logoutInstance({ id: other.id });
    await story.gateway.advance(6_000);
    await story.reach(id, "paused");
    const { data } = await story.owner.getCampaign({ id });
    expect(data.status_reason).toBe("instance_disconnected");
    await story.drained(id);
    await other.client.sandboxScan({ id: other.id, phone: other.phone });
    await story.reach(id);
    expect(await story.totals(id)).toMatchObject({ total: 4, sent: 4 });
  });

  test("stops when too many sends fail", async () => {
    const id = await story.start(
      Array.from({ length: 40 }, () => numberEnding("0001")),
      { min_delay_ms: 500, max_delay_ms: 500, stop_on_error_rate: 0.5, message_template: "Hi" },
    );
    await story.reach(id, "paused");
    const { data } = await story.owner.getCampaign({ id });
    expect(data.status_reason).toBe("error_rate");
    expect(data.totals.failed).toBeGreaterThanOrEqual(10);
    expect(data.totals.pending).toBeGreaterThan(0);
    await story.owner.cancelCampaign({ id });
  });

  test("sends only to known chats while the network blocks new chats of its instance", async () => {
    const [known = "", stranger = ""] = newPhones(2);
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: known, text: "Hello" });
    await waitUntil(
      async () => (await story.rows(`select 1 from message where jid like '${known}%'`)).length > 0,
    );
    await setLock("now() + interval '1 hour'");
    const id = await story.start([stranger, known], { message_template: "Hi" });
    await waitUntil(
      async () => (await story.owner.getCampaign({ id })).data.status_reason === "reachout_timelock",
    );
    await story.drained(id);
    expect(await story.totals(id)).toMatchObject({ sent: 1, pending: 1 });
    expect((await story.show(id)).waiting?.reason).toBe("reachout_timelock");
    await setLock("null");
    await story.gateway.advance(30_000);
    await story.reach(id);
    expect((await story.arrived([known, stranger])).map(({ phone }) => phone)).toEqual([known, stranger]);
  });

  test("stops at its daily limit until the next day of its time zone", async () => {
    const zone = zoneAtNoon();
    const quiet_hours = { start: "00:00", end: "00:01", tz: zone.name };
    const id = await story.start(newPhones(5), { daily_limit: 2, quiet_hours, message_template: "Hi" });
    const nextAt = async () =>
      (await story.rows(`select next_at from campaign where id = ${id}`))[0]?.next_at;
    await waitUntil(async () => (await story.totals(id)).sent === 2 && (await nextAt()) !== null);
    expect(await nextAt()).toEqual(zone.tomorrowAtOne);
    expect(await story.totals(id)).toMatchObject({ queued: 0, pending: 3 });
    expect((await story.show(id)).waiting).toEqual({
      reason: "daily_limit",
      until: zone.tomorrowAtOne.toISOString(),
    });
    await story.owner.cancelCampaign({ id });
  });

  test("says until when the pause between two messages lasts", async () => {
    const delays = { min_delay_ms: 3_600_000, max_delay_ms: 3_600_000 };
    const id = await story.start(newPhones(2), { ...delays, message_template: "Hi" });
    await waitUntil(async () => (await story.totals(id)).sent === 1);
    const [{ next_at } = { next_at: new Date(0) }] = await story.rows<{ next_at: Date }>(
      "select next_at from campaign where id = $1",
      id,
    );
    expect((await story.show(id)).waiting).toEqual({ reason: "delay", until: next_at.toISOString() });
    expect(await story.totals(id)).toMatchObject({ sent: 1, pending: 1 });
    await story.owner.cancelCampaign({ id });
  });

  test("waits for its start time if it is scheduled", async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const id = await story.create({ scheduled_at, message_template: "Hi" });
    const phones = newPhones(1);
    await story.owner.addRecipients({ id, numbers: phones });
    const { message, data } = await story.owner.startCampaign({ id });
    expect([message, data.status]).toEqual(["Campaign scheduled", "scheduled"]);
    await story.gateway.advance(1_000);
    expect((await story.show(id)).status).toBe("scheduled");
    expect((await story.show(id)).waiting?.reason).toBe("scheduled");
    await story.gateway.advance(3_600_000);
    await story.reach(id);
    expect(await story.arrived(phones)).toHaveLength(1);
    expect((await story.show(id)).waiting).toBeNull();
  });

  test("reports progress to event streams and in the list, and completion to subscribed webhooks", async () => {
    await story.shop.client.createWebhook({
      id: story.shop.id,
      name: "Done",
      url: "http://127.0.0.1:9/",
      events: ["campaign.completed"],
    });
    const id = await story.start(newPhones(2), { message_template: "Hi" });
    await story.reach(id);
    const { data } = await story.shop.client.listEvents({ id: story.shop.id, limit: 200 });
    const ofCampaign = data.filter(({ event }) => event.startsWith("campaign."));
    const done = ofCampaign.find(
      ({ event, deliveries }) => event === "campaign.completed" && deliveries.length === 1,
    );
    expect(done).toBeDefined();
    const last = await story.shop.client.getEvent({ id: story.shop.id, eventId: done?.event_id ?? "" });
    expect((last.data.payload as { data: object }).data).toMatchObject({
      campaign: { id, status: "completed" },
      totals: { total: 2, sent: 2 },
    });
    const progress = ofCampaign.filter(({ event }) => event === "campaign.progress");
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.flatMap(({ deliveries }) => deliveries)).toEqual([]);
    const { data: listed } = await story.owner.listCampaigns();
    expect(listed.find((one) => one.id === id)?.totals).toMatchObject({ total: 2, sent: 2, failed: 0 });
  });
});

/** A time zone in which it is not close to midnight, and a minute past its next midnight. */
function zoneAtNoon(): { name: string; tomorrowAtOne: Date } {
  const ahead = 12 - new Date().getUTCHours();
  const shown = new Date(Date.now() + (ahead + 24) * 3_600_000).toISOString().slice(0, 10);
  return {
    name: ahead === 0 ? "UTC" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`,
    tomorrowAtOne: new Date(Date.parse(`${shown}T00:01:00Z`) - ahead * 3_600_000),
  };
}

async function setLock(until: string): Promise<void> {
  await story.rows(`update instance set new_chats_locked_until = ${until} where id = ${story.shop.id}`);
}

describe("the campaign status", () => {
  const REFUSED = { status: 409, code: "CAMPAIGN_STATE" };

  test("allows exactly the actions of the state table", async () => {
    const id = await story.create({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
    await expect(story.owner.pauseCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(story.owner.startCampaign({ id })).rejects.toMatchObject({ status: 400 });
    await story.owner.addRecipients({ id, numbers: newPhones(3) });
    const dry = await story.owner.startCampaign({ id, dry_run: true });
    expect(dry.data).toMatchObject({ dry_run: true, would_be: "queued", queued: 3 });
    expect(await story.show(id).then(({ status }) => status)).toBe("created");
    await story.owner.startCampaign({ id });
    await expect(story.owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(story.owner.updateCampaign({ id, name: "Summer" })).rejects.toMatchObject(REFUSED);
    await story.owner.pauseCampaign({ id });
    await expect(story.owner.pauseCampaign({ id })).rejects.toMatchObject(REFUSED);
    expect((await story.owner.updateCampaign({ id, name: "Summer" })).data.name).toBe("Summer");
    await story.owner.cancelCampaign({ id });
    await expect(story.owner.cancelCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(story.owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
    await expect(story.owner.addRecipients({ id, numbers: newPhones(1) })).rejects.toMatchObject(REFUSED);
  });

  test("becomes failed when the instance is removed, and the report remains", async () => {
    const other = await story.gateway.connectInstance({ name: "Short-lived" });
    const phones = newPhones(3);
    const id = await story.start(phones, {
      instance_id: other.id,
      min_delay_ms: 60_000,
      max_delay_ms: 60_000,
    });
    await waitUntil(async () => (await story.totals(id)).sent === 1);
    await other.client.deleteInstance({ id: other.id });
    await story.gateway.advance(6_000);
    await story.reach(id, "failed");
    expect(await story.totals(id)).toMatchObject({ total: 3, sent: 1, cancelled: 2 });
    await expect(story.owner.startCampaign({ id })).rejects.toMatchObject(REFUSED);
  });
});

test("a campaign cannot send from an instance of another account", async () => {
  const login = { email: "stranger@example.com", password: PASSWORD };
  await createAccount(story.gateway.database.db, { name: "Stranger", account_type: "client", ...login });
  const { client } = await signIn(story.gateway.url, login);
  const foreign = { name: "x", instance_id: story.shop.id, message_template: "x" };
  await expect(client.createCampaign(foreign)).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
});

test("an agent who may use one instance makes campaigns for it, to leads of its contacts, and finds no other one", async () => {
  const { shop, owner, gateway } = story;
  const other = await gateway.connectInstance();
  const login = { email: "one-shop@example.com", password: PASSWORD };
  await owner.createUser({ name: "Agent", ...login, instance_ids: [shop.id] });
  const { client: agent, headers } = await signIn(gateway.url, login);
  const [near = "", far = ""] = newPhones(2);
  await shop.client.sandboxReceive({ id: shop.id, from: near, text: "Hi" });
  await waitUntil(async () =>
    (await shop.client.listChats({ id: shop.id })).data.some(({ phone }) => phone === near),
  );
  await owner.createLead({ phone: near, name: "Near", tags: ["agents"] });
  const { data: hidden } = await owner.createLead({ phone: far, name: "Far", tags: ["agents"] });

  const draft = { name: "Branch", message_template: "Hi {{name}}" };
  const missing = { status: 404, code: "NOT_FOUND" };
  await expect(agent.createCampaign({ ...draft, instance_id: other.id })).rejects.toMatchObject(missing);
  const { id } = (await agent.createCampaign({ ...draft, instance_id: shop.id })).data;
  await expect(agent.updateCampaign({ id, instance_id: other.id })).rejects.toMatchObject(missing);
  const { data: added } = await agent.addRecipients({ id, tags: ["agents"], lead_ids: [hidden.id] });
  expect(added).toMatchObject({ inserted: 1, invalid_count: 1 });
  await agent.addRecipients({ id, numbers: [far] });
  const { previews, warnings } = (await agent.previewCampaign({ id })).data;
  expect(previews.map(({ text }) => text)).toEqual(["Hi Near", "Hi "]);
  expect(warnings).toMatchObject([{ variable: "name", missing: 1 }]);

  const foreign = await story.create({ instance_id: other.id });
  expect((await agent.listCampaigns()).data.map((one) => one.instance_id)).not.toContain(other.id);
  // The response to the administrator is stored under the key.
  const key = { "idempotency-key": "cancel-1" };
  expect((await story.request(`POST /api/campaigns/${foreign}/cancel`, {}, key)).status).toBe(200);
  const repeated = await story.request(`POST /api/campaigns/${foreign}/cancel`, {}, { ...headers, ...key });
  expect(repeated.body.code).toBe("IDEMPOTENCY_MISMATCH");
});

test.each([
  ["an unknown instance", { instance_id: 999_999 }, 404],
  ["min greater than max", { min_delay_ms: 10, max_delay_ms: 5 }, 400],
  ["quiet hours of no length", { quiet_hours: { start: "22:00", end: "22:00", tz: "UTC" } }, 400],
  ["an error rate of 0", { stop_on_error_rate: 0 }, 400],
  ["media that is no file", { media: { base64: "%%%" } }, 400],
  ["a text beside a sound, which phones show without it", { media: { base64: inBase64(SAMPLE.mp3) } }, 400],
])("a campaign with %s is rejected", async (_, input, status) => {
  const before = await story.rows("select 1 from campaign");
  await expect(story.create(input)).rejects.toMatchObject({ status });
  expect(await story.rows("select 1 from campaign")).toEqual(before);
});

test("the CSV report is safe to open in a spreadsheet", async () => {
  const id = await story.create({ min_delay_ms: 60_000, max_delay_ms: 60_000 });
  await story.owner.addRecipients({
    id,
    recipients: [{ phone: newPhones(1)[0] ?? "", variables: { "x;=cmd": "=a,b" } }],
  });
  const { bytes, type } = await story.owner.getCampaignReport({ id, format: "csv" });
  const text = Buffer.from(bytes ?? []).toString("utf8");
  expect(type).toContain("text/csv");
  expect(text.split("\n")[0]).toBe("phone,status,reason,message_id,planned_at,decided_at,variables.x;'=cmd");
  expect(text.split("\n")[1]).toMatch(/,"'=a,b"$/);
});

test("the CSV report has every variable of more than a thousand, most of them as JSON, and gives them all again", async () => {
  const id = await story.create();
  const recipients = newPhones(21).map((phone, of) => {
    const names = Array.from({ length: 50 }, (_, n) => `v${10_000 + of * 50 + n}`);
    return { phone, variables: Object.fromEntries(names.map((name) => [name, `is ${name}`])) };
  });
  await story.owner.addRecipients({ id, recipients });
  const { bytes } = await story.owner.getCampaignReport({ id, format: "csv" });
  const [heads = [], ...rows] = parse(Buffer.from(bytes ?? [])) as string[][];
  expect([heads.length, heads.at(-2), heads.at(-1)]).toEqual([128, "variables.v10120", "variables"]);
  const found = rows.map((cells) => {
    const own = heads.slice(6, -1).map((head, at) => [head.slice("variables.".length), cells[6 + at]]);
    return {
      ...Object.fromEntries(own.filter(([, cell]) => cell !== "")),
      ...JSON.parse(cells.at(-1) ?? ""),
    };
  });
  const variables = recipients.map((one) => one.variables);
  expect(found).toEqual(variables);
  const second = await story.create();
  const file = { bytes: Buffer.from(bytes ?? []), mime_type: "text/csv" };
  expect((await story.owner.addRecipients({ id: second, file })).data).toMatchObject({ inserted: 21 });
  const { data } = await story.owner.getCampaignReport({ id: second });
  expect(data?.recipients.map((one) => one.variables)).toEqual(variables);
});

test("the CSV report gives the recipients of another campaign the same variables, and changes no lead", async () => {
  const template = { message_template: "{{name}}|{{status}}|{{note}}|{{name of shop}}" };
  const [a = "", b = ""] = newPhones(2);
  const c = "+51987654397";
  await story.owner.updateAccount({ settings: { default_country: "BR" } });
  const first = await story.create(template);
  await story.owner.addRecipients({
    id: first,
    recipients: [
      { phone: a, variables: { name: "Zoë; x=1", status: "paid", note: '=1+1\n"two", @three\n\n+4 x' } },
      { phone: b, variables: { "Name of shop": "'=Loja", note: ` ${"x\n".repeat(30)}` } },
      { phone: c },
    ],
  });
  const { bytes = new Uint8Array() } = await story.owner.getCampaignReport({ id: first, format: "csv" });
  const file = { bytes, mime_type: "text/csv" };
  const second = await story.create(template);
  expect((await story.owner.addRecipients({ id: second, file })).data).toMatchObject({ inserted: 3 });
  const textsOf = async (id: number) =>
    (await story.owner.previewCampaign({ id })).data.previews.map(({ text }) => text.trim());
  expect(await textsOf(second)).toEqual(await textsOf(first));
  expect((await textsOf(second))[0]).toBe('Zoë; x=1|paid|=1+1\n"two", @three\n\n+4 x|');
  expect((await story.owner.importLeads({ file })).data).toMatchObject({ created: 3, invalid_count: 0 });
  expect((await story.owner.listLeads({ q: a })).data).toMatchObject([{ status: "new", name: null }]);
  expect((await story.owner.importLeads({ file })).data).toMatchObject({ unchanged: 3 });
  await story.owner.updateAccount({ settings: { default_country: null } });
});

test("a campaign cannot be started without a job queue", async () => {
  await story.gateway.restart({ WAYGATE_QUEUE: "off" });
  const { data } = await story.gateway.owner.createCampaign({
    name: "Late",
    instance_id: story.shop.id,
    message_template: "Hi",
  });
  await story.gateway.owner.addRecipients({ id: data.id, numbers: newPhones(1) });
  const start = story.gateway.owner.startCampaign({ id: data.id });
  await expect(start).rejects.toMatchObject({ status: 503, code: "QUEUE_UNAVAILABLE" });
});
