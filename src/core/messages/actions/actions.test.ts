import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { type MessagingStory, startMessagingStory } from "../../../../test/stories/messaging-story.ts";
import { SandboxSession } from "../../../network/sandbox/sandbox-session.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});

afterAll(() => story.stop());

afterEach(() => {
  vi.restoreAllMocks();
});

const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

/** A text from the shop that its friend has received. */
async function sendToFriend(text = "Hello"): Promise<string> {
  const { sales, friend } = story;
  const { data } = await sales.client.sendText({ id: sales.id, number: friend.phone, text });
  const id = data.message_id ?? "";
  await story.arrived(id);
  return id;
}

/** A text from the friend that the shop has received. */
async function receiveFromFriend(text = "Hi"): Promise<string> {
  const { sales, friend } = story;
  const { data } = await friend.client.sendText({ id: friend.id, number: sales.phone, text });
  const id = data.message_id ?? "";
  await story.event("message.received", id);
  return id;
}

async function friendHears(event: string, id: string) {
  const isAbout = (data: { message_id?: string; message_ids?: string[] }) =>
    data.message_id === id || data.message_ids?.includes(id) === true;
  const [found] = await story.receiver.waitFor(
    ({ body }) => body.instance.id === story.friend.id && body.event === event && isAbout(body.data),
  );
  return found?.body.data;
}

const timesReported = (event: string, id: string) =>
  story.receiver.received.filter(
    ({ body }) =>
      body.event === event &&
      body.instance.id === story.sales.id &&
      (body.data.message_id === id || body.data.message_ids?.includes(id)),
  ).length;

const sales = () => ({ id: story.sales.id });
const client = () => story.sales.client;
const react = (message_id: string, reaction = "👍", more = {}) =>
  client().react({ ...sales(), message_id, reaction, ...more });
const edit = (message_id: string, text = "New", more = {}) =>
  client().editMessage({ ...sales(), message_id, text, ...more });
const remove = (message_id: string, more = {}) => client().deleteMessage({ ...sales(), message_id, ...more });
const markRead = (message_id: string, more = {}) => client().markRead({ ...sales(), message_id, ...more });
const conflict = (reason: string) => ({ code: "CONFLICT", status: 409, details: { reason } });
const invalid = (field: string) => ({ code: "VALIDATION_ERROR", details: { fields: [{ field }] } });
/** Message id of a refused send. */
const refusedSend = (sending: Promise<unknown>): Promise<string> =>
  sending.then(
    () => expect.fail("The send was accepted."),
    (error: { details: { message_id: string } }) => error.details.message_id,
  );
const logged = async (messageId: string) => (await client().getMessage({ ...sales(), messageId })).data;

describe("a reaction", () => {
  test.each(["to a message of the contact", "to our own"])(
    "%s needs no chat and is reported to sender and recipient",
    async (whose) => {
      const id = whose === "to our own" ? await sendToFriend() : await receiveFromFriend();
      const { data, message } = await react(id);
      expect({ data, message }).toEqual({
        data: { message_id: id, jid: jidOf(story.friend.phone), status: "sent" },
        message: "Reaction sent",
      });
      expect((await story.event("message.reaction", id)).data).toMatchObject({
        message_id: id,
        reaction: "👍",
        removed: false,
        sender: { phone: story.sales.phone },
        message: { message_id: id, from_me: whose === "to our own" },
        conversation: { phone: story.friend.phone },
      });
      expect(await friendHears("message.reaction", id)).toMatchObject({
        reaction: "👍",
        sender: { phone: story.sales.phone },
      });
    },
  );

  test("that is empty removes the previous one", async () => {
    const id = await sendToFriend();
    await react(id, "");
    expect((await story.event("message.reaction", id)).data).toMatchObject({ reaction: "", removed: true });
  });

  test("may be any single emoji", async () => {
    const message_id = await sendToFriend();
    for (const reaction of ["👍", "❤️", "👨‍👩‍👧‍👦", "🇧🇷", "1️⃣", "👍🏽"])
      expect((await react(message_id, reaction)).success).toBe(true);
  });

  test("that is no single emoji is rejected", async () => {
    const message_id = await sendToFriend();
    const wrong = ["👍".repeat(10), "👍👎", "ok", "7", "1\u0301", "#", " ", "👍 ", `e${"\u0301".repeat(40)}`];
    for (const reaction of wrong)
      await expect(react(message_id, reaction)).rejects.toMatchObject(invalid("reaction"));
    expect(await story.ledger({ action: "react", target_id: message_id })).toEqual([]);
  });
});

describe("a read mark", () => {
  test("is reported to the sender and, once, to the instance's own webhook as inbound", async () => {
    const ids = [await receiveFromFriend("one"), await receiveFromFriend("two")];
    const response = await client().markRead({ ...sales(), message_ids: ids });
    expect(response.data).toEqual({
      message_id: ids[0],
      message_ids: ids,
      jid: jidOf(story.friend.phone),
      status: "read",
    });
    const event = await story.event("message.read", ids[1] ?? "");
    expect(event.data).toMatchObject({
      message_ids: ids,
      direction: "inbound",
      jid: jidOf(story.friend.phone),
      at: expect.stringMatching(/Z$/),
      message: { status: "received" },
    });
    expect(await friendHears("message.read", ids[0] ?? "")).toMatchObject({ direction: "outbound" });
    await markRead(ids[0] ?? "");
    await markRead(await receiveFromFriend("three"));
    expect(timesReported("message.read", ids[0] ?? "")).toBe(1);
  });

  test("marks messages of one chat only", async () => {
    const { data } = await client().sandboxReceive({ ...sales(), from: "5511966660001", text: "Oi" });
    const other = (await story.event("message.received", data.message_id)).data.message.message_id;
    const reading = client().markRead({ ...sales(), message_ids: [await receiveFromFriend(), other] });
    await expect(reading).rejects.toMatchObject(invalid("message_ids"));
  });

  test("also as played is reported to the sender of a voice note, and refused for a text", async () => {
    const { friend, sales: seller } = story;
    const file = { base64: inBase64(SAMPLE.opus), ptt: true };
    const { data } = await friend.client.sendMedia({ id: friend.id, number: seller.phone, ...file });
    const note = data.message_id ?? "";
    await story.event("message.received", note);
    expect((await markRead(note, { played: true })).data.status).toBe("played");
    expect(await friendHears("message.read", note)).toMatchObject({ message: { status: "played" } });
    await expect(markRead(await receiveFromFriend(), { played: true })).rejects.toMatchObject(
      conflict("not_playable"),
    );
  });

  test("without a message is rejected", async () => {
    await expect(client().markRead(sales())).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("an edit", () => {
  test("changes the text for the recipient, in the log and in the event", async () => {
    const id = await sendToFriend("Helo");
    const { data } = await edit(id, "Hello");
    expect(data).toEqual({ message_id: id, jid: jidOf(story.friend.phone), status: "edited" });
    expect((await story.event("message.edited", id)).data).toMatchObject({
      message_id: id,
      text: "Hello",
      by: { phone: story.sales.phone },
      message: { text: "Hello", from_me: true },
    });
    expect(await friendHears("message.edited", id)).toMatchObject({
      text: "Hello",
      message: { text: "Hello" },
    });
    expect((await logged(id)).text).toBe("Hello");
  });

  test.each([
    ["image", "png"],
    ["video", "mp4"],
    ["document", "pdf"],
  ] as const)(
    "of an own %s changes its caption for the recipient, in the log and in the event",
    async (type, file) => {
      const sent = {
        ...sales(),
        number: story.friend.phone,
        base64: inBase64(SAMPLE[file]),
        caption: "Helo",
      };
      const id = (await client().sendMedia(sent)).data.message_id ?? "";
      await story.arrived(id);
      const { data } = await client().editMessage({ ...sales(), message_id: id, caption: "Hello" } as never);
      expect(data).toMatchObject({ message_id: id, status: "edited" });
      expect((await story.event("message.edited", id)).data.message).toMatchObject({
        type,
        caption: "Hello",
      });
      expect((await friendHears("message.edited", id)).message).toMatchObject({ type, caption: "Hello" });
      expect(await logged(id)).toMatchObject({ caption: "Hello", edited_at: expect.any(String) });
    },
  );

  test("of another person's message is rejected with 409 and has no effect", async () => {
    const id = await receiveFromFriend("Mine");
    await expect(edit(id, "Yours")).rejects.toMatchObject(conflict("not_own"));
    expect(await story.ledger({ action: "edit", target_id: id })).toEqual([]);
    expect(await logged(id)).toMatchObject({ text: "Mine", edited_at: null, deleted_at: null });
  });
});

describe("a deletion for everyone", () => {
  test("deletes the message for the recipient, and later actions on it are rejected", async () => {
    const id = await sendToFriend();
    const { data } = await remove(id);
    expect(data.status).toBe("deleted");
    expect((await logged(id)).deleted_at).toEqual(expect.any(String));
    expect((await story.event("message.deleted", id)).data).toMatchObject({
      message_id: id,
      by: { phone: story.sales.phone },
    });
    expect(await friendHears("message.deleted", id)).toMatchObject({ by: { phone: story.sales.phone } });
    for (const act of [remove, edit, react]) await expect(act(id)).rejects.toMatchObject(conflict("deleted"));
  });

  test("of another person's message is rejected with 409", async () => {
    await expect(remove(await receiveFromFriend())).rejects.toMatchObject(conflict("not_own"));
  });
});

describe("an action that WhatsApp allows only for a limited time", () => {
  const age = (id: string, minutes: number) =>
    story.gateway.database.db
      .updateTable("message")
      .set({ sent_at: sql<Date>`sent_at - ${minutes} * interval '1 minute'` })
      .where("message_id", "=", id)
      .execute();

  test.each([
    ["edit", 14, true],
    ["edit", 16, false],
    ["delete", 59 * 60, true],
    ["delete", 61 * 60, false],
  ] as const)("%s after %d minutes succeeds: %j", async (action, minutes, isAllowed) => {
    const id = await sendToFriend();
    await age(id, minutes);
    const acting = action === "edit" ? edit(id) : remove(id);
    if (isAllowed) await expect(acting).resolves.toMatchObject({ success: true });
    else await expect(acting).rejects.toMatchObject(conflict("too_late"));
  });

  test("is rejected for a message that was not sent, and an edit for what has neither text nor caption", async () => {
    const to = (number: string) => ({ ...sales(), number });
    const failed = await refusedSend(client().sendText({ ...to("5511955550001"), text: "x" }));
    await expect(edit(failed)).rejects.toMatchObject(conflict("not_sent"));
    const place = { ...to("5511955550009"), latitude: 1, longitude: 1 };
    const note = { ...to("5511955550009"), base64: inBase64(SAMPLE.opus), ptt: true };
    for (const { data } of [await client().sendLocation(place), await client().sendMedia(note)])
      await expect(edit(data.message_id ?? "")).rejects.toMatchObject(conflict("not_text"));
  });

  test("returns the network's reason if the network itself rejects it", async () => {
    vi.spyOn(SandboxSession.prototype, "edit").mockResolvedValue({
      outcome: "refused",
      code: "CONFLICT",
      why: "refused",
      reason: "The message is too old.",
      retryable: false,
    });
    const id = await sendToFriend();
    const refusal = { code: "CONFLICT", status: 409, message: "The message is too old." };
    await expect(edit(id)).rejects.toMatchObject(refusal);
    expect((await logged(id)).text).toBe("Hello");
  });
});

describe("the chat named in an action on a message of the log", () => {
  test("is rejected if the message is in another chat, and nothing is changed", async () => {
    const id = await sendToFriend();
    const elsewhere = { number: "5511955550009" };
    const theirs = await receiveFromFriend();
    for (const act of [
      () => react(id, "👍", elsewhere),
      () => edit(id, "x", elsewhere),
      () => remove(id, elsewhere),
      () => markRead(theirs, elsewhere),
    ])
      await expect(act()).rejects.toMatchObject(invalid("number"));
    for (const action of ["react", "edit", "delete"])
      expect(await story.ledger({ action, target_id: id })).toEqual([]);
  });

  test("may be named in the other format of its number", async () => {
    const number = "5541987650007";
    const { data } = await client().sendText({ ...sales(), number, text: "Hi" });
    const response = await react(data.message_id ?? "", "👍", { number: "554187650007" });
    expect(response.data.jid).toBe("554187650007@s.whatsapp.net");
  });
});

test("a message sent by the instance cannot be marked as read, and its chat gets no receipt", async () => {
  const id = await sendToFriend();
  await expect(markRead(id)).rejects.toMatchObject(conflict("own"));
  expect(timesReported("message.read", id)).toBe(0);
});

describe("an action on a message that is not in the log", () => {
  test("requires the chat", async () => {
    const refusal = { code: "MESSAGE_NOT_FOUND", status: 404 };
    for (const act of [react, markRead, edit, remove])
      await expect(act("3EB0SOMEWHERE")).rejects.toMatchObject(refusal);
  });

  test("is passed to the network with its chat and is still reported", async () => {
    const [id, chat] = ["3EB0ELSEWHERE", { number: story.friend.phone }];
    expect((await react(id, "👍", chat)).data.jid).toBe(jidOf(story.friend.phone));
    expect((await story.event("message.reaction", id)).data).toMatchObject({ reaction: "👍" });
    expect((await edit(id, "x", chat)).success).toBe(true);
    expect((await markRead(id, chat)).success).toBe(true);
    expect((await remove(id, chat)).success).toBe(true);
  });
});

describe("a session that lacks a capability", () => {
  const CAPABILITIES = ["react", "edit", "deleteForEveryone", "markRead", "setPresence"] as const;

  test.each(CAPABILITIES)("rejects %s with NOT_SUPPORTED at once", async (capability) => {
    const [own, theirs] = [await sendToFriend(), await receiveFromFriend()];
    const acts = {
      react: () => react(own),
      edit: () => edit(own),
      deleteForEveryone: () => remove(own),
      markRead: () => markRead(theirs),
      setPresence: () => client().setPresence({ ...sales(), number: story.friend.phone, presence: "typing" }),
    };
    const had = SandboxSession.prototype[capability];
    Object.assign(SandboxSession.prototype, { [capability]: undefined });
    try {
      await expect(acts[capability]()).rejects.toMatchObject({ code: "NOT_SUPPORTED", status: 501 });
    } finally {
      Object.assign(SandboxSession.prototype, { [capability]: had });
    }
  });
});

test("an action on an instance that is not connected returns 409 with its status", async () => {
  const idle = await story.gateway.createInstance();
  const target = { id: idle.id, number: story.friend.phone, message_id: "3EB0X" };
  const refusal = { code: "INSTANCE_NOT_CONNECTED", status: 409, details: { status: "created" } };
  await expect(idle.client.react({ ...target, reaction: "👍" })).rejects.toMatchObject(refusal);
  await expect(
    idle.client.setPresence({ id: idle.id, number: story.friend.phone, presence: "typing" }),
  ).rejects.toMatchObject(refusal);
});

describe("a presence request", () => {
  test("with a duration sends paused by itself before the response", async () => {
    const number = "5511977770123";
    await client().setPresence({ ...sales(), number, presence: "recording", duration_ms: 100 });
    const seen = await story.ledger({ action: "presence", chat: jidOf(number) });
    expect(seen.map(({ kind }) => kind)).toEqual(["recording", "paused"]);
  });

  test("for a chat requires the chat", async () => {
    const request = client().setPresence({ ...sales(), presence: "typing" });
    await expect(request).rejects.toMatchObject(invalid("number"));
  });
});

describe("a download", () => {
  const receive = async (media: { base64: string; mime_type?: string; file_name?: string }) => {
    const { data } = await client().sandboxReceive({ ...sales(), from: "5511966660003", media });
    await story.event("message.received", data.message_id);
    return data.message_id;
  };
  const tryDownload = (message_id: string) => client().downloadMedia({ ...sales(), message_id });
  const download = (message_id: string) =>
    fetch(`${story.gateway.url}/api/v1/instances/${story.sales.id}/messages/download`, {
      method: "POST",
      headers: { "x-api-key": story.sales.api_key, "content-type": "application/json" },
      body: JSON.stringify({ message_id }),
    });

  test.each([
    ["image/png", "photo.png", "png", `inline; filename=photo.png`],
    ["image/svg+xml", "drawing.svg", "svg", `attachment; filename=drawing.svg`],
    [
      "application/pdf",
      "Proposta nº 1 — ação.pdf",
      "pdf",
      `attachment; filename*=UTF-8''Proposta%20n%C2%BA%201%20%E2%80%94%20a%C3%A7%C3%A3o.pdf`,
    ],
    ["audio/ogg; codecs=opus", undefined, "opus", `inline; filename=file.ogg`],
    [
      "application/pdf",
      `a"b\r\nSet-Cookie: x=y.pdf`,
      "pdf",
      `attachment; filename="a\\"b Set-Cookie: x=y.pdf"`,
    ],
  ] as const)(
    "of %s returns the bytes with safe headers: %s",
    async (mime_type, file_name, sample, disposition) => {
      const id = await receive({
        base64: inBase64(SAMPLE[sample]),
        mime_type,
        ...(file_name && { file_name }),
      });
      const response = await download(id);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(SAMPLE[sample]);
      expect(response.headers.get("content-type")?.split("; charset")[0]).toBe(mime_type);
      const said = response.headers.get("content-disposition") ?? "";
      expect(said.replace(/filename="[^"]*"; (?=filename\*)/, "")).toContain(disposition);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("content-security-policy")).toContain("sandbox");
      expect(response.headers.get("set-cookie")).toBeNull();
    },
  );

  test("of an unknown message returns 404, and of a text 400", async () => {
    const [unknown, text] = ["3EB0NOPE", await receiveFromFriend()];
    await expect(tryDownload(unknown)).rejects.toMatchObject({ code: "MESSAGE_NOT_FOUND", status: 404 });
    await expect(tryDownload(text)).rejects.toMatchObject({ code: "VALIDATION_ERROR", status: 400 });
  });

  test("of a failed send returns an error without waiting", async () => {
    const photo = { ...sales(), number: "5511955550001", base64: inBase64(SAMPLE.png) };
    const id = await refusedSend(client().sendMedia(photo));
    await expect(tryDownload(id)).rejects.toMatchObject({ code: "MEDIA_EXPIRED" });
  });
});
