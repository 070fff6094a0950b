import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import { invalidField } from "../../platform/errors.ts";
import { type Handlers, Reply } from "../../platform/handler.ts";
import { maskUrl } from "../../platform/mask-url.ts";
import { readCursor, toPage } from "../../platform/paging.ts";
import type { OutputOf } from "../../platform/route.ts";
import { type instanceLogsContract, LOG_TYPES } from "./contract.ts";

type Logs = OutputOf<typeof instanceLogsContract.listInstanceLogs>;
type LogType = keyof Logs;

const NOTHING: Logs = { messages: [], connections: [], webhooks: [], api: [] };

export function instanceLogsHandlers(db: Db): Handlers<typeof instanceLogsContract> {
  return {
    async listInstanceLogs({ input: { id, type, limit, cursor } }) {
      const before = readCursor(cursor);
      if (type) {
        const { rows, pagination } = toPage(await readLog(db, type, { id, limit, before }), limit, idOf);
        return new Reply({ ...NOTHING, [type]: rows }, { beside: { pagination } });
      }
      if (before !== undefined) throw invalidField("cursor", "goes with a type");
      const pages = await Promise.all(
        LOG_TYPES.map(
          async (one) => [one, toPage(await readLog(db, one, { id, limit }), limit, idOf)] as const,
        ),
      );
      const has_more = pages.some(([, page]) => page.pagination.has_more);
      const logs = Object.fromEntries(pages.map(([one, page]) => [one, page.rows]));
      return new Reply(
        { ...NOTHING, ...logs },
        { beside: { pagination: { limit, next_cursor: null, has_more } } },
      );
    },
  };
}

interface LogRow {
  id: number;
  url?: string;
}

const idOf = ({ id }: LogRow) => id;

interface LogPage {
  id: number;
  limit: number;
  before?: number;
}

/** One row more than asked for, so that it is known whether there are more. */
async function readLog(db: Db, type: LogType, { id, limit, before }: LogPage): Promise<LogRow[]> {
  const { from, columns, order, after } = LOGS[type];
  const rest = before === undefined ? sql`true` : after(before);
  const { rows } = await sql<LogRow>`
    select ${columns} from ${from} l where instance_id = ${id} and ${rest}
    order by ${order} limit ${limit + 1}`.execute(db);
  return rows.map((row) => (row.url === undefined ? row : { ...row, url: maskUrl(row.url) }));
}

interface LogSource {
  from: RawBuilder<unknown>;
  columns: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
  after(id: number): RawBuilder<unknown>;
}

const BY_NUMBER = { order: sql`id desc`, after: (id: number) => sql`id < ${id}` };

const LOGS: Record<LogType, LogSource> = {
  messages: {
    from: sql`message`,
    columns: sql`id, message_id, direction, origin, jid, type, status, error, track_id, created_at`,
    order: sql`sent_at desc, id desc`,
    after: (id) => sql`(sent_at, id) < (select sent_at, id from message where id = ${id})`,
  },
  connections: { from: sql`connection_log`, columns: sql`id, status, reason, created_at`, ...BY_NUMBER },
  webhooks: {
    from: sql`attempt`,
    columns: sql`id, webhook_id, webhook_name, event_id, event, url, attempt, trigger, success, status_code, error,
      duration_ms, created_at`,
    ...BY_NUMBER,
  },
  api: {
    from: sql`api_log`,
    columns: sql`id, method, route, status, code, duration_ms, caller, user_id, key_last4, ip, request_id, created_at`,
    ...BY_NUMBER,
  },
};
