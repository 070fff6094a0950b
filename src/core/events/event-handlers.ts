import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { deliveryFailureOf } from "../../platform/delivery-reasons.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, readPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { eventsContract } from "./contract.ts";
import { getEvent } from "./get-event.ts";
import { groupBy } from "./group-by.ts";
import { isListedEvent } from "./is-listed-event.ts";
import { streamHandlers } from "./stream-handlers.ts";

export function eventHandlers(db: Db): Handlers<typeof eventsContract> {
  return {
    ...streamHandlers(db),

    async listEvents({ input }) {
      const { rows, pagination } = await readPage(
        input,
        (page) => readEvents(db, { ...input, ...page }),
        (row) => row.sequence,
      );
      const deliveries = await readDeliveries(db, rows);
      const data = rows.map(({ body, ...row }) => ({
        ...row,
        deliveries: deliveries(row.event_id),
        ...(body && { payload: toPayload(body) }),
      }));
      return new OkResponse(data, { beside: { pagination } });
    },

    async getEvent({ input }) {
      const { body, ...row } = await getEvent(db, input.id, input.eventId);
      const deliveries = await readDeliveries(db, [row]);
      return { ...row, deliveries: deliveries(row.event_id), payload: toPayload(body) };
    },
  };
}

function toPayload(body: Buffer): unknown {
  return JSON.parse(body.toString("utf8"));
}

/** Includes the bodies only if they are replayed. */
function readEvents(
  db: Db,
  input: Omit<InputOf<typeof eventsContract.listEvents>, "cursor"> & { cursor: string | undefined },
) {
  const { id, limit, cursor, event, webhook_id, status, from: since, to, after } = input;
  const from = readCursor(cursor);
  let query = db
    .selectFrom("event")
    .select(["id", "event_id", "event", "sequence", "created_at"])
    .$if(after !== undefined, (replay) => replay.select("body"))
    .where("instance_id", "=", id)
    .limit(limit);
  if (event) query = query.where(isListedEvent(sql`event.event`, event));
  if (webhook_id !== undefined || status) query = query.where(hasDelivery(webhook_id, status));
  if (since) query = query.where("created_at", ">=", since);
  if (to) query = query.where("created_at", "<", to);
  if (after === undefined) {
    if (from !== undefined) query = query.where("sequence", "<", from);
    query = query.orderBy("sequence", "desc");
  } else {
    query = query.where("sequence", ">", Math.max(after, from ?? 0)).orderBy("sequence", "asc");
  }
  return query.execute();
}

/** A delivery stores the time of its event, so the query reads only that partition. */
function hasDelivery(webhookId: number | undefined, status: string | undefined) {
  const isTo = webhookId === undefined ? sql`true` : sql`d.webhook_id = ${webhookId}`;
  const isIn = status === undefined ? sql`true` : sql`d.status = ${status}`;
  // Not `exists`: PostgreSQL would plan it as a join with all deliveries.
  return sql<boolean>`coalesce((
    select true from delivery d
    where d.event_id = event.event_id and d.created_at = event.created_at and ${isTo} and ${isIn}
    limit 1), false)`;
}

/** The deliveries of an event by its `event_id`. */
async function readDeliveries(db: Db, events: { event_id: string; created_at: Date }[]) {
  const rows = await findDeliveries(db, events);
  const shown = rows.map((row) => ({
    ...row,
    ...deliveryFailureOf(row.error_class, row.response_status),
  }));
  return groupBy(shown, (row) => row.event_id);
}

async function findDeliveries(db: Db, events: { event_id: string; created_at: Date }[]) {
  if (events.length === 0) return [];
  const times = events.map((event) => event.created_at.getTime());
  return db
    .selectFrom("delivery")
    .selectAll()
    .where(
      "event_id",
      "in",
      events.map((event) => event.event_id),
    )
    .where("created_at", ">=", new Date(Math.min(...times)))
    .where("created_at", "<=", new Date(Math.max(...times)))
    .orderBy("id")
    .execute();
}
