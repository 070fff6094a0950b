import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { signIn } from "../../../../test/sign-in.ts";
import { newPhones, numberEnding, setUpCampaignStory } from "../../../../test/stories/campaign-story.ts";
import { deleteOrphanedOutgoing } from "../../../core/messages/send/outgoing-file.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { wholeAccount } from "../../../platform/reach.ts";
import { getCampaign } from "../campaign-row.ts";
import { findTemplateWarnings } from "../find-template-warnings.ts";

const story = setUpCampaignStory();

/** A completed campaign to these recipients. */
async function runCampaign(numbers: string[]): Promise<number> {
  const id = await story.start(numbers, { message_template: "Hello" });
  await story.reach(id);
  return id;
}

describe("the limit max_campaigns", () => {
  test("counts only campaigns that have not ended", async () => {
    const ended = await runCampaign([newPhone()]);
    await story.limit({ max_campaigns: 1 });
    const open = await story.create();
    await expect(story.create()).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { quota: "max_campaigns", used: 1, left: 0 },
    });
    await story.owner.deleteCampaign({ id: open });
    const next = await story.create();
    await story.owner.cancelCampaign({ id: next });
    await story.create().then((id) => story.owner.cancelCampaign({ id }));
    expect((await story.show(ended)).status).toBe("completed");
    await story.limit({ max_campaigns: null });
  });
});

describe("a campaign", () => {
  test("is deleted with its recipients, while its messages stay in their chats", async () => {
    const phone = newPhone();
    const id = await runCampaign([phone]);
    expect((await story.owner.deleteCampaign({ id })).data).toEqual({ id });
    await expect(story.owner.getCampaign({ id })).rejects.toMatchObject({ status: 404 });
    const { db } = story.gateway.database;
    const left = db.selectFrom("campaign_recipient").select("id").where("campaign_id", "=", id);
    expect(await left.execute()).toEqual([]);
    const { data } = await story.shop.client.listMessages({
      id: story.shop.id,
      chat: `${phone}@s.whatsapp.net`,
    });
    expect(data).toMatchObject([{ text: "Hello", origin: "campaign" }]);
  });

  test("cannot be deleted while it runs; once paused, it is deleted with its queued messages", async () => {
    const id = await story.start([newPhone(), newPhone(), newPhone()], {
      min_delay_ms: 8_000,
      max_delay_ms: 8_000,
    });
    await waitUntil(async () => (await story.show(id)).totals.sent > 0);
    await expect(story.owner.deleteCampaign({ id })).rejects.toMatchObject({
      status: 409,
      code: "CAMPAIGN_STATE",
      message: "A campaign that is running cannot be deleted. Pause or cancel it first.",
    });
    await story.owner.pauseCampaign({ id });
    await story.owner.deleteCampaign({ id });
    const lanes = story.gateway.database.db.selectFrom("lane").select("id");
    const own = lanes.where("kind", "=", "campaign").where("key", "=", String(id));
    await waitUntil(async () => (await own.execute()).length === 0);
  });

  test("that the gateway has paused cannot be deleted before it is cancelled, with the reason", async () => {
    await story.limit({ max_messages: 0 });
    const id = await story.start([newPhone()]);
    await story.reach(id, "paused");
    await expect(story.owner.deleteCampaign({ id })).rejects.toMatchObject({
      message: "A campaign that is paused cannot be deleted. Cancel it first.",
      details: { status_reason: "message_quota" },
    });
    await story.limit({ max_messages: null });
    await story.owner.cancelCampaign({ id });
    await story.owner.deleteCampaign({ id });
  });

  test("can be archived once it has ended, and lists can exclude it", async () => {
    const id = await story.create();
    await expect(story.owner.archiveCampaign({ id })).rejects.toMatchObject({ code: "CAMPAIGN_STATE" });
    await story.owner.cancelCampaign({ id });
    const { data } = await story.owner.archiveCampaign({ id });
    expect(data.archived_at).not.toBeNull();
    const listed = async (archived?: "true" | "false") =>
      (await story.owner.listCampaigns({ archived, limit: 200 })).data.map((one) => one.id);
    expect(await listed()).toContain(id);
    expect(await listed("false")).not.toContain(id);
    expect(await listed("true")).toEqual([id]);
    expect((await story.owner.archiveCampaign({ id, archived: false })).data.archived_at).toBeNull();
  });
});

describe("failed recipients", () => {
  test("are retried, except those that the message may have reached", async () => {
    const [refused, silent, fine] = [numberEnding("0001"), newPhone(), newPhone()];
    const id = await runCampaign([refused, silent, fine]);
    const { db } = story.gateway.database;
    // The state after a crash during a send.
    const ofSilent = db
      .updateTable("campaign_recipient")
      .set({ status: "failed", reason: "UNKNOWN_OUTCOME" });
    await ofSilent.where("campaign_id", "=", id).where("phone", "=", silent).execute();
    const before = (await story.show(id)).totals;
    expect(before).toMatchObject({ failed: 2, sent: 1 });
    const { data } = await story.owner.retryFailedRecipients({ id });
    expect(data).toEqual({ id, status: "queued", retried: 1, left_out: 1 });
    await story.reach(id);
    expect((await story.show(id)).totals).toMatchObject({ total: 3, failed: 2, sent: 1 });
    const tries = db.selectFrom("message").select(({ fn }) => fn.countAll<number>().as("count"));
    const of = async (phone: string) =>
      (await tries.where("jid", "=", `${phone}@s.whatsapp.net`).executeTakeFirstOrThrow()).count;
    expect([await of(refused), await of(silent), await of(fine)]).toEqual([2, 1, 1]);
  });

  test("get the campaign's file again for a week; later, the retry reports the missing file", async () => {
    const { db } = story.gateway.database;
    const id = await story.start([numberEnding("0001")], { media: { base64: inBase64(SAMPLE.png) } });
    await story.reach(id);
    const age = async (days: number) => {
      await sql`update outgoing_media set created_at = now() - interval '8 days'`.execute(db);
      await sql`update campaign set ended_at = now() - ${days} * interval '1 day' where id = ${id}`.execute(
        db,
      );
      await deleteOrphanedOutgoing(db);
    };
    await age(6);
    expect((await story.owner.retryFailedRecipients({ id })).data).toMatchObject({
      status: "queued",
      retried: 1,
    });
    await story.reach(id);
    const recipients = db.selectFrom("campaign_recipient").select(["status", "reason"]);
    expect(await recipients.where("campaign_id", "=", id).execute()).toEqual([
      { status: "failed", reason: "SEND_FAILED" },
    ]);
    await age(8);
    await expect(story.owner.retryFailedRecipients({ id })).rejects.toMatchObject({
      code: "CAMPAIGN_STATE",
      details: { status: "completed", status_reason: "file_gone" },
      message: expect.stringContaining("its file is no longer stored"),
    });
    expect((await story.show(id)).totals).toMatchObject({ failed: 1, pending: 0 });
  });

  test("of a cancelled campaign are not retried", async () => {
    const id = await story.create();
    await story.owner.cancelCampaign({ id });
    await expect(story.owner.retryFailedRecipients({ id })).rejects.toMatchObject({ code: "CAMPAIGN_STATE" });
  });
});

test("a campaign sends what is left of the monthly quota, and then pauses", async () => {
  const { account_id } = await story.gateway.database.db
    .selectFrom("instance")
    .select("account_id")
    .where("id", "=", story.shop.id)
    .executeTakeFirstOrThrow();
  await story.gateway.database.db.deleteFrom("message_usage").where("account_id", "=", account_id).execute();
  await story.limit({ max_messages: 5 });
  const id = await story.start(newPhones(10));
  await waitUntil(async () => {
    const { status_reason, totals } = await story.show(id);
    return status_reason === "message_quota" && totals.queued === 0;
  });
  expect((await story.show(id)).totals).toMatchObject({ sent: 5, pending: 5 });
  await story.owner.cancelCampaign({ id });
  await story.limit({ max_messages: null });
});

test("sends that a pause withdraws do not count against the monthly quota", async () => {
  await story.limit({ max_messages: 1_000 });
  const id = await story.create({ min_delay_ms: 3_000, max_delay_ms: 3_000 });
  await story.owner.addRecipients({ id, numbers: newPhones(5) });
  const used = async () => {
    const rows = await story.gateway.database.db.selectFrom("message_usage").select("used").execute();
    return rows.reduce((sum, row) => sum + row.used, 0);
  };
  const before = await used();
  await story.owner.startCampaign({ id });
  await waitUntil(async () => (await story.show(id)).totals.queued > 0);
  await story.owner.pauseCampaign({ id });
  await waitUntil(async () => (await story.show(id)).totals.queued === 0);
  expect((await used()) - before).toBe((await story.show(id)).totals.sent);
  await story.owner.cancelCampaign({ id });
  await story.limit({ max_messages: null });
});

let personCount = 0;

/** A Brazilian mobile in both formats. The sandbox knows only the one without the ninth digit. */
function newPerson(): { long: string; short: string } {
  personCount += 1;
  const rest = `8${String(personCount).padStart(3, "0")}0007`;
  return { long: `55519${rest}`, short: `5551${rest}` };
}

async function finish(id: number) {
  await story.owner.startCampaign({ id });
  await story.reach(id);
  const { data } = await story.owner.getCampaignReport({ id });
  if (!data) throw new Error("the report came as a file");
  return data;
}

/** Chats with these recipients that the shop wrote to. */
async function reached(...phones: string[]): Promise<string[]> {
  const jids = phones.map((phone) => `${phone}@s.whatsapp.net`);
  const sent = await story.rows<{ chat: string }>(
    "select chat from sandbox.ledger where action = 'send' and phone = $1 and chat = any($2) order by id",
    story.shop.phone,
    jids,
  );
  return sent.map(({ chat }) => chat);
}

/** A recipient that the request did not check, for example an older one. */
async function addUnchecked(campaign: number, phone: string): Promise<void> {
  await story.rows(
    "insert into campaign_recipient (account_id, campaign_id, phone) values (1, $1, $2)",
    campaign,
    phone,
  );
}

describe("duplicate recipients of a campaign", () => {
  test("are detected between the two formats of a number, in one request and in the next", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    const { data } = await story.owner.addRecipients({ id, numbers: [long, short] });
    expect(data).toMatchObject({ inserted: 1, duplicates: 1, total: 1 });
    expect((await story.owner.addRecipients({ id, numbers: [short] })).data).toMatchObject({
      inserted: 0,
      duplicates: 1,
    });
    await finish(id);
    expect(await reached(long, short)).toEqual([`${short}@s.whatsapp.net`]);
  });

  test("get one message per person, and the other recipient is shown as a duplicate", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, short);
    const { recipients, totals } = await finish(id);
    expect(recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [long, null],
      [short, "duplicate"],
    ]);
    expect(totals).toMatchObject({ total: 2, sent: 1, skipped: 1 });
    expect(await reached(long, short)).toHaveLength(1);
  });

  test("cannot be queued for one person, even by a direct change of the rows", async () => {
    const { long, short } = newPerson();
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, short);
    const twice = story.rows("update campaign_recipient set person = $1 where campaign_id = $2", short, id);
    await expect(twice).rejects.toThrow("campaign_recipient_person");
  });
});

describe("a consent", () => {
  const CONSENT = { consent_type: "opt_in" };

  test("that is withdrawn under the other format of a number is withdrawn", async () => {
    const { long, short } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "offers", granted: true, phone: long });
    const { data } = await story.owner.recordConsent({
      ...CONSENT,
      purpose: "offers",
      granted: false,
      phone: short,
    });
    expect(data.current).toBe(true);
    const id = await story.create({ consent_purpose: "offers" });
    await story.owner.addRecipients({ id, numbers: [long] });
    expect((await finish(id)).recipients).toMatchObject([{ status: "skipped", reason: "no_consent" }]);
    expect(await reached(long, short)).toEqual([]);
  });

  test("that is granted under one format of a number is valid for the other", async () => {
    const { long, short } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "offers", granted: true, phone: long });
    const id = await story.create({ consent_purpose: "offers" });
    await story.owner.addRecipients({ id, numbers: [short] });
    expect((await finish(id)).totals).toMatchObject({ sent: 1, skipped: 0 });
  });

  test("that a lead withdrew before its phone was known is withdrawn for the phone", async () => {
    const { long } = newPerson();
    await story.owner.recordConsent({ ...CONSENT, purpose: "tips", granted: true, phone: long });
    const lead = (await story.owner.createLead({ name: "Nameless" })).data;
    await story.owner.recordConsent({ ...CONSENT, purpose: "tips", granted: false, lead_id: lead.id });
    await story.owner.updateLead({ id: lead.id, phone: long });
    const id = await story.create({ consent_purpose: "tips" });
    await story.owner.addRecipients({ id, numbers: [long] });
    expect((await finish(id)).recipients).toMatchObject([{ reason: "no_consent" }]);
  });
});

describe("a lead", () => {
  test("has both formats of its number, and opts out under either", async () => {
    const { long, short } = newPerson();
    await story.rows(`update account set settings = settings || '{"auto_create_leads":true}' where id = 1`);
    const { id } = (await story.owner.createLead({ phone: long, name: "Bia" })).data;
    await expect(story.owner.createLead({ phone: short })).rejects.toMatchObject({
      status: 409,
      code: "CONFLICT",
    });
    await story.shop.client.sendText({ id: story.shop.id, number: long, text: "Hi" });
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "STOP" });
    await waitUntil(async () => (await story.owner.getLeadDetails({ id })).data.opted_out_at !== null);
    await story.rows(`update account set settings = settings - 'auto_create_leads' where id = 1`);
    for (const q of [long, short, `+${short.slice(0, 2)} ${short.slice(2)}`])
      expect((await story.owner.listLeads({ q })).data.map((lead) => lead.id)).toEqual([id]);
    const { conversations, messages } = (await story.owner.getLeadDetails({ id })).data;
    expect(conversations).toMatchObject([{ phone: short }]);
    expect(messages.map(({ text }) => text)).toEqual(["STOP", "Hi"]);
    expect((await story.owner.updateLead({ id, phone: short })).data.phone).toBe(short);
  });
});

test("an opt-out by LID also applies to the phone once it is known", async () => {
  const { short } = newPerson();
  await story.shop.client.sandboxContact({ id: story.shop.id, from: short, known: "lid" });
  await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "SAIR" });
  const query = "select jid from message where direction = 'inbound' and content->>'text' = 'SAIR'";
  await waitUntil(async () => (await story.rows(query)).length > 0);
  const [{ jid } = { jid: "" }] = await story.rows<{ jid: string }>(query);
  expect(jid).toMatch(/@lid$/);
  await story.rows("update contact set phone = $1, jid = $1 || '@s.whatsapp.net' where lid = $2", short, jid);
  const id = await story.create();
  const { data } = await story.owner.addRecipients({ id, numbers: [short] });
  expect(data).toMatchObject({ inserted: 1, skipped: 1 });
});

describe("the digits of a LID in place of a number", () => {
  const LID = "100011999990058";

  test("address the person with that LID, in sends and in campaigns", async () => {
    const { short } = newPerson();
    const jid = `${short}@s.whatsapp.net`;
    await story.shop.client.sandboxReceive({ id: story.shop.id, from: short, text: "It is me" });
    const find = () => story.rows("select from contact where jid = $1", jid);
    await waitUntil(async () => (await find()).length > 0);
    await story.rows("update contact set lid = $1 where jid = $2", `${LID}@lid`, jid);
    const sent = await story.shop.client.sendText({ id: story.shop.id, number: LID, text: "Hello" });
    expect(sent.data?.jid).toBe(jid);
    expect(await story.rows("select jid from conversation where jid like $1", `${LID}@%`)).toEqual([]);
    const id = await story.create();
    const { data } = await story.owner.addRecipients({ id, numbers: [LID, short] });
    expect(data).toMatchObject({ inserted: 1, duplicates: 1 });
    expect((await finish(id)).recipients).toMatchObject([{ phone: short, reason: null }]);
  });

  test("in no numbering plan are refused, because a spreadsheet may have changed them", async () => {
    const [changed, issue] = ["55119876500030", "is not a number of any country. Check its digits"];
    const id = await story.create();
    const { data } = await story.owner.addRecipients({ id, numbers: [changed] });
    expect(data).toMatchObject({ inserted: 0, invalid_count: 1 });
    expect(data.invalid).toMatchObject([{ value: changed, reason: expect.stringContaining(issue) }]);
    const file = { bytes: Buffer.from(`phone\n${newPerson().short}\n${changed}`), mime_type: "text/csv" };
    const { data: ofFile } = await story.owner.addRecipients({ id, file });
    expect(ofFile).toMatchObject({ inserted: 1, invalid_count: 1 });
    expect(ofFile.invalid).toMatchObject([{ reason: expect.stringContaining(`line 3: ${issue}`) }]);
    const { data: check } = await story.owner.checkRecipients({ recipients: [changed] });
    expect(check.problems).toMatchObject([{ problem: "invalid", code: "impossible_number" }]);
  });

  test("match a campaign recipient before the send if the LID is learnt after they were added", async () => {
    const { short } = newPerson();
    const later = LID.replace("58", "59");
    const lid = `${later}@lid`;
    await story.rows(
      "insert into contact (account_id, instance_id, jid, lid) values (1, $1, $2, $2)",
      story.shop.id,
      lid,
    );
    const id = await story.create();
    await story.owner.addRecipients({ id, numbers: [short, later] });
    await story.rows(
      "update contact set phone = $1, jid = $1 || '@s.whatsapp.net' where lid = $2",
      short,
      lid,
    );
    expect((await finish(id)).recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [short, null],
      [later, "duplicate"],
    ]);
    expect(await reached(short, later)).toEqual([`${short}@s.whatsapp.net`]);
  });

  test("match a campaign recipient before the send if the LID is learnt after the selection", async () => {
    const { long, short } = newPerson();
    const other = await story.gateway.connectInstance();
    const { data: known } = await other.client.checkContacts({ id: other.id, numbers: [short] });
    const digits = (known[0]?.lid ?? "").replace("@lid", "");
    const id = await story.create();
    // The shop learns the LID when it looks up the number's format.
    await story.owner.addRecipients({ id, numbers: [long] });
    await addUnchecked(id, digits);
    const { recipients } = await finish(id);
    expect(recipients.map(({ phone, reason }) => [phone, reason])).toEqual([
      [long, null],
      [digits, "duplicate"],
    ]);
    expect(await reached(short, digits)).toEqual([`${short}@s.whatsapp.net`]);
  });
});

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
        const campaign = await getCampaign(trx, wholeAccount(1), id);
        const scansBefore = await countScans(trx);
        const warnings = await findTemplateWarnings(trx, campaign, wholeAccount(1));
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
  // The other messages are sent after the file of the first one is stored.
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
  expect(data.problems).toMatchObject([{ index: 1, value: other, problem: "no_consent", reason: null }]);
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

describe("recipients without a country code", () => {
  const national = () => `11 9${newPhone().slice(5)}`;
  const whole = (text: string) => `55${text.replace(" ", "")}`;

  test("are listed with the number of the linked phone's country, and added once that is confirmed", async () => {
    const id = await story.create();
    const [number, other] = [national(), newPhone()];
    const added = (await story.owner.addRecipients({ id, numbers: [other, number] })).data;
    const warning = { line: 2, value: number, code: "no_country_code", suggestion: whole(number) };
    expect(added).toMatchObject({
      inserted: 1,
      assumed_country: "BR",
      warnings: [warning],
      warning_count: 1,
    });
    const confirmed = { id, numbers: [other, number], confirm_assumed: true };
    expect((await story.owner.addRecipients(confirmed)).data).toMatchObject({
      inserted: 1,
      duplicates: 1,
      warnings: [],
    });
    const phones = (await story.owner.previewCampaign({ id })).data.previews.map(({ phone }) => phone);
    expect(phones).toEqual([other, whole(number)]);
    const shown = (await story.owner.previewCampaign({ id, phone: `tel:+${whole(number)}` })).data.previews;
    expect(shown).toMatchObject([{ phone: whole(number) }]);
  });

  test("are added if the query beside a CSV body or a form confirms them, in any case", async () => {
    const id = await story.create();
    const { headers } = await signIn(story.gateway.url);
    const add = async (query: string, number: string, isForm = false) => {
      const file = new File([`phone\n${number}\n`], "a.csv", { type: "text/csv" });
      const form = new FormData();
      form.append("file", file);
      const response = await fetch(`${story.gateway.url}/api/campaigns/${id}/recipients?${query}`, {
        method: "POST",
        headers: { ...headers, ...(!isForm && { "content-type": "text/csv" }) },
        body: isForm ? form : file,
      });
      const { data } = (await response.json()) as { data?: { inserted: number } };
      return data?.inserted ?? response.status;
    };
    expect(await add("confirm_assumed=1", national())).toBe(1);
    expect(await add("confirmAssumed=TRUE", national())).toBe(1);
    expect(await add("confirm_assumed=true", national(), true)).toBe(1);
    expect(await add("confirm_assumed=0", national())).toBe(0);
    expect(await add("confirm_assumed=perhaps", national())).toBe(400);
  });

  test("are checked with the country of the instance that will send, before the account's", async () => {
    const { id } = story.shop;
    const number = national();
    await story.owner.updateAccount({ settings: { default_country: "DE" } });
    await story.owner.updateInstance({ id, settings: { default_country: "br" } });
    const check = async (more: object) =>
      (await story.owner.checkRecipients({ recipients: [number, `${newPhone()}.0`], ...more })).data;
    expect(await check({ instance_id: id })).toMatchObject({
      ready: 0,
      assumed_country: "BR",
      counts: { assumed: 1, invalid: 1 },
      problems: [
        { problem: "assumed", code: "assumed_country", suggestion: whole(number) },
        { problem: "invalid", code: "changed_by_spreadsheet", suggestion: null },
      ],
    });
    expect(await check({ instance_id: id, confirm_assumed: true })).toMatchObject({ ready: 1 });
    expect(await check({})).toMatchObject({ assumed_country: "DE" });
    const { data } = await story.shop.client.sendText({ id, number, text: "Hello" });
    expect(data).toMatchObject({ jid: `${whole(number)}@s.whatsapp.net`, assumed_country: "BR" });
    await story.owner.updateInstance({ id, settings: { default_country: null } });
    await story.owner.updateAccount({ settings: { default_country: null } });
    await expect(story.shop.client.sendText({ id, number, text: "Hello" })).rejects.toMatchObject({
      details: { fields: [{ code: "no_country_code", params: { suggestion: `+${whole(number)}` } }] },
    });
  });
});

test("a check names every address that is no person as invalid with its reason, and counts the others", async () => {
  const recipients = ["bia@example.org", "120363025246125486@g.us", "99887766554433@lid", "status@broadcast"];
  const { data } = await story.owner.checkRecipients({
    recipients: [...recipients, "00@c.us", "a@b@c", newPhone()],
  });
  expect(data).toMatchObject({ total: 7, ready: 1, counts: { invalid: 6 } });
  for (const { reason, code, params } of data.problems) {
    expect(reason).toMatch(/^(is|must) /);
    expect([code, params]).toEqual([expect.stringMatching(/^not_a_(jid|number)$/), {}]);
  }
});

describe("the gateway's own export of leads", () => {
  test("is a file of recipients as it is", async () => {
    const phone = newPhone();
    const fields = { custom_fields: { city: "=Recife" }, tags: ["exported"] };
    await story.owner.createLead({ phone, name: "@Ana", ...fields });
    const { bytes = new Uint8Array() } = await story.owner.exportLeads({ tag: "exported" });
    const id = await story.create({ message_template: "{{name}} {{custom_fields.city}}" });
    const file = { bytes: Buffer.from(bytes), mime_type: "text/csv", file_name: "leads.csv" };
    expect((await story.owner.addRecipients({ id, file })).data).toMatchObject({ inserted: 1, invalid: [] });
    const { previews } = (await story.owner.previewCampaign({ id })).data;
    expect(previews).toMatchObject([{ phone, text: expect.stringContaining("@Ana") }]);
  });
});
