import { randomBytes } from "node:crypto";
import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { makeScratchDir, type ScratchDir } from "../../../test/run/scratch-dir.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { SandboxSession } from "../../network/sandbox/sandbox-session.ts";
import { createLog } from "../../platform/log/log.ts";
import { FolderMediaStore } from "../../platform/media/folder-media-store.ts";
import { applyFileRetention } from "../retention/retention-jobs.ts";
import { openFile } from "./open-file.ts";
import { createMediaUrls, sweepFiles } from "./open-media.ts";
import { recordReadyFile } from "./record-ready-file.ts";

const FROM = "5511966660002";
const DAY_MS = 86_400_000;
const GONE_JOB = 0;
const SECRET_KEY = randomBytes(32).toString("base64");

let story: MessagingStory;
let dir: ScratchDir;

beforeAll(async () => {
  dir = await makeScratchDir();
  story = await startMessagingStory({
    WAYGATE_DATA_DIR: dir.path,
    WAYGATE_SECRET_KEY: SECRET_KEY,
    WAYGATE_MEDIA_MAX_MB: "1",
  });
  const { id, client } = story.sales;
  await client.updateDefaultWebhook({ id, events: ["message.*", "media.ready"] });
});
afterAll(async () => {
  await story.stop();
  await dir.remove();
});

const db = () => story.gateway.database.db;
const downloadMedia = SandboxSession.prototype.downloadMedia;
type Download = typeof downloadMedia | undefined;

/** Sets how sessions download files in this test. */
function fetchWith(how: Download): void {
  Object.assign(SandboxSession.prototype, { downloadMedia: how });
}
afterEach(() => fetchWith(downloadMedia));

async function receive(
  bytes: Buffer,
  said: { mime_type?: string; file_name?: string; from_me?: boolean } = {},
) {
  const { from_me, ...media } = said;
  const { id, client } = story.sales;
  const { data } = await client.sandboxReceive({
    id,
    from: FROM,
    from_me,
    media: { base64: inBase64(bytes), mime_type: "application/pdf", ...media },
  });
  return data.message_id;
}

interface Kept {
  id: string;
  status: string;
  reason: string | null;
  mime_type: string;
  sha256: string | null;
  blob: number | null;
}

async function mediaOf(messageId: string): Promise<Kept | undefined> {
  const { rows } = await sql<Kept>`
    select f.* from media f join message m on m.id = f.message
    where m.message_id = ${messageId} and m.instance_id = ${story.sales.id}`.execute(db());
  return rows[0];
}

async function resolved(messageId: string, status = "ready"): Promise<Kept> {
  await waitUntil(async () => (await mediaOf(messageId))?.status === status);
  return (await mediaOf(messageId)) as Kept;
}

function get(path: string, headers: Record<string, string> = {}) {
  return fetch(`${story.gateway.url}${path}`, { headers: { "x-api-key": story.sales.api_key, ...headers } });
}
const tryDownload = (message_id: string) =>
  story.sales.client.downloadMedia({ id: story.sales.id, message_id });
const openStore = (node: string) => FolderMediaStore.open(join(dir.path, "media"), { node, isShared: false });
/** Deletes unreferenced files. */
async function sweep(): Promise<void> {
  await sweepFiles({
    db: db(),
    store: await openStore("sweeper"),
    node: story.gateway.gateway.engine.node.id,
  });
}
const pathOf = (mediaId: string) => `/api/v1/instances/${story.sales.id}/media/${mediaId}`;

/** Stored files by path in the data directory. */
async function stored(): Promise<string[]> {
  const all = await readdir(join(dir.path, "media"), { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function blobPath(blob: number | null): Promise<string> {
  const { name } = await db()
    .selectFrom("blob")
    .select("name")
    .where("id", "=", blob)
    .executeTakeFirstOrThrow();
  return join(dir.path, "media", name);
}

describe("a received file", () => {
  test("is reported as pending, then as ready, and is then served without the network", async () => {
    const bytes = Buffer.concat([SAMPLE.pdf, randomBytes(300_000)]);
    const id = await receive(bytes, { file_name: "offer.pdf" });
    const { data: first } = await story.event("message.received", id);
    expect(first.message.media).toMatchObject({
      status: "pending",
      id: expect.stringMatching(/^med_\w{32}$/),
    });
    const { data } = await story.event("media.ready", id);
    expect(data.media).toMatchObject({
      id: first.message.media.id,
      status: "ready",
      size: bytes.length,
      mime_type: "application/pdf",
      url: pathOf(data.media.id),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      file_name: "offer.pdf",
    });
    fetchWith(async () => "gone");
    const response = await get(data.media.url);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": "attachment; filename=offer.pdf",
      "content-security-policy": "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      etag: `"${data.media.sha256}"`,
      "content-length": `${bytes.length}`,
    });
    const download = await tryDownload(id);
    expect(bytes.equals(download.bytes ?? Buffer.alloc(0))).toBe(true);
  });

  test("is reported once, though its job ends a second time after a commit whose response was lost", async () => {
    const file = await resolved(await receive(randomBytes(2_000)));
    const reports = async () => {
      const { rows } = await sql`
        select from event where event = 'media.ready' and convert_from(body, 'utf8') like ${`%${file.id}%`}`.execute(
        db(),
      );
      return rows.length;
    };
    expect(await reports()).toBe(1);
    const ready = {
      id: file.id,
      blob: Number(file.blob),
      sha256: `${file.sha256}`,
      size: 2_000,
      mime_type: file.mime_type,
    };
    expect(await recordReadyFile(db(), GONE_JOB, ready)).toEqual([]);
    expect(await reports()).toBe(1);
  });

  test("is served in ranges, and not sent again to a client that has cached it", async () => {
    const bytes = randomBytes(10_000);
    const { id, sha256 } = await resolved(await receive(bytes));
    const range = async (asked: string, more = {}) => {
      const response = await get(pathOf(id), { range: asked, ...more });
      const got = Buffer.from(await response.arrayBuffer());
      return [response.status, response.headers.get("content-range"), got] as const;
    };
    expect(await range("bytes=10-19")).toEqual([206, "bytes 10-19/10000", bytes.subarray(10, 20)]);
    expect(await range("bytes=9990-")).toEqual([206, "bytes 9990-9999/10000", bytes.subarray(9990)]);
    expect(await range("bytes=-5")).toEqual([206, "bytes 9995-9999/10000", bytes.subarray(9995)]);
    expect((await range("bytes=10000-")).slice(0, 2)).toEqual([416, "bytes */10000"]);
    expect((await range("bytes=5-1, 7-9"))[0]).toBe(200);
    expect((await range("bytes=0-1", { "if-range": '"other"' }))[0]).toBe(200);
    for (const known of [`"${sha256}"`, `"other", W/"${sha256}"`, "*"])
      expect((await get(pathOf(id), { "if-none-match": known })).status).toBe(304);
    expect((await get(pathOf(id), { "if-none-match": '"other"' })).status).toBe(200);
  });

  test("has private file modes, and a path in the media folder whatever its own name is", async () => {
    const { id, blob } = await resolved(await receive(randomBytes(100), { file_name: "../../etc/passwd" }));
    const path = await blobPath(blob);
    expect(path).toMatch(/\/media\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}-[0-9a-f]{8}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
    expect((await get(pathOf(id))).headers.get("content-disposition")).toBe("attachment; filename=passwd");
  });

  test.each([
    ["a page that calls itself a picture", SAMPLE.html, "image/png", "application/octet-stream"],
    ["a drawing that calls itself a picture", SAMPLE.svg, "image/png", "application/xml"],
    ["a program that calls itself a document", SAMPLE.exe, "application/pdf", "application/x-msdownload"],
    ["a picture with a page in it", Buffer.from("GIF89a/*<script>*/=1;"), "text/html", "image/gif"],
    ["an office document", SAMPLE.zip, "application/vnd.ms-excel", "application/vnd.ms-excel"],
    ["a plain text", SAMPLE.text, "text/csv", "text/csv"],
    ["a type that breaks a header", SAMPLE.text, "text/plain\r\nx-evil: 1", "application/octet-stream"],
  ])("is served with the type of its content: %s", async (_, bytes, mime_type, shown) => {
    const { id } = await resolved(await receive(bytes, { mime_type }));
    const response = await get(pathOf(id));
    expect(response.headers.get("content-type")).toBe(shown);
    const isPicture = shown === "image/gif";
    expect(response.headers.get("content-disposition")).toMatch(isPicture ? /^inline/ : /^attachment/);
  });

  test("that could not be fetched is retried, and does not block the files behind it", async () => {
    let failing: unknown;
    let isMended = false;
    fetchWith(async function (this: SandboxSession, ref, onChunk) {
      failing ??= JSON.stringify(ref);
      if (!isMended && JSON.stringify(ref) === failing) {
        await onChunk(randomBytes(10));
        throw new Error("cut off");
      }
      return downloadMedia.call(this, ref, onChunk);
    });
    const first = await receive(randomBytes(100));
    await waitUntil(() => failing !== undefined);
    const second = await receive(randomBytes(100));
    const third = await receive(randomBytes(100));
    await resolved(second);
    await resolved(third);
    expect((await mediaOf(first))?.status).toBe("pending");
    isMended = true;
    // A second attempt may have run by now.
    await story.gateway.advance(31_000);
    await resolved(first);
  });

  test("that the network has deleted expires, and returns 410", async () => {
    fetchWith(async () => "gone");
    const id = await receive(randomBytes(100));
    expect(await resolved(id, "expired")).toMatchObject({ reason: "gone", blob: null });
    await expect(tryDownload(id)).rejects.toMatchObject({ status: 410, code: "MEDIA_EXPIRED" });
  });

  test("that is larger than allowed fails, whatever size it claimed", async () => {
    fetchWith(async (_ref, onChunk) => {
      for (let sent = 0; sent < 3; sent++) await onChunk(Buffer.alloc(500_000));
      return "done";
    });
    const id = await receive(randomBytes(100));
    expect(await resolved(id, "failed")).toMatchObject({ reason: "too_large" });
    await expect(tryDownload(id)).rejects.toMatchObject({ status: 502, code: "MEDIA_DOWNLOAD_FAILED" });
  });

  test("that the session cannot fetch returns 501, until the session can", async () => {
    fetchWith(undefined);
    const id = await receive(SAMPLE.pdf);
    await resolved(id, "failed");
    await expect(tryDownload(id)).rejects.toMatchObject({ status: 501, code: "NOT_SUPPORTED" });
    fetchWith(downloadMedia);
    expect((await tryDownload(id)).type).toBe("application/pdf");
  });

  test("delays a download that comes before it", async () => {
    const held = createGate();
    fetchWith(async function (this: SandboxSession, ref, onChunk) {
      await held.opened;
      return downloadMedia.call(this, ref, onChunk);
    });
    const id = await receive(SAMPLE.pdf);
    await waitUntil(async () => (await mediaOf(id))?.status === "pending");
    const download = tryDownload(id);
    held.open();
    expect(SAMPLE.pdf.equals((await download).bytes ?? Buffer.alloc(0))).toBe(true);
  });

  test("is fetched after a restart in the middle, without a partial file", async () => {
    let isHanging = false;
    fetchWith(async (_ref, onChunk) => {
      await onChunk(randomBytes(1000));
      isHanging = true;
      return new Promise(() => {});
    });
    const id = await receive(randomBytes(5000));
    await waitUntil(() => isHanging);
    // Ends the engine's grace period, which abandons a hanging job like a kill.
    await story.gateway.gateway.stop({ graceMs: 10 });
    fetchWith(downloadMedia);
    await story.restart();
    await resolved(id);
    expect((await stored()).filter((path) => path.includes("arriving"))).toEqual([]);
  });

  test("that is older than the pairing is fetched on request", async () => {
    const id = await receive(SAMPLE.pdf);
    const { id: media } = await resolved(id);
    await db().deleteFrom("media").where("id", "=", media).execute();
    const { data } = await story.sales.client.getMessage({ id: story.sales.id, messageId: id });
    expect(data.media).toMatchObject({ id: null, status: "remote", url: null });
    const { data: got } = await story.sales.client.downloadMedia({
      id: story.sales.id,
      message_id: id,
      return_base64: true,
    });
    expect(got).toMatchObject({ size: SAMPLE.pdf.length, base64: inBase64(SAMPLE.pdf) });
    await resolved(id);
  });
});

describe("a sent file", () => {
  test("moves into the store, and identical files are stored once", async () => {
    const { id, client } = story.sales;
    const bytes = Buffer.concat([SAMPLE.png, randomBytes(400_000)]);
    const sent = await Promise.all(
      ["5511977770001", "5511977770011", "5511977770021"].map((number) =>
        client.sendMedia({ id, number, file: { bytes, file_name: "a.png" }, async: true }),
      ),
    );
    const ids = sent.map(({ pendingMessageId = "" }) => pendingMessageId);
    await Promise.all([story.outcome(ids[0] ?? ""), story.outcome(ids[1] ?? "")]);
    const media = await Promise.all(ids.slice(1).map((message) => resolved(message)));
    expect(new Set(media.map(({ blob }) => blob)).size).toBe(1);
    await waitUntil(async () => (await story.rows()).files === 0);
    const download = await client.downloadMedia({ id, message_id: ids[1] ?? "" });
    expect(bytes.equals(download.bytes ?? Buffer.alloc(0))).toBe(true);
    const response = await get(pathOf(media[0]?.id ?? ""));
    expect(response.headers.get("content-disposition")).toBe("inline; filename=a.png");
  });

  test("is served whole if it moves into the store during the download", async () => {
    const { id, client } = story.sales;
    const bytes = Buffer.concat([SAMPLE.png, randomBytes(400_000)]);
    const file = { bytes, file_name: "a.png" };
    const waiting = { id, number: "5511977770031", file, async: true, delay: 9_000 };
    const { pendingMessageId = "" } = await client.sendMedia(waiting);
    const row = await db()
      .selectFrom("message")
      .select("id")
      .where("message_id", "=", pendingMessageId)
      .executeTakeFirstOrThrow();
    const deps = {
      db: db(),
      engine: story.gateway.gateway.engine,
      store: await openStore("reader"),
      readFromNode: async () => undefined,
      log: createLog("silent"),
    };
    const opened = await openFile(deps, { message: row.id }, new AbortController().signal);
    expect(opened.sha256).toBeNull();
    await story.gateway.advance(9_000);
    await resolved(pendingMessageId);
    const pieces: Buffer[] = [];
    for await (const piece of await opened.read()) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });
});

describe("a stored file", () => {
  test("that was altered aborts the download", async () => {
    const { id, blob } = await resolved(await receive(randomBytes(200_000)));
    await writeFile(await blobPath(blob), randomBytes(200_000));
    await expect(get(pathOf(id)).then((response) => response.arrayBuffer())).rejects.toThrow();
    await truncate(await blobPath(blob), 10);
    expect((await get(pathOf(id))).status).toBe(500);
  });

  test("is released on its node if the reader disconnects before the first byte", async () => {
    const { id } = await resolved(await receive(randomBytes(100)));
    const source = new Readable({ read() {} });
    const { engine } = story.gateway.gateway;
    const deps = {
      db: db(),
      engine: { wake: engine.wake, node: { ...engine.node, id: "reader" } },
      store: await openStore("reader"),
      readFromNode: async () => source,
      log: createLog("silent"),
    };
    const opened = await openFile(deps, { media: id }, new AbortController().signal);
    (await opened.read()).destroy();
    await expect.poll(() => source.destroyed).toBe(true);
  });

  test("can be downloaded by a signed link until the link expires, and by no other link", async () => {
    const bytes = randomBytes(100);
    const { id } = await resolved(await receive(bytes));
    const urls = createMediaUrls({ secretKey: SECRET_KEY, baseUrl: story.gateway.url });
    const good = await fetch(urls.create(id, 60));
    expect(Buffer.from(await good.arrayBuffer())).toEqual(bytes);
    const other = createMediaUrls({ secretKey: randomBytes(32).toString("hex"), baseUrl: story.gateway.url });
    const later = urls.create(id, 60).replace(/\/\d+\//, "/9999999999/");
    for (const bad of [urls.create(id, -1), other.create(id, 60), later, `${urls.create(id, 60)}x`]) {
      expect((await fetch(bad)).status).toBe(404);
    }
    const rotated = createMediaUrls({ secretKey: "new".repeat(16), secondKey: SECRET_KEY, baseUrl: "" });
    const [, mediaId = "", expires = "", signature = ""] =
      urls.create(id, 60).match(/media\/(.+)\/(\d+)\/(.+)$/) ?? [];
    expect(rotated.isGood(mediaId, expires, signature)).toBe(true);
  });

  test("is deleted after its retention, and only once no message refers to it", async () => {
    const { id, client } = story.sales;
    const bytes = randomBytes(3000);
    const [one, two] = [await receive(bytes), await receive(bytes)];
    const kept = await resolved(one);
    await resolved(two);
    const path = await blobPath(kept.blob);
    const age = (messageId: string, days: number) =>
      sql`update media set ready_at = now() - ${days} * interval '1 day'
        where message = (select id from message where message_id = ${messageId} limit 1)`.execute(db());
    const upkeep = async () => {
      await applyFileRetention(db(), 90 * DAY_MS);
      await sql`update blob set created_at = created_at - interval '2 hours'`.execute(db());
      await sweep();
    };

    await age(one, 91);
    await age(two, 89);
    await upkeep();
    expect(await mediaOf(one)).toMatchObject({ status: "expired", reason: "retention", blob: null });
    expect((await get(pathOf(kept.id))).status).toBe(410);
    expect((await mediaOf(two))?.status).toBe("ready");
    expect(await stored()).toContain(path);

    await client.updateInstance({ id, settings: { media_retention_days: 88 } });
    await upkeep();
    expect((await mediaOf(two))?.status).toBe("expired");
    expect(await stored()).not.toContain(path);
    await client.updateInstance({ id, settings: { media_retention_days: null } });

    const ofPlan = await resolved(await receive(Buffer.concat([bytes, Buffer.from("plan")])));
    await sql`update media set ready_at = now() - interval '8 days' where id = ${ofPlan.id}`.execute(db());
    const { owner } = story.gateway;
    const { data: plan } = await owner.createPlan({ name: "Week", features: { media_retention_days: 7 } });
    expect(plan.features).toEqual({ media_retention_days: 7 });
    const account = sql`(select account_id from instance where id = ${id})`;
    const { rows: before } = await sql<{ plan_id: number }>`
      select plan_id from account where id = ${account}`.execute(db());
    await sql`update account set plan_id = ${plan.id} where id = ${account}`.execute(db());
    await applyFileRetention(db(), 90 * DAY_MS);
    await sql`update account set plan_id = ${before[0]?.plan_id} where id = ${account}`.execute(db());
    const expired = await sql`select status from media where id = ${ofPlan.id}`.execute(db());
    expect(expired.rows).toEqual([{ status: "expired" }]);

    const again = await resolved(await receive(bytes));
    expect(await stored()).toContain(await blobPath(again.blob));
  });

  test("that is being deleted is not referenced again: the same file is stored again", async () => {
    const bytes = randomBytes(3000);
    const kept = await resolved(await receive(bytes));
    await sql`update media set blob = null, status = 'expired' where id = ${kept.id}`.execute(db());
    await sql`update blob set status = 'deleting' where id = ${kept.blob}`.execute(db());
    const again = await resolved(await receive(bytes));
    expect(again.blob).not.toBe(kept.blob);
    await sweep();
    const response = await get(pathOf(again.id));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });
});
