import type { Db } from "../../platform/db.ts";
import { type Handlers, Reply } from "../../platform/handler.ts";
import { readCursor, toPage } from "../../platform/paging.ts";
import type { InputOf } from "../../platform/route.ts";
import type { webhooksContract } from "./contract.ts";

type LogHandlers = Pick<Handlers<typeof webhooksContract>, "listDeliveryLogs">;

export function deliveryLogHandlers(db: Db): LogHandlers {
  return {
    async listDeliveryLogs({ input }) {
      const { rows, pagination } = toPage(await readLogs(db, input), input.limit, (row) => row.id);
      const data = rows.map(({ body, ...row }) => ({
        ...row,
        request_payload: body === null ? null : JSON.parse(body.toString("utf8")),
      }));
      return new Reply(data, { beside: { pagination } });
    },
  };
}

/** A try points at the event's bytes, it does not copy them. */
function readLogs(db: Db, input: InputOf<typeof webhooksContract.listDeliveryLogs>) {
  const from = readCursor(input.cursor);
  let query = db
    .selectFrom("attempt as a")
    .leftJoin("event as e", (join) =>
      join.onRef("e.event_id", "=", "a.event_id").onRef("e.created_at", "=", "a.event_at"),
    )
    .selectAll("a")
    .select(["e.body", "e.id as webhook_event_id"])
    .where("a.instance_id", "=", input.id)
    .orderBy("a.id", "desc")
    .limit(input.limit + 1);
  if (from !== undefined) query = query.where("a.id", "<", from);
  if (input.webhook_id !== undefined) query = query.where("a.webhook_id", "=", input.webhook_id);
  if (input.event !== undefined) query = query.where("a.event", "=", input.event);
  if (input.event_id !== undefined) query = query.where("a.event_id", "=", input.event_id);
  if (input.success !== undefined) query = query.where("a.success", "=", input.success);
  return query.execute();
}
