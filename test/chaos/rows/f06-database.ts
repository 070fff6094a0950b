import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { createEmptyDatabase } from "../../database.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import { startTestPostgres } from "../../run/test-postgres.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { IN_FLIGHT, toRoundFigures } from "../report.ts";
import { keepRequestingOnce } from "../request-once.ts";

const BACK_SECONDS = 10;
const ANSWER_SECONDS = 5;
/** Settings under which a crash loses nothing that is acknowledged. */
const SAFE = { synchronous_commit: "on", full_page_writes: "on" };

export const f6: ChaosRow = {
  id: "F6",
  fault: "PostgreSQL: kill -9 under load and idle, all connections ended, kill -9 inside a migration",
  async run(round) {
    const postgres = await startTestPostgres(SAFE);
    round.afterwards(() => postgres.stop());
    const story = await round.story({}, postgres.url);
    const { exited } = await story.start();
    const instance = await story.pair();
    const outages: Outage[] = [];
    const kill = () => killPostgres(postgres.url);
    const once = keepRequestingOnce(story, instance, "once");
    const sending = sendAll(story, instance, planSends("load", 300, 20));
    await waitUntil(() => story.receiver.of("message.sent").length > 20, 60_000);
    outages.push(await watch("kill -9 under load", story, instance, kill));
    const more = sendAll(story, instance, planSends("ended", 150, 20));
    outages.push(await watch("all connections ended", story, instance, () => endConnections(story)));
    const accepted = [...(await sending), ...(await more)];
    const asked = await once.stop();
    await story.drained(300_000);
    outages.push(await watch("kill -9 while idle", story, instance, kill));
    const hasEnded = await Promise.race([exited.then(() => true), delay(0, false)]);
    const ledgers = await readStoryLedgers(story, { sends: [...toClientSends(accepted), ...asked] });
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: outages.length });
    const migrated = await killInMigration(round, postgres.url, story);
    return {
      ...withOutages(figures, outages),
      breaches: [
        ...figures.breaches,
        ...outages.flatMap(({ wrong }) => wrong),
        ...(hasEnded ? ["the gateway ended with its database"] : []),
        ...migrated,
      ],
    };
  },
};

interface Outage {
  what: string;
  /** From the return of the database to the first response. */
  backSeconds: number;
  slowestSeconds: number;
  refusals: number;
  wrong: string[];
}

/** Polls the gateway from the fault until it has responded for a while. */
async function watch(
  what: string,
  story: E2eStory,
  { id, api_key }: PairedInstance,
  fault: () => Promise<void>,
): Promise<Outage> {
  const outage: Outage = { what, backSeconds: 0, slowestSeconds: 0, refusals: 0, wrong: [] };
  const url = `${story.gateway.url}/api/v1/instances/${id}/status`;
  await fault();
  const back = untilBack(story).then(() => performance.now());
  let backAt = Number.POSITIVE_INFINITY;
  void back.then((at) => {
    backAt = at;
  });
  for (let good = 0; good < 20; ) {
    const began = performance.now();
    const { status, code } = await request(url, api_key);
    outage.slowestSeconds = Math.max(outage.slowestSeconds, (performance.now() - began) / 1000);
    if (status === 200) {
      if (good === 0 && began > backAt) outage.backSeconds = (performance.now() - backAt) / 1000;
      good = began > backAt ? good + 1 : 0;
    } else {
      good = 0;
      outage.refusals += 1;
      if (status !== 503 || code === undefined) outage.wrong.push(`${what}: answered ${status} ${code}`);
    }
    await delay(50);
  }
  return outage;
}

async function request(url: string, apiKey: string): Promise<{ status: number; code?: string }> {
  const response = await fetch(url, { headers: { "x-api-key": apiKey } });
  const body = (await response.json()) as { code?: string; error?: { code?: string } };
  return { status: response.status, code: body.error?.code ?? body.code };
}

async function untilBack({ store }: E2eStory): Promise<void> {
  await waitUntil(async () => (await query(store.url, "select 1").catch(() => [])).length === 1, 60_000);
}

async function killPostgres(url: string): Promise<void> {
  const [row] = await query<{ data_directory: string }>(url, "show data_directory");
  const pidFile = await readFile(join(row?.data_directory ?? "", "postmaster.pid"), "utf8");
  process.kill(Number(pidFile.split("\n")[0]), "SIGKILL");
}

async function endConnections({ store }: E2eStory): Promise<void> {
  await query(
    store.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** If the database dies during a migration, the next start completes it. */
async function killInMigration(
  round: Round,
  server: string,
  { settings, launch }: E2eStory,
): Promise<string[]> {
  const empty = await createEmptyDatabase(server);
  round.afterwards(() => empty.drop());
  const { path, remove } = await makeScratchDir("waygate-e2e-");
  round.afterwards(remove);
  const own = { ...settings, DATABASE_URL: empty.url, WAYGATE_DATA_DIR: path };
  const first = launch(own);
  const isAtWork = "select from pg_stat_activity where datname = $1 and backend_xid is not null";
  const name = new URL(empty.url).pathname.slice(1);
  const { pool } = empty.database;
  await waitUntil(async () => (await pool.query(isAtWork, [name])).rows.length > 0, 60_000);
  await delay(round.random.between(0, 200));
  await killPostgres(server);
  await Promise.race([first.exited, first.listening.catch(() => {})]);
  await first.kill();
  const second = launch(own);
  const url = await second.listening;
  const { status } = await fetch(`${url}/health`);
  await second.kill("SIGTERM");
  return status === 200 ? [] : [`after a crash inside a migration /health answers ${status}`];
}

function withOutages(figures: RoundFigures, outages: readonly Outage[]): RoundFigures {
  return {
    ...figures,
    times: outages.flatMap(({ what, backSeconds, slowestSeconds }) => [
      { what: `${what}: serves again after`, seconds: backSeconds, bar: BACK_SECONDS },
      { what: `${what}: slowest answer`, seconds: slowestSeconds, bar: ANSWER_SECONDS },
    ]),
    measured: Object.fromEntries(
      outages.map(({ what, refusals }) => [`${what}: refused with 503`, refusals]),
    ),
  };
}
