import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createBatchLoader } from "../../../engine/batch-queue.ts";
import type { Db } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { maxEntries } from "../../../platform/limits/max-entries.ts";
import type { InstanceStatus } from "../../../tables.ts";
import { noInstance, SANDBOX_NOT_ALLOWED, sandboxOff } from "../../instances/instances.ts";

/** The data of an instance that sends and actions need. */
export interface SendingInstance {
  id: number;
  account_id: number;
  lane: number;
  status: InstanceStatus;
  jid: string | null;
  /** The monthly message limit of its plan; null: no limit. */
  max_messages: number | null;
  /** Until this time the network rejects messages that begin a chat. */
  new_chats_locked_until: Date | null;
  /** Its account may no longer use the sandbox network. */
  is_sandbox_off: boolean;
}

/** For an instance `i`. */
export const isSandboxOffSql = sql<boolean>`
  (i.status = 'error' and coalesce(starts_with(i.last_disconnect_reason, ${sql.lit(SANDBOX_NOT_ALLOWED)}), false))`;

export type ReadInstance = (id: number) => Promise<SendingInstance>;

const RECONNECT_WAIT_MS = 5000;
const POLL_MS = 100;

/** Reads instances; concurrent reads share one statement. Throws NOT_FOUND. */
export function createInstanceReader(db: Db): ReadInstance {
  const loader = createBatchLoader<number, SendingInstance | undefined>({
    load: (ids) => findInstances(db, ids),
  });
  return async (id) => {
    const found = await loader.load(id);
    if (!found) throw noInstance();
    return found;
  };
}

async function findInstances(db: Db, ids: number[]): Promise<(SendingInstance | undefined)[]> {
  const distinct = [...new Set(ids)];
  const { rows } = await sql<SendingInstance>`${PREPARED_STATEMENT}
    select i.id, i.account_id, i.lane, i.status, i.jid, i.new_chats_locked_until, p.max_messages,
      ${isSandboxOffSql} as is_sandbox_off
    from instance i join account a on a.id = i.account_id join plan p on p.id = a.plan_id
    where i.id in (select unnest(${distinct}::bigint[]) ${rowCountHint(distinct)}) and i.removed_at is null`.execute(
    db,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

const REMEMBERED = 20_000;

/** Instances as they were last read, if a sync send could go out. They may have changed since. */
export interface RememberedInstances {
  /** Reads the instance, and remembers it. */
  read: ReadInstance;
  find(id: number): SendingInstance | undefined;
}

/** Spares a sync send the read of its instance: the statement that accepts it checks what is remembered. */
export function rememberInstances(read: ReadInstance): RememberedInstances {
  const remembered = new LRUCache<number, SendingInstance>(maxEntries(REMEMBERED));
  return {
    async read(id) {
      remembered.delete(id);
      const instance = await read(id);
      const { status, new_chats_locked_until: until } = instance;
      if (status === "connected" && (until === null || until <= new Date())) remembered.set(id, instance);
      return instance;
    },
    find: (id) => remembered.get(id),
  };
}

/** The instance if it is paired: an async send may wait for its connection. Throws INSTANCE_NOT_CONNECTED. */
export async function requirePaired(read: ReadInstance, id: number): Promise<SendingInstance> {
  const instance = await read(id);
  const mayWait = instance.jid !== null && !GONE.has(instance.status) && !instance.is_sandbox_off;
  if (instance.status === "connected" || mayWait) return instance;
  throw notConnected(instance);
}

const GONE = new Set<InstanceStatus>(["logged_out", "banned"]);

/** The connected instance; waits a moment while it reconnects. Throws INSTANCE_NOT_CONNECTED. */
export async function requireConnected(read: ReadInstance, id: number): Promise<SendingInstance> {
  const giveUpAt = performance.now() + RECONNECT_WAIT_MS;
  let instance = await read(id);
  while (isComingBack(instance) && performance.now() < giveUpAt) {
    await delay(POLL_MS);
    instance = await read(id);
  }
  if (instance.status === "connected") return instance;
  throw notConnected(instance);
}

function isComingBack({ jid, status }: SendingInstance): boolean {
  return jid !== null && (status === "reconnecting" || status === "connecting");
}

function notConnected({ id, jid, status, is_sandbox_off }: SendingInstance): GatewayError {
  if (is_sandbox_off) return sandboxOff();
  const connect = `Call POST /api/v1/instances/${id}/connect`;
  const toDo = jid === null || GONE.has(status) ? `${connect} and scan the QR first.` : `${connect} first.`;
  return new GatewayError("INSTANCE_NOT_CONNECTED", `The instance is not connected. ${toDo}`, {
    details: { status },
  });
}
