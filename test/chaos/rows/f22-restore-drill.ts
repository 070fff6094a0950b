import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/platform/package-version.ts";
import { createEmptyDatabase, type TestDatabase } from "../../database.ts";
import type { E2eStory } from "../../e2e/e2e-story.ts";
import { planSends, sendAll } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";

const BACKUP_KEY = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
const DELIVERED = 40;
const PENDING = 10;
/** Tables that a restore must bring back unchanged. */
const TABLES = [
  "account",
  "instance",
  "webhook",
  "contact",
  "conversation",
  "message",
  "event",
  "secret_check",
  "audit",
];

/** F22: the machine is lost, and the backup is restored into an empty database with the guide's commands. */
export const f22: ChaosRow = {
  id: "F22",
  fault: "restore drill",
  async run(round) {
    const story = await round.story({ WAYGATE_BACKUP_KEY: BACKUP_KEY });
    await story.start();
    const instance = await story.pair();
    await sendAll(story, instance, planSends("done", DELIVERED, 5));
    await waitUntil(() => countSent(story) === DELIVERED, 60_000);
    await story.drained();
    // Some are accepted and not delivered when the backup is made.
    await story.receiver.shut();
    await sendAll(story, instance, planSends("later", PENDING, 5));
    await waitUntil(
      async () =>
        (await story.rows("select 1 from event where event = 'message.sent'")).length === DELIVERED + PENDING,
    );
    await story.gateway.kill("SIGTERM");
    const began = performance.now();
    const restored = await moveBackup(round, story);
    const restoreS = Math.round((performance.now() - began) / 100) / 10;
    const different = await compareTables(story, restored);
    await story.receiver.open();
    const before = new Set(story.receiver.received.map(({ body }) => body.event_id as string));
    const at = { WAYGATE_BACKUP_KEY: BACKUP_KEY, DATABASE_URL: restored.url };
    await story.start(at);
    const heldBack = story.receiver.received.filter(({ body }) => !before.has(body.event_id)).length;
    await run({ ...story.settings, ...at }, "restore", "--release");
    await waitUntil(() => countSent(story) === DELIVERED + PENDING, 60_000).catch(() => {});
    const ids = story.receiver.received.map(({ body }) => body.event_id as string);
    const lost = DELIVERED + PENDING - countSent(story);
    const repeated = ids.length - new Set(ids).size;
    return {
      sends: DELIVERED + PENDING,
      lost,
      duplicateDeliveries: repeated,
      measured: { "backup and restore (s)": restoreS, "tables compared": TABLES.length },
      breaches: [
        ...different.map((table) => `${table} is not as it was`),
        ...(lost > 0 ? [`${lost} events that were pending in the backup did not come`] : []),
        ...(repeated > 0 ? [`${repeated} deliveries were repeated after the restore`] : []),
        ...(heldBack > 0 ? [`${heldBack} deliveries left before somebody had decided`] : []),
      ],
    };
  },
};

function countSent({ receiver }: E2eStory): number {
  return new Set(receiver.of("message.sent").map(({ body }) => body.event_id)).size;
}

/** Uses the operator's commands. */
async function moveBackup(round: Round, story: E2eStory): Promise<TestDatabase> {
  const place = await mkdtemp(join(tmpdir(), "waygate-drill-"));
  round.afterwards(() => rm(place, { recursive: true, force: true }));
  const restored = await createEmptyDatabase(round.databaseUrl);
  round.afterwards(() => restored.drop());
  const file = join(place, "drill.backup");
  await run(story.settings, "backup", "--output", file);
  await run(story.settings, "restore", file, "--database-url", restored.url);
  return restored;
}

async function run(settings: Readonly<Record<string, string>>, ...words: string[]): Promise<string> {
  const program = [join(packageRoot(), "bin/waygate.mjs"), ...words];
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    env: { ...settings, PATH: "/usr/bin:/bin" },
  });
  return stdout;
}

/** Columns that a restore leaves unchanged: it marks instances as disconnected. */
const COMPARED: Record<string, string> = {
  instance: "(t.id, t.account_id, t.name, t.phone, t.network, t.webhook_secret)",
};

/** Compares every row. A restore may add rows, such as audit entries. */
async function compareTables(story: E2eStory, restored: TestDatabase): Promise<string[]> {
  const different: string[] = [];
  for (const table of TABLES) {
    const text = `select md5(${COMPARED[table] ?? "t"}::text) as hash from ${table} t`;
    const { rows } = await restored.database.pool.query<{ hash: string }>(text);
    const there = new Set(rows.map(({ hash }) => hash));
    const here = await story.rows<{ hash: string }>(text);
    if (here.length === 0 || !here.every(({ hash }) => there.has(hash))) different.push(table);
  }
  return different;
}
