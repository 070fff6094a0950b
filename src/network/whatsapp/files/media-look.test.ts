import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { MediaContent, MediaType, MessageId } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
});

afterAll(() => stage.stop());

/** The message as the receiving phone got it. */
async function send(media_type: MediaType, mime_type: string, bytes: Buffer, look: Partial<MediaContent>) {
  const id = newMessageId();
  const content = { kind: "media", media_type, mime_type, size: bytes.length, bytes, ...look } as const;
  expect(await listener.session.send(stage.contact.jid, content, { id })).toMatchObject({
    outcome: "accepted",
  });
  const seen = await eventually(async () => {
    const found = (await stage.contact.observed()).find((one) => one.type === "message" && one.id === id);
    expect(found).toBeDefined();
    return found;
  });
  return { id, content: seen?.type === "message" ? seen.content : undefined };
}

/** The stanza of the message, as the network got it. */
async function arrivalOf(id: string) {
  return (await stage.control.ledger()).arrivals.find((one) => one.id === id);
}

it("a voice note arrives with its waveform and its length in seconds", async () => {
  const look = { waveform: Array.from({ length: 64 }, (_, n) => n), seconds: 7 };
  const { content } = await send("ptt", "audio/ogg; codecs=opus", SAMPLE.opus, look);
  expect(content).toMatchObject({ media_type: "ptt", mime_type: "audio/ogg; codecs=opus", ...look });
});

it("a voice note and a video without known metadata arrive without it", async () => {
  const note = await send("ptt", "audio/ogg; codecs=opus", SAMPLE.opus, { seconds: 1 });
  const video = await send("video", "video/mp4", SAMPLE.mp4, {});
  for (const field of ["waveform", "thumbnail", "width", "gif_playback"]) {
    expect(note.content).not.toHaveProperty(field);
    expect(video.content).not.toHaveProperty(field);
  }
});

it("a video arrives with its size, length and thumbnail, and as a GIF where it is one", async () => {
  const thumbnail = SAMPLE.jpeg.toString("base64");
  const look = { width: 640, height: 360, seconds: 12, thumbnail, gif_playback: true };
  const { content } = await send("video", "video/mp4", SAMPLE.mp4, look);
  expect(content).toMatchObject({ media_type: "video", ...look });
});

it("an animated sticker arrives as an animated sticker", async () => {
  const look = { width: 512, height: 512, is_animated: true };
  const { content } = await send("sticker", "image/webp", SAMPLE.webp, look);
  expect(content).toMatchObject({ media_type: "sticker", ...look });
});

describe("a file that phones show once", () => {
  it.each([
    ["image", "image/png", SAMPLE.png, "image"],
    ["video", "video/mp4", SAMPLE.mp4, "video"],
    ["ptt", "audio/ogg; codecs=opus", SAMPLE.opus, "ptt"],
  ] as const)("is marked as WhatsApp Web marks it: %s", async (type, mime_type, bytes, media_type) => {
    const { id, content } = await send(type, mime_type, bytes, { view_once: true });
    expect(content).toMatchObject({ media_type: type, view_once: true });
    expect(await arrivalOf(id)).toMatchObject({
      type: "media",
      media_types: [media_type],
      meta: { view_once: "true" },
    });
  });

  it("is told apart from any other file", async () => {
    const { id, content } = await send("image", "image/png", SAMPLE.png, {});
    expect(content).not.toHaveProperty("view_once");
    expect(await arrivalOf(id)).toMatchObject({ media_types: ["image"], meta: {} });
  });

  it("is marked again for a phone that could not read it", async () => {
    const { id } = await send("image", "image/png", SAMPLE.png, { view_once: true });
    await stage.control.requestRetry(stage.contact.number, id);
    await eventually(async () => {
      const { arrivals } = await stage.control.ledger();
      const metas = arrivals.filter((one) => one.id === id).map(({ meta }) => meta);
      expect(metas).toEqual([{ view_once: "true" }, { view_once: "true" }]);
    });
  });

  it.each(["viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension"])(
    "is known by the wrapper %s of an older phone",
    async (wrapper) => {
      const audioMessage = { mimetype: "audio/ogg; codecs=opus", ptt: true, fileLength: 3 };
      const message = { [wrapper]: { message: { audioMessage } } };
      const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, {
        kind: "raw",
        message,
      });
      expect((await listener.message(id as MessageId)).content).toMatchObject({
        kind: "media",
        media_type: "ptt",
        view_once: true,
      });
    },
  );
});

it.each([
  ["a round video", { ptvMessage: { mimetype: "video/mp4" } }, { media_type: "video", ptv: true }],
  [
    "a GIF",
    { videoMessage: { mimetype: "video/mp4", gifPlayback: true } },
    { media_type: "video", gif_playback: true },
  ],
  [
    "an animated sticker",
    { stickerMessage: { mimetype: "image/webp", isAnimated: true } },
    { media_type: "sticker", is_animated: true },
  ],
  [
    "a Lottie sticker",
    {
      lottieStickerMessage: { message: { stickerMessage: { mimetype: "application/was", isLottie: true } } },
    },
    { media_type: "sticker", mime_type: "application/was", is_animated: true },
  ],
  [
    "a PDF",
    { documentMessage: { mimetype: "application/pdf", pageCount: 3 } },
    { media_type: "document", page_count: 3 },
  ],
])("%s is received with what phones show of it", async (_, message, content) => {
  const { contact, phone, control } = stage;
  const id = await control.sendMessage(contact.number, phone.number, { kind: "raw", message });
  expect((await listener.message(id as MessageId)).content).toMatchObject(content);
});

it.each([
  ["image", "image/png", SAMPLE.png],
  ["video", "video/mp4", SAMPLE.mp4],
  ["document", "application/pdf", SAMPLE.pdf],
] as const)(
  "an edited caption of an own %s arrives as an edit of such a file",
  async (type, mime_type, bytes) => {
    const { id } = await send(type, mime_type, bytes, { caption: "Helo", file_name: "a" });
    const target = { chat: stage.contact.jid, id, from_me: true };
    const edited = await listener.session.edit?.(target, "Hello", { id: newMessageId(), media_type: type });
    expect(edited).toMatchObject({ outcome: "accepted" });
    await eventually(async () =>
      expect(await stage.contact.observed()).toContainEqual({
        type: "edited",
        id,
        text: "Hello",
        media_type: type,
      }),
    );
  },
);
