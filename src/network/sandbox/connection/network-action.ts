import type { Pool, PoolClient } from "pg";
import type { Jid } from "../../driver.ts";
import type { OperationErrorCode, OperationResult } from "../../session-operations.ts";
import type { SandboxConnection } from "../connection/sandbox-connection.ts";
import { wakeupBusOf } from "../connection/wakeup-bus.ts";
import type { InboxEntry } from "../inbox/inbox-entry.ts";
import { inTransaction } from "../pairing/log-in.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import type { SandboxPerson } from "../sandbox-numbers.ts";

/** The actor of one change in the network, within one transaction. */
export interface NetworkAction extends SandboxNetwork<PoolClient> {
  actor: SandboxPerson;
  /** The acting device; undefined if the phone itself acts. */
  device?: number;
  /**
   * Adds an entry to the inbox of every device of these phones, except a device that already has the change.
   */
  deliver(
    phones: readonly string[],
    chat: Jid,
    entry: InboxEntry,
    options?: { except?: number },
  ): Promise<void>;
}

/** Runs an action, then wakes the sessions that have new inbox entries. */
export async function runNetworkAction<Result>(
  { client: pool, account_id }: SandboxNetwork<Pool>,
  who: { actor: SandboxPerson; device?: number },
  work: (acting: NetworkAction) => Promise<Result>,
): Promise<Result> {
  const woken = new Set<number>();
  const result = await inTransaction(pool, (client) =>
    work({
      ...who,
      client,
      account_id,
      async deliver(phones, chat, entry, { except = 0 } = {}) {
        const { rows } = await client.query<{ device: number }>(
          `insert into sandbox.inbox (device, chat, kind, body)
           select id, $2, $3, $4 from sandbox.device
           where phone = any ($1) and account_id = $6 and id <> $5 and linked_at is not null and unlinked_at is null order by id
           returning device::float8 as device`,
          [phones, chat, entry.kind, JSON.stringify(entry.body), except, account_id],
        );
        for (const { device } of rows) woken.add(device);
      },
    }),
  );
  for (const device of woken) wakeupBusOf(pool).device(device);
  return result;
}

/** A session operation as the ledger records it. */
export interface OperationRequest {
  action: string;
  chat?: string;
  target_id?: string;
}

/** Runs a session operation on the network. */
export type RunOperation = <Value>(
  request: OperationRequest,
  work: (acting: NetworkAction) => Promise<OperationResult<Value>>,
) => Promise<OperationResult<Value>>;

const NOT_CONNECTED = { outcome: "failed", reason: "The session is not connected." } as const;

/** Runs operations over the socket that is open at that moment; the ledger records each one that arrives. */
export function createOperationRunner(
  network: SandboxNetwork<Pool>,
  connectionNow: () => SandboxConnection | undefined,
): RunOperation {
  return async (request, work) => {
    const connection = connectionNow();
    if (!connection) return NOT_CONNECTED;
    const { me: actor, session } = connection;
    try {
      return await runNetworkAction(network, { actor, device: actor.device }, async (acting) => {
        if (!(await isOpen(acting.client, actor.device, session))) return NOT_CONNECTED;
        const result = await work(acting);
        await enter(acting, session, request, result.outcome === "refused" ? "refused" : "accepted");
        return result;
      });
    } catch (error) {
      return { outcome: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
  };
}

async function isOpen(client: PoolClient, device: number, session: string): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from sandbox.device where id = $1 and session = $2 and unlinked_at is null and banned_at is null",
    [device, session],
  );
  return rowCount === 1;
}

async function enter(
  { client, actor, device }: NetworkAction,
  session: string,
  { action, chat, target_id }: OperationRequest,
  outcome: string,
): Promise<void> {
  await client.query(
    `insert into sandbox.ledger (device, phone, session, action, outcome, chat, target_id)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [device, actor.phone, session, action, outcome, chat ?? null, target_id ?? null],
  );
}

export function succeeded<Value>(value: Value): OperationResult<Value> {
  return { outcome: "done", value };
}

export function rejected(code: OperationErrorCode, reason: string): OperationResult<never> {
  return { outcome: "refused", code, reason };
}
