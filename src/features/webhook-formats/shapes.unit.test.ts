import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/source-files.ts";
import { EVENT_NAMES, type EventName } from "../events/contract.ts";
import { eventExample } from "../events/event-example.ts";
import { type CompatibilityFormat, FORMAT_EVENTS } from "./contract.ts";
import { formatEventBody } from "./webhook-formats.ts";

/** `UPDATE_GOLDEN=1 npx vitest run src/features/webhook-formats` rewrites the recorded lines. */
const isUpdate = process.env.UPDATE_GOLDEN === "1";
const FOLDER = join(ROOT, "test/golden/webhook-formats");
const OPTIONS = { url: "https://example.com/hook", token: "your-token", baseUrl: "https://wa.example.com" };
const FORMATS = Object.keys(FORMAT_EVENTS) as CompatibilityFormat[];

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a payload
type Json = any;

/** The recorded body of an event with the changes of a sample. */
function recorded(event: string, change: (body: Json) => void = () => {}): Json {
  const body = structuredClone(eventExample(event as EventName));
  change(body);
  return body;
}

const GROUP = "120363000000000001@g.us";
const BIA = {
  jid: "5511977771234@s.whatsapp.net",
  lid: "05192188843550921@lid",
  phone: "5511977771234",
  push_name: "Bia",
};

function inGroup({ data }: Json): void {
  Object.assign(data.message, { jid: GROUP, phone: null, lid: null, chat_type: "group", is_group: true });
  Object.assign(data.conversation, { jid: GROUP, phone: null, title: "Blue team", type: "group" });
}

function withImage({ data: { message } }: Json): void {
  const media = { id: "01M7", status: "ready", url: "/api/v1/instances/17/media/01M7", type: "image" };
  const file = { mime_type: "image/jpeg", file_name: null, size: 48_211, sha256: null, seconds: null };
  Object.assign(message, { type: "image", text: null, caption: "Receipt", media: { ...media, ...file } });
}

function unreadable({ data: { message } }: Json): void {
  const unsupported = { kind: "placeholder", reason: "masked" };
  Object.assign(message, { type: "unsupported", text: null, unsupported });
}

function quoting({ data: { message } }: Json): void {
  message.quoted = { id: "3EB0AA", from_me: true, text: "The blue one?" };
}

function renamed(event: string, data: Json = {}): (body: Json) => void {
  return (body) => {
    body.event = event;
    Object.assign(body.data, data);
  };
}

/** Every event and every kind of message. */
const SAMPLES: Record<string, Json> = {
  "message.received": recorded("message.received"),
  "message.received.image": recorded("message.received", withImage),
  "message.received.unreadable": recorded("message.received", unreadable),
  "message.received.reply": recorded("message.received", quoting),
  "message.received.group": recorded("message.received", inGroup),
  "message.sent": recorded("message.sent"),
  "message.sent.phone": recorded("message.sent", ({ data }) => {
    data.message.origin = "phone";
  }),
  "message.failed": recorded("message.failed"),
  "message.delivered": recorded("message.read", renamed("message.delivered")),
  "message.read": recorded("message.read"),
  "message.edited": recorded("message.edited"),
  "message.deleted": recorded("message.deleted"),
  "message.deleted.own": recorded("message.deleted", ({ data }) => {
    data.by = { ...BIA, jid: "5511988887777@s.whatsapp.net", phone: "5511988887777" };
    Object.assign(data.message, { from_me: true, sender: null, origin: "api" });
  }),
  "message.reaction": recorded("message.reaction", ({ data }) => {
    data.message.from_me = true;
  }),
  "instance.connected": recorded("instance.connected"),
  "instance.disconnected": recorded("instance.disconnected"),
  "instance.disconnected.logout": recorded("instance.disconnected", ({ data }) => {
    Object.assign(data, { status: "logged_out", reason: "logged_out", will_retry: false });
  }),
  "instance.reconnecting": recorded("instance.disconnected", renamed("instance.reconnecting")),
  "instance.logged_out": recorded(
    "instance.disconnected",
    renamed("instance.logged_out", { status: "logged_out", reason: "logged_out", will_retry: false }),
  ),
  "instance.passkey_required": recorded(
    "instance.disconnected",
    renamed("instance.passkey_required", {
      status: "passkey_required",
      reason: "passkey_required",
      will_retry: false,
      challenge: {
        challenge: "9WVUYm9AsQ",
        timeout: 600_000,
        rpId: "whatsapp.com",
        userVerification: "required",
      },
      expires_at: "2026-11-20T12:10:00.000Z",
    }),
  ),
  "instance.passkey_confirmation": recorded(
    "instance.disconnected",
    renamed("instance.passkey_confirmation", {
      status: "passkey_required",
      reason: "passkey_required",
      will_retry: false,
      code: "K7QW-3MXA",
      expires_at: "2026-11-20T12:10:00.000Z",
    }),
  ),
  "instance.qr": recorded("instance.qr"),
  "instance.qr_expired": recorded("instance.qr_expired"),
};

function eventOf(sample: string): string {
  return sample.split(".").slice(0, 2).join(".");
}

function samplesOf(format: CompatibilityFormat): string[] {
  const known: readonly string[] = FORMAT_EVENTS[format];
  return Object.keys(SAMPLES)
    .filter((name) => known.includes(eventOf(name)))
    .toSorted();
}

function shape(format: CompatibilityFormat, body: unknown): Json {
  const bytes = formatEventBody(Buffer.from(JSON.stringify(body)), format, OPTIONS);
  return bytes && JSON.parse(bytes.toString("utf8"));
}

describe.each(FORMATS)("the format %s", (format) => {
  const file = join(FOLDER, `${format}.jsonl`);
  const lines = samplesOf(format).map((name) => JSON.stringify({ [name]: shape(format, SAMPLES[name]) }));
  if (isUpdate) writeFileSync(file, `${lines.join("\n")}\n`);

  test("shows each sample as recorded, and no others", () => {
    expect(lines).toEqual(readFileSync(file, "utf8").trim().split("\n"));
    expect(new Set(samplesOf(format).map(eventOf))).toEqual(new Set(FORMAT_EVENTS[format]));
  });

  test("converts exactly the events for which it declares a counterpart", () => {
    const shaped = EVENT_NAMES.filter((event) => {
      const sample = SAMPLES[event] ?? recorded("instance.connected", renamed(event));
      return !event.startsWith("webhook.") && shape(format, sample) !== undefined;
    });
    expect(shaped.sort()).toEqual([...FORMAT_EVENTS[format]].sort());
  });

  test("leaves delivery reports unchanged", () => {
    const report = recorded("webhook.sent");
    expect(shape(format, report)).toEqual(report);
  });

  test("contains the known data of an action on a message that is not in the log", () => {
    for (const event of ["message.edited", "message.deleted", "message.reaction"]) {
      const body = recorded(event, ({ data }) => {
        data.message = undefined;
        data.conversation = undefined;
      });
      expect(JSON.stringify(shape(format, body))).toContain(body.data.message_id);
    }
  });

  test("sends no edit whose text is not known", () => {
    const body = recorded("message.edited", ({ data }) => {
      data.text = null;
      data.reason = "no_secret";
    });
    expect(shape(format, body)).toBeUndefined();
  });

  test("contains all messages of a receipt", () => {
    const body = recorded("message.read", ({ data }) => {
      data.message_ids = ["3EB01", "3EB02"];
    });
    expect(JSON.stringify(shape(format, body))).toMatch(/3EB01.*3EB02/);
  });
});

test("the native format returns the recorded bytes unchanged", () => {
  const body = Buffer.from('{"event": "message.received" }');
  expect(formatEventBody(body, "native", OPTIONS)).toBe(body);
});

describe("fields of other gateways' formats are where their clients expect them", () => {
  test("Evolution API: instance, key, pushName, text, file, quoted message", () => {
    const text = shape("evolution", SAMPLES["message.received"]);
    expect(text).toMatchObject({
      event: "messages.upsert",
      instance: "Sales",
      sender: "5511988887777@s.whatsapp.net",
      apikey: "your-token",
      destination: OPTIONS.url,
      server_url: OPTIONS.baseUrl,
      data: { key: { remoteJid: BIA.jid, fromMe: false }, pushName: "Bia", messageType: "conversation" },
    });
    expect(text.data.message).toEqual({ conversation: "Hello" });
    expect(text.data.messageTimestamp).toBe(1_795_176_000);
    expect(shape("evolution", SAMPLES["message.received.image"]).data).toMatchObject({
      messageType: "imageMessage",
      message: { imageMessage: { caption: "Receipt", mimetype: "image/jpeg" } },
    });
    expect(shape("evolution", SAMPLES["message.received.reply"]).data.contextInfo).toMatchObject({
      stanzaId: "3EB0AA",
      quotedMessage: { conversation: "The blue one?" },
    });
    expect(shape("evolution", SAMPLES["message.received.group"]).data.key).toMatchObject({
      remoteJid: GROUP,
      participant: BIA.lid,
      participantAlt: BIA.jid,
      addressingMode: "lid",
    });
    expect(shape("evolution", SAMPLES["message.sent"]).event).toBe("send.message");
    expect(shape("evolution", SAMPLES["message.sent.phone"]).event).toBe("messages.upsert");
    expect(shape("evolution", SAMPLES["instance.disconnected"]).data.state).toBe("connecting");
    expect(shape("evolution", SAMPLES["instance.disconnected.logout"]).data).toMatchObject({
      state: "close",
      statusReason: 401,
    });
  });

  test("uazapi: EventType, token, owner, chat and a message with its time in milliseconds", () => {
    const text = shape("uazapi", SAMPLES["message.received"]);
    expect(text).toMatchObject({ EventType: "messages", token: "your-token", owner: "5511988887777" });
    expect(text.chat).toMatchObject({ wa_chatid: BIA.jid, phone: BIA.phone, wa_isGroup: false });
    expect(text.message).toMatchObject({
      chatid: BIA.jid,
      sender: BIA.lid,
      sender_pn: BIA.jid,
      senderName: "Bia",
      fromMe: false,
      messageType: "Conversation",
      text: "Hello",
      messageTimestamp: 1_795_176_000_000,
    });
    expect(text.message.id).toBe(`5511988887777:${text.message.messageid}`);
    const image = shape("uazapi", SAMPLES["message.received.image"]).message;
    expect(image).toMatchObject({ type: "media", messageType: "ImageMessage", text: "Receipt" });
    expect(shape("uazapi", SAMPLES["message.received.reply"]).message.quoted).toBe("3EB0AA");
    expect(shape("uazapi", SAMPLES["message.sent"]).message).toMatchObject({
      fromMe: true,
      wasSentByApi: true,
      track_id: "order-7",
    });
    expect(shape("uazapi", SAMPLES["message.sent.phone"]).message.wasSentByApi).toBe(false);
    expect(shape("uazapi", SAMPLES["message.read"])).toMatchObject({
      EventType: "messages_update",
      state: "Read",
      event: { Chat: BIA.jid, Timestamp: 1_795_176_000 },
    });
    expect(shape("uazapi", SAMPLES["instance.qr"]).instance).toMatchObject({ status: "connecting" });
  });

  test("WAHA: session, ids with their chat, seconds in the payload, acks by number", () => {
    const text = shape("waha", SAMPLES["message.received"]);
    expect(text).toMatchObject({ event: "message", session: "Sales", metadata: { branch: "Centro" } });
    expect(text.id).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(text.timestamp).toBe(1_795_176_000_000);
    expect(text.payload).toMatchObject({
      from: "5511977771234@c.us",
      fromMe: false,
      body: "Hello",
      hasMedia: false,
      timestamp: 1_795_176_000,
      _data: { Info: { PushName: "Bia" } },
    });
    expect(text.payload.id).toMatch(/^false_5511977771234@c\.us_3EB0/);
    expect(shape("waha", SAMPLES["message.received.group"]).payload.id).toMatch(
      /^false_120363000000000001@g\.us_3EB0\w+_5511977771234@c\.us$/,
    );
    expect(shape("waha", SAMPLES["message.received.image"]).payload.media.url).toBe(
      "https://wa.example.com/api/v1/instances/17/media/01M7",
    );
    expect(shape("waha", SAMPLES["message.sent"])).toMatchObject({
      event: "message.any",
      payload: { source: "api", fromMe: true, ackName: "SERVER" },
    });
    expect(shape("waha", SAMPLES["message.read"]).payload).toMatchObject({ ack: 3, ackName: "READ" });
    expect(shape("waha", SAMPLES["message.reaction"]).payload.reaction.messageId).toMatch(/^true_/);
    expect(shape("waha", SAMPLES["instance.qr_expired"]).payload.status).toBe("FAILED");
  });
});
