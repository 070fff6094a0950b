import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import {
  type ListOrder,
  microsecondsOf,
  newestById,
  newestByTime,
  type Page,
  toPage,
} from "../../platform/http/input/pagination.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import { originOfUrl } from "../../platform/urls/mask-url.ts";
import { type instanceLogsContract, LOG_TYPES } from "./contract.ts";

type Logs = OutputOf<typeof instanceLogsContract.listInstanceLogs>;
type LogType = keyof Logs;

const NOTHING: Logs = { messages: [], connections: [], webhooks: [], api: [] };

export function instanceLogsHandlers(db: Db): Handlers<typeof instanceLogsContract> {
  return {
    async listInstanceLogs({ input: { type, cursor, ...input }, caller }) {
      // A path may hold a token of the receiver, which agents do not see.
      const showUrl = caller.kind === "user" && caller.role === "agent" ? originOfUrl : (url: string) => url;
      if (type) {
        const { rows, pagination } = await readLog(db, type, { ...input, cursor, showUrl });
        return new OkResponse({ ...NOTHING, [type]: rows }, { beside: { pagination } });
      }
      if (cursor) throw invalidField("cursor", "is allowed only with type", "not_allowed_here");
      const pages = await Promise.all(
        LOG_TYPES.map(async (one) => [one, await readLog(db, one, { ...input, showUrl })] as const),
      );
      const has_more = pages.some(([, page]) => page.pagination.has_more);
      const logs = Object.fromEntries(pages.map(([one, page]) => [one, page.rows]));
      return new OkResponse(
        { ...NOTHING, ...logs },
        { beside: { pagination: { limit: input.limit, next_cursor: null, has_more } } },
      );
    },
  };
}

interface LogRow {
  id: number;
  /** Microseconds since 1970, of a log that goes by time. */
  at: number;
  url?: string;
}

interface LogPage {
  id: number;
  limit: number;
  cursor?: string;
  q?: string;
  failed?: boolean;
  since?: Date;
  until?: Date;
  showUrl(url: string): string;
}

async function readLog(
  db: Db,
  type: LogType,
  { id, limit, cursor, showUrl, ...filter }: LogPage,
): Promise<Page<LogRow>> {
  const { from, columns, order, failure, texts } = LOGS[type];
  const { rows } = await sql<LogRow>`
    select ${columns} from ${from} l where instance_id = ${id} and ${order.after(cursor)}
      and ${filter.failed === undefined ? sql`true` : filter.failed ? failure : sql`not (${failure})`}
      and ${containsText(filter.q, texts)}
      and ${filter.since ? sql`created_at >= ${filter.since}` : sql`true`}
      and ${filter.until ? sql`created_at < ${filter.until}` : sql`true`}
    order by ${order.by} limit ${limit + 1}`.execute(db);
  const page = toPage(rows, limit, order.cursorOf);
  return {
    ...page,
    rows: page.rows.map((row) => (row.url === undefined ? row : { ...row, url: showUrl(row.url) })),
  };
}

interface LogSource {
  from: RawBuilder<unknown>;
  columns: RawBuilder<unknown>;
  order: ListOrder;
  /** Which entries are failures. */
  failure: RawBuilder<unknown>;
  /** What a search reads: nothing that some callers do not see, such as the path of a URL. */
  texts: RawBuilder<unknown>;
}

const BY_NUMBER = newestById(sql`id`);

const LOGS: Record<LogType, LogSource> = {
  messages: {
    from: sql`message`,
    columns: sql`id, message_id, direction, origin, jid, type, status, error, track_id, created_at,
      ${microsecondsOf(sql`sent_at`)} as at`,
    order: newestByTime(sql`sent_at`, sql`id`),
    failure: sql`status = 'failed'`,
    texts: sql`message_id, jid, track_id, error ->> 'code', error ->> 'message'`,
  },
  connections: {
    from: sql`connection_log`,
    columns: sql`id, status, reason, created_at`,
    order: BY_NUMBER,
    failure: sql`status in ('disconnected', 'logged_out', 'banned', 'error', 'qr_expired')`,
    texts: sql`status, reason`,
  },
  webhooks: {
    from: sql`attempt`,
    columns: sql`id, webhook_id, webhook_name, event_id, event, url, attempt, trigger, success, status_code, error, error_class,
      duration_ms, created_at`,
    order: BY_NUMBER,
    failure: sql`not success`,
    texts: sql`webhook_name, event, event_id, error`,
  },
  api: {
    from: sql`api_log`,
    columns: sql`id, method, route, status, code, duration_ms, caller, user_id, key_last4, ip, request_id, created_at`,
    order: BY_NUMBER,
    failure: sql`status >= 400`,
    texts: sql`method, route, code, request_id`,
  },
};
