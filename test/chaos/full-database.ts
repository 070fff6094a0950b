import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { WaygateError } from "../../src/client/client.ts";
import { findRunningDatabase } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { WORK_LEFT } from "../database.ts";
import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import { sendOnce, toClientSend } from "../e2e/send-history.ts";
import { waitUntil } from "../gateway.ts";
import type { Round, RoundFigures } from "./chaos-row.ts";
import { IN_FLIGHT, judge } from "./judge.ts";
import { type ClientSend, type Rows, readLedgers } from "./ledgers.ts";
import { readBlockers } from "./read-blockers.ts";
import { mountSmallDisk } from "./small-disk.ts";

const VOLUME_MIB = 220;
/** Room for a few rows, but not for the next piece of PostgreSQL's own log. */
const CRUMBS = 2 * 1024 * 1024;
const FULL_MS = 8_000;
const BACK_WITHIN_S = 15;
const BLOCKERS = ["disk_nearly_full", "database_unavailable"];
const REFUSED = /^(507 STORAGE_FULL|503 \w+)$/;
/** The send that was under way when PostgreSQL ended: accepted, and nobody can record its outcome. */
const CAUGHT = "504 SEND_TIMEOUT";

/** Fills the volume of the embedded database: first no rows fit, then not even PostgreSQL's log. */
export async function fillDatabaseVolume(round: Round): Promise<RoundFigures> {
  const disk = mountSmallDisk(round, VOLUME_MIB);
  const story = await round.story({ DATABASE_URL: "", WAYGATE_DATA_DIR: `${disk.path}/data` });
  const { pid } = await story.start();
  const instance = await story.pair();
  const rows = await openRows(round, `${disk.path}/data`);
  const client = createSender(story, instance);
  // Deliveries under way when the room ends: their receiver answers slowly.
  story.receiver.respond(async (_, response) => {
    await delay(300);
    response.writeHead(200).end();
  });
  await client.send("before", 20);
  disk.fill();
  const first = await client.sendFor("no-rows", FULL_MS);
  disk.free();
  disk.fill(CRUMBS);
  // What it would do by itself after 16 MiB of changes.
  await rows("select pg_switch_wal()").catch(() => {});
  const second = await client.sendFor("no-log", FULL_MS);
  disk.free();
  const backS = await secondsUntilTaken(client);
  await client.finish();
  await drained(rows);
  const ledgers = await readLedgers({ rows, receiver: story.receiver, sends: client.ledger() });
  // PostgreSQL's own crash cuts what is being recorded, as a kill does.
  const figures = judge(ledgers, { ...IN_FLIGHT, kills: 1 });
  return {
    ...figures,
    times: [{ what: "back after room was made", seconds: backS, bar: BACK_WITHIN_S }],
    measured: {
      "answers while the database's volume was full": JSON.stringify({
        "no room for rows": first.answers,
        "no room for the log": second.answers,
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

/** Connects to the embedded database and reconnects if necessary. */
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
  answers: Record<string, number>;
  breaches: string[];
}

/** A client with a ledger that repeats rejected requests with the same key. */
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
    /** Repeats every rejected request until it is accepted. */
    async finish() {
      for (const { key, known } of [...sends.values()]) {
        if (known !== "ok") await waitUntil(async () => (await attempt(key)) === "202", 30_000);
      }
    },
    async sendFor(name: string, ms: number): Promise<FullTime> {
      const answers: Record<string, number> = {};
      const seen = new Set<string>();
      const until = performance.now() + ms;
      for (let n = 0; performance.now() < until; n++) {
        const response = await attempt(`${name}-${n % 40}`);
        answers[response] = (answers[response] ?? 0) + 1;
        for (const key of await readBlockers(story.gateway.url)) seen.add(key);
        await delay(50);
      }
      const strange = Object.entries(answers).filter(
        ([one, times]) => one !== "202" && !REFUSED.test(one) && !(one === CAUGHT && times === 1),
      );
      const isShown = BLOCKERS.some((key) => seen.has(key));
      return {
        answers,
        breaches: [
          ...strange.map(([one]) => `a send was answered with ${one}`),
          ...(isShown ? [] : [`/health showed no blocker while the volume was full (${name})`]),
          ...(Object.keys(answers).every((one) => one === "202") ? [`nothing was refused (${name})`] : []),
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
