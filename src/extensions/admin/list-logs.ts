import { type RawBuilder, sql } from "kysely";
import { type AccountScope, isInScope } from "../../core/accounts/accounts.ts";
import { isListedEvent } from "../../core/events/events.ts";
import type { Db } from "../../platform/db/database.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import {
  type ListOrder,
  microsecondsOf,
  newestById,
  newestByTime,
  toPage,
} from "../../platform/http/input/pagination.ts";
import type { InputOf, OutputOf } from "../../platform/http/route.ts";
import type { adminContract } from "./contract.ts";

type Input = InputOf<typeof adminContract.listLogs>;
type LogRow = OutputOf<typeof adminContract.listLogs>[number] & { at: number };

/** A page of one of the logs, newest first. */
export async function listLogs(db: Db, scope: AccountScope, input: Input) {
  const order = orderOf(scope, input);
  const query =
    input.type === "audit"
      ? auditPage(scope, input, order)
      : pageOf(scope, input, { ...LOGS[input.type], order });
  const { rows } = await query.execute(db);
  const page = toPage(rows, input.limit, order.cursorOf);
  return page;
}

/** Logs are sorted by number, except the messages of selected accounts: their index is sorted by time. */
function orderOf(scope: AccountScope, { type, account_id, instance_id }: Input): ListOrder {
  const isAll = scope === undefined && account_id === undefined && instance_id === undefined;
  return type === "messages" && !isAll ? newestByTime(sql`l.sent_at`, sql`l.id`) : newestById(sql`l.id`);
}

function auditPage(
  scope: AccountScope,
  { account_id, action, cursor, limit, q }: Input,
  { by, after }: ListOrder,
) {
  const all = action?.endsWith(".*");
  const named = all ? sql`starts_with(action, ${action?.slice(0, -1)})` : sql`action = ${action}`;
  return sql<LogRow>`
    select 'audit' as type, l.* from audit l
    where ${isInScope(scope, sql`account_id`)}
      and ${account_id === undefined ? sql`true` : sql`account_id = ${account_id}`}
      and ${action === undefined ? sql`true` : named}
      and ${containsText(q, sql`actor, action, target_type, target_id, request_id`)}
      and ${after(cursor)}
    order by ${by} limit ${limit + 1}`;
}

interface ResourceLog {
  table: RawBuilder<unknown>;
  columns: RawBuilder<unknown>;
  /** What a search reads, of what the log shows. */
  texts: RawBuilder<unknown>;
  /** The conditions from the request's filters. */
  only(input: Input): RawBuilder<unknown>;
}

const anything = sql`true`;

const LOGS: Record<Exclude<Input["type"], "audit">, ResourceLog> = {
  api: {
    table: sql`api_log`,
    columns: sql`'api' as type, l.*`,
    texts: sql`l.method, l.route, l.code, l.request_id`,
    only: ({ success }) => (success === undefined ? anything : sql`(l.status < 400) = ${success}`),
  },
  connections: {
    table: sql`connection_log`,
    columns: sql`'connections' as type, l.*`,
    texts: sql`l.status, l.reason`,
    only: () => anything,
  },
  messages: {
    table: sql`message`,
    columns: sql`'messages' as type, l.id, l.account_id, l.instance_id, l.message_id, l.direction, l.origin,
      l.type as message_type, l.status, l.error ->> 'code' as error_code, l.sent_at, l.created_at,
      ${microsecondsOf(sql`l.sent_at`)} as at`,
    texts: sql`l.message_id, l.status, l.error ->> 'code'`,
    only: () => anything,
  },
  webhooks: {
    table: sql`attempt`,
    columns: sql`'webhooks' as type, l.id, l.account_id, l.instance_id, l.event_id, l.event, l.webhook_id,
      l.webhook_name, l.url, l.attempt, l.trigger, l.success, l.status_code, l.error, l.error_class, l.duration_ms,
      l.created_at`,
    texts: sql`l.webhook_name, l.event, l.event_id, l.url, l.error`,
    only: ({ success, event }) => sql`
      ${success === undefined ? anything : sql`l.success = ${success}`}
      and ${event === undefined ? anything : isListedEvent(sql`l.event`, event)}`,
  },
};

/** Pages all rows by id; for single accounts, from each object's newest row, so that quiet ones are fast. */
function pageOf(
  scope: AccountScope,
  input: Input,
  { table, columns, texts, only, order }: ResourceLog & { order: ListOrder },
) {
  const { limit, cursor, q, type, account_id, instance_id } = input;
  const { by, after } = order;
  const rows = (owner: RawBuilder<unknown>) => sql<LogRow>`
    select ${columns} from ${table} l where ${owner} and ${after(cursor)} and ${only(input)}
      and ${containsText(q, texts)} order by ${by} limit ${limit + 1}`;
  if (scope === undefined && account_id === undefined && instance_id === undefined) return rows(anything);
  const isOfAccounts = type === "api" && instance_id === undefined;
  const account = isOfAccounts ? sql`x.id` : sql`x.account_id`;
  return sql<LogRow>`
    select l.* from ${isOfAccounts ? sql`account` : sql`instance`} x
    cross join lateral (${rows(isOfAccounts ? sql`l.account_id = x.id` : sql`l.instance_id = x.id`)}) l
    where ${isInScope(scope, account)}
      and ${account_id === undefined ? anything : sql`${account} = ${account_id}`}
      and ${instance_id === undefined ? anything : sql`x.id = ${instance_id}`}
    order by ${by} limit ${limit + 1}`;
}
