import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { newPhones, numberEnding, setUpCampaignStory } from "../../../test/stories/campaign-story.ts";
import { deleteOrphanedOutgoing } from "../messages/send/outgoing-file.ts";

const story = setUpCampaignStory();

/** A completed campaign that was sent to the given recipients. */
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
    // As a crash in the middle of a send leaves it.
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
