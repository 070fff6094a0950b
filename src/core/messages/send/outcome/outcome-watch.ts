import type { Engine } from "../../../../engine/engine.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { MessageRow } from "../../log/message-view.ts";

/** The fields of a message that a response contains. */
export type MessageOutcome = Pick<MessageRow, "id" | "message_id" | "jid" | "status" | "sent_at" | "error">;

export interface OutcomeWatch {
  /** Waits at most `timeoutMs` for an outcome. Returns the message if this node has just recorded it. */
  waitFor(id: number, timeoutMs: number): Promise<MessageOutcome | undefined>;
  /** Ends every wait. */
  close(): void;
}

const POLL_MS = 1000;
const TOPIC = "outcome";

/**
 * Publishes messages whose outcomes were just committed. Another node gets the outcome of a sync send that its
 * caller waits for; all of them get it if that node is unknown.
 */
export function publishOutcomes(
  engine: Pick<Engine, "node" | "publish">,
  rows: readonly (MessageOutcome & Pick<MessageRow, "mode">)[],
  awaitedBy: ReadonlyMap<number, string | undefined>,
): void {
  for (const row of rows) {
    const node = row.mode === "sync" ? awaitedBy.get(row.id) : engine.node.id;
    engine.publish(TOPIC, String(row.id), row, node);
  }
}

type ResolveWait = (decided?: MessageOutcome) => void;

/** Waits for outcomes: the recording node publishes them, and a poll each second finds lost notifications. */
export function createOutcomeWatch(db: Db, engine: Engine): OutcomeWatch {
  const waiting = new Map<number, Set<ResolveWait>>();
  const unsubscribe = engine.subscribe(TOPIC, (key, decided) =>
    resolveWaits(Number(key), decided as MessageOutcome | undefined),
  );
  const poll = setInterval(() => void pollOutcomes(), POLL_MS).unref();
  let isPolling = false;
  let isClosed = false;

  function resolveWaits(id: number, decided?: MessageOutcome): void {
    for (const resolve of waiting.get(id) ?? []) resolve(decided);
  }

  function resolveAll(ids: number[]): void {
    for (const id of ids) resolveWaits(id);
  }

  async function pollOutcomes(): Promise<void> {
    if (waiting.size === 0 || isPolling) return;
    isPolling = true;
    // If the database is unavailable, the next poll repeats the query.
    await findDecided(db, [...waiting.keys()]).then(resolveAll, () => {});
    isPolling = false;
  }

  async function waitFor(id: number, timeoutMs: number): Promise<MessageOutcome | undefined> {
    if (isClosed) return undefined;
    return new Promise((resolve) => {
      const finish: ResolveWait = (decided) => {
        clearTimeout(timer);
        const others = waiting.get(id);
        others?.delete(finish);
        if (others?.size === 0) waiting.delete(id);
        resolve(decided);
      };
      const timer = setTimeout(finish, timeoutMs);
      waiting.set(id, (waiting.get(id) ?? new Set()).add(finish));
    });
  }

  return {
    waitFor,
    close() {
      isClosed = true;
      clearInterval(poll);
      unsubscribe();
      for (const id of [...waiting.keys()]) resolveWaits(id);
    },
  };
}

async function findDecided(db: Db, ids: number[]): Promise<number[]> {
  const messages = db
    .selectFrom("message")
    .select("id")
    .where("id", "in", ids)
    .where("outcome_at", "is not", null);
  const actions = db
    .selectFrom("action")
    .select("id")
    .where("id", "in", ids)
    .where("outcome_at", "is not", null);
  const decided = await messages.unionAll(actions).execute();
  return decided.map(({ id }) => id);
}
