import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePortsFor } from "../../../src/platform/embedded-postgres/free-ports-for.ts";
import { createEmptyDatabase, type TestDatabase, WORK_LEFT } from "../../database.ts";
import { createE2eStory, type E2eStory } from "../../e2e/e2e-story.ts";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../scratch-dir.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, judge } from "../judge.ts";
import { buildOldVersion, type OldVersion } from "../old-version.ts";

const SENDS = 40;
const KILLS = 3;

/** F21: the version before this one and this one on one database; kills while it migrates; twice migrated. */
export const f21: ChaosRow = {
  id: "F21",
  fault: "upgrade: old and new version on one database",
  needs: ["history"],
  async run(round): Promise<RoundFigures> {
    const old = buildOldVersion(round);
    if (old === undefined) return { breaches: ["no version of the history could be built"] };
    const store = await createEmptyDatabase(round.databaseUrl);
    round.afterwards(() => store.drop());
    const story = await storyOn(round, store);
    const before = await startOld(round, story, old);
    const kills = await killWhileMigrating(store, story);
    await story.start();
    const names = await story.rows("select name from kysely_migration order by name");
    const instance = await story.pair();
    const whileBoth = await sendAll(story, instance, planSends("both", SENDS, 5));
    const areBothUp = (await statusOf(before.url)) === 200 && (await statusOf(story.gateway.url)) === 200;
    // The old node is rolled over: what it held goes on at the new one.
    await before.stop();
    const alone = await sendAll(story, instance, planSends("alone", SENDS, 5));
    await story.gateway.kill("SIGTERM");
    await story.start();
    const again = await story.rows("select name from kysely_migration order by name");
    const ledgers = await readStoryLedgers(story, { sends: toClientSends([...whileBoth, ...alone]) });
    const figures = judge(ledgers, { ...IN_FLIGHT, kills: 0 });
    return {
      ...figures,
      kills,
      measured: {
        "old version": old.commit.slice(0, 10),
        "migrations killed": kills,
        migrations: again.length,
      },
      breaches: [
        ...figures.breaches,
        ...(areBothUp ? [] : ["old and new version did not both serve"]),
        ...atMost(0, "migrations that a second start added", again.length - names.length),
      ],
    };
  },
};

/** A story on a database that no version has seen yet. */
async function storyOn(round: Round, store: TestDatabase): Promise<E2eStory> {
  const story = await createE2eStory(
    { DATABASE_URL: store.url, WAYGATE_BACKUP_AT: "off" },
    round.databaseUrl,
  );
  round.afterwards(() => story.end());
  const rows: E2eStory["rows"] = async (text, ...values) =>
    (await store.database.pool.query(text, values)).rows;
  // Its own database stays unused; what it asks for below goes to the one of both versions.
  return Object.assign(Object.create(story, { rows: { value: rows } }), {
    drained: () => waitUntil(async () => (await rows(WORK_LEFT)).length === 0, 60_000),
  });
}

async function startOld(round: Round, { settings }: E2eStory, { program }: OldVersion) {
  const { path, remove } = await makeScratchDir("waygate-old-node-");
  round.afterwards(remove);
  const { value: port } = await freePortsFor(path).next();
  const env = { ...settings, PATH: "/usr/bin:/bin", WAYGATE_DATA_DIR: path, WAYGATE_PORT: String(port) };
  const child = spawn(process.execPath, [program, "serve"], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  round.afterwards(() => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(async () => (await statusOf(url)) === 200, 120_000);
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function statusOf(url: string): Promise<number> {
  return (await fetch(`${url}/health/ready`).catch(() => undefined))?.status ?? 0;
}

/** The lock lets a migration do its work and not commit it; there it dies, and the next start begins anew. */
async function killWhileMigrating({ database }: TestDatabase, story: E2eStory): Promise<number> {
  const holder = await database.pool.connect();
  await holder.query(`begin; set local idle_in_transaction_session_timeout = 0;
    lock table kysely_migration in exclusive mode`);
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const gateway = story.launch();
      await waitUntil(async () => (await story.rows(HELD_UP)).length > 0, 60_000);
      await gateway.kill();
      // PostgreSQL does not look for a client whose statement waits.
      await story.rows(`select pg_terminate_backend(pid) from (${HELD_UP}) held`);
      await waitUntil(async () => (await story.rows(HELD_UP)).length === 0, 60_000);
    }
    return KILLS;
  } finally {
    // The end of the connection ends its transaction.
    holder.release(true);
  }
}

/** Copies of one template have the same numbers for their tables. */
const HELD_UP = `select pid from pg_locks where relation = 'kysely_migration'::regclass and not granted
  and database = (select oid from pg_database where datname = current_database())`;
