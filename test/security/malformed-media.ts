import { createClient } from "../../src/client/client.ts";
import { newPhone, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { createHttpRequester, type RawHttpResponse } from "../http-requester.ts";
import type { SaidMedia } from "../whatsapp-server/control.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../whatsapp-server/server.ts";
import { trustAuthority } from "../whatsapp-stage.ts";
import { type MalformedFile, malformedFiles } from "./malformed-files.ts";

export interface MalformedMediaFigures {
  files: number;
  requests: number;
  /** Answers by what the file was sent as. */
  statuses: Record<string, Record<string, number>>;
  /** Files of messages that came in from WhatsApp, by what became of them. */
  incoming: Record<string, number>;
  longest_ms: number;
  longest: string;
  memory_before_mb: number;
  memory_most_mb: number;
  /** Answers that no file may cause. */
  faults: string[];
}

const GROUP = "group";
const SENT_AS = ["image", "video", "audio", "ptt", "sticker", "document"] as const;
const CONTACT = "5511987651234";

/** Gives files that lie about themselves to everything that takes one; every `step`th of them. */
export async function sendMalformedMedia({ step }: { step: number }): Promise<MalformedMediaFigures> {
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

/** A contact sends all of them to an instance of WhatsApp, which fetches them by itself. */
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
