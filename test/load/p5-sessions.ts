import { createSandboxControl } from "../../src/network/sandbox/sandbox-control.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { offer, spread } from "../bench/event-source.ts";
import { residentMb } from "../run/process-figures.ts";
import type { LoadTestOptions } from "./load-stage.ts";
import {
  atOrAbove,
  costOfEach,
  holdsWithin,
  type LoadInstance,
  type LoadStage,
  type LoadVerdict,
  readMeter,
  startLoadStage,
} from "./load-stage.ts";
import { startReceivers } from "./receivers.ts";

const STEPS = [100, 500, 1_000];
const CUT_MS = 30_000;
const BACK_WITHIN_MS = 180_000;
const MESSAGES_A_SECOND_EACH = 0.2;
const LOGINS_PER_SECOND = 50;
const START_S = 60;

/** P5: many sessions. Memory of each, traffic, a start of all, and reconnection of all after a network outage. */
export async function runSessions({ seconds = 60, sessions }: LoadTestOptions): Promise<LoadVerdict> {
  const receivers = await startReceivers(1);
  const stage = await startLoadStage({ WAYGATE_LOGINS_PER_SECOND: String(LOGINS_PER_SECOND) });
  const instances: LoadInstance[] = [];
  const alone = await residentMb(stage.gateway.pid);
  const missed: string[] = [];
  for (const step of sessions === undefined ? STEPS : [sessions]) {
    while (instances.length < step) {
      const instance = await stage.pair(`P5 ${instances.length}`, receivers.urls[0]);
      receivers.trust(instance.webhook_secret);
      instances.push(instance);
    }
    missed.push(...(await runStep(stage, instances, seconds, alone)));
  }
  const drained = await holdsWithin(BACK_WITHIN_MS, () => isDelivered(stage.database));
  const found = await receivers.check(stage.database);
  console.log(`P5: ${JSON.stringify(found)}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = found;
  return { ledgers: { ...differences, undelivered: drained ? 0 : 1 }, missed };
}

async function isDelivered({ pool }: Database): Promise<boolean> {
  const { rows } = await pool.query("select from delivery where status in ('pending', 'retrying') limit 1");
  return rows.length === 0;
}

async function runStep(
  stage: LoadStage,
  instances: readonly LoadInstance[],
  seconds: number,
  alone: number,
): Promise<string[]> {
  const count = instances.length;
  await stage.stopGateway();
  const startedAt = performance.now();
  await stage.startGateway();
  const isUp = await holdsWithin(BACK_WITHIN_MS, async () => (await countOpen(stage.database)) === count);
  const startS = (performance.now() - startedAt) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const idle = await residentMb(stage.gateway.pid);
  const before = await readMeter(stage);
  const output = await say(stage.database, await devicesOf(stage.database), { count, seconds });
  const messages = Math.floor(count * MESSAGES_A_SECOND_EACH * seconds);
  const cost = costOfEach(before, await readMeter(stage), messages);
  const cut = await cutNetwork(stage.database, count);
  console.log(
    `P5: ${count} sessions: all back ${startS.toFixed(1)} s after a start (goal: ${START_S}), ${((idle - alone) / count).toFixed(2)} MB resident each; ${output}; ${cost}`,
  );
  console.log(
    `P5: after a cut of ${CUT_MS / 1000} s all are back in ${cut.backS.toFixed(1)} s, ${cut.mostASecond} logins in a second at most (limit: ${LOGINS_PER_SECOND})`,
  );
  return [
    ...(isUp && cut.isBack ? [] : [`not all of ${count} sessions came back`]),
    ...atOrAbove(START_S, `seconds until ${count} sessions were back`, startS),
    // A ledger second can include logins that waited for a lock in the previous one.
    ...atOrAbove(LOGINS_PER_SECOND * 1.2 + 1, "logins in a second", cut.mostASecond),
  ];
}

/** Sends texts through the network itself, because HTTP is not under test here. */
async function say(
  { pool }: Database,
  devices: readonly Device[],
  { count, seconds }: { count: number; seconds: number },
): Promise<string> {
  const perSecond = count * MESSAGES_A_SECOND_EACH;
  const offered = await offer({ perSecond, seconds }, (n) => {
    const content = { kind: "text" as const, text: `load ${n}` };
    const { account_id, phone } = devices[n % devices.length] as Device;
    const from = `5511955${100_000 + (n % 500)}`;
    return createSandboxControl(pool, account_id).receive(phone, { from, content });
  });
  return `${offered.count} texts in at ${perSecond}/s, into the network in ${spread(offered.latencies)}, failed ${offered.failed}`;
}

interface Device {
  account_id: number;
  phone: string;
}

async function devicesOf({ pool }: Database): Promise<Device[]> {
  const { rows } = await pool.query<Device>(
    "select account_id::float8 as account_id, phone from sandbox.device where linked_at is not null order by id",
  );
  return rows;
}

/** Open connections by the network's count, because instances may still be marked connected. */
async function countOpen({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "select count(*)::int as count from sandbox.device where session is not null",
  );
  return rows[0]?.count ?? 0;
}

/** An outage: closes all sockets and refuses logins for a while. */
async function cutNetwork(database: Database, count: number) {
  const { pool } = database;
  await pool.query(`
    create or replace function sandbox.refuse_login() returns trigger language plpgsql as
      $$ begin raise exception 'the network is down'; end $$`);
  await pool.query(`
    create trigger network_is_down before update of session on sandbox.device for each row
    when (new.session is not null) execute function sandbox.refuse_login()`);
  await pool.query("update sandbox.device set session = null");
  await new Promise((resolve) => setTimeout(resolve, CUT_MS));
  const { rows: last } = await pool.query<{ id: number }>(
    "select coalesce(max(id), 0) as id from sandbox.ledger",
  );
  await pool.query("drop trigger network_is_down on sandbox.device");
  const mendedAt = performance.now();
  const isBack = await holdsWithin(BACK_WITHIN_MS, async () => (await countOpen(database)) === count);
  const backS = (performance.now() - mendedAt) / 1000;
  const { rows } = await pool.query<{ most: number }>(
    `select coalesce(max(logins), 0)::int as most from (
       select count(*) as logins from sandbox.ledger where action = 'login' and id > $1
       group by date_trunc('second', at)) as seconds`,
    [last[0]?.id ?? 0],
  );
  return { isBack, backS, mostASecond: rows[0]?.most ?? 0 };
}
