import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db.ts";

export interface OutcomeWatch {
  /** Resolves when the message or action has an outcome or `timeoutMs` have passed. */
  wait(id: number, timeoutMs: number): Promise<void>;
  /** Ends every wait. */
  close(): void;
}

const POLL_MS = 1000;

/** Waits for outcomes: told by the node that records one, and asked for once a second in case the word got lost. */
export function createOutcomeWatch(db: Db, engine: Engine): OutcomeWatch {
  const waiting = new Map<number, Set<() => void>>();
  const stopHearing = engine.hear("outcome", (key) => settle(Number(key)));
  const poll = setInterval(() => void ask(), POLL_MS).unref();
  let isAsking = false;
  let isClosed = false;

  function settle(id: number): void {
    for (const resolve of waiting.get(id) ?? []) resolve();
  }

  function settleAll(ids: number[]): void {
    for (const id of ids) settle(id);
  }

  async function ask(): Promise<void> {
    if (waiting.size === 0 || isAsking) return;
    isAsking = true;
    // A database that is away is asked again the next second.
    await findDecided(db, [...waiting.keys()]).then(settleAll, () => {});
    isAsking = false;
  }

  async function wait(id: number, timeoutMs: number): Promise<void> {
    if (isClosed) return;
    await new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        const others = waiting.get(id);
        others?.delete(finish);
        if (others?.size === 0) waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      waiting.set(id, (waiting.get(id) ?? new Set()).add(finish));
    });
  }

  return {
    wait,
    close() {
      isClosed = true;
      clearInterval(poll);
      stopHearing();
      for (const id of [...waiting.keys()]) settle(id);
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
