import { setTimeout as sleep } from "node:timers/promises";
import { residentMb } from "../process-figures.ts";
import { startWhatsAppStage, type WhatsAppBenchStage } from "./whatsapp-stage.ts";

const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 200);
const SETTLE_MS = 10_000;

/** What idle sessions hold in memory, and how soon all of them are back after a start. */
export async function benchWhatsAppSessions(): Promise<void> {
  const stage = await startWhatsAppStage();
  await stage.connect();
  await logInAgain(stage, 1);
  await sleep(SETTLE_MS);
  const alone = await residentMb(stage.gateway.pid);
  for (let n = 1; n < SESSIONS; n++) await stage.connect();
  const paired = await residentMb(stage.gateway.pid);
  const { seconds, slowest } = await logInAgain(stage, SESSIONS);
  await sleep(SETTLE_MS);
  const many = await residentMb(stage.gateway.pid);
  const each = (many - alone) / (SESSIONS - 1);
  console.log(
    `${SESSIONS} sessions are back ${seconds.toFixed(1)} s after the start of the gateway (goal: below 20); slowest answer of /health meanwhile ${slowest.toFixed(0)} ms`,
  );
  console.log(
    `node with 1 idle session ${alone.toFixed(0)} MB resident, with ${SESSIONS} ${many.toFixed(0)} MB: ${each.toFixed(2)} MB each (goal: below 1.5); right after the pairing of all ${paired.toFixed(0)} MB`,
  );
  await stage.stop();
}

/** Stops the gateway and starts it again; `slowest`: of its answers, in milliseconds. */
async function logInAgain(
  stage: WhatsAppBenchStage,
  count: number,
): Promise<{ seconds: number; slowest: number }> {
  await stage.restart();
  const began = performance.now();
  let slowest = 0;
  for (;;) {
    const asked = performance.now();
    await fetch(`${stage.gateway.url}/health`);
    slowest = Math.max(slowest, performance.now() - asked);
    if ((await countOnline(stage)) === count) break;
    await sleep(100);
  }
  return { seconds: (performance.now() - began + stage.gateway.startMs) / 1000, slowest };
}

async function countOnline({ gateway }: WhatsAppBenchStage): Promise<number> {
  let online = 0;
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await gateway.owner.listInstances({ limit: 100, cursor });
    online += data.filter(({ status }) => status === "connected").length;
    if (!pagination.next_cursor) return online;
    cursor = pagination.next_cursor;
  }
}
