import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEIC_PICTURE, mp4Video, oggOpus, webpSticker } from "../../../../test/media-samples.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { type FileServer, file, startFileServer } from "../../../../test/servers/file-server.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import type { Client } from "../../../client/client.ts";

let story: MessagingStory;
let files: FileServer;
let photo: string;
/** The message that a reply quotes. */
let question: string;

beforeAll(async () => {
  story = await startMessagingStory();
  files = await startFileServer();
  photo = files.serve("/menu/photo.png", file(SAMPLE.png, "image/png"));
  const { sales, friend } = story;
  const { data } = await friend.client.sendText({
    id: friend.id,
    number: sales.phone,
    text: "The blue one?",
  });
  question = data.message_id ?? "";
  await story.event("message.received", question);
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

type SendAnswer = Awaited<ReturnType<Client["sendText"]>>;
type Options = { async?: boolean; reply_to?: string };
type Send = (
  client: Client,
  input: { id: number; number: string } & Options,
  key?: string,
) => Promise<SendAnswer>;

const PLACE = { latitude: -23.5505, longitude: -46.6333, name: "Shop", address: "Rua A, 1" };
const withKey = (idempotencyKey?: string) => ({ idempotencyKey });

const media =
  (more: object | (() => object)): Send =>
  (client, input, key) =>
    client.sendMedia({ ...input, ...(typeof more === "function" ? more() : more) } as never, withKey(key));

/** Every kind of message, with the request and the message that arrives. */
const KINDS: [string, Send, object][] = [
  [
    "a text",
    (client, input, key) => client.sendText({ ...input, text: "Hello" }, withKey(key)),
    { type: "text", text: "Hello" },
  ],
  [
    "an image by url",
    media(() => ({ url: photo, caption: "Today" })),
    {
      type: "image",
      caption: "Today",
      media: { type: "image", mime_type: "image/png", file_name: "photo.png", size: SAMPLE.png.length },
    },
  ],
  [
    "an image in base64",
    media({ base64: inBase64(SAMPLE.jpeg) }),
    { type: "image", media: { mime_type: "image/jpeg", file_name: null } },
  ],
  [
    "a video as a data URI",
    media({ base64: `data:video/mp4;base64,${inBase64(SAMPLE.mp4)}` }),
    { type: "video", media: { mime_type: "video/mp4" } },
  ],
  [
    "an audio file as an upload",
    media({ file: { bytes: SAMPLE.mp3, file_name: "song.mp3" } }),
    { type: "audio", media: { mime_type: "audio/mpeg", file_name: "song.mp3" } },
  ],
  [
    "a voice note",
    media({ base64: inBase64(SAMPLE.opus), ptt: true }),
    { type: "ptt", media: { type: "ptt", mime_type: "audio/ogg; codecs=opus" } },
  ],
  [
    "a document",
    media({ base64: inBase64(SAMPLE.pdf), file_name: "Proposta nº 1.pdf", caption: "As agreed" }),
    {
      type: "document",
      caption: "As agreed",
      media: { mime_type: "application/pdf", file_name: "Proposta nº 1.pdf" },
    },
  ],
  [
    "a picture as a document",
    media({ base64: inBase64(SAMPLE.png), type: "document" }),
    { type: "document", media: { type: "document", mime_type: "image/png" } },
  ],
  [
    "a sticker",
    media({ base64: inBase64(SAMPLE.webp), type: "sticker" }),
    { type: "sticker", media: { type: "sticker", mime_type: "image/webp" } },
  ],
  [
    "a location",
    (client, input, key) => client.sendLocation({ ...input, ...PLACE }, withKey(key)),
    { type: "location", location: PLACE },
  ],
  [
    "a contact card",
    (client, input, key) =>
      client.sendContact({ ...input, name: "Ana Lima", phone: "+55 11 98888-7777" }, withKey(key)),
    { type: "contact", contacts: [{ name: "Ana Lima", phone: "5511988887777" }] },
  ],
  [
    "a reply",
    (client, input, key) =>
      client.sendReply({ ...input, message_id: question, text: "Yes, that one" }, withKey(key)),
    // The friend wrote the quoted message.
    { type: "text", text: "Yes, that one", quoted: { from_me: true, text: "The blue one?" } },
  ],
];

describe.each(KINDS)("%s", (name, send, arrives) => {
  const asSent =
    arrives && "quoted" in arrives
      ? { ...arrives, quoted: { from_me: false, text: "The blue one?" } }
      : arrives;
  const input = () => ({ id: story.sales.id, number: story.friend.phone });

  /** Repeats the request with its key and expects the same message. */
  async function sendTwice(key: string, async: boolean) {
    const body = { ...input(), async };
    const first = await send(story.sales.client, body, `${name} ${key}`.replaceAll(" ", "-"));
    const again = await send(story.sales.client, body, `${name} ${key}`.replaceAll(" ", "-"));
    const id: string = first.data.message_id;
    expect(again.data.message_id).toBe(id);
    await story.outcome(id);
    expect(await story.ledger({ action: "send", message_id: id })).toHaveLength(1);
    return first;
  }

  test("sent sync, also twice with one key, returns after the network has accepted it, and arrives", async () => {
    const { success, data } = await sendTwice("sync", false);
    expect({ success, data }).toMatchObject({
      success: true,
      data: {
        status: expect.stringMatching(/^(sent|delivered|read)$/),
        jid: `${story.friend.phone}@s.whatsapp.net`,
        providerMessageId: data.message_id,
      },
    });
    const id = data.message_id ?? "";
    expect(await story.arrived(id)).toMatchObject({ ...arrives, direction: "inbound", from_me: false });
    expect((await story.outcome(id)).data.message).toMatchObject({
      ...asSent,
      id: data.id,
      direction: "outbound",
      origin: "api",
    });
  });

  test("sent async, also twice with one key, returns 202 at once, and message.sent follows", async () => {
    const response = await sendTwice("async", true);
    if (!response.queued) throw new Error("the response is not the 202");
    const { jobId, pendingMessageId, data } = response;
    expect(data).toEqual({
      queued: true,
      jobId,
      pendingMessageId,
      message_id: pendingMessageId,
      message: { id: expect.any(Number), status: "pending" },
    });
    expect(await story.outcome(pendingMessageId)).toMatchObject({
      event: "message.sent",
      data: { jobId, pendingMessageId, message: { id: data.message.id, ...asSent } },
    });
    expect(await story.arrived(pendingMessageId)).toMatchObject(arrives);
  });

  test("can quote another message", async () => {
    if ("quoted" in arrives) return;
    const { data } = await send(story.sales.client, { ...input(), reply_to: question });
    expect(await story.arrived(data.message_id ?? "")).toMatchObject({
      ...arrives,
      quoted: { id: question, from_me: true, text: "The blue one?" },
    });
  });
});

test("completed sends leave no file and no job behind", async () => {
  await waitUntil(async () => (await story.rows()).files === 0);
  expect(await story.rows()).toMatchObject({ jobs: 0 });
});

describe("a file", () => {
  test("of several megabytes arrives complete from an address and from an upload", async () => {
    const { sales, friend } = story;
    const big = Buffer.alloc(3_333_333, "Waygate ");
    const url = files.serve("/big.bin", file(big));
    for (const source of [{ url }, { file: { bytes: big, file_name: "big.bin" } }]) {
      const { data } = await sales.client.sendMedia({ id: sales.id, number: friend.phone, ...source });
      const { media } = await story.arrived(data.message_id ?? "");
      expect(media).toMatchObject({ size: big.length, file_name: "big.bin", type: "document" });
      const download = await friend.client.downloadMedia({
        id: friend.id,
        message_id: data.message_id ?? "",
      });
      expect(big.equals(download.bytes ?? Buffer.alloc(0))).toBe(true);
    }
  });

  test("uploaded in a form may have every other field next to it", async () => {
    const { sales, friend } = story;
    const { data } = await sales.client.sendMedia({
      id: sales.id,
      number: friend.phone,
      file: { bytes: SAMPLE.pdf, file_name: "offer.pdf", mime_type: "application/pdf" },
      caption: "See page 1",
      track_id: "order-7",
      delay: 1,
      mentions: [friend.phone],
      metadata: { order: 7 },
    });
    const message = await story.arrived(data.message_id ?? "");
    expect(message).toMatchObject({
      type: "document",
      caption: "See page 1",
      mentions: [expect.any(String)],
    });
    expect((await story.outcome(data.message_id ?? "")).data.message.track_id).toBe("order-7");
  });
});

describe("the metadata that phones receive with a file", () => {
  const sent = async (input: {
    base64: string;
    type?: "sticker" | "ptt" | "audio";
    gif_playback?: boolean;
  }) => {
    const { sales, friend } = story;
    const { data } = await sales.client.sendMedia({ id: sales.id, number: friend.phone, ...input });
    const { media } = (await story.outcome(data.message_id ?? "")).data.message;
    const [entry] = await story.ledger({ action: "send", message_id: data.message_id ?? "" });
    return { data, media, content: entry?.content };
  };

  test.each([
    ["a voice note contains the duration and 64 waveform levels", "ptt", 64],
    ["other audio contains the duration and no waveform levels", "audio", undefined],
  ] as const)("of %s", async (_, type, levels) => {
    const sound = oggOpus(Array.from({ length: 500 }, (_, n) => (n < 250 ? 20 : 200)));
    const { media, content } = await sent({ base64: inBase64(sound), type });
    expect([media.seconds, content.media_type, content.seconds]).toEqual([10, type, 10]);
    expect(content.waveform?.length).toBe(levels);
  });

  test("of a video contains size and duration, even if they are near the end of the file", async () => {
    // A box header spans two parts of the stored file.
    for (const bytes of [3_000, 262_100, 600_000]) {
      const video = mp4Video({ width: 640, height: 360, seconds: 12, isLast: true, bytes });
      const { content } = await sent({ base64: inBase64(video), gif_playback: true });
      expect(content).toMatchObject({ width: 640, height: 360, seconds: 12, gif_playback: true });
    }
  });

  test("of a sticker contains the pack that the request names", async () => {
    const { client, id } = story.sales;
    const pack = { pack_name: "Shop", emojis: ["🥐"] };
    const file = { base64: inBase64(await webpSticker(2)), type: "sticker", ...pack } as const;
    const { data } = await client.sendMedia({ id, number: story.friend.phone, ...file });
    const message_id = data.message_id ?? "";
    const { data: got } = await client.downloadMedia({ id, message_id, return_base64: true });
    const sticker = Buffer.from(got?.base64 ?? "", "base64").toString();
    expect(sticker).toContain('"sticker-pack-name":"Shop"');
    expect(sticker).toContain('"emojis":["🥐"]');
    expect((await client.getMessage({ id, messageId: message_id })).data.media?.is_animated).toBe(true);
  });

  test("of a sticker contains its size and whether it is animated", async () => {
    const sticker = await webpSticker(2);
    const { data, content } = await sent({ base64: inBase64(sticker), type: "sticker" });
    expect(content).toMatchObject({ width: 512, height: 512, is_animated: true });
    expect(data.converted).toBeUndefined();
  });
});

describe("a picture that phones would not show", () => {
  const send = async (bytes: Buffer) => {
    const { sales, friend } = story;
    const input = { id: sales.id, number: friend.phone, type: "image", file_name: "menu.photo" } as const;
    const { data } = await sales.client.sendMedia({ ...input, base64: inBase64(bytes) });
    const message_id = data.message_id ?? "";
    const { media } = await story.arrived(message_id);
    return { data, media, file: await sales.client.downloadMedia({ id: sales.id, message_id }) };
  };

  test("arrives in a format that they show and with its size, and the response says so", async () => {
    const { data, media, file } = await send(HEIC_PICTURE);
    expect(data).toMatchObject({ converted: { from: "image/heic", to: "image/jpeg" } });
    expect(media).toMatchObject({ type: "image", mime_type: "image/jpeg", file_name: "menu.jpg" });
    expect(await sharp(file.bytes).metadata()).toMatchObject({ format: "jpeg", width: 40, height: 30 });
  });

  test("arrives byte for byte as a document if it cannot be converted", async () => {
    const bmp = Buffer.concat([Buffer.from("BM", "latin1"), Buffer.alloc(64)]);
    const { data, media, file } = await send(bmp);
    expect(data).toMatchObject({ converted: { from: "image/bmp", to: "document" } });
    expect(media).toMatchObject({ type: "document", mime_type: "image/bmp", file_name: "menu.photo" });
    expect(bmp.equals(file.bytes ?? Buffer.alloc(0))).toBe(true);
  });
});

test("a contact card in `contact` leaves `phone` for the recipient", async () => {
  const { sales, friend } = story;
  const contact = { name: "Ana Lima", phone: "5511988887777" };
  const { data } = await sales.client.sendContact({ id: sales.id, phone: friend.phone, contact } as never);
  expect(data.jid).toBe(`${friend.phone}@s.whatsapp.net`);
  const { message } = (await story.outcome(data.message_id ?? "")).data;
  expect(message.contacts[0]).toEqual({ ...contact, vcard: null });
});

const COMPANY = { phone: "5511988887777", organization: "Shop", email: "b@x.org" };

test.each([
  ["the fields of a card", { contact: { name: "Bia; Souza", ...COMPANY } }],
  [
    "a list of one card of another gateway",
    { contacts: [{ ...COMPANY, phone: undefined, fullName: "Bia; Souza", phoneNumber: COMPANY.phone }] },
  ],
  ["plain fields", { name: "Bia; Souza", ...COMPANY }],
])("a contact card in %s arrives with the company and the e-mail address", async (_, input) => {
  const { sales, friend } = story;
  const { data } = await sales.client.sendContact({ id: sales.id, number: friend.phone, ...input } as never);
  const { contacts } = await story.arrived(data.message_id ?? "");
  expect(contacts[0]).toMatchObject({
    name: "Bia; Souza",
    phone: "5511988887777",
    vcard: [
      "BEGIN:VCARD",
      "VERSION:3.0",
      "N:;Bia\\; Souza;;;",
      "FN:Bia\\; Souza",
      "ORG:Shop",
      "TEL;type=CELL;type=VOICE;waid=5511988887777:+5511988887777",
      "EMAIL:b@x.org",
      "END:VCARD",
    ].join("\n"),
  });
});

describe("the generic send operation", () => {
  const send = (input: object) => story.sales.client.send({ number: story.friend.phone, ...input } as never);

  test.each([
    ["a text", () => ({ text: "Hi" }), "text"],
    ["a place in text", () => ({ latitude: "-23.5", longitude: "46" }), "location"],
    ["a card", () => ({ contact: { name: "Ana", phone: "5511977772222" } }), "contact"],
    ["media in base64", () => ({ base64: inBase64(SAMPLE.png) }), "image"],
    ["media by an upload", () => ({ file: { bytes: SAMPLE.png } }), "image"],
    ["media by its type", () => ({ type: "sticker", media: inBase64(SAMPLE.webp) }), "sticker"],
    ["a reply", () => ({ message_id: question, text: "Yes" }), "text"],
    [
      "the named type, whatever other fields are set",
      () => ({ type: "text", text: "Hi", latitude: 1, longitude: 2 }),
      "text",
    ],
  ])("infers %s", async (_, input, type) => {
    const { data } = await send(input());
    const message = await story.arrived(data.message_id ?? "");
    expect(message.type).toBe(type);
  });

  test("needs no recipient for a reply, which is sent to the chat of the quoted message", async () => {
    const { data } = await story.sales.client.send({ type: "reply", message_id: question, text: "Yes" });
    expect(data.jid).toBe(`${story.friend.phone}@s.whatsapp.net`);
  });

  test("by a signed-in user requires the instance, and the message's origin is the panel", async () => {
    const { owner } = story.gateway;
    const { data } = await owner.send({
      instance_id: story.sales.id,
      number: story.friend.phone,
      text: "Hi",
    });
    expect((await story.outcome(data.message_id ?? "")).data.message.origin).toBe("panel");
    await expect(owner.send({ number: story.friend.phone, text: "Hi" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "instance_id", issue: "is required: the instance that sends" }] },
    });
    await expect(
      owner.send({ instance_id: 999_999, number: story.friend.phone, text: "Hi" }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test.each(["instanceId", "instance", "instance_id"])(
    "with an API key may name the key's own instance in the field %s",
    async (name) => {
      expect((await send({ [name]: story.sales.id, text: "Hi", async: true })).success).toBe(true);
      await expect(send({ [name]: story.friend.id, text: "Hi" })).rejects.toMatchObject({
        code: "INSTANCE_FORBIDDEN",
        status: 403,
      });
    },
  );

  test("without content returns an error that asks for the type", async () => {
    await expect(send({ track_id: "x" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [expect.objectContaining({ field: "type" })] },
    });
  });
});

describe("the options of a send", () => {
  test("a delay shows typing before the message is sent once, sync and async", async () => {
    const { sales } = story;
    for (const [last4, async] of [
      ["4001", false],
      ["4002", true],
    ] as const) {
      const number = `551197777${last4}`;
      const { data, pendingMessageId } = await sales.client.sendText({
        id: sales.id,
        number,
        text: "Hm",
        delay: 300,
        async,
      });
      await story.outcome(data.message_id ?? pendingMessageId ?? "");
      const seen = await story.ledger({ chat: `${number}@s.whatsapp.net` });
      expect(seen.map(({ action, kind }) => `${action} ${kind}`)).toEqual(["presence typing", "send text"]);
    }
  });

  test("a long delay shows typing again before the indicator disappears", async () => {
    const { sales } = story;
    const number = "5511977774005";
    const chat = `${number}@s.whatsapp.net`;
    const seen = async () => (await story.ledger({ chat })).map(({ action, kind }) => `${action} ${kind}`);
    const { pendingMessageId = "" } = await sales.client.sendText({
      id: sales.id,
      number,
      text: "Let me think",
      delay: 12_000,
      async: true,
    });
    await waitUntil(async () => (await seen()).length === 1 && (await isWaiting(chat)));
    await story.gateway.advance(10_000);
    await waitUntil(async () => (await seen()).length >= 2);
    await story.gateway.advance(2_000);
    await story.outcome(pendingMessageId);
    expect(await seen()).toEqual(["presence typing", "presence typing", "send text"]);
  });

  test("a delay keeps the order of its chat and does not delay other chats", async () => {
    const { sales } = story;
    const send = (number: string, text: string, delay?: number) =>
      sales.client.sendText({ id: sales.id, number, text, delay, async: true });
    await send("5511977774003", "first", 9_000);
    const second = await send("5511977774003", "second");
    const other = await send("5511977774004", "other");
    await story.outcome(other.pendingMessageId ?? "");
    expect(await story.ledger({ action: "send", chat: "5511977774003@s.whatsapp.net" })).toEqual([]);
    await story.gateway.advance(9_000);
    await story.outcome(second.pendingMessageId ?? "");
    const seen = await story.ledger({ action: "send", chat: "5511977774003@s.whatsapp.net" });
    expect(seen.map(({ content }) => content.text)).toEqual(["first", "second"]);
  });

  test("mentions under another format of a number name the person whom the network knows", async () => {
    const { sales, friend } = story;
    const [written, known] = ["5541987670007", "554187670007"];
    const common = { id: sales.id, number: friend.phone, mentions: [written, `+${known}`] };
    const text = await sales.client.sendText({ ...common, text: `@${written} and @${written}1` });
    const mentions = [`${known}@s.whatsapp.net`];
    const wanted = `@${known} and @${written}1`;
    expect(await story.arrived(text.data.message_id ?? "")).toMatchObject({ mentions, text: wanted });
    const typed = { ...common, mentions: [`00${written}`], text: `@00${written}` };
    const other = await sales.client.sendText(typed);
    expect(await story.arrived(other.data.message_id ?? "")).toMatchObject({ mentions, text: `@${known}` });
    const photo = await sales.client.sendMedia({
      ...common,
      base64: inBase64(SAMPLE.png),
      caption: `@${written}`,
    });
    expect(await story.arrived(photo.data.message_id ?? "")).toMatchObject({
      mentions,
      caption: `@${known}`,
    });
  });

  test("mentions, track_id and metadata are sent along, and a link preview only on request", async () => {
    const { sales, friend } = story;
    const common = { id: sales.id, number: friend.phone, text: "https://example.com @Bia" };
    const plain = await sales.client.sendText(common);
    const full = await sales.client.sendText({
      ...common,
      link_preview: true,
      mentions: ["+55 11 98888-7777", 5511988886666, "5511988885555@s.whatsapp.net"],
      track_id: "order-7",
      metadata: { order: { id: 7 } },
    });
    const id = full.data.message_id ?? "";
    const mentions = ["5511988887777", "5511988886666", "5511988885555"].map(
      (digits) => `${digits}@s.whatsapp.net`,
    );
    expect(await story.arrived(id)).toMatchObject({ mentions, track_id: null });
    expect((await story.outcome(id)).data.message).toMatchObject({ mentions, track_id: "order-7" });
    const { data } = await sales.client.getMessage({ id: sales.id, messageId: id });
    expect(data).toMatchObject({ metadata: { order: { id: 7 } }, track_id: "order-7" });
    const previews = (await story.ledger({ action: "send" }))
      .filter(({ message_id }) => message_id === id || message_id === plain.data.message_id)
      .map(({ content }) => content.link_preview ?? false);
    expect(previews).toEqual([false, true]);
  });
});

/** Whether the next job of the chat is not due. */
async function isWaiting(chat: string): Promise<boolean> {
  const { db } = story.gateway.database;
  const jobs = await db
    .selectFrom("job")
    .select("id")
    .where("grp", "=", chat)
    .where("run_at", ">", new Date())
    .execute();
  return jobs.length > 0;
}
