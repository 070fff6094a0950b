import type { Database } from "../../src/platform/db/database.ts";
import { percentile } from "../process-figures.ts";
import { type BenchInstance, connectInstance } from "./bench-gateway.ts";
import { type BenchStage, withBenchStage } from "./bench-stage.ts";
import { seedLog } from "./seed-log.ts";

const MESSAGES = 1_000_000;
const OTHERS = 10;
const OTHER_MESSAGES = 20_000;
const CALLS = 300;

/** How long lists and searches take in a large log. */
export function benchLists(): Promise<void> {
  return withBenchStage(run);
}

async function run({ gateway, database }: BenchStage): Promise<void> {
  const instance = await connectInstance(gateway);
  await seedLog(database, { instance: instance.id, messages: MESSAGES, chats: 5_000 });
  for (let n = 0; n < OTHERS; n++) {
    const { id } = await connectInstance(gateway);
    await seedLog(database, { instance: id, messages: OTHER_MESSAGES, chats: 500 });
  }
  await database.pool.query("vacuum analyze");
  console.log(`${MESSAGES} messages in one instance, ${OTHERS * OTHER_MESSAGES} in ${OTHERS} others`);
  await measure(instance, database);
}

async function measure({ client, id }: BenchInstance, { pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ jid: string }>(
    "select jid from conversation where instance_id = $1 order by id limit 200",
    [id],
  );
  const jidOf = (n: number) => rows[n % rows.length]?.jid ?? "";
  const cursor = await deepCursor(client, id);
  const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const questions: Record<string, (n: number) => Promise<unknown>> = {
    "messages, first page": () => client.listMessages({ id }),
    "messages, a page further back": () => client.listMessages({ id, cursor }),
    "messages, inbound images": () => client.listMessages({ id, direction: "inbound", type: "image" }),
    "messages, of a rare type": () => client.listMessages({ id, type: "location" }),
    "messages, failed": () => client.listMessages({ id, status: "failed" }),
    "messages, until a month ago": () => client.listMessages({ id, until: monthAgo }),
    "messages of a chat": (n) => client.listChatMessages({ id, jid: jidOf(n) }),
    "messages of the account": () => client.listAccountMessages({}),
    chats: () => client.listChats({ id }),
    "conversations of the account": () => client.listConversations({}),
    "search: a word of every tenth message": () => client.listMessages({ id, q: "w0" }),
    "search: a word of every hundredth": (n) => client.listMessages({ id, q: `w${100 + (n % 50)}` }),
    "search: rare words": (n) => client.listMessages({ id, q: `w${15_000 + n}` }),
    "search: two words": (n) => client.listMessages({ id, q: `w${n % 20} w${1000 + n}` }),
    "search: the beginning of many words": (n) => client.listMessages({ id, q: `w${1 + (n % 9)}` }),
    "search: nothing found": (n) => client.listMessages({ id, q: `nothing${n}` }),
    "search in a chat": (n) => client.listMessages({ id, chat: jidOf(n), q: `w${n % 50}` }),
    "search in the account": (n) => client.listAccountMessages({ q: `w${500 + n}` }),
  };
  for (const [name, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let n = -20; n < CALLS; n++) {
      const began = performance.now();
      await ask(Math.max(0, n));
      if (n >= 0) times.push(performance.now() - began);
    }
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    console.log(`${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (goal: p99 below 50)`);
  }
}

async function deepCursor(client: BenchInstance["client"], id: number): Promise<string | undefined> {
  let cursor: string | undefined;
  for (let n = 0; n < 20; n++) {
    const { pagination } = await client.listMessages({ id, limit: 200, cursor });
    cursor = pagination.next_cursor ?? cursor;
  }
  return cursor;
}
