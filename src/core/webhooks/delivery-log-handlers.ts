import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { deliveryFailureOf } from "../../platform/delivery-reasons.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, readPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { isListedEvent } from "../events/events.ts";
import type { WebhookFormat, webhooksContract } from "./contract.ts";
import { type EventFormats, type FormatOptions, formatEventBody } from "./event-formats.ts";
import { SECRET_MASK } from "./webhook-record.ts";

type LogHandlers = Pick<Handlers<typeof webhooksContract>, "listDeliveryLogs" | "getDeliveryLog">;

interface DeliveryLogDeps {
  db: Db;
  formats: EventFormats;
  baseUrl: string;
}

export function deliveryLogHandlers(deps: DeliveryLogDeps): LogHandlers {
  const { db } = deps;
  return {
    async listDeliveryLogs({ input }) {
      const { rows, pagination } = await readPage(
        input,
        (page) => readLogs(db, { ...input, ...page }),
        (row) => row.id,
      );
      return new OkResponse(
        rows.map((row) => toDeliveryLog(row, deps)),
        { beside: { pagination } },
      );
    },

    async getDeliveryLog({ input: { id, logId } }) {
      const row = await selectLogs(db, id).where("a.id", "=", logId).executeTakeFirst();
      if (!row) throw new GatewayError("NOT_FOUND", "There is no such webhook log.");
      return toDeliveryLog(row, deps);
    },
  };
}

type LogRow = Awaited<ReturnType<typeof readLogs>>[number];

function toDeliveryLog({ body, format, has_token, ...row }: LogRow, { formats, baseUrl }: DeliveryLogDeps) {
  const options = { url: row.url, token: has_token ? SECRET_MASK : null, baseUrl };
  const failure = deliveryFailureOf(row.error_class, row.status_code);
  return {
    ...row,
    ...failure,
    request_payload: body && payloadOf(formats, body, format ?? "native", options),
  };
}

/** The payload in the webhook's current format, without its token. */
function payloadOf(
  formats: EventFormats,
  body: Buffer,
  format: WebhookFormat,
  options: FormatOptions,
): unknown {
  const sent = formatEventBody(formats, body, format, options) ?? body;
  return JSON.parse(sent.toString("utf8"));
}

function readLogs(db: Db, input: InputOf<typeof webhooksContract.listDeliveryLogs>) {
  const before = readCursor(input.cursor);
  let query = selectLogs(db, input.id)
    .where(containsText(input.q, sql`a.webhook_name, a.event, a.event_id, a.url, a.error`))
    .orderBy("a.id", "desc")
    .limit(input.limit);
  if (before !== undefined) query = query.where("a.id", "<", before);
  if (input.webhook_id !== undefined) query = query.where("a.webhook_id", "=", input.webhook_id);
  if (input.event !== undefined) query = query.where(isListedEvent(sql`a.event`, input.event));
  if (input.event_id !== undefined) query = query.where("a.event_id", "=", input.event_id);
  if (input.success !== undefined) query = query.where("a.success", "=", input.success);
  if (input.status_code !== undefined) query = query.where("a.status_code", "=", input.status_code);
  if (input.from) query = query.where("a.created_at", ">=", input.from);
  if (input.to) query = query.where("a.created_at", "<", input.to);
  return query.execute();
}

/** An attempt refers to the event's bytes instead of copying them. */
function selectLogs(db: Db, instanceId: number) {
  return db
    .selectFrom("attempt as a")
    .leftJoin("event as e", (join) =>
      join.onRef("e.event_id", "=", "a.event_id").onRef("e.created_at", "=", "a.event_at"),
    )
    .leftJoin("webhook as w", "w.id", "a.webhook_id")
    .selectAll("a")
    .select(["e.body", "e.id as webhook_event_id", "w.format"])
    .select(sql<boolean>`w.format_token is not null`.as("has_token"))
    .where("a.instance_id", "=", instanceId);
}
