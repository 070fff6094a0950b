import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { inBase64 } from "../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { applyFileRetention } from "../retention/retention-jobs.ts";

const FROM = "5511966660002";
const KIB = 1024;
const FILE_BYTES = 300 * KIB;

let story: MessagingStory;
let account_id: number;

beforeAll(async () => {
  story = await startMessagingStory();
  account_id = (await story.gateway.owner.me()).data.account.id;
});
afterAll(() => story.stop());
beforeEach(async () => {
  await allow(1);
  await applyFileRetention(db(), 0);
  await sql`delete from sandbox.media`.execute(db());
  expect(await used()).toBe(0);
});
// The usage always equals the sum over the rows.
afterEach(async () => {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(size), 0)::bigint as bytes from (
      select distinct 'blob ' || blob, size from media where account_id = ${account_id} and blob is not null
      union all
      select id, length(bytes) from sandbox.media where account_id = ${account_id}
      union all
      select id || part, length(bytes) from outgoing_media
    ) files`.execute(db());
  expect(await used()).toBe(Number(rows[0]?.bytes));
});

const db = () => story.gateway.database.db;

async function allow(max_storage_mb: number | null): Promise<void> {
  await sql`
    update plan set max_storage_mb = ${max_storage_mb}
    where id = (select plan_id from account where id = ${account_id})`.execute(db());
}

async function used(): Promise<number> {
  const { data } = await story.gateway.owner.getAccount({});
  return data.used.storage_bytes;
}

async function receive(bytes: Buffer): Promise<string> {
  const { id, client } = story.sales;
  const media = { base64: inBase64(bytes), mime_type: "application/pdf" };
  return (await client.sandboxReceive({ id, from: FROM, media })).data.message_id;
}

/** The file of a message in the API once it is no longer pending. */
async function fileOf(messageId: string) {
  const find = async () => {
    const { data } = await story.sales.client.listMessages({ id: story.sales.id, limit: 50 });
    return data.find(({ message_id }) => message_id === messageId)?.media;
  };
  await waitUntil(async () => ["ready", "failed"].includes((await find())?.status ?? ""));
  return find();
}

const send = (bytes: Buffer, number: string) =>
  story.sales.client.sendMedia({ id: story.sales.id, number, base64: inBase64(bytes), type: "document" });

const left = async (table: "outgoing_media" | "stored_file") =>
  (await sql`select from ${sql.table(table)}`.execute(db())).rows.length;

test("the same content counts once against the quota, and is released with its last reference", async () => {
  await allow(null);
  const bytes = randomBytes(FILE_BYTES);
  const [one, other] = [await receive(bytes), await receive(bytes)];
  for (const id of [one, other]) expect(await fileOf(id)).toMatchObject({ status: "ready" });
  // The sandbox network has one copy for each message.
  expect(await used()).toBe((1 + 2) * FILE_BYTES);
  await fileOf(await receive(randomBytes(FILE_BYTES)));
  expect(await used()).toBe((2 + 3) * FILE_BYTES);
  const drop = (id: string) =>
    sql`update media set status = 'expired', blob = null
      where message in (select id from message where message_id = ${id})`.execute(db());
  await drop(one);
  expect(await used()).toBe((2 + 3) * FILE_BYTES);
  await drop(other);
  expect(await used()).toBe((1 + 3) * FILE_BYTES);
  await applyFileRetention(db(), 0);
  expect(await used()).toBe(3 * FILE_BYTES);
  expect(await left("stored_file")).toBe(0);
});

test("a received file beyond the quota is not stored, but its message is; both give the reason", async () => {
  await fileOf(await receive(randomBytes(FILE_BYTES)));
  const beyond = await receive(randomBytes(FILE_BYTES));
  expect(await fileOf(beyond)).toMatchObject({ status: "failed", reason: "storage_quota" });
  expect(await used()).toBe((1 + 2) * FILE_BYTES);
  const { id, client } = story.sales;
  const download = () => client.downloadMedia({ id, message_id: beyond, return_base64: true });
  await expect(download()).rejects.toMatchObject({ code: "STORAGE_QUOTA_EXCEEDED", status: 403 });
  await applyFileRetention(db(), 0);
  expect((await download()) as { data: { size: number } }).toMatchObject({ data: { size: FILE_BYTES } });
  expect(await fileOf(beyond)).toMatchObject({ status: "ready", reason: null });
});

test("files received concurrently cannot exceed the storage quota", async () => {
  await allow(null);
  const all = await Promise.all(Array.from({ length: 10 }, () => receive(randomBytes(FILE_BYTES))));
  for (const id of all) await fileOf(id);
  await sql`update media set status = 'failed', reason = 'storage_quota', blob = null`.execute(db());
  await allow(4);
  const { id, client } = story.sales;
  const downloads = await Promise.allSettled(
    all.map((message_id) => client.downloadMedia({ id, message_id, return_base64: true })),
  );
  expect(downloads.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await used()).toBe((3 + 10) * FILE_BYTES);
});

test("a send with a file beyond the quota is rejected before any part is stored", async () => {
  await fileOf(await receive(randomBytes(FILE_BYTES)));
  const refusal = {
    code: "STORAGE_QUOTA_EXCEEDED",
    status: 403,
    details: { quota: "max_storage_mb", limit: 1, used_bytes: 600 * KIB, left_bytes: 424 * KIB },
  };
  await expect(send(randomBytes(500 * KIB), "5511988881234")).rejects.toMatchObject(refusal);
  expect(await left("outgoing_media")).toBe(0);
  const { data } = await send(randomBytes(100 * KIB), "5511988881234");
  expect(data).toMatchObject({ message_id: expect.any(String) });
  await waitUntil(async () => (await left("outgoing_media")) === 0);
  expect(await used()).toBe((600 + 2 * 100) * KIB);
});

test("a file that waits for its send counts against the quota from its upload on", async () => {
  const { id, client } = story.sales;
  const later = { id, number: "5511988881234", type: "document", async: true, delay: 60_000 } as const;
  await client.sendMedia({ ...later, base64: inBase64(randomBytes(700 * KIB)) });
  expect(await used()).toBe(700 * KIB);
  const next = client.sendMedia({ ...later, base64: inBase64(randomBytes(400 * KIB)) });
  await expect(next).rejects.toMatchObject({ details: { used_bytes: 700 * KIB, left_bytes: 324 * KIB } });
  expect(await used()).toBe(700 * KIB);
  await sql`delete from outgoing_media`.execute(db());
  await sql`delete from job using message m where ref ->> 'message' = m.id::text and m.status = 'pending'`.execute(
    db(),
  );
});

test("sandbox files count against the quota, so a full account cannot receive any more of them", async () => {
  await fileOf(await receive(randomBytes(FILE_BYTES)));
  await applyFileRetention(db(), 0);
  expect(await used()).toBe(FILE_BYTES);
  await expect(receive(randomBytes(725 * KIB))).rejects.toMatchObject({
    code: "STORAGE_QUOTA_EXCEEDED",
    details: { used_bytes: FILE_BYTES, left_bytes: 724 * KIB },
  });
  expect(await used()).toBe(FILE_BYTES);
});

test("an account without a quota stores any file, and a smaller plan keeps the existing files", async () => {
  await allow(null);
  for (let n = 0; n < 4; n++) await fileOf(await receive(randomBytes(FILE_BYTES)));
  expect(await used()).toBe(8 * FILE_BYTES);
  await allow(1);
  await expect(receive(randomBytes(KIB))).rejects.toMatchObject({ code: "STORAGE_QUOTA_EXCEEDED" });
  expect(await used()).toBe(8 * FILE_BYTES);
  const { data } = await story.gateway.admin.adminMonitor({});
  expect(data.alerts).toContainEqual(
    expect.objectContaining({ key: "storage_nearly_full", account_id, severity: "critical" }),
  );
});

test("the removal of an instance releases the storage of its files", async () => {
  const { id, client } = await story.gateway.connectInstance();
  const media = { base64: inBase64(randomBytes(FILE_BYTES)), mime_type: "application/pdf" };
  await client.sandboxReceive({ id, from: FROM, media });
  await waitUntil(async () => (await used()) === 2 * FILE_BYTES);
  await story.gateway.owner.deleteInstance({ id });
  await waitUntil(async () => (await used()) === 0);
});
