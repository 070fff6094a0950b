import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePortsFor } from "../../../src/platform/embedded-postgres/free-ports-for.ts";
import { planSends, readStoryLedgers, sendAll, toClientSends } from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";
import { keepRequestingOnce } from "../request-once.ts";

/** PgBouncer in transaction mode in front of one database, as docs/operation/scaling.md configures it. */
export interface Pooler {
  url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Its process ends with the round. */
export async function startPooler(round: Round, databaseUrl: string): Promise<Pooler> {
  const { path, remove } = await makeScratchDir("waygate-pooler-");
  round.afterwards(remove);
  const { value: port } = await freePortsFor(path).next();
  const file = join(path, "pgbouncer.ini");
  await writeFile(file, toSettings(new URL(databaseUrl), port));
  // PgBouncer refuses to run as root.
  await Promise.all([chmod(path, 0o755), chmod(file, 0o644)]);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  let running: ChildProcess | undefined;
  const pooler: Pooler = {
    url: url.href,
    async start() {
      const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
      running = spawn("pgbouncer", ["--quiet", ...user, file], { stdio: "ignore" });
      await waitUntil(() => isResponding(port));
    },
    async kill() {
      if (!running || running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, "exit");
      running.kill("SIGKILL");
      await ended;
    },
  };
  round.afterwards(() => pooler.kill());
  await pooler.start();
  return pooler;
}

/** The configuration of docs/operation/scaling.md with the addresses of this round. */
function toSettings({ hostname, port, pathname, username, password }: URL, listenPort: number): string {
  const database = pathname.slice(1);
  return `[databases]
${database} = host=${hostname} port=${port} dbname=${database} user=${username} password=${password} connect_query='set lock_timeout = 1000; set idle_in_transaction_session_timeout = 8000'

[pgbouncer]
pool_mode = transaction
default_pool_size = 40
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
`;
}

async function isResponding(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const SENDS = 300;
const AWAY_MS = 3_000;
const BACK_SECONDS = 10;

export const n4: ChaosRow = {
  id: "N4",
  fault: "behind PgBouncer in transaction mode, which is killed under load",
  needs: ["pgbouncer"],
  async run(round) {
    const story = await round.story();
    const pooler = await startPooler(round, story.store.url);
    const { exited } = await story.start({
      DATABASE_URL: pooler.url,
      WAYGATE_DATABASE_DIRECT_URL: story.store.url,
    });
    const instance = await story.pair();
    const once = keepRequestingOnce(story, instance, "once");
    const sending = sendAll(story, instance, planSends("pooled", SENDS, 20));
    await waitUntil(() => story.receiver.of("message.sent").length > 20);
    await pooler.kill();
    await delay(AWAY_MS);
    const refusal = await story.signIn().catch((error: unknown) => error);
    await pooler.start();
    const backAt = performance.now();
    await waitUntil(() => story.signIn().then(Boolean, () => false));
    const seconds = (performance.now() - backAt) / 1000;
    const accepted = await sending;
    const sends = [...toClientSends(accepted), ...(await once.stop())];
    const ledgers = await readStoryLedgers(story, { sends });
    const hasEnded = await Promise.race([exited.then(() => 1), delay(0, 0)]);
    // Statements in the killed pooler may be committed or not, and are retried if unknown.
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 1 });
    return {
      ...figures,
      times: [{ what: "serves again after the pooler is back", seconds, bar: BACK_SECONDS }],
      breaches: [
        ...figures.breaches,
        ...(statusOf(refusal) === 503 ? [] : [`without the pooler it answered ${statusOf(refusal)}`]),
        ...atMost(0, "gateways that ended with their pooler", hasEnded),
      ],
    };
  },
};

function statusOf(refusal: unknown): unknown {
  return refusal instanceof Error && "status" in refusal ? refusal.status : "2xx";
}
