import { sql } from "kysely";
import type { Lane } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { statementHooks, subscriberLanes } from "../statement-hooks.ts";
import { type DeleteNetworkCopiesDeps, deleteNetworkCopies } from "./delete-network-copies.ts";
import { deletePairings } from "./sealed-pairing-store.ts";

const ROWS_AT_ONCE = 5_000;

/**
 * Removes the data of a hidden instance: deliveries, then messages and events in batches, then the row. Each
 * step can be repeated. Returns the deleted lanes; undefined if this node no longer owns the lane.
 */
export async function removeInstance(
  deps: DeleteNetworkCopiesDeps,
  node: string,
  lane: Lane,
): Promise<number[] | undefined> {
  const { db } = deps;
  const id = Number(lane.key);
  const silenced = await db.transaction().execute(async (trx) => {
    return (await lockAlone(trx, node, lane)) ? silenceWebhooks(trx, id) : undefined;
  });
  if (!silenced) return undefined;
  await deleteNetworkCopies(deps, id);
  await removeHistory(db, id);
  const isRemoved = await db.transaction().execute(async (trx) => {
    if (!(await lockAlone(trx, node, lane))) return false;
    await removeRow(trx, id, lane.id);
    return true;
  });
  return isRemoved ? [...silenced, lane.id] : undefined;
}

/** Checks the fence, and locks the lane until the commit. */
async function lockAlone(trx: Trx, node: string, lane: Lane): Promise<boolean> {
  const locked = await trx
    .selectFrom("lane")
    .select("id")
    .where("id", "=", lane.id)
    .where("owner", "=", node)
    .where("epoch", "=", lane.epoch)
    .forUpdate()
    .execute();
  return locked.length > 0;
}

/**
 * Ends and marks pending deliveries, and deletes their lanes with the jobs, and the event counter. A
 * transaction that records an event waits for the counter, then finds none and queues nothing in a deleted
 * lane.
 */
async function silenceWebhooks(trx: Trx, id: number): Promise<number[]> {
  const instance = await trx
    .selectFrom("instance")
    .select("global_lane")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!instance) return [];
  const own = await trx.selectFrom("webhook").select("lane").where("instance_id", "=", id).execute();
  const { rows: subscribed } = await sql<{ lane: number | null }>`
    ${subscriberLanes(sql`instance_id = ${id}`)}`.execute(trx);
  const all = [instance.global_lane, ...[...own, ...subscribed].map(({ lane }) => lane)];
  const lanes = all.filter((lane) => lane !== null).sort((a, b) => a - b);
  await trx.selectFrom("lane").select("id").where("id", "in", lanes).orderBy("id").forUpdate().execute();
  // Locked after the lanes: a transaction that records a delivery locks its lane first and then the counter.
  await trx.selectFrom("event_counter").select("last").where("instance_id", "=", id).forUpdate().execute();
  await sql`
    update delivery set status = 'discarded', error = 'The instance was removed.', next_retry_at = null
    where instance_id = ${id} and status in ('pending', 'retrying', 'parked')
      and webhook_id in (select id from webhook where instance_id = ${id} or instance_id is null)`.execute(
    trx,
  );
  await trx.deleteFrom("job").where("lane", "in", lanes).execute();
  await trx.deleteFrom("lane").where("id", "in", lanes).execute();
  await trx.deleteFrom("webhook").where("instance_id", "=", id).execute();
  for (const { table } of statementHooks().subscribers)
    await sql`delete from ${sql.table(table)} where instance_id = ${id}`.execute(trx);
  await trx.deleteFrom("event_counter").where("instance_id", "=", id).execute();
  return lanes;
}

/** Deletes from the large tables in batches, so that transactions stay small. */
async function removeHistory(db: Db, id: number): Promise<void> {
  const pieceOf = (table: "media" | "message" | "conversation" | "contact") => sql`
    delete from ${sql.table(table)} where id in (
      select id from ${sql.table(table)} where instance_id = ${id} limit ${ROWS_AT_ONCE})`;
  const pieces = [
    pieceOf("media"),
    sql`delete from message_receipt where instance_id = ${id} and (message, person) in (
      select message, person from message_receipt where instance_id = ${id} order by message limit ${ROWS_AT_ONCE})`,
    sql`delete from poll_vote where instance_id = ${id} and (message, person) in (
      select message, person from poll_vote where instance_id = ${id} order by message limit ${ROWS_AT_ONCE})`,
    pieceOf("message"),
    sql`delete from message_search where instance_id = ${id} and (at, id) in (
      select at, id from message_search where instance_id = ${id} order by at, id limit ${ROWS_AT_ONCE})`,
    pieceOf("conversation"),
    pieceOf("contact"),
    sql`delete from event where instance_id = ${id} and sequence in (
      select sequence from event where instance_id = ${id} order by sequence limit ${ROWS_AT_ONCE})`,
    // These rows contain the receivers' URLs and responses.
    sql`delete from attempt where instance_id = ${id} and (created_at, id) in (
      select created_at, id from attempt where instance_id = ${id} order by id limit ${ROWS_AT_ONCE})`,
  ];
  for (const piece of pieces) {
    let removed = 0n;
    do {
      removed = (await piece.execute(db)).numAffectedRows ?? 0n;
    } while (removed > 0n);
  }
}

async function removeRow(trx: Trx, id: number, lane: number): Promise<void> {
  const lanes = await trx.selectFrom("instance").select("global_lane").where("id", "=", id).execute();
  await trx.deleteFrom("instance").where("id", "=", id).execute();
  await deletePairings(trx, id);
  await trx.deleteFrom("group_chat").where("instance_id", "=", id).execute();
  await trx.deleteFrom("group_list").where("instance_id", "=", id).execute();
  await trx.deleteFrom("idempotency").where("instance_id", "=", id).execute();
  await trx.deleteFrom("number_check").where("instance_id", "=", id).execute();
  await trx.deleteFrom("connection_log").where("instance_id", "=", id).execute();
  await trx.deleteFrom("api_log").where("instance_id", "=", id).execute();
  await trx
    .deleteFrom("job")
    .where("lane", "in", [lane, ...lanes.map((row) => row.global_lane)])
    .execute();
  await trx.deleteFrom("lane").where("id", "=", lane).execute();
}
