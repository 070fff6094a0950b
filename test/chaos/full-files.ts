import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/client.ts";
import { packageRoot } from "../../src/platform/config/package-version.ts";
import { freePortsFor } from "../../src/platform/embedded-postgres/free-ports-for.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { residentMb } from "../run/process-figures.ts";
import { signIn } from "../sign-in.ts";
import type { Round, RoundFigures } from "./chaos-row.ts";
import { readBlockers } from "./read-blockers.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

const VOLUME_MIB = 3;
const FILE = Buffer.alloc(400_000, "x");
const UPLOADS = 3;
const PICTURE = FILE.toString("base64");
/** The media store is tried again after half a minute. */
const STORED_WITHIN_MS = 90_000;

/** The volumes of media, of the data directory and of the log have no room, one after the other. */
export async function fillFileVolumes(round: Round): Promise<RoundFigures> {
  const disks = {
    media: mountSmallDisk(round, VOLUME_MIB),
    data: mountSmallDisk(round, VOLUME_MIB),
    logs: mountSmallDisk(round, VOLUME_MIB),
  };
  const story = await round.story();
  const gateway = await startLoggingTo(round, story.settings, disks);
  const shop = await pairShop(gateway.url);
  const breaches: string[] = [];
  const answers: Record<string, string> = {};
  const expect = async (when: string, wanted: RegExp): Promise<void> => {
    const seen = await upload(shop);
    answers[when] = seen.join(", ");
    if (!seen.every((one) => wanted.test(one))) breaches.push(`${when}: uploads were answered with ${seen}`);
  };
  const states = () => story.rows<{ status: string }>("select status from media");
  const areReady = async () => (await states()).every(({ status }) => status === "ready");
  await expect("with room", /^200$/);
  disks.media.fill();
  // What is sent and what comes in waits in the database.
  await expect("media full", /^200$/);
  await shop.client.sandboxReceive({ id: shop.id, from: "5521966000005", media: { base64: PICTURE } });
  const isNamed = async () => (await readBlockers(gateway.url)).includes("media_store_full");
  await waitUntil(isNamed, 20_000).catch(() => breaches.push("/health names no full media store"));
  const waiting = (await states()).filter(({ status }) => status === "pending").length;
  disks.media.free();
  const began = performance.now();
  await waitUntil(areReady, STORED_WITHIN_MS).catch(() => breaches.push("files were not stored after all"));
  const storedS = Math.round((performance.now() - began) / 1000);
  disks.data.fill();
  await expect("data directory full", /^507 STORAGE_FULL$/);
  disks.data.free();
  disks.logs.fill();
  await expect("log full", /^200$/);
  disks.logs.free();
  await expect("room again", /^200$/);
  if (waiting === 0) breaches.push("no file waited for room");
  if ((await residentMb(gateway.pid).catch(() => 0)) === 0) breaches.push("the gateway's process ended");
  return {
    measured: {
      "uploads answered": JSON.stringify(answers),
      "files that waited for room": waiting,
      "stored after room was made (s)": storedS,
    },
    breaches,
  };
}

/** A gateway whose standard output is a file, as under most supervisors. */
async function startLoggingTo(
  round: Round,
  settings: Readonly<Record<string, string>>,
  { media, data, logs }: Record<"media" | "data" | "logs", SmallDisk>,
): Promise<{ url: string; pid: number }> {
  const { value: port } = await freePortsFor(logs.path).next();
  const log = openSync(join(logs.path, "gateway.log"), "a");
  const child = spawn(process.execPath, [join(packageRoot(), "bin/waygate.mjs"), "serve"], {
    env: {
      ...settings,
      WAYGATE_DATA_DIR: join(data.path, "data"),
      WAYGATE_MEDIA: `file://${media.path}`,
      WAYGATE_PORT: String(port),
      WAYGATE_LOG_LEVEL: "trace",
    },
    stdio: ["ignore", log, log],
  });
  const ended = once(child, "exit");
  round.afterwards(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(async () => (await fetch(`${url}/health`).catch(() => undefined))?.status === 200, 60_000);
  return { url, pid: child.pid ?? 0 };
}

interface Shop {
  url: string;
  client: Client;
  id: number;
  api_key: string;
}

async function pairShop(url: string): Promise<Shop> {
  const { client: owner } = await signIn(url);
  const { data } = await owner.createInstance({
    name: "Shop",
    network: "sandbox",
  });
  const client = createClient({ baseUrl: url, apiKey: data.api_key });
  await client.sandboxScan({ id: data.id, phone: newPhone() });
  await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
  return { url, client, id: data.id, api_key: data.api_key };
}

/** Sends a file as a form does; answers each status, with its code, once. */
async function upload({ url, id, api_key }: Shop): Promise<string[]> {
  const seen = new Set<string>();
  for (let n = 0; n < UPLOADS; n++) {
    const form = new FormData();
    form.set("number", "5521966000005");
    // Another content each time, or it would be the same file.
    form.set("file", new Blob([FILE, `${Math.random()}`], { type: "application/pdf" }), "a.pdf");
    const response = await fetch(`${url}/api/v1/instances/${id}/send-media`, {
      method: "POST",
      headers: { "x-api-key": api_key },
      body: form,
    });
    const { code } = (await response.json()) as { code?: string };
    seen.add(code === undefined ? String(response.status) : `${response.status} ${code}`);
  }
  return [...seen];
}
