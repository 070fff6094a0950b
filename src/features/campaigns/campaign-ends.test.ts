import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import type { Client } from "../../client/client.ts";
import { deleteOrphanedOutgoing } from "../messages/send/outgoing-file.ts";

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
});
afterAll(() => gateway.stop());

type Plan = { max_campaigns?: number | null; max_messages?: number | null };
type CampaignInput = Partial<Parameters<Client["createCampaign"]>[0]>;

async function limit(plan: Plan): Promise<void> {
  await gateway.database.db.updateTable("plan").set(plan).where("name", "=", "unlimited").execute();
}

async function createCampaign(input: CampaignInput = {}): Promise<number> {
  const { data } = await owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello",
    min_delay_ms: 0,
    max_delay_ms: 0,
    ...input,
  });
  return data.id;
}

/** A completed campaign that was sent to the given recipients. */
async function runCampaign(numbers: string[]): Promise<number> {
  const id = await createCampaign();
  await owner.addRecipients({ id, numbers });
  await owner.startCampaign({ id });
  await reach(id, "completed");
  return id;
}

const show = async (id: number) => (await owner.getCampaign({ id })).data;

async function reach(id: number, status: string): Promise<void> {
  await waitUntil(async () => (await show(id)).status === status);
}

let numbers = 0;

/** A new number that the sandbox treats in a fixed way. */
function numberEnding(ending: string): string {
  numbers += 1;
  return `55218${String(numbers).padStart(5, "0")}${ending}`;
}

describe("the limit max_campaigns", () => {
  test("counts only campaigns that have not ended", async () => {
    const ended = await runCampaign([newPhone()]);
    await limit({ max_campaigns: 1 });
    const open = await createCampaign();
    await expect(createCampaign()).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { quota: "max_campaigns", used: 1, left: 0 },
    });
    await owner.deleteCampaign({ id: open });
    const next = await createCampaign();
    await owner.cancelCampaign({ id: next });
    await createCampaign().then((id) => owner.cancelCampaign({ id }));
    expect((await show(ended)).status).toBe("completed");
    await limit({ max_campaigns: null });
  });
});

describe("a campaign", () => {
  test("is deleted with its recipients, while its messages stay in their chats", async () => {
    const phone = newPhone();
    const id = await runCampaign([phone]);
    expect((await owner.deleteCampaign({ id })).data).toEqual({ id });
    await expect(owner.getCampaign({ id })).rejects.toMatchObject({ status: 404 });
    const { db } = gateway.database;
    const left = db.selectFrom("campaign_recipient").select("id").where("campaign_id", "=", id);
    expect(await left.execute()).toEqual([]);
    const { data } = await shop.client.listMessages({ id: shop.id, chat: `${phone}@s.whatsapp.net` });
    expect(data).toMatchObject([{ text: "Hello", origin: "campaign" }]);
  });

  test("cannot be deleted while it runs; once paused, it is deleted with its queued messages", async () => {
    const id = await createCampaign({ min_delay_ms: 8_000, max_delay_ms: 8_000 });
    await owner.addRecipients({ id, numbers: [newPhone(), newPhone(), newPhone()] });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await show(id)).totals.sent > 0);
    await expect(owner.deleteCampaign({ id })).rejects.toMatchObject({
      status: 409,
      code: "CAMPAIGN_STATE",
      message: "A campaign that is running cannot be deleted. Pause or cancel it first.",
    });
    await owner.pauseCampaign({ id });
    await owner.deleteCampaign({ id });
    const lanes = gateway.database.db.selectFrom("lane").select("id");
    const own = lanes.where("kind", "=", "campaign").where("key", "=", String(id));
    await waitUntil(async () => (await own.execute()).length === 0);
  });

  test("that the gateway has paused cannot be deleted before it is cancelled, with the reason", async () => {
    await limit({ max_messages: 0 });
    const id = await createCampaign();
    await owner.addRecipients({ id, numbers: [newPhone()] });
    await owner.startCampaign({ id });
    await reach(id, "paused");
    await expect(owner.deleteCampaign({ id })).rejects.toMatchObject({
      message: "A campaign that is paused cannot be deleted. Cancel it first.",
      details: { status_reason: "message_quota" },
    });
    await limit({ max_messages: null });
    await owner.cancelCampaign({ id });
    await owner.deleteCampaign({ id });
  });

  test("can be archived once it has ended, and lists can exclude it", async () => {
    const id = await createCampaign();
    await expect(owner.archiveCampaign({ id })).rejects.toMatchObject({ code: "CAMPAIGN_STATE" });
    await owner.cancelCampaign({ id });
    const { data } = await owner.archiveCampaign({ id });
    expect(data.archived_at).not.toBeNull();
    const listed = async (archived?: "true" | "false") =>
      (await owner.listCampaigns({ archived, limit: 200 })).data.map((one) => one.id);
    expect(await listed()).toContain(id);
    expect(await listed("false")).not.toContain(id);
    expect(await listed("true")).toEqual([id]);
    expect((await owner.archiveCampaign({ id, archived: false })).data.archived_at).toBeNull();
  });

  test("can be simulated by a dry run, which changes nothing", async () => {
    const id = await createCampaign();
    await owner.addRecipients({ id, numbers: [newPhone()] });
    const { message, data } = await owner.startCampaign({ id, dry_run: true });
    expect(message).toBe("Dry run: nothing was changed. A start makes the campaign queued.");
    expect(data).toMatchObject({ status: "created", would_be: "queued", queued: 1, dry_run: true });
    expect((await show(id)).status).toBe("created");
  });
});

describe("failed recipients", () => {
  test("are retried, except those that the message may have reached", async () => {
    const [refused, silent, fine] = [numberEnding("0001"), newPhone(), newPhone()];
    const id = await runCampaign([refused, silent, fine]);
    const { db } = gateway.database;
    // As a crash in the middle of a send leaves it.
    const ofSilent = db
      .updateTable("campaign_recipient")
      .set({ status: "failed", reason: "UNKNOWN_OUTCOME" });
    await ofSilent.where("campaign_id", "=", id).where("phone", "=", silent).execute();
    const before = (await show(id)).totals;
    expect(before).toMatchObject({ failed: 2, sent: 1 });
    const { data } = await owner.retryFailedRecipients({ id });
    expect(data).toEqual({ id, status: "queued", retried: 1, left_out: 1 });
    await reach(id, "completed");
    expect((await show(id)).totals).toMatchObject({ total: 3, failed: 2, sent: 1 });
    const tries = db.selectFrom("message").select(({ fn }) => fn.countAll<number>().as("count"));
    const of = async (phone: string) =>
      (await tries.where("jid", "=", `${phone}@s.whatsapp.net`).executeTakeFirstOrThrow()).count;
    expect([await of(refused), await of(silent), await of(fine)]).toEqual([2, 1, 1]);
  });

  test("get the campaign's file again for a week; later, the retry reports the missing file", async () => {
    const { db } = gateway.database;
    const id = await createCampaign({ media: { base64: inBase64(SAMPLE.png) } });
    await owner.addRecipients({ id, numbers: [numberEnding("0001")] });
    await owner.startCampaign({ id });
    await reach(id, "completed");
    const age = async (days: number) => {
      await sql`update outgoing_media set created_at = now() - interval '8 days'`.execute(db);
      await sql`update campaign set ended_at = now() - ${days} * interval '1 day' where id = ${id}`.execute(
        db,
      );
      await deleteOrphanedOutgoing(db);
    };
    await age(6);
    expect((await owner.retryFailedRecipients({ id })).data).toMatchObject({ status: "queued", retried: 1 });
    await reach(id, "completed");
    const recipients = db.selectFrom("campaign_recipient").select(["status", "reason"]);
    expect(await recipients.where("campaign_id", "=", id).execute()).toEqual([
      { status: "failed", reason: "SEND_FAILED" },
    ]);
    await age(8);
    await expect(owner.retryFailedRecipients({ id })).rejects.toMatchObject({
      code: "CAMPAIGN_STATE",
      details: { status: "completed", status_reason: "file_gone" },
      message: expect.stringContaining("its file is no longer stored"),
    });
    expect((await show(id)).totals).toMatchObject({ failed: 1, pending: 0 });
  });

  test("of a cancelled campaign are not retried", async () => {
    const id = await createCampaign();
    await owner.cancelCampaign({ id });
    await expect(owner.retryFailedRecipients({ id })).rejects.toMatchObject({ code: "CAMPAIGN_STATE" });
  });
});

test("a campaign sends what is left of the monthly quota, and then pauses", async () => {
  const { account_id } = await gateway.database.db
    .selectFrom("instance")
    .select("account_id")
    .where("id", "=", shop.id)
    .executeTakeFirstOrThrow();
  await gateway.database.db.deleteFrom("message_usage").where("account_id", "=", account_id).execute();
  await limit({ max_messages: 5 });
  const id = await createCampaign();
  await owner.addRecipients({ id, numbers: Array.from({ length: 10 }, newPhone) });
  await owner.startCampaign({ id });
  await waitUntil(async () => {
    const { status_reason, totals } = await show(id);
    return status_reason === "message_quota" && totals.queued === 0;
  });
  expect((await show(id)).totals).toMatchObject({ sent: 5, pending: 5 });
  await owner.cancelCampaign({ id });
  await limit({ max_messages: null });
});

test("sends that a pause withdraws do not count against the monthly quota", async () => {
  await limit({ max_messages: 1_000 });
  const id = await createCampaign({ min_delay_ms: 3_000, max_delay_ms: 3_000 });
  await owner.addRecipients({ id, numbers: Array.from({ length: 5 }, newPhone) });
  const used = async () => {
    const rows = await gateway.database.db.selectFrom("message_usage").select("used").execute();
    return rows.reduce((sum, row) => sum + row.used, 0);
  };
  const before = await used();
  await owner.startCampaign({ id });
  await waitUntil(async () => (await show(id)).totals.queued > 0);
  await owner.pauseCampaign({ id });
  await waitUntil(async () => (await show(id)).totals.queued === 0);
  expect((await used()) - before).toBe((await show(id)).totals.sent);
  await owner.cancelCampaign({ id });
  await limit({ max_messages: null });
});
