import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/platform/db/database.ts";
import { percentile, residentMb } from "../process-figures.ts";
import { type BenchGateway, type BenchInstance, connectInstance } from "./bench-gateway.ts";
import { type BenchStage, withBenchStage } from "./bench-stage.ts";

const CAMPAIGNS = 10;
const PER_REQUEST = 50_000;
const SECONDS = 60;
const CALM_SECONDS = 30;
const WARM_UP_SECONDS = 5;
const ACCEPTS_PER_SECOND = 100;

/** Ten campaigns at once: how punctual they are, what they cost the API, how soon a pause acts, what they take in memory. */
export function benchCampaigns(): Promise<void> {
  const size = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? PER_REQUEST);
  return withBenchStage((stage) => run(stage, size));
}

async function run({ gateway, database }: BenchStage, size: number): Promise<void> {
  const api = await connectInstance(gateway);
  const empty = await residentMb(gateway.pid);
  const began = performance.now();
  const ids: number[] = [];
  for (let n = 0; n < CAMPAIGNS; n++) ids.push(await createCampaign(gateway, n, size));
  const loading = (performance.now() - began) / 1000;
  const loaded = await residentMb(gateway.pid);
  console.log(
    `${CAMPAIGNS} x ${size} recipients taken in ${loading.toFixed(1)} s; node resident before ${empty.toFixed(0)} MB, after ${loaded.toFixed(0)} MB`,
  );
  await measureAccepts(api, WARM_UP_SECONDS);
  const before = await measureAccepts(api, CALM_SECONDS);
  for (const id of ids) await gateway.owner.startCampaign({ id });
  const busy = await measureAccepts(api, SECONDS);
  const running = await residentMb(gateway.pid);
  await reportErrors(database);
  await reportPauses(gateway, database, ids);
  // The load on the machine may have changed meanwhile: what is without campaigns is measured on both sides.
  const calm = [...before, ...(await measureAccepts(api, CALM_SECONDS))];
  const [alone, beside] = [percentile(calm, 0.99), percentile(busy, 0.99)];
  console.log(
    `accept of async texts at ${ACCEPTS_PER_SECOND}/s: p50 ${percentile(calm, 0.5).toFixed(1)} ms and p99 ${alone.toFixed(1)} ms alone (p99 before ${percentile(before, 0.99).toFixed(1)} ms), p50 ${percentile(busy, 0.5).toFixed(1)} ms and p99 ${beside.toFixed(1)} ms beside the campaigns: ${((beside / alone - 1) * 100).toFixed(0)} % more (goal: less than 20 %); node resident ${running.toFixed(0)} MB`,
  );
}

async function createCampaign(gateway: BenchGateway, n: number, size: number): Promise<number> {
  const { id: instance_id } = await connectInstance(gateway);
  const { data } = await gateway.owner.createCampaign({
    name: `Bench ${n}`,
    instance_id,
    message_template: "Hello {{name}}",
    min_delay_ms: 100,
    max_delay_ms: 300,
  });
  for (let at = 0; at < size; at += PER_REQUEST) {
    const recipients = Array.from({ length: Math.min(PER_REQUEST, size - at) }, (_, row) => ({
      phone: `5521${n}${String(at + row).padStart(7, "0")}7`,
      variables: { name: `Person ${row}` },
    }));
    await gateway.owner.addRecipients({ id: data.id, recipients });
  }
  return data.id;
}

/** Times to the 202, offered at an even pace whatever becomes of the answers. */
async function measureAccepts({ id, client }: BenchInstance, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const under: Promise<unknown>[] = [];
  const beganAt = performance.now();
  for (let n = 0; n < seconds * ACCEPTS_PER_SECOND; n++) {
    await sleep(beganAt + (n * 1000) / ACCEPTS_PER_SECOND - performance.now());
    const sentAt = performance.now();
    const number = `55119${10_000_000 + (n % 5000) * 10 + 6}`;
    under.push(
      client
        .sendText({ id, number, text: `n${n}`, async: true })
        .then(() => times.push(performance.now() - sentAt)),
    );
  }
  await Promise.all(under);
  return times;
}

/** How long after its planned moment each send was submitted. */
async function reportErrors({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ error: number }>(`
    select extract(epoch from m.submitted_at - r.planned_at)::float8 * 1000 as error
    from campaign_recipient r join message m on m.id = r.message where m.submitted_at is not null`);
  const errors = rows.map(({ error }) => error);
  console.log(
    `${errors.length} campaign sends in ${SECONDS} s: schedule error p50 ${percentile(errors, 0.5).toFixed(0)} ms, p99 ${percentile(errors, 0.99).toFixed(0)} ms, max ${Math.max(...errors).toFixed(0)} ms (goal: p99 below 1000)`,
  );
}

async function reportPauses(
  gateway: BenchGateway,
  { pool }: Database,
  ids: readonly number[],
): Promise<void> {
  const late: number[] = [];
  for (const id of ids) {
    await gateway.owner.pauseCampaign({ id });
    const answeredAt = Date.now();
    await sleep(500);
    const { rows } = await pool.query<{ last: Date | null }>(
      `select max(m.submitted_at) as last from campaign_recipient r join message m on m.id = r.message
      where r.campaign_id = $1`,
      [id],
    );
    late.push((rows[0]?.last?.getTime() ?? 0) - answeredAt);
  }
  console.log(
    `last send of a paused campaign, from the answer on: ${Math.max(...late).toFixed(0)} ms at the latest (goal: below 2000; below 0 is before the answer)`,
  );
}
