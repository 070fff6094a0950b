import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { type Client, createClient, WaygateError } from "../../../src/client/client.ts";
import { findRunningDatabase } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { freePortsFor } from "../../../src/platform/embedded-postgres/free-ports-for.ts";
import { packageRoot } from "../../../src/platform/package-version.ts";
import { WORK_LEFT } from "../../database.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { type ClientSend, type Rows, readLedgers } from "../../e2e/ledgers.ts";
import { sendOnce, toClientSend } from "../../e2e/send-history.ts";
import { newPhone, waitUntil } from "../../gateway.ts";
import { residentMb } from "../../run/process-figures.ts";
import { signIn } from "../../sign-in.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { IN_FLIGHT, toRoundFigures } from "../report.ts";
import { readBlockers } from "../request-once.ts";

const PIECE = Buffer.alloc(64 * 1024, "x");

/** A tmpfs volume that is removed after the round. */
export interface SmallDisk {
  path: string;
  /** Fills the volume up to so many bytes. */
  fill(leave?: number): void;
  /** Deletes what `fill` wrote. */
  free(): void;
}

export function mountSmallDisk(round: Round, mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "waygate-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path]);
  chmodSync(path, 0o755);
  round.afterwards(() => {
    execFileSync("umount", ["--lazy", path]);
    rmdirSync(path);
  });
  const filler = join(path, "filler");
  return {
    path,
    fill(leave = 0) {
      const file = openSync(filler, "a");
      let size = 0;
      try {
        for (;;) size += writeSync(file, PIECE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        if (leave > 0) ftruncateSync(file, Math.max(0, size - leave));
        closeSync(file);
      }
      if (leave === 0 && statfsSync(path).bavail > 0) throw new Error(`${path} is not full`);
    },
    free: () => rmSync(filler, { force: true }),
  };
}

const FILES_MIB = 3;
const FILE = Buffer.alloc(400_000, "x");
const UPLOADS = 3;
const PICTURE = FILE.toString("base64");
/** The media store retries after 30 s. */
const STORED_WITHIN_MS = 90_000;

/** Fills the volumes of media, data directory and log in turn. */
export async function fillFileVolumes(round: Round): Promise<RoundFigures> {
  const disks = {
    media: mountSmallDisk(round, FILES_MIB),
    data: mountSmallDisk(round, FILES_MIB),
    logs: mountSmallDisk(round, FILES_MIB),
  };
  const story = await round.story();
  const gateway = await startLoggingTo(round, story.settings, disks);
  const shop = await pairShop(gateway.url);
  const breaches: string[] = [];
  const responses: Record<string, string> = {};
  const expect = async (when: string, wanted: RegExp): Promise<void> => {
    const seen = await upload(shop);
    responses[when] = seen.join(", ");
    if (!seen.every((one) => wanted.test(one))) breaches.push(`${when}: uploads were answered with ${seen}`);
  };
  const states = () => story.rows<{ status: string }>("select status from media");
  const areReady = async () => (await states()).every(({ status }) => status === "ready");
  await expect("with room", /^200$/);
  disks.media.fill();
  // Messages in both directions wait in the database.
  await expect("media full", /^200$/);
  await shop.client.sandboxReceive({ id: shop.id, from: "5521966000005", media: { base64: PICTURE } });
  const isNamed = async () => (await readBlockers(gateway.url)).includes("media_store_full");
  await waitUntil(isNamed).catch(() => breaches.push("/health names no full media store"));
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
      "upload responses": JSON.stringify(responses),
      "files that waited for room": waiting,
      "stored after room was made (s)": storedS,
    },
    breaches,
  };
}

/** A gateway with its standard output in a file, as under most supervisors. */
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
  const { data } = await owner.createInstance({ name: "Shop", network: "sandbox" });
  const client = createClient({ baseUrl: url, apiKey: data.api_key });
  await client.sandboxScan({ id: data.id, phone: newPhone() });
  await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
  return { url, client, id: data.id, api_key: data.api_key };
}

/** Uploads a file as a form and returns each status with its code, once. */
async function upload({ url, id, api_key }: Shop): Promise<string[]> {
  const seen = new Set<string>();
  for (let n = 0; n < UPLOADS; n++) {
    const form = new FormData();
    form.set("number", "5521966000005");
    // Different content each time, because equal files are stored once.
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

const DATABASE_MIB = 220;
/** Enough for a few rows, but not for the next WAL segment. */
const CRUMBS = 2 * 1024 * 1024;
const FULL_MS = 8_000;
const BACK_WITHIN_S = 15;
const BLOCKERS = ["disk_nearly_full", "database_unavailable"];
const REFUSED = /^(507 STORAGE_FULL|503 \w+)$/;
/** The send in progress when PostgreSQL ended: accepted, but its outcome cannot be recorded. */
const CAUGHT = "504 SEND_TIMEOUT";

/** Fills the volume of the embedded database: first no rows fit, then no WAL. */
export async function fillDatabaseVolume(round: Round): Promise<RoundFigures> {
  const disk = mountSmallDisk(round, DATABASE_MIB);
  const story = await round.story({ DATABASE_URL: "", WAYGATE_DATA_DIR: `${disk.path}/data` });
  const { pid } = await story.start();
  const instance = await story.pair();
  const rows = await openRows(round, `${disk.path}/data`);
  const client = createSender(story, instance);
  // Deliveries are in progress when the disk is full, because their receiver is slow.
  story.receiver.respond(async (_, response) => {
    await delay(300);
    response.writeHead(200).end();
  });
  await client.send("before", 20);
  disk.fill();
  const first = await client.sendFor("no-rows", FULL_MS);
  disk.free();
  disk.fill(CRUMBS);
  // Happens automatically after 16 MiB of changes.
  await rows("select pg_switch_wal()").catch(() => {});
  const second = await client.sendFor("no-log", FULL_MS);
  disk.free();
  const backS = await secondsUntilTaken(client);
  await client.finish();
  await drained(rows);
  const ledgers = await readLedgers({ rows, receiver: story.receiver, sends: client.ledger() });
  // PostgreSQL's crash interrupts the recording, as a kill does.
  const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 1 });
  return {
    ...figures,
    times: [{ what: "back after room was made", seconds: backS, bar: BACK_WITHIN_S }],
    measured: {
      "responses while the database's volume was full": JSON.stringify({
        "no room for rows": first.responses,
        "no room for the log": second.responses,
      }),
    },
    breaches: [
      ...figures.breaches,
      ...first.breaches,
      ...second.breaches,
      ...(story.gateway.pid === pid && !hasEnded(story) ? [] : ["the gateway's process ended"]),
    ],
  };
}

function hasEnded(story: E2eStory): boolean {
  try {
    return !process.kill(story.gateway.pid, 0);
  } catch {
    return true;
  }
}

async function openRows(round: Round, dataDir: string): Promise<Rows> {
  const pool = new pg.Pool({ connectionString: await findRunningDatabase(dataDir), max: 1 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  round.afterwards(() => pool.end());
  return async (text, ...values) => (await pool.query(text, values)).rows;
}

async function drained(rows: Rows): Promise<void> {
  await waitUntil(async () => (await rows(WORK_LEFT).catch(() => [1])).length === 0, 60_000);
}

interface FullTime {
  responses: Record<string, number>;
  breaches: string[];
}

/** A client with a ledger that retries rejected requests with the same key. */
function createSender(story: E2eStory, instance: PairedInstance) {
  const sends = new Map<string, ClientSend>();

  async function attempt(key: string): Promise<string> {
    const chat = `5521966${String(sends.size % 8).padStart(2, "0")}0005`;
    const number = sends.get(key)?.chat ?? chat;
    if (!sends.has(key)) sends.set(key, { key, chat: number, known: "unknown" });
    try {
      sends.set(key, toClientSend(await sendOnce(story, instance, { text: key, number }, key)));
      return "202";
    } catch (error) {
      if (!(error instanceof WaygateError)) throw error;
      return `${error.status} ${error.code}`;
    }
  }

  return {
    attempt,
    ledger: () => [...sends.values()],
    async send(name: string, count: number) {
      for (let n = 0; n < count; n++) await attempt(`${name}-${n}`);
    },
    /** Retries every rejected request until it is accepted. */
    async finish() {
      for (const { key, known } of [...sends.values()]) {
        if (known !== "ok") await waitUntil(async () => (await attempt(key)) === "202");
      }
    },
    async sendFor(name: string, ms: number): Promise<FullTime> {
      const responses: Record<string, number> = {};
      const seen = new Set<string>();
      const until = performance.now() + ms;
      for (let n = 0; performance.now() < until; n++) {
        const response = await attempt(`${name}-${n % 40}`);
        responses[response] = (responses[response] ?? 0) + 1;
        for (const key of await readBlockers(story.gateway.url)) seen.add(key);
        await delay(50);
      }
      const strange = Object.entries(responses).filter(
        ([one, times]) => one !== "202" && !REFUSED.test(one) && !(one === CAUGHT && times === 1),
      );
      const isShown = BLOCKERS.some((key) => seen.has(key));
      return {
        responses,
        breaches: [
          ...strange.map(([one]) => `a send was answered with ${one}`),
          ...(isShown ? [] : [`/health showed no blocker while the volume was full (${name})`]),
          ...(Object.keys(responses).every((one) => one === "202") ? [`nothing was refused (${name})`] : []),
        ],
      };
    },
  };
}

async function secondsUntilTaken(client: { attempt(key: string): Promise<string> }): Promise<number> {
  const began = performance.now();
  await waitUntil(async () => (await client.attempt("first-again")) === "202", 60_000);
  return Math.round((performance.now() - began) / 100) / 10;
}

/**
 * F15: full disk of the database, media, data directory and log. Requests are refused with a reason, and the gateway
 * recovers.
 */
export const f15: ChaosRow = {
  id: "F15",
  fault: "disk full: database, media, data directory, log",
  needs: ["root", "mount"],
  async run(round) {
    const database = await fillDatabaseVolume(round);
    const files = await fillFileVolumes(round);
    return {
      ...database,
      measured: { ...database.measured, ...files.measured },
      breaches: [...database.breaches, ...files.breaches],
    };
  },
};
