import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import { SEND_ERROR } from "./send-error.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});

afterAll(() => story.stop());

describe("the file of a waiting send", () => {
  const db = () => story.gateway.database.db;
  const filesLeft = async () => {
    const rows = await db().selectFrom("outgoing_media").select("id").distinct().execute();
    return rows.map(({ id }) => id);
  };
  const untilNoFiles = () => waitUntil(async () => (await filesLeft()).length === 0);
  const send = async (file: object) => {
    const { id, client } = story.sales;
    const media = { id, number: story.friend.phone, async: true, ...file };
    return (await client.sendMedia(media as never)).pendingMessageId ?? "";
  };
  const download = async (message_id: string, { id, client } = story.sales) =>
    Buffer.from((await client.downloadMedia({ id, message_id })).bytes ?? []);

  // Blocks all sends of the session until the restart.
  beforeEach(async () => {
    const { lane } = await db()
      .selectFrom("instance")
      .select("lane")
      .where("id", "=", story.sales.id)
      .executeTakeFirstOrThrow();
    story.gateway.gateway.engine.limitToGroups(lane, ["control"]);
  });

  test("is sent after a restart and deleted when the send has its outcome", async () => {
    const file = Buffer.alloc(700_000, "Waygate ");
    const messageId = await send({ file: { bytes: file, file_name: "a.bin" } });
    const parts = await db().selectFrom("outgoing_media").select("part").execute();
    expect(parts.map(({ part }) => part).toSorted()).toEqual([0, 1, 2]);
    await story.restart();
    expect((await story.outcome(messageId)).event).toBe("message.sent");
    await untilNoFiles();
    await story.arrived(messageId);
    expect(file.equals(await download(messageId, story.friend))).toBe(true);
  });

  test("can be downloaded however long it waits, and files without a send are deleted", async () => {
    const messageId = await send({ base64: inBase64(SAMPLE.png) });
    expect(await download(messageId)).toEqual(SAMPLE.png);
    const [waiting = ""] = await filesLeft();
    const part = { account_id: 1, part: 0, bytes: SAMPLE.png };
    await db()
      .insertInto("outgoing_media")
      .values([
        { id: "upl_orphan", ...part },
        { id: "upl_arriving", ...part },
      ])
      .execute();
    await sql`update outgoing_media set created_at = now() - interval '2 hours' where id <> 'upl_arriving'`.execute(
      db(),
    );
    await story.gateway.advance(3_600_000);
    await waitUntil(async () => !(await filesLeft()).includes("upl_orphan"));
    expect((await filesLeft()).toSorted()).toEqual([waiting, "upl_arriving"].toSorted());
    await db().deleteFrom("outgoing_media").where("id", "=", "upl_arriving").execute();
    await story.restart();
    await story.outcome(messageId);
    await untilNoFiles();
  });

  test("fails the send if it is missing when it is needed", async () => {
    const messageId = await send({ base64: inBase64(SAMPLE.png) });
    await db().deleteFrom("outgoing_media").execute();
    await story.restart();
    expect((await story.outcome(messageId)).data.error).toEqual(SEND_ERROR.fileGone);
  });
});
