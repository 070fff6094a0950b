import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";

const ANA = "5511977771234";
const BIA = "5511966661234";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
  for (const { id, client } of [story.sales, story.friend])
    await client.updateDefaultWebhook({ id, events: ["message.*", "message.pinned", "message.starred"] });
});
afterAll(() => story.stop());

const sales = () => ({ id: story.sales.id });
const client = () => story.sales.client;
const conflict = (reason: string) => ({ code: "CONFLICT", status: 409, details: { reason } });
const logged = async (messageId: string) => (await client().getMessage({ ...sales(), messageId })).data;

/** The shop's text to its friend, once it has arrived there. */
async function tell(text = "Hello"): Promise<string> {
  const { data } = await client().sendText({ ...sales(), number: story.friend.phone, text });
  const id = data.message_id ?? "";
  await story.arrived(id);
  return id;
}

async function friendHears(event: string, id: string) {
  const [found] = await story.receiver.waitFor(
    ({ body }) => body.instance.id === story.friend.id && body.event === event && body.data.message_id === id,
  );
  return found?.body.data;
}

/** Ana's message in a group that she has made, as the shop has received it. */
async function hearInGroup(input: { admin?: boolean } = {}): Promise<{ jid: string; message_id: string }> {
  const { data: group } = await client().sandboxGroup({
    ...sales(),
    from: ANA,
    subject: "Team",
    participants: [BIA],
    ...input,
  });
  const said = { ...sales(), from: ANA, group_jid: group.jid, text: "Who comes?" };
  const { message_id } = (await client().sandboxReceive(said)).data;
  await story.event("message.received", message_id);
  // The members are known once the group has been read.
  await client().getGroup({ ...sales(), jid: group.jid });
  return { jid: group.jid, message_id };
}

/** What the gateway has queued for the network so far. */
const queued = async () =>
  Number((await story.gateway.database.pool.query("select count(*) from action")).rows[0].count);

/** Rejects as expected, and nothing was queued. */
async function refusedAtOnce(act: () => Promise<unknown>, expected: object): Promise<void> {
  const before = await queued();
  await expect(act()).rejects.toMatchObject(expected);
  expect(await queued()).toBe(before);
}

describe("a deletion", () => {
  const remove = (message_id: string, more = {}) =>
    client().deleteMessage({ ...sales(), message_id, ...more });

  test("by an admin of the group takes what another member wrote, and members without that role are refused", async () => {
    const { jid, message_id } = await hearInGroup({ admin: true });
    expect((await remove(message_id)).data).toEqual({ message_id, jid, status: "deleted" });
    const event = await story.event("message.deleted", message_id);
    expect(event.data).toMatchObject({ by: { phone: story.sales.phone }, message: { from_me: false } });
    const other = await hearInGroup();
    await refusedAtOnce(() => remove(other.message_id), conflict("not_admin"));
  });

  test("on the phone only leaves the message to everyone else and in the log", async () => {
    const { message_id } = await hearInGroup();
    const { data } = await remove(message_id, { for_everyone: false });
    expect(data).toMatchObject({ message_id, status: "deleted" });
    expect(await story.ledger({ action: "delete_for_me", target_id: message_id })).toHaveLength(1);
    expect(await logged(message_id)).toMatchObject({ text: "Who comes?", deleted_at: null });
    await refusedAtOnce(() => remove("3EB0000000000000000000", { for_everyone: false, number: ANA }), {
      code: "MESSAGE_NOT_FOUND",
      status: 404,
    });
  });
});

describe("a forward", () => {
  const forward = async (message_id: string, more = {}) =>
    (await client().forwardMessage({ ...sales(), message_id, number: story.friend.phone, ...more })).data
      .message_id ?? "";

  test("is a message of its own without the quote, and each time counts one more", async () => {
    const first = await hearInGroup();
    const reply = { ...sales(), from: ANA, group_jid: first.jid, text: "I do", reply_to: first.message_id };
    const { message_id } = (await client().sandboxReceive(reply)).data;
    await story.event("message.received", message_id);
    const id = await forward(message_id);
    const shown = { text: "I do", quoted: null, is_forwarded: true, forwarding_score: 1 };
    expect(await story.arrived(id)).toMatchObject(shown);
    expect(await logged(id)).toMatchObject({ ...shown, jid: `${story.friend.phone}@s.whatsapp.net` });
    expect(await story.arrived(await forward(id))).toMatchObject({ forwarding_score: 2 });
  });

  test("sends a received file without storing it for an upload", async () => {
    const media = {
      base64: inBase64(SAMPLE.png),
      file_name: "menu.png",
      caption: "Today",
      type: "image" as const,
    };
    const { message_id } = (await client().sandboxReceive({ ...sales(), from: ANA, media })).data;
    await story.event("message.received", message_id);
    const { files } = await story.rows();
    const id = await forward(message_id);
    expect((await story.rows()).files).toBe(files);
    expect(await story.arrived(id)).toMatchObject({ type: "image", caption: "Today", is_forwarded: true });
    const { friend } = story;
    const { bytes } = await friend.client.downloadMedia({ id: friend.id, message_id: id });
    expect(SAMPLE.png.equals(bytes ?? Buffer.alloc(0))).toBe(true);
    expect((await logged(id)).media).toMatchObject({ status: "remote", size: SAMPLE.png.length });
  });

  test("sends a file from the gateway's own store if the network's reference is not known", async () => {
    const media = { base64: inBase64(SAMPLE.png) };
    const { message_id } = (await client().sandboxReceive({ ...sales(), from: ANA, media })).data;
    await story.event("message.received", message_id);
    await client().downloadMedia({ ...sales(), message_id });
    const { pool } = story.gateway.database;
    await pool.query("update message set content = content - 'ref' where message_id = $1", [message_id]);
    const id = await forward(message_id);
    await story.arrived(id);
    const { friend } = story;
    const { bytes } = await friend.client.downloadMedia({ id: friend.id, message_id: id });
    expect(SAMPLE.png.equals(bytes ?? Buffer.alloc(0))).toBe(true);
  });

  test("is refused for what the log does not have, and for what cannot be forwarded", async () => {
    const isRefused = async (message_id: string, expected: object) => {
      const { messages } = await story.rows();
      await expect(forward(message_id)).rejects.toMatchObject(expected);
      expect((await story.rows()).messages).toBe(messages);
    };
    await isRefused("3EB0000000000000000000", { code: "MESSAGE_NOT_FOUND", status: 404 });
    const unsupported = { kind: "event", reason: "unknown_kind" } as const;
    const { message_id } = (await client().sandboxReceive({ ...sales(), from: ANA, unsupported })).data;
    await story.event("message.received", message_id);
    await isRefused(message_id, conflict("not_forwardable"));
    const gone = await tell();
    await client().deleteMessage({ ...sales(), message_id: gone });
    await isRefused(gone, conflict("deleted"));
  });

  test("may be said of a text that no message of the log has", async () => {
    const { data } = await client().sendText({
      ...sales(),
      number: story.friend.phone,
      text: "Passed on",
      forwarded: true,
    });
    expect(await story.arrived(data.message_id ?? "")).toMatchObject({ forwarding_score: 1 });
  });
});

describe("a star", () => {
  const star = (message_id: string, more = {}) => client().starMessage({ ...sales(), message_id, ...more });

  test("is shown in the log until it is removed, and reported once", async () => {
    const { message_id } = await hearInGroup();
    expect((await star(message_id)).data.status).toBe("starred");
    await star(message_id);
    expect((await logged(message_id)).starred).toBe(true);
    expect((await star(message_id, { starred: false })).data.status).toBe("unstarred");
    expect((await logged(message_id)).starred).toBe(false);
    await star(await tell());
    const told = story.receiver.received.filter(({ body }) => body.event === "message.starred");
    const about = told.filter(({ body }) => body.data.message_id === message_id);
    expect(about.map(({ body }) => body.data.starred)).toEqual([true, false]);
  });

  test("is refused for a message that is not in the log", async () => {
    const act = () => star("3EB0000000000000000000", { number: ANA });
    await refusedAtOnce(act, { code: "MESSAGE_NOT_FOUND", status: 404 });
  });
});

describe("a pin", () => {
  const pin = (message_id: string, more = {}) => client().pinMessage({ ...sales(), message_id, ...more });

  test("is shown with its end to both sides, and removed again", async () => {
    const id = await tell();
    const { data } = await pin(id, { seconds: 86_400 });
    expect(data).toMatchObject({ message_id: id, status: "pinned" });
    const { data: event } = await story.event("message.pinned", id);
    expect(event).toMatchObject({
      pinned: true,
      by: { phone: story.sales.phone },
      message: { message_id: id },
    });
    expect(Date.parse(event.pinned_until) - Date.parse(event.at)).toBe(86_400_000);
    expect(await friendHears("message.pinned", id)).toMatchObject({ pinned: true });
    expect((await logged(id)).pinned_until).toBe(event.pinned_until);
    expect((await pin(id, { pinned: false })).data.status).toBe("unpinned");
    expect((await logged(id)).pinned_until).toBeNull();
  });

  test("ends by itself", async () => {
    const id = await tell();
    await pin(id);
    const earlier = `{"at":"2026-01-01T00:00:00.000Z","seconds":86400}`;
    await story.gateway.database.pool.query(
      "update message set content = jsonb_set(content, '{pin}', $2) where message_id = $1",
      [id, earlier],
    );
    expect((await logged(id)).pinned_until).toBeNull();
  });

  test("is refused for another time, for a message that is not in the log, and to a member of a locked group", async () => {
    const id = await tell();
    await refusedAtOnce(() => pin(id, { seconds: 3600 }), {
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "seconds", code: "unknown_value" }] },
    });
    const unknown = { code: "MESSAGE_NOT_FOUND", status: 404 };
    await refusedAtOnce(() => pin("3EB0000000000000000000", { number: story.friend.phone }), unknown);
    const { friend } = story;
    const theirs = await friend.client.sendText({ id: friend.id, number: BIA, text: "Hi" });
    await refusedAtOnce(() => pin(theirs.data.message_id ?? ""), unknown);
    const { jid, message_id } = await hearInGroup();
    expect((await pin(message_id)).data.jid).toBe(jid);
    await client().sandboxGroupSettings({ ...sales(), from: ANA, group_jid: jid, locked: true });
    await waitUntil(async () => (await client().getGroup({ ...sales(), jid })).data.locked);
    await refusedAtOnce(() => pin(message_id), conflict("not_admin"));
  });
});
