import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/source-files.ts";
import { EVENT_NAMES, type EventName } from "../../core/events/contract.ts";
import { eventExample } from "../../core/events/event-example.ts";
import { formatEventBody } from "../../core/webhooks/event-formats.ts";
import { type CompatibilityFormat, FORMAT_EVENTS } from "./contract.ts";
import { WEBHOOK_FORMATS } from "./webhook-formats.ts";

/** `UPDATE_GOLDEN=1 npx vitest run src/extensions/webhook-formats` rewrites the recorded lines. */
const isUpdate = process.env.UPDATE_GOLDEN === "1";
const FOLDER = join(ROOT, "test/golden/webhook-formats");
const OPTIONS = { url: "https://example.com/hook", token: "your-token", baseUrl: "https://wa.example.com" };
const FORMATS = Object.keys(FORMAT_EVENTS) as CompatibilityFormat[];

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a payload
type Json = any;

/** The recorded body of an event with a sample's changes. */
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
  const bytes = formatEventBody(WEBHOOK_FORMATS, Buffer.from(JSON.stringify(body)), format, OPTIONS);
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
  expect(formatEventBody(WEBHOOK_FORMATS, body, "native", OPTIONS)).toBe(body);
});

describe("the format cloudevents", () => {
  const toCloudEvent = (body: unknown) =>
    JSON.parse(
      String(formatEventBody(WEBHOOK_FORMATS, Buffer.from(JSON.stringify(body)), "cloudevents", OPTIONS)),
    );

  test("is the structured mode of CloudEvents 1.0, with the native body as its data", () => {
    const body = recorded("message.received");
    expect(toCloudEvent(body)).toEqual({
      specversion: "1.0",
      id: body.event_id,
      source: `https://wa.example.com/api/v1/instances/${body.instance.id}`,
      type: "waygate.message.received",
      subject: body.data.message.jid,
      time: body.timestamp,
      datacontenttype: "application/json",
      data: body,
    });
  });

  test("has every event, an event without a chat without a subject, and reports of deliveries too", () => {
    expect(WEBHOOK_FORMATS.cloudevents?.events).toEqual(EVENT_NAMES);
    expect(toCloudEvent(recorded("instance.connected"))).not.toHaveProperty("subject");
    expect(toCloudEvent(recorded("webhook.sent")).type).toBe("waygate.webhook.sent");
  });
});
