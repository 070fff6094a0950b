import { sql } from "kysely";
import { createBatchLoader } from "../../../engine/batch-queue.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { IntegrationRow } from "../integration-row.ts";

/** What a job of an integration refers to: an event, or a task of the provider. */
export type IntegrationRef =
  | { do: "event"; integration: number; event_id: string; at: string; tries?: unknown }
  | { do: "task"; integration: number; task: Record<string, unknown>; tries?: unknown };

/** The event as its row stores it. */
export interface LoadedEvent {
  event_id: string;
  event: string;
  sequence: number;
  chat: string;
  body: Buffer;
  created_at: Date;
}

export interface LoadedIntegrationJob {
  integration: IntegrationRow;
  /** Null for a task. */
  event: LoadedEvent | null;
}

/** Reads what jobs refer to, all waiting jobs in one statement; undefined if it is deleted. */
export function createWorkLoader(db: Db) {
  return createBatchLoader<IntegrationRef, LoadedIntegrationJob | undefined>({
    load: (refs) => loadWork(db, refs),
  });
}

async function loadWork(db: Db, refs: IntegrationRef[]): Promise<(LoadedIntegrationJob | undefined)[]> {
  const integrations = new Map((await readIntegrations(db, refs)).map((row) => [row.id, row]));
  const events = new Map((await readEvents(db, refs)).map((row) => [row.event_id, row]));
  return refs.map((ref) => {
    const integration = integrations.get(ref.integration);
    const event = ref.do === "event" ? events.get(ref.event_id) : null;
    if (!integration || event === undefined) return undefined;
    const { is_removed, ...row } = integration;
    return is_removed && event?.event !== FINAL_EVENT ? undefined : { integration: row, event };
  });
}

/** For an instance that is being removed, only the results of its waiting sends are reported. */
const FINAL_EVENT = "message.failed";

type FoundIntegration = IntegrationRow & { is_removed: boolean };

/** Integrations that are switched on, of active accounts whose plan includes them. */
async function readIntegrations(db: Db, refs: readonly IntegrationRef[]): Promise<FoundIntegration[]> {
  const ids = [...new Set(refs.map(({ integration }) => integration))];
  return db
    .selectFrom("integration as g")
    .innerJoin("instance as i", "i.id", "g.instance_id")
    .innerJoin("account as a", "a.id", "g.account_id")
    .innerJoin("plan as p", "p.id", "a.plan_id")
    .selectAll("g")
    .select(sql<boolean>`i.removed_at is not null`.as("is_removed"))
    .where("g.id", "in", ids)
    .where("g.enabled", "=", true)
    .where(sql<boolean>`account_state(a) in ('active', 'trial')`)
    .where(sql<boolean>`p.features -> 'integrations' is distinct from 'false'::jsonb`)
    .execute();
}

async function readEvents(db: Db, refs: readonly IntegrationRef[]): Promise<LoadedEvent[]> {
  const wanted = refs.filter((ref) => ref.do === "event");
  if (wanted.length === 0) return [];
  const times = wanted.map(({ at }) => new Date(at).getTime());
  return db
    .selectFrom("event")
    .select(["event_id", "event", "sequence", "chat", "body", "created_at"])
    .where(
      "event_id",
      "in",
      wanted.map(({ event_id }) => event_id),
    )
    .where("created_at", ">=", new Date(Math.min(...times)))
    .where("created_at", "<=", new Date(Math.max(...times)))
    .execute();
}
