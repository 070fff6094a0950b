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

/** The shop's text to its friend, once it has arrived there. */
async function tell(text = "Hello"): Promise<string> {
  const { sales, friend } = story;
  const { data } = await sales.client.sendText({ id: sales.id, number: friend.phone, text });
  const id = data.message_id ?? "";
  await story.arrived(id);
  return id;
}

/** The friend's text to the shop, once it has arrived there. */
async function hear(text = "Hi"): Promise<string> {
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

const timesTold = (event: string, id: string) =>
  story.receiver.received.filter(
    ({ body }) =>
      body.event === event &&
      body.instance.id === story.sales.id &&
      (body.data.message_id === id || body.data.message_ids?.includes(id)),
  ).length;

const sales = () => ({ id: story.sales.id });
const client = () => story.sales.client;
const logged = async (messageId: string) => (await client().getMessage({ ...sales(), messageId })).data;

describe("a reaction", () => {
  test.each(["to a message of the contact", "to our own"])(
    "%s needs no chat and is reported to sender and recipient",
    async (whose) => {
      const id = whose === "to our own" ? await tell() : await hear();
      const { data, message } = await client().react({ ...sales(), message_id: id, reaction: "👍" });
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
    const id = await tell();
    await client().react({ ...sales(), message_id: id, reaction: "" });
    expect((await story.event("message.reaction", id)).data).toMatchObject({ reaction: "", removed: true });
  });

  test("may be any single emoji", async () => {
    const message_id = await tell();
    for (const reaction of ["👍", "❤️", "👨‍👩‍👧‍👦", "🇧🇷", "1️⃣", "👍🏽"])
      expect((await client().react({ ...sales(), message_id, reaction })).success).toBe(true);
  });

  test("that is no single emoji is rejected", async () => {
    const message_id = await tell();
    const wrong = ["👍".repeat(10), "👍👎", "ok", "7", "1\u0301", "#", " ", "👍 ", `e${"\u0301".repeat(40)}`];
    for (const reaction of wrong)
      await expect(client().react({ ...sales(), message_id, reaction })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ field: "reaction" }] },
      });
    expect(await story.ledger({ action: "react", target_id: message_id })).toEqual([]);
  });
});

describe("a read mark", () => {
  test("is reported to the sender and, once, to the instance's own webhook as inbound", async () => {
    const ids = [await hear("one"), await hear("two")];
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
    await client().markRead({ ...sales(), message_id: ids[0] });
    await client().markRead({ ...sales(), message_id: await hear("three") });
    expect(timesTold("message.read", ids[0] ?? "")).toBe(1);
  });

  test("marks messages of one chat only", async () => {
    const { data } = await client().sandboxReceive({ ...sales(), from: "5511966660001", text: "Oi" });
    const other = (await story.event("message.received", data.message_id)).data.message.message_id;
    await expect(client().markRead({ ...sales(), message_ids: [await hear(), other] })).rejects.toMatchObject(
      { code: "VALIDATION_ERROR", details: { fields: [{ field: "message_ids" }] } },
    );
  });

  test("without a message is rejected", async () => {
    await expect(client().markRead(sales())).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("an edit", () => {
  test("changes the text for the recipient, in the log and in the event", async () => {
    const id = await tell("Helo");
    const { data } = await client().editMessage({ ...sales(), message_id: id, text: "Hello" });
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

  test("of a voice note is rejected because it has no caption", async () => {
    const note = { ...sales(), number: story.friend.phone, base64: inBase64(SAMPLE.opus), ptt: true };
    const { data } = await client().sendMedia(note);
    await expect(
      client().editMessage({ ...sales(), message_id: data.message_id ?? "", text: "y" }),
    ).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "not_text" } });
  });

  test("of another person's message is rejected with 409 and has no effect", async () => {
    const id = await hear("Mine");
    await expect(client().editMessage({ ...sales(), message_id: id, text: "Yours" })).rejects.toMatchObject({
      code: "CONFLICT",
      status: 409,
      details: { reason: "not_own" },
    });
    expect(await story.ledger({ action: "edit", target_id: id })).toEqual([]);
    expect(await logged(id)).toMatchObject({ text: "Mine", edited_at: null, deleted_at: null });
  });
});

describe("a deletion for everyone", () => {
  test("deletes the message for the recipient, and later actions on it are rejected", async () => {
    const id = await tell();
    const { data } = await client().deleteMessage({ ...sales(), message_id: id });
    expect(data.status).toBe("deleted");
    expect((await logged(id)).deleted_at).toEqual(expect.any(String));
    expect((await story.event("message.deleted", id)).data).toMatchObject({
      message_id: id,
      by: { phone: story.sales.phone },
    });
    expect(await friendHears("message.deleted", id)).toMatchObject({ by: { phone: story.sales.phone } });
    const gone = { code: "CONFLICT", details: { reason: "deleted" } };
    await expect(client().deleteMessage({ ...sales(), message_id: id })).rejects.toMatchObject(gone);
    await expect(client().editMessage({ ...sales(), message_id: id, text: "x" })).rejects.toMatchObject(gone);
    await expect(client().react({ ...sales(), message_id: id, reaction: "👍" })).rejects.toMatchObject(gone);
  });

  test("of another person's message is rejected with 409", async () => {
    await expect(client().deleteMessage({ ...sales(), message_id: await hear() })).rejects.toMatchObject({
      code: "CONFLICT",
      details: { reason: "not_own" },
    });
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
    const id = await tell();
    await age(id, minutes);
    const acting =
      action === "edit"
        ? client().editMessage({ ...sales(), message_id: id, text: "New" })
        : client().deleteMessage({ ...sales(), message_id: id });
    if (isAllowed) await expect(acting).resolves.toMatchObject({ success: true });
    else await expect(acting).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "too_late" } });
  });

  test("is rejected for a message that was not sent and for one that is not a text", async () => {
    const failed = await client()
      .sendText({ ...sales(), number: "5511955550001", text: "x" })
      .catch((error: { details: { message_id: string } }) => error.details.message_id);
    await expect(
      client().editMessage({ ...sales(), message_id: String(failed), text: "y" }),
    ).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "not_sent" } });
    const { data } = await client().sendLocation({
      ...sales(),
      number: "5511955550009",
      latitude: 1,
      longitude: 1,
    });
    await expect(
      client().editMessage({ ...sales(), message_id: data.message_id ?? "", text: "y" }),
    ).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "not_text" } });
  });

  test("returns the network's reason if the network itself rejects it", async () => {
    vi.spyOn(SandboxSession.prototype, "edit").mockResolvedValue({
      outcome: "refused",
      code: "CONFLICT",
      reason: "The message is too old.",
      retryable: false,
    });
    const id = await tell();
    await expect(client().editMessage({ ...sales(), message_id: id, text: "y" })).rejects.toMatchObject({
      code: "CONFLICT",
      status: 409,
      message: "The message is too old.",
    });
    expect((await logged(id)).text).toBe("Hello");
  });
});

describe("the chat named in an action on a message of the log", () => {
  test("is rejected if the message is in another chat, and nothing is changed", async () => {
    const id = await tell();
    const elsewhere = { ...sales(), message_id: id, number: "5511955550009" };
    const refusal = { code: "VALIDATION_ERROR", details: { fields: [{ field: "number" }] } };
    await expect(client().react({ ...elsewhere, reaction: "👍" })).rejects.toMatchObject(refusal);
    await expect(client().editMessage({ ...elsewhere, text: "x" })).rejects.toMatchObject(refusal);
    await expect(client().deleteMessage(elsewhere)).rejects.toMatchObject(refusal);
    await expect(
      client().markRead({ ...sales(), message_id: await hear(), number: "5511955550009" }),
    ).rejects.toMatchObject(refusal);
    for (const action of ["react", "edit", "delete"])
      expect(await story.ledger({ action, target_id: id })).toEqual([]);
  });

  test("may be named in the other format of its number", async () => {
    const number = "5541987650007";
    const { data } = await client().sendText({ ...sales(), number, text: "Hi" });
    const response = await client().react({
      ...sales(),
      message_id: data.message_id ?? "",
      number: "554187650007",
      reaction: "👍",
    });
    expect(response.data.jid).toBe("554187650007@s.whatsapp.net");
  });
});

test("a message sent by the instance cannot be marked as read, and its chat gets no receipt", async () => {
  const id = await tell();
  await expect(client().markRead({ ...sales(), message_id: id })).rejects.toMatchObject({
    code: "CONFLICT",
    status: 409,
    details: { reason: "own" },
  });
  expect(timesTold("message.read", id)).toBe(0);
});

describe("an action on a message that is not in the log", () => {
  const unknown = { message_id: "3EB0SOMEWHERE" };

  test("requires the chat", async () => {
    const refusal = { code: "MESSAGE_NOT_FOUND", status: 404 };
    await expect(client().react({ ...sales(), ...unknown, reaction: "👍" })).rejects.toMatchObject(refusal);
    await expect(client().markRead({ ...sales(), ...unknown })).rejects.toMatchObject(refusal);
    await expect(client().editMessage({ ...sales(), ...unknown, text: "x" })).rejects.toMatchObject(refusal);
    await expect(client().deleteMessage({ ...sales(), ...unknown })).rejects.toMatchObject(refusal);
  });

  test("is passed to the network with its chat and is still reported", async () => {
    const target = { ...sales(), number: story.friend.phone, message_id: "3EB0ELSEWHERE" };
    expect((await client().react({ ...target, reaction: "👍" })).data.jid).toBe(jidOf(story.friend.phone));
    expect((await story.event("message.reaction", target.message_id)).data).toMatchObject({ reaction: "👍" });
    expect((await client().editMessage({ ...target, text: "x" })).success).toBe(true);
    expect((await client().markRead(target)).success).toBe(true);
    expect((await client().deleteMessage(target)).success).toBe(true);
  });
});

describe("a session that lacks a capability", () => {
  const CAPABILITIES = ["react", "edit", "deleteForEveryone", "markRead", "setPresence"] as const;

  test.each(CAPABILITIES)("rejects %s with NOT_SUPPORTED at once", async (capability) => {
    const [own, theirs] = [await tell(), await hear()];
    const acts = {
      react: () => client().react({ ...sales(), message_id: own, reaction: "👍" }),
      edit: () => client().editMessage({ ...sales(), message_id: own, text: "x" }),
      deleteForEveryone: () => client().deleteMessage({ ...sales(), message_id: own }),
      markRead: () => client().markRead({ ...sales(), message_id: theirs }),
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
    await expect(client().setPresence({ ...sales(), presence: "typing" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "number" }] },
    });
  });
});

describe("a download", () => {
  const receive = async (media: { base64: string; mime_type?: string; file_name?: string }) => {
    const { data } = await client().sandboxReceive({ ...sales(), from: "5511966660003", media });
    await story.event("message.received", data.message_id);
    return data.message_id;
  };
  const download = (message_id: string, body: object = {}) =>
    fetch(`${story.gateway.url}/api/v1/instances/${story.sales.id}/messages/download`, {
      method: "POST",
      headers: { "x-api-key": story.sales.api_key, "content-type": "application/json" },
      body: JSON.stringify({ message_id, ...body }),
    });

  test.each([
    ["image/png", "photo.png", "png", `inline; filename=photo.png`],
    ["image/svg+xml", "drawing.svg", "svg", `attachment; filename=drawing.svg`],
    ["text/html", "page.html", "html", `attachment; filename=page.html`],
    [
      "application/pdf",
      "Proposta nº 1 — ação.pdf",
      "pdf",
      `attachment; filename*=UTF-8''Proposta%20n%C2%BA%201%20%E2%80%94%20a%C3%A7%C3%A3o.pdf`,
    ],
    ["audio/ogg; codecs=opus", undefined, "opus", `inline; filename=file.ogg`],
    ["application/pdf", "../../etc/passwd", "pdf", "attachment; filename=passwd"],
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

  test("of a file with an invalid content type returns the bytes", async () => {
    const id = await receive({ base64: inBase64(SAMPLE.text), mime_type: "text/csv\r\nSet-Cookie: a=b" });
    const response = await download(id);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "application/octet-stream",
    ]);
  });

  test("of an unknown message returns 404, and of a text 400", async () => {
    await expect(client().downloadMedia({ ...sales(), message_id: "3EB0NOPE" })).rejects.toMatchObject({
      code: "MESSAGE_NOT_FOUND",
      status: 404,
    });
    await expect(client().downloadMedia({ ...sales(), message_id: await hear() })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      status: 400,
    });
  });

  test("of a failed send returns an error without waiting", async () => {
    const id = await client()
      .sendMedia({ ...sales(), number: "5511955550001", base64: inBase64(SAMPLE.png) })
      .catch((error: { details: { message_id: string } }) => error.details.message_id);
    await expect(client().downloadMedia({ ...sales(), message_id: String(id) })).rejects.toMatchObject({
      code: "MEDIA_EXPIRED",
    });
  });
});
