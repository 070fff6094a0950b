import assert from "node:assert/strict";
import pg from "pg";
import { waitUntil } from "./gateway.ts";

/** Database usage of a gateway. */
export interface StatementCost {
  /** In order, without begin, commit, rollback and settings. */
  statements: readonly SentStatement[];
  /** A statement outside of a transaction counts as one. */
  transactions: number;
  /** Transactions that write or lock rows, whose commit waits for the WAL. */
  commits: number;
}

export interface SentStatement {
  text: string;
  /** The first own function outside of `platform/db` in the call stack. */
  sentBy: string;
  /** Application name of the connection. */
  pool: string;
}

export interface StatementMeter {
  /** Resolves when the gateway is idle, with the minimum cost of several repetitions. */
  measure(repetitions: number, act: () => Promise<unknown>): Promise<StatementCost>;
  stop(): void;
}

/** Longer than the gateway's batching delay. */
const QUIET_MS = 300;
const GATEWAY_POOLS = ["waygate", "waygate requests"];

/** Parts that query periodically, and caches with a TTL of 5 s. */
const PERIODIC = [
  "engine/lanes/job-poller.ts",
  "engine/lanes/lane-rebalancer.ts",
  "engine/lanes/lane-takeover.ts",
  "core/accounts/access/credential-cache.ts",
  "core/instance-logs/request-log.ts",
  "core/sessions/live-settings.ts",
];

/** Reads a lane with many groups, here only that of recurring jobs. */
const RECURRING_READ = "fetchLaneJobs";

/** Counts the statements of a gateway in this process on this database, except periodic ones. */
export function startStatementMeter(databaseUrl: string): StatementMeter {
  const database = new URL(databaseUrl).pathname.slice(1);
  let counter = new StatementCounter();
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: MeteredClient, ...args: unknown[]): unknown {
    const { application_name } = this.connectionParameters;
    if (this.database === database && GATEWAY_POOLS.includes(String(application_name)))
      for (const text of textsOf(args[0])) counter.count(this, text, String(application_name));
    return send.apply(this, args);
  } as typeof pg.Client.prototype.query;
  const isQuiet = () => performance.now() - counter.lastAt > QUIET_MS;
  return {
    async measure(repetitions, act) {
      const costs: StatementCost[] = [];
      while (costs.length < repetitions) {
        await waitUntil(isQuiet);
        counter = new StatementCounter();
        await act();
        await waitUntil(isQuiet);
        costs.push(counter);
      }
      return costs.reduce((least, one) => (one.statements.length < least.statements.length ? one : least));
    },
    stop() {
      pg.Client.prototype.query = send as typeof pg.Client.prototype.query;
    },
  };
}

/** Fails with the list of statements if an operation cost more. */
export function expectAtMost(
  cost: StatementCost,
  most: { statements: number; transactions: number; commits: number },
): void {
  const { statements, transactions, commits } = cost;
  const list = statements.map(({ text, sentBy }, n) => `${n + 1}. ${sentBy}: ${summarise(text)}`);
  const counts = { statements: statements.length, transactions, commits };
  const isWithin = Object.entries(most).every(
    ([name, limit]) => counts[name as keyof typeof counts] <= limit,
  );
  assert.ok(
    isWithin,
    `It cost ${JSON.stringify(counts)}, but at most ${JSON.stringify(most)} is allowed. The gateway sent:\n${list.join("\n")}`,
  );
}

interface MeteredClient extends pg.Client {
  database: string;
  connectionParameters: { application_name?: string };
}

/**
 * Planner settings, sent with the first statement that needs them in the same round trip. Plans are discarded
 * periodically as tables grow.
 */
const PLANNING = /^(set plan_cache_mode|discard plans)/;

const BEGINS = /^\s*(begin|start transaction)\b/i;
const ENDS = /^\s*(commit|rollback)\b/i;
const WRITES = /\b(insert into|update|delete from|for (key )?share)\b/i;

class StatementCounter implements StatementCost {
  readonly statements: SentStatement[] = [];
  transactions = 0;
  commits = 0;
  lastAt = performance.now();
  /** Connections in a transaction, and whether it has written. */
  readonly #open = new Map<object, boolean>();

  count(connection: object, text: string, pool: string): void {
    const stack = readStack();
    const senders = sendersOf(stack);
    // Without a caller of ours: the pool reads table sizes periodically.
    if (senders.length === 0 || senders.some((sender) => PERIODIC.includes(sender.replace(/:.*/, ""))))
      return;
    if (stack.includes(` ${RECURRING_READ} `)) return;
    this.lastAt = performance.now();
    if (BEGINS.test(text)) this.#open.set(connection, false);
    else if (ENDS.test(text)) this.#end(connection);
    else this.#add(connection, { text, sentBy: senders[0] ?? "unknown", pool });
  }

  #add(connection: object, statement: SentStatement): void {
    this.statements.push(statement);
    const writes = WRITES.test(statement.text);
    if (this.#open.has(connection)) this.#open.set(connection, this.#open.get(connection) || writes);
    else this.#addTransaction(writes);
  }

  #end(connection: object): void {
    this.#addTransaction(this.#open.get(connection) ?? false);
    this.#open.delete(connection);
  }

  #addTransaction(writes: boolean): void {
    this.transactions += 1;
    if (writes) this.commits += 1;
  }
}

/** Of one statement, or of several in one round trip. */
function textsOf(query: unknown): readonly string[] {
  const { text = "", texts = [text] } = (typeof query === "string" ? { text: query } : query) as {
    text?: string;
    texts?: readonly string[];
  };
  return texts.filter((one) => !PLANNING.test(one));
}

function readStack(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

/** Own files and lines outside of `platform/db`, innermost first. */
function sendersOf(stack: string): string[] {
  const frames = stack.matchAll(/\/src\/((?!platform\/db\/)[\w/-]+\.ts:\d+)/g);
  return [...frames].map(([, sender = ""]) => sender);
}

/** Most statements begin alike, so written tables come first. */
function summarise(text: string): string {
  const written = [...text.matchAll(/\b(?:insert into|update(?! set| of)|delete from) ["\w.]+/gi)].map(
    ([write]) => write,
  );
  const start = text.replace(/\s+/g, " ").trim().slice(0, 100);
  return written.length > 0 ? `${[...new Set(written)].join(", ")} (${start} ...)` : `${start} ...`;
}
