import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { newPhone, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { createHttpRequester, type RawHttpResponse } from "../http-requester.ts";
import { blackPng, pngChunk, SAMPLE } from "../sample-files.ts";
import type { SaidMedia } from "../whatsapp-server/control.ts";
import { silenceConsole } from "../whatsapp-server/protocol/silence-log.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../whatsapp-server/server.ts";
import { trustAuthority } from "../whatsapp-stage.ts";
import { isFullRun, printFigures } from "./run-size.ts";

/** A file with a false header or a missing end. */
interface MalformedFile {
  name: string;
  mime_type: string;
  bytes: Buffer;
}

const TYPES = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  mp4: "video/mp4",
  mp3: "audio/mpeg",
  opus: "audio/ogg; codecs=opus",
  pdf: "application/pdf",
} as const;

function malformedFiles(): MalformedFile[] {
  return [...cutFiles(), ...changedFiles(), ...pictures(), ...sounds(), ...films(), ...documents()];
}

type Kind = keyof typeof TYPES;
const KINDS = Object.keys(TYPES) as Kind[];

function file(kind: Kind, name: string, ...parts: (Buffer | string)[]): MalformedFile {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string, "latin1")));
  return { name: `${kind}: ${name}`, mime_type: TYPES[kind], bytes };
}

function cutFiles(): MalformedFile[] {
  return KINDS.flatMap((kind) =>
    [1, 4, 9, 16, 24, 33].map((length) =>
      file(kind, `cut after ${length}`, SAMPLE[kind].subarray(0, length)),
    ),
  );
}

/** Each header byte set to 255 and to 0, because lengths and counts are there. */
function changedFiles(): MalformedFile[] {
  return KINDS.flatMap((kind) =>
    [0xff, 0].flatMap((value) =>
      [4, 8, 12, 16, 20, 26].map((at) => {
        const bytes = Buffer.from(SAMPLE[kind]);
        bytes.fill(value, at, Math.min(at + 4, bytes.length));
        return file(kind, `${value} from ${at} on`, bytes);
      }),
    ),
  );
}

const PNG = "\x89PNG\r\n\x1a\n";

function ihdr(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data[8] = 1;
  return pngChunk("IHDR", data);
}

function pictures(): MalformedFile[] {
  const iend = pngChunk("IEND", Buffer.alloc(0));
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
  const rows = pngChunk("IDAT", bomb);
  const frame = (height: number, width: number) =>
    Buffer.from([0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]);
  return [
    file("png", "20,000 pixels each way", blackPng(20_000)),
    file("png", "two billion pixels each way", PNG, ihdr(0x7fffffff, 0x7fffffff), iend),
    file("png", "no pixels", PNG, ihdr(0, 0), iend),
    file("png", "rows of 64 MiB for one pixel", PNG, ihdr(1, 1), rows, iend),
    file(
      "png",
      "a comment of 64 MiB",
      PNG,
      ihdr(1, 1),
      pngChunk("zTXt", Buffer.concat([Buffer.from("a\0\0"), bomb])),
      iend,
    ),
    file(
      "png",
      "a profile of 64 MiB",
      PNG,
      ihdr(1, 1),
      pngChunk("iCCP", Buffer.concat([Buffer.from("a\0\0"), bomb])),
      iend,
    ),
    file("png", "empty chunks", PNG, ihdr(1, 1), ...Array(50_000).fill(pngChunk("tEXt", Buffer.alloc(0)))),
    file("png", "a chunk of 4 GiB", PNG, ihdr(1, 1), "\xff\xff\xff\xffIDAT"),
    file("jpeg", "65,535 pixels each way", "\xff\xd8", frame(65_535, 65_535), "\xff\xd9"),
    file("jpeg", "no pixels", "\xff\xd8", frame(0, 0), "\xff\xd9"),
    file("jpeg", "segments of no length", "\xff\xd8", "\xff\xe0\0\0".repeat(50_000)),
    file("jpeg", "a segment beyond the end", "\xff\xd8\xff\xe1\xff\xff"),
    file("jpeg", "beginnings", "\xff\xd8".repeat(100_000)),
    file(
      "jpeg",
      "directories in a circle",
      "\xff\xd8\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x87\x69\0\x04\0\0\0\x01\0\0\0\x08\0\0\0\x08",
      frame(8, 8),
      "\xff\xd9",
    ),
    file(
      "gif",
      "65,535 pixels each way",
      "GIF89a\xff\xff\xff\xff\x80\0\0",
      Buffer.alloc(6),
      ",\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    ),
    file("gif", "comments without an end", "GIF89a\x01\0\x01\0\0\0\0", "!\xfe\x01a".repeat(50_000)),
    file("webp", "a length of 4 GiB", "RIFF\xff\xff\xff\xffWEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x3f\0\xff\x3f\0"),
    file(
      "webp",
      "16,384 pixels each way",
      "RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\xff\xff\xff\x0f",
      Buffer.alloc(8),
    ),
    file("webp", "chunks of no length", "RIFF\xff\xff\0\0WEBP", "EXIF\0\0\0\0".repeat(8_000)),
    file(
      "webp",
      "frames of nothing",
      "RIFF\xff\xff\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x01\0\0\x01\0\0",
      "ANMF\0\0\0\0".repeat(8_000),
    ),
  ];
}

function page(position: bigint, segments: Buffer, data: Buffer | string): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS", "latin1");
  head[5] = 2;
  head.writeBigInt64LE(position, 6);
  head[26] = segments.length;
  return Buffer.concat([head, segments, Buffer.from(data as string, "latin1")]);
}

function sounds(): MalformedFile[] {
  const head = page(0n, Buffer.from([19]), "OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0");
  return [
    file("opus", "a position without end", head, page(2n ** 63n - 1n, Buffer.from([1]), "x")),
    file("opus", "a position before the beginning", head, page(-(2n ** 63n), Buffer.from([1]), "x")),
    file("opus", "segments that are not there", head, page(48_000n, Buffer.alloc(255, 255), "")),
    file("opus", "pages of nothing", head, ...Array(50_000).fill(page(0n, Buffer.alloc(0), ""))),
    file("opus", "no channels", page(0n, Buffer.from([19]), "OpusHead\x01\0\0\0\x80\xbb\0\0\0\0\0")),
    file(
      "opus",
      "a family of 255 channels",
      page(0n, Buffer.from([21]), "OpusHead\x01\xff\0\0\x80\xbb\0\0\0\0\xff\xff\xff"),
    ),
    file("mp3", "a tag of 256 MiB", "ID3\x04\0\0\x7f\x7f\x7f\x7f"),
    file("mp3", "frames of nothing", "\xff\xfb\x00\x00".repeat(50_000)),
  ];
}

function box(type: string, data: Buffer | string, size?: number): Buffer {
  const content = Buffer.from(data as string, "latin1");
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size ?? content.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}

function films(): MalformedFile[] {
  const ftyp = SAMPLE.mp4.subarray(0, 24);
  const nested = (depth: number): Buffer => {
    const boxes = Array.from({ length: depth }, (_, at) => box("moov", "", (depth - at) * 8));
    return Buffer.concat(boxes);
  };
  const counts = box(
    "moov",
    box("trak", box("mdia", box("minf", box("stbl", box("stsz", "\0\0\0\0\0\0\0\0\xff\xff\xff\xff"))))),
  );
  return [
    file("mp4", "a box of no size", ftyp, box("moov", "x", 0)),
    file("mp4", "a box smaller than its head", ftyp, box("moov", "x", 7)),
    file("mp4", "a box of 2^63 bytes", ftyp, box("moov", "\x7f\xff\xff\xff\xff\xff\xff\xff", 1)),
    file("mp4", "boxes in boxes", ftyp, nested(20_000)),
    file("mp4", "boxes of nothing", ftyp, ...Array(50_000).fill(box("free", ""))),
    file("mp4", "four billion samples", ftyp, counts),
    file("mp4", "a first box of 4 GiB", "\xff\xff\xff\xff", SAMPLE.mp4.subarray(4)),
  ];
}

function documents(): MalformedFile[] {
  return [
    file("pdf", "tables in a circle", "%PDF-1.7\nxref\n0 0\ntrailer\n<</Prev 9>>\nstartxref\n9\n%%EOF"),
    file("pdf", "lists in lists", "%PDF-1.7\n1 0 obj\n", "[".repeat(200_000)),
    file(
      "pdf",
      "a stream that is longer than the file",
      "%PDF-1.7\n1 0 obj\n<</Length 4294967295>>\nstream\nx",
    ),
    file("pdf", "an object that names itself", "%PDF-1.7\n1 0 obj\n1 0 R\nendobj\n"),
  ];
}

interface MalformedMediaFigures {
  files: number;
  requests: number;
  /** Statuses by the kind the file was sent as. */
  statuses: Record<string, Record<string, number>>;
  /** Inbound files from WhatsApp by their result. */
  incoming: Record<string, number>;
  longest_ms: number;
  longest: string;
  memory_before_mb: number;
  memory_most_mb: number;
  /** Responses that no file may cause. */
  faults: string[];
}

const GROUP = "group";
const SENT_AS = ["image", "video", "audio", "ptt", "sticker", "document"] as const;
const CONTACT = "5511987651234";

/** Sends every `step`th malformed file to everything that accepts files. */
async function sendMalformedMedia({ step }: { step: number }): Promise<MalformedMediaFigures> {
  const network = await startWhatsAppServer();
  trustAuthority(network.caFile);
  const gateway = await startTestGateway({
    WAYGATE_WHATSAPP_URL: network.url,
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
  });
  try {
    const files = malformedFiles().filter((_, at) => at % step === 0);
    const figures: MalformedMediaFigures = {
      files: files.length,
      requests: 0,
      statuses: {},
      incoming: {},
      longest_ms: 0,
      longest: "",
      memory_before_mb: residentMb(),
      memory_most_mb: 0,
      faults: [],
    };
    const instance = await gateway.connectInstance();
    const doors = await openDoors(gateway, instance);
    for (const file of files) {
      for (const [door, send] of Object.entries(doors)) await measure({ door, file, send }, figures);
    }
    await comeIn({ network, gateway, files }, figures);
    figures.memory_most_mb = Math.max(figures.memory_most_mb, residentMb());
    return figures;
  } finally {
    await gateway.stop();
    await network.close();
  }
}

type Send = (file: MalformedFile) => Promise<RawHttpResponse>;

async function openDoors({ url }: TestGateway, { id, api_key, client }: TestInstance) {
  const request = createHttpRequester(() => url);
  const headers = { "x-api-key": api_key };
  const { data } = await client.createGroup({ id, name: GROUP, participants: [CONTACT] });
  const base = `/api/v1/instances/${id}`;
  const sends = SENT_AS.map((type): [string, Send] => [
    `send as ${type}`,
    ({ bytes, mime_type }) =>
      request(
        `POST ${base}/send-media`,
        { number: CONTACT, type, mime_type, base64: bytes.toString("base64") },
        headers,
      ),
  ]);
  const others: [string, Send][] = [
    [
      "profile picture",
      ({ bytes }) => request(`POST ${base}/profile/photo`, { base64: bytes.toString("base64") }, headers),
    ],
    [
      "group picture",
      ({ bytes }) =>
        request(`POST ${base}/groups/settings`, { jid: data.jid, image: bytes.toString("base64") }, headers),
    ],
    [
      "incoming on the sandbox",
      ({ bytes, mime_type }) =>
        request(
          `POST ${base}/sandbox/receive`,
          { from: CONTACT, media: { base64: bytes.toString("base64"), mime_type } },
          headers,
        ),
    ],
  ];
  return Object.fromEntries([...sends, ...others]);
}

interface Try {
  door: string;
  file: MalformedFile;
  send: Send;
}

async function measure({ door, file, send }: Try, figures: MalformedMediaFigures): Promise<void> {
  const began = performance.now();
  const { status, body } = await send(file);
  const ms = Math.round(performance.now() - began);
  const statuses = figures.statuses[door] ?? {};
  figures.statuses[door] = { ...statuses, [status]: (statuses[status] ?? 0) + 1 };
  figures.requests += 1;
  figures.memory_most_mb = Math.max(figures.memory_most_mb, residentMb());
  if (ms > figures.longest_ms) Object.assign(figures, { longest_ms: ms, longest: `${door}, ${file.name}` });
  const isClear = status < 400 || (typeof body?.message === "string" && body.message !== "");
  // 501: a voice note without ffmpeg.
  if ((status >= 500 && status !== 501) || status === 404 || !isClear)
    figures.faults.push(`${door}, ${file.name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
}

interface Incoming {
  network: WhatsAppServer;
  gateway: TestGateway;
  files: readonly MalformedFile[];
}

/** A contact sends all of them to a WhatsApp instance, which downloads them automatically. */
async function comeIn(
  { network: { control }, gateway, files }: Incoming,
  figures: MalformedMediaFigures,
): Promise<void> {
  const me = await control.addPerson({ phone: newPhone() });
  const contact = await control.addPerson({ phone: newPhone() });
  const { data } = await gateway.owner.createInstance({ name: "Sales", network: "whatsapp" });
  const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
  await control.scan(me.phone, (await client.connectInstance({ id: data.id })).data.qr_code ?? "");
  await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
  for (const [at, { bytes, mime_type }] of files.entries()) {
    const media_type: SaidMedia["media_type"] = SENT_AS[at % SENT_AS.length] ?? "document";
    await control.sendMessage(contact.phone, me.phone, { kind: "media", media_type, mime_type, bytes });
  }
  const ofInstance = gateway.database.db
    .selectFrom("media")
    .select("status")
    .where("instance_id", "=", data.id);
  await waitUntil(async () => {
    const rows = await ofInstance.execute();
    return rows.length === files.length && rows.every(({ status }) => status !== "pending");
  }, 300_000);
  for (const { status } of await ofInstance.execute())
    figures.incoming[status] = (figures.incoming[status] ?? 0) + 1;
  if (!(await client.getInstanceStatus({ id: data.id })).data.connected)
    figures.faults.push("The instance has lost its connection.");
}

function residentMb(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

test("files with false lengths and sizes are accepted unchanged or refused with a reason, on every route", {
  timeout: 1_200_000,
}, async () => {
  silenceConsole();
  const figures = await sendMalformedMedia({ step: isFullRun ? 1 : 12 });
  printFigures("Malformed files", figures);
  expect(figures.faults).toEqual([]);
  expect(figures.incoming).toEqual({ ready: figures.files });
  // The largest decoded picture has 200 MB of pixels.
  expect(figures.memory_most_mb - figures.memory_before_mb).toBeLessThan(900);
});
