import { residentMb } from "../process-figures.ts";
import { type BenchGateway, connectInstance } from "./bench-gateway.ts";
import { type BenchStage, withBenchStage } from "./bench-stage.ts";
import { seedLog } from "./seed-log.ts";

const MESSAGES = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 1_000_000);
const LOOK_EVERY_MS = 100;

/** What the export and the anonymisation of a large account cost. */
export function benchExport(): Promise<void> {
  return withBenchStage(run);
}

async function run({ gateway, database }: BenchStage): Promise<void> {
  const { id } = await connectInstance(gateway);
  await seedLog(database, { instance: id, messages: MESSAGES, chats: 5_000 });
  await database.pool.query("vacuum analyze");
  const exported = await whileWatched(gateway, () => readExport(gateway));
  console.log(
    `export of ${MESSAGES} messages: ${exported.seconds.toFixed(1)} s, ${(exported.result / 1e6).toFixed(0)} MB, ${exported.more.toFixed(0)} MB resident more (goal: below 150)`,
  );
  const erased = await whileWatched(gateway, () => anonymise(gateway));
  console.log(
    `anonymising ${MESSAGES} messages: ${erased.seconds.toFixed(1)} s, ${erased.more.toFixed(0)} MB resident more; answered after ${erased.result.toFixed(1)} s (goal: below 5)`,
  );
}

async function whileWatched<T>({ pid }: BenchGateway, work: () => Promise<T>) {
  const before = await residentMb(pid);
  let most = before;
  const timer = setInterval(async () => {
    most = Math.max(most, await residentMb(pid));
  }, LOOK_EVERY_MS);
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  return { result, seconds, more: most - before };
}

/** Its length in bytes. */
async function readExport({ url, token }: BenchGateway): Promise<number> {
  const response = await fetch(`${url}/api/data/export`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  let bytes = 0;
  let end = "";
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    end = Buffer.from(piece).toString("latin1").slice(-2);
  }
  if (end !== "}}") throw new Error("the export has not come to its end");
  return bytes;
}

/** Seconds until it was answered; resolves when it is done. */
async function anonymise({ owner }: BenchGateway): Promise<number> {
  const began = performance.now();
  await owner.anonymizeData({ scope: "all" });
  const answeredAfter = (performance.now() - began) / 1000;
  for (;;) {
    const { data } = await owner.listDataRequests({ limit: 1 });
    if (data[0]?.status === "completed") return answeredAfter;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
