import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { maskUrl } from "../../platform/outgoing/mask-url.ts";
import type { WebhookFormat } from "../webhook-formats/contract.ts";
import { formatEventBody } from "../webhook-formats/webhook-formats.ts";
import type { webhooksContract } from "./contract.ts";
import { SECRET_MASK } from "./webhook-record.ts";

type LogHandlers = Pick<Handlers<typeof webhooksContract>, "listDeliveryLogs">;

export function deliveryLogHandlers(db: Db, baseUrl: string): LogHandlers {
  return {
    async listDeliveryLogs({ input }) {
      const { rows, pagination } = toPage(await readLogs(db, input), input.limit, (row) => row.id);
      const data = rows.map(({ body, format, has_token, ...row }) => ({
        ...row,
        url: maskUrl(row.url),
        request_payload:
          body &&
          payloadOf(body, format ?? "native", has_token ? SECRET_MASK : null, maskUrl(row.url), baseUrl),
      }));
      return new OkResponse(data, { beside: { pagination } });
    },
  };
}

/** The payload in the webhook's current format, without its token. */
function payloadOf(
  body: Buffer,
  format: WebhookFormat,
  token: string | null,
  url: string,
  baseUrl: string,
): unknown {
  const sent = formatEventBody(body, format, { url, token, baseUrl }) ?? body;
  return JSON.parse(sent.toString("utf8"));
}

/** An attempt refers to the event's bytes instead of copying them. */
function readLogs(db: Db, input: InputOf<typeof webhooksContract.listDeliveryLogs>) {
  const from = readCursor(input.cursor);
  let query = db
    .selectFrom("attempt as a")
    .leftJoin("event as e", (join) =>
      join.onRef("e.event_id", "=", "a.event_id").onRef("e.created_at", "=", "a.event_at"),
    )
    .leftJoin("webhook as w", "w.id", "a.webhook_id")
    .selectAll("a")
    .select(["e.body", "e.id as webhook_event_id", "w.format"])
    .select(sql<boolean>`w.format_token is not null`.as("has_token"))
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
